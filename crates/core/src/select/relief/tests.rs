use super::*;
use crate::data::FeatureType;
use ndarray::{Array2, array};

fn select(relief: &Relief, x: Array2<f64>, codes: Vec<usize>) -> Result<Selection> {
    relief.select(&Dataset::labeled(x, codes)?, FeatureCount::Auto, &Context::default())
}

fn with_missing(x: Array2<f64>, target: Target) -> Dataset {
    let names = (0..x.ncols()).map(|j| j.to_string()).collect();
    Dataset::with_missing(names, x, target).unwrap()
}

#[test]
fn two_classes_by_hand() {
    // Rows (0, 0), (0, 1) against (3, 0), (3, 2). Nearest hit and miss of each row:
    // 0: 1 and 2, 1: 0 and 2 (10 < 10? (3,0): 9+1, (3,2): 9+1: the first), 2: 3 and 0, 3: 2 and 1.
    let x = array![[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 2.0]];
    let absolute = select(&Relief::original(), x.clone(), vec![0, 0, 1, 1]).unwrap();
    // Feature 1: misses 3, hits 0. Feature 2: misses 0, 1, 0, 1; hits 1, 1, 2, 2: negative.
    assert_eq!(absolute.scores, [3.0, 0.0]);
    assert_eq!(absolute.n_selected, 1);
    let relief = Relief { difference: Difference::Squared, ..Relief::original() };
    assert_eq!(select(&relief, x.clone(), vec![0, 0, 1, 1]).unwrap().scores, [9.0, 0.0]);
    // Divided by their ranges, 3 and 2, absolute: the misses of rows 0 to 3 are 2, 2 (1.5 and 1.5), 0, 1.
    let relief = Relief { metric: Metric::Manhattan, units: Units::Range, ..Relief::original() };
    assert_eq!(select(&relief, x, vec![0, 0, 1, 1]).unwrap().scores, [1.0, 0.0]);
}

#[test]
fn misses_are_weighted_by_class_frequency() {
    // Class 0 at 0, class 1 at 1 (two rows), class 2 at 4 (four rows), hits at distance 0.
    let x = array![[0.0], [0.0], [1.0], [1.0], [4.0], [4.0], [4.0], [4.0]];
    let codes = vec![0, 0, 1, 1, 2, 2, 2, 2];
    let scores = select(&Relief::original(), x.clone(), codes.clone()).unwrap().scores;
    // From 0: 1 * 2/6 + 4 * 4/6 = 3; from 1: 1 * 2/6 + 3 * 4/6 = 7/3; from 2: 4 * 2/4 + 3 * 2/4 = 3.5.
    let expected = (2.0 * 3.0 + 2.0 * 7.0 / 3.0 + 4.0 * 3.5) / 8.0;
    assert!((scores[0] - expected).abs() < 1e-14, "{scores:?}");
    // Equal class weights: 2.5, 2 and 3.5.
    let equal = Relief { class_weights: ClassWeights::Equal, ..Relief::original() };
    let scores = select(&equal, x, codes).unwrap().scores;
    assert!((scores[0] - (2.0 * 2.5 + 2.0 * 2.0 + 4.0 * 3.5) / 8.0).abs() < 1e-14, "{scores:?}");
}

#[test]
fn too_few_neighbors() {
    let x = array![[0.0], [1.0], [2.0], [3.0], [4.0]];
    let two = Relief { n_neighbors: 2, ..Relief::original() };
    assert_eq!(
        select(&two, x.clone(), vec![0, 0, 1, 1, 1]).unwrap_err().to_string(),
        "Relief: parameter 'n_neighbors' must be from 1 to one fewer than the rows of the smallest class, 1, got 2"
    );
    // Fewer neighbors are used: hits 1, 1 of the first class, the mean of two for the others.
    let clipped = select(&Relief { clip: true, ..two }, x.clone(), vec![0, 0, 1, 1, 1]).unwrap();
    // Misses 2.5, 1.5, 1.5, 2.5, 3.5: mean 2.3. Hits 1, 1, 1.5, 1, 1.5: mean 1.2.
    assert!((clipped.scores[0] - 1.1).abs() < 1e-15, "{:?}", clipped.scores);
    // A class with one sample is accepted.
    assert!(select(&Relief::original(), x.clone(), vec![0, 0, 1, 1, 2]).is_ok());
    let error = select(&Relief::original(), x.clone(), vec![0, 1, 2, 3, 4]).unwrap_err().to_string();
    assert!(error.contains("classes has a single row"), "{error}");
    let none = Relief { n_samples: Some(0), ..Relief::original() };
    assert!(select(&none, x, vec![0, 0, 1, 1, 1]).unwrap_err().to_string().contains("'n_samples'"));
}

