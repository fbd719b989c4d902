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

/// 5 % of the values are missing; the target depends on the complete ones.
fn planted(n: usize, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed);
    let d = NUMBERS + CATEGORIES;
    let mut x = Array2::from_shape_fn((n, d), |(_, j)| match j.checked_sub(NUMBERS) {
        None => rng.normal(),
        Some(category) => (rng.uniform() * n_levels(category) as f64).floor(),
    });
    let effects: Vec<f64> = (0..50).map(|_| 2.0 * rng.normal()).collect();
    let codes = x.rows().into_iter().map(|row| {
        let switch = if row[SWITCH] < 2.0 { 1.0 } else { -1.0 };
        let score = 2.0 * row[LINEAR]
            + 1.5 * (row[QUADRATIC].powi(2) - 1.0)
            + 1.5 * switch * row[SWITCHED]
            + effects[row[WIDE] as usize]
            + 1.2 * (row[NARROW] - 2.0);
        usize::from(score + rng.normal() > 0.0)
    });
    let codes = codes.collect();
    x.mapv_inplace(|v| if rng.uniform() < 0.05 { f64::NAN } else { v });
    let types = (0..d).map(|j| match j.checked_sub(NUMBERS) {
        None => FeatureType::Number,
        Some(category) => FeatureType::Category { levels: n_levels(category) },
    });
    let names = (1..=d).map(|j| format!("x{j}")).collect();
    Dataset::typed(names, x, types.collect(), Target::Classes(Classes::from_codes(codes))).unwrap()
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
    let data = planted(1000, 1);
    for (name, sees_quadratic) in METHODS {
        let method = SelectorMethod::by_name(name).unwrap();
        let found = ranks(&method, &data, &[LINEAR, WIDE, NARROW, QUADRATIC]);
        // All four, or the first three and perhaps a noise feature.
        assert!(found[..3].iter().all(|&rank| rank <= 4), "{name}: {found:?}");
        assert!(!sees_quadratic || found[3] <= 5, "{name}: {found:?}");
    }
}
