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
    pub explained: [f64; 2],
}

/// Projects at most `max_rows` randomly drawn samples onto their two leading principal components.
pub fn plane(features: ArrayView2<f64>, max_rows: usize, ctx: &Context) -> Result<Plane> {
    let rows = Rng::stream(ctx.seed, "plane").sample(features.nrows(), max_rows);
    let mut x = features.select(Axis(0), &rows);
    if let Some(mean) = x.mean_axis(Axis(0)) {
        x -= &mean;
    }
    let total: f64 = x.iter().map(|v| v * v).sum();
    let mut points = Array2::zeros((rows.len(), 2));
    let mut explained = [0.0; 2];
    // The smaller of the two product matrices has the same nonzero eigenvalues.
    let by_columns = x.ncols() <= x.nrows();
    let inner = if by_columns { multiply(x.t(), x.view()) } else { multiply(x.view(), x.t()) };
    if total > 0.0 {
        let eigen = symmetric_eigen(inner.view())?;
        for (at, fraction) in explained.iter_mut().enumerate().take(eigen.values.len()) {
            let vector = eigen.vectors.slice(s![.., at]);
            let value = eigen.values[at].max(0.0);
            let along = if by_columns { x.dot(&vector) } else { &vector * value.sqrt() };
            points.slice_mut(s![.., at]).assign(&along);
            *fraction = (value / total).min(1.0);
        }
    }
    Ok(Plane { rows, points, explained })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_keeps_its_distances() {
        let mut rng = Rng::new(1);
        // Three features of points in a plane: distances are preserved.
        let flat = Array2::from_shape_simple_fn((40, 2), || rng.normal());
        let embedding = ndarray::array![[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]];
        let wide = flat.dot(&embedding);
        let projected = plane(wide.view(), 100, &Context::default()).unwrap();
        assert_eq!(projected.rows, (0..40).collect::<Vec<_>>());
        assert!(
            (projected.explained[0] + projected.explained[1] - 1.0).abs() < 1e-12
                && projected.explained[0] >= projected.explained[1]
        );
        let distance = |x: &Array2<f64>| {
            let d = &x.row(0) - &x.row(7);
            d.dot(&d)
        };
        assert!((distance(&projected.points) - distance(&wide)).abs() < 1e-12);
        // More features than samples: the other product matrix.
        let few = plane(wide.slice(s![..2, ..]), 100, &Context::default()).unwrap();
        assert!((few.explained[0] - 1.0).abs() < 1e-12 && few.points.ncols() == 2);
        assert!((few.points[[0, 0]] + few.points[[1, 0]]).abs() < 1e-12);
    }

    #[test]
    fn one_coordinate_and_equal_samples() {
        let line = plane(ndarray::array![[1.0], [3.0]].view(), 10, &Context::default()).unwrap();
        assert_eq!(line.explained, [1.0, 0.0]);
        assert_eq!(line.points.column(1).sum(), 0.0);
        let same = plane(Array2::ones((5, 3)).view(), 3, &Context::default()).unwrap();
        assert_eq!((same.rows.len(), same.explained), (3, [0.0, 0.0]));
    }
}
