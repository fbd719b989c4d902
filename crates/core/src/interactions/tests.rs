//! Pairs against a naive twin, null distributions, and known interactions.

use super::*;
use crate::data::{Dataset, FeatureType, Target};
use crate::probability::f_upper_tail;
use crate::random::Rng;
use crate::{Context, Error};
use ndarray::Array2;
use std::f64::consts::PI;

fn normal(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = Rng::new(seed);
    Array2::from_shape_simple_fn((n, d), || rng.normal())
}

fn run(screen: &InteractionScreen, data: &Dataset) -> Interactions {
    screen.run(data, &Context::default()).unwrap()
}

/// Functions of a column without ties, from their definition.
fn naive_functions(column: &[f64], limit: usize) -> Vec<Vec<f64>> {
    let n = column.len() as f64;
    let rank = |v: f64| column.iter().filter(|w| **w < v).count() as f64 + 1.0;
    let u: Vec<f64> = column.iter().map(|&v| (rank(v) - 0.5) / n).collect();
    (1..=limit).map(|k| u.iter().map(|u| 2.0_f64.sqrt() * (PI * k as f64 * u).cos()).collect()).collect()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn without(mut v: Vec<f64>, basis: &[Vec<f64>]) -> Vec<f64> {
    for _ in 0..2 {
        for b in basis {
            let along = inner(&v, b) / inner(b, b);
            v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
        }
    }
    v
}

/// An orthogonal basis of the residuals of `vectors` on `basis`.
fn residuals(vectors: &[Vec<f64>], basis: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut all = basis.to_vec();
    for v in vectors {
        let v = without(v.clone(), &all);
        all.push(v);
    }
    all.split_off(basis.len())
}

/// Score and F-test of a pair for one column of the target, by explicit projections.
fn naive_pair(x: &Array2<f64>, (i, j): (usize, usize), y: &[f64], limit: usize) -> (f64, f64) {
    let n = y.len();
    let (a, b) = (x.column(i).to_vec(), x.column(j).to_vec());
    let (wide_a, wide_b) = (naive_functions(&a, 2 * limit), naive_functions(&b, 2 * limit));
    let mut products = vec![];
    for f in &wide_a[..limit] {
        for g in &wide_b[..limit] {
            products.push(f.iter().zip(g).map(|(f, g)| f * g).collect::<Vec<f64>>());
        }
    }
    let score = products.iter().map(|p| inner(p, y).powi(2)).sum::<f64>() / n as f64;
    let additive = residuals(&[vec![vec![1.0; n]], wide_a, wide_b].concat(), &[]);
    let target = without(y.to_vec(), &additive);
    let extra = residuals(&products, &additive);
    let rest = without(target.clone(), &extra);
    let (total, error) = (inner(&target, &target), inner(&rest, &rest));
    let (q, rows) = (extra.len() as f64, (n - additive.len() - extra.len()) as f64);
    (score, f_upper_tail((total - error) / q / (error / rows), q, rows))
}

#[test]
fn equals_a_naive_twin() {
    let (n, d, limit) = (120, 7, 2);
    let x = normal(n, d, 5);
    let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[1] * r[4] > 0.0)).collect();
    let n_ones = codes.iter().sum::<usize>() as f64;
    let share = n_ones / n as f64;
    let scale = (share * (1.0 - share)).sqrt();
    // The sign of a column of the target does not matter.
    let y: Vec<f64> = codes.iter().map(|&c| (c as f64 - share) / scale).collect();
    let data = Dataset::labeled(x.clone(), codes).unwrap();
    let found = run(&InteractionScreen { n_functions: limit, ..Default::default() }, &data);
    assert!(found.main_effects.is_empty());
    assert_eq!((found.pairs.len(), found.n_all_pairs), (21, 21));
    for pair in &found.pairs {
        let (score, p_value) = naive_pair(&x, pair.features, &y, limit);
        // Both are in double precision; the twin has no rounding beyond 1e-12.
        assert!((pair.score / score - 1.0).abs() < 1e-9, "{pair:?} {score}");
        assert!((pair.p_value / p_value - 1.0).abs() < 1e-7, "{pair:?} {p_value}");
        assert!((pair.q_value - (21.0 * p_value).min(1.0)).abs() < 1e-7);
        assert_eq!(pair.degrees, 4);
    }
    assert!(found.pairs.windows(2).all(|w| w[0].p_value <= w[1].p_value));
    assert_eq!((found.pairs[0].features, found.n_significant), ((1, 4), 1));
    assert_eq!(found.significant_features(), [1, 4]);
}

