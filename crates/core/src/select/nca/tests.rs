//! Tests against naive implementations, and laws.

use super::candidates::candidates;
use super::gradient::Weighted;
use super::problem::{BANDWIDTHS, Losses, Problem};
use super::rough::Rough;
use super::rows::WeightedRows;
use super::subsamples::Subsamples;
use super::*;
use crate::data::synthetic::{Pattern, Synthetic};
use crate::data::{Classes, Groups, Target};
use crate::optim::gradient_error;
use crate::outcome::Stop;
use crate::random::Rng;
use ndarray::Array2;

/// Nine columns with different scales, one of them constant and one a copy, in six features.
fn example(n: usize, continuous: bool, seed: u64) -> Dataset {
    let mut rng = Rng::new(seed);
    let mut x = Array2::from_shape_simple_fn((n, 9), || rng.normal());
    // The columns 1 to 3 are a category of three levels; 6 and 7 have many levels.
    for i in 0..n {
        let level = rng.below(3);
        (0..3).for_each(|k| x[[i, 1 + k]] = f64::from(u8::from(level == k)) * 1.2);
        x[[i, 5]] = x[[i, 0]];
        x[[i, 8]] = 2.0;
    }
    x.column_mut(4).mapv_inplace(|v| 5.0 * v);
    let y: Vec<f64> = x.rows().into_iter().map(|r| r[0] + r[2] * r[6] + 0.3 * r[7]).collect();
    let noise: Vec<f64> = (0..n).map(|_| 0.5 * rng.normal()).collect();
    let target = if continuous {
        Target::Continuous(y.iter().zip(&noise).map(|(y, e)| 3.0 * (y + e) - 7.0).collect())
    } else {
        let code = |(y, e): (&f64, &f64)| usize::from(y + e > 0.0) + usize::from(y + e > 1.0);
        Target::Classes(Classes::from_codes(y.iter().zip(&noise).map(code).collect()))
    };
    let names = (0..6).map(|j| format!("f{j}")).collect();
    Dataset::encoded(names, x, Groups::of_sizes([1, 3, 1, 1, 2, 1]), target).unwrap()
}

/// The loss as it is defined, with the data in their order and each row as often as its weight says.
fn naive(data: &Dataset, set: &[usize], h: f64) -> f64 {
    let data = &*data.unweighted(1000);
    let (x, n) = (data.x().to_dense(), data.n());
    let columns = data.groups().expand(set);
    let w = |i: usize, j: usize| {
        let d: f64 = columns.iter().map(|&f| (x[[i, f]] - x[[j, f]]).powi(2)).sum();
        if i == j { 0.0 } else { (-d / (h * set.len() as f64)).exp() }
    };
    match data.target() {
        Target::Classes(classes) => {
            let counts = classes.counts();
            let prior = 1e-3 / n as f64;
            let of_row = |i: usize| {
                let mut p = vec![0.0; counts.len()];
                (0..n).for_each(|j| p[classes.codes[j]] += w(i, j) / counts[classes.codes[j]] as f64);
                let all: f64 = p.iter().map(|p| p + prior).sum();
                -((p[classes.codes[i]] + prior) / all).ln()
            };
            let share = |i: usize| 1.0 / (counts.len() * counts[classes.codes[i]]) as f64;
            (0..n).map(|i| share(i) * of_row(i)).sum()
        }
        Target::Continuous(y) => {
            let mean = y.iter().sum::<f64>() / n as f64;
            let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
            let of_row = |i: usize| {
                let (num, den) =
                    (0..n).fold((1e-3 * mean, 1e-3), |(a, b), j| (a + w(i, j) * y[j], b + w(i, j)));
                (num / den - y[i]).powi(2)
            };
            (0..n).map(of_row).sum::<f64>() / (n as f64 * variance)
        }
        Target::None | Target::Outputs(_) => unreachable!(),
    }
}

/// With weights of one to three.
fn weighted(data: Dataset) -> Dataset {
    let weights = (0..data.n()).map(|row| (1 + row % 3) as f64).collect();
    data.with_weights(weights, "w").unwrap()
}

fn problem(data: &Dataset) -> Problem {
    Problem::new(data, &WeightedRows::new(data, false), (0..data.d()).collect())
}

