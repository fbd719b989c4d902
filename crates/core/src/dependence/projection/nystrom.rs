//! Nyström's approximation: all rows against a few landmarks.
//!
//! $K \approx C B^{-1} C^\top$ with $C$ the kernel of all rows with the landmarks and $B$ that of the landmarks among themselves, so with
//! $S = C^\top \tilde Y$ and $V = B^{-1} S$
//!
//! $$ \mathrm{HSIC} \approx \frac{1}{n^2} \operatorname{tr}(S^\top V), \qquad
//!    n^2 d \mathrm{HSIC} = 2 \operatorname{tr}(V^\top dS) - \operatorname{tr}(V^\top dB V). $$
//!
//! Landmarks are rows, so their kernel follows $W$ like all others. The value is never above the exact one's size. A little is added
//! to the diagonal of $B$, whose smallest eigenvalues are rounding.

use super::OfProjection;
use crate::data::Rows;
use crate::kernel::{Kernel, gram};
use crate::linalg::{cholesky, cholesky_solve, multiply};
use ndarray::{Array1, Array2, Axis, Zip};

/// Added to the diagonal of the landmarks' kernel, which is one.
const RIDGE: f64 = 1e-8;

/// HSIC by landmarks; see the module's text.
pub struct Nystrom {
    y: Array2<f64>,
    landmarks: Vec<usize>,
}

impl Nystrom {
    /// Against a target's factor, with these rows as landmarks, each named once.
    pub fn new(factor: Array2<f64>, landmarks: Vec<usize>) -> Self {
        Self { y: factor.as_standard_layout().into_owned(), landmarks }
    }
}

impl OfProjection for Nystrom {
    fn value(&self, p: &Array2<f64>, pull: Option<&mut Array2<f64>>) -> f64 {
        let square = (p.nrows() * p.nrows()) as f64;
        let marks = p.select(Axis(0), &self.landmarks);
        let mark_rows = Rows::from(marks.clone());
        let c = kernel(&Rows::from(p.clone()), &mark_rows);
        let b = kernel(&mark_rows, &mark_rows);
        let s = multiply(c.t(), self.y.view());
        let Some(v) = solve(&b, &s) else { return f64::NAN };
        let value = -Zip::from(&s).and(&v).fold(0.0, |sum, s, v| sum + s * v) / square;
        let Some(pull) = pull else { return value };
        // The weight of every pair of a row and a landmark, and of two landmarks.
        let mut weight = multiply(self.y.view(), v.t());
        Zip::from(&mut weight).and(&c).for_each(|w, c| *w *= 2.0 / square * c);
        let mut own = multiply(v.view(), v.t());
        Zip::from(&mut own).and(&b).for_each(|w, b| *w *= b / square);
        *pull = lifted(&weight.sum_axis(Axis(1)), p, &multiply(weight.view(), marks.view()));
        let by_mark = lifted(&weight.sum_axis(Axis(0)), &marks, &multiply(weight.t(), p.view()));
        // Both ends of a pair of landmarks are landmarks, so it counts twice.
        let among = lifted(&own.sum_axis(Axis(1)), &marks, &multiply(own.view(), marks.view())) * 2.0;
        for (a, &row) in self.landmarks.iter().enumerate() {
            for k in 0..p.ncols() {
                pull[[row, k]] += by_mark[[a, k]] - among[[a, k]];
            }
        }
        value
    }
}

/// $\sum_j w_{ij} (p_i - p_j)$ from the sums of weights and of weighted rows.
fn lifted(total: &Array1<f64>, p: &Array2<f64>, sums: &Array2<f64>) -> Array2<f64> {
    p * &total.view().insert_axis(Axis(1)) - sums
}

/// $\exp(-\lVert p - z \rVert^2 / 2)$
fn kernel(p: &Rows, z: &Rows) -> Array2<f64> {
    gram(&Kernel::Rbf { gamma: 0.5 }, p, z).expect("projected rows have the same directions")
}

/// $(B + \epsilon I)^{-1} S$, with more added to the diagonal until it can be done; nothing if it cannot, which only numbers
/// that are none can cause.
fn solve(b: &Array2<f64>, s: &Array2<f64>) -> Option<Array2<f64>> {
    let mut ridge = RIDGE;
    while ridge < 1.0 {
        let mut b = b.clone();
        b.diag_mut().mapv_inplace(|v| v + ridge);
        if let Some(l) = cholesky(b.view()) {
            let mut v = s.clone();
            cholesky_solve(l.view(), &mut v.view_mut());
            return Some(v);
        }
        ridge *= 10.0;
    }
    None
}