/// The screen in single precision finds the same best pairs as the naive scores.
#[test]
fn the_best_scores_are_kept() {
    let (n, d) = (60, 50);
    let x = normal(n, d, 8);
    let data = Dataset::labeled(x.clone(), (0..n).map(|i| i % 2).collect()).unwrap();
    let columns = functions::Columns::new(&data, 3);
    let blocks = blocks::Blocks::new(&data, &columns, 3, &Context::default()).unwrap();
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let best =
        screen::best_pairs(&blocks, std::slice::from_ref(&y), 40, "pairs", &Context::default()).unwrap();
    let mut expected = vec![];
    for i in 0..d {
        for j in i + 1..d {
            let mut score = 0.0;
            for f in columns.functions(i, 3).vectors {
                for g in columns.functions(j, 3).vectors {
                    score += (0..n).map(|r| f[r] * g[r] * y[r]).sum::<f64>().powi(2) / n as f64;
                }
            }
            expected.push((score, (i as u32, j as u32)));
        }
    }
    expected.sort_by(|a, b| b.0.total_cmp(&a.0));
    let expected: Vec<(u32, u32)> = expected[..40].iter().map(|e| e.1).collect();
    assert_eq!(best.iter().map(|c| c.pair).collect::<Vec<_>>(), expected);
}