fn losses(problem: &Problem, set: &[usize]) -> Losses {
    problem.mean(&problem.of_rows(set, &Context::default()).unwrap())
}

/// One search without swaps.
fn plain() -> Nca {
    Nca { n_subsamples: Some(0), ..Nca::default() }
}

fn select(method: &Nca, data: &Dataset, count: FeatureCount) -> Selection {
    method.select(data, count, &Context::default()).unwrap()
}

#[test]
fn losses_equal_the_definition() {
    let ctx = Context::default();
    for (continuous, are_weighted) in [(false, false), (true, false), (false, true), (true, true)] {
        let data = example(70, continuous, 1);
        let data = if are_weighted { weighted(data) } else { data };
        let problem = problem(&data);
        for set in [vec![0], vec![1], vec![4, 1], vec![2, 0, 4, 1, 5]] {
            let found = losses(&problem, &set);
            let (last, members) = set.split_last().unwrap();
            let added = problem.with_each(members, &[*last], &ctx).unwrap()[0];
            for (at, h) in BANDWIDTHS.into_iter().enumerate() {
                let expected = naive(&data, &set, h);
                // Sums of 70 numbers of order one in another order, magnified by at most 1e3 where a sum is near the prior.
                assert!((found[at] - expected).abs() < 1e-12 * (1.0 + expected), "{set:?} {h}");
                assert!((added[at] - expected).abs() < 1e-12 * (1.0 + expected), "{set:?} {h}");
            }
        }
    }
}

#[test]
fn a_loss_by_hand() {
    // Distances 1 within the first class, 9 and 4 to the row of the second.
    let data = Dataset::labeled(ndarray::array![[0.0], [1.0], [3.0]], vec![0, 0, 1]).unwrap();
    let e = 1e-3 / 3.0;
    let p = |own: f64, other: f64| (own + e) / (own + other + 2.0 * e);
    let (one, four, nine) = ((-1.0_f64).exp(), (-4.0_f64).exp(), (-9.0_f64).exp());
    let rows = [p(one / 2.0, nine), p(one / 2.0, four), p(0.0, (four + nine) / 2.0)];
    let expected = -(rows[0].ln() + rows[1].ln()) / 4.0 - rows[2].ln() / 2.0;
    assert!((losses(&problem(&data), &[0])[2] - expected).abs() < 1e-14);
}

#[test]
fn all_rows_as_landmarks_are_the_exact_loss() {
    for continuous in [false, true] {
        let data = example(80, continuous, 2);
        let all = Problem::with_few_landmarks(&data, 80);
        assert!(all.is_symmetric());
        // Classes keep 50 rows each, so all rows are landmarks, but not as such.
        let few = Problem::with_few_landmarks(&data, 79);
        let (a, b) = (losses(&all, &[0, 4]), losses(&few, &[0, 4]));
        if continuous {
            assert_eq!(few.n_landmarks(), 79);
            // One of 80 rows is missing.
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.1 * a));
        } else {
            assert_eq!((few.n_landmarks(), a), (80, b));
        }
    }
}

/// Estimates with rows as landmarks and with few landmarks.
#[test]
fn the_error_bound_holds() {
    let ctx = Context::default();
    let mut useful = 0;
    for (continuous, landmarks, seed) in [
        (false, 150, 3),
        (true, 150, 4),
        (false, 60, 5),
        (true, 60, 6),
        (false, 150, 7),
        (false, 150, 8),
        (true, 150, 8),
        (true, 60, 8),
    ] {
        let mut data = example(150, continuous, seed);
        if seed == 8 {
            data = weighted(data);
        }
        if seed == 7 {
            // Outliers and tiny differences.
            let mut x = data.x().to_dense();
            x[[3, 4]] = 3e3;
            x[[5, 0]] = 1e9;
            x.column_mut(6).mapv_inplace(|v| 1e-9 * v + 1.0);
            data = data.with_x(x).unwrap();
        }
        let problem = Problem::with_few_landmarks(&data, landmarks);
        for (members, at) in [(vec![], 0), (vec![0], 3), (vec![4, 1, 2], 1)] {
            let candidates: Vec<usize> = (0..6).filter(|f| !members.contains(f)).collect();
            let gamma = 1.0 / (BANDWIDTHS[at] * (members.len() + 1) as f64);
            let rough = Rough::new(&problem, &members, gamma, &ctx).unwrap();
            let estimates = rough.with_each(&candidates, &ctx).unwrap();
            let exact = problem.with_each(&members, &candidates, &ctx).unwrap();
            for ((estimate, exact), f) in estimates.iter().zip(&exact).zip(&candidates) {
                let wrong = (estimate.loss - exact[at]).abs();
                assert!(wrong <= estimate.error, "{seed} {members:?} {f}: {wrong} > {}", estimate.error);
                useful += usize::from(estimate.error < 1e-3);
            }
        }
    }
    assert!(useful > 50, "the bound is useful in {useful} cases only");
}

