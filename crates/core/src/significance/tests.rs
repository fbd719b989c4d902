//! Tests of features against naive twins, null distributions, and known truth.

use super::*;
use crate::data::{Dataset, FeatureType, Target};
use crate::dependence::{Estimator, Hsic, TargetKernel, Variable, hsic};
use crate::interactions::feature_dependence;
use crate::kernel::{Kernel, KernelChoice};
use crate::random::Rng;
use crate::{Context, Error, Observer};
use ndarray::Array2;
use std::sync::Mutex;

fn normal(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = Rng::new(seed);
    Array2::from_shape_simple_fn((n, d), || rng.normal())
}

/// The target is the first feature plus noise.
fn linear(n: usize, d: usize, seed: u64) -> Dataset {
    let x = normal(n, d, seed);
    let mut rng = Rng::new(seed + 1);
    let y = x.rows().into_iter().map(|row| row[0] + rng.normal()).collect();
    Dataset::with_target(x, Target::Continuous(y)).unwrap()
}

fn noise(n: usize, d: usize, seed: u64) -> Dataset {
    let codes = (0..n).map(|i| i % 2).collect();
    Dataset::labeled(normal(n, d, seed), codes).unwrap()
}

fn run(test: &FeatureTest, data: &Dataset, covariates: &[usize]) -> FeatureTests {
    test.run(data, covariates, &Context::default()).unwrap()
}

/// p-values in the order of the features.
fn p_values(found: &FeatureTests) -> Vec<f64> {
    let mut features = found.features.clone();
    features.sort_by_key(|found| found.feature);
    features.iter().map(|found| found.p_value).collect()
}

fn kolmogorov_smirnov(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = |(i, v): (usize, &f64)| (v - i as f64 / n).abs().max((v - (i + 1) as f64 / n).abs());
    values.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn cosine_p_values_are_those_of_feature_dependence() {
    let mut rng = Rng::new(5);
    let rare = Array2::from_shape_simple_fn((400, 6), || f64::from(u8::from(rng.uniform() < 0.03)));
    let rare = Dataset::labeled(rare, (0..400).map(|i| usize::from(i < 12)).collect()).unwrap();
    for data in [linear(80, 6, 1), rare] {
        let found = run(&FeatureTest::default(), &data, &[]);
        let expected = feature_dependence(&data, 4, &Context::default()).unwrap();
        for tested in &found.features {
            let expected = expected[tested.feature];
            assert_eq!((tested.p_value, tested.statistic), (expected.p_value, expected.score));
        }
        assert_eq!(found.adjustment, Adjustment::None);
        assert!(found.features.windows(2).all(|pair| pair[0].p_value <= pair[1].p_value));
    }
    assert_eq!(run(&FeatureTest::default(), &linear(80, 6, 1), &[]).features[0].feature, 0);
}

#[test]
fn rare_levels_and_classes_are_not_significant_by_chance() {
    // 20 of 1000 rows have the rare class, and each feature is 1 in about 2 % of the rows. By chance 8 of 1200 features have 3 rows
    // with both: their z is 4, a normal p-value of 6e-5, which is 0.009 after adjustment.
    let mut rng = Rng::new(1);
    let x = Array2::from_shape_simple_fn((1000, 1200), || f64::from(u8::from(rng.uniform() < 0.02)));
    let data = Dataset::labeled(x, (0..1000).map(|i| usize::from(i < 20)).collect()).unwrap();
    assert_eq!(run(&FeatureTest::default(), &data, &[]).n_significant, 0);
}

#[test]
fn the_hsic_statistic_is_hsic() {
    let data = linear(60, 3, 2);
    let test = FeatureTest { statistic: DependenceStatistic::Hsic, ..FeatureTest::default() };
    let found = run(&test, &data, &[]);
    for tested in &found.features {
        let column = data.x().column(tested.feature);
        let mean = column.iter().sum::<f64>() / 60.0;
        let deviation = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 60.0).sqrt();
        let standardized: Vec<f64> = column.iter().map(|v| (v - mean) / deviation).collect();
        let rows = Array2::from_shape_vec((60, 1), standardized).unwrap().into();
        let kernel = KernelChoice::from(Kernel::Rbf { gamma: 0.5 });
        let settings = Hsic { estimator: Estimator::Biased, permutations: 0 };
        let target = Variable::Target(data.target(), TargetKernel::Auto);
        let expected = hsic(Variable::Rows(&rows, &kernel), target, &settings, &Context::default()).unwrap();
        // The factor omits 1e-6 of the trace.
        assert!((tested.statistic - expected.value).abs() < 2e-6, "{tested:?} {expected:?}");
    }
}

#[test]
fn permutations_equal_a_naive_count() {
    let data = linear(30, 2, 3);
    let test = FeatureTest { permutations: 200, ..FeatureTest::default() };
    let found = p_values(&run(&test, &data, &[]));
    let columns = crate::interactions::Columns::new(&data, 4);
    let y = &crate::interactions::target_columns(&data, "m").unwrap()[0];
    for (j, p_value) in found.iter().enumerate() {
        let score = |order: &[usize]| {
            let product = |f: &Vec<f64>| f.iter().zip(order).map(|(f, &i)| f * y[i]).sum::<f64>().powi(2);
            columns.functions(j, 4).vectors.iter().map(product).sum::<f64>()
        };
        let identity: Vec<usize> = (0..30).collect();
        let observed = score(&identity);
        let exceeding = (0..200).filter(|b| {
            let mut order = identity.clone();
            Rng::stream(0, &format!("permutation {b}")).shuffle(&mut order);
            score(&order) >= observed
        });
        assert_eq!(*p_value, (1 + exceeding.count()) as f64 / 201.0);
    }
}

