//! Two-dimensional projections of samples, for plotting.

use crate::context::Context;
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::random::Rng;
use ndarray::{Array2, ArrayView2, Axis, s};

/// Some samples, projected onto their two leading principal components.
#[derive(Debug, Clone)]
pub struct Plane {
    /// Sample indices, ascending.
    pub rows: Vec<usize>,
    /// Two coordinates per sample; the second is 0 if there is only one feature.
    pub points: Array2<f64>,
    /// The fractions of variance explained by the two components.
    pub shares: [f64; 2],
}

/// Projects at most `most` randomly drawn samples onto their two leading principal components.
pub fn plane(features: ArrayView2<f64>, most: usize, ctx: &Context) -> Result<Plane> {
    let rows = Rng::stream(ctx.seed, "plane").sample(features.nrows(), most);
    let mut x = features.select(Axis(0), &rows);
    if let Some(mean) = x.mean_axis(Axis(0)) {
        x -= &mean;
    }
    let total: f64 = x.iter().map(|v| v * v).sum();
    let mut points = Array2::zeros((rows.len(), 2));
    let mut shares = [0.0; 2];
    // The smaller of the two product matrices has the same nonzero eigenvalues.
    let by_columns = x.ncols() <= x.nrows();
    let inner = if by_columns { multiply(x.t(), x.view()) } else { multiply(x.view(), x.t()) };
    if total > 0.0 {
        let eigen = symmetric_eigen(inner.view())?;
        for (at, share) in shares.iter_mut().enumerate().take(eigen.values.len()) {
            let vector = eigen.vectors.slice(s![.., at]);
            let value = eigen.values[at].max(0.0);
            let along = if by_columns { x.dot(&vector) } else { &vector * value.sqrt() };
            points.slice_mut(s![.., at]).assign(&along);
            *share = (value / total).min(1.0);
        }
    }
    Ok(Plane { rows, points, shares })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_cloud_is_seen_from_above() {
        let mut rng = Rng::new(1);
        // Three features of points in a plane: distances are preserved.
        let flat = Array2::from_shape_simple_fn((40, 2), || rng.normal());
        let turn = ndarray::array![[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]];
        let wide = flat.dot(&turn);
        let seen = plane(wide.view(), 100, &Context::default()).unwrap();
        assert_eq!(seen.rows, (0..40).collect::<Vec<_>>());
        assert!((seen.shares[0] + seen.shares[1] - 1.0).abs() < 1e-12 && seen.shares[0] >= seen.shares[1]);
        let distance = |x: &Array2<f64>| {
            let d = &x.row(0) - &x.row(7);
            d.dot(&d)
        };
        assert!((distance(&seen.points) - distance(&wide)).abs() < 1e-12);
        // More features than samples: the other product matrix.
        let few = plane(wide.slice(s![..2, ..]), 100, &Context::default()).unwrap();
        assert!((few.shares[0] - 1.0).abs() < 1e-12 && few.points.ncols() == 2);
        assert!((few.points[[0, 0]] + few.points[[1, 0]]).abs() < 1e-12);
    }

    #[test]
    fn one_coordinate_and_equal_rows_are_no_trouble() {
        let line = plane(ndarray::array![[1.0], [3.0]].view(), 10, &Context::default()).unwrap();
        assert_eq!(line.shares, [1.0, 0.0]);
        assert_eq!(line.points.column(1).sum(), 0.0);
        let same = plane(Array2::ones((5, 3)).view(), 3, &Context::default()).unwrap();
        assert_eq!((same.rows.len(), same.shares), (3, [0.0, 0.0]));
    }
}
