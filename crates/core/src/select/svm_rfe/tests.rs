use super::features::by_column;
use super::linear::LinearRows;
use super::svms::TOLERANCE;
use super::*;
use crate::data::{Encoder, Encoding, FeatureType, Groups, Target, Weights};
use crate::kernel::gram_symmetric;
use crate::optim::BlockColumns;
use crate::optim::KernelColumns;
use crate::random::Rng;
use ndarray::{Array1, Array2, ArrayView1, Axis, array};

fn select(method: &SvmRfe, data: &Dataset) -> Selection {
    method.select(data, FeatureCount::Auto, &Context::default()).unwrap()
}

#[test]
fn by_hand() {
    // Samples (2, 1) and (-2, -1), and a constant feature: w = (0.4, 0.2, 0).
    let data = Dataset::labeled(array![[-2.0, -1.0, 5.0], [2.0, 1.0, 5.0]], vec![0, 1]).unwrap();
    let selection = select(&SvmRfe { c: 100.0, ..SvmRfe::default() }, &data);
    assert_eq!(selection.order, [0, 1, 2]);
    assert_eq!(selection.scores, [3.0, 2.0, 0.0]);
    assert_eq!((selection.n_selected, &selection.curve[..]), (1, &[0.0, 0.0, 0.0][..]));
}

fn elimination<'a>(method: &SvmRfe, kernel: &Kernel, data: &'a Dataset) -> Elimination<'a> {
    let classes = data.classes("t").unwrap();
    let svms = Svms::new(method.c, None, (classes, Weights::ONE), &ClassWeight::None).unwrap();
    Elimination::new(kernel, data, svms).unwrap()
}

fn rbf(gamma: f64) -> SvmRfe {
    SvmRfe { kernel: Kernel::Rbf { gamma }.into(), c: 10.0, ..SvmRfe::default() }
}

#[test]
fn a_product_is_seen_by_rbf_and_not_by_linear() {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((200, 6), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[1] * r[4] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let mut best = select(&rbf(0.2), &data).order[..2].to_vec();
    best.sort_unstable();
    assert_eq!(best, [1, 4]);
    // The linear SVM guesses, whichever features it keeps: the error is at least a third.
    let linear = select(&SvmRfe::default(), &data);
    assert!(linear.curve[1] > 1.0 / 3.0, "{:?}", linear.curve);
}

/// The criterion by definition: two Gram matrices, one without the feature.
#[test]
fn importance_is_the_change_of_the_norm() {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_simple_fn((40, 5), || rng.normal());
    let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[0] + r[1] * r[1] > 0.5)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let (method, kernel) = (rbf(0.3), Kernel::Rbf { gamma: 0.3 });
    let mut run = elimination(&method, &kernel, &data);
    run.train(&Context::default()).unwrap();
    let beta = ndarray::Array1::from(run.svms.solutions[0].coefficients.clone());
    let norm = |columns: &[usize]| {
        let k = gram_symmetric(&kernel, data.take_columns(columns).x()).unwrap();
        beta.dot(&k.dot(&beta))
    };
    let all: Vec<usize> = (0..5).collect();
    for (j, got) in run.importances(&Context::default()).unwrap().into_iter().enumerate() {
        let rest: Vec<usize> = all.iter().copied().filter(|&c| c != j).collect();
        let expected = (norm(&all) - norm(&rest)).abs();
        // Sums of 1600 products of coefficients up to 10.
        assert!((got - expected).abs() < 1e-9 * (1.0 + expected), "{j}: {got} {expected}");
    }
}

