//! Every method of the catalogs on extreme values and degenerate data: a correct result or an error, never a panic. A new
//! method is covered by being listed in its catalog.
//!
//! Correctness is checked on pairs of equivalent data sets, which must give the same result: features multiplied by powers
//! of two and standardized, zeros of the other sign, renamed classes, an additional constant feature.

use crate::all_methods::{self, Method, MethodResult, TimeLimit, methods};
use kernsift::data::{Column, Dataset, Prepare, Standardizer, Table, Target};
use kernsift::internals::Rng;
use kernsift::learn::LEARNERS;
use kernsift::{Context, Result};
use ndarray::{Array2, Axis, concatenate};
use rayon::prelude::*;
use std::time::Duration;

/// Enough for most methods; four hundred classes need many SVMs.
const TIME_LIMIT: Duration = Duration::from_secs(1);

fn try_method(method: &Method, data: &Dataset) -> std::result::Result<Result<MethodResult>, String> {
    let limit = Context::default().memory_limit;
    // A waiting thread of a shared pool would start the next job, whose time would count here; so each run has its own
    // pool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run = || pool.install(|| all_methods::try_method(method, data, &TimeLimit::new(TIME_LIMIT), limit));
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

/// Standardized, as the command line and Python do by default.
fn standardized(data: &Dataset) -> Dataset {
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

fn classes(x: Array2<f64>, of: impl Fn(usize) -> usize) -> Dataset {
    let n = x.nrows();
    Dataset::labeled(x, (0..n).map(of).collect()).unwrap()
}

/// 24 rows and five features, of which two determine the class.
fn plain() -> Dataset {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((24, 5), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] + 0.5 * row[1] > 0.0)).collect();
    Dataset::labeled(x, codes).unwrap()
}

fn with_x(data: &Dataset, x: Array2<f64>) -> Dataset {
    Dataset::with_target(x, data.target().clone()).unwrap()
}

/// Extreme and degenerate data sets.
fn edges() -> Vec<(&'static str, Dataset)> {
    let mut rng = Rng::new(4);
    let mut normal = |n: usize, d: usize| Array2::from_shape_simple_fn((n, d), || rng.normal());
    let base = plain();
    let x = base.x().to_dense();
    let mut collinear = x.clone();
    for i in 0..x.nrows() {
        collinear[[i, 3]] = x[[i, 0]] * (1.0 + 1e-13 * i as f64);
        collinear[[i, 4]] = x[[i, 0]] + x[[i, 1]];
    }
    let mut mixed = x.clone();
    mixed.column_mut(0).mapv_inplace(|v| v * 1e300);
    mixed.column_mut(1).mapv_inplace(|v| v * 1e-300);
    let mut outlier = x.clone();
    outlier[[3, 2]] = 1e300;
    let twice = concatenate(Axis(0), &[x.view(), x.view()]).unwrap();
    let subnormal = x.mapv(|v| v * 1e-310);
    let signs = normal(12, 4).mapv(|v| 0.0_f64.copysign(v));
    vec![
        ("two rows, one column", classes(normal(2, 1), |i| i)),
        ("two rows of one class", classes(normal(2, 3), |_| 0)),
        ("one row", classes(normal(1, 3), |_| 0)),
        ("one column", classes(normal(20, 1), |i| i % 2)),
        ("many more columns than rows", classes(normal(8, 400), |i| i % 2)),
        ("one row per class", classes(normal(10, 4), |i| i)),
        ("a class of one row", classes(normal(14, 4), |i| usize::from(i == 5))),
        ("four hundred classes", classes(normal(400, 3), |i| i)),
        ("a hundred classes of three", classes(normal(300, 3), |i| i / 3)),
        ("all cells equal", classes(Array2::from_elem((12, 3), 0.1), |i| i % 2)),
        ("zeros of both signs", classes(signs, |i| i % 2)),
        ("nearly collinear", with_x(&base, collinear)),
        ("duplicate rows", classes(twice, |i| usize::from(x[[i % 24, 0]] > 0.0))),
        (
            "duplicate rows with both classes",
            classes(concatenate(Axis(0), &[x.view(), x.view()]).unwrap(), |i| i / 24),
        ),
        ("columns of 1e300 and 1e-300", with_x(&base, mixed)),
        ("one cell of 1e300", with_x(&base, outlier)),
        ("subnormal cells", with_x(&base, subnormal)),
        ("the largest finite numbers", with_x(&base, x.mapv(|v| f64::MAX.copysign(v)))),
        (
            "a constant target",
            Dataset::with_target(normal(12, 3), Target::Continuous(vec![2.0; 12])).unwrap(),
        ),
        (
            "a large continuous target",
            Dataset::with_target(
                normal(20, 3),
                Target::Continuous((0..20).map(|i| i as f64 * 1e300).collect()),
            )
            .unwrap(),
        ),
        ("no target", Dataset::with_target(normal(12, 3), Target::None).unwrap()),
    ]
}

