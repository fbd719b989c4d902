//! A table of numbers and categories with missing values: selectors rank the features first that they can see.

use kernsift::Context;
use kernsift::data::{Classes, Dataset, Encoding, FeatureType, Target};
use kernsift::internals::Rng;
use kernsift::select::{FeatureCount, Selector, SelectorMethod};
use ndarray::Array2;

const NUMBERS: usize = 40;
const CATEGORIES: usize = 20;

/// A number with a linear effect, and one with a quadratic effect.
const LINEAR: usize = 0;
const QUADRATIC: usize = 1;
/// A number whose effect changes its sign with the category [`SWITCH`].
const SWITCHED: usize = 2;
/// Categories with an effect of each level; the first has 50 levels.
const WIDE: usize = NUMBERS;
const NARROW: usize = NUMBERS + 1;
const SWITCH: usize = NUMBERS + 2;

/// Numbers of levels of the categories: from 2 to 50.
fn n_levels(category: usize) -> usize {
    match category {
        0 => 50,
        1 => 5,
        2 => 4,
        noise => 2 + 48 * (noise - 3) / (CATEGORIES - 4),
    }
}

/// 5 % of the values are missing; the target depends on the complete ones. It is a sum of effects, or its sign.
fn planted(n: usize, seed: u64, continuous: bool) -> Dataset {
    let mut rng = Rng::new(seed);
    let d = NUMBERS + CATEGORIES;
    let mut x = Array2::from_shape_fn((n, d), |(_, j)| match j.checked_sub(NUMBERS) {
        None => rng.normal(),
        Some(category) => (rng.uniform() * n_levels(category) as f64).floor(),
    });
    let effects: Vec<f64> = (0..50).map(|_| 2.0 * rng.normal()).collect();
    let scores = x.rows().into_iter().map(|row| {
        let switch = if row[SWITCH] < 2.0 { 1.0 } else { -1.0 };
        let score = 2.0 * row[LINEAR]
            + 1.5 * (row[QUADRATIC].powi(2) - 1.0)
            + 1.5 * switch * row[SWITCHED]
            + effects[row[WIDE] as usize]
            + 1.2 * (row[NARROW] - 2.0);
        score + rng.normal()
    });
    let scores: Vec<f64> = scores.collect();
    let target = if continuous {
        Target::Continuous(scores)
    } else {
        Target::Classes(Classes::from_codes(scores.iter().map(|&score| usize::from(score > 0.0)).collect()))
    };
    x.mapv_inplace(|v| if rng.uniform() < 0.05 { f64::NAN } else { v });
    let types = (0..d).map(|j| match j.checked_sub(NUMBERS) {
        None => FeatureType::Number,
        Some(category) => FeatureType::Category { levels: n_levels(category) },
    });
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    Dataset::typed(names, x, types.collect(), target).unwrap()
}

/// Ranks of these features, from 1.
fn ranks(method: &SelectorMethod, data: &Dataset, features: &[usize]) -> Vec<usize> {
    let selection =
        method.select_typed(data, FeatureCount::Count(8), Encoding::default(), &Context::default()).unwrap();
    assert_eq!((selection.scores.len(), selection.n_selected), (data.d(), 8));
    features.iter().map(|j| 1 + selection.order.iter().position(|k| k == j).unwrap()).collect()
}

/// The methods that are quick enough for a test, and whether they see a quadratic effect of one feature.
const METHODS: [(&str, bool); 8] = [
    ("fisher", false),
    ("ldfs", false),
    ("ffs", true),
    ("relief", true),
    ("information-gain", true),
    ("mutual-information", true),
    ("chi-squared", true),
    ("hsic-lasso", true),
];

#[test]
fn informative_features_come_first() {
    let data = planted(1000, 1, false);
    for (name, sees_quadratic) in METHODS {
        let method = SelectorMethod::by_name(name).unwrap();
        let found = ranks(&method, &data, &[LINEAR, WIDE, NARROW, QUADRATIC]);
        // All four, or the first three and perhaps a noise feature.
        assert!(found[..3].iter().all(|&rank| rank <= 4), "{name}: {found:?}");
        assert!(!sees_quadratic || found[3] <= 5, "{name}: {found:?}");
    }
}

#[test]
fn zz_experiment() {
    for continuous in [false, true] {
        for seed in 1..=3 {
            let data = planted(1000, seed, continuous);
            for name in [
                "fisher",
                "ldfs",
                "ffs",
                "relief",
                "information-gain",
                "mutual-information",
                "chi-squared",
                "hsic-lasso",
                "l1-svm",
                "svm-rfe",
                "fohsic",
                "bahsic",
                "laplacian",
                "pfs",
            ] {
                if seed > 1 && ["pfs", "laplacian"].contains(&name)
                    || continuous && ["pfs", "laplacian"].contains(&name)
                {
                    continue;
                }
                let method = SelectorMethod::by_name(name).unwrap();
                if !method.fits(data.target()) {
                    continue;
                }
                let t = std::time::Instant::now();
                let s = method
                    .select_typed(&data, FeatureCount::Count(8), Encoding::default(), &Context::default())
                    .unwrap();
                let r: Vec<usize> = [LINEAR, WIDE, NARROW, QUADRATIC, SWITCHED, SWITCH]
                    .iter()
                    .map(|j| 1 + s.order.iter().position(|k| k == j).unwrap())
                    .collect();
                eprintln!(
                    "EXP {continuous} {seed} {name} {r:?} {:?} {:.1}s",
                    &s.order[..8],
                    t.elapsed().as_secs_f64()
                );
            }
        }
    }
    for (name, form) in [
        ("norm", kernsift::select::LdfsForm::Normalized),
        ("constr", kernsift::select::LdfsForm::Constrained),
    ] {
        let data = planted(1000, 1, false);
        let t = std::time::Instant::now();
        let method = kernsift::select::Ldfs { form, ..Default::default() };
        let s = method
            .select_typed(&data, FeatureCount::Count(8), Encoding::default(), &Context::default())
            .unwrap();
        let r: Vec<usize> =
            [LINEAR, WIDE, NARROW].iter().map(|j| 1 + s.order.iter().position(|k| k == j).unwrap()).collect();
        eprintln!("EXP {name} {r:?} {:?} {:.1}s", &s.order[..8], t.elapsed().as_secs_f64());
    }
}

#[test]
fn zz_levels() {
    let mut rng = Rng::new(1);
    let n = 150;
    let x = Array2::from_shape_fn((n, 6), |(i, j)| if j == 0 { i as f64 } else { rng.normal() });
    let codes: Vec<usize> = (0..n).map(|i| usize::from(x[[i, 1]] + rng.normal() > 0.0)).collect();
    let mut types = vec![FeatureType::Category { levels: n }];
    types.resize(6, FeatureType::Number);
    let names = (1..=6).map(|j| format!("x{j}")).collect();
    let data = Dataset::typed(names, x, types, Target::Classes(Classes::from_codes(codes))).unwrap();
    for name in ["ldfs", "pfs", "l1-svm", "svm-rfe", "fisher"] {
        let method = SelectorMethod::by_name(name).unwrap();
        for count in [FeatureCount::Auto, FeatureCount::Count(3)] {
            let t = std::time::Instant::now();
            let s = method.select_typed(&data, count, Encoding::default(), &Context::default()).unwrap();
            eprintln!(
                "LEV {name} {count:?} {:?} {:.2}s it {} path {}",
                s.order,
                t.elapsed().as_secs_f64(),
                s.outcome.iterations,
                s.path.len()
            );
        }
    }
}