/// The largest distance between the empirical distribution of numbers in [0, 1] and the uniform one.
fn kolmogorov_smirnov(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = |(i, v): (usize, &f64)| (v - i as f64 / n).abs().max((v - (i + 1) as f64 / n).abs());
    values.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn null_p_values_are_uniform() {
    let (n, d) = (300, 40);
    let x = normal(n, d, 21);
    let mut rng = Rng::new(22);
    let targets = [
        Target::Classes(crate::data::Classes::from_codes((0..n).map(|_| rng.below(2)).collect())),
        Target::Classes(crate::data::Classes::from_codes((0..n).map(|_| rng.below(3)).collect())),
        Target::Continuous((0..n).map(|_| rng.normal()).collect()),
        // Heavy tails: Student's t with one degree of freedom.
        Target::Continuous((0..n).map(|_| rng.normal() / rng.normal()).collect()),
    ];
    for (at, target) in targets.into_iter().enumerate() {
        let data = Dataset::with_target(x.clone(), target).unwrap();
        // All 780 pairs are tested and reported.
        let found = run(&InteractionScreen { n_functions: 3, n_pairs: 780, ..Default::default() }, &data);
        assert_eq!((found.pairs.len(), found.n_significant), (780, 0));
        // The limit at the level 0.001 is 1.95 / sqrt(780) = 0.070 for independent values; pairs that share a feature are
        // nearly independent.
        let distance = kolmogorov_smirnov(found.pairs.iter().map(|p| p.p_value).collect());
        assert!(distance < 0.07, "{at}: {distance}");
        let single = feature_dependence(&data, 3, &Context::default()).unwrap();
        // 1.95 / sqrt(40) = 0.31.
        let distance = kolmogorov_smirnov(single.iter().map(|s| s.p_value).collect());
        assert!(distance < 0.31, "{at}: {distance}");
    }
}

/// Classes with 5 % wrong labels.
fn noisy(codes: Vec<usize>, n_classes: usize, rng: &mut Rng) -> Target {
    let codes = codes.into_iter().map(|c| if rng.uniform() < 0.05 { rng.below(n_classes) } else { c });
    Target::Classes(crate::data::Classes::from_codes(codes.collect()))
}

/// Targets that depend on `u` and `v`.
fn planted(name: &str, u: &[f64], v: &[f64], rng: &mut Rng) -> Target {
    let pairs = || u.iter().copied().zip(v.iter().copied());
    let signs = |score: &dyn Fn(f64, f64) -> f64| -> Vec<usize> {
        pairs().map(|(u, v)| usize::from(score(u, v) > 0.0)).collect()
    };
    match name {
        "xor" => noisy(signs(&|u, v| u * v), 2, rng),
        "ring" => noisy(signs(&|u, v| u * u + v * v - 2.0 * 2.0_f64.ln()), 2, rng),
        "even product" => noisy(signs(&|u, v| (u * u - 0.7) * (v * v - 0.7)), 2, rng),
        "sine" => noisy(signs(&|u, v| (2.0 * u).sin() * v), 2, rng),
        "product" => Target::Continuous(pairs().map(|(u, v)| u * v + rng.normal()).collect()),
        "one of three classes" => {
            let two: Vec<usize> = signs(&|u, v| u * v);
            noisy(two.into_iter().map(|c| if rng.uniform() < 0.33 { 2 } else { c }).collect(), 3, rng)
        }
        _ => unreachable!("a name of the list"),
    }
}

#[test]
fn planted_pairs_come_first() {
    for (seed, name) in (1..).zip(["xor", "ring", "even product", "sine", "product", "one of three classes"])
    {
        let (n, d) = (700, 60);
        let mut rng = Rng::new(100 + seed);
        let x = normal(n, d, seed);
        let target = planted(name, &x.column(7).to_vec(), &x.column(41).to_vec(), &mut rng);
        let data = Dataset::with_target(x, target).unwrap();
        let found = run(&InteractionScreen::default(), &data);
        let best = &found.pairs[0];
        assert_eq!(best.features, (7, 41), "{name}: {best:?}, main effects {:?}", found.main_effects);
        assert!(best.q_value < 0.01 && found.n_significant < 4, "{name}: {}", found.n_significant);
    }
}

/// Strong effects of single features, each with correlated copies, and a weaker product of two others.
#[test]
fn main_effects_of_correlated_features_do_not_hide_an_interaction() {
    for (seed, continuous) in [(1, false), (2, false), (3, true)] {
        let (n, d) = (800, 60);
        let mut rng = Rng::new(seed);
        let mut x = normal(n, d, 50 + seed);
        for mut row in x.rows_mut() {
            // Features 10 to 19 follow feature 0, 20 to 29 feature 1.
            for j in 10..30 {
                row[j] = 0.9 * row[j / 10 - 1] + 0.44 * row[j];
            }
        }
        let score = |r: ndarray::ArrayView1<f64>| {
            2.0 * (r[0] + r[1]).tanh() + (r[0] > 1.0) as u8 as f64 + 1.5 * (r[3] * r[4]).clamp(-1.5, 1.5)
        };
        let scores: Vec<f64> = x.rows().into_iter().map(|r| score(r) + 0.5 * rng.normal()).collect();
        let target = match continuous {
            true => Target::Continuous(scores),
            false => noisy(scores.iter().map(|&s| usize::from(s > 0.0)).collect(), 2, &mut rng),
        };
        let data = Dataset::with_target(x, target).unwrap();
        let found = run(&InteractionScreen::default(), &data);
        assert_eq!(found.pairs[0].features, (3, 4), "{seed}: {:?}", &found.pairs[..3]);
        assert!(found.main_effects.contains(&0) && found.main_effects.contains(&1));
    }
}

/// A step function of one feature is no interaction with its copies.
#[test]
fn correlated_copies_of_a_relevant_feature_are_no_pairs() {
    let (n, d) = (600, 20);
    for (seed, noise) in [(1, 0.0), (2, 0.1), (3, 0.3), (4, 0.6)] {
        let mut x = normal(n, d, seed);
        for mut row in x.rows_mut() {
            for j in 1..10 {
                row[j] = row[0] + noise * row[j];
            }
        }
        let codes = x.rows().into_iter().map(|r| usize::from(r[0] > 0.4)).collect();
        let target = noisy(codes, 2, &mut Rng::new(seed));
        let found = run(&InteractionScreen::default(), &Dataset::with_target(x, target).unwrap());
        assert_eq!(found.n_significant, 0, "{noise}: {:?}", &found.pairs[..2]);
    }
}

#[test]
fn types_and_missing_values() {
    let n = 600;
    let mut rng = Rng::new(4);
    let mut x = normal(n, 6, 9);
    // Feature 0 has four levels, feature 1 is binary, feature 2 a number with missing values.
    for mut row in x.rows_mut() {
        row[0] = rng.below(4) as f64;
        row[1] = rng.below(2) as f64;
    }
    // Half of the levels exchange the roles of the two values.
    let codes = x.rows().into_iter().map(|r| usize::from((r[0] < 2.0) != (r[1] < 1.0))).collect();
    for mut row in x.rows_mut() {
        if rng.uniform() < 0.2 {
            row[2] = f64::NAN;
        }
    }
    let types: Vec<FeatureType> = (0..6)
        .map(|j| match j {
            0 => FeatureType::Category { levels: 4 },
            1 => FeatureType::Category { levels: 2 },
            _ => FeatureType::Number,
        })
        .collect();
    let names = (0..6).map(|j| format!("f{j}")).collect();
    let data = Dataset::typed(names, x, types, noisy(codes, 2, &mut rng)).unwrap();
    let found = run(&InteractionScreen::default(), &data);
    assert_eq!((found.pairs[0].features, found.pairs[0].degrees), ((0, 1), 3));
    assert_eq!(found.n_significant, 1);
    let single = feature_dependence(&data, 4, &Context::default()).unwrap();
    let degrees: Vec<usize> = single.iter().map(|s| s.degrees).collect();
    assert_eq!(degrees, [3, 1, 4, 4, 4, 4]);
}

#[test]
fn permutations_adjust_p_values() {
    let (n, d) = (150, 8);
    let x = normal(n, d, 6);
    let codes = x.rows().into_iter().map(|r| usize::from(r[2] * r[5] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let screen = InteractionScreen { permutations: 39, n_functions: 2, ..Default::default() };
    let found = run(&screen, &data);
    assert_eq!(found.pairs[0].features, (2, 5));
    assert_eq!(found.pairs[0].q_value, 1.0 / 40.0);
    assert!(found.pairs.windows(2).all(|w| w[0].q_value <= w[1].q_value));
    assert!(found.pairs[1..].iter().all(|p| p.q_value > 0.025));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let x = normal(200, 150, 14);
    let codes = x.rows().into_iter().map(|r| usize::from(r[2] * r[5] + r[1] > 0.0)).collect();
    let data = Dataset::labeled(x, codes).unwrap();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            (
                run(&InteractionScreen::default(), &data),
                feature_dependence(&data, 4, &Context::default()).unwrap(),
            )
        })
    };
    assert_eq!(on(1), on(2));
}