/// The same for features with several columns, linear and RBF. The linear criterion is the variance of a feature's part of
/// the decision function, relative to its largest column.
#[test]
fn a_feature_is_removed_with_all_its_columns() {
    let mut rng = Rng::new(17);
    let x = Array2::from_shape_simple_fn((40, 6), || rng.normal());
    let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[1] + r[2] * r[2] > 0.5)).collect();
    let groups = Groups::of_sizes([1, 3, 2]);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let data = Dataset::encoded(names, x, groups, Target::Classes(Classes::from_codes(codes))).unwrap();
    for (method, kernel) in [(rbf(0.3), Kernel::Rbf { gamma: 0.3 }), (SvmRfe::default(), Kernel::Linear)] {
        let mut run = elimination(&method, &kernel, &data);
        run.train(&Context::default()).unwrap();
        let beta = ndarray::Array1::from(run.svms.solutions[0].coefficients.clone());
        let norm = |features: &[usize]| {
            let k = gram_symmetric(&kernel, data.take_columns(features).x()).unwrap();
            beta.dot(&k.dot(&beta))
        };
        let importances = run.importances(&Context::default()).unwrap();
        for (j, rest) in [[1, 2], [0, 2], [0, 1]].into_iter().enumerate() {
            let expected = match kernel {
                Kernel::Linear => linear_importance(&data, j, &run, of_columns),
                _ => (norm(&[0, 1, 2]) - norm(&rest)).abs(),
            };
            // Sums of 1600 products of coefficients up to 10.
            assert!((importances[j] - expected).abs() < 1e-9 * (1.0 + expected), "{j}: {importances:?}");
        }
        let selection = select(&method, &data);
        assert!(selection.is_sound(3) && selection.order[0] == 1, "{selection:?}");
        assert_eq!(selection.curve.len(), 3);
    }
}

/// The variance of a feature's part of the decision function, relative to `variance`.
fn linear_importance(
    data: &Dataset,
    feature: usize,
    run: &Elimination,
    variance: fn(ArrayView1<f64>) -> f64,
) -> f64 {
    let x = data.take_columns(&[feature]).x().to_dense();
    let beta = Array1::from(run.svms.solutions[0].coefficients.clone());
    x.dot(&x.t().dot(&beta)).var(0.0) / variance(x.var_axis(Axis(0), 0.0).view())
}

/// Relative to the largest column, if columns do not have a constant sum.
fn of_columns(variances: ArrayView1<f64>) -> f64 {
    variances.fold(0.0, |a, v| v.max(a))
}

/// The levels of a category have a common variance, so the importance does not depend on their number.
#[test]
fn noise_with_many_levels_is_less_important_than_a_number() {
    let (n, levels) = (240, 30);
    let mut rng = Rng::new(11);
    let x =
        Array2::from_shape_fn((n, 2), |(_, j)| if j == 0 { rng.normal() } else { rng.below(levels) as f64 });
    let codes = x.column(0).iter().map(|v| usize::from(v + 2.0 * rng.normal() > 0.0)).collect();
    let types = vec![FeatureType::Number, FeatureType::Category { levels }];
    let names = ["number", "noise"].map(String::from).to_vec();
    let data = Dataset::typed(names, x, types, Target::Classes(Classes::from_codes(codes))).unwrap();
    for standardize in [true, false] {
        let encoding = Encoding { standardize, ..Encoding::default() };
        let encoded = Encoder::fit(&data, encoding).unwrap().encode(&data).unwrap();
        let mut run = elimination(&SvmRfe::default(), &Kernel::Linear, &encoded);
        run.train(&Context::default()).unwrap();
        let importances = run.importances(&Context::default()).unwrap();
        let expected = linear_importance(&encoded, 1, &run, |levels| levels.sum());
        // Sums of a few hundred numbers.
        assert!((importances[1] / expected - 1.0).abs() < 1e-10, "{importances:?} {expected}");
        assert!(importances[0] > importances[1], "{importances:?}");
        // The sum of squared weights is larger than that of the number.
        let x = encoded.take_columns(&[1]).x().to_dense();
        let w = x.t().dot(&Array1::from(run.svms.solutions[0].coefficients.clone()));
        assert!(w.dot(&w) > importances[0], "{w} {importances:?}");
    }
}

