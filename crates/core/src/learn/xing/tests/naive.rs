//! The same optima by slow, simple methods.

use super::*;
use crate::linalg::{cholesky, invert_lower};
use ndarray::Axis;

/// Projected gradient ascent of g over positive semidefinite B of trace 1, A = L⁻ᵀ B L⁻¹ with M_S = L Lᵀ, pair by pair.
fn naive_full(x: &Array2<f64>, near: &[[usize; 2]], far: &[[usize; 2]]) -> Array2<f64> {
    let d = x.ncols();
    let difference = |[i, j]: [usize; 2]| &x.row(i) - &x.row(j);
    let mut scatter = Array2::<f64>::zeros((d, d));
    for &pair in near {
        let z = difference(pair).insert_axis(Axis(1));
        scatter += &z.dot(&z.t());
    }
    let inverse = invert_lower(cholesky(scatter.view()).unwrap().view());
    let far: Vec<Array1<f64>> = far.iter().map(|&pair| inverse.dot(&difference(pair))).collect();
    let g = |b: &Array2<f64>| far.iter().map(|z| z.dot(&b.dot(z)).max(0.0).sqrt()).sum::<f64>();
    let mut b = Array2::eye(d) / d as f64;
    let mut length = 0.1;
    for _ in 0..20_000 {
        let mut gradient = Array2::<f64>::zeros((d, d));
        for z in &far {
            let column = z.view().insert_axis(Axis(1));
            gradient += &(column.dot(&column.t()) / (2.0 * z.dot(&b.dot(z)).sqrt().max(1e-12)));
        }
        let next = project_to_spectraplex(&(&b + &(gradient * length)));
        if g(&next) > g(&b) {
            b = next;
            length *= 1.1;
        } else {
            length *= 0.5;
        }
        if length < 1e-14 {
            break;
        }
    }
    inverse.t().dot(&b).dot(&inverse)
}

/// The nearest positive semidefinite matrix of trace 1.
fn project_to_spectraplex(b: &Array2<f64>) -> Array2<f64> {
    let eigen = symmetric_eigen(b.view()).unwrap();
    let mut height = 0.0;
    let mut sum = 0.0;
    for (k, value) in eigen.values.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (k + 1) as f64;
        if *value > candidate {
            height = candidate;
        }
    }
    let values = eigen.values.mapv(|v| (v - height).max(0.0));
    (&eigen.vectors * &values).dot(&eigen.vectors.t())
}

#[test]
fn naive_ascent_finds_the_same_full_metric() {
    for seed in 0..4 {
        let (x, near, far) = random_problem(10 + seed, 15, 3, 18);
        let naive = naive_full(&x, &near, &far);
        let ours = XingMetric { tol: 1e-8, ..with(false) };
        let learned = learn(&ours, &x, &near, &far);
        assert_eq!(learned.status, Status::Optimal);
        let a = metric(&learned);
        let (best, other) = (value(&x, a, &near, &far), value(&x, &naive, &near, &far));
        assert!(other <= best * (1.0 + 1e-8), "{seed}: nothing is above the bound, {other} {best}");
        // At step length 1e-14 the ascent is within some 1e-8 of the optimum.
        assert!(other >= best * (1.0 - 1e-6), "{seed}: {other} {best}");
        let scale = a[[0, 0]] / naive[[0, 0]];
        let largest = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        // The error of the metric is about the square root of the value's.
        assert!((a - &(&naive * scale)).iter().all(|e| e.abs() < 1e-2 * largest), "{seed}: {a} {naive}");
    }
}

#[test]
fn multiplicative_updates_find_the_same_diagonal_metric() {
    for seed in 0..2 {
        let (x, near, far) = random_problem(20 + seed, 30, 6, 60);
        let column = |j: usize, [a, b]: [usize; 2]| (x[[a, j]] - x[[b, j]]).powi(2);
        let similar: Vec<f64> = (0..6).map(|j| near.iter().map(|&p| column(j, p)).sum()).collect();
        // b_j <- b_j 2 g_j / g keeps the sum of weights and never lowers g.
        let mut b = Array1::from_elem(6, 1.0 / 6.0);
        for _ in 0..50_000 {
            let root = |p: [usize; 2]| (0..6).map(|j| b[j] * column(j, p) / similar[j]).sum::<f64>().sqrt();
            let roots: Vec<f64> = far.iter().map(|&p| root(p)).collect();
            let g: f64 = roots.iter().sum();
            let gradient =
                |j: usize| far.iter().zip(&roots).map(|(&p, r)| column(j, p) / similar[j] / r).sum::<f64>();
            b = (0..6).map(|j| b[j] * gradient(j) / g).collect();
        }
        let learner = XingMetric { tol: 1e-9, ..with(true) };
        let learned = learn(&learner, &x, &near, &far);
        assert_eq!(learned.status, Status::Optimal);
        let a = metric(&learned).diag().to_owned();
        let naive: Array1<f64> = (0..6).map(|j| b[j] / similar[j]).collect();
        let (a, naive) = (&a / a.sum(), &naive / naive.sum());
        // If a weight and its gradient are both near zero, the error decreases as one over the number of updates.
        assert!((&a - &naive).iter().all(|e| e.abs() < 1e-4), "{seed}: {a} {naive}");
        for (a, naive) in a.iter().zip(&naive) {
            assert_eq!(*a == 0.0, *naive < 1e-6, "{seed}: {a} {naive}");
        }
    }
}
