//! Weights of rows.
//!
//! An integer weight means that the row is there so many times; a row of weight 0 is left out. Every method that supports weights
//! respects this for its scores, its tests and its preparation of the data.

use crate::error::{Error, Result};
use std::sync::Arc;

/// The weight of each row; 1 for all rows if none are given.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weights<'a>(Option<&'a [f64]>);

impl<'a> Weights<'a> {
    /// Weight 1 for all rows.
    pub const ONE: Self = Self(None);

    /// A weight per row; `None` is weight 1 for all rows.
    pub fn new(weights: Option<&'a [f64]>) -> Self {
        Self(weights)
    }

    /// The weights of some rows, if weights were given.
    pub fn of_rows(self, rows: &[usize]) -> Option<Vec<f64>> {
        self.0.map(|weights| rows.iter().map(|&row| weights[row]).collect())
    }

    /// The weight of a row.
    pub fn of(self, row: usize) -> f64 {
        self.0.map_or(1.0, |weights| weights[row])
    }

    /// The weights, if they were given.
    pub fn given(self) -> Option<&'a [f64]> {
        self.0
    }

    /// Whether they are numbers of rows: integers, with a sum that is exact.
    pub fn are_counts(self) -> bool {
        let exact = 2.0_f64.powi(53);
        self.0.is_none_or(|weights| {
            weights.iter().all(|w| w.fract() == 0.0) && weights.iter().sum::<f64>() <= exact
        })
    }

    /// The sum of the weights of `n` rows.
    pub fn total(self, n: usize) -> f64 {
        self.0.map_or(n as f64, |weights| weights.iter().sum())
    }

    /// The sum of the weights of the rows with each code below `n_codes`.
    pub fn sums(self, codes: &[usize], n_codes: usize) -> Vec<f64> {
        let mut sums = vec![0.0; n_codes];
        codes.iter().enumerate().for_each(|(row, &code)| sums[code] += self.of(row));
        sums
    }
}

/// The weights of the rows of a data set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RowWeights {
    pub(super) values: Option<Arc<[f64]>>,
    /// Whether a fit multiplies them so that all classes have the same total weight.
    pub(super) balanced: bool,
}

impl RowWeights {
    /// The weights of these rows, in this order.
    pub(super) fn take_rows(&self, keep: &[usize]) -> Self {
        let values = self.values.as_ref().map(|values| keep.iter().map(|&row| values[row]).collect());
        Self { values, ..*self }
    }

    /// These weights of `n` rows, then those of other rows.
    pub(super) fn followed_by(&self, others: &Self, n: usize, n_others: usize) -> Self {
        let any = self.values.is_some() || others.values.is_some();
        let of = |weights: &Self, n| {
            weights.values.as_ref().map_or_else(|| vec![1.0; n], |values| values.to_vec())
        };
        let values = any.then(|| [of(self, n), of(others, n_others)].concat().into());
        Self { values, ..*self }
    }
}

/// Returns an error for weights, with their rows, that are not finite, negative, or all 0.
pub(super) fn check(mut weights: impl Iterator<Item = (usize, f64)> + Clone, name: &str) -> Result<()> {
    if let Some((row, weight)) = weights.clone().find(|(_, w)| !(w.is_finite() && *w >= 0.0)) {
        let what = if weight.is_nan() { "missing".into() } else { weight.to_string() };
        return Err(Error::parse(format!(
            "the weight in '{name}' is {what} in row {}; weights must be finite numbers, 0 or more",
            row + 1
        )));
    }
    match weights.any(|(_, w)| w > 0.0) {
        true => Ok(()),
        false => {
            Err(Error::parse(format!("the weights in '{name}' are all 0; at least one must be positive")))
        }
    }
}
