use super::*;
use crate::data::SplitRule;
use crate::data::synthetic::{Pattern, Synthetic};
use ndarray::Array2;

fn select(data: &Dataset, count: FeatureCount, seed: u64) -> Selection {
    Auto::default().select(data, count, &Context { seed, ..Context::default() }).unwrap()
}

fn made(pattern: Pattern, rows: usize, columns: usize, seed: u64) -> (Dataset, Vec<usize>) {
    let made = Synthetic { pattern, rows, columns, seed, ..Synthetic::default() }.make().unwrap();
    let mut relevant = made.relevant;
    relevant.sort_unstable();
    (made.data, relevant)
}

fn sorted(features: &[usize]) -> Vec<usize> {
    let mut features = features.to_vec();
    features.sort_unstable();
    features
}

#[test]
fn finds_exactly_the_relevant_features() {
    for (pattern, rows) in [(Pattern::Xor, 300), (Pattern::Ring, 300)] {
        let (data, relevant) = made(pattern, rows, 20, 1);
        let found = select(&data, FeatureCount::Auto, 0);
        assert_eq!(sorted(found.selected()), relevant, "{pattern:?}");
        let automatic = found.automatic.unwrap();
        let estimate = automatic.estimate.unwrap();
        assert!(estimate.is_nested && estimate.error + 3.0 * estimate.standard_error < estimate.baseline);
        assert!(automatic.p_value < 1e-6, "{pattern:?}: {}", automatic.p_value);
    }
}

#[test]
fn finds_a_product_in_regression() {
    let mut rng = crate::random::Rng::new(3);
    let x = Array2::from_shape_fn((300, 15), |_| rng.normal());
    let y: Vec<f64> = x.rows().into_iter().map(|row| row[4] * row[9] + 0.1 * row[1]).collect();
    let data = Dataset::with_target(x, Target::Continuous(y)).unwrap();
    let found = select(&data, FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), [4, 9]);
    let automatic = found.automatic.unwrap();
    assert!(!automatic.is_classification);
    // Without features, the error is that of the mean.
    let estimate = automatic.estimate.unwrap();
    assert!((estimate.baseline - 1.0).abs() < 1e-12 && estimate.error < 0.5);
}

#[test]
fn finds_a_parity_of_three_features() {
    let mut rng = crate::random::Rng::new(5);
    let x = Array2::from_shape_fn((800, 20), |_| rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[2] * row[7] * row[11] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let found = select(&data, FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), [2, 7, 11]);
    let text = found.automatic.as_ref().unwrap().summary(found.selected(), data.names()).join("\n");
    assert!(text.contains("Three features that matter jointly: x3, x8 and x12"), "{text}");
}

#[test]
fn selects_nothing_from_noise() {
    // The level is 0.05; of 20 draws more than 3 false alarms have a probability of 1.6 %.
    let alarms = (0..20).filter(|&seed| {
        let (data, _) = made(Pattern::Noise, 120, 10, seed);
        select(&data, FeatureCount::Auto, 0).n_selected > 0
    });
    let alarms = alarms.count();
    assert!(alarms <= 3, "{alarms} of 20");
}

#[test]
fn selects_nothing_from_constant_features() {
    let classes = Target::Classes(crate::data::Classes::from_codes((0..60).map(|i| i % 2).collect()));
    let numbers = Target::Continuous((0..60).map(f64::from).collect());
    for target in [classes, numbers] {
        let data = Dataset::with_target(Array2::from_elem((60, 3), 7.0), target).unwrap();
        let found = select(&data, FeatureCount::Auto, 0);
        assert_eq!((found.n_selected, found.automatic.unwrap().p_value), (0, 1.0));
    }
}

#[test]
fn a_requested_number_is_selected_even_from_noise() {
    let (data, _) = made(Pattern::Noise, 100, 8, 2);
    let found = select(&data, FeatureCount::Count(3), 0);
    assert_eq!(found.n_selected, 3);
    let text = found.automatic.as_ref().unwrap().summary(found.selected(), data.names()).join("\n");
    assert!(text.contains("Nothing predicts the target better than chance"), "{text}");
}

#[test]
fn each_number_is_the_same_alone() {
    let (data, _) = made(Pattern::XorRing, 200, 12, 4);
    let ctx = Context::default();
    let together = Auto::default().select_each(&data, &[1, 3, 6], &ctx);
    for (count, found) in [1, 3, 6].into_iter().zip(together) {
        let alone = select(&data, FeatureCount::Count(count), 0);
        let found = found.unwrap();
        assert_eq!((found.selected(), &found.scores), (alone.selected(), &alone.scores), "{count}");
    }
}

#[test]
fn tall_data_are_sampled() {
    let (data, relevant) = made(Pattern::Ring, 3500, 5, 1);
    let found = select(&data, FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), relevant);
    let automatic = found.automatic.unwrap();
    assert_eq!((automatic.n_used, automatic.n), (MAX_ROWS, 3500));
}

