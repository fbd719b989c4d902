//! Every method of the catalogues on data at the edge of what numbers can hold and what can be learned from: a right
//! answer or a reason, never a panic. A new method is covered by being listed.
//!
//! What is right is told by twins: the same data in another guise, whose answer must be the same. Columns times a power of
//! two are the same columns once they are brought to one scale, and so are zeros with another sign, classes with other
//! names, and columns beside one that is constant.

use crate::every_method::{self, Answer, Method, Patience, methods};
use kernsift::data::{Column, Dataset, Prepare, Standardizer, Table, Target};
use kernsift::learn::LEARNERS;
use kernsift::random::Rng;
use kernsift::{Context, Result};
use ndarray::{Array2, Axis, concatenate};
use rayon::prelude::*;
use std::time::Duration;

/// A few seconds are enough for most; a thousand classes are many machines.
const PATIENCE: Duration = Duration::from_secs(1);

fn tried(method: &Method, data: &Dataset) -> std::result::Result<Result<Answer>, String> {
    let limit = Context::default().memory_limit;
    // A thread that waits for others of its pool takes up the next job meanwhile, whose time would count as this one's:
    // so each has a pool to itself.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = || pool.install(|| every_method::tried(method, data, &Patience::new(PATIENCE), limit));
    std::thread::scope(|scope| scope.spawn(alone).join().unwrap())
}

/// On the scale that the command line and Python give methods by default.
fn standard(data: &Dataset) -> Dataset {
    data.with_x(Standardizer::fit(data.x()).apply(data.x()).unwrap()).unwrap()
}

fn classes(x: Array2<f64>, of: impl Fn(usize) -> usize) -> Dataset {
    let n = x.nrows();
    Dataset::labeled(x, (0..n).map(of).collect()).unwrap()
}

/// Twenty-four rows of five columns of which two tell the class.
fn plain() -> Dataset {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((24, 5), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] + 0.5 * row[1] > 0.0)).collect();
    Dataset::labeled(x, codes).unwrap()
}

fn with_x(data: &Dataset, x: Array2<f64>) -> Dataset {
    Dataset::with_target(x, data.target().clone()).unwrap()
}

/// Data without a twin.
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
        ("a thousand classes", classes(normal(1000, 3), |i| i)),
        ("a hundred classes of three", classes(normal(300, 3), |i| i / 3)),
        ("all cells equal", classes(Array2::from_elem((12, 3), 0.1), |i| i % 2)),
        ("zeros of both signs", classes(signs, |i| i % 2)),
        ("nearly collinear", with_x(&base, collinear)),
        ("rows twice", classes(twice, |i| usize::from(x[[i % 24, 0]] > 0.0))),
        (
            "rows twice with both classes",
            classes(concatenate(Axis(0), &[x.view(), x.view()]).unwrap(), |i| i / 24),
        ),
        ("columns of 1e300 and 1e-300", with_x(&base, mixed)),
        ("one cell of 1e300", with_x(&base, outlier)),
        ("subnormal cells", with_x(&base, subnormal)),
        ("the largest numbers", with_x(&base, x.mapv(|v| f64::MAX.copysign(v)))),
        (
            "a target of equal numbers",
            Dataset::with_target(normal(12, 3), Target::Continuous(vec![2.0; 12])).unwrap(),
        ),
        (
            "a target of large numbers",
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
fn an_answer_or_a_reason() {
    let methods = methods();
    let mut jobs = vec![];
    for (edge, data) in edges() {
        for at in 0..methods.len() {
            jobs.push((edge, at, "as given", data.clone()));
            jobs.push((edge, at, "scaled", standard(&data)));
        }
    }
    let outcomes: Vec<_> = jobs
        .par_iter()
        .map(|(edge, at, how, data)| {
            let method = &methods[*at];
            let told = |fault| format!("{} on {edge}, {how}: {fault}", method.name);
            tried(method, data).map(|answer| answer.is_ok()).map_err(told)
        })
        .collect();
    let wrong: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} of {} are wrong: {wrong:#?}", wrong.len(), outcomes.len());
    // Most edges can be learned from: reasons alone would be no answer.
    let answers = outcomes.iter().filter(|outcome| **outcome == Ok(true)).count();
    assert!(2 * answers > outcomes.len(), "{answers} answers of {}", outcomes.len());
}

/// Both answers are there, and the same to rounding; or what is not.
fn same(method: &Method, a: &Dataset, b: &Dataset, exact: bool) -> std::result::Result<(), String> {
    let (a, b) = (tried(method, a)?, tried(method, b)?);
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) if a.to_string() == b.to_string() => return Ok(()),
        (a, b) => return Err(format!("{:?} beside {:?}", a.map(|_| "an answer"), b.map(|_| "an answer"))),
    };
    let largest = a.numbers.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    // Sums of the same terms; searches amplify what rounding left.
    let allowed = if exact { 0.0 } else { 1e-6 * largest };
    let apart = a.numbers.iter().zip(&b.numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if a.numbers.len() != b.numbers.len() || apart > allowed {
        return Err(format!("{apart:e} apart, where the largest number is {largest:e}"));
    }
    Ok(())
}

