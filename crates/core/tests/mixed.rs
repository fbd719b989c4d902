//! A table of numbers and categories with missing values: selectors rank the features first that they can see.

use kernsift::Context;
use kernsift::data::{Classes, Dataset, Encoding, FeatureType, Target};
use kernsift::interactions::InteractionScreen;
use kernsift::internals::Rng;
use kernsift::select::{Auto, FeatureCount, Selector, SelectorMethod, Step, SvmRfe};
use kernsift::significance::FeatureTest;
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

/// Claims that a method ranks the features with an effect it can see before all noise: numbers with a linear effect and
/// categories, and also a quadratic effect if it sees that. An informative category of 50 levels counts as one feature.
fn ranks_informative_features_first(name: &str, sees_quadratic: bool, continuous: bool) {
    let method = SelectorMethod::by_name(name).unwrap();
    for seed in 1..=3 {
        let data = planted(1000, seed, continuous);
        let ctx = Context::default();
        let found = method.select_typed(&data, FeatureCount::Count(8), Encoding::default(), &ctx).unwrap();
        assert_eq!((found.scores.len(), found.order.len(), found.n_selected), (60, 60, 8), "{name}");
        let rank = |feature: &usize| found.order.iter().position(|j| j == feature).unwrap();
        let mut seen = vec![LINEAR, WIDE, NARROW];
        seen.extend(sees_quadratic.then_some(QUADRATIC));
        let informative = [LINEAR, QUADRATIC, SWITCHED, WIDE, NARROW, SWITCH];
        let first_noise = (0..60).filter(|j| !informative.contains(j)).map(|j| rank(&j)).min();
        let ranks: Vec<usize> = seen.iter().map(rank).collect();
        assert!(ranks.iter().max() < first_noise.as_ref(), "{name}, seed {seed}: {:?}", found.order);
    }
}

#[test]
fn linear_methods_rank_linear_effects_and_categories_first() {
    for name in ["fisher", "ldfs", "l1-svm"] {
        ranks_informative_features_first(name, false, false);
    }
}

#[test]
fn other_methods_rank_nonlinear_effects_first_too() {
    for name in ["information-gain", "mutual-information", "chi-squared", "hsic-lasso"] {
        ranks_informative_features_first(name, true, false);
    }
    // Noise features may fit the training samples (FFS) or the neighbors (Relief) as well as a quadratic effect.
    for name in ["ffs", "relief"] {
        ranks_informative_features_first(name, false, false);
    }
}

#[test]
fn the_same_holds_for_regression() {
    ranks_informative_features_first("fisher", false, true);
    for name in ["hsic-lasso", "relief"] {
        ranks_informative_features_first(name, true, true);
    }
}

/// One round of elimination takes as long as all other methods, so one small table.
#[test]
fn svm_rfe_keeps_informative_features_longest() {
    let data = planted(400, 1, false);
    let method = SvmRfe { step: Step::Count(4), ..SvmRfe::default() };
    let found = method.select_typed(&data, FeatureCount::Count(8), Encoding::default(), &Context::default());
    let mut best = found.unwrap().order[..3].to_vec();
    best.sort_unstable();
    assert_eq!(best, [LINEAR, WIDE, NARROW]);
}

/// A date whose month matters, over ten years: its periods find what the number does not show.
#[test]
fn periods_of_a_date_count_for_their_feature() {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((500, 4), || (3652.5 * rng.uniform()).floor());
    let codes: Vec<usize> =
        x.column(2).iter().map(|days| usize::from((days / 365.25).fract() < 0.4)).collect();
    let types = |date| vec![FeatureType::Number, FeatureType::Number, date, FeatureType::Number];
    let names = || (1..=4).map(|j| format!("x{j}")).collect();
    let data = |date| {
        let target = Target::Classes(Classes::from_codes(codes.clone()));
        Dataset::typed(names(), x.clone(), types(date), target).unwrap()
    };
    let with = data(FeatureType::Date("month".to_owned().try_into().unwrap()));
    let ctx = Context::default();
    for name in ["auto", "hsic-lasso", "nca", "fisher"] {
        let method = SelectorMethod::by_name(name).unwrap();
        let found = method.select_typed(&with, FeatureCount::Count(1), Encoding::default(), &ctx).unwrap();
        assert_eq!(found.order[0], 2, "{name}");
    }
    let p_value = |data: &Dataset| {
        let mut found = FeatureTest::default().run(data, &[], &ctx).unwrap().features;
        found.sort_by_key(|tested| tested.feature);
        found[2].p_value
    };
    // The tests see up to four cosines of the rank of the days, which ten periods do not correlate with.
    assert!(p_value(&with) < 1e-20 && p_value(&data(FeatureType::Number)) > 1e-3);
}

/// The search adds the features with effects alone; those of the significant pair come next. Without time it does not
/// cross-validate, which does not change the order here.
#[test]
fn the_automatic_selector_ranks_all_informative_features_first() {
    let auto = Auto { time_budget: Some(1e-6), ..Auto::default() };
    for continuous in [false, true] {
        let data = planted(1000, 1, continuous);
        let found =
            auto.select_typed(&data, FeatureCount::Auto, Encoding::default(), &Context::default()).unwrap();
        let mut best = found.order[..6].to_vec();
        best.sort_unstable();
        assert_eq!(best, [LINEAR, QUADRATIC, SWITCHED, WIDE, NARROW, SWITCH], "{:?}", found.order);
    }
}

/// The screen removes the effects of single features and finds the number whose effect depends on a category.
#[test]
fn the_interaction_of_a_number_and_a_category_is_the_first_pair() {
    for (seed, continuous) in [(1, false), (2, false), (1, true), (2, true)] {
        let data = planted(1000, seed, continuous);
        let found = InteractionScreen::default().run(&data, &Context::default()).unwrap();
        assert_eq!(found.significant_features(), [SWITCHED, SWITCH], "seed {seed}");
        let mut effects = found.main_effects.clone();
        effects.sort_unstable();
        assert_eq!(effects, [LINEAR, QUADRATIC, WIDE, NARROW], "seed {seed}");
    }
}