/// 40 patients with four almost equal rows each, and a class per patient that depends on the first `effect` features.
fn patients(effect: f64) -> (Dataset, Vec<usize>) {
    let mut rng = crate::random::Rng::new(4);
    let of_patient = Array2::from_shape_simple_fn((40, 5), || rng.normal());
    let groups: Vec<usize> = (0..160).map(|i| i % 40).collect();
    let x = Array2::from_shape_fn((160, 5), |(i, j)| {
        let shift = if j == 3 && groups[i] % 2 == 1 { effect } else { 0.0 };
        of_patient[[groups[i], j]] + shift + 0.05 * rng.normal()
    });
    (Dataset::labeled(x, groups.iter().map(|g| g % 2).collect()).unwrap(), groups)
}

#[test]
fn groups_are_kept_together() {
    for (effect, selected) in [(0.0, vec![]), (3.0, vec![3])] {
        let (data, groups) = patients(effect);
        let grouped = data.clone().with_split_rule(SplitRule::groups(groups, "g").unwrap()).unwrap();
        let found = select(&grouped, FeatureCount::Auto, 0);
        assert_eq!(found.selected(), selected);
        // Rows of the same patient predict each other, though four noisy features are few neighbors.
        let [right, leaking] = [&grouped, &data]
            .map(|data| select(data, FeatureCount::Count(4), 0).automatic.unwrap().estimate.unwrap().error);
        assert!(leaking < 0.25, "{leaking}");
        // A guess of 40 patients has a standard deviation of about 0.1.
        assert!(effect > 0.0 || right > leaking + 0.1, "{right} {leaking}");
    }
    let (data, _) = patients(0.0);
    let few = data.with_split_rule(SplitRule::Groups((0..160).map(|i| i % 3).collect())).unwrap();
    let error = Auto::default().select(&few, FeatureCount::Auto, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("from 2 to the number of groups, 3, got 5"), "{error}");
}

#[test]
fn folds_in_time_choose_by_earlier_folds() {
    let (data, relevant) = made(Pattern::Ring, 300, 6, 1);
    let times: Vec<f64> = (0..300).map(f64::from).collect();
    let folds = |data: &Dataset| Splits::default().split_data(data, true, 0).unwrap();
    let timed = data.clone().with_split_rule(SplitRule::times(times, "t").unwrap()).unwrap();
    let all = TrialRows::all(&folds(&timed));
    assert_eq!(all.len(), 5, "leaving out two folds repeats a trial");
    let inner: Vec<Vec<usize>> = all.iter().map(|rows| rows.inner_of(&folds(&timed))).collect();
    assert_eq!(inner, [vec![1, 2, 3, 4], vec![2, 3, 4], vec![3, 4], vec![4], vec![]]);
    let found = select(&timed, FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), relevant);
    assert!(found.automatic.unwrap().estimate.unwrap().is_nested);
    // Without times, all pairs of folds are left out, and inform both.
    let folds = folds(&data);
    let all = TrialRows::all(&folds);
    assert_eq!(all.len(), 15);
    assert!(all[..5].iter().all(|rows| rows.inner_of(&folds).is_empty()));
    assert!(
        all[5..].iter().all(|rows| rows.inner_of(&folds).len() == 2 && rows.train_and_test() == (180, 120))
    );
}

#[test]
fn a_short_time_budget_leaves_out_cross_validation() {
    let (data, _) = made(Pattern::Ring, 200, 10, 1);
    let auto = Auto { time_budget: Some(1e-9), ..Auto::default() };
    let found = auto.select(&data, FeatureCount::Count(2), &Context::default()).unwrap();
    let automatic = found.automatic.unwrap();
    assert!(automatic.estimate.is_none() && automatic.left_out[0].starts_with("cross-validation"));
    assert_eq!(found.n_selected, 2);
}

/// `n` rows of normal features, and a class of the first `rare` rows.
fn with_rare_class(n: usize, d: usize, rare: usize, seed: u64) -> Dataset {
    let mut rng = crate::random::Rng::new(seed);
    let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    Dataset::labeled(x, (0..n).map(|i| usize::from(i < rare)).collect()).unwrap()
}

#[test]
fn folds_without_one_of_the_classes_are_left_out() {
    // Two rows of a class: leaving out the folds of both leaves one class.
    let found = select(&with_rare_class(60, 5, 2, 1), FeatureCount::Auto, 0);
    let automatic = found.automatic.unwrap();
    assert!(automatic.left_out[0].contains("the target would not vary"), "{:?}", automatic.left_out);
    // A single row: a fold has no row of the class in training.
    let found = select(&with_rare_class(60, 5, 1, 1), FeatureCount::Count(2), 0);
    assert!(found.n_selected == 2 && found.automatic.unwrap().estimate.is_none());
}