/// Cached products are used if there are more columns than samples; a removed feature takes its columns along.
#[test]
fn cached_products_without_a_feature() {
    let mut rng = Rng::new(18);
    let x = Array2::from_shape_simple_fn((8, 14), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[0] > 0.0)).collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let target = Target::Classes(Classes::from_codes(codes));
    let data = Dataset::encoded(names, x, Groups::of_sizes([9, 1, 4]), target).unwrap();
    for (method, kernel) in [(SvmRfe::default(), Kernel::Linear), (rbf(0.3), Kernel::Rbf { gamma: 0.3 })] {
        let pairs = |run: Elimination| match run.form {
            Form::Cached(cached) => cached.pairs,
            Form::Linear(_) => panic!("more columns than samples"),
        };
        let mut run = elimination(&method, &kernel, &data);
        if kernel == Kernel::Linear {
            run.train(&Context::default()).unwrap();
            let importances = run.importances(&Context::default()).unwrap();
            let expected = |j: usize| linear_importance(&data, j, &run, of_columns);
            // Sums of some dozen numbers.
            assert!((0..3).all(|j| (importances[j] / expected(j) - 1.0).abs() < 1e-12), "{importances:?}");
        }
        run.remove(&[1]).unwrap();
        let after_removal = pairs(run);
        let fresh = pairs(elimination(&method, &kernel, &data.take_columns(&[0, 2])));
        // One subtraction from sums of 14 numbers.
        assert!((&after_removal - &fresh).iter().all(|e| e.abs() < 1e-13));
    }
}

/// Coefficients that reach their bounds together must not cross them by rounding.
#[test]
fn coefficients_that_reach_their_bounds_together() {
    let row = [0.5, 0.45, 0.45, 0.45, 0.45, 0.45];
    let x = Array2::from_shape_fn((2, 6), |(i, j)| if i == 0 { row[j] } else { -row[j] });
    let data = Dataset::labeled(x, vec![0, 1]).unwrap();
    for i in 0..1000 {
        let c = 0.45 + 0.0015 * f64::from(i);
        let method = SvmRfe { c, step: Step::Count(5), ..SvmRfe::default() };
        let selection = method.select(&data, FeatureCount::Auto, &Context::default());
        assert_eq!(selection.map_err(|e| e.to_string()).unwrap().order[0], 0, "C = {c}");
    }
}

#[test]
fn a_constant_feature_is_removed_before_one_of_weight_zero() {
    // The third feature is the same in both classes, so its weight is 0; the second is constant.
    let x = array![[-1.0, 7.0, 1.0], [-1.0, 7.0, -1.0], [1.0, 7.0, 1.0], [1.0, 7.0, -1.0]];
    let data = Dataset::labeled(x.clone(), vec![0, 0, 1, 1]).unwrap();
    assert_eq!(select(&SvmRfe::default(), &data).order, [0, 2, 1]);
    let x = x.select(ndarray::Axis(1), &[0, 2, 1]);
    let data = Dataset::labeled(x, vec![0, 0, 1, 1]).unwrap();
    assert_eq!(select(&SvmRfe::default(), &data).order, [0, 1, 2]);
}

/// SMO alone takes millions of steps here; polishing solves it.
#[test]
fn features_of_very_different_scales() {
    let mut rng = Rng::new(4);
    let plain = Array2::from_shape_simple_fn((80, 6), || rng.normal());
    let codes: Vec<usize> =
        plain.rows().into_iter().map(|r| usize::from(r[0] + r[1] + 0.5 * rng.normal() > 0.0)).collect();
    // Products of the squared scale have a relative rounding error of 1e-16: from 1e5 on that reaches the tolerance
    // of 1e-6, which then cannot be met.
    for scale in [1e2, 1e3, 1e4] {
        let mut x = plain.clone();
        x.column_mut(5).mapv_inplace(|v| v * scale);
        let data = Dataset::labeled(x, codes.clone()).unwrap();
        let selection = select(&SvmRfe::default(), &data);
        assert!(selection.outcome.stop.converged() && selection.is_sound(6), "{scale}");
    }
}

