//! The feature matrix of a data set, dense or sparse.

use super::sparse::SparseRows;
use super::weights::Weights;
use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView1, Zip};
use serde::{Deserialize, Serialize};

/// A feature matrix with a row per sample and a column per feature.
///
/// Methods without support for sparse data call [`Rows::to_dense`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Rows {
    /// All cells are stored.
    Dense(Array2<f64>),
    /// Only nonzero cells are stored.
    Sparse(SparseRows),
}

impl From<Array2<f64>> for Rows {
    fn from(x: Array2<f64>) -> Self {
        Self::Dense(x)
    }
}

impl From<SparseRows> for Rows {
    fn from(x: SparseRows) -> Self {
        Self::Sparse(x)
    }
}

impl Rows {
    /// Number of rows (samples).
    pub fn n(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.n_rows(),
        }
    }

    /// Number of columns (features).
    pub fn d(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.n_columns(),
        }
    }

    /// One cell.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(x) => x[[i, j]],
            Self::Sparse(x) => x.get(i, j),
        }
    }

    /// Approximate memory of a copy of `rows` rows, in bytes.
    pub fn bytes_of(&self, rows: usize) -> f64 {
        self.bytes() * rows as f64 / self.n().max(1) as f64
    }

    /// Memory of a copy, in bytes.
    pub fn bytes(&self) -> f64 {
        match self {
            Self::Dense(x) => 8.0 * x.len() as f64,
            Self::Sparse(x) => 12.0 * x.n_stored() as f64 + 8.0 * self.n() as f64,
        }
    }

    /// Whether only nonzero cells are stored.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// The dense matrix.
    pub fn to_dense(&self) -> Array2<f64> {
        match self {
            Self::Dense(x) => x.clone(),
            Self::Sparse(x) => {
                let mut out = Array2::zeros((x.n_rows(), x.n_columns()));
                for (i, j, v) in x.cells() {
                    out[[i, j]] = v;
                }
                out
            }
        }
    }

    /// The dense matrix, without a copy if it is dense already.
    pub fn into_dense(self) -> Array2<f64> {
        match self {
            Self::Dense(x) => x,
            Self::Sparse(_) => self.to_dense(),
        }
    }

    /// These rows, in this order; rows may repeat.
    pub fn take_rows(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.select(ndarray::Axis(0), keep)),
            Self::Sparse(x) => Self::Sparse(x.take_rows(keep)),
        }
    }

    /// These columns, in this order; columns must not repeat.
    pub fn take_columns(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.select(ndarray::Axis(1), keep)),
            Self::Sparse(x) => Self::Sparse(x.take_columns(keep)),
        }
    }

    /// Sums `size` over the differences between row `i` and row `j` of `other`. For two sparse rows the sum skips
    /// columns that neither stores, so `size(0)` must be 0.
    pub fn sum_over_differences(&self, i: usize, other: &Self, j: usize, size: impl Fn(f64) -> f64) -> f64 {
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => a.row(i).iter().zip(b.row(j)).map(|(a, b)| size(a - b)).sum(),
            (Self::Sparse(a), Self::Sparse(b)) => a.sum_over_cells(i, b, j, |a, b| size(a - b)),
            (Self::Dense(a), Self::Sparse(b)) => sum_over_mixed(a.row(i), b.row(j), size),
            (Self::Sparse(a), Self::Dense(b)) => sum_over_mixed(b.row(j), a.row(i), |e| size(-e)),
        }
    }

    /// The values of one column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match self {
            Self::Dense(x) => x.column(j).to_vec(),
            Self::Sparse(x) => (0..x.n_rows()).map(|i| x.get(i, j)).collect(),
        }
    }

    /// Mean and standard deviation (with divisor n) of every column, in two passes. Missing values (NaN) do not
    /// count; both are 0 for a column without values.
    pub fn moments(&self) -> (Array1<f64>, Array1<f64>) {
        self.weighted_moments(Weights::ONE)
    }

    /// As [`Rows::moments`], with a weight per row.
    pub fn weighted_moments(&self, weights: Weights) -> (Array1<f64>, Array1<f64>) {
        let counts = self.present_weight(weights).mapv(|sum| if sum > 0.0 { sum } else { 1.0 });
        // Scale each column by a power of two near its largest value, which is exact: squares of very large or
        // very small numbers would overflow or underflow.
        let unit = self
            .max_abs()
            .mapv(|v| if v > 0.0 { 2.0_f64.powi((v.log2().floor() as i32).clamp(-1022, 1023)) } else { 1.0 });
        let (mean, squares) = match self {
            Self::Dense(x) => dense_moments(x, weights, &unit, &counts),
            Self::Sparse(x) => sparse_moments(x, weights, &unit, &counts),
        };
        // Near the largest finite number, rounding may make the standard deviation infinite.
        (mean * &unit, ((squares / counts).mapv(f64::sqrt) * unit).mapv(|s| s.min(f64::MAX)))
    }

    /// Number of values in each column that are not missing.
    pub fn n_present(&self) -> Array1<usize> {
        let mut present = Array1::from_elem(self.d(), self.n());
        match self {
            Self::Dense(x) => x
                .rows()
                .into_iter()
                .for_each(|row| present.zip_mut_with(&row, |k, v| *k -= usize::from(v.is_nan()))),
            Self::Sparse(x) => x.cells().filter(|(_, _, v)| v.is_nan()).for_each(|(_, j, _)| present[j] -= 1),
        }
        present
    }

    /// The sum of the weights of the values in each column that are not missing, up to rounding if there are weights.
    pub(super) fn present_weight(&self, weights: Weights) -> Array1<f64> {
        let mut present = Array1::from_elem(self.d(), weights.total(self.n()));
        match self {
            Self::Dense(x) => {
                for (i, row) in x.rows().into_iter().enumerate() {
                    let w = weights.of(i);
                    present.zip_mut_with(&row, |sum, v| *sum -= if v.is_nan() { w } else { 0.0 });
                }
            }
            Self::Sparse(x) => {
                x.cells().filter(|(_, _, v)| v.is_nan()).for_each(|(i, j, _)| present[j] -= weights.of(i));
            }
        }
        present
    }

    /// The largest absolute value in each column.
    fn max_abs(&self) -> Array1<f64> {
        let mut largest = Array1::<f64>::zeros(self.d());
        match self {
            Self::Dense(x) => {
                x.rows().into_iter().for_each(|row| largest.zip_mut_with(&row, |a, v| *a = a.max(v.abs())))
            }
            Self::Sparse(x) => x.cells().for_each(|(_, j, v)| largest[j] = largest[j].max(v.abs())),
        }
        largest
    }

    /// Position and value of the first cell that is NaN or infinite.
    pub fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        self.first(|v| !v.is_finite())
    }

    /// Position of the first missing value (NaN).
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        self.first(f64::is_nan).map(|(i, j, _)| (i, j))
    }

    /// Position and value of the first cell for which `predicate` holds.
    pub(crate) fn first(&self, predicate: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        match self {
            // Usually there is none, and a scan in memory order is fastest.
            Self::Dense(x) if x.as_slice_memory_order().is_some_and(|s| !s.iter().any(|&v| predicate(v))) => {
                None
            }
            Self::Dense(x) => x.indexed_iter().find(|(_, v)| predicate(**v)).map(|((i, j), v)| (i, j, *v)),
            Self::Sparse(x) => x.cells().find(|(_, _, v)| predicate(*v)),
        }
    }

    /// Returns an error at the first missing value, for a method that does not support them. `name` gives column
    /// names.
    pub(crate) fn need_complete(&self, method: &str, name: impl Fn(usize) -> String) -> Result<()> {
        match self.first_missing() {
            None => Ok(()),
            Some((i, j)) => {
                Err(Error::MissingUnsupported { method: method.into(), row: i + 1, column: name(j) })
            }
        }
    }
}

