//! A weight per feature instead of a projection.
//!
//! $$ K_{ij} = \exp\Bigl(-\tfrac12 \sum_f u_f (x_{if} - x_{jf})^2\Bigr), \qquad
//!    \frac{\partial J}{\partial u_f} = \frac{1}{n^2} x_f^\top (D - A) x_f, \qquad u \ge 0, $$
//!
//! which is a projection by $W = \operatorname{diag}(\sqrt u)$. The variables are the squares $u$: the derivative with respect to
//! $\sqrt u$ vanishes at zero, so a feature with weight zero could never return.
//!
//! Cost: $O(n^2 a)$ for a value, with $a$ features of nonzero weight, and $O(n^2 d)$ for a gradient; for sparse rows $n$ times the
//! number of stored values. Works in blocks of rows; no $n \times n$ matrix is kept.

use super::exact::by_columns;
use crate::data::{Rows, SparseRows};
use crate::linalg::product_into;
use crate::optim::Criterion;
use crate::simd::exp_scaled;
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip, s};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a block, at most.
const BLOCK_ROWS: usize = 128;
/// Values of a block, which is dense, at most: limits the rows of a block if many features have a nonzero weight.
const BLOCK_VALUES: usize = 1 << 18;

/// $-\mathrm{HSIC}$ as a function of one weight per feature; see the module documentation.
pub struct Diagonal<'a> {
    x: &'a Rows,
    y: Array2<f64>,
}

impl<'a> Diagonal<'a> {
    /// Rows, preferably with centered columns, and the target's factor.
    pub fn new(x: &'a Rows, factor: &Array2<f64>) -> Self {
        Self { x, y: by_columns(factor) }
    }

    /// The sum of $A$ over a block of rows and all rows from its start on, and its part of the gradient.
    fn block(&self, scaled: &Scaled, from: usize, gradient: bool) -> (f64, Array1<f64>) {
        let n = self.x.n();
        let height = scaled.height();
        let rows = from..n.min(from + height);
        let block = scaled.dense(rows.clone());
        let mut derivative = Array1::zeros(if gradient { self.x.d() } else { 0 });
        let mut total = 0.0;
        for to in (from..n).step_by(height) {
            let columns = to..n.min(to + height);
            let mut a = squared_distances(block.view(), scaled.dense(columns.clone()).view());
            exp_scaled(a.as_slice_mut().expect("standard layout"), -0.5);
            let mut m = Array2::zeros(a.raw_dim());
            let (y, y_other) = (self.y.slice(s![rows.clone(), ..]), self.y.slice(s![columns.clone(), ..]));
            product_into(y, y_other.t(), m.view_mut());
            a *= &m;
            let multiplicity = if to == from { 1.0 } else { 2.0 };
            total += multiplicity * a.sum();
            if gradient {
                a *= multiplicity;
                match self.x {
                    Rows::Dense(x) => {
                        let (own, other) = (x.slice(s![rows.clone(), ..]), x.slice(s![columns, ..]));
                        add_dense(&mut derivative, a.view(), own, other);
                    }
                    Rows::Sparse(x) => add_sparse(&mut derivative, a.view(), x, rows.clone(), columns),
                }
            }
        }
        (total, derivative)
    }

    fn sums(&self, u: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let n = self.x.n();
        let scaled = Scaled::new(self.x, u);
        let starts: Vec<usize> = (0..n).step_by(scaled.height()).collect();
        let with_gradient = gradient.is_some();
        let parts: Vec<_> =
            starts.into_par_iter().map(|from| self.block(&scaled, from, with_gradient)).collect();
        let square = (n * n) as f64;
        if let Some(gradient) = gradient {
            gradient.fill(0.0);
            for (_, part) in &parts {
                gradient.column_mut(0).scaled_add(1.0 / square, part);
            }
        }
        -parts.iter().map(|(total, _)| total).sum::<f64>() / square
    }
}

/// The features with nonzero weight, each to be multiplied by the root of its weight.
struct Scaled<'a> {
    x: Cow<'a, Rows>,
    root: Array1<f64>,
}

impl<'a> Scaled<'a> {
    fn new(x: &'a Rows, u: &Array2<f64>) -> Self {
        let columns: Vec<usize> = (0..x.d()).filter(|&f| u[[f, 0]] > 0.0).collect();
        let root = columns.iter().map(|&f| u[[f, 0]].sqrt()).collect();
        let all = columns.len() == x.d();
        Self { x: if all { Cow::Borrowed(x) } else { Cow::Owned(x.take_columns(&columns)) }, root }
    }

    fn height(&self) -> usize {
        (BLOCK_VALUES / self.x.d().max(1)).clamp(8, BLOCK_ROWS)
    }

    /// Some rows as dense, scaled rows.
    fn dense(&self, rows: Range<usize>) -> Array2<f64> {
        match &*self.x {
            Rows::Dense(x) => &x.slice(s![rows, ..]) * &self.root,
            sparse => sparse.take_rows(&rows.collect::<Vec<_>>()).into_dense() * &self.root,
        }
    }
}

