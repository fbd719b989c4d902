//! Low-rank factors of the kernel matrix of one column.
//!
//! On a single column the eigenvalues of the Gaussian kernel $k(a, b) = \exp(-\gamma (a - b)^2)$ decay geometrically: a
//! pivoted Cholesky factorization of rank $r \approx 20$ omits about $10^{-12}$ of the trace for any number of rows $n$. It
//! costs $n r$ exponentials and $n r^2$ multiplications, and needs no $n \times n$ matrix.
//!
//! Equal values have equal rows in the factor, so only distinct values are factored, weighted by their counts, in ascending
//! order. The result does not depend on the order of the rows, and a column of three distinct values has rank three.
//! Several columns, such as the indicators of a category, are factored by their distinct rows.

use crate::data::Weights;
use crate::simd::{add_combination, dot, exp_scaled, scale_and_reduce, squared_distances};
use ndarray::{Array2, ShapeBuilder};
use std::cmp::Ordering;

/// Residuals below this are rounding errors of 1.
const ROUNDING: f64 = 1e-14;

/// A factor $F$ with $F F^\top \approx K$, $K_{ij} = \exp(-\gamma (a_i - a_j)^2)$ over the values of one column,
/// laid out by columns: $K - F F^\top$ is positive semidefinite and its trace at most `tolerance` times $n$.
///
/// Values must be finite.
pub fn column_factor(values: &[f64], gamma: f64, tolerance: f64) -> Array2<f64> {
    weighted_column_factor(values, Weights::ONE, gamma, tolerance)
}

/// As [`column_factor`], with weights of the rows in the trace.
pub(crate) fn weighted_column_factor(
    values: &[f64],
    weights: Weights,
    gamma: f64,
    tolerance: f64,
) -> Array2<f64> {
    let distinct = DistinctValues::of(values, weights);
    distinct.expand(&distinct.factor(gamma, tolerance))
}

/// As [`weighted_column_factor`], over the rows of columns of `n` values each, one after another, with rank at most `most`.
pub(crate) fn weighted_rows_factor(
    cells: &[f64],
    n: usize,
    weights: Weights,
    gamma: f64,
    (tolerance, most): (f64, usize),
) -> Array2<f64> {
    let distinct = DistinctValues::of_rows(cells, n, weights);
    distinct.expand(&factor_distinct(&distinct.values, &distinct.counts, gamma, (tolerance, most)))
}

/// The distinct values of a column, or the distinct rows of several.
pub(crate) struct DistinctValues {
    /// In ascending order; several columns one after another.
    values: Vec<f64>,
    /// Number of rows with each value, or their weight.
    pub counts: Vec<f64>,
    /// Index of each row's value.
    pub index: Vec<u32>,
}

