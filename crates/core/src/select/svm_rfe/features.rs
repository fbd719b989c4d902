//! The features of all samples, and which of them remain.

use super::super::standard::common_std;
use crate::data::{Dataset, Groups, Rows, Weights, is_constant};
use crate::simd::add_scaled;
use std::ops::Range;

pub(super) struct Features {
    /// Number of samples.
    pub n: usize,
    /// The values of each column, centered if the data are dense.
    pub values: Vec<Vec<f64>>,
    /// The weight of each sample, if there are weights.
    weights: Option<Vec<f64>>,
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
    /// The variance of each feature: of its number, or of all levels of a category together.
    variances: Vec<f64>,
}

impl Features {
    pub fn new(data: &Dataset) -> Self {
        let (x, groups) = (data.x(), data.groups());
        let (mean, std) = x.weighted_moments(data.weights());
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
        let scale = common_std(x, &groups, &std);
        let variance = |columns: Range<usize>| columns.map(|j| scale[j] * scale[j]).fold(0.0, f64::max);
        let variances = groups.iter().map(variance).collect();
        let weights = data.weights().given().map(<[f64]>::to_vec);
        Self { n: x.n(), weights, values, groups, constant, remaining, columns, max_squares, variances }
    }

    /// The importance of a feature in a linear SVM, given the weights of its columns: the variance of its part of the
    /// decision function, divided by its own variance. That is the squared weight of a single column.
    pub fn importance(&self, feature: usize, weights: &[f64]) -> f64 {
        if let [weight] = weights {
            return weight * weight;
        }
        let mut part = vec![0.0; self.n];
        for (&weight, column) in weights.iter().zip(&self.values[self.groups.columns(feature)]) {
            add_scaled(&mut part, weight, column);
        }
        let weights = Weights::new(self.weights.as_deref());
        let square: f64 = part.iter().enumerate().map(|(row, v)| weights.of(row) * v * v).sum();
        // A constant feature has no part.
        square / (weights.total(self.n) * self.variances[feature]).max(f64::MIN_POSITIVE)
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
