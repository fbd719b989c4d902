//! Features and targets without outliers: a few extreme rows would otherwise determine every distance and every squared error.

use crate::data::{Dataset, Rows, Target, mean_rank, outer_fences};
use crate::error::Result;
use ndarray::{Array2, ArrayView1, Axis};
use rayon::prelude::*;

/// A column has heavy tails if more than this fraction of its values are beyond the outer fences.
const HEAVY: f64 = 0.1;

/// Moves outliers of the training rows to the outer fences, and replaces columns with heavy tails by ranks. Both then have mean 0
/// and variance 1.
pub(super) struct Robust {
    columns: Vec<Option<Change>>,
}

/// What happens to a column with values beyond the outer fences.
enum Change {
    Clip {
        fences: (f64, f64),
        mean: f64,
        deviation: f64,
    },
    /// Ranks among the sorted training values.
    Ranks(Vec<f64>),
}

impl Change {
    /// `None` for a column without outliers.
    fn fit(column: ArrayView1<f64>) -> Option<Self> {
        let fences = outer_fences(column.iter().copied())?;
        let beyond = column.iter().filter(|v| !(fences.0..=fences.1).contains(*v)).count();
        if beyond == 0 {
            return None;
        }
        if beyond as f64 > HEAVY * column.len() as f64 {
            let mut sorted = column.to_vec();
            sorted.sort_unstable_by(f64::total_cmp);
            return Some(Self::Ranks(sorted));
        }
        let clipped = column.mapv(|v| v.clamp(fences.0, fences.1));
        Some(Self::Clip { fences, mean: clipped.sum() / column.len() as f64, deviation: clipped.std(0.0) })
    }

    fn apply(&self, v: f64) -> f64 {
        match self {
            Self::Clip { fences, mean, deviation } => (v.clamp(fences.0, fences.1) - mean) / deviation,
            Self::Ranks(sorted) => rank(sorted, v),
        }
    }
}

impl Robust {
    /// Learns from encoded training rows. Sparse rows stay as they are.
    pub fn fit(x: &Rows) -> Self {
        let columns = match x {
            Rows::Dense(x) => x.axis_iter(Axis(1)).into_par_iter().map(Change::fit).collect(),
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
        x.axis_iter_mut(Axis(1)).into_par_iter().zip(&self.columns).for_each(|(mut column, change)| {
            if let Some(change) = change {
                column.mapv_inplace(|v| change.apply(v));
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
    fn outliers_move_to_the_fences() {
        // 0, ..., 100, with 1000 in place of 100 in the first column: quartiles 25 and 75, fences -125 and 225.
        let value = |i: usize, j: usize| if (i, j) == (100, 0) { 1000.0 } else { i as f64 };
        let train = Dataset::unlabeled(Array2::from_shape_fn((101, 2), |(i, j)| value(i, j))).unwrap();
        let robust = Robust::fit(train.x());
        let x = robust.apply_to(train.clone()).unwrap().x().to_dense();
        assert_eq!(x.column(1), train.x().to_dense().column(1));
        let mean = (99.0 * 50.0 + 225.0) / 101.0;
        let squares = (0..100).map(|i| f64::from(i * i)).sum::<f64>() + 225.0 * 225.0;
        let deviation = (squares / 101.0 - mean * mean).sqrt();
        // Ten roundings.
        assert!((x[[3, 0]] - (3.0 - mean) / deviation).abs() < 1e-14);
        assert!((x[[100, 0]] - (225.0 - mean) / deviation).abs() < 1e-14);
        let new = robust.apply(ndarray::array![[1e9, 1e9]].into()).into_dense();
        assert_eq!((new[[0, 0]], new[[0, 1]]), (x[[100, 0]], 1e9));
    }

    #[test]
    fn columns_with_heavy_tails_become_ranks() {
        // Quartiles 25 and 75; 12 of 101 values are beyond the fence at 225.
        let value = |i: usize| if i < 89 { i as f64 } else { 1000.0 * i as f64 };
        let train = Dataset::unlabeled(Array2::from_shape_fn((101, 1), |(i, _)| value(i))).unwrap();
        let robust = Robust::fit(train.x());
        let x = robust.apply_to(train).unwrap().x().to_dense();
        let largest = 12_f64.sqrt() * (100.5 / 101.0 - 0.5);
        assert_eq!((x[[50, 0]], x[[100, 0]]), (0.0, largest));
        // The variance of n equally spaced ranks is 1 - 1 / n^2.
        let variance = x.mapv(|v| v * v).sum() / 101.0;
        assert!((variance - 1.0 + 1.0 / 101_f64.powi(2)).abs() < 1e-12, "{variance}");
        assert_eq!(robust.apply(ndarray::array![[1e9]].into()).into_dense()[[0, 0]], 3_f64.sqrt());
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
