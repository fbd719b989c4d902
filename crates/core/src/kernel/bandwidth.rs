//! $\gamma$ from the data.

use super::formula::Family;
use crate::data::{Rows, Weights, weighted_median};
use crate::error::{Error, Result};
use crate::random::Rng;
use ndarray::Array1;
use rayon::prelude::*;

/// Rows in the sample whose pairs are used, at most.
pub(crate) const MAX_ROWS: usize = 1000;

/// The median heuristic.
///
/// RBF: $1 / (2 m^2)$ with $m$ the median distance; Laplacian: $1 / m_1$ with $m_1$ the median of $\lVert x-y \rVert_1$;
/// polynomial: one over the median of $\lVert x \rVert^2$, so that products are of order one. Medians are over all pairs
/// of a seeded sample of 1000 rows, without pairs of equal rows.
pub fn median_gamma(family: Family, x: &Rows, seed: u64) -> Result<f64> {
    weighted_median_gamma(family, x, Weights::ONE, seed)
}

/// As [`median_gamma`], with a weight per row; that of a pair is the product.
pub(crate) fn weighted_median_gamma(family: Family, x: &Rows, weights: Weights, seed: u64) -> Result<f64> {
    let rows = Rng::stream(seed, "median").sample(x.n(), MAX_ROWS);
    let sample = x.take_rows(&rows);
    let size = |e: f64| if family == Family::Laplacian { e.abs() } else { e * e };
    let distance = |i: usize, j: usize| sample.sum_over_differences(i, &sample, j, size);
    let mut values: Vec<f64> = if family == Family::Poly {
        let square = |i: usize| match &sample {
            Rows::Dense(x) => x.row(i).iter().map(|v| v * v).sum(),
            Rows::Sparse(x) => x.row(i).1.iter().map(|v| v * v).sum(),
        };
        (0..rows.len()).map(square).collect()
    } else {
        let mut values = vec![0.0; pairs(rows.len())];
        let mut rest = &mut values[..];
        let mut by_row = vec![];
        for i in 1..rows.len() {
            let (row, others) = rest.split_at_mut(i);
            by_row.push(row);
            rest = others;
        }
        by_row.into_par_iter().enumerate().for_each(|(i, row)| {
            (0..).zip(row).for_each(|(j, v)| *v = distance(i + 1, j));
        });
        values
    };
    let median = match weights.of_rows(&rows) {
        None => {
            values.retain(|&v| v > 0.0);
            if values.is_empty() { None } else { Some(median(&mut values)) }
        }
        Some(weights) => {
            let of_pairs = || (1..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let of_values: Vec<f64> = match family {
                Family::Poly => weights,
                _ => of_pairs().map(|(i, j)| weights[i] * weights[j]).collect(),
            };
            let mut pairs: Vec<(f64, f64)> =
                values.into_iter().zip(of_values).filter(|(v, _)| *v > 0.0).collect();
            weighted_median(&mut pairs)
        }
    };
    let Some(median) = median else { return Err(all_rows_equal()) };
    if !median.is_finite() {
        return Err(Error::Breakdown {
            step: "gamma",
            why: "distances between rows overflow; scale the columns".into(),
        });
    }
    Ok(if family == Family::Rbf { 1.0 / (2.0 * median) } else { 1.0 / median })
}

/// Bytes that [`median_gamma`] needs: a sample of the rows and the distances between them.
pub(crate) fn median_bytes(x: &Rows) -> f64 {
    let rows = x.n().min(MAX_ROWS);
    x.bytes_of(rows) + 8.0 * pairs(rows) as f64
}

/// Number of pairs of rows.
fn pairs(rows: usize) -> usize {
    rows * rows.saturating_sub(1) / 2
}

/// scikit-learn's "scale": one over the number of columns times the variance of all values.
pub fn scale_gamma(x: &Rows) -> Result<f64> {
    weighted_scale_gamma(x, Weights::ONE)
}

/// As [`scale_gamma`], with a weight per row.
pub(crate) fn weighted_scale_gamma(x: &Rows, weights: Weights) -> Result<f64> {
    let (mean, std) = x.weighted_moments(weights);
    scale_gamma_of_moments(&mean, &std)
}

/// [`scale_gamma`] from means and standard deviations of all columns.
pub(crate) fn scale_gamma_of_moments(mean: &Array1<f64>, std: &Array1<f64>) -> Result<f64> {
    let d = mean.len() as f64;
    let center = mean.sum() / d;
    let total = std.mapv(|s| s * s).sum() / d + mean.mapv(|m| (m - center).powi(2)).sum() / d;
    if total > 0.0 { Ok(1.0 / (d * total)) } else { Err(all_rows_equal()) }
}

fn all_rows_equal() -> Error {
    Error::Breakdown {
        step: "gamma",
        why: "all rows are equal, so gamma cannot be estimated; give gamma as a number, or check the columns"
            .into(),
    }
}

/// The median, of an even number of values the mean of the middle two.
fn median(values: &mut [f64]) -> f64 {
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (lower + upper) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn medians_by_hand() {
        // Distances 1, 3 and 4; squares 1, 9 and 16.
        let x: Rows = array![[0.0], [1.0], [4.0]].into();
        assert_eq!(median_gamma(Family::Rbf, &x, 0).unwrap(), 1.0 / 18.0);
        assert_eq!(median_gamma(Family::Laplacian, &x, 0).unwrap(), 1.0 / 3.0);
        // Squared norms 1 and 16; 0 is excluded.
        assert_eq!(median_gamma(Family::Poly, &x, 0).unwrap(), 1.0 / 8.5);
    }

    #[test]
    fn sparse_rows_have_bitwise_equal_medians() {
        let mut rng = Rng::new(4);
        let draw = || if rng.uniform() < 0.7 { 0.0 } else { rng.normal() };
        let dense = ndarray::Array2::from_shape_simple_fn((40, 9), draw);
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for row in dense.rows() {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(j as u32);
                value.push(*v);
            }
            start.push(column.len());
        }
        let sparse: Rows = crate::data::SparseRows::new(9, start, column, value).unwrap().into();
        for family in [Family::Rbf, Family::Laplacian, Family::Poly] {
            let of = |x: &Rows| median_gamma(family, x, 0).unwrap();
            assert_eq!(of(&sparse), of(&dense.clone().into()), "{family:?}");
        }
    }

    #[test]
    fn scale_is_based_on_the_variance_of_all_values() {
        // Values 0, 2, 2, 4: mean 2, variance 2.
        let x: Rows = array![[0.0, 2.0], [2.0, 4.0]].into();
        assert_eq!(scale_gamma(&x).unwrap(), 1.0 / 4.0);
    }

    #[test]
    fn equal_rows_have_no_gamma() {
        let x: Rows = array![[1.0, 2.0], [1.0, 2.0]].into();
        assert!(median_gamma(Family::Rbf, &x, 0).unwrap_err().to_string().contains("all rows are equal"));
        let constant: Rows = array![[1.0, 1.0], [1.0, 1.0]].into();
        assert!(scale_gamma(&constant).is_err());
    }
}
