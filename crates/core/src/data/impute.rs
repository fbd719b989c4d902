//! Imputation of missing values.

use super::rows::Rows;
use super::weights::Weights;
use crate::error::{Result, need_columns};
use ndarray::Array1;
use serde::{Deserialize, Serialize};

/// What replaces the missing values of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImputeStrategy {
    /// The median. If more than 1 % of the values are missing, an [`Encoder`](super::Encoder) adds a column that indicates
    /// missing values.
    #[default]
    Auto,
    /// The mean of the values present.
    Mean,
    /// The median of the values present.
    Median,
}

/// Replaces missing values by a statistic of each column of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imputer {
    /// The fill value of each column.
    pub values: Array1<f64>,
    /// Columns without values, which are filled with 0.
    pub empty: Vec<usize>,
}

impl Imputer {
    /// Computes the fill values. Cells that sparse rows do not store count as 0.
    pub fn fit(x: &Rows, strategy: ImputeStrategy) -> Self {
        Self::fit_weighted(x, strategy, Weights::ONE)
    }

    /// As [`Imputer::fit`], with a weight per row.
    pub fn fit_weighted(x: &Rows, strategy: ImputeStrategy, weights: Weights) -> Self {
        let present = x.n_present();
        let values = match (strategy, weights.given()) {
            (ImputeStrategy::Mean, _) => x.weighted_moments(weights).0,
            (ImputeStrategy::Auto | ImputeStrategy::Median, None) => medians(x, &present),
            (ImputeStrategy::Auto | ImputeStrategy::Median, Some(_)) => weighted_medians(x, weights),
        };
        Self { values, empty: (0..x.d()).filter(|&j| present[j] == 0).collect() }
    }

    /// Imputes the missing values of rows with the same columns.
    pub fn apply(&self, x: &Rows) -> Result<Rows> {
        need_columns("columns to impute", self.values.len(), x.d())?;
        Ok(match x {
            Rows::Dense(x) => {
                let mut out = x.to_owned();
                for mut row in out.rows_mut() {
                    row.zip_mut_with(&self.values, |v, fill| *v = if v.is_nan() { *fill } else { *v });
                }
                out.into()
            }
            Rows::Sparse(x) => x.imputed(&self.values).into(),
        })
    }
}

/// The median of the values present in each column; 0 if there are none.
fn medians(x: &Rows, present: &Array1<usize>) -> Array1<f64> {
    let columns: Vec<Vec<f64>> = match x {
        Rows::Dense(x) => {
            x.columns().into_iter().map(|c| c.iter().copied().filter(|v| !v.is_nan()).collect()).collect()
        }
        Rows::Sparse(cells) => {
            let mut columns = vec![vec![]; x.d()];
            cells.cells().filter(|(_, _, v)| !v.is_nan()).for_each(|(_, j, v)| columns[j].push(v));
            columns
        }
    };
    columns.into_iter().zip(present).map(|(values, &present)| median(values, present)).collect()
}

/// The weighted median of the values present in each column; 0 if there are none.
fn weighted_medians(x: &Rows, weights: Weights) -> Array1<f64> {
    let total = x.present_weight(weights);
    let column = |j: usize| {
        let mut values: Vec<(f64, f64)> = match x {
            Rows::Dense(x) => x.column(j).iter().enumerate().map(|(i, &v)| (v, weights.of(i))).collect(),
            Rows::Sparse(_) => vec![],
        };
        values.retain(|(v, _)| !v.is_nan());
        values
    };
    let mut columns: Vec<Vec<(f64, f64)>> = (0..x.d()).map(column).collect();
    if let Rows::Sparse(cells) = x {
        let present = cells.cells().filter(|(_, _, v)| !v.is_nan());
        present.for_each(|(i, j, v)| columns[j].push((v, weights.of(i))));
        for (values, total) in columns.iter_mut().zip(&total) {
            let zeros = total - values.iter().map(|(_, w)| w).sum::<f64>();
            values.extend((zeros > 0.0).then_some((0.0, zeros)));
        }
    }
    columns.iter_mut().map(|values| weighted_median(values).unwrap_or(0.0)).collect()
}