/// Adds, for each feature, half of the sum over pairs of rows of `a` times the squared difference.
fn add_dense(out: &mut Array1<f64>, a: ArrayView2<f64>, own: ArrayView2<f64>, other: ArrayView2<f64>) {
    let mut mixed = Array2::zeros(own.raw_dim());
    product_into(a, other, mixed.view_mut());
    for ((x, mixed), sum) in own.rows().into_iter().zip(mixed.rows()).zip(a.sum_axis(Axis(1))) {
        Zip::from(&mut *out).and(x).and(mixed).for_each(|out, x, mixed| *out += x * (0.5 * sum * x - mixed));
    }
    for (x, sum) in other.rows().into_iter().zip(a.sum_axis(Axis(0))) {
        Zip::from(&mut *out).and(x).for_each(|out, x| *out += 0.5 * sum * x * x);
    }
}

/// As [`add_dense`], from the stored values of sparse rows.
fn add_sparse(
    out: &mut Array1<f64>,
    a: ArrayView2<f64>,
    x: &SparseRows,
    own: Range<usize>,
    other: Range<usize>,
) {
    let mut add_squares = |rows: Range<usize>, sums: Array1<f64>| {
        for (i, sum) in rows.zip(sums) {
            let (columns, values) = x.row(i);
            columns.iter().zip(values).for_each(|(&f, v)| out[f as usize] += 0.5 * sum * v * v);
        }
    };
    add_squares(own.clone(), a.sum_axis(Axis(1)));
    add_squares(other.clone(), a.sum_axis(Axis(0)));
    let mut dense = vec![0.0; out.len()];
    for (i, a) in own.zip(a.rows()) {
        let (columns, values) = x.row(i);
        columns.iter().zip(values).for_each(|(&f, v)| dense[f as usize] = *v);
        for (j, a) in other.clone().zip(a) {
            let (columns, values) = x.row(j);
            columns.iter().zip(values).for_each(|(&f, v)| out[f as usize] -= a * dense[f as usize] * v);
        }
        columns.iter().for_each(|&f| dense[f as usize] = 0.0);
    }
}

/// Squared distances between all rows of two blocks.
fn squared_distances(a: ArrayView2<f64>, b: ArrayView2<f64>) -> Array2<f64> {
    let norms = |a: ArrayView2<f64>| a.rows().into_iter().map(|r| r.dot(&r)).collect::<Vec<f64>>();
    let (a_norms, b_norms) = (norms(a), norms(b));
    let mut out = Array2::zeros((a.nrows(), b.nrows()));
    product_into(a, b.t(), out.view_mut());
    for (mut row, a) in out.rows_mut().into_iter().zip(a_norms) {
        row.iter_mut().zip(&b_norms).for_each(|(cell, b)| *cell = (a + b - 2.0 * *cell).max(0.0));
    }
    out
}

impl Criterion for Diagonal<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.x.d(), 1)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        self.sums(w, Some(gradient))
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.sums(w, None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::super::{Exact, Projected};
    use super::*;
    use crate::optim::gradient_error;

    #[test]
    fn equals_a_projection_by_a_diagonal_matrix() {
        let (x, y) = example(150, 4, 2);
        let u = ndarray::array![[0.5], [0.0], [1.2], [0.1]];
        let w = Array2::from_diag(&u.column(0).mapv(f64::sqrt));
        let rows: Rows = x.into();
        let exact = Exact::new(y.clone());
        let expected = Projected::new(&rows, &exact, 4).value(&w);
        let diagonal = Diagonal::new(&rows, &y);
        // Sums of 150^2 numbers of order one, divided by their number.
        assert!((diagonal.value(&u) - expected).abs() < 1e-13);
        // Zero is the bound of a weight, so take differences in the interior.
        assert!(gradient_error(&diagonal, &(u + 0.3), 1e-5) < 1e-8);
    }

    #[test]
    fn sparse_rows_give_the_same_result() {
        let (x, y) = example(300, 5, 2);
        let sparse: Rows = SparseRows::of(&x).into();
        let dense: Rows = x.into();
        // Features of weight zero do not enter the distances but have a derivative.
        let u = ndarray::array![[0.5], [0.0], [1.2], [0.0], [0.1]];
        let both = [&dense, &sparse].map(|rows| {
            let mut gradient = Array2::zeros(u.raw_dim());
            (Diagonal::new(rows, &y).value_and_gradient(&u, &mut gradient), gradient)
        });
        // Sums of 300^2 numbers of order one, divided by their number.
        assert!((both[0].0 - both[1].0).abs() < 1e-13);
        assert!(both[0].1.iter().zip(&both[1].1).all(|(a, b)| (a - b).abs() < 1e-13), "{both:?}");
        assert!(both[0].1[[1, 0]] != 0.0);
    }
}
