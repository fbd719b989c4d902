//! How much rows tell of a target once they are projected, as a function of the projection.
//!
//! $$ J(W) = -\mathrm{HSIC}(XW, y) = -\frac{1}{n^2} \sum_{ij} K_{ij} M_{ij}, \qquad
//!    K_{ij} = \exp\bigl(-\tfrac12 \lVert W^\top (x_i - x_j) \rVert^2\bigr), \quad M = HLH = \tilde Y \tilde Y^\top. $$
//!
//! The width of the kernel is one: a width and the scale of $W$ are the same thing. The target's kernel is scaled so that
//! $\lVert M \rVert_F = n$, which puts $J$ between $-1$ and $0$ whatever the target is.
//!
//! With $A = M \circ K$ and $D = \operatorname{diag}(A 1)$ the gradient is that of a graph's Laplacian,
//!
//! $$ \nabla J = \frac{2}{n^2} X^\top (D - A) X W, $$
//!
//! so nothing but the thin $P = XW$ is ever compared in pairs: $(D - A) P$ is what each projected row is pulled by, and
//! $X^\top$ of it the gradient. Pairs are visited in tiles, twice less often than there are, and forgotten; no $n \times n$ matrix
//! is kept, and $X$ is touched twice, sparse or not.
//!
//! Cost: $O(n^2 (q + c))$ for pairs, $O(n d q)$ for the two products; [`Fourier`] and [`Nystrom`] replace the first by
//! $O(n m (q + c))$ for many rows.

mod diagonal;
mod exact;
mod fourier;
mod nystrom;
mod products;

pub use diagonal::Diagonal;
pub use exact::Exact;
pub use fourier::Fourier;
pub use nystrom::Nystrom;
pub use products::ThinProducts;

use crate::data::Rows;
use crate::optim::Criterion;
use ndarray::{Array2, Axis};

/// $-\mathrm{HSIC}$ as a function of rows that have been projected.
pub trait OfProjection: Send + Sync {
    /// The value for projected rows `p`, a row each. Where `pull` is given it gets the derivative by every number of `p`.
    fn value(&self, p: &Array2<f64>, pull: Option<&mut Array2<f64>>) -> f64;
}

/// $-\mathrm{HSIC}$ as a function of $W$; see the module's text.
pub struct Projected<'a> {
    x: ThinProducts<'a>,
    inner: &'a dyn OfProjection,
    directions: usize,
}

impl<'a> Projected<'a> {
    /// Of these rows, onto this many directions.
    pub fn new(x: &'a Rows, inner: &'a dyn OfProjection, directions: usize) -> Self {
        Self { x: ThinProducts::new(x), inner, directions }
    }

    /// $P = XW$ with every column's mean taken off: distances do not change, and large numbers do not drown small ones.
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
        let mut pull = Array2::zeros(p.dim());
        let value = self.inner.value(&p, Some(&mut pull));
        self.x.transposed_times(&pull, gradient);
        value
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.inner.value(&self.project(w), None)
    }
}

