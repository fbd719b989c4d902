//! Filling gaps with what is usual for a column.

use super::rows::Rows;
use crate::error::{Result, need_columns};
use ndarray::Array1;
use serde::{Deserialize, Serialize};

/// What gaps are filled with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImputeStrategy {
    /// The mean of the known cells.
    #[default]
    Mean,
    /// Their median; of an even number the mean of the two in the middle.
    Median,
}

/// A number for every column, learned from training rows, that stands in for its gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imputer {
    /// What gaps of each column become.
    pub values: Array1<f64>,
    /// The columns without any known cell, whose gaps become 0.
    pub unknown: Vec<usize>,
}

impl Imputer {
    /// Learns from the known cells; those that sparse rows leave out are known to be 0.
    pub fn fit(x: &Rows, fill: ImputeStrategy) -> Self {
        let known = x.known();
        let values = match fill {
            ImputeStrategy::Mean => x.moments().0,
            ImputeStrategy::Median => medians(x, &known),
        };
        Self { values, unknown: (0..x.d()).filter(|&j| known[j] == 0).collect() }
    }

    /// Fills the gaps of rows of as many columns.
    pub fn apply(&self, x: &Rows) -> Result<Rows> {
        need_columns("columns to fill", self.values.len(), x.d())?;
        Ok(match x {
            Rows::Dense(x) => {
                let mut out = x.to_owned();
                for mut row in out.rows_mut() {
                    row.zip_mut_with(&self.values, |v, fill| *v = if v.is_nan() { *fill } else { *v });
                }
                out.into()
            }
            Rows::Sparse(x) => x.filled(&self.values).into(),
        })
    }
}

/// The median of the known cells of each column, 0 where there are none.
fn medians(x: &Rows, known: &Array1<usize>) -> Array1<f64> {
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
    columns.into_iter().zip(known).map(|(values, &known)| median(values, known)).collect()
}

/// The median of `total` numbers, of which those that are not given are zeros.
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
    // Halves first: a sum of two large numbers may be none.
    at((total - 1) / 2) / 2.0 + at(total / 2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use ndarray::array;

    const GAP: f64 = f64::NAN;

    #[test]
    fn by_hand() {
        let x: Rows = array![[1.0, GAP, 4.0], [GAP, GAP, 8.0], [7.0, GAP, 0.0], [1.0, GAP, -2.0]].into();
        let mean = Imputer::fit(&x, ImputeStrategy::Mean);
        assert_eq!((mean.values.to_vec(), mean.unknown.clone()), (vec![3.0, 0.0, 2.5], vec![1]));
        let median = Imputer::fit(&x, ImputeStrategy::Median);
        assert_eq!((median.values.to_vec(), median.unknown), (vec![1.0, 0.0, 2.0], vec![1]));
        let new: Rows = array![[GAP, GAP, 5.0], [2.0, 3.0, GAP]].into();
        assert_eq!(mean.apply(&new).unwrap().to_dense(), array![[3.0, 0.0, 5.0], [2.0, 3.0, 2.5]]);
        assert!(mean.apply(&array![[1.0]].into()).is_err());
    }

    #[test]
    fn sparse_rows_stay_sparse_and_their_zeros_count() {
        let x = SparseRows::new(2, vec![0, 2, 3, 4], vec![0, 1, 1, 1], vec![6.0, GAP, -1.0, -3.0]).unwrap();
        let dense: Rows = array![[6.0, GAP], [0.0, -1.0], [0.0, -3.0]].into();
        for fill in [ImputeStrategy::Mean, ImputeStrategy::Median] {
            let imputer = Imputer::fit(&x.clone().into(), fill);
            assert_eq!(imputer, Imputer::fit(&dense, fill));
            let filled = imputer.apply(&x.clone().into()).unwrap();
            assert!(filled.is_sparse());
            assert_eq!(filled.to_dense(), imputer.apply(&dense).unwrap().to_dense());
        }
    }
}
