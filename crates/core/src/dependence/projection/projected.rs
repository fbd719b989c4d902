//! The criterion as a function of $W$.

use super::products::ThinProducts;
use crate::data::Rows;
use crate::optim::Criterion;
use ndarray::{Array2, Axis};

/// $-\mathrm{HSIC}$ as a function of projected rows.
pub trait ProjectedCriterion: Send + Sync {
    /// The value at projected rows `p`. Writes the derivative with respect to `p` into `gradient`, if given.
    fn value(&self, p: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64;
}

/// $-\mathrm{HSIC}$ as a function of $W$; see the [module](super).
pub struct Projected<'a> {
    x: ThinProducts<'a>,
    inner: &'a dyn ProjectedCriterion,
    directions: usize,
}

impl<'a> Projected<'a> {
    /// Projects the rows of `x` onto a number of directions.
    pub fn new(x: &'a Rows, inner: &'a dyn ProjectedCriterion, directions: usize) -> Self {
        Self { x: ThinProducts::new(x), inner, directions }
    }

    /// $P = XW$ with centered columns: this does not change distances and limits cancellation.
    pub fn project(&self, w: &Array2<f64>) -> Array2<f64> {
        let mut p = self.x.times(w);
        if let Some(mean) = p.mean_axis(Axis(0)) {
            p -= &mean;
        }
        p
    }
}

impl Criterion for Projected<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.x.columns(), self.directions)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let p = self.project(w);
        let mut by_rows = Array2::zeros(p.dim());
        let value = self.inner.value(&p, Some(&mut by_rows));
        self.x.transposed_times(&by_rows, gradient);
        value
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.inner.value(&self.project(w), None)
    }
}

/// The target's factor scaled so that $\lVert M \rVert_F = n$, laid out by columns.
pub fn unit_factor(factor: &Array2<f64>) -> Array2<f64> {
    let norm = factor.t().dot(factor).mapv(|v| v * v).sum().sqrt();
    // A constant target has norm zero.
    let scale = if norm > 0.0 { (factor.nrows() as f64 / norm).sqrt() } else { 0.0 };
    let mut scaled = Array2::zeros(ndarray::ShapeBuilder::f(factor.raw_dim()));
    scaled.assign(factor);
    scaled *= scale;
    scaled
}