#[test]
fn features_with_negative_weights_are_ranked_by_weight() {
    // The second feature is noise within classes, the third even more; the first separates them.
    let x = array![[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [9.0, 0.0, 0.0], [9.0, 1.0, 2.0]];
    let selection = select(&Relief::original(), x, vec![0, 0, 1, 1]).unwrap();
    assert_eq!((selection.scores, selection.order), (vec![9.0, 0.0, 0.0], vec![0, 1, 2]));
}

#[test]
fn missing_values_have_expected_differences() {
    // Known values of feature 1: 0, 4, 5; differences 4, 5, 1: 10/3 on average. Feature 2 has no missing value.
    let nan = f64::NAN;
    let x = array![[0.0, 0.0], [nan, 1.0], [4.0, 0.0], [5.0, 2.0]];
    let data = with_missing(x, Target::Classes(Classes::from_codes(vec![0, 0, 1, 1])));
    let relief = Relief { metric: Metric::Manhattan, ..Relief::original() };
    let scores = relief.class_weights(&data, data.classes("m").unwrap(), &Context::default()).unwrap();
    // Distances: 0-2: 4, 0-3: 7; 1-2: 10/3 + 1, 1-3: 10/3 + 1, so the first. Misses: 0: 2; 1: 2; 2: 0 (4) before 1
    // (13/3); 3: 0 is at 7, 1 at 13/3. Hits: the only other.
    // Feature 1: misses 4, 10/3, 4, 10/3; hits 10/3, 10/3, 1, 1.
    let expected = (4.0 + 10.0 / 3.0 + 4.0 + 10.0 / 3.0 - 10.0 / 3.0 - 10.0 / 3.0 - 2.0) / 4.0;
    assert!((scores[0] - expected).abs() < 1e-15, "{scores:?}");
    // Feature 2: misses 0, 1, 0, 1; hits 1, 1, 2, 2.
    assert!((scores[1] + 1.0).abs() < 1e-15, "{scores:?}");
    // Squared: 16, 25, 1 average to 14.
    let relief = Relief { difference: Difference::Squared, ..Relief::original() };
    let scores = relief.class_weights(&data, data.classes("m").unwrap(), &Context::default()).unwrap();
    // 1-2: 15, 1-3: 15: the first; 2: 0 (16) or 1 (15); 3: 0 (29) or 1 (15). 0: 2 (16).
    assert!((scores[0] - (16.0 + 14.0 * 3.0 - 28.0 - 2.0) / 4.0).abs() < 1e-13, "{scores:?}");
}

#[test]
fn categories_differ_by_0_or_1() {
    // The categories come first, the number second: a, a against b, a; 0, 1 against 3, 4, range 4.
    let x = array![[0.0, 0.0], [0.0, 1.0], [2.0, 3.0], [0.0, 4.0]];
    let types = vec![FeatureType::Category { levels: 3 }, FeatureType::Number];
    let weights = |x: Array2<f64>| {
        let target = Target::Classes(Classes::from_codes(vec![0, 0, 1, 1]));
        let data = Dataset::typed(vec!["a".into(), "b".into()], x, types.clone(), target).unwrap();
        let relief = Relief { n_neighbors: 1, ..Relief::default() };
        relief.class_weights(&data, data.classes("m").unwrap(), &Context::default()).unwrap()
    };
    // Distances to misses: 0: 1.75 and 1, so row 3; 1: 1.5 and 0.75, row 3; 2: 1.75 and 1.5, row 1; 3: 1 and 0.75, row 1.
    // Category: misses 0, 0, 1, 0; hits 0, 0, 1, 1. Number: misses 1, 0.75, 0.5, 0.75; hits 0.25 each.
    assert_eq!(weights(x.clone()), [-0.25, 0.5]);
    // Other codes change nothing.
    assert_eq!(weights(array![[2.0, 0.0], [2.0, 1.0], [1.0, 3.0], [2.0, 4.0]]), [-0.25, 0.5]);
    // A missing category: of the known a, a, a no pair differs.
    let mut missing = x.clone();
    missing[[2, 0]] = f64::NAN;
    assert_eq!(weights(missing)[0], 0.0);
    let encoded = Dataset::encoded(
        vec!["a".into()],
        x,
        crate::data::Groups::of_sizes([2]),
        Target::Classes(Classes::from_codes(vec![0, 0, 1, 1])),
    );
    let error = Relief::default().select(&encoded.unwrap(), FeatureCount::Auto, &Context::default());
    assert!(error.unwrap_err().to_string().starts_with("columns for Relief, which encodes features itself"));
}

#[test]
fn features_without_known_values_score_zero() {
    let x = array![[0.0, f64::NAN], [1.0, f64::NAN], [5.0, f64::NAN], [6.0, f64::NAN]];
    let data = with_missing(x, Target::Classes(Classes::from_codes(vec![0, 0, 1, 1])));
    let selection = Relief::original().select(&data, FeatureCount::Auto, &Context::default()).unwrap();
    assert!(selection.scores[0] > 0.0 && selection.scores[1] == 0.0);
}

#[test]
fn regression_by_hand() {
    // One feature, x = 0, 1, 3, target 0, 2, 4: nearest rows 1, 0, 1. Differences in x: 1, 1, 2; in the target
    // relative to its range: 0.5, 0.5, 0.5. Means: 1/2; 4/3; 2/3. So w = (2/3) / (1/2) - (4/3 - 2/3) / (1/2) = 0.
    let run = |x: Array2<f64>, y: Vec<f64>| {
        let data = Dataset::with_target(x, Target::Continuous(y.clone())).unwrap();
        Relief::original().regression_weights(&data, &y, &Context::default())
    };
    assert!(run(array![[0.0], [1.0], [3.0]], vec![0.0, 2.0, 4.0]).unwrap()[0].abs() < 1e-15);
    // Targets 0, 1, 4: relative to the range 1/4, 1/4, 3/4. Means: 5/12; 4/3; (1/4 + 1/4 + 3/2) / 3 = 2/3.
    let w = run(array![[0.0], [1.0], [3.0]], vec![0.0, 1.0, 4.0]).unwrap()[0];
    assert!((w - ((2.0 / 3.0) / (5.0 / 12.0) - (2.0 / 3.0) / (7.0 / 12.0))).abs() < 1e-14, "{w}");
    let error = run(array![[0.0], [1.0]], vec![2.0, 2.0]).unwrap_err().to_string();
    assert!(error.starts_with("Relief: the target is 2 in every row"), "{error}");
}

#[test]
fn relevant_features_of_a_continuous_target_come_first() {
    use crate::data::synthetic::{Pattern, Synthetic};
    let planted =
        Synthetic { pattern: Pattern::Xor, rows: 400, columns: 8, continuous: true, ..Synthetic::default() };
    let planted = planted.make().unwrap();
    let relief =
        Relief { n_neighbors: 10, metric: Metric::Manhattan, units: Units::Range, ..Relief::original() };
    let selection = relief.select(&planted.data, FeatureCount::Count(2), &Context::default()).unwrap();
    let (mut best, mut relevant) = (selection.selected().to_vec(), planted.relevant.clone());
    best.sort_unstable();
    relevant.sort_unstable();
    assert_eq!(best, relevant);
}

#[test]
fn centers_are_subsampled_by_the_seed() {
    let mut rng = Rng::new(8);
    let x = Array2::from_shape_simple_fn((300, 4), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[1] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let run = |seed: u64, n_samples: Option<usize>| {
        let ctx = Context { seed, ..Context::default() };
        Relief { n_samples, n_neighbors: 5, ..Relief::original() }
            .select(&data, FeatureCount::Count(1), &ctx)
            .unwrap()
    };
    assert_eq!(run(1, Some(60)), run(1, Some(60)));
    assert_ne!(run(1, Some(60)).scores, run(2, Some(60)).scores);
    assert_eq!(run(1, Some(300)), run(2, None));
    assert_eq!(run(1, Some(60)).selected(), [1]);
}

#[test]
fn the_number_of_neighbors_is_checked_and_clipped() {
    let x = array![[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 2.0]];
    let of = |n_neighbors, clip| {
        select(&Relief { n_neighbors, clip, ..Relief::original() }, x.clone(), vec![0, 0, 1, 1])
    };
    let message = |n_neighbors, clip| of(n_neighbors, clip).unwrap_err().to_string();
    assert!(message(0, true).contains("'n_neighbors' must be an integer, at least 1, got 0"));
    assert!(message(0, false).contains("'n_neighbors' must be an integer, at least 1, got 0"));
    assert!(message(2, false).contains("from 1 to one fewer than the rows of the smallest class, 1"));
    // Memory is reserved for the neighbors that exist, however many are requested.
    assert_eq!(of(1_000_000_000_000, true).unwrap(), of(2, true).unwrap());
    let manhattan =
        Relief { metric: Metric::Manhattan, clip: true, n_neighbors: usize::MAX, ..Relief::original() };
    assert!(select(&manhattan, x.clone(), vec![0, 0, 1, 1]).is_ok());
    let numbers = Target::Continuous(vec![1.0, 2.0, 4.0, 3.0]);
    let data = Dataset::with_target(x.clone(), numbers).unwrap();
    let none = Relief { n_neighbors: 0, clip: true, ..Relief::original() };
    let error = none.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("'n_neighbors' must be an integer, at least 1, got 0"), "{error}");
}