#[test]
fn the_search_follows_the_definition() {
    for (continuous, seed) in [(false, 0), (true, 1), (false, 2), (true, 3)] {
        let recipe = Synthetic {
            pattern: Pattern::XorRing,
            rows: 60,
            columns: 14,
            continuous,
            seed,
            ..Synthetic::default()
        };
        let data = recipe.make().unwrap().data;
        let found = select(&plain(), &data, FeatureCount::Count(4));
        let sets = jointly_relevant(&data, &Context::default()).unwrap();
        let empty = if continuous { 1.0 } else { 2.0_f64.ln() };
        let least =
            |set: &[usize]| BANDWIDTHS.into_iter().map(|h| naive(&data, set, h)).fold(empty, f64::min);
        let (mut chosen, mut h): (Vec<usize>, f64) = (vec![], 1.0);
        while chosen.len() < 4 {
            let loss = |f: &usize| naive(&data, &[&chosen[..], &[*f]].concat(), h);
            let rest = (0..14).filter(|f| !chosen.contains(f));
            let mut added = vec![rest.min_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap()];
            // A set replaces the feature if it decreases the loss more per feature.
            let decrease = |added: &[usize]| {
                let before = if chosen.is_empty() { empty } else { least(&chosen) };
                (before - least(&[&chosen[..], added].concat())) / added.len() as f64
            };
            for set in &sets {
                let new: Vec<usize> = set.iter().copied().filter(|f| !chosen.contains(f)).collect();
                if new.len() > 1 && decrease(&new) > decrease(&added) {
                    added = new;
                }
            }
            chosen.extend(added);
            let at = |h: &f64| naive(&data, &chosen, *h);
            h = BANDWIDTHS.into_iter().min_by(|a, b| at(a).total_cmp(&at(b))).unwrap();
        }
        chosen.truncate(4);
        for step in 0..4 {
            // Rounding of sums in another order.
            let objective = BANDWIDTHS.into_iter().map(|h| naive(&data, &chosen[..=step], h));
            let objective = objective.fold(f64::INFINITY, f64::min);
            assert!((found.path[step].objective - objective).abs() < 1e-10);
        }
        assert_eq!(found.selected(), chosen);
        // The score of a feature is its gain, or what it is worth at the end.
        let mut before = empty;
        for (at, &f) in chosen.iter().enumerate() {
            let gain = before - found.path[at].objective;
            before = found.path[at].objective;
            let rest: Vec<usize> = chosen.iter().copied().filter(|&other| other != f).collect();
            let without =
                BANDWIDTHS.into_iter().map(|h| naive(&data, &rest, h)).fold(f64::INFINITY, f64::min);
            let expected = gain.max(without - found.path[3].objective).max(0.0);
            assert!((found.scores[f] - expected).abs() < 1e-10);
        }
    }
}

#[test]
fn swaps_decrease_the_loss_and_share_one_search() {
    let method = Nca { swaps: true, n_subsamples: Some(0), ..Nca::default() };
    let mut swapped = 0;
    for seed in 0..4 {
        let recipe =
            Synthetic { pattern: Pattern::XorRing, rows: 120, columns: 12, seed, ..Synthetic::default() };
        let data = recipe.make().unwrap().data;
        let each = method.select_each(&data, &[3, 99, 5], &Context::default());
        assert!(each[1].is_err());
        for (k, found) in [(3, &each[0]), (5, &each[2])] {
            let found = found.as_ref().unwrap();
            assert_eq!(found.selected().len(), k);
            let simple = select(&plain(), &data, FeatureCount::Count(k));
            let (before, after) = (simple.path[k - 1].objective, found.path[k - 1].objective);
            assert!(after <= before, "{seed} {k}: {after} > {before}");
            let at = |h: f64| naive(&data, found.selected(), h);
            let expected = BANDWIDTHS.into_iter().map(at).fold(f64::INFINITY, f64::min);
            assert!((after - expected).abs() < 1e-10);
            swapped += usize::from(after < before);
            assert!(found.is_sound(12) && found.order.len() == 12);
        }
        let five = select(&method, &data, FeatureCount::Count(5));
        assert_eq!(&five, each[2].as_ref().unwrap());
    }
    assert!(swapped > 0, "no search has swaps");
}

