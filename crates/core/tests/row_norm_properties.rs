//! Properties of the row norm, its proximal operator and its projection.

use kernsift::internals::{dual_row_norm, project_l1, project_rows, prox_row, prox_rows};
use kernsift::optim::row_norm;
use ndarray::Array2;
use proptest::prelude::*;

/// A few rows and columns, with ties and zeros among the entries.
fn matrices() -> impl Strategy<Value = Array2<f64>> {
    (1_usize..8, 1_usize..6).prop_flat_map(|(d, q)| {
        let entry = prop_oneof![3 => -5.0..5.0_f64, 1 => (-3..=3_i32).prop_map(f64::from)];
        prop::collection::vec(entry, d * q).prop_map(move |v| Array2::from_shape_vec((d, q), v).unwrap())
    })
}

/// Two matrices of the same shape.
fn pairs() -> impl Strategy<Value = (Array2<f64>, Array2<f64>)> {
    matrices().prop_flat_map(|a| {
        let shape = a.dim();
        let other = prop::collection::vec(-5.0..5.0_f64, a.len());
        (Just(a), other.prop_map(move |v| Array2::from_shape_vec(shape, v).unwrap()))
    })
}

fn prox(v: &Array2<f64>, t: f64) -> Array2<f64> {
    let mut w = v.clone();
    prox_rows(&mut w, t);
    w
}

fn project(v: &Array2<f64>, tau: f64) -> Array2<f64> {
    let mut w = v.clone();
    project_rows(&mut w, tau);
    w
}

fn square(a: &Array2<f64>) -> f64 {
    a.iter().map(|v| v * v).sum()
}

/// Half the squared distance to `v` plus the penalty.
fn objective(w: &Array2<f64>, v: &Array2<f64>, t: f64) -> f64 {
    0.5 * square(&(w - v)) + t * row_norm(w)
}

proptest! {
    #[test]
    fn moreau_decomposition(v in matrices(), t in 0.0..20.0_f64) {
        // A row is the sum of its prox and its projection onto the l1 ball.
        let kept = prox(&v, t);
        for (row, kept) in v.rows().into_iter().zip(kept.rows()) {
            let mut projected = row.to_vec();
            project_l1(&mut projected, t);
            for k in 0..row.len() {
                // Rounding of a few sums of numbers below 30.
                prop_assert!((kept[k] + projected[k] - row[k]).abs() < 1e-13, "{} {:?} {}", kept, projected, row);
            }
            prop_assert!(projected.iter().map(|v| v.abs()).sum::<f64>() <= t + 1e-12);
            // Exactly zero if and only if the row is small.
            let small = row.iter().map(|v| v.abs()).sum::<f64>() <= t;
            prop_assert_eq!(kept.iter().all(|&w| w == 0.0), small || row.iter().all(|&v| v == 0.0));
        }
    }

    #[test]
    fn the_prox_is_the_minimum((v, direction) in pairs(), t in 0.0..10.0_f64, step in 1e-4..1.0_f64) {
        let w = prox(&v, t);
        let minimum = objective(&w, &v, t);
        // Strong convexity: any other point is above by at least half the squared distance.
        let other = &w + &(&direction * step);
        prop_assert!(objective(&other, &v, t) >= minimum + 0.5 * square(&(&other - &w)) - 1e-11);
    }

    #[test]
    fn the_prox_of_two_entries_equals_a_grid_search(a in -5.0..5.0_f64, b in -5.0..5.0_f64, t in 0.0..10.0_f64) {
        let mut v = [a, b];
        prox_row(&mut v, t);
        let at = |x: f64, y: f64| 0.5 * ((x - a).powi(2) + (y - b).powi(2)) + t * x.abs().max(y.abs());
        let minimum = at(v[0], v[1]);
        for i in -50..=50 {
            for j in -50..=50 {
                prop_assert!(minimum <= at(f64::from(i) * 0.1, f64::from(j) * 0.1) + 1e-12);
            }
        }
    }

    #[test]
    fn projection_onto_the_ball((v, u) in pairs(), tau in 0.0..30.0_f64) {
        let w = project(&v, tau);
        prop_assert!(row_norm(&w) <= tau + 1e-12);
        if row_norm(&v) > tau {
            prop_assert!((row_norm(&w) - tau).abs() <= 1e-12, "{} {}", row_norm(&w), tau);
        } else {
            prop_assert_eq!(&w, &v);
        }
        let again = project(&w, tau);
        prop_assert!((&again - &w).iter().all(|e| e.abs() <= 1e-12), "not idempotent");
        let other = project(&u, tau);
        prop_assert!(square(&(&w - &other)) <= square(&(&v - &u)) + 1e-10, "expansive");
        // Variational inequality of the projection.
        let inner: f64 = (&v - &w).iter().zip(&other - &w).map(|(a, b)| a * b).sum();
        prop_assert!(inner <= 1e-10, "{}", inner);
    }

    #[test]
    fn the_prox_is_nonexpansive((v, u) in pairs(), t in 0.0..10.0_f64) {
        prop_assert!(square(&(prox(&v, t) - prox(&u, t))) <= square(&(&v - &u)) + 1e-10);
    }

    #[test]
    fn norms_are_dual((v, u) in pairs()) {
        let inner: f64 = v.iter().zip(&u).map(|(a, b)| a * b).sum();
        prop_assert!(inner <= row_norm(&v) * dual_row_norm(&u) + 1e-10);
        // The bound is attained by the signs of the row with the largest sum.
        let row = (0..u.nrows()).max_by(|&a, &b| {
            let size = |j: usize| u.row(j).iter().map(|v| v.abs()).sum::<f64>();
            size(a).total_cmp(&size(b))
        }).unwrap();
        let sign = |(j, k): (usize, usize)| if j == row { u[[j, k]].signum() } else { 0.0 };
        let attaining = Array2::from_shape_fn(u.dim(), sign);
        let inner: f64 = attaining.iter().zip(&u).map(|(a, b)| a * b).sum();
        prop_assert!((inner - row_norm(&attaining) * dual_row_norm(&u)).abs() < 1e-12);
    }
}

#[test]
fn projection_of_a_large_matrix_is_exact() {
    let mut rng = kernsift::internals::Rng::new(1);
    let v = Array2::from_shape_simple_fn((20_000, 8), || rng.normal());
    for tau in [1e-3, 1.0, 100.0, 1e4, 3e4] {
        let w = project(&v, tau);
        assert!((row_norm(&w) / tau - 1.0).abs() < 1e-12, "{tau}");
    }
}