/// Means in units of `unit`, and sums of squared deviations.
fn dense_moments(
    x: &Array2<f64>,
    weights: Weights,
    unit: &Array1<f64>,
    counts: &Array1<f64>,
) -> (Array1<f64>, Array1<f64>) {
    let (mut mean, mut squares) = (Array1::<f64>::zeros(x.ncols()), Array1::<f64>::zeros(x.ncols()));
    let or_zero = |v: f64| if v.is_nan() { 0.0 } else { v };
    // The reciprocal of a power of two is exact, so products equal quotients.
    let scale = unit.mapv(f64::recip);
    for (i, row) in x.rows().into_iter().enumerate() {
        let w = weights.of(i);
        Zip::from(&mut mean).and(row).and(&scale).for_each(|m, v, s| *m += w * or_zero(v * s));
    }
    mean /= counts;
    for (i, row) in x.rows().into_iter().enumerate() {
        let w = weights.of(i);
        Zip::from(&mut squares)
            .and(row)
            .and(&scale)
            .and(&mean)
            .for_each(|sum, v, s, m| *sum += w * or_zero((v * s - m).powi(2)));
    }
    (mean, squares)
}

/// Means in units of `unit`, and sums of squared deviations.
fn sparse_moments(
    x: &SparseRows,
    weights: Weights,
    unit: &Array1<f64>,
    counts: &Array1<f64>,
) -> (Array1<f64>, Array1<f64>) {
    let d = x.n_columns();
    let (mut mean, mut squares) = (Array1::<f64>::zeros(d), Array1::<f64>::zeros(d));
    let mut stored = vec![0.0; d];
    let cells = || x.cells().filter(|(_, _, v)| !v.is_nan());
    for (i, j, v) in cells() {
        mean[j] += weights.of(i) * (v / unit[j]);
        stored[j] += weights.of(i);
    }
    mean /= counts;
    for (i, j, v) in cells() {
        squares[j] += weights.of(i) * (v / unit[j] - mean[j]).powi(2);
    }
    // Cells that are not stored are zero. In a column of missing values the mean is 0, so nothing is added.
    (0..d).for_each(|j| squares[j] += (counts[j] - stored[j]).max(0.0) * mean[j] * mean[j]);
    (mean, squares)
}

