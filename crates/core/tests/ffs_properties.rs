//! Forward selection compared with a brute-force implementation of its definition.

use kernsift::internals::Rng;
use kernsift::select::{FeatureCount, Ffs, Selection, Selector, WeakLearner, WeightRule};
use kernsift::{Context, Dataset};
use ndarray::Array2;
use proptest::prelude::*;

/// A literal implementation of the definition, without caching or shortcuts.
mod naive {
    use super::*;

    pub struct Expected {
        pub order: Vec<usize>,
        pub errors: Vec<usize>,
        /// Weighted errors of the individual weak classifiers.
        pub individual: Vec<usize>,
        /// Total weight of all rows.
        pub total: usize,
    }

    pub fn run(x: &Array2<f64>, y: &[usize], ffs: &Ffs, seed: u64) -> Expected {
        let classes = y.iter().max().unwrap() + 1;
        let votes: Vec<Vec<usize>> = x
            .columns()
            .into_iter()
            .map(|column| match ffs.weak_learner {
                WeakLearner::Stump => stump(&column.to_vec(), y, classes, &vec![1; classes]),
                WeakLearner::BalancedStump => stump(&column.to_vec(), y, classes, &balance(y)),
                WeakLearner::Klms => literal_klms(&column.to_vec(), y, classes, ffs, seed),
            })
            .collect();
        let class_weights =
            if ffs.weak_learner == WeakLearner::BalancedStump { balance(y) } else { vec![1; classes] };
        let weighted_errors = |predict: &[usize]| {
            predict.iter().zip(y).filter(|(a, b)| a != b).map(|(_, &class)| class_weights[class]).sum()
        };
        let individual: Vec<usize> = votes.iter().map(|v| weighted_errors(v)).collect();
        let total = y.iter().map(|&class| class_weights[class]).sum();
        let mut members: Vec<usize> = vec![];
        let mut errors = vec![];
        while members.len() < votes.len() {
            let error_with = |i: usize| {
                let all: Vec<&Vec<usize>> = members.iter().chain([&i]).map(|&m| &votes[m]).collect();
                if classes == 2 { best_threshold(&all, y) } else { plurality(&all, y, classes) }
            };
            let candidates = (0..votes.len()).filter(|i| !members.contains(i));
            let best = candidates.min_by_key(|&i| (error_with(i), individual[i], i)).unwrap();
            errors.push(error_with(best));
            members.push(best);
        }
        Expected { order: members, errors, individual, total }
    }

    /// The fewest errors of sign(v - theta) over all theta between two integers.
    fn best_threshold(votes: &[&Vec<usize>], y: &[usize]) -> usize {
        let sum = |row: usize| votes.iter().map(|v| 2 * v[row] as i64 - 1).sum::<i64>();
        let most = votes.len() as i64 + 1;
        let errors = |theta: f64| {
            (0..y.len()).filter(|&row| usize::from(sum(row) as f64 - theta > 0.0) != y[row]).count()
        };
        (-most..=most).map(|theta| errors(theta as f64 + 0.5)).min().unwrap()
    }

    fn plurality(votes: &[&Vec<usize>], y: &[usize], classes: usize) -> usize {
        let count_class = |c: usize| y.iter().filter(|&&k| k == c).count();
        (0..y.len())
            .filter(|&row| {
                let count = |c: usize| votes.iter().filter(|v| v[row] == c).count();
                let winner = (0..classes).rev().max_by_key(|&c| (count(c), count_class(c))).unwrap();
                winner != y[row]
            })
            .count()
    }

    fn majority(y: &[usize], rows: &[usize], classes: usize) -> usize {
        (0..classes).map(|c| rows.iter().filter(|&&i| y[i] == c).count()).max().unwrap()
    }

    /// Two classes: the weight of a row is the number of rows of the other class.
    fn balance(y: &[usize]) -> Vec<usize> {
        let count = |c: usize| y.iter().filter(|&&k| k == c).count();
        vec![count(1), count(0)]
    }

