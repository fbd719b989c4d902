//! Properties of the l1/l-infinity norm over features, its proximal operator and its projection.

use kernsift::data::Groups;
use kernsift::internals::{dual_group_norm, group_norm, project_groups, project_l1, prox_group, prox_groups};
use ndarray::{Array2, s};
use proptest::prelude::*;

/// A few features of one to three rows, with ties and zeros among the entries.
fn matrices() -> impl Strategy<Value = (Groups, Array2<f64>)> {
    let sizes =
        prop_oneof![prop::collection::vec(Just(1_usize), 1..8), prop::collection::vec(1_usize..4, 1..8)];
    (sizes, 1_usize..6).prop_flat_map(|(sizes, q)| {
        let groups = Groups::of_sizes(sizes);
        let entry = prop_oneof![3 => -5.0..5.0_f64, 1 => (-3..=3_i32).prop_map(f64::from)];
        let d = groups.n_columns();
        let matrix =
            prop::collection::vec(entry, d * q).prop_map(move |v| Array2::from_shape_vec((d, q), v).unwrap());
        (Just(groups), matrix)
    })
}

/// Two matrices of the same shape.
fn pairs() -> impl Strategy<Value = (Groups, Array2<f64>, Array2<f64>)> {
    matrices().prop_flat_map(|(groups, a)| {
        let shape = a.dim();
        let other = prop::collection::vec(-5.0..5.0_f64, a.len());
        (Just(groups), Just(a), other.prop_map(move |v| Array2::from_shape_vec(shape, v).unwrap()))
    })
}

fn prox(v: &Array2<f64>, groups: &Groups, t: f64) -> Array2<f64> {
    let mut w = v.clone();
    prox_groups(&mut w, groups, t);
    w
}

fn project(v: &Array2<f64>, groups: &Groups, tau: f64) -> Array2<f64> {
    let mut w = v.clone();
    project_groups(&mut w, groups, tau);
    w
}

fn square(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum()
}

/// Half the squared distance to `v` plus the penalty.
fn objective(w: &Array2<f64>, v: &Array2<f64>, groups: &Groups, t: f64) -> f64 {
    0.5 * square(&(w - v)) + t * group_norm(w, groups)
}

/// The entries of a feature.
fn block(w: &Array2<f64>, groups: &Groups, feature: usize) -> Vec<f64> {
    w.slice(s![groups.columns(feature), ..]).iter().copied().collect()
}

/// The projection by bisection of the total that is clipped from every feature, and of the height of each feature.
fn project_by_bisection(v: &Array2<f64>, groups: &Groups, tau: f64) -> Array2<f64> {
    let height = |entries: &[f64], total: f64| {
        let (mut low, mut high) = (0.0, entries.iter().fold(0.0_f64, |a, v| a.max(v.abs())));
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            let clipped: f64 = entries.iter().map(|v| (v.abs() - middle).max(0.0)).sum();
            if clipped > total { low = middle } else { high = middle }
        }
        high
    };
    let features = 0..groups.n_features();
    let heights =
        |total: f64| features.clone().map(|j| height(&block(v, groups, j), total)).collect::<Vec<f64>>();
    let (mut low, mut high) = (0.0, v.iter().map(|v| v.abs()).sum::<f64>());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if heights(middle).iter().sum::<f64>() > tau { low = middle } else { high = middle }
    }
    let (heights, feature) = (heights(high), groups.feature_of_columns());
    Array2::from_shape_fn(v.dim(), |(j, k)| v[[j, k]].clamp(-heights[feature[j]], heights[feature[j]]))
}