#[test]
fn invariant_to_monotone_transformations_and_order_of_features() {
    let x = normal(200, 12, 3);
    let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[2] * r[5] > 0.0)).collect();
    let found = run(&InteractionScreen::default(), &Dataset::labeled(x.clone(), codes.clone()).unwrap());
    let transformed = Dataset::labeled(x.mapv(|v| (3.0 * v).exp()), codes.clone()).unwrap();
    assert_eq!(run(&InteractionScreen::default(), &transformed), found);
    let backward: Vec<usize> = (0..12).rev().collect();
    let turned = Dataset::labeled(x, codes).unwrap().take_columns(&backward);
    let turned = run(&InteractionScreen::default(), &turned);
    let (a, b) = turned.pairs[0].features;
    assert_eq!((11 - b, 11 - a), found.pairs[0].features);
    // Products are added in another order.
    assert!((turned.pairs[0].beyond / found.pairs[0].beyond - 1.0).abs() < 1e-9);
}

#[test]
fn degenerate_data() {
    let screen = InteractionScreen::default();
    let fails = |data: &Dataset| screen.run(data, &Context::default()).unwrap_err();
    let few = Dataset::labeled(normal(5, 3, 1), vec![0, 1, 0, 1, 0]).unwrap();
    assert!(matches!(fails(&few), Error::TooFewRows { .. }));
    let codes: Vec<usize> = (0..40).map(|i| i % 2).collect();
    assert!(matches!(
        fails(&Dataset::labeled(normal(40, 1, 1), codes.clone()).unwrap()),
        Error::Shape { .. }
    ));
    assert!(matches!(fails(&Dataset::unlabeled(normal(40, 3, 1)).unwrap()), Error::NeedsTarget { .. }));
    let one = Dataset::labeled(normal(40, 3, 1), vec![1; 40]).unwrap();
    assert!(matches!(fails(&one), Error::OneClass { .. }));
    // Constant features have no functions, so there is no pair; copies explain nothing beyond one of them.
    let constant = Dataset::labeled(Array2::ones((40, 3)), codes.clone()).unwrap();
    assert!(run(&screen, &constant).pairs.is_empty());
    let mut x = normal(40, 2, 1);
    let copy = x.column(0).to_owned();
    x.column_mut(1).assign(&copy);
    let found = run(&screen, &Dataset::labeled(x, codes.clone()).unwrap());
    assert_eq!((found.pairs[0].degrees, found.pairs[0].p_value), (0, 1.0));
    // A feature that explains the target completely leaves nothing to explain.
    let mut x = normal(40, 3, 1);
    x.column_mut(1).iter_mut().zip(&codes).for_each(|(v, &c)| *v = c as f64);
    let found = run(&screen, &Dataset::labeled(x, codes).unwrap());
    assert!(found.pairs.is_empty() && found.main_effects == [1]);
    let wrong = InteractionScreen { n_functions: 0, ..Default::default() };
    let data = Dataset::labeled(normal(40, 3, 1), (0..40).map(|i| i % 2).collect()).unwrap();
    assert!(matches!(wrong.run(&data, &Context::default()), Err(Error::Param { .. })));
    assert!(feature_dependence(&data, 0, &Context::default()).is_err());
}