#[test]
fn rare_classes_raise_no_false_alarms() {
    // The level is 0.05; of 20 draws more than 3 false alarms have a probability of 1.6 %.
    let alarms = (0..20)
        .filter(|&seed| select(&with_rare_class(100, 8, 6, seed), FeatureCount::Auto, 0).n_selected > 0);
    let alarms = alarms.count();
    assert!(alarms <= 3, "{alarms} of 20");
}

#[test]
fn rare_levels_raise_no_false_alarms() {
    let alarms = (0..10).filter(|&seed| {
        let mut rng = crate::random::Rng::new(seed);
        let x = Array2::from_shape_simple_fn((300, 30), || f64::from(u8::from(rng.uniform() < 0.05)));
        let codes = (0..300).map(|_| rng.below(2)).collect();
        select(&Dataset::labeled(x, codes).unwrap(), FeatureCount::Auto, 0).n_selected > 0
    });
    let alarms = alarms.count();
    // More than 2 of 10 have a probability of 1.2 %.
    assert!(alarms <= 2, "{alarms} of 10");
}

#[test]
fn heavy_tails_do_not_matter() {
    let mut rng = crate::random::Rng::new(8);
    let x = Array2::from_shape_simple_fn((300, 8), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row[0] + row[1] > 0.0)).collect();
    let data = Dataset::labeled(x.mapv(|v| (4.0 * v).exp()), codes).unwrap();
    let found = select(&data, FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), [0, 1]);
    // A kernel classifier of the normal features has an error of about 5 %.
    assert!(found.automatic.unwrap().estimate.unwrap().error < 0.15);
}

#[test]
fn many_weak_effects_are_no_noise() {
    let mut rng = crate::random::Rng::new(9);
    let x = Array2::from_shape_simple_fn((400, 100), || rng.normal());
    let codes = x.rows().into_iter().map(|row| usize::from(row.sum() > 0.0)).collect();
    let auto = Auto { cv: 2, ..Auto::default() };
    let data = Dataset::labeled(x, codes).unwrap();
    let found = auto.select(&data, FeatureCount::Auto, &Context::default()).unwrap();
    assert!(found.n_selected > 0 && found.automatic.unwrap().p_value <= 0.05);
}

#[test]
fn without_cross_validation_the_search_chooses_the_number() {
    let (data, relevant) = made(Pattern::Xor, 300, 10, 1);
    let auto = Auto { time_budget: Some(1e-9), ..Auto::default() };
    let found = auto.select(&data, FeatureCount::Auto, &Context::default()).unwrap();
    assert_eq!(sorted(found.selected()), relevant);
    // Longer than any duration.
    let auto = Auto { time_budget: Some(1e300), ..Auto::default() };
    let found = auto.select(&data, FeatureCount::Count(2), &Context::default()).unwrap();
    assert!(found.automatic.unwrap().left_out.is_empty());
}

#[test]
fn features_that_matter_jointly_follow_the_selected_ones() {
    let sets = [vec![4, 0], vec![0, 2, 3]];
    assert_eq!(with_joint_sets(vec![3, 1, 0, 2, 5, 4], 2, &sets), [3, 1, 4, 0, 2, 5]);
    assert_eq!(with_joint_sets(vec![1, 0], 1, &[]), [1, 0]);
}

#[test]
fn a_significant_pair_is_selected_although_the_error_hardly_needs_it() {
    // A strong ring of features 2 and 3, and a weaker XOR of 0 and 1, decide the class together.
    let mut rng = crate::random::Rng::new(11);
    let x = Array2::from_shape_simple_fn((1000, 20), || rng.normal());
    let ring = |a: f64, b: f64| (a * a + b * b) / 2.0 - 1.0;
    let class = |row: ndarray::ArrayView1<f64>| row[0] * row[1] + 1.5 * ring(row[2], row[3]) > 0.0;
    let codes = x.rows().into_iter().map(|row| usize::from(class(row))).collect();
    let found = select(&Dataset::labeled(x, codes).unwrap(), FeatureCount::Auto, 0);
    assert_eq!(sorted(found.selected()), [0, 1, 2, 3]);
}

#[test]
fn a_target_that_is_a_function_of_features_has_finite_results() {
    // The classes are the four combinations of two binary features, one of which has a copy.
    let x = Array2::from_shape_fn((32, 5), |(i, j)| match j {
        0 | 1 => f64::from(u8::from((i >> j) & 1 == 1)),
        2 => f64::from(u8::from(i & 1 == 0)),
        _ => ((i * i * (j + 2) + 3 * i) % 17) as f64,
    });
    let data = Dataset::labeled(x, (0..32).map(|i| i % 4).collect()).unwrap();
    let found = *select(&data, FeatureCount::Auto, 0).automatic.unwrap();
    assert!(found.p_value > 0.0 && found.p_value < 1e-6, "{}", found.p_value);
    let text = serde_json::to_string(&found).unwrap();
    assert!(!text.contains("null"), "{text}");
    assert_eq!(serde_json::from_str::<Automatic>(&text).unwrap(), found);
}
