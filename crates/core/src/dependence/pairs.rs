//! HSIC as a weighted sum over a kernel matrix.
//!
//! With the target's kernel fixed, every estimate is linear in the kernel matrix $K$ of the features: $\sum_{ij}
//! V_{ij} K_{ij}$, where the weights $V$ come from the target alone. For the biased estimate $V = \tilde Y \tilde
//! Y^\top / n^2$ with the centered factor $\tilde Y$; for the unbiased one, with $L = \tilde Y \tilde Y^\top$ and
//! $l_i = \sum_{j \ne i} L_{ij}$,
//!
//! $$ V_{ij} = \frac{1}{n (n-3)} \Bigl( L_{ij} - \frac{l_i + l_j}{n-2} + \frac{\sum_i l_i}{(n-1)(n-2)} \Bigr), \quad V_{ii} = 0. $$
//!
//! Adding $a_i + a_j$ to $L_{ij}$ does not change $V$, so the centered factor serves here too.

use super::hsic::Estimator;
use crate::error::{Error, Result};
use crate::linalg::product_into;
use ndarray::{Array2, s};
use std::ops::Range;

/// The weights $V$, computed a few rows at a time.
pub(crate) struct PairWeights {
    /// $\tilde Y$, by rows, scaled for the estimator.
    factor: Array2<f64>,
    /// Added for each row and for each column, off the diagonal.
    shift: Option<Vec<f64>>,
}

impl PairWeights {
    /// The weights for a centered factor of the target's kernel.
    pub fn new(factor: &Array2<f64>, estimator: Estimator, method: &'static str) -> Result<Self> {
        let n = factor.nrows() as f64;
        match estimator {
            Estimator::Biased => {
                Ok(Self { factor: factor.as_standard_layout().mapv(|v| v / n), shift: None })
            }
            Estimator::Unbiased if n < 4.0 => Err(Error::TooFewRows { method, need: 4, got: factor.nrows() }),
            Estimator::Unbiased => {
                let scaled = factor.as_standard_layout().mapv(|v| v / (n * (n - 3.0)).sqrt());
                // Rows of a centered matrix sum to 0: the off-diagonal sum is minus the diagonal entry.
                let l: Vec<f64> = scaled.rows().into_iter().map(|row| -row.dot(&row)).collect();
                let half = l.iter().sum::<f64>() / ((n - 1.0) * (n - 2.0)) / 2.0;
                let shift = l.iter().map(|l| half - l / (n - 2.0)).collect();
                Ok(Self { factor: scaled, shift: Some(shift) })
            }
            Estimator::Normalized => Err(Error::param(
                method,
                "estimator",
                "'biased' or 'unbiased': a search over features compares sums",
                "normalized",
            )),
        }
    }

    /// An upper bound on the absolute weights.
    pub fn max_abs(&self) -> f64 {
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        // By the Cauchy-Schwarz inequality none exceeds the largest on the diagonal.
        let products = largest(&mut self.factor.rows().into_iter().map(|row| row.dot(&row)));
        let shift = self.shift.as_deref().unwrap_or(&[]);
        products + 2.0 * largest(&mut shift.iter().map(|s| s.abs()))
    }

    /// Some rows of $V$.
    pub fn rows(&self, at: Range<usize>) -> Array2<f64> {
        let mut out = Array2::zeros((at.len(), self.factor.nrows()));
        // Write the transpose, so that rows are contiguous.
        product_into(
            self.factor.view(),
            self.factor.slice(s![at.clone(), ..]).t(),
            out.view_mut().reversed_axes(),
        );
        if let Some(shift) = &self.shift {
            for (mut row, i) in out.rows_mut().into_iter().zip(at) {
                row.iter_mut().zip(shift).for_each(|(v, s)| *v += s + shift[i]);
                row[i] = 0.0;
            }
        }
        out
    }
}