#[test]
fn null_p_values_are_uniform() {
    // The distance of 300 uniform numbers exceeds 1.63 / sqrt(300) in 1 % of samples.
    let limit = 1.63 / 300.0_f64.sqrt();
    for (seed, statistic) in [(10, DependenceStatistic::Cosine), (11, DependenceStatistic::Hsic)] {
        for permutations in [0, 199] {
            let test = FeatureTest { statistic, permutations, ..FeatureTest::default() };
            let found = run(&test, &noise(120, 300, seed), &[]);
            let distance = kolmogorov_smirnov(p_values(&found));
            assert!(distance < limit, "{statistic:?} {permutations}: {distance}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let data = linear(100, 300, 4);
    for statistic in [DependenceStatistic::Cosine, DependenceStatistic::Hsic] {
        let test = FeatureTest { statistic, permutations: 50, ..FeatureTest::default() };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&test, &data, &[]))
        };
        assert_eq!(with(1), with(2));
    }
}

#[test]
fn covariates_explain_what_they_explain() {
    // Feature 0 and the target depend on feature 2, and on nothing else; feature 1 is another cause.
    let mut x = normal(300, 3, 5);
    let mut rng = Rng::new(6);
    let mut y = vec![];
    for mut row in x.rows_mut() {
        row[0] = 0.3 * row[0] + row[2];
        y.push(row[2] * row[2] + row[2] + row[1] + 0.3 * rng.normal());
    }
    let data = Dataset::with_target(x, Target::Continuous(y)).unwrap();
    for statistic in [DependenceStatistic::Cosine, DependenceStatistic::Hsic] {
        for permutations in [0, 99] {
            let test = FeatureTest { statistic, permutations, ..FeatureTest::default() };
            assert!(p_values(&run(&test, &data, &[]))[0] < 0.02);
            let found = run(&test, &data, &[2]);
            assert_eq!(found.features.len(), 2);
            let p = p_values(&found);
            assert!(p[0] > 0.01 && p[1] < 0.02, "{statistic:?} {permutations} {p:?}");
            assert_eq!(found.adjustment, Adjustment::Residuals { functions: 10 });
        }
    }
}

#[test]
fn permutation_within_strata() {
    // The batch shifts the feature and determines most of the target.
    let mut rng = Rng::new(7);
    let (mut cells, mut y) = (vec![], vec![]);
    for i in 0..200 {
        let batch = f64::from(i % 4);
        let useful = rng.normal();
        cells.extend([batch + rng.normal(), useful, batch]);
        y.push(3.0 * batch + useful + rng.normal());
    }
    let x = Array2::from_shape_vec((200, 3), cells).unwrap();
    let types = vec![FeatureType::Number, FeatureType::Number, FeatureType::Category { levels: 4 }];
    let names = ["shifted", "useful", "batch"].map(str::to_owned).to_vec();
    let data = Dataset::typed(names, x, types, Target::Continuous(y)).unwrap();
    let test = FeatureTest { permutations: 199, ..FeatureTest::default() };
    assert!(p_values(&run(&test, &data, &[]))[0] < 0.01);
    let found = run(&test, &data, &[2]);
    assert_eq!(found.adjustment, Adjustment::Strata { strata: 4 });
    let p = p_values(&found);
    assert!(p[0] > 0.01 && p[1] < 0.01, "{p:?}");
}

#[test]
fn constant_features_have_the_p_value_1() {
    let mut x = normal(40, 3, 8);
    x.column_mut(1).fill(5.0);
    let data = Dataset::labeled(x, (0..40).map(|i| i % 2).collect()).unwrap();
    for statistic in [DependenceStatistic::Cosine, DependenceStatistic::Hsic] {
        for permutations in [0, 9] {
            let test = FeatureTest { statistic, permutations, ..FeatureTest::default() };
            assert_eq!(p_values(&run(&test, &data, &[]))[1], 1.0);
        }
    }
}

#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn warn(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn bad_input_and_warnings() {
    let error = |test: FeatureTest, data: &Dataset, covariates: &[usize]| {
        test.run(data, covariates, &Context::default()).unwrap_err()
    };
    let data = noise(40, 3, 9);
    let few = data.take_rows(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(matches!(error(FeatureTest::default(), &few, &[]), Error::TooFewRows { need: 10, got: 9, .. }));
    for alpha in [0.0, 1.0, f64::NAN] {
        let test = FeatureTest { alpha, ..FeatureTest::default() };
        assert!(error(test, &data, &[]).to_string().contains("'alpha'"));
    }
    assert!(matches!(error(FeatureTest::default(), &data, &[0, 1, 2]), Error::NoFeatures));
    assert!(error(FeatureTest::default(), &data, &[7]).to_string().contains("'covariates'"));
    assert!(error(FeatureTest::default(), &data, &[0, 1]).to_string().contains("at most 10 functions"));
    let warnings = Warnings::default();
    let ctx = Context { observer: &warnings, ..Context::default() };
    let mut codes: Vec<usize> = (0..40).map(|i| i % 2).collect();
    codes[3] = 2;
    let data = Dataset::labeled(normal(40, 3, 9), codes).unwrap();
    FeatureTest { permutations: 20, ..FeatureTest::default() }.run(&data, &[], &ctx).unwrap();
    let found = warnings.0.into_inner().unwrap();
    assert!(found[0].contains("class '2' has a single row"), "{found:?}");
    assert!(found[1].contains("fewer than 3 features cannot be significant"), "{found:?}");
}
