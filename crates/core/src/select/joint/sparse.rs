//! Sums and gradients for sparse features: a change affects only pairs with a stored value.

use super::dense::rows_of;
use super::query::{Change, Query};
use crate::data::Groups;
use crate::simd::kernel_sum;
use ndarray::{Array2, ArrayView2};
use std::ops::Range;

/// The stored values of a feature, and their rows in ascending order.
pub(super) type Column = Vec<(u32, f64)>;

/// The contribution of rows `at` to the sums, with that of the unchanged set last.
pub(super) fn sums(
    x: &[Column],
    (groups, n): (&Groups, usize),
    weights: &Array2<f64>,
    at: Range<usize>,
    query: Query,
) -> Vec<f64> {
    let Query { members, candidates, change, gamma, gamma_unchanged } = query;
    let sign = if change == Change::Add { 1.0 } else { -1.0 };
    let distances = distances_of(x, n, &at, groups.expand(members));
    let weights = rows_of(weights);
    let zeros = vec![0.0; n];
    let unchanged = |gamma: f64| -> Vec<f64> {
        (0..at.len()).map(|r| kernel_sum(weights[r], &distances[r], &zeros, 0.0, gamma, 0.0)).collect()
    };
    let row_sums = unchanged(gamma);
    let total: f64 = row_sums.iter().sum();
    let mut dense = vec![0.0; n];
    let mut out: Vec<f64> = vec![];
    for &f in candidates {
        let columns = groups.columns(f);
        if columns.len() > 1 {
            let mut changed = distances_of(x, n, &at, columns);
            let rows = changed.iter_mut().zip(&distances);
            rows.for_each(|(own, all)| {
                own.iter_mut().zip(all).for_each(|(own, all)| *own = all + sign * *own)
            });
            let of_row = |r: usize| kernel_sum(weights[r], &changed[r], &zeros, 0.0, gamma, 0.0);
            out.push((0..at.len()).map(of_row).sum());
            continue;
        }
        let cells = &x[columns.start];
        let own = &cells[stored(cells, &at)];
        let mut difference = 0.0;
        if !own.is_empty() {
            cells.iter().for_each(|&(j, v)| dense[j as usize] = v);
            for &(i, z) in own {
                let r = i as usize - at.start;
                let full = kernel_sum(weights[r], &distances[r], &dense, z, gamma, sign);
                // Pairs of two stored values are visited from both sides.
                let twice: f64 = cells
                    .iter()
                    .map(|&(j, v)| {
                        let d = distances[r][j as usize];
                        let pair = (-gamma * (d + sign * (v - z).powi(2))).exp() - (-gamma * d).exp();
                        weights[r][j as usize] * pair
                    })
                    .sum();
                difference += 2.0 * (full - row_sums[r]) - twice;
            }
            cells.iter().for_each(|&(j, _)| dense[j as usize] = 0.0);
        }
        out.push(total + difference);
    }
    out.push(unchanged(gamma_unchanged).iter().sum());
    out
}

/// The positions of the values stored in rows `at`.
fn stored(cells: &Column, at: &Range<usize>) -> Range<usize> {
    let place = |row: usize| cells.partition_point(|c| (c.0 as usize) < row);
    place(at.start)..place(at.end)
}

/// Squared distances of rows `at` from all rows over some columns.
fn distances_of(
    x: &[Column],
    n: usize,
    at: &Range<usize>,
    columns: impl IntoIterator<Item = usize>,
) -> Vec<Vec<f64>> {
    let mut distances = vec![vec![0.0; n]; at.len()];
    let mut squares = vec![0.0; at.len()];
    for j in columns {
        let cells = &x[j];
        let mut own = cells[stored(cells, at)].iter().peekable();
        for (r, row) in distances.iter_mut().enumerate() {
            let i = (at.start + r) as u32;
            let z = own.next_if(|c| c.0 == i).map_or(0.0, |c| c.1);
            squares[r] += z * z;
            // Minus the contribution of a zero there.
            cells.iter().for_each(|&(j, v)| row[j as usize] += (v - z).powi(2) - z * z);
        }
    }
    for (r, row) in distances.iter_mut().enumerate() {
        row.iter_mut().for_each(|d| *d = (*d + squares[r]).max(0.0));
        row[at.start + r] = 0.0;
    }
    distances
}

/// The same as [`super::dense::gradient`] for one column.
pub(super) fn gradient(cells: &Column, a: ArrayView2<f64>, row_sums: &[f64], at: Range<usize>) -> f64 {
    let of_row = |&(i, z): &(u32, f64)| {
        let r = i as usize - at.start;
        let row = a.row(r);
        z * (cells.iter().map(|&(j, v)| row[j as usize] * v).sum::<f64>() - row_sums[r] * z)
    };
    cells[stored(cells, &at)].iter().map(of_row).sum()
}
