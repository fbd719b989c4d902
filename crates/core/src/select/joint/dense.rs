//! Sums and gradients for dense features.

use super::query::{Change, Query};
use crate::data::Groups;
use crate::linalg::product_into;
use crate::simd::{add_squared_differences, dot, exp_scaled, gaussian_sum, kernel_sum};
use ndarray::{Array2, ArrayView2, s};
use std::ops::Range;

/// The contribution of rows `at` to the sums, with that of the unchanged set last. Pairs with earlier rows count
/// twice, the diagonal once. The features are in column-major order.
pub(super) fn sums(
    x: &Array2<f64>,
    groups: &Groups,
    weights: &Array2<f64>,
    at: Range<usize>,
    query: Query,
) -> Vec<f64> {
    let Query { members, candidates, change, gamma, gamma_unchanged } = query;
    let column = |j: usize| x.column(j).to_slice().expect("column-major");
    let distances = distances_before(x, &at, groups.expand(members));
    let weights = rows_of(weights);
    let diagonal: f64 = at.clone().zip(&weights).map(|(i, row)| row[i]).sum();
    let twice = |of_row: &dyn Fn(usize, usize) -> f64| {
        diagonal + 2.0 * at.clone().enumerate().map(|(r, i)| of_row(r, i)).sum::<f64>()
    };
    let sum = |distances: &[Vec<f64>], cells: &[f64], gamma: f64, sign: f64| {
        twice(&|r, i| kernel_sum(&weights[r][..i], &distances[r], &cells[..i], cells[i], gamma, sign))
    };
    // Any column will do, because its coefficient is 0.
    let unchanged = sum(&distances, column(0), gamma_unchanged, 0.0);
    let single = |f: usize| Some(groups.columns(f).start).filter(|_| groups.columns(f).len() == 1);
    let own_distances = |f: usize| distances_before(x, &at, groups.columns(f));
    let mut out: Vec<f64> = match change {
        Change::Remove => {
            let without = |f: usize| {
                let mut rest = own_distances(f);
                let rows = rest.iter_mut().zip(&distances);
                rows.for_each(|(own, all)| own.iter_mut().zip(all).for_each(|(own, all)| *own = all - *own));
                sum(&rest, column(0), gamma, 0.0)
            };
            let removed = |&f: &usize| match single(f) {
                Some(j) => sum(&distances, column(j), gamma, -1.0),
                None => without(f),
            };
            candidates.iter().map(removed).collect()
        }
        // The kernel with one more feature is a product of two, of which the first is common to all candidates.
        Change::Add => {
            let weighted = weighted_kernels(distances.clone(), &weights, gamma);
            let with = |f: usize| {
                let mut own = own_distances(f);
                own.iter_mut().for_each(|row| exp_scaled(row, -gamma));
                twice(&|r, _| dot(&weighted[r], &own[r]))
            };
            let added = |&f: &usize| match single(f).map(column) {
                Some(cells) => twice(&|r, i| gaussian_sum(&weighted[r], &cells[..i], cells[i], gamma)),
                None => with(f),
            };
            candidates.iter().map(added).collect()
        }
    };
    out.push(unchanged);
    out
}

/// Squared distances of rows `at` from earlier rows over some columns, stored contiguously.
pub(super) fn distances_before(
    x: &Array2<f64>,
    at: &Range<usize>,
    columns: impl IntoIterator<Item = usize>,
) -> Vec<Vec<f64>> {
    let mut distances: Vec<Vec<f64>> = at.clone().map(|i| vec![0.0; i]).collect();
    for j in columns {
        let cells = x.column(j).to_slice().expect("column-major");
        for (row, i) in distances.iter_mut().zip(at.clone()) {
            add_squared_differences(row, &cells[..i], cells[i]);
        }
    }
    distances
}

/// The weights times the kernel values of these distances.
pub(super) fn weighted_kernels(
    mut distances: Vec<Vec<f64>>,
    weights: &[&[f64]],
    gamma: f64,
) -> Vec<Vec<f64>> {
    for (row, weights) in distances.iter_mut().zip(weights) {
        exp_scaled(row, -gamma);
        row.iter_mut().zip(*weights).for_each(|(k, w)| *k *= w);
    }
    distances
}

/// The rows of a row-major matrix.
pub(super) fn rows_of(matrix: &Array2<f64>) -> Vec<&[f64]> {
    matrix.rows().into_iter().map(|row| row.to_slice().expect("row-major")).collect()
}

/// $x_f^\top (A - \operatorname{diag}(A 1)) x_f$ over rows `at`, of which `a` contains the values of $A$ and
/// `row_sums` their sums.
pub(super) fn gradient(x: &Array2<f64>, a: ArrayView2<f64>, row_sums: &[f64], at: Range<usize>) -> Vec<f64> {
    let mut ax = Array2::zeros((at.len(), x.ncols()));
    product_into(a, x.view(), ax.view_mut());
    let mut out = vec![0.0; x.ncols()];
    for ((x, ax), sum) in x.slice(s![at, ..]).rows().into_iter().zip(ax.rows()).zip(row_sums) {
        for ((out, x), ax) in out.iter_mut().zip(x).zip(ax) {
            *out += x * (ax - sum * x);
        }
    }
    out
}
