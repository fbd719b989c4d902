//! k-nearest neighbors regression.

use crate::classify::check_neighbors;
use crate::context::Context;
use crate::error::{Result, need_columns};
use crate::neighbors::nearest;
use ndarray::ArrayView2;

/// For each new row, the mean of `y` over its nearest rows among `points`.
pub fn nearest_mean(
    points: ArrayView2<f64>,
    y: &[f64],
    new: ArrayView2<f64>,
    n_neighbors: usize,
    ctx: &Context,
) -> Result<Vec<f64>> {
    check_neighbors("nearest neighbors", n_neighbors, points.nrows())?;
    need_columns("columns of the rows to predict", points.ncols(), new.ncols())?;
    let found = nearest(points, new, n_neighbors, None, ctx)?;
    Ok(found.iter().map(|near| near.iter().map(|n| y[n.row]).sum::<f64>() / near.len() as f64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn predicts_the_mean_of_the_nearest_rows() {
        let (points, y) = (array![[0.0], [1.0], [5.0]], [2.0, 4.0, 9.0]);
        let ctx = Context::default();
        let predict = |k| nearest_mean(points.view(), &y, array![[0.2], [9.0]].view(), k, &ctx);
        assert_eq!(predict(1).unwrap(), [2.0, 9.0]);
        assert_eq!(predict(2).unwrap(), [3.0, 6.5]);
        assert!(predict(4).is_err());
    }
}