impl DistinctValues {
    pub fn of(column: &[f64], weights: Weights) -> Self {
        let mut cells: Vec<(f64, u32)> = column.iter().copied().zip(0..).collect();
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut values, mut counts) = (Vec::<f64>::new(), Vec::<f64>::new());
        let mut index = vec![0; column.len()];
        for (value, row) in cells {
            if values.last() != Some(&value) {
                values.push(value);
                counts.push(0.0);
            }
            counts[values.len() - 1] += weights.of(row as usize);
            index[row as usize] = (values.len() - 1) as u32;
        }
        Self { values, counts, index }
    }

    /// The distinct rows of columns of `n` values each, one after another.
    pub fn of_rows(cells: &[f64], n: usize, weights: Weights) -> Self {
        if cells.len() == n {
            return Self::of(cells, weights);
        }
        let columns: Vec<&[f64]> = cells.chunks_exact(n.max(1)).collect();
        // Adding 0 turns -0 into 0.
        let compare = |column: &&[f64], a: u32, b: u32| {
            (column[a as usize] + 0.0).total_cmp(&(column[b as usize] + 0.0))
        };
        let order = |a: u32, b: u32| {
            let mut columns = columns.iter().map(|column| compare(column, a, b));
            columns.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        let mut rows: Vec<u32> = (0..n as u32).collect();
        rows.sort_unstable_by(|&a, &b| order(a, b));
        let (mut first, mut counts) = (Vec::<u32>::new(), Vec::<f64>::new());
        let mut index = vec![0; n];
        for row in rows {
            if first.last().is_none_or(|&last| order(last, row).is_ne()) {
                first.push(row);
                counts.push(0.0);
            }
            counts[first.len() - 1] += weights.of(row as usize);
            index[row as usize] = (first.len() - 1) as u32;
        }
        let values =
            columns.iter().flat_map(|column| first.iter().map(|&row| column[row as usize])).collect();
        Self { values, counts, index }
    }

    /// The factor over the distinct values, by columns.
    pub fn factor(&self, gamma: f64, tolerance: f64) -> Vec<f64> {
        factor_distinct(&self.values, &self.counts, gamma, (tolerance, usize::MAX))
    }

    /// The factor with one row per row of the column.
    fn expand(&self, factor: &[f64]) -> Array2<f64> {
        let (n, height) = (self.index.len(), self.counts.len());
        let rank = factor.len().checked_div(height).unwrap_or(0);
        let mut out = Vec::with_capacity(n * rank);
        for column in factor.chunks_exact(height.max(1)) {
            out.extend(self.index.iter().map(|&p| column[p as usize]));
        }
        Array2::from_shape_vec((n, rank).f(), out).expect("n x rank values")
    }
}