/// Sums `size` over a dense row minus a sparse row.
fn sum_over_mixed(dense: ArrayView1<f64>, sparse: (&[u32], &[f64]), size: impl Fn(f64) -> f64) -> f64 {
    let mut stored = sparse.0.iter().zip(sparse.1).peekable();
    let mut sum = 0.0;
    for (column, value) in dense.iter().enumerate() {
        let other = stored.next_if(|(c, _)| **c as usize == column).map_or(0.0, |(_, v)| *v);
        sum += size(value - other);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn example() -> (Rows, Rows) {
        let dense = array![[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]];
        let sparse = SparseRows::new(3, vec![0, 1, 3, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0]).unwrap();
        (dense.into(), sparse.into())
    }

    #[test]
    fn sparse_and_dense_agree() {
        let (dense, sparse) = example();
        assert_eq!(sparse.to_dense(), dense.to_dense());
        let (a, b) = (dense.moments(), sparse.moments());
        assert!((&a.0 - &b.0).iter().chain((&a.1 - &b.1).iter()).all(|e| e.abs() < 1e-15));
        assert_eq!(sparse.take_rows(&[1, 1, 0]).to_dense(), dense.take_rows(&[1, 1, 0]).to_dense());
        assert_eq!(sparse.take_columns(&[2, 0]).to_dense(), dense.take_columns(&[2, 0]).to_dense());
        assert_eq!(sparse.column(2), dense.column(2));
        for (a, b) in [(&dense, &dense), (&dense, &sparse), (&sparse, &dense), (&sparse, &sparse)] {
            // (0, 2, 0) - (1, 0, 3); cubes keep the sign.
            assert_eq!(a.sum_over_differences(0, b, 1, |e| e * e * e), -1.0 + 8.0 - 27.0);
        }
    }

    #[test]
    fn moments_of_very_large_and_very_small_numbers() {
        let tiny: Rows = array![[1e-310], [3e-310]].into();
        assert!((tiny.moments().1[0] / 1e-310 - 1.0).abs() < 1e-10, "subnormal numbers have lower precision");
        let rows: Rows = array![[1e300, 1e-300, 2.0], [3e300, 3e-300, 6.0]].into();
        let (mean, std) = rows.moments();
        // Decimal constants and a handful of operations: a few ulps.
        for (got, expected) in mean.iter().chain(&std).zip([2e300, 2e-300, 4.0, 1e300, 1e-300, 2.0]) {
            assert!((got / expected - 1.0).abs() < 1e-15, "{got} {expected}");
        }
    }

    #[test]
    fn moments_skip_missing_values() {
        let nan = f64::NAN;
        let dense: Rows = array![[1.0, 0.0, nan], [nan, nan, nan], [5.0, 4.0, nan], [0.0, 2.0, nan]].into();
        let sparse: Rows = SparseRows::new(
            3,
            vec![0, 2, 5, 8, 10],
            vec![0, 2, 0, 1, 2, 0, 1, 2, 1, 2],
            vec![1.0, nan, nan, nan, nan, 5.0, 4.0, nan, 2.0, nan],
        )
        .unwrap()
        .into();
        for rows in [&dense, &sparse] {
            let (mean, std) = rows.moments();
            // 1, 5, 0: mean 2, squares 1 + 9 + 4 over 3; 0, 4, 2: mean 2, squares 8 over 3; no values.
            assert_eq!(mean, array![2.0, 2.0, 0.0]);
            assert!((std[0] - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15, "{std}");
            assert!((std[1] - (8.0_f64 / 3.0).sqrt()).abs() < 1e-15 && std[2] == 0.0, "{std}");
            assert_eq!(rows.n_present().to_vec(), [3, 3, 0]);
            assert_eq!(rows.first_missing(), Some((0, 2)));
        }
    }

    #[test]
    fn the_first_non_finite_cell_is_found() {
        let rows: Rows = array![[0.0, 1.0], [f64::NAN, 2.0]].into();
        let (i, j, v) = rows.first_not_finite().unwrap();
        assert!((i, j) == (1, 0) && v.is_nan());
        assert_eq!(example().1.first_not_finite(), None);
    }
}
