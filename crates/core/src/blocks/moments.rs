//! Means and sums of squared deviations by group, which can be added.

use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// Counts, means and sums of squared deviations of every column, for each group of rows.
///
/// Two groups of $a$ and $b$ rows with means $\mu_a, \mu_b$ have together the sum of squares $Q_a + Q_b + (\mu_b - \mu_a)^2 a b /
/// (a + b)$, without the cancellation of a sum of squares less the square of a sum (Chan, Golub and LeVeque, 1979). Columns are in
/// units of a power of two near their largest value, so that squares neither overflow nor underflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Rows of each group.
    counts: Vec<f64>,
    /// The unit of each column.
    unit: Vec<f64>,
    /// A row per group, in units.
    mean: Array2<f64>,
    /// Sums of squared deviations from the mean of the group, in squared units.
    squares: Array2<f64>,
}

impl Moments {
    /// The moments of the rows of `x` by group; `codes` is empty if there is one group.
    pub fn of(x: ArrayView2<f64>, codes: &[usize], n_groups: usize) -> Self {
        let d = x.ncols();
        let mut largest = vec![0.0_f64; d];
        for row in x.rows() {
            largest.iter_mut().zip(row).for_each(|(a, v)| *a = a.max(v.abs()));
        }
        let unit: Vec<f64> = largest.into_iter().map(unit_of).collect();
        let scale: Vec<f64> = unit.iter().map(|u| u.recip()).collect();
        let group = |i: usize| codes.get(i).copied().unwrap_or(0);
        let mut counts = vec![0.0; n_groups];
        let (mut mean, mut squares) =
            (Array2::<f64>::zeros((n_groups, d)), Array2::<f64>::zeros((n_groups, d)));
        for (i, row) in x.rows().into_iter().enumerate() {
            counts[group(i)] += 1.0;
            let sums = mean.row_mut(group(i)).into_slice().expect("rows are contiguous");
            sums.iter_mut().zip(row).zip(&scale).for_each(|((sum, v), s): ((&mut f64, _), _)| *sum += v * s);
        }
        for (mut mean, &count) in mean.rows_mut().into_iter().zip(&counts) {
            mean /= if count > 0.0 { count } else { 1.0 };
        }
        // Deviations from the means: a constant has none only after their own mean, a rounding error, is taken off.
        let mut rest = Array2::<f64>::zeros((n_groups, d));
        for (i, row) in x.rows().into_iter().enumerate() {
            let mean = mean.row(group(i)).to_slice().expect("rows are contiguous");
            let sums: &mut [f64] = squares.row_mut(group(i)).into_slice().expect("rows are contiguous");
            let rest: &mut [f64] = rest.row_mut(group(i)).into_slice().expect("rows are contiguous");
            for ((((sum, rest), v), s), m) in sums.iter_mut().zip(rest).zip(row).zip(&scale).zip(mean) {
                let deviation = v * s - m;
                *rest += deviation;
                *sum += deviation * deviation;
            }
        }
        for (group, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            for j in 0..d {
                let shift = rest[[group, j]] / count;
                mean[[group, j]] += shift;
                squares[[group, j]] = (squares[[group, j]] - count * shift * shift).max(0.0);
            }
        }
        Self { counts, unit, mean, squares }
    }

    /// Adds the moments of other rows.
    pub fn add(&mut self, other: &Self) {
        for j in 0..self.unit.len() {
            let unit = self.unit[j].max(other.unit[j]);
            let (r, s) = (self.unit[j] / unit, other.unit[j] / unit);
            for (c, (&a, &b)) in self.counts.iter().zip(&other.counts).enumerate() {
                let (mean, squares) = (self.mean[[c, j]] * r, self.squares[[c, j]] * (r * r));
                (self.mean[[c, j]], self.squares[[c, j]]) = (mean, squares);
                if b > 0.0 {
                    let delta = other.mean[[c, j]] * s - mean;
                    self.mean[[c, j]] += delta * (b / (a + b));
                    self.squares[[c, j]] +=
                        other.squares[[c, j]] * (s * s) + delta * delta * (a * b / (a + b));
                }
            }
            self.unit[j] = unit;
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(a, b)| *a += b);
    }

    /// Memory in bytes.
    pub fn bytes(d: usize, n_groups: usize) -> f64 {
        8.0 * (d * (2 * n_groups + 1) + n_groups) as f64
    }

