//! A weight per column instead of a projection.
//!
//! $$ K_{ij} = \exp\Bigl(-\tfrac12 \sum_f u_f (x_{if} - x_{jf})^2\Bigr), \qquad
//!    \frac{\partial J}{\partial u_f} = \frac{1}{n^2}\, x_f^\top (D - A)\, x_f, \qquad u \ge 0, $$
//!
//! which is a projection by $W = \operatorname{diag}(\sqrt u)$. The squares $u$ are what is varied: the derivative by $\sqrt u$
//! vanishes where it is zero, so that a column once dropped could never return.
//!
//! Cost: $O(n^2 d)$ for a value with its gradient, in blocks of rows; nothing of size $n \times n$ is kept.

use super::exact::by_columns;
use crate::data::Rows;
use crate::linalg::product_into;
use crate::optim::Criterion;
use crate::simd::exp_scaled;
use ndarray::{Array1, Array2, ArrayView2, Axis, Zip, s};
use rayon::prelude::*;

/// Rows of a block, and of what it is compared with; fewer where rows are long, so that a block, which has all cells, stays
/// small beside sparse rows.
const BLOCK: usize = 128;
/// Cells of a block.
const CELLS: usize = 1 << 18;

/// $-\mathrm{HSIC}$ as a function of one weight per column; see the module's text.
pub struct Diagonal<'a> {
    x: &'a Rows,
    y: Array2<f64>,
}

impl<'a> Diagonal<'a> {
    /// Of these rows, best with means of zero, against a target's factor.
    pub fn new(x: &'a Rows, factor: &Array2<f64>) -> Self {
        Self { x, y: by_columns(factor) }
    }

    fn height(&self) -> usize {
        (CELLS / self.x.d().max(1)).clamp(8, BLOCK)
    }

    /// Some rows with all their cells.
    fn cells(&self, rows: std::ops::Range<usize>) -> Array2<f64> {
        match self.x {
            Rows::Dense(x) => x.slice(s![rows, ..]).to_owned(),
            Rows::Sparse(_) => self.x.take_rows(&rows.collect::<Vec<_>>()).into_dense(),
        }
    }

    /// The sum of a block's weights with all rows from it on, and what it adds to each column's derivative.
    fn block(&self, root: &Array1<f64>, from: usize, gradient: bool) -> (f64, Array1<f64>) {
        let (n, d) = (self.x.n(), self.x.d());
        let height = self.height();
        let rows = from..n.min(from + height);
        let own = self.cells(rows.clone());
        let own_scaled = &own * root;
        let mut derivative = Array1::zeros(if gradient { d } else { 0 });
        let mut total = 0.0;
        for to in (from..n).step_by(height) {
            let columns = to..n.min(to + height);
            let other = self.cells(columns.clone());
            // Each factor has the root of the weights, so their product has the weights.
            let mut a = squared_distances(own_scaled.view(), (&other * root).view());
            exp_scaled(a.as_slice_mut().expect("just made"), -0.5);
            let mut m = Array2::zeros(a.raw_dim());
            product_into(self.y.slice(s![rows.clone(), ..]), self.y.slice(s![columns, ..]).t(), m.view_mut());
            a *= &m;
            let twice = if to == from { 1.0 } else { 2.0 };
            total += twice * a.sum();
            if gradient {
                // Half of the weighted sum of squared differences: squares under the sums of weights, less products.
                let mut mixed = Array2::zeros(own.raw_dim());
                product_into(a.view(), other.view(), mixed.view_mut());
                for ((x, mixed), sum) in own.rows().into_iter().zip(mixed.rows()).zip(a.sum_axis(Axis(1))) {
                    Zip::from(&mut derivative).and(x).and(mixed).for_each(|out, x, mixed| {
                        *out += twice * x * (0.5 * sum * x - mixed);
                    });
                }
                for (x, sum) in other.rows().into_iter().zip(a.sum_axis(Axis(0))) {
                    Zip::from(&mut derivative).and(x).for_each(|out, x| *out += twice * 0.5 * sum * x * x);
                }
            }
        }
        (total, derivative)
    }

    fn sums(&self, u: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let n = self.x.n();
        let root = u.column(0).mapv(|u| u.max(0.0).sqrt());
        let starts: Vec<usize> = (0..n).step_by(self.height()).collect();
        let wanted = gradient.is_some();
        let parts: Vec<_> = starts.into_par_iter().map(|from| self.block(&root, from, wanted)).collect();
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
    fn it_is_a_projection_by_a_diagonal() {
        let (x, y) = example(150, 4, 2);
        let u = ndarray::array![[0.5], [0.0], [1.2], [0.1]];
        let w = Array2::from_diag(&u.column(0).mapv(f64::sqrt));
        let rows: Rows = x.into();
        let exact = Exact::new(y.clone());
        let expected = Projected::new(&rows, &exact, 4).value(&w);
        let diagonal = Diagonal::new(&rows, &y);
        // Sums of 150^2 numbers of order one, divided by their number.
        assert!((diagonal.value(&u) - expected).abs() < 1e-13);
        // A weight of zero is the edge of what is allowed, so differences are taken inside.
        assert!(gradient_error(&diagonal, &(u + 0.3), 1e-5) < 1e-8);
    }
}
