//! Several target columns: laws, a planted truth, and methods without support.

use kernsift::data::{Dataset, Encoding, Target};
use kernsift::dependence::{Estimator, Hsic, TargetKernel, Variable, hsic, target_factor};
use kernsift::evaluate::Evaluator;
use kernsift::internals::Rng;
use kernsift::kernel::{Family, Kernel, KernelChoice, median_gamma};
use kernsift::select::{FeatureCount, SELECTORS, Selection, Selector, SelectorMethod};
use kernsift::{Context, Error};
use ndarray::{Array2, Axis, concatenate};

const N: usize = 80;

/// Seven features; the first output depends on feature 1, the second on feature 4, both not linearly.
fn planted() -> (Array2<f64>, Array2<f64>) {
    let mut rng = Rng::new(11);
    let x = Array2::from_shape_simple_fn((N, 7), || rng.normal());
    let y = Array2::from_shape_fn((N, 2), |(i, output)| match output {
        0 => 50.0 * x[[i, 1]].powi(2) + rng.normal(),
        _ => (2.0 * x[[i, 4]]).cos() + 0.05 * rng.normal(),
    });
    (x, y)
}

fn data(x: &Array2<f64>, y: Array2<f64>) -> Dataset {
    Dataset::with_target(x.clone(), Target::Outputs(y)).unwrap()
}

fn methods() -> Vec<SelectorMethod> {
    let names = SelectorMethod::names_with_outputs();
    assert_eq!(names, ["hsfs", "fohsic", "bahsic", "hsic-lasso"]);
    names.into_iter().map(|name| SelectorMethod::by_name(name).unwrap()).collect()
}

fn select(method: &SelectorMethod, data: &Dataset, count: FeatureCount) -> Selection {
    method.select_typed(data, count, Encoding::default(), &Context::default()).unwrap()
}

#[test]
fn features_of_each_output_are_found() {
    let (x, y) = planted();
    for method in methods() {
        let found = select(&method, &data(&x, y.clone()), FeatureCount::Count(2));
        let mut selected = found.selected().to_vec();
        selected.sort_unstable();
        assert_eq!(selected, [1, 4], "{}", method.name());
    }
}

#[test]
fn repeated_and_constant_outputs_change_nothing() {
    let (x, y) = planted();
    let one = y.column(0).to_vec();
    let column = y.column(0).insert_axis(Axis(1)).to_owned();
    let flat = Array2::from_elem((N, 1), 3.0);
    let of = |parts: &[&Array2<f64>]| {
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        data(&x, concatenate(Axis(1), &views).unwrap())
    };
    let single = Dataset::with_target(x.clone(), Target::Continuous(one)).unwrap();
    let scaled = column.mapv(|v| 7.0 - 0.01 * v);
    for method in methods() {
        let expected = select(&method, &single, FeatureCount::Count(3));
        let same = [of(&[&scaled, &column, &flat]), of(&[&column, &column]), of(&[&column, &flat])];
        // The first has it all; HSFS is slow.
        let n_cases = if method.name() == "hsfs" { 1 } else { same.len() };
        for same in &same[..n_cases] {
            let found = select(&method, same, FeatureCount::Count(3));
            assert_eq!(found.selected(), expected.selected(), "{}", method.name());
        }
        if n_cases == 1 {
            continue;
        }
        // The order and the units of outputs do not matter.
        let both = select(&method, &data(&x, y.clone()), FeatureCount::Count(3));
        let other = concatenate(Axis(1), &[y.column(1).insert_axis(Axis(1)), scaled.view()]).unwrap();
        let other = select(&method, &data(&x, other), FeatureCount::Count(3));
        assert_eq!(both.selected(), other.selected(), "{}", method.name());
    }
}