    /// Rows of each group.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Of a column: the sums of squares between and within groups, in squared units, the mean and the standard deviation.
    pub fn column(&self, j: usize) -> ColumnMoments {
        let n: f64 = self.counts.iter().sum();
        let mean = self.counts.iter().zip(self.mean.column(j)).map(|(count, m)| count * m).sum::<f64>() / n;
        let deviation = |(count, m): (&f64, &f64)| count * (m - mean).powi(2);
        let between: f64 = self.counts.iter().zip(self.mean.column(j)).map(deviation).sum();
        let within: f64 = self.squares.column(j).sum();
        let std = (((between + within) / n).sqrt() * self.unit[j]).min(f64::MAX);
        ColumnMoments { between, within, mean: mean * self.unit[j], std }
    }

    /// Means and standard deviations of all columns.
    pub fn standard(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        let all: Vec<ColumnMoments> = (0..self.unit.len()).map(|j| self.column(j)).collect();
        if all.iter().any(|column| !(column.mean.is_finite() && column.std.is_finite())) {
            let why = "the sums of a column overflow; scale the features".into();
            return Err(Error::Breakdown { step: "moments", why });
        }
        Ok(all.into_iter().map(|column| (column.mean, column.std)).unzip())
    }
}

/// Moments of a column.
#[derive(Debug, Clone, Copy)]
pub struct ColumnMoments {
    /// The sum of squares between groups, relative to that within.
    pub between: f64,
    /// The sum of squares within groups.
    pub within: f64,
    /// The mean of all rows.
    pub mean: f64,
    /// The standard deviation of all rows, with divisor n.
    pub std: f64,
}

/// A power of two near a number; the smallest one for 0, which any other unit replaces.
fn unit_of(largest: f64) -> f64 {
    let exponent = if largest > 0.0 { largest.log2().floor() } else { -1022.0 };
    2.0_f64.powi((exponent as i32).clamp(-1022, 1022))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use ndarray::{Array2, array, s};

    #[test]
    fn sums_of_blocks_are_the_moments_of_all_rows() {
        let mut rng = crate::random::Rng::new(8);
        let scale = [1.0, 1e-300, 1e300, 1.0, 0.0];
        // The fourth column has a large mean; the fifth is zero.
        let x = Array2::from_shape_fn((200, 5), |(_, j)| {
            (rng.normal() * scale[j]).clamp(-1e307, 1e307) + if j == 3 { 1e6 } else { 0.0 }
        });
        let mut total = Moments::of(x.slice(s![..3, ..]), &[], 1);
        for first in (3..200).step_by(30) {
            total.add(&Moments::of(x.slice(s![first..200.min(first + 30), ..]), &[], 1));
        }
        let (mean, std) = Rows::from(x).moments();
        let (found_mean, found_std) = total.standard().unwrap();
        for j in 0..4 {
            // Two hundred terms; a mean of a million standard deviations costs six digits.
            let tolerance = if j == 3 { 1e-8 } else { 1e-12 };
            assert!((found_std[j] / std[j] - 1.0).abs() < tolerance, "{j}");
            assert!((found_mean[j] - mean[j]).abs() < 1e-13 * std[j].max(mean[j].abs()), "{j}");
        }
        assert_eq!((found_mean[4], found_std[4]), (0.0, 0.0));
    }

    #[test]
    fn a_constant_has_no_deviation() {
        // The sum of ten thousand times 0.1 is not 1000.
        let codes: Vec<usize> = (0..10_100).map(|i| usize::from(i >= 10_000)).collect();
        let found = Moments::of(Array2::from_elem((10_100, 1), 0.1).view(), &codes, 2).column(0);
        assert!(crate::data::is_constant(found.mean, found.std), "{}", found.std);
    }

    #[test]
    fn groups_by_hand() {
        // Groups {0, 2} and {4, 6}: means 1 and 5 around 3, between 2 * 4 + 2 * 4 = 16, within 4; in units of 4.
        let x = array![[0.0], [2.0], [4.0], [6.0]];
        let mut total = Moments::of(x.slice(s![..1, ..]), &[0], 2);
        total.add(&Moments::of(x.slice(s![1.., ..]), &[0, 1, 1], 2));
        let column = total.column(0);
        assert_eq!(
            (column.between / column.within, column.mean, total.counts()),
            (4.0, 3.0, &[2.0, 2.0][..])
        );
        assert!((column.std - 5.0_f64.sqrt()).abs() < 1e-15);
    }
}