fn check_twins(what: &str, pairs: Vec<(Dataset, Dataset)>, exact: bool) {
    let methods = methods();
    let jobs: Vec<_> =
        pairs.iter().flat_map(|pair| methods.iter().map(move |method| (method, pair))).collect();
    let wrong: Vec<String> = jobs
        .par_iter()
        .filter_map(|(method, (a, b))| {
            same(method, a, b, exact).err().map(|fault| format!("{}: {fault}", method.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{what}: {wrong:#?}");
}

/// Powers of two lose nothing: these are the same columns.
#[test]
fn columns_of_any_size_are_the_same_once_they_are_on_one_scale() {
    let data = plain();
    let pairs = [[996, -996, 900, -900, 0], [-996, -960, -930, -900, -800], [996, 990, 980, 970, 960]]
        .map(|powers: [i32; 5]| {
            let mut x = data.x().to_dense();
            for (mut column, power) in x.columns_mut().into_iter().zip(powers) {
                // In two steps: a power of two below the smallest normal number has no form of its own.
                column.mapv_inplace(|v| v * 2f64.powi(power / 2) * 2f64.powi(power - power / 2));
            }
            (standard(&data), standard(&with_x(&data, x)))
        })
        .to_vec();
    check_twins("columns times powers of two", pairs, true);
}

#[test]
fn the_sign_of_zero_does_not_matter() {
    let mut rng = Rng::new(6);
    let x = Array2::from_shape_simple_fn((24, 4), || rng.below(3) as f64 - 1.0);
    let data = classes(x.clone(), |i| usize::from(x[[i, 0]] + x[[i, 1]] > 0.0));
    let negative = with_x(&data, x.mapv(|v| if v == 0.0 { -0.0 } else { v }));
    check_twins("zeros of the other sign", vec![(data, negative)], true);
}

#[test]
fn classes_are_the_same_by_any_name() {
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
    let of = words(["no", "yes"]);
    let twins = [words(["False", "True"]), numbers([0.0, 1.0]), numbers([-1.0, 1.0]), words(["0", "1"])];
    check_twins("other names of classes", twins.map(|twin| (of.clone(), twin)).to_vec(), true);
}

#[test]
fn equal_columns_have_equal_scores() {
    let data = plain();
    let x = data.x().to_dense();
    let doubled = concatenate(Axis(1), &[x.view(), x.view()]).unwrap();
    let data = standard(&with_x(&data, doubled));
    // A method that takes columns one after the other, or shares a weight among them, may tell equal ones apart.
    let one_by_one =
        ["fisher", "relief", "information-gain", "mutual-information", "chi-squared", "laplacian"];
    let mut seen = 0;
    for method in methods().iter().filter(|method| one_by_one.contains(&method.name)) {
        let answer = tried(method, &data).unwrap();
        // Chi-squared wants counts, and these are none.
        let Ok(answer) = answer else { continue };
        let apart = (0..5).map(|j| (answer.numbers[j] - answer.numbers[j + 5]).abs()).fold(0.0, f64::max);
        assert!(
            apart <= 1e-12 * answer.numbers.iter().fold(0.0_f64, |most, v| most.max(v.abs())),
            "{}",
            method.name
        );
        seen += 1;
    }
    assert!(seen >= 5);
}

/// Whether it learns nothing, and all columns are the same to it.
fn is_yardstick(method: &Method) -> bool {
    LEARNERS.iter().any(|info| info.name == method.name && info.needs == kernsift::method::Needs::Baseline)
}

/// A column that never differs says nothing, and takes nothing from the others.
#[test]
fn a_constant_column_comes_last_and_changes_nothing() {
    let data = plain();
    let x = data.x().to_dense();
    let constant = Array2::from_elem((24, 1), 0.1);
    let with = with_x(&data, concatenate(Axis(1), &[x.view(), constant.view()]).unwrap());
    let (alone, with) = (standard(&data), standard(&with));
    let wrong: Vec<String> = methods()
        .par_iter()
        .filter_map(|method| {
            let (a, b) = match (tried(method, &alone), tried(method, &with)) {
                (Ok(Ok(a)), Ok(Ok(b))) => (a, b),
                // Reasons are another test's matter.
                (Ok(Err(_)), Ok(Err(_))) => return None,
                (a, b) => return Some(format!("{}: {a:?} beside {b:?}", method.name)),
            };
            let after = b.order.iter().skip_while(|&&j| j != 5);
            let fault = if after.into_iter().any(|&j| b.numbers[j] > b.numbers[5]) {
                Some(format!("the constant column comes before better ones: {:?} {:?}", b.order, b.numbers))
            } else if method.scores && !is_yardstick(method) && b.numbers[5] != 0.0 {
                Some(format!("the constant column has the score {}", b.numbers[5]))
            } else {
                None
            };
            // Kernel space does not know of it either.
            let fault = fault.or_else(|| {
                let far = !method.scores && a.numbers.len() != b.numbers.len();
                far.then(|| "kernel space has other dimensions".to_owned())
            });
            fault.map(|fault| format!("{}: {fault}", method.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