    fn stump(u: &[f64], y: &[usize], classes: usize, weights: &[usize]) -> Vec<usize> {
        let mut cuts = u.to_vec();
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        cuts.pop();
        let mut best: Option<(usize, Vec<usize>)> = None;
        for cut in cuts {
            let (left, right): (Vec<usize>, Vec<usize>) = (0..u.len()).partition(|&i| u[i] <= cut);
            let predict = |l: usize, r: usize| -> Vec<usize> {
                u.iter().map(|&v| if v <= cut { l } else { r }).collect()
            };
            let errors = |v: &[usize]| -> usize {
                v.iter().zip(y).filter(|(a, b)| a != b).map(|(_, &class)| weights[class]).sum()
            };
            let choice = if classes == 2 {
                let (a, b) = (predict(0, 1), predict(1, 0));
                match errors(&a).cmp(&errors(&b)) {
                    std::cmp::Ordering::Less => a,
                    std::cmp::Ordering::Greater => b,
                    std::cmp::Ordering::Equal => {
                        if a[0] == y[0] {
                            a
                        } else {
                            b
                        }
                    }
                }
            } else {
                let leading_class = |rows: &[usize], from_left: bool| {
                    // Ties: the class that reaches the maximum first, in order of value and class from the outer end.
                    let mut sorted = rows.to_vec();
                    sorted.sort_by(|&a, &b| u[a].total_cmp(&u[b]).then(y[a].cmp(&y[b])));
                    if !from_left {
                        sorted.reverse();
                    }
                    let most = majority(y, rows, classes);
                    let mut counts = vec![0; classes];
                    *sorted
                        .iter()
                        .map(|&i| &y[i])
                        .find(|&&c| {
                            counts[c] += 1;
                            counts[c] == most
                        })
                        .unwrap()
                };
                predict(leading_class(&left, true), leading_class(&right, false))
            };
            if best.as_ref().is_none_or(|(lowest, _)| errors(&choice) < *lowest) {
                best = Some((errors(&choice), choice));
            }
        }
        best.map_or_else(|| constant(y, classes), |(_, v)| v)
    }

    fn constant(y: &[usize], classes: usize) -> Vec<usize> {
        let count = |c: usize| y.iter().filter(|&&k| k == c).count();
        let most = (0..classes).map(count).max().unwrap();
        vec![*y.iter().find(|&&c| count(c) == most).unwrap(); y.len()]
    }

    fn literal_klms(u: &[f64], y: &[usize], classes: usize, ffs: &Ffs, seed: u64) -> Vec<usize> {
        let n = u.len() as f64;
        let mean = u.iter().sum::<f64>() / n;
        let std = (u.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        let kappa = |a: f64, b: f64| (-(a - b).powi(2) / (2.0 * (ffs.learner_bandwidth * std).powi(2))).exp();
        let mut order: Vec<usize> = (0..u.len()).collect();
        Rng::stream(seed, "order of learning").shuffle(&mut order);
        let sums: Vec<Vec<f64>> = (0..classes)
            .map(|class| {
                let mut e: Vec<(usize, f64)> = vec![];
                for &j in &order {
                    let target = if y[j] == class { 1.0 } else { -1.0 };
                    let sum: f64 = e.iter().map(|&(l, e)| e * kappa(u[l], u[j])).sum();
                    e.push((j, target - ffs.eta * sum));
                }
                u.iter().map(|&at| e.iter().map(|&(l, e)| e * kappa(u[l], at)).sum()).collect()
            })
            .collect();
        (0..u.len())
            .map(|i| (0..classes).max_by(|&a, &b| sums[a][i].total_cmp(&sums[b][i])).unwrap())
            .collect()
    }
}

fn select(x: &Array2<f64>, y: &[usize], ffs: &Ffs, wanted: FeatureCount, seed: u64) -> Selection {
    let data = Dataset::labeled(x.clone(), y.to_vec()).unwrap();
    ffs.select(&data, wanted, &Context { seed, ..Context::default() }).unwrap()
}

/// Up to 12 rows and 5 features, with all classes present. Integers give ties; KLMS gets values without ties, because
/// the sign of a sum that cancels depends on rounding.
fn problem(classes: usize, integers: bool) -> impl Strategy<Value = (Array2<f64>, Vec<usize>)> {
    // More rows than classes, so that some class has two rows.
    (classes + 1..=12usize, 1..=5usize).prop_flat_map(move |(n, d)| {
        let value = if integers { (0..4i32).prop_map(f64::from).boxed() } else { (-3.0..3.0f64).boxed() };
        (prop::collection::vec(value, n * d), prop::collection::vec(0..classes, n)).prop_map(
            move |(x, mut y)| {
                (0..classes).for_each(|c| y[c] = c);
                (Array2::from_shape_vec((n, d), x).unwrap(), y)
            },
        )
    })
}

fn equals_brute_force(x: &Array2<f64>, y: &[usize], ffs: &Ffs, seed: u64) -> Result<(), TestCaseError> {
    let expected = naive::run(x, y, ffs, seed);
    let got = select(x, y, ffs, FeatureCount::Auto, seed);
    let n = y.len() as f64;
    prop_assert_eq!(&got.order, &expected.order);
    let curve: Vec<f64> = expected.errors.iter().map(|&e| e as f64 / n).collect();
    prop_assert_eq!(&got.curve, &curve);
    let lowest = expected.errors.iter().min().unwrap();
    let n_selected = 1 + expected.errors.iter().position(|e| e == lowest).unwrap();
    prop_assert_eq!(got.n_selected, n_selected);
    let others = *y.iter().max().unwrap() as f64;
    for (step, &column) in expected.order.iter().enumerate() {
        let error = match ffs.weights {
            WeightRule::Ensemble => expected.errors[step] as f64 / n,
            WeightRule::Individual => expected.individual[column] as f64 / expected.total as f64,
        };
        let eps = error.clamp(0.5 / n, others / (others + 1.0));
        let weight = if step < n_selected { 0.5 * ((1.0 - eps) / eps).ln() + 0.5 * others.ln() } else { 0.0 };
        // Two ways to compute the logarithm.
        prop_assert!((got.scores[column] - weight).abs() < 1e-12, "{} {}", got.scores[column], weight);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn stumps_of_two_classes_equal_brute_force((x, y) in problem(2, true)) {
        for weights in [WeightRule::Ensemble, WeightRule::Individual] {
            equals_brute_force(&x, &y, &Ffs { weak_learner: WeakLearner::Stump, weights, ..Ffs::default() }, 0)?;
            equals_brute_force(&x, &y, &Ffs { weak_learner: WeakLearner::BalancedStump, weights, ..Ffs::default() }, 0)?;
        }
    }

    #[test]
    fn stumps_of_three_classes_equal_brute_force((x, y) in problem(3, true)) {
        for weights in [WeightRule::Ensemble, WeightRule::Individual] {
            equals_brute_force(&x, &y, &Ffs { weak_learner: WeakLearner::Stump, weights, ..Ffs::default() }, 0)?;
        }
    }

    #[test]
    fn klms_of_two_classes_equals_brute_force((x, y) in problem(2, false), seed in 0..1000u64) {
        equals_brute_force(&x, &y, &Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() }, seed)?;
    }

    #[test]
    fn klms_of_three_classes_equals_brute_force((x, y) in problem(3, false), seed in 0..1000u64) {
        equals_brute_force(&x, &y, &Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() }, seed)?;
    }