#[test]
fn weights_are_repeated_rows() {
    let (x, y) = planted();
    let weights: Vec<f64> = (0..N).map(|row| (1 + row % 2) as f64).collect();
    let repeated: Vec<usize> = (0..2).flat_map(|copy| (0..N).filter(move |row| copy <= row % 2)).collect();
    let data = data(&x, y);
    for method in methods().into_iter().filter(Selector::supports_weights) {
        let weighted = data.clone().with_weights(weights.clone(), "w").unwrap();
        let found = select(&method, &weighted, FeatureCount::Count(3));
        let expected = select(&method, &data.take_rows(&repeated), FeatureCount::Count(3));
        assert_eq!(found.order, expected.order, "{}", method.name());
        let largest = expected.scores.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 * largest;
        // The factor of the target omits a millionth of the trace, by other pivots.
        assert!(found.scores.iter().zip(&expected.scores).all(close), "{}", method.name());
    }
}

#[test]
fn the_kernel_is_gaussian_over_standardized_outputs() {
    let (x, y) = planted();
    let ctx = Context::default();
    let mut standardized = y.clone();
    for mut column in standardized.columns_mut() {
        let mean = column.sum() / N as f64;
        let std = (column.mapv(|v| (v - mean).powi(2)).sum() / N as f64).sqrt();
        column.mapv_inplace(|v| (v - mean) / std);
    }
    let rows = standardized.clone().into();
    let gamma = median_gamma(Family::Rbf, &rows, 0).unwrap();
    let kernel = |gamma| KernelChoice::Fixed(Kernel::Rbf { gamma });
    let x = x.into();
    let settings = Hsic { estimator: Estimator::Biased, permutations: 0 };
    let value = |y| hsic(Variable::Rows(&x, &kernel(0.1)), y, &settings, &ctx).unwrap().value;
    let target = Target::Outputs(y.clone());
    let found = value(Variable::Target(&target, TargetKernel::Auto));
    let expected = value(Variable::Rows(&rows, &kernel(gamma)));
    // The factor omits a millionth of the trace.
    assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
    let linear = target_factor(&target, TargetKernel::Linear, "m", &ctx).unwrap();
    assert!((linear - standardized).iter().all(|e| e.abs() < 1e-12));
    assert!(target_factor(&target, TargetKernel::Delta, "m", &ctx).is_err());
    let flat = Target::Outputs(Array2::ones((5, 2)));
    let error = target_factor(&flat, TargetKernel::Auto, "m", &ctx).unwrap_err();
    assert!(matches!(error, Error::ConstantTarget { .. }), "{error}");
}

#[test]
fn automatic_numbers_of_features() {
    let (x, y) = planted();
    let (ctx, method) = (Context::default(), SelectorMethod::by_name("fohsic").unwrap());
    let found = select(&method, &data(&x, y), FeatureCount::Auto);
    assert!([1, 4].contains(&found.selected()[0]), "{:?}", found.selected());
    let mut rng = Rng::new(2);
    let noise = data(&x, Array2::from_shape_simple_fn((N, 2), || rng.normal()));
    let found = method.select_typed(&noise, FeatureCount::Auto, Encoding::default(), &ctx).unwrap();
    assert_eq!(found.n_selected, 0);
}

#[test]
fn other_methods_refuse_before_any_work() {
    let (x, y) = planted();
    let data = data(&x, y);
    let supported = SelectorMethod::names_with_outputs();
    for info in SELECTORS.iter().filter(|info| !supported.contains(&info.name)) {
        let method = SelectorMethod::by_name(info.name).unwrap();
        let found = method.select(&data, FeatureCount::Count(2), &Context::default());
        if matches!(info.name, "laplacian" | "pfs") {
            // They have no target.
            assert!(found.is_ok());
            continue;
        }
        let error = found.unwrap_err().to_string();
        let expected = format!(
            "{} does not support several target columns; these do: hsfs, fohsic, bahsic, hsic-lasso",
            info.title
        );
        assert!(error.starts_with(&expected), "{error}");
    }
    let error = Evaluator::by_name("ridge").unwrap().check(&data).unwrap_err().to_string();
    assert!(error.contains("does not support several target columns"), "{error}");
    let y = Array2::from_elem((3, 2), f64::NAN);
    assert!(Dataset::with_target(Array2::ones((3, 1)), Target::Outputs(y)).is_err());
    assert!(Dataset::with_target(Array2::ones((3, 1)), Target::Outputs(Array2::ones((2, 2)))).is_err());
}
