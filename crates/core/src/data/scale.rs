//! Bringing columns to one scale.

use super::rows::Rows;
use crate::error::{Result, need_columns};
use ndarray::Array1;
use serde::{Deserialize, Serialize};

/// `(v - shift) / scale`, also where the difference is too large for a number.
pub(crate) fn standardized(v: f64, shift: f64, scale: f64) -> f64 {
    let apart = v - shift;
    if apart.is_infinite() { (0.5 * v - 0.5 * shift) / (0.5 * scale) } else { apart / scale }
}

/// Shift and scale of every column, learned from training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standardizer {
    /// Subtracted from each column; zeros for sparse rows, which a shift would fill.
    pub shift: Array1<f64>,
    /// Each column is divided by this; 1 for constant columns.
    pub scale: Array1<f64>,
    /// The columns that were constant.
    pub constant: Vec<usize>,
}

impl Standardizer {
    /// Mean 0 and variance 1 (with the divisor n) over the known cells. Sparse rows are scaled but not shifted.
    pub fn fit(x: &Rows) -> Self {
        let (mean, spread) = x.moments();
        let mut constant = vec![];
        let scale = spread
            .iter()
            .zip(&mean)
            .enumerate()
            .map(|(j, (&spread, &m))| {
                if is_constant(m, spread) {
                    constant.push(j);
                    1.0
                } else {
                    spread
                }
            })
            .collect();
        let shift = if x.is_sparse() { Array1::zeros(x.d()) } else { mean };
        Self { shift, scale, constant }
    }

    /// Shifts and scales rows of as many columns; gaps stay gaps.
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
            // Learned from dense rows: a shift leaves no cell zero.
            Rows::Sparse(_) if self.shift.iter().any(|&s| s != 0.0) => self.apply(&x.to_dense().into())?,
            Rows::Sparse(x) => x.scaled(&self.scale).into(),
        })
    }
}

/// Whether a column with this mean and standard deviation is constant: the spread of equal numbers is the rounding of
/// their mean.
pub(crate) fn is_constant(mean: f64, spread: f64) -> bool {
    spread <= 1e-14 * mean.abs()
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
        // New rows are scaled by the old numbers.
        assert_eq!(scaler.apply(&array![[5.0, 6.0]].into()).unwrap().to_dense(), array![[3.0, 1.0]]);
        assert!(scaler.apply(&array![[5.0]].into()).is_err());
    }

    #[test]
    fn gaps_stay_gaps() {
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
        // What was learned from dense rows does to sparse ones what it does to dense ones.
        let dense: Rows = array![[1.0, 5.0], [3.0, 7.0]].into();
        let scaler = Standardizer::fit(&dense);
        assert_eq!(
            scaler.apply(&x).unwrap().to_dense(),
            scaler.apply(&x.to_dense().into()).unwrap().to_dense()
        );
    }
}
