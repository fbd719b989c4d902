//! HSIC of projected samples with a target, as a function of the projection.
//!
//! $$ J(W) = -\mathrm{HSIC}(XW, y) = -\frac{1}{n^2} \sum_{ij} K_{ij} M_{ij}, \qquad
//!    K_{ij} = \exp\bigl(-\tfrac12 \lVert W^\top (x_i - x_j) \rVert^2\bigr), \quad M = HLH = \tilde Y \tilde Y^\top. $$
//!
//! The bandwidth of the kernel is one, since the scale of $W$ has the same effect. The target's kernel is scaled so that
//! $\lVert M \rVert_F = n$, which puts $J$ between $-1$ and $0$ for any target.
//!
//! With $A = M \circ K$ and $D = \operatorname{diag}(A 1)$ the gradient is that of a graph Laplacian,
//!
//! $$ \nabla J = \frac{2}{n^2} X^\top (D - A) X W. $$
//!
//! Only the thin $P = XW$ is compared in pairs: $(D - A) P$ is the derivative with respect to the projected rows, up to a
//! factor, and $X^\top$ times it the gradient. Tiles visit each pair once and are discarded. No $n \times n$ matrix is kept,
//! and $X$, dense or sparse, is read twice.
//!
//! Cost: $O(n^2 (q + c))$ for pairs, $O(n d q)$ for the two products; [`Fourier`] and [`Nystrom`] replace the first by
//! $O(n m (q + c))$ for many rows.

mod diagonal;
mod exact;
mod fourier;
mod nystrom;
mod products;
mod projected;

pub use diagonal::Diagonal;
pub use exact::Exact;
pub use fourier::Fourier;
pub use nystrom::Nystrom;
pub use products::ThinProducts;
pub use projected::{Projected, ProjectedCriterion, unit_factor};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, SparseRows};
    use crate::optim::{Criterion, gradient_error};
    use crate::random::Rng;
    use ndarray::{Array2, Axis};

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

    /// The sums as defined, over an n x n matrix.
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
    fn value_and_gradient_equal_the_sums_over_pairs() {
        // More rows than a tile, and numbers of columns that do not fill the SIMD lanes.
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
    fn sparse_rows_give_the_same_result() {
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
    fn gradients_match_finite_differences() {
        let (x, y) = example(40, 4, 2);
        let rows = Rows::from(x);
        let exact = Exact::new(y.clone());
        let fourier = Fourier::new(y.clone(), 3, 64, 0);
        let nystrom = Nystrom::new(y, (0..40).step_by(4).collect());
        for inner in [&exact as &dyn ProjectedCriterion, &fourier, &nystrom] {
            let error = gradient_error(&Projected::new(&rows, inner, 3), &weights(4, 3), 1e-5);
            // The error of a difference quotient with this step; third derivatives are below 10.
            assert!(error < 1e-8, "{error}");
        }
    }

    #[test]
    fn value_is_invariant_to_shifts_rotations_and_the_order_of_rows() {
        let (x, y) = example(50, 3, 2);
        let w = weights(3, 2);
        let value = |x: Array2<f64>, y: Array2<f64>, w: &Array2<f64>| {
            Projected::new(&x.into(), &Exact::new(y), 2).value(w)
        };
        let here = value(x.clone(), y.clone(), &w);
        assert!(here < 0.0, "HSIC is not negative: {here}");
        assert!((value(&x + 1000.0, y.clone(), &w) - here).abs() < 1e-12, "cancellation");
        let (c, s) = (0.6, 0.8);
        let rotated = w.dot(&ndarray::array![[c, -s], [s, c]]);
        assert!((value(x.clone(), y.clone(), &rotated) - here).abs() < 1e-14);
        let order: Vec<usize> = (0..50).rev().collect();
        let (x, y) = (x.select(Axis(0), &order), y.select(Axis(0), &order));
        assert!((value(x, y, &w) - here).abs() < 1e-14);
    }

    #[test]
    fn approximations_are_close() {
        let (x, y) = example(300, 3, 2);
        let (rows, w) = (Rows::from(x.clone()), weights(3, 3));
        // A target that depends on the rows, so that the value is not only noise.
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
        // A hundred rows nearly span a smooth kernel in three dimensions.
        assert!((nystrom / exact - 1.0).abs() < 1e-3, "{nystrom} {exact}");
    }
}