/// Cached products after removing a large feature equal those of a run without it.
#[test]
fn removing_a_large_feature_leaves_no_rounding_error() {
    let mut rng = Rng::new(6);
    // More features than samples, so that linear SVMs also use products of all samples.
    let mut x = Array2::from_shape_simple_fn((8, 12), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[0] > 0.0)).collect();
    x.column_mut(2).mapv_inplace(|v| v * 1e8);
    let data = Dataset::labeled(x, codes).unwrap();
    for (method, kernel) in [(SvmRfe::default(), Kernel::Linear), (rbf(0.3), Kernel::Rbf { gamma: 0.3 })] {
        let pairs = |run: Elimination| match run.form {
            Form::Cached(cached) => cached.pairs,
            Form::Linear(_) => panic!("more features than samples"),
        };
        let mut run = elimination(&method, &kernel, &data);
        run.remove(&[2]).unwrap();
        let rest = data.take_columns(&run.features.remaining);
        let after_removal = pairs(run);
        assert_eq!(after_removal.dim(), (8, 8));
        // The same sums of the same numbers.
        assert_eq!(after_removal, pairs(elimination(&method, &kernel, &rest)));
    }
}

#[test]
fn products_that_overflow_are_refused() {
    let data = Dataset::labeled(array![[1e200, 1.0], [-1e200, 2.0], [1e200, 3.0]], vec![0, 1, 0]).unwrap();
    for method in [SvmRfe::default(), rbf(1.0)] {
        let error = method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("overflow; scale the features"), "{error}");
    }
}

