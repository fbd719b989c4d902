//! Normalized kernel matrices of small blocks of samples, stored in full: low-rank factors would save nothing.

use crate::data::Weights;
use crate::simd::{dot, exp_scaled};

/// Blocks of at most this many samples are stored in full.
pub(super) const MAX_ROWS: usize = 48;
/// A centered matrix this small, with kernel values of order one, is rounding error.
pub(super) const ROUNDING: f64 = 1e-12;

/// One centered kernel matrix of unit norm per block, or zero.
pub(super) struct Dense {
    /// The lower triangles, row by row; off-diagonal entries are multiplied by sqrt(2), so that their inner
    /// products equal those of full matrices.
    cells: Vec<f64>,
    /// The trace of each matrix.
    traces: Vec<f64>,
}

impl Dense {
    /// The Gaussian kernel with bandwidth 1 of one feature, block by block. The feature has columns of `n` values each, one
    /// after another.
    pub fn of_feature(cells: &[f64], n: usize, blocks: &[Vec<usize>], weights: Weights) -> Self {
        let mut values = vec![];
        Self::of(blocks, weights, |_, rows, matrix| {
            for (at, column) in cells.chunks_exact(n).enumerate() {
                values.clear();
                values.extend(rows.iter().map(|&i| column[i]));
                if at == 0 {
                    values.iter().for_each(|a| matrix.extend(values.iter().map(|b| (a - b) * (a - b))));
                    continue;
                }
                for (row, a) in matrix.chunks_exact_mut(values.len()).zip(&values) {
                    row.iter_mut().zip(&values).for_each(|(cell, b)| *cell += (a - b) * (a - b));
                }
            }
            exp_scaled(matrix, -0.5);
            let Some(weights) = weights.given() else { return };
            for (row, &i) in matrix.chunks_exact_mut(rows.len()).zip(rows) {
                row.iter_mut().zip(rows).for_each(|(cell, &j)| *cell *= (weights[i] * weights[j]).sqrt());
            }
        })
    }

    /// The given matrix of each block, times the roots of the weights of row and column; empty is zero.
    pub fn of_matrices(
        matrix_of: impl Fn(usize) -> Vec<f64>,
        blocks: &[Vec<usize>],
        weights: Weights,
    ) -> Self {
        Self::of(blocks, weights, |block, rows, matrix| {
            matrix.extend(matrix_of(block));
            matrix.resize(rows.len() * rows.len(), 0.0);
        })
    }

    /// `fill` writes the matrix of a block, given its index and samples, into an empty buffer.
    fn of(
        blocks: &[Vec<usize>],
        weights: Weights,
        mut fill: impl FnMut(usize, &[usize], &mut Vec<f64>),
    ) -> Self {
        let size = blocks.first().map_or(0, Vec::len);
        let mut cells = Vec::with_capacity(blocks.len() * size * (size + 1) / 2);
        let mut matrix = vec![];
        let mut normalized = |(block, rows): (usize, &Vec<usize>)| {
            matrix.clear();
            fill(block, rows, &mut matrix);
            push_normalized(&mut matrix, rows.len(), weights.of_rows(rows), &mut cells)
        };
        let traces = blocks.iter().enumerate().map(&mut normalized).collect();
        Self { cells, traces }
    }

    /// The mean of $\langle \bar K_f, \bar K_g \rangle$ over the blocks.
    pub fn product(&self, other: &Self) -> f64 {
        dot(&self.cells, &other.cells) / self.traces.len() as f64
    }

    pub fn traces(&self) -> impl Iterator<Item = f64> {
        self.traces.iter().copied()
    }

    pub fn bytes(&self) -> usize {
        8 * (self.cells.len() + self.traces.len())
    }
}

/// Centers and normalizes a symmetric matrix and appends its lower triangle; returns its trace.
fn push_normalized(matrix: &mut [f64], n: usize, weights: Option<Vec<f64>>, out: &mut Vec<f64>) -> f64 {
    match weights {
        None => {
            let means: Vec<f64> =
                matrix.chunks_exact(n).map(|row| row.iter().sum::<f64>() / n as f64).collect();
            let mean = means.iter().sum::<f64>() / n as f64;
            for (row, own) in matrix.chunks_exact_mut(n).zip(&means) {
                row.iter_mut().zip(&means).for_each(|(cell, other)| *cell += mean - own - other);
            }
        }
        Some(weights) => center_weighted(matrix, &weights),
    }
    let length = dot(matrix, matrix).sqrt();
    let scale = if length > ROUNDING * n as f64 { 1.0 / length } else { 0.0 };
    let mut trace = 0.0;
    for (i, row) in matrix.chunks_exact(n).enumerate() {
        out.extend(row[..i].iter().map(|cell| cell * scale * std::f64::consts::SQRT_2));
        out.push(row[i] * scale);
        trace += row[i] * scale;
    }
    trace
}

/// Projects the rows and columns of a symmetric matrix to the complement of the roots of the weights. Without weights that is
/// centering.
fn center_weighted(matrix: &mut [f64], weights: &[f64]) {
    let total: f64 = weights.iter().sum();
    let unit: Vec<f64> = weights.iter().map(|w| (w / total).sqrt()).collect();
    let products: Vec<f64> = matrix.chunks_exact(unit.len()).map(|row| dot(row, &unit)).collect();
    let square = dot(&products, &unit);
    for ((row, u), product) in matrix.chunks_exact_mut(unit.len()).zip(&unit).zip(&products) {
        for ((cell, v), other) in row.iter_mut().zip(&unit).zip(&products) {
            *cell += square * u * v - product * v - u * other;
        }
    }
}