/// Pivoted Cholesky factorization over distinct values in ascending order, or over distinct rows of several columns, weighted
/// by `counts`; it stops at a fraction of the trace or at a rank.
fn factor_distinct(values: &[f64], counts: &[f64], gamma: f64, (tolerance, most): (f64, usize)) -> Vec<f64> {
    let height = counts.len();
    let mut factor: Vec<f64> = vec![];
    let mut residual = vec![1.0; height];
    let rows: f64 = counts.iter().sum();
    let mut trace = rows;
    let mut weights = vec![];
    // All residuals are equal at first: start with the median.
    let mut pivot = height / 2;
    for rank in 0..height.min(most) {
        if trace <= tolerance * rows || residual[pivot] <= ROUNDING {
            break;
        }
        let start = factor.len();
        factor.resize(start + height, 0.0);
        let (before, column) = factor.split_at_mut(start);
        let row: Vec<f64> = values.chunks_exact(height).map(|column| column[pivot]).collect();
        squared_distances(column, values, height, &row);
        exp_scaled(column, -gamma);
        weights.clear();
        weights.extend((0..rank).map(|k| -before[k * height + pivot]));
        add_combination(column, before, height, &weights);
        let (_, most) = scale_and_reduce(column, 1.0 / residual[pivot].sqrt(), &mut residual);
        // The pivot's residual is rounding error; it must not be chosen again.
        residual[pivot] = 0.0;
        trace = dot(&residual, counts);
        pivot = residual.iter().position(|r| *r == most).unwrap_or(pivot);
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn residual_of(values: &[f64], gamma: f64, factor: &Array2<f64>) -> (f64, f64) {
        let (mut trace, mut worst) = (0.0, 0.0_f64);
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                let k = (-gamma * (a - b).powi(2)).exp();
                let residual = k - factor.row(i).dot(&factor.row(j));
                worst = worst.max(residual.abs());
                trace += if i == j { residual } else { 0.0 };
            }
        }
        (trace, worst)
    }

    #[test]
    fn factor_computed_by_hand() {
        // Two values a distance of 1 apart: the middle of (0, 1) is 1, so F = [[e, sqrt(1 - e^2)], [1, 0]], e =
        // exp(-1/2).
        let f = column_factor(&[0.0, 1.0], 0.5, 0.0);
        let e = (-0.5_f64).exp();
        let expected = ndarray::array![[e, (1.0 - e * e).sqrt()], [1.0, 0.0]];
        assert!((&f - &expected).iter().all(|x| x.abs() < 1e-15), "{f}");
    }

    #[test]
    fn residual_trace_is_within_the_tolerance() {
        let mut rng = Rng::new(1);
        let values: Vec<f64> = (0..300).map(|_| rng.normal()).collect();
        let mut ranks = vec![];
        for tolerance in [1e-2, 1e-6, 1e-10] {
            let f = column_factor(&values, 0.5, tolerance);
            let (trace, worst) = residual_of(&values, 0.5, &f);
            assert!((-1e-12..=tolerance * 300.0 * (1.0 + 1e-9)).contains(&trace), "{tolerance}: {trace}");
            // An entry of a semidefinite matrix is no larger than its trace; rounding adds some ulps.
            assert!(worst <= trace + 1e-12, "{tolerance}: {worst}");
            ranks.push(f.ncols());
        }
        assert!(ranks.is_sorted() && ranks[1] < 20 && ranks[2] < 30, "{ranks:?}");
    }

    #[test]
    fn rank_is_the_number_of_distinct_values() {
        let values: Vec<f64> = (0..90).map(|i| [-2.0, 0.0, 2.0][i * i % 7 % 3]).collect();
        let f = column_factor(&values, 0.5, 1e-12);
        assert_eq!(f.ncols(), 3);
        // Rounding of numbers of order one.
        assert!(residual_of(&values, 0.5, &f).1 < 1e-15);
        assert_eq!(column_factor(&[7.0; 5], 0.5, 1e-6), Array2::<f64>::ones((5, 1)));
        assert_eq!(column_factor(&[0.0, -0.0], 0.5, 1e-6), Array2::<f64>::ones((2, 1)));
        assert_eq!(column_factor(&[], 0.5, 1e-6).dim(), (0, 0));
        // Values far apart each add a rank.
        assert_eq!(column_factor(&[-1e200, 0.0, 1e200], 0.5, 0.0).ncols(), 3);
        // A tolerance below rounding error still terminates.
        let near: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e-9).collect();
        assert!(column_factor(&near, 0.5, 0.0).ncols() < 5);
    }

    #[test]
    fn distinct_rows_of_several_columns() {
        // Rows (1, 0), (0, 1), (1, 0), (0, -0), (0, 0).
        let cells = [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -0.0, 0.0];
        let distinct = DistinctValues::of_rows(&cells, 5, Weights::ONE);
        assert_eq!((&distinct.counts[..], &distinct.index[..]), (&[2.0, 1.0, 2.0][..], &[2, 1, 2, 0, 0][..]));
        let factor = distinct.expand(&distinct.factor(0.3, 0.0));
        assert_eq!(factor.dim(), (5, 3));
        for i in 0..5 {
            for k in 0..5 {
                let distance = (cells[i] - cells[k]).powi(2) + (cells[5 + i] - cells[5 + k]).powi(2);
                let kernel = (-0.3 * distance).exp();
                // Rounding of numbers of order one.
                assert!((factor.row(i).dot(&factor.row(k)) - kernel).abs() < 1e-14, "{i} {k}");
            }
        }
        assert_eq!(DistinctValues::of_rows(&[2.0, 1.0, 2.0], 3, Weights::ONE).values, [1.0, 2.0]);
    }

    #[test]
    fn factor_does_not_depend_on_the_order_of_rows() {
        let mut rng = Rng::new(2);
        let values: Vec<f64> = (0..100).map(|_| (3.0 * rng.normal()).round() / 2.0).collect();
        let mut order: Vec<usize> = (0..100).collect();
        rng.shuffle(&mut order);
        let moved: Vec<f64> = order.iter().map(|&i| values[i]).collect();
        let (f, g) = (column_factor(&values, 0.3, 1e-6), column_factor(&moved, 0.3, 1e-6));
        assert_eq!(f.select(ndarray::Axis(0), &order), g);
    }
}