#[test]
fn settings_are_read_in_short_and_full_form() {
    let read = |text: &str| serde_json::from_str::<SvmRfe>(text).map_err(|e| e.to_string());
    let short = read(r#"{"step": 0.2, "kernel": "rbf"}"#).unwrap();
    assert_eq!(
        short,
        SvmRfe { step: Step::Fraction(0.2), kernel: KernelChoice::default(), ..SvmRfe::default() }
    );
    assert_eq!(read(r#"{"step": 3}"#).unwrap().step, Step::Count(3));
    assert_eq!(read(r#"{"step": 3.0}"#).unwrap().step, Step::Count(3));
    assert_eq!(read(&serde_json::to_string(&short).unwrap()).unwrap(), short);
    assert_eq!(serde_json::to_string(&Step::Count(1)).unwrap(), "1.0");
    for bad in ["0", "1.5", "0.0", "-1"] {
        let error = read(&format!(r#"{{"step": {bad}}}"#)).unwrap_err();
        assert!(error.contains("a step is an integer from 1, or a fraction between 0 and 1"), "{error}");
    }
    assert!(read(r#"{"step": "many"}"#).unwrap_err().contains("expected f64"));
    assert!(read(r#"{"steps": 1}"#).unwrap_err().contains("unknown field `steps`"));
    // Also as a tagged variant among all methods.
    let tagged = r#"{"method": "svm-rfe", "step": 0.2, "kernel": "rbf"}"#;
    let method: crate::select::SelectorMethod = serde_json::from_str(tagged).unwrap();
    assert!(matches!(method, crate::select::SelectorMethod::SvmRfe(rfe) if rfe == short));
}

/// A small C puts nearly all coefficients at a bound, and many reach it in the same step.
#[test]
fn every_c_converges() {
    let mut rng = Rng::new(8);
    let x = Array2::from_shape_simple_fn((90, 8), || (4.0 * rng.normal()).round() / 4.0);
    let codes = x.rows().into_iter().map(|r| ((r[0] + r[1] + 2.0).max(0.0) as usize).min(2)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    for power in -6..5 {
        let selection = select(&SvmRfe { c: 10f64.powi(power), ..SvmRfe::default() }, &data);
        assert!(selection.outcome.stop.converged() && selection.is_sound(8));
        if power > -2 {
            let mut best = selection.order[..2].to_vec();
            best.sort_unstable();
            assert_eq!(best, [0, 1], "1e{power}");
        }
    }
}

#[test]
fn steps_by_count_and_fraction() {
    let mut rng = Rng::new(5);
    let x = Array2::from_shape_simple_fn((60, 9), || rng.normal());
    let codes = x.rows().into_iter().map(|r| usize::from(r[2] + 0.5 * r[3] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let three = select(&SvmRfe { step: Step::Count(3), ..SvmRfe::default() }, &data);
    // 9, 6, 3, 1 features; three are removed at a time, in the last round two.
    assert_eq!(three.curve.len(), 4);
    assert_eq!(select(&SvmRfe { step: Step::Fraction(0.4), ..SvmRfe::default() }, &data), three);
    assert_eq!(three.order[0], 2);
    let bad = SvmRfe { step: Step::Fraction(1.5), ..SvmRfe::default() };
    let error = bad.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("'step' must be a fraction between 0 and 1"), "{error}");
    let kernel = Kernel::Laplacian { gamma: 1.0 }.into();
    let bad = SvmRfe { kernel, ..SvmRfe::default() };
    assert!(bad.select(&data, FeatureCount::Auto, &Context::default()).is_err());
}

/// Products computed on demand give the same SVMs as cached products, with and without removed features.
#[test]
fn linear_rows_and_cached_products_give_the_same_svms() {
    let ctx = Context::default();
    for seed in 0..10 {
        let mut rng = Rng::new(seed);
        let x = Array2::from_shape_simple_fn((60, 7), || rng.normal());
        let codes =
            x.rows().into_iter().map(|r| usize::from(r[0] + r[1] + 0.7 * rng.normal() > 0.0)).collect();
        let data = Dataset::labeled(x, codes).unwrap();
        let c = 10f64.powi(seed as i32 % 4 - 2);
        let svms =
            Svms::new(c, None, (data.classes("t").unwrap(), Weights::ONE), &ClassWeight::None).unwrap();
        let task = &svms.tasks[0];
        let mut rows = LinearRows::new(&by_column(data.x()), &(0..7).collect::<Vec<_>>(), &task.rows);
        let mut start: Option<Vec<f64>> = None;
        for remaining in [vec![0, 1, 2, 3, 4, 5, 6], vec![0, 1, 3, 4, 5], vec![1]] {
            let removed: Vec<usize> = (0..7).filter(|j| !remaining.contains(j)).collect();
            rows.remove(&removed);
            let k = gram_symmetric(&Kernel::Linear, data.take_columns(&remaining).x()).unwrap();
            let mut columns = BlockColumns::new(k.view(), &task.rows);
            let by_products = svms.train_pair(task, &mut columns, None, &ctx).unwrap();
            let by_rows = svms.train_pair(task, &mut rows, start.as_deref(), &ctx).unwrap();
            assert!(by_rows.converged && by_products.converged);
            // Both are within the tolerance times the sum of the upper bounds of the optimum.
            let allowed = 2.0 * TOLERANCE * 60.0 * c + 1e-12;
            assert!(
                (by_rows.objective - by_products.objective).abs() < allowed,
                "seed {seed}, {remaining:?}"
            );
            start = Some(by_rows.coefficients);
        }
    }
}

#[test]
fn shrinking_changes_no_product() {
    let mut rng = Rng::new(1);
    let values: Vec<Vec<f64>> = (0..3).map(|_| (0..6).map(|_| rng.normal()).collect()).collect();
    let mut rows = LinearRows::new(&values, &[0, 1, 2], &[5, 0, 1, 2, 3]);
    let product = |i: usize, k: usize| values.iter().map(|c| c[i] * c[k]).sum::<f64>();
    let near =
        |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    let all = [5, 0, 1, 2, 3].map(|k| product(5, k));
    rows.with_column(0, |norms, column| assert!(near(column, &all) && norms.len() == 5));
    rows.shrink(&[0, 2, 4]);
    rows.shrink(&[0, 2]);
    assert_eq!(rows.len(), 2);
    rows.with_column(1, |norms, column| {
        assert!(
            near(column, &[product(3, 5), product(3, 3)]) && near(norms, &[product(5, 5), product(3, 3)])
        );
    });
    rows.unshrink();
    rows.with_column(0, |_, column| assert!(near(column, &all)));
    let mut sum = vec![0.0; 2];
    rows.combine(&[(0, 2.0), (3, -1.0)], &[1, 4], &mut sum);
    assert!(near(&sum, &[2.0 * product(5, 0) - product(2, 0), 2.0 * product(5, 3) - product(2, 3)]));
}