#[test]
fn every_method_gives_a_result_or_an_error() {
    let methods = methods();
    let mut jobs = vec![];
    for (edge, data) in edges() {
        for at in 0..methods.len() {
            jobs.push((edge, at, "unscaled", data.clone()));
            jobs.push((edge, at, "scaled", standardized(&data)));
        }
    }
    let outcomes: Vec<_> = jobs
        .par_iter()
        .map(|(edge, at, how, data)| {
            let method = &methods[*at];
            let describe = |fault| format!("{} on {edge}, {how}: {fault}", method.name);
            try_method(method, data).map(|result| result.is_ok()).map_err(describe)
        })
        .collect();
    let faults: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(faults.is_empty(), "{} of {}: {faults:#?}", faults.len(), outcomes.len());
    // Most cases must give a result.
    let n_results = outcomes.iter().filter(|outcome| **outcome == Ok(true)).count();
    assert!(2 * n_results > outcomes.len(), "{n_results} results of {}", outcomes.len());
}

/// Checks that two data sets give the same result, up to rounding; returns a description of the difference.
fn check_equal(method: &Method, a: &Dataset, b: &Dataset, exact: bool) -> std::result::Result<(), String> {
    let (a, b) = (try_method(method, a)?, try_method(method, b)?);
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) if a.to_string() == b.to_string() => return Ok(()),
        (a, b) => return Err(format!("{:?} and {:?}", a.map(|_| "a result"), b.map(|_| "a result"))),
    };
    let largest = a.numbers.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    // Sums of the same terms in another order; iterative methods amplify rounding errors.
    let allowed = if exact { 0.0 } else { 1e-6 * largest };
    let difference = a.numbers.iter().zip(&b.numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if a.numbers.len() != b.numbers.len() || difference > allowed {
        return Err(format!("the difference is {difference:e}, the largest number {largest:e}"));
    }
    Ok(())
}

fn check_equivalent(what: &str, pairs: Vec<(Dataset, Dataset)>, exact: bool) {
    let methods = methods();
    let jobs: Vec<_> =
        pairs.iter().flat_map(|pair| methods.iter().map(move |method| (method, pair))).collect();
    let faults: Vec<String> = jobs
        .par_iter()
        .filter_map(|(method, (a, b))| {
            check_equal(method, a, b, exact).err().map(|fault| format!("{}: {fault}", method.name))
        })
        .collect();
    assert!(faults.is_empty(), "{what}: {faults:#?}");
}

/// Multiplication by powers of two is exact.
#[test]
fn standardized_results_do_not_depend_on_the_scale_of_features() {
    let data = plain();
    let pairs = [[996, -996, 900, -900, 0], [-996, -960, -930, -900, -800], [996, 990, 980, 970, 960]]
        .map(|powers: [i32; 5]| {
            let mut x = data.x().to_dense();
            for (mut column, power) in x.columns_mut().into_iter().zip(powers) {
                // In two steps, because the power itself may be below the smallest normal number.
                column.mapv_inplace(|v| v * 2f64.powi(power / 2) * 2f64.powi(power - power / 2));
            }
            (standardized(&data), standardized(&with_x(&data, x)))
        })
        .to_vec();
    check_equivalent("features times powers of two", pairs, true);
}

