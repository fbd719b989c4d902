//! An integer weight is a row that is there so many times: the law that every method with support of weights obeys.

use kernsift::data::{Classes, Dataset, Encoding, FeatureType, SparseRows, Target};
use kernsift::internals::Rng;
use kernsift::select::{
    FeatureCount, FisherScore, LaplacianScore, SELECTORS, Selection, Selector, SelectorMethod,
};
use kernsift::{Context, Error};
use ndarray::Array2;

const N: usize = 60;

const TIMES: [usize; 7] = [1, 3, 0, 2, 1, 2, 1];

fn weights() -> Vec<f64> {
    (0..N).map(|row| TIMES[row % 7] as f64).collect()
}

/// The rows, each as often as its weight says; copies are not next to each other.
fn repeated() -> Vec<usize> {
    (0..3).flat_map(|copy| (0..N).filter(move |row| copy < TIMES[row % 7])).collect()
}

/// Numbers with effects of several kinds on three classes or on a number.
fn numbers(continuous: bool) -> Dataset {
    let mut rng = Rng::new(7);
    let x = Array2::from_shape_fn((N, 7), |(_, j)| 10.0 * j as f64 + (1.0 + j as f64) * rng.normal());
    let score =
        |row: ndarray::ArrayView1<f64>| row[0] + 0.4 * (row[1] - 10.0).powi(2) - 0.3 * (row[3] - 30.0);
    let scores: Vec<f64> = x.rows().into_iter().map(score).collect();
    Dataset::with_target(x, target(&scores, continuous)).unwrap()
}

fn target(scores: &[f64], continuous: bool) -> Target {
    match continuous {
        true => Target::Continuous(scores.to_vec()),
        false => {
            let class = |score: &f64| usize::from(*score > 0.5) + usize::from(*score > 2.0);
            Target::Classes(Classes::from_codes(scores.iter().map(class).collect()))
        }
    }
}

/// Numbers and categories, both with missing values, and a date with periods.
fn mixed(continuous: bool) -> Dataset {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_fn((N, 5), |(_, j)| match j {
        0 | 1 => rng.normal(),
        2 => rng.below(4) as f64,
        3 => rng.below(2) as f64,
        _ => (rng.uniform() * 400.0).floor(),
    });
    let score = |row: ndarray::ArrayView1<f64>| 1.0 + row[0] + row[2] - 2.0 * row[3];
    let scores: Vec<f64> = x.rows().into_iter().map(score).collect();
    let x = x.mapv(|v| if rng.uniform() < 0.08 { f64::NAN } else { v });
    let types = vec![
        FeatureType::Number,
        FeatureType::Number,
        FeatureType::Category { levels: 4 },
        FeatureType::Category { levels: 2 },
        FeatureType::Number,
    ];
    let names = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    Dataset::typed(names, x, types, target(&scores, continuous)).unwrap()
}

/// Counts, most of them 0.
fn sparse() -> Dataset {
    let mut rng = Rng::new(5);
    let codes: Vec<usize> = (0..N).map(|row| row % 3).collect();
    let x = Array2::from_shape_fn((N, 6), |(i, j)| {
        let most = if codes[i] == j { 5 } else { 2 };
        if rng.uniform() < 0.5 { 0.0 } else { rng.below(most) as f64 }
    });
    let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
    for row in x.rows() {
        for (j, v) in (0..).zip(row).filter(|(_, v)| **v != 0.0) {
            column.push(j);
            value.push(*v);
        }
        start.push(column.len());
    }
    let x = SparseRows::new(6, start, column, value).unwrap();
    Dataset::with_target(x, Target::Classes(Classes::from_codes(codes))).unwrap()
}

fn tables() -> Vec<(&'static str, Dataset)> {
    vec![
        ("classes", numbers(false)),
        ("a number", numbers(true)),
        ("mixed, classes", mixed(false)),
        ("mixed, a number", mixed(true)),
        ("sparse", sparse()),
    ]
}

/// A method, its parameters, and how exactly its scores obey the law.
type Case = (&'static str, &'static [(&'static str, &'static str)], f64);

/// Methods with support of weights. Some solvers stop at a tolerance.
fn methods() -> Vec<(String, SelectorMethod, f64)> {
    const ITERATIVE: [Case; 5] = [
        ("ldfs", &[("tol", "1e-10")], 1e-4),
        ("ldfs", &[("tol", "1e-10"), ("form", "constrained")], 1e-4),
        ("l1-svm", &[("tol", "1e-8")], 1e-5),
        ("svm-rfe", &[], 1e-10),
        ("svm-rfe", &[("kernel", "rbf")], 1e-10),
    ];
    const OTHERS: [Case; 9] = [
        ("relief", &[("n_neighbors", "2"), ("metric", "euclidean"), ("units", "unscaled")], 1e-10),
        ("relief", &[("difference", "squared"), ("class_weights", "frequency")], 1e-10),
        ("relief", &[("clip", "false")], 1e-10),
        ("information-gain", &[("discretizer", "frequency")], 1e-10),
        ("information-gain", &[("discretizer", "width"), ("measure", "ratio")], 1e-10),
        ("chi-squared", &[("statistic", "bins")], 1e-10),
        ("bahsic", &[("form", "fast"), ("step", "0.3")], 1e-10),
        ("nca", &[("n_subsamples", "0"), ("swaps", "true")], 1e-10),
        ("nca", &[("n_subsamples", "0"), ("search", "gradient")], 1e-10),
    ];
    let names = SelectorMethod::names_with_weights();
    assert!(ITERATIVE.iter().chain(&OTHERS).all(|(name, ..)| names.contains(name)));
    let direct = names.into_iter().filter(|name| ITERATIVE.iter().all(|(other, ..)| other != name));
    let direct = direct.map(|name| (name, &[][..], 1e-10));
    let case = |(name, set, tolerance): Case| {
        (format!("{name} {set:?}"), SelectorMethod::with_settings(name, set).unwrap(), tolerance)
    };
    direct.chain(ITERATIVE).chain(OTHERS).map(case).collect()
}