proptest! {
    #[test]
    fn moreau_decomposition((groups, v) in matrices(), t in 0.0..20.0_f64) {
        // A feature is the sum of its prox and its projection onto the l1 ball.
        let kept = prox(&v, &groups, t);
        for j in 0..groups.n_features() {
            let (row, kept) = (block(&v, &groups, j), block(&kept, &groups, j));
            let mut projected = row.clone();
            project_l1(&mut projected, t);
            for k in 0..row.len() {
                // Rounding of a few sums of numbers below 80.
                prop_assert!((kept[k] + projected[k] - row[k]).abs() < 1e-13, "{:?} {:?} {:?}", kept, projected, row);
            }
            prop_assert!(projected.iter().map(|v| v.abs()).sum::<f64>() <= t + 1e-12);
            // Exactly zero if and only if the feature is small.
            let small = row.iter().map(|v| v.abs()).sum::<f64>() <= t;
            prop_assert_eq!(kept.iter().all(|&w| w == 0.0), small || row.iter().all(|&v| v == 0.0));
        }
    }

    #[test]
    fn the_prox_is_the_minimum((groups, v, direction) in pairs(), t in 0.0..10.0_f64, step in 1e-4..1.0_f64) {
        let w = prox(&v, &groups, t);
        let minimum = objective(&w, &v, &groups, t);
        // Strong convexity: any other point is above by at least half the squared distance.
        let other = &w + &(&direction * step);
        prop_assert!(objective(&other, &v, &groups, t) >= minimum + 0.5 * square(&(&other - &w)) - 1e-11);
    }

    #[test]
    fn the_prox_of_two_entries_equals_a_grid_search(a in -5.0..5.0_f64, b in -5.0..5.0_f64, t in 0.0..10.0_f64) {
        let mut v = [a, b];
        prox_group(&mut v, t);
        let at = |x: f64, y: f64| 0.5 * ((x - a).powi(2) + (y - b).powi(2)) + t * x.abs().max(y.abs());
        let minimum = at(v[0], v[1]);
        for i in -50..=50 {
            for j in -50..=50 {
                prop_assert!(minimum <= at(f64::from(i) * 0.1, f64::from(j) * 0.1) + 1e-12);
            }
        }
    }

    #[test]
    fn projection_onto_the_ball((groups, v, u) in pairs(), tau in 0.0..30.0_f64) {
        let w = project(&v, &groups, tau);
        let norm = |w: &Array2<f64>| group_norm(w, &groups);
        prop_assert!(norm(&w) <= tau + 1e-12);
        if norm(&v) > tau {
            prop_assert!((norm(&w) - tau).abs() <= 1e-12, "{} {}", norm(&w), tau);
            // The last bisection interval is far below the rounding error of sums of numbers below 80.
            let twin = project_by_bisection(&v, &groups, tau);
            prop_assert!((&twin - &w).iter().all(|e| e.abs() <= 1e-11), "{} {}", twin, w);
        } else {
            prop_assert_eq!(&w, &v);
        }
        let again = project(&w, &groups, tau);
        prop_assert!((&again - &w).iter().all(|e| e.abs() <= 1e-12), "not idempotent");
        let other = project(&u, &groups, tau);
        prop_assert!(square(&(&w - &other)) <= square(&(&v - &u)) + 1e-10, "expansive");
        // Variational inequality of the projection.
        let inner: f64 = (&v - &w).iter().zip(&other - &w).map(|(a, b)| a * b).sum();
        prop_assert!(inner <= 1e-10, "{}", inner);
    }

    #[test]
    fn the_prox_is_nonexpansive((groups, v, u) in pairs(), t in 0.0..10.0_f64) {
        let moved = prox(&v, &groups, t) - prox(&u, &groups, t);
        prop_assert!(square(&moved) <= square(&(&v - &u)) + 1e-10);
    }

    #[test]
    fn norms_are_dual((groups, v, u) in pairs()) {
        let inner: f64 = v.iter().zip(&u).map(|(a, b)| a * b).sum();
        let dual = dual_group_norm(&u, &groups);
        prop_assert!(inner <= group_norm(&v, &groups) * dual + 1e-10);
        // The bound is attained by the signs of the feature with the largest sum.
        let size = |j: usize| block(&u, &groups, j).iter().map(|v| v.abs()).sum::<f64>();
        let largest = (0..groups.n_features()).max_by(|&a, &b| size(a).total_cmp(&size(b))).unwrap();
        let feature = groups.feature_of_columns();
        let sign = |(j, k): (usize, usize)| if feature[j] == largest { u[[j, k]].signum() } else { 0.0 };
        let attaining = Array2::from_shape_fn(u.dim(), sign);
        let inner: f64 = attaining.iter().zip(&u).map(|(a, b)| a * b).sum();
        prop_assert!((inner - group_norm(&attaining, &groups) * dual).abs() < 1e-12);
    }
}

#[test]
fn projection_of_a_large_matrix_is_exact() {
    let mut rng = kernsift::internals::Rng::new(1);
    let v = Array2::from_shape_simple_fn((20_000, 8), || rng.normal());
    for groups in [Groups::single(20_000), Groups::of_sizes([50; 400])] {
        for tau in [1e-3, 1.0, 100.0] {
            let w = project(&v, &groups, tau);
            assert!((group_norm(&w, &groups) / tau - 1.0).abs() < 1e-12, "{tau}");
        }
    }
    for tau in [1e4, 3e4] {
        let w = project(&v, &Groups::single(20_000), tau);
        assert!((group_norm(&w, &Groups::single(20_000)) / tau - 1.0).abs() < 1e-12, "{tau}");
    }
}