/// The median of values with weights: the mean of the first value up to which there is at least half of the weight, and of the first up
/// to which there is more. `None` without values.
pub(crate) fn weighted_median(values: &mut [(f64, f64)]) -> Option<f64> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, w)| w).sum::<f64>() / 2.0;
    let (mut sum, mut lower) = (0.0, None);
    for (value, weight) in &*values {
        sum += weight;
        if lower.is_none() && sum >= half {
            lower = Some(*value);
        }
        if sum > half {
            // Halve before adding, because the sum of two large numbers may overflow.
            return lower.map(|lower| lower / 2.0 + value / 2.0);
        }
    }
    lower
}

/// The median of `values` and as many zeros as make up `total` numbers.
fn median(mut values: Vec<f64>, total: usize) -> f64 {
    let zeros = total - values.len();
    if total == 0 {
        return 0.0;
    }
    values.sort_unstable_by(f64::total_cmp);
    let below = values.partition_point(|v| *v < 0.0);
    let at = |rank: usize| match rank {
        rank if rank < below => values[rank],
        rank if rank < below + zeros => 0.0,
        rank => values[rank - zeros],
    };
    // Halve before adding, because the sum of two large numbers may overflow.
    at((total - 1) / 2) / 2.0 + at(total / 2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use ndarray::array;

    const NAN: f64 = f64::NAN;

    #[test]
    fn mean_and_median_by_hand() {
        let x: Rows = array![[1.0, NAN, 4.0], [NAN, NAN, 8.0], [7.0, NAN, 0.0], [1.0, NAN, -2.0]].into();
        let mean = Imputer::fit(&x, ImputeStrategy::Mean);
        assert_eq!((mean.values.to_vec(), mean.empty.clone()), (vec![3.0, 0.0, 2.5], vec![1]));
        let median = Imputer::fit(&x, ImputeStrategy::Median);
        assert_eq!((median.values.to_vec(), median.empty), (vec![1.0, 0.0, 2.0], vec![1]));
        let new: Rows = array![[NAN, NAN, 5.0], [2.0, 3.0, NAN]].into();
        assert_eq!(mean.apply(&new).unwrap().to_dense(), array![[3.0, 0.0, 5.0], [2.0, 3.0, 2.5]]);
        assert!(mean.apply(&array![[1.0]].into()).is_err());
    }

    #[test]
    fn weighted_statistics_are_those_of_repeated_rows() {
        let x: Rows = array![[1.0, NAN, 0.0], [NAN, NAN, 8.0], [7.0, 2.0, 0.0], [3.0, -1.0, NAN]].into();
        let repeated = x.take_rows(&[0, 0, 1, 2, 3, 3, 3]);
        let sparse = Rows::from(SparseRows::of(&x.to_dense()));
        let weights = Weights::new(Some(&[2.0, 1.0, 1.0, 3.0]));
        for fill in [ImputeStrategy::Mean, ImputeStrategy::Median] {
            let expected = Imputer::fit(&repeated, fill).values;
            for x in [&x, &sparse] {
                let found = Imputer::fit_weighted(x, fill, weights).values;
                // Roundings of numbers below 10.
                assert!((&found - &expected).iter().all(|e| e.abs() < 1e-14), "{found} {expected}");
            }
        }
        assert_eq!(weighted_median(&mut []), None);
        assert_eq!(weighted_median(&mut [(4.0, 0.5), (1.0, 0.2), (2.0, 0.3)]), Some(3.0));
    }

    #[test]
    fn sparse_rows_stay_sparse_and_their_zeros_count() {
        let x = SparseRows::new(2, vec![0, 2, 3, 4], vec![0, 1, 1, 1], vec![6.0, NAN, -1.0, -3.0]).unwrap();
        let dense: Rows = array![[6.0, NAN], [0.0, -1.0], [0.0, -3.0]].into();
        for fill in [ImputeStrategy::Mean, ImputeStrategy::Median] {
            let imputer = Imputer::fit(&x.clone().into(), fill);
            assert_eq!(imputer, Imputer::fit(&dense, fill));
            let filled = imputer.apply(&x.clone().into()).unwrap();
            assert!(filled.is_sparse());
            assert_eq!(filled.to_dense(), imputer.apply(&dense).unwrap().to_dense());
        }
    }
}
