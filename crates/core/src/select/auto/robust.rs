//! Features and targets without outliers: a few extreme rows would otherwise determine every distance and every squared error.

use crate::data::{Dataset, Rows, Target, mean_rank, outer_fences};
use crate::error::Result;
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;

/// Replaces columns that have values beyond the outer fences in the training rows by ranks with mean 0 and variance 1.
pub(super) struct StandardizedRanks {
    /// The sorted training values of each such column.
    columns: Vec<Option<Vec<f64>>>,
}

impl StandardizedRanks {
    /// Learns from encoded training rows. Sparse rows stay as they are.
    pub fn fit(x: &Rows) -> Self {
        let columns = match x {
            Rows::Dense(x) => x.axis_iter(Axis(1)).into_par_iter().map(with_outliers).collect(),
            Rows::Sparse(_) => vec![],
        };
        Self { columns }
    }

    /// Transforms encoded rows with the same columns.
    pub fn apply(&self, rows: Rows) -> Rows {
        if self.columns.iter().all(Option::is_none) {
            return rows;
        }
        let mut x: Array2<f64> = rows.into_dense();
        x.axis_iter_mut(Axis(1)).into_par_iter().zip(&self.columns).for_each(|(mut column, sorted)| {
            if let Some(sorted) = sorted {
                column.mapv_inplace(|v| rank(sorted, v));
            }
        });
        x.into()
    }

    /// Transforms encoded data.
    pub fn apply_to(&self, data: Dataset) -> Result<Dataset> {
        if self.columns.iter().all(Option::is_none) {
            return Ok(data);
        }
        let (names, groups, target) = (data.names().to_vec(), data.groups(), data.target().clone());
        Dataset::encoded(names, self.apply(data.into_x()).into_dense(), groups, target)
    }
}

/// The sorted values of a column that has outliers.
fn with_outliers(column: ArrayView1<f64>) -> Option<Vec<f64>> {
    let (low, high) = outer_fences(column.iter().copied())?;
    if column.iter().all(|v| (low..=high).contains(v)) {
        return None;
    }
    let mut sorted = column.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// The rank of a value among training values as a number from $-\sqrt 3$ to $\sqrt 3$; equal values have their mean rank.
fn rank(sorted: &[f64], v: f64) -> f64 {
    12_f64.sqrt() * ((mean_rank(sorted, v) - 0.5) / sorted.len() as f64 - 0.5)
}

/// The data with a continuous target whose outliers are at the outer fences; `None` if it has none.
pub(super) fn with_clipped_target(data: &Dataset) -> Result<Option<Dataset>> {
    let Target::Continuous(y) = data.target() else { return Ok(None) };
    let Some((low, high)) = outer_fences(y.iter().copied()) else { return Ok(None) };
    if y.iter().all(|v| (low..=high).contains(v)) {
        return Ok(None);
    }
    let y = y.iter().map(|v| v.clamp(low, high)).collect();
    let mut clipped = data.clone();
    clipped.set_target(Target::Continuous(y))?;
    Ok(Some(clipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_outliers_become_ranks() {
        // 0, ..., 100, with 1000 in place of 100 in the first column: quartiles 25 and 75, fences -125 and 225.
        let value = |i: usize, j: usize| if (i, j) == (100, 0) { 1000.0 } else { i as f64 };
        let train = Dataset::unlabeled(Array2::from_shape_fn((101, 2), |(i, j)| value(i, j))).unwrap();
        let ranks = StandardizedRanks::fit(train.x());
        let x = ranks.apply_to(train.clone()).unwrap().x().to_dense();
        assert_eq!(x.column(1), train.x().to_dense().column(1));
        let largest = 12_f64.sqrt() * (100.5 / 101.0 - 0.5);
        assert_eq!((x[[50, 0]], x[[100, 0]]), (0.0, largest));
        // The variance of n equally spaced ranks is 1 - 1 / n^2.
        let variance = x.column(0).mapv(|v| v * v).sum() / 101.0;
        assert!((variance - 1.0 + 1.0 / 101_f64.powi(2)).abs() < 1e-12, "{variance}");
        let new = ranks.apply(ndarray::array![[1e9, 1e9]].into()).into_dense();
        assert_eq!((new[[0, 0]], new[[0, 1]]), (3_f64.sqrt(), 1e9));
    }

    #[test]
    fn targets_without_outliers_stay() {
        let data =
            |y: Vec<f64>| Dataset::with_target(Array2::zeros((y.len(), 1)), Target::Continuous(y)).unwrap();
        let mut y: Vec<f64> = (0..101).map(f64::from).collect();
        assert!(with_clipped_target(&data(y.clone())).unwrap().is_none());
        y[100] = 1000.0;
        let found = with_clipped_target(&data(y)).unwrap().unwrap();
        let Target::Continuous(y) = found.target() else { panic!() };
        assert_eq!((y[99], y[100]), (99.0, 225.0));
    }
}
