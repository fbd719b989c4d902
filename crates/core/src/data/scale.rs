//! Standardization of columns.

use super::rows::Rows;
use super::weights::Weights;
use crate::error::{Result, need_columns};
use ndarray::Array1;
use serde::{Deserialize, Serialize};

/// `(v - shift) / scale`, also where the difference overflows.
pub(crate) fn standardized(v: f64, shift: f64, scale: f64) -> f64 {
    let difference = v - shift;
    if difference.is_infinite() { (0.5 * v - 0.5 * shift) / (0.5 * scale) } else { difference / scale }
}

/// Standardizes columns by the mean and standard deviation of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    /// The mean of each column; zeros for sparse rows, which stay sparse.
    pub shift: Array1<f64>,
    /// The standard deviation of each column; 1 for constant columns.
    pub scale: Array1<f64>,
    /// The constant columns.
    pub constant: Vec<usize>,
}

impl Standardizer {
    /// Computes means and standard deviations (with divisor n), ignoring missing values. Sparse rows are scaled
    /// but not centered.
    pub fn fit(x: &Rows) -> Self {
        Self::fit_weighted(x, Weights::ONE)
    }

    /// As [`Standardizer::fit`], with a weight per row.
    pub fn fit_weighted(x: &Rows, weights: Weights) -> Self {
        let (mean, std) = x.weighted_moments(weights);
        let mut constant = vec![];
        let scale = std
            .iter()
            .zip(&mean)
            .enumerate()
            .map(|(j, (&std, &m))| {
                if is_constant(m, std) {
                    constant.push(j);
                    1.0
                } else {
                    std
                }
            })
            .collect();
        let shift = if x.is_sparse() { Array1::zeros(x.d()) } else { mean };
        Self { shift, scale, constant }
    }

    /// Standardizes rows with the same columns. Missing values stay missing.
    pub fn apply(&self, x: &Rows) -> Result<Rows> {
        need_columns("columns to scale", self.shift.len(), x.d())?;
        Ok(match x {
            Rows::Dense(x) => {
                let mut out = x.to_owned();
                for mut row in out.rows_mut() {
                    for j in 0..row.len() {
                        row[j] = standardized(row[j], self.shift[j], self.scale[j]);
                    }
                }
                out.into()
            }
            // Fitted to dense rows: centering makes zeros nonzero.
            Rows::Sparse(_) if self.shift.iter().any(|&s| s != 0.0) => self.apply(&x.to_dense().into())?,
            Rows::Sparse(x) => x.scaled(&self.scale).into(),
        })
    }
}

/// Numbers further than this many interquartile ranges outside the quartiles are outliers.
const FENCE: f64 = 3.0;

/// The outer fences of numbers: three interquartile ranges below and above the quartiles. `None` if half of the numbers are equal,
/// or if there are none.
pub(crate) fn outer_fences(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = values.collect();
    let last = sorted.len().checked_sub(1)?;
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[(share * last as f64).round() as usize];
    let (low, high) = (at(0.25), at(0.75));
    let reach = FENCE * (high - low);
    (reach > 0.0 && reach.is_finite()).then_some((low - reach, high + reach))
}

/// The rank of a value among sorted numbers, from 1; equal numbers have their mean rank.
pub(crate) fn mean_rank(sorted: &[f64], value: f64) -> f64 {
    let (below, at_most) = (sorted.partition_point(|v| *v < value), sorted.partition_point(|v| *v <= value));
    0.5 * (below + 1 + at_most) as f64
}

/// Whether a column with this mean and standard deviation is constant. The computed standard deviation of equal
/// numbers is the rounding error of their mean.
pub(crate) fn is_constant(mean: f64, std: f64) -> bool {
    std <= 1e-14 * mean.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use ndarray::array;

    #[test]
    fn columns_get_mean_zero_and_variance_one() {
        let x: Rows = array![[1.0, 5.0], [3.0, 5.0]].into();
        let scaler = Standardizer::fit(&x);
        assert_eq!(scaler.constant, [1]);
        assert_eq!(scaler.apply(&x).unwrap().to_dense(), array![[-1.0, 0.0], [1.0, 0.0]]);
        // New rows are scaled by the training statistics.
        assert_eq!(scaler.apply(&array![[5.0, 6.0]].into()).unwrap().to_dense(), array![[3.0, 1.0]]);
        assert!(scaler.apply(&array![[5.0]].into()).is_err());
    }

    #[test]
    fn missing_values_stay_missing() {
        let x: Rows = array![[1.0, f64::NAN], [3.0, f64::NAN], [f64::NAN, f64::NAN]].into();
        let scaler = Standardizer::fit(&x);
        assert_eq!(scaler.constant, [1]);
        let scaled = scaler.apply(&x).unwrap().to_dense();
        assert_eq!(scaled.column(0).to_vec()[..2], [-1.0, 1.0]);
        assert!(scaled[[2, 0]].is_nan() && scaled.column(1).iter().all(|v| v.is_nan()));
    }

    #[test]
    fn sparse_rows_stay_sparse() {
        let x: Rows = SparseRows::new(2, vec![0, 1, 2], vec![0, 0], vec![2.0, 6.0]).unwrap().into();
        let scaled = Standardizer::fit(&x).apply(&x).unwrap();
        assert!(scaled.is_sparse());
        assert_eq!(scaled.to_dense(), array![[1.0, 0.0], [3.0, 0.0]]);
        // A scaler fitted to dense rows gives the same result for sparse and dense rows.
        let dense: Rows = array![[1.0, 5.0], [3.0, 7.0]].into();
        let scaler = Standardizer::fit(&dense);
        assert_eq!(
            scaler.apply(&x).unwrap().to_dense(),
            scaler.apply(&x.to_dense().into()).unwrap().to_dense()
        );
    }
}