#[test]
fn results_do_not_depend_on_the_order_of_rows_features_and_classes() {
    let mut rng = Rng::new(9);
    for continuous in [false, true] {
        let data = example(90, continuous, 8);
        let mut rows: Vec<usize> = (0..90).collect();
        rng.shuffle(&mut rows);
        // Averaged over subsamples, because there are few rows.
        let method = Nca::default();
        let found = select(&method, &data, FeatureCount::Count(3));
        // Rows are sorted, so the bits are the same.
        assert_eq!(select(&method, &data.take_rows(&rows), FeatureCount::Count(3)), found);
        let Target::Classes(classes) = data.target() else { continue };
        let codes = classes.codes.iter().map(|c| (c + 1) % 3).collect();
        let mut renamed = data.clone();
        renamed.set_target(Target::Classes(Classes::from_codes(codes))).unwrap();
        let (a, b) = (losses(&problem(&data), &[0, 4]), losses(&problem(&renamed), &[0, 4]));
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13));
    }
    let data = example(90, false, 8);
    // Without the copy of a column, whose place depends on the order.
    let kept = data.x().take_columns(&[0, 1, 2, 3, 4, 6, 7]);
    let single = Dataset::with_target(kept, data.target().clone()).unwrap();
    let order = [3, 2, 6, 0, 1, 5, 4];
    let a = select(&plain(), &single, FeatureCount::Count(4));
    let b = select(&plain(), &single.take_columns(&order), FeatureCount::Count(4));
    assert_eq!(a.selected(), b.selected().iter().map(|&j| order[j]).collect::<Vec<_>>());
}

#[test]
fn constant_features_come_last() {
    for continuous in [false, true] {
        let found = select(&Nca::default(), &example(60, continuous, 1), FeatureCount::Count(6));
        assert_eq!((found.order[5], found.scores[5], found.outcome.stop), (5, 0.0, Stop::Exhausted));
    }
    let same = Dataset::labeled(Array2::ones((6, 2)), vec![0, 1, 0, 1, 0, 1]).unwrap();
    let found = select(&Nca::default(), &same, FeatureCount::Auto);
    assert_eq!((found.order, found.n_selected, found.path.len()), (vec![0, 1], 1, 0));
}

#[test]
fn the_largest_bandwidth_decides_between_separating_features() {
    // All features separate the classes; the second with the widest margin.
    let x = ndarray::array![
        [0.0, 0.0, 0.0],
        [0.1, 0.1, 0.1],
        [0.2, 0.2, 0.2],
        [8.0, 30.0, 8.0],
        [8.1, 30.1, 8.1],
        [8.2, 30.2, 8.2]
    ];
    let data = Dataset::labeled(x, vec![0, 0, 0, 1, 1, 1]).unwrap();
    let found = select(&plain(), &data, FeatureCount::Count(1));
    assert_eq!(found.order, [1, 0, 2]);
}

#[test]
fn the_automatic_count_selects_the_relevant_features() {
    for (pattern, continuous) in [(Pattern::Ring, false), (Pattern::Linear, false), (Pattern::Linear, true)] {
        let recipe = Synthetic { pattern, rows: 300, columns: 12, continuous, ..Synthetic::default() };
        let planted = recipe.make().unwrap();
        let found = select(&Nca::default(), &planted.data, FeatureCount::Auto);
        let (mut selected, mut relevant) = (found.selected().to_vec(), planted.relevant.clone());
        selected.sort_unstable();
        relevant.sort_unstable();
        assert_eq!(selected, relevant, "{pattern:?} {continuous}");
    }
}

