//! The features of all samples, and which of them remain.

use crate::data::{Groups, Rows, is_constant};

pub(super) struct Features {
    /// Number of samples.
    pub n: usize,
    /// The values of each column, centered if the data are dense.
    pub values: Vec<Vec<f64>>,
    /// The columns of each feature.
    pub groups: Groups,
    /// Whether all columns of a feature are constant.
    pub constant: Vec<bool>,
    /// The features that have not been removed, in ascending order.
    pub remaining: Vec<usize>,
    /// Their columns, in ascending order.
    pub columns: Vec<usize>,
    /// The largest square of each column.
    max_squares: Vec<f64>,
}

impl Features {
    pub fn new(x: &Rows, groups: Groups) -> Self {
        let (mean, std) = x.moments();
        let constant =
            groups.iter().map(|mut columns| columns.all(|j| is_constant(mean[j], std[j]))).collect();
        let mut values = by_column(x);
        if !x.is_sparse() {
            // Distances do not depend on the origin, nor do the weights, because coefficients sum to zero.
            // Centering avoids rounding error from a large offset.
            values.iter_mut().zip(&mean).for_each(|(c, m)| c.iter_mut().for_each(|v| *v -= m));
        }
        let max_squares = values.iter().map(|c| c.iter().fold(0.0_f64, |a, v| a.max(v * v))).collect();
        let (remaining, columns) = ((0..groups.n_features()).collect(), (0..x.d()).collect());
        Self { n: x.n(), values, groups, constant, remaining, columns, max_squares }
    }

    /// The values of the remaining columns.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.iter().map(|&j| &self.values[j][..])
    }

    /// Removes features and returns their columns.
    pub fn remove(&mut self, removed: &[usize]) -> Vec<usize> {
        self.remaining.retain(|j| !removed.contains(j));
        self.columns = self.groups.expand(&self.remaining);
        self.groups.expand(removed)
    }

    /// The largest square among some columns.
    pub fn max_square(&self, columns: &[usize]) -> f64 {
        columns.iter().map(|&j| self.max_squares[j]).fold(0.0_f64, f64::max)
    }
}

/// One vector per column.
pub(super) fn by_column(x: &Rows) -> Vec<Vec<f64>> {
    match x {
        Rows::Dense(x) => x.columns().into_iter().map(|c| c.to_vec()).collect(),
        Rows::Sparse(sparse) => {
            let mut out = vec![vec![0.0; x.n()]; x.d()];
            sparse.cells().for_each(|(i, j, v)| out[j][i] = v);
            out
        }
    }
}
