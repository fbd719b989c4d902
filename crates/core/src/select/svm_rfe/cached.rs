//! Squared distances (RBF kernel) or inner products (linear kernel) of all samples, from which the columns of removed
//! features are subtracted.

use super::features::Features;
use super::svms::{NAME, Svms};
use crate::classify::{PairTask, need_finite};
use crate::context::Context;
use crate::error::Result;
use crate::kernel::{Kernel, gram_symmetric};
use crate::optim::{BlockColumns, SmoSolution};
use crate::simd::{add_scaled, dot, exp_scaled};
use ndarray::Array2;
use rayon::prelude::*;
use std::borrow::Cow;

/// Recompute once the number of columns has dropped by this factor, which limits rounding error.
const REFRESH_FACTOR: usize = 32;
/// Recompute instead of subtracting a column whose largest square exceeds that of the remaining columns by this
/// factor: the rounding error of the subtraction would dominate.
const MAX_SQUARE_RATIO: f64 = 1e4;

pub(super) struct CachedPairs {
    /// `None` for a linear kernel.
    pub gamma: Option<f64>,
    /// Distances or products over the remaining columns.
    pub pairs: Array2<f64>,
    /// Number of columns when `pairs` was computed.
    n_columns: usize,
}

impl CachedPairs {
    pub fn new(gamma: Option<f64>, features: &Features) -> Result<Self> {
        let (n, n_columns) = (features.n, features.columns.len());
        let x = Array2::from_shape_fn((n, n_columns), |(i, at)| features.values[features.columns[at]][i]);
        let products = gram_symmetric(&Kernel::Linear, &x.into())?;
        // Distances are at most four times the largest of these.
        need_finite(NAME, products.diag().iter().copied())?;
        // Row-major: the matrix is symmetric, and was column-major.
        let mut pairs = products.reversed_axes();
        if gamma.is_some() {
            let columns: Vec<&[f64]> = features.iter().collect();
            pairs.fill(0.0);
            let cells = pairs.as_slice_mut().expect("row-major");
            cells.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
                for column in &columns {
                    row.iter_mut().zip(*column).for_each(|(v, x)| *v += (column[i] - x).powi(2));
                }
            });
        }
        Ok(Self { gamma, pairs, n_columns })
    }

    /// Trains the SVMs and returns their training error.
    pub fn train(&self, svms: &mut Svms, ctx: &Context) -> Result<f64> {
        let k = self.kernel_values();
        let columns = svms.tasks.par_iter().map(|task| BlockColumns::new(k.view(), &task.rows));
        svms.solutions = svms.train::<BlockColumns>(columns, ctx)?;
        svms.training_error(ctx, |coefficients, values| {
            values.iter_mut().zip(k.rows()).for_each(|(v, row)| {
                *v += dot(row.to_slice().expect("row-major"), coefficients);
            });
        })
    }

    fn kernel_values(&self) -> Cow<'_, Array2<f64>> {
        let Some(gamma) = self.gamma else { return Cow::Borrowed(&self.pairs) };
        let mut k = self.pairs.clone();
        let cells = k.as_slice_mut().expect("row-major");
        cells.par_chunks_mut(1 << 14).for_each(|cells| exp_scaled(cells, -gamma));
        Cow::Owned(k)
    }

    /// The importance of every remaining feature.
    pub fn importances(&self, svms: &Svms, features: &Features, ctx: &Context) -> Result<Vec<f64>> {
        let importance = |&j: &usize| {
            ctx.check()?;
            let columns = &features.values[features.groups.columns(j)];
            let of_pair = |(task, solution)| match self.gamma {
                None => {
                    let weights = columns.iter().map(|column| linear_weight(task, solution, column));
                    features.importance(j, &weights.collect::<Vec<_>>())
                }
                Some(gamma) => self.norm_change(task, solution, columns, gamma),
            };
            Ok(svms.tasks.iter().zip(&svms.solutions).map(of_pair).sum::<f64>())
        };
        features.remaining.par_iter().map(importance).collect()
    }

    /// $|\sum_{ik} \beta_i \beta_k (K_{ik} - K_{ik}^{(-j)})|$ over the support vectors.
    fn norm_change(&self, task: &PairTask, solution: &SmoSolution, columns: &[Vec<f64>], gamma: f64) -> f64 {
        let support: Vec<usize> = (0..task.rows.len()).filter(|&i| solution.coefficients[i] != 0.0).collect();
        let beta: Vec<f64> = support.iter().map(|&i| solution.coefficients[i]).collect();
        let (mut with, mut without) = (vec![], vec![]);
        let mut change = 0.0;
        for (at, &i) in support.iter().enumerate() {
            let row = self.pairs.row(task.rows[i]);
            with.clear();
            with.extend(support[..at].iter().map(|&k| row[task.rows[k]]));
            without.clear();
            without.extend_from_slice(&with);
            for column in columns {
                let here = column[task.rows[i]];
                for (distance, &k) in without.iter_mut().zip(&support[..at]) {
                    *distance -= (here - column[task.rows[k]]).powi(2);
                }
            }
            // Subtraction leaves rounding errors, but distances cannot be negative.
            without.iter_mut().for_each(|distance| *distance = distance.max(0.0));
            exp_scaled(&mut with, -gamma);
            exp_scaled(&mut without, -gamma);
            // The diagonal does not change, and the matrix is symmetric.
            change += 2.0 * beta[at] * (dot(&with, &beta[..at]) - dot(&without, &beta[..at]));
        }
        change.abs()
    }

    /// Updates the cache after columns were removed.
    pub fn remove(&mut self, removed: &[usize], features: &Features) -> Result<()> {
        let n_remaining = features.columns.len();
        // Recomputing is one matrix product, much faster per column than subtracting columns one by one. If few
        // are removed, rounding errors of the larger sums accumulate, to some dozen units in the last place.
        let many = removed.len() > 1 && 4 * removed.len() >= n_remaining;
        if many
            || REFRESH_FACTOR * n_remaining <= self.n_columns
            || features.max_square(removed) > MAX_SQUARE_RATIO * features.max_square(&features.columns)
        {
            *self = Self::new(self.gamma, features)?;
            return Ok(());
        }
        let (n, gamma) = (self.pairs.nrows(), self.gamma);
        for &j in removed {
            let column = &features.values[j];
            let cells = self.pairs.as_slice_mut().expect("row-major");
            cells.par_chunks_mut(n).enumerate().with_min_len(64).for_each(|(i, row)| match gamma {
                None => add_scaled(row, -column[i], column),
                Some(_) => {
                    row.iter_mut()
                        .zip(column)
                        .for_each(|(v, x)| *v = (*v - (column[i] - x).powi(2)).max(0.0));
                }
            });
        }
        Ok(())
    }
}

/// $w_j = \sum_i \beta_i x_{ij}$
fn linear_weight(task: &PairTask, solution: &SmoSolution, column: &[f64]) -> f64 {
    task.rows.iter().zip(&solution.coefficients).map(|(&i, b)| b * column[i]).sum()
}