#[test]
fn rare_levels_and_classes_are_not_significant_by_chance() {
    // 20 of 1000 rows have the rare class, and each feature is 1 in about 2 % of the rows: the expected number of rows with both is
    // 0.4, and 3 of them have a z of 4.
    let mut alarms = 0;
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let x = Array2::from_shape_simple_fn((1000, 60), || f64::from(u8::from(rng.uniform() < 0.02)));
        let data = Dataset::labeled(x, (0..1000).map(|i| usize::from(i < 20)).collect()).unwrap();
        let found = feature_dependence(&data, 4, &Context::default()).unwrap();
        let least = found.iter().map(|f| 60.0 * f.p_value).fold(1.0, f64::min);
        let sets = JointSets::find(&data, &Context::default()).unwrap().sets();
        alarms += usize::from(least <= 0.05 || !sets.is_empty());
    }
    // More than 3 of 20 have a probability of 1.6 % at the level 0.05.
    assert!(alarms <= 3, "{alarms} of 20");
    // A level that determines the class is significant nevertheless.
    let x = Array2::from_shape_fn((1000, 1), |(i, _)| f64::from(u8::from(i < 20)));
    let data = Dataset::labeled(x, (0..1000).map(|i| usize::from(i < 20)).collect()).unwrap();
    assert!(feature_dependence(&data, 4, &Context::default()).unwrap()[0].p_value < 1e-6);
}

#[test]
fn a_target_that_is_mostly_zero_has_no_interactions_by_chance() {
    for seed in 0..5 {
        let mut rng = Rng::new(seed);
        let x = Array2::from_shape_simple_fn((400, 30), || rng.normal());
        let y = (0..400).map(|_| if rng.uniform() < 0.8 { 0.0 } else { (3.0 * rng.normal()).exp() });
        let data = Dataset::with_target(x, Target::Continuous(y.collect())).unwrap();
        // The level is 0.05 for each of 5 draws.
        assert!(run(&InteractionScreen::default(), &data).n_significant <= 1, "{seed}");
    }
}

#[test]
fn effects_of_pairs_are_no_effects_of_three_features() {
    // The target is a sum of effects; x0 has a near copy, so {x0, copy, x_k} has products that are almost functions of a pair.
    let mut rng = Rng::new(4);
    let mut x = Array2::from_shape_simple_fn((500, 12), || rng.normal());
    for i in 0..500 {
        x[[i, 11]] = x[[i, 0]] + 0.1 * rng.normal();
    }
    let codes = |x: &Array2<f64>, y: fn(&[f64]) -> f64| -> Vec<usize> {
        x.rows().into_iter().map(|row| usize::from(y(&row.to_vec()) > 0.0)).collect()
    };
    let sums = Dataset::labeled(x.clone(), codes(&x, |row| row[..11].iter().sum())).unwrap();
    let ctx = Context::default();
    assert!(JointSets::find(&sums, &ctx).unwrap().significant_three_way().is_empty());
    let parity = Dataset::labeled(x.clone(), codes(&x, |row| row[1] * row[2] * row[3])).unwrap();
    assert_eq!(JointSets::find(&parity, &ctx).unwrap().significant_three_way()[0].features, [1, 2, 3]);
}