fn select(method: &SelectorMethod, data: &Dataset, count: FeatureCount) -> Selection {
    method.select_typed(data, count, Encoding::default(), &Context::default()).unwrap()
}

#[test]
fn an_integer_weight_is_a_repeated_row() {
    for (table, data) in tables() {
        let weighted = data.clone().with_weights(weights(), "w").unwrap();
        let repeated = data.take_rows(&repeated());
        for (name, method, tolerance) in methods() {
            // Of neighbors at the same distance ReliefF takes the first; small counts have many.
            if !method.fits(data.target()) || (name.starts_with("relief") && table == "sparse") {
                continue;
            }
            let what = format!("{name}, {table}");
            for count in [FeatureCount::Count(3), FeatureCount::Auto] {
                let (found, expected) =
                    (select(&method, &weighted, count), select(&method, &repeated, count));
                assert_eq!(
                    (&found.order, found.n_selected),
                    (&expected.order, expected.n_selected),
                    "{what}"
                );
                let largest = expected.scores.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
                let differences = found.scores.iter().zip(&expected.scores).map(|(a, b)| (a - b).abs());
                assert!(
                    differences.into_iter().all(|e| e <= tolerance * largest),
                    "{what}: {:?} {:?}",
                    found.scores,
                    expected.scores
                );
                assert!(largest > 0.0, "{what}");
            }
        }
    }
}

#[test]
fn weights_change_the_scores() {
    for (table, data) in tables() {
        let weighted = data.clone().with_weights(weights(), "w").unwrap();
        for (name, method, _) in methods().into_iter().filter(|(_, method, _)| method.fits(data.target())) {
            let plain = select(&method, &data, FeatureCount::Count(3));
            let found = select(&method, &weighted, FeatureCount::Count(3));
            // The score of stepwise elimination is a number of rounds.
            let counts_rounds = name.starts_with("bahsic") || name.starts_with("svm-rfe");
            assert!(counts_rounds || plain.scores != found.scores, "{name}, {table}");
        }
    }
}

#[test]
fn other_methods_refuse_weights_before_any_work() {
    let data = numbers(false).with_weights(weights(), "w").unwrap();
    let balanced = numbers(false).with_balanced_classes().unwrap();
    let supported = SelectorMethod::names_with_weights();
    assert!(supported.contains(&"fisher") && !supported.contains(&"ffs"));
    for info in SELECTORS.iter().filter(|info| !supported.contains(&info.name)) {
        let method = SelectorMethod::by_name(info.name).unwrap();
        for data in [&data, &balanced] {
            let select = |count| method.select_typed(data, count, Encoding::default(), &Context::default());
            let error = select(FeatureCount::Count(2)).unwrap_err();
            assert!(
                matches!(&error, Error::WeightsUnsupported { method, .. } if method == info.title),
                "{error}"
            );
            assert!(error.to_string().contains("; these do: fisher, "), "{error}");
            let each = method.select_each(data, &[1, 2], &Context::default());
            assert!(each.iter().all(Result::is_err), "{}", info.name);
        }
    }
}

#[test]
fn balanced_classes_are_equal_whatever_their_sizes() {
    let data = numbers(false);
    let Target::Classes(classes) = data.target() else { unreachable!("classes") };
    let counts = classes.counts();
    let weights = classes.codes.iter().map(|&code| N as f64 / (3.0 * counts[code] as f64)).collect();
    let by_hand = data.clone().with_weights(weights, "w").unwrap();
    let balanced = data.clone().with_balanced_classes().unwrap();
    for (name, method, tolerance) in methods().into_iter().filter(|(_, method, _)| method.fits(data.target()))
    {
        let of = |data| select(&method, data, FeatureCount::Count(3)).scores;
        assert!(
            of(&by_hand).iter().zip(of(&balanced)).all(|(a, b)| (a - b).abs() <= tolerance * a.abs()),
            "{name}"
        );
        // Each row of one class twice changes nothing.
        let more: Vec<usize> = (0..N).chain((0..N).filter(|&row| classes.codes[row] == 1)).collect();
        let (a, b) = (of(&balanced), of(&data.take_rows(&more).with_balanced_classes().unwrap()));
        let same = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-9;
        assert!(name != "fisher []" || a.iter().zip(&b).all(same), "{name}: {a:?} {b:?}");
    }
}

#[test]
fn selectors_called_directly_have_the_same_rule() {
    let (ctx, count) = (Context::default(), FeatureCount::Count(2));
    let data = numbers(false).with_weights(weights(), "w").unwrap().with_balanced_classes().unwrap();
    let direct = FisherScore::default();
    let named = SelectorMethod::by_name("fisher").unwrap();
    let scores = direct.select(&data, count, &ctx).unwrap().scores;
    assert_eq!(scores, named.select(&data, count, &ctx).unwrap().scores);
    assert_eq!(scores, direct.select_each(&data, &[2], &ctx).remove(0).unwrap().scores);
    assert_eq!(scores, direct.select(&data.for_fit(), count, &ctx).unwrap().scores);
    assert_ne!(scores, direct.select(&numbers(false), count, &ctx).unwrap().scores);
    let laplacian = LaplacianScore::default();
    assert!(matches!(laplacian.select(&data, count, &ctx), Err(Error::WeightsUnsupported { .. })));
    assert!(laplacian.select_each(&data, &[1, 2], &ctx).iter().all(Result::is_err));
}