/// The target's factor scaled so that $\lVert M \rVert_F = n$, laid out by columns.
pub fn unit_factor(factor: &Array2<f64>) -> Array2<f64> {
    let norm = factor.t().dot(factor).mapv(|v| v * v).sum().sqrt();
    // Means of columns are zero up to rounding: a target that tells nothing has a norm of nothing else.
    let scale = if norm > 0.0 { (factor.nrows() as f64 / norm).sqrt() } else { 0.0 };
    let mut scaled = Array2::zeros(ndarray::ShapeBuilder::f(factor.raw_dim()));
    scaled.assign(factor);
    scaled *= scale;
    scaled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SparseRows;
    use crate::optim::gradient_error;
    use crate::random::Rng;

    pub(super) fn example(n: usize, d: usize, c: usize) -> (Array2<f64>, Array2<f64>) {
        let mut rng = Rng::new(3);
        let x = Array2::from_shape_simple_fn((n, d), || if rng.uniform() < 0.3 { 0.0 } else { rng.normal() });
        let mut y = Array2::from_shape_simple_fn((n, c), || rng.normal());
        let mean = y.mean_axis(Axis(0)).unwrap();
        y -= &mean;
        (x, unit_factor(&y))
    }

    pub(super) fn weights(d: usize, q: usize) -> Array2<f64> {
        let mut rng = Rng::new(4);
        Array2::from_shape_simple_fn((d, q), || 0.3 * rng.normal())
    }

    /// The sums as they are written, over an n x n matrix.
    fn naive(x: &Array2<f64>, y: &Array2<f64>, w: &Array2<f64>) -> (f64, Array2<f64>) {
        let (p, n) = (x.dot(w), x.nrows() as f64);
        let mut gradient = Array2::zeros(w.dim());
        let mut value = 0.0;
        for i in 0..x.nrows() {
            for j in 0..x.nrows() {
                let e = &p.row(i) - &p.row(j);
                let a = (-0.5 * e.dot(&e)).exp() * y.row(i).dot(&y.row(j));
                value -= a / (n * n);
                for f in 0..x.ncols() {
                    for k in 0..w.ncols() {
                        gradient[[f, k]] += a * (x[[i, f]] - x[[j, f]]) * e[k] / (n * n);
                    }
                }
            }
        }
        (value, gradient)
    }

    #[test]
    fn the_laplacian_form_is_the_sum_over_pairs() {
        // More rows than a tile, and widths that do not fill the loops.
        for (n, d, c, q) in [(5, 3, 1, 1), (150, 7, 2, 3), (131, 4, 3, 9)] {
            let (x, y) = example(n, d, c);
            let w = weights(d, q);
            let (value, gradient) = naive(&x, &y, &w);
            let (rows, exact) = (Rows::from(x), Exact::new(y));
            let projected = Projected::new(&rows, &exact, q);
            let mut ours = Array2::from_elem((d, q), 9.0);
            // Sums of at most 150^2 numbers of order one, divided by their number.
            assert!((projected.value_and_gradient(&w, &mut ours) - value).abs() < 1e-13);
            assert!((projected.value(&w) - value).abs() < 1e-13);
            assert!((&ours - &gradient).iter().all(|e| e.abs() < 1e-13), "n = {n}");
        }
    }

    #[test]
    fn sparse_rows_give_the_same() {
        let (x, y) = example(60, 9, 2);
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for row in x.rows() {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(j as u32);
                value.push(*v);
            }
            start.push(column.len());
        }
        let sparse = Rows::from(SparseRows::new(9, start, column, value).unwrap());
        let (dense, exact, w) = (Rows::from(x), Exact::new(y), weights(9, 5));
        let mut gradients = [Array2::zeros((9, 5)), Array2::zeros((9, 5))];
        let values: Vec<f64> = [&dense, &sparse]
            .into_iter()
            .zip(&mut gradients)
            .map(|(x, g)| Projected::new(x, &exact, 5).value_and_gradient(&w, g))
            .collect();
        assert!((values[0] - values[1]).abs() < 1e-15);
        assert!((&gradients[0] - &gradients[1]).iter().all(|e| e.abs() < 1e-15));
    }

    #[test]
    fn every_form_has_the_gradient_of_its_value() {
        let (x, y) = example(40, 4, 2);
        let rows = Rows::from(x);
        let exact = Exact::new(y.clone());
        let fourier = Fourier::new(y.clone(), 3, 64, 0);
        let nystrom = Nystrom::new(y, (0..40).step_by(4).collect());
        for inner in [&exact as &dyn OfProjection, &fourier, &nystrom] {
            let error = gradient_error(&Projected::new(&rows, inner, 3), &weights(4, 3), 1e-5);
            // The issue of a difference quotient with this step; third derivatives are below 10.
            assert!(error < 1e-8, "{error}");
        }
    }

    #[test]
    fn moving_turning_and_reordering_change_nothing() {
        let (x, y) = example(50, 3, 2);
        let w = weights(3, 2);
        let value = |x: Array2<f64>, y: Array2<f64>, w: &Array2<f64>| {
            Projected::new(&x.into(), &Exact::new(y), 2).value(w)
        };
        let here = value(x.clone(), y.clone(), &w);
        assert!(here < 0.0, "HSIC is not negative: {here}");
        assert!((value(&x + 1000.0, y.clone(), &w) - here).abs() < 1e-12, "digits lost to the shift");
        let (c, s) = (0.6, 0.8);
        let turned = w.dot(&ndarray::array![[c, -s], [s, c]]);
        assert!((value(x.clone(), y.clone(), &turned) - here).abs() < 1e-14);
        let order: Vec<usize> = (0..50).rev().collect();
        let (x, y) = (x.select(Axis(0), &order), y.select(Axis(0), &order));
        assert!((value(x, y, &w) - here).abs() < 1e-14);
    }

    #[test]
    fn approximations_come_near() {
        let (x, y) = example(300, 3, 2);
        let (rows, w) = (Rows::from(x.clone()), weights(3, 3));
        // A target that follows the rows, so that the value is not all noise.
        let y = {
            let mut y = y;
            y.column_mut(0).zip_mut_with(&x.column(0), |y, x| *y += x);
            let mean = y.mean_axis(Axis(0)).unwrap();
            unit_factor(&(y - &mean))
        };
        let exact = Projected::new(&rows, &Exact::new(y.clone()), 3).value(&w);
        let fourier = Projected::new(&rows, &Fourier::new(y.clone(), 3, 4096, 1), 3).value(&w);
        let nystrom = Projected::new(&rows, &Nystrom::new(y, (0..300).step_by(3).collect()), 3).value(&w);
        // 2048 frequencies: two or three standard errors are a few hundredths.
        assert!((fourier / exact - 1.0).abs() < 0.05, "{fourier} {exact}");
        // A smooth kernel in three dimensions is all but spanned by a hundred rows.
        assert!((nystrom / exact - 1.0).abs() < 1e-3, "{nystrom} {exact}");
    }
}