#[test]
fn subsamples_score_features_by_their_places() {
    let data = example(60, false, 3);
    let rows = WeightedRows::new(&data, false);
    let ctx = Context::default();
    let mut subsamples = Subsamples::new(&data, &rows, (0..5).collect(), vec![], 2);
    let scores = subsamples.scores(6, 2, 3, &ctx).unwrap();
    let root = 0.5_f64.sqrt();
    // Every search gives one and the inverse root of two.
    assert!((scores.iter().sum::<f64>() - (1.0 + root)).abs() < 1e-12);
    assert!((0.0..=1.0).contains(&subsamples.agreement(&[0, 4], &ctx).unwrap()));
    let averaged = select(&Nca { n_subsamples: Some(3), ..Nca::default() }, &data, FeatureCount::Count(2));
    assert!((averaged.scores.iter().sum::<f64>() - (1.0 + root)).abs() < 1e-12);
    assert!(averaged.order.windows(2).all(|pair| averaged.scores[pair[0]] >= averaged.scores[pair[1]]));
}

/// Sums in another order, and square roots of them.
fn are_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()))
}

#[test]
fn subsamples_divide_copies_of_a_row() {
    for continuous in [false, true] {
        let data = weighted(example(60, continuous, 3));
        let repeated = data.repeated(1000).unwrap();
        let rows = [WeightedRows::new(&data, false), WeightedRows::new(&repeated, false)];
        assert_eq!([rows[0].n_copies(), rows[1].n_copies()], [120.0, 120.0]);
        let [a, b] = [(&data, &rows[0]), (&repeated, &rows[1])].map(|(data, rows)| {
            let mut subsamples = Subsamples::new(data, rows, (0..5).collect(), vec![], 3);
            subsamples.scores(6, 3, 4, &Context::default()).unwrap()
        });
        assert!(are_close(&a, &b), "{a:?} {b:?}");
    }
}

#[test]
fn weights_that_are_no_numbers_of_rows_have_no_copies_and_no_unit() {
    for continuous in [false, true] {
        let data = example(70, continuous, 4);
        let mut rng = Rng::new(1);
        let weights: Vec<f64> = (0..70).map(|_| 0.5 + rng.uniform()).collect();
        let of = |unit: f64| {
            let weights = weights.iter().map(|w| unit * w).collect();
            losses(&problem(&data.clone().with_weights(weights, "w").unwrap()), &[0, 4])
        };
        assert!(are_close(&of(1.0), &of(1e6)) && are_close(&of(1.0), &of(1e-6)));
        // All of the same weight are none: a row of weight 0.5 or 2.5 does not predict itself.
        let equal = data.clone().with_weights(vec![2.5; 70], "w").unwrap();
        assert!(are_close(&losses(&problem(&equal), &[0, 4]), &losses(&problem(&data), &[0, 4])));
        // Classes are balanced already.
        let Target::Classes(_) = data.target() else { continue };
        let balanced = data.clone().with_balanced_classes().unwrap();
        assert!(are_close(
            &losses(&problem(&balanced.for_fit()), &[0, 4]),
            &losses(&problem(&data), &[0, 4])
        ));
    }
}

#[test]
fn landmarks_are_spaced_by_weight() {
    let data = example(300, true, 6);
    let rows = WeightedRows::new(&data.clone().with_weights(vec![3.0; 300], "w").unwrap(), false);
    let plain = WeightedRows::new(&data, false).spread(&data, 100);
    assert_eq!((&rows.spread(&data, 100).rows, plain.weights), (&plain.rows, vec![1.0; 100]));
    // One row has half of the weight.
    let weights = (0..300).map(|row| if row == 7 { 299.0 } else { 1.0 }).collect();
    let rows = WeightedRows::new(&data.clone().with_weights(weights, "w").unwrap(), false);
    let found = rows.spread(&data, 100);
    assert_eq!(found.weights.iter().sum::<f64>(), 100.0);
    let heavy = found.weights.iter().position(|w| *w > 1.0).unwrap();
    assert_eq!((rows.rows[found.rows[heavy]], found.weights[heavy]), (7, 50.0));
}