    #[test]
    fn swapping_class_labels_changes_nothing((x, y) in problem(2, true), seed in 0..1000u64) {
        let flipped: Vec<usize> = y.iter().map(|c| 1 - c).collect();
        for weak_learner in [WeakLearner::Stump, WeakLearner::Klms] {
            let ffs = Ffs { weak_learner, ..Ffs::default() };
            let (a, b) = (select(&x, &y, &ffs, FeatureCount::Auto, seed), select(&x, &flipped, &ffs, FeatureCount::Auto, seed));
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn requested_numbers_are_nested((x, y) in problem(2, true)) {
        let d = x.ncols();
        let all = select(&x, &y, &Ffs::default(), FeatureCount::Count(d), 0);
        prop_assert_eq!(all.n_selected, d);
        for k in 1..=d {
            let some = select(&x, &y, &Ffs::default(), FeatureCount::Count(k), 0);
            prop_assert_eq!(some.selected(), &all.order[..k]);
            prop_assert!(some.order[k..].iter().all(|&j| some.scores[j] == 0.0));
        }
    }
}

#[test]
fn the_seed_determines_the_order_of_learning() {
    let mut rng = Rng::new(3);
    let x = Array2::from_shape_simple_fn((60, 30), || rng.normal());
    let y: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[0] + r[1] > 0.3 * r[2])).collect();
    let ffs = Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() };
    let run = |seed| select(&x, &y, &ffs, FeatureCount::Auto, seed);
    assert_eq!(run(1), run(1));
    assert!((2..20).any(|seed| run(seed).order != run(1).order));
}

#[test]
fn many_features_stop_early_and_are_all_ranked() {
    let mut rng = Rng::new(5);
    let (n, d) = (40, 3000);
    let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
    let y: Vec<usize> = (0..n).map(|i| i % 2).collect();
    for i in 0..n {
        x[[i, 1234]] += 6.0 * y[i] as f64;
    }
    let got = select(&x, &y, &Ffs::default(), FeatureCount::Auto, 0);
    assert_eq!(got.order[0], 1234);
    assert_eq!(*got.curve.last().unwrap(), 0.0);
    assert!(got.curve.len() < 64, "{}", got.curve.len());
    let mut all = got.order.clone();
    all.sort_unstable();
    assert_eq!(all, (0..d).collect::<Vec<_>>());
    assert_eq!(select(&x, &y, &Ffs::default(), FeatureCount::Count(100), 0).selected().len(), 100);
}

#[test]
fn relevant_features_are_found() {
    use kernsift::data::synthetic::{Pattern, Synthetic};
    for seed in 0..5 {
        let planted =
            Synthetic { pattern: Pattern::Linear, columns: 40, seed, ..Synthetic::default() }.make().unwrap();
        for weak_learner in [WeakLearner::Stump, WeakLearner::Klms] {
            let ffs = Ffs { weak_learner, ..Ffs::default() };
            let got = ffs.select(&planted.data, FeatureCount::Count(2), &Context::default()).unwrap();
            assert!(
                planted.relevant.contains(&got.order[0]),
                "{weak_learner:?}, seed {seed}: {:?}",
                &got.order[..3]
            );
        }
    }
}