#[test]
fn the_sign_of_zero_does_not_matter() {
    let mut rng = Rng::new(6);
    let x = Array2::from_shape_simple_fn((24, 4), || rng.below(3) as f64 - 1.0);
    let data = classes(x.clone(), |i| usize::from(x[[i, 0]] + x[[i, 1]] > 0.0));
    let negative = with_x(&data, x.mapv(|v| if v == 0.0 { -0.0 } else { v }));
    check_equivalent("zeros of the other sign", vec![(data, negative)], true);
}

#[test]
fn class_names_do_not_matter() {
    let data = plain();
    let Target::Classes(known) = data.target() else { unreachable!() };
    let x = data.x().to_dense();
    let prepared = |target: Column| {
        let mut columns: Vec<Column> =
            (0..x.ncols()).map(|j| Column::numeric(format!("x{}", j + 1), x.column(j).to_vec())).collect();
        columns.push(target);
        Prepare::default().fit(&Table::new(columns).unwrap()).unwrap().data
    };
    let words = |names: [&'static str; 2]| {
        prepared(Column::text("target", known.codes.iter().map(|&code| Some(names[code]))))
    };
    let numbers = |values: [f64; 2]| {
        prepared(Column::numeric("target", known.codes.iter().map(|&code| values[code]).collect()))
    };
    let expected = words(["no", "yes"]);
    let others = [words(["False", "True"]), numbers([0.0, 1.0]), numbers([-1.0, 1.0]), words(["0", "1"])];
    check_equivalent("other names of classes", others.map(|other| (expected.clone(), other)).to_vec(), true);
}

#[test]
fn equal_features_have_equal_scores() {
    let data = plain();
    let x = data.x().to_dense();
    let doubled = concatenate(Axis(1), &[x.view(), x.view()]).unwrap();
    let data = standardized(&with_x(&data, doubled));
    // Stepwise and sparse methods may give equal features different scores.
    let univariate =
        ["fisher", "relief", "information-gain", "mutual-information", "chi-squared", "laplacian"];
    let mut n_checked = 0;
    for method in methods().iter().filter(|method| univariate.contains(&method.name)) {
        let result = try_method(method, &data).unwrap();
        // Chi-squared needs counts, so it may return an error.
        let Ok(result) = result else { continue };
        let difference =
            (0..5).map(|j| (result.numbers[j] - result.numbers[j + 5]).abs()).fold(0.0, f64::max);
        assert!(
            difference <= 1e-12 * result.numbers.iter().fold(0.0_f64, |most, v| most.max(v.abs())),
            "{}",
            method.name
        );
        n_checked += 1;
    }
    assert!(n_checked >= 5);
}

/// Whether the method is a baseline, which does not learn from the target.
fn is_baseline(method: &Method) -> bool {
    LEARNERS.iter().any(|info| info.name == method.name && info.needs == kernsift::method::Needs::Baseline)
}

#[test]
fn a_constant_feature_comes_last_and_changes_nothing() {
    let data = plain();
    let x = data.x().to_dense();
    let constant = Array2::from_elem((24, 1), 0.1);
    let with = with_x(&data, concatenate(Axis(1), &[x.view(), constant.view()]).unwrap());
    let (without, with) = (standardized(&data), standardized(&with));
    let faults: Vec<String> = methods()
        .par_iter()
        .filter_map(|method| {
            let (a, b) = match (try_method(method, &without), try_method(method, &with)) {
                (Ok(Ok(a)), Ok(Ok(b))) => (a, b),
                // Errors are checked in another test.
                (Ok(Err(_)), Ok(Err(_))) => return None,
                (a, b) => return Some(format!("{}: {a:?} and {b:?}", method.name)),
            };
            let after = b.order.iter().skip_while(|&&j| j != 5);
            let fault = if after.into_iter().any(|&j| b.numbers[j] > b.numbers[5]) {
                Some(format!(
                    "the constant feature is ranked before better ones: {:?} {:?}",
                    b.order, b.numbers
                ))
            } else if method.scores && !is_baseline(method) && b.numbers[5] != 0.0 {
                Some(format!("the constant feature has the score {}", b.numbers[5]))
            } else {
                None
            };
            // Kernel space has the same dimension.
            let fault = fault.or_else(|| {
                let differs = !method.scores && a.numbers.len() != b.numbers.len();
                differs.then(|| "kernel space has another dimension".to_owned())
            });
            fault.map(|fault| format!("{}: {fault}", method.name))
        })
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