#[test]
fn many_rows_use_landmarks_and_many_features_candidates() {
    let recipe = Synthetic { pattern: Pattern::Ring, rows: 4100, columns: 3, ..Synthetic::default() };
    let planted = recipe.make().unwrap();
    let problem = problem(&planted.data);
    assert!(!problem.is_symmetric() && (1990..=2010).contains(&problem.n_landmarks()));
    let few = naive(&planted.data, &planted.relevant, 0.25);
    // Half of the rows estimate the same loss with a larger variance.
    assert!((losses(&problem, &planted.relevant)[0] - few).abs() < 0.1 * few);
    let exact = Problem::new(&planted.data, &WeightedRows::new(&planted.data, true), (0..3).collect());
    // Rounding of sums of 4100 terms.
    assert!(exact.is_symmetric() && (losses(&exact, &planted.relevant)[0] - few).abs() < 1e-9 * few);
    let recipe = Synthetic { pattern: Pattern::Linear, rows: 60, columns: 2100, ..Synthetic::default() };
    let planted = recipe.make().unwrap();
    let candidates = candidates(
        &planted.data,
        &WeightedRows::new(&planted.data, false),
        &[],
        Limits::default(),
        &Context::default(),
    )
    .unwrap();
    assert!((500..1600).contains(&candidates.features.len()));
    assert_eq!(candidates.features.len() + candidates.others.len(), 2100);
    assert!(planted.relevant.iter().all(|f| candidates.features.contains(f)));
}

#[test]
fn invalid_input_is_an_error() {
    let error = |data: &Dataset, method: Nca| {
        method.select(data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
    };
    let far = Dataset::labeled(ndarray::array![[1e200], [-1e200], [0.0]], vec![0, 1, 1]).unwrap();
    assert!(error(&far, Nca::default()).contains("scale the features"));
    let ids = Dataset::labeled(ndarray::array![[1.0], [2.0]], vec![0, 1]).unwrap();
    assert!(error(&ids, Nca::default()).contains("NCA"));
    assert!(error(&ids, Nca { n_subsamples: Some(5000), ..Nca::default() }).contains("'n_subsamples'"));
    let constant = Dataset::with_target(ndarray::array![[1.0], [2.0]], Target::Continuous(vec![1.0; 2]));
    assert!(error(&constant.unwrap(), Nca::default()).contains("NCA"));
}

#[test]
fn gradients_are_those_of_the_loss() {
    for (continuous, landmarks) in [(false, 140), (true, 140), (false, 60), (true, 60)] {
        let data = weighted(example(140, continuous, 5));
        let problem = Problem::with_few_landmarks(&data, landmarks);
        let criterion =
            Weighted::new(&problem, &data, &WeightedRows::new(&data, false).rows, &Context::default())
                .unwrap();
        // Equal weights are the loss of a set at a bandwidth.
        let mut w = Array2::zeros((6, 1));
        [0, 1, 4].iter().for_each(|&f| w[[f, 0]] = 1.0 / (0.5 * 3.0));
        let expected = losses(&problem, &[0, 1, 4])[1];
        // Distances by products lose some digits.
        assert!((crate::optim::Criterion::value(&criterion, &w) - expected).abs() < 1e-11);
        let w = ndarray::array![[0.3], [0.5], [0.01], [0.2], [0.4], [0.7]];
        // The error of central differences with a step of 1e-5: third derivatives are thousands where a sum is near the prior.
        let error = gradient_error(&criterion, &w, 1e-5);
        assert!(error < 1e-6, "{continuous} {landmarks}: {error}");
    }
}

#[test]
fn the_gradient_form_finds_an_xor() {
    for seed in 0..3 {
        let recipe =
            Synthetic { pattern: Pattern::Xor, rows: 200, columns: 10, seed, ..Synthetic::default() };
        let planted = recipe.make().unwrap();
        let method = Nca { search: NcaSearch::Gradient, ..Nca::default() };
        for count in [FeatureCount::Auto, FeatureCount::Count(2)] {
            let found = select(&method, &planted.data, count);
            let (mut selected, mut relevant) = (found.selected().to_vec(), planted.relevant.clone());
            selected.sort_unstable();
            relevant.sort_unstable();
            assert_eq!(selected, relevant, "{seed}");
            assert!(relevant.iter().all(|&f| found.scores[f] > 0.1));
            assert_eq!(found.coef.unwrap().dim(), (10, 1));
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let data = example(120, true, 6);
    for search in [NcaSearch::Forward, NcaSearch::Gradient] {
        let method = Nca { search, ..Nca::default() };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| select(&method, &data, FeatureCount::Count(3)))
        };
        assert_eq!(run(1), run(2));
    }
}
