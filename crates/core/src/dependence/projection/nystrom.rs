//! The Nyström approximation with a few landmark rows.
//!
//! $K \approx C B^{-1} C^\top$ with $C$ the kernel of all rows with the landmarks and $B$ that of the landmarks among themselves, so with
//! $S = C^\top \tilde Y$ and $V = B^{-1} S$
//!
//! $$ \mathrm{HSIC} \approx \frac{1}{n^2} \operatorname{tr}(S^\top V), \qquad
//!    n^2 d \mathrm{HSIC} = 2 \operatorname{tr}(V^\top dS) - \operatorname{tr}(V^\top dB V). $$
//!
//! Landmarks are rows, so their kernel depends on $W$ too. The approximation never exceeds the exact HSIC. A small ridge is added to
//! $B$, whose smallest eigenvalues are rounding error.

use super::projected::ProjectedCriterion;
use crate::data::Rows;
use crate::kernel::{Kernel, gram};
use crate::linalg::{cholesky, cholesky_solve, multiply};
use ndarray::{Array1, Array2, Axis, Zip};

/// Added to the diagonal of the landmarks' kernel matrix, which is 1.
const RIDGE: f64 = 1e-8;

/// HSIC by landmarks; see the module documentation.
pub struct Nystrom {
    y: Array2<f64>,
    landmarks: Vec<usize>,
}

impl Nystrom {
    /// Takes the target's factor and the landmark rows, without duplicates.
    pub fn new(factor: Array2<f64>, landmarks: Vec<usize>) -> Self {
        Self { y: factor.as_standard_layout().into_owned(), landmarks }
    }
}

impl ProjectedCriterion for Nystrom {
    fn value(&self, p: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let square = (p.nrows() * p.nrows()) as f64;
        let landmarks = p.select(Axis(0), &self.landmarks);
        let landmark_rows = Rows::from(landmarks.clone());
        let c = kernel(&Rows::from(p.clone()), &landmark_rows);
        let b = kernel(&landmark_rows, &landmark_rows);
        let s = multiply(c.t(), self.y.view());
        let Some(v) = solve(&b, &s) else { return f64::NAN };
        let value = -Zip::from(&s).and(&v).fold(0.0, |sum, s, v| sum + s * v) / square;
        let Some(gradient) = gradient else { return value };
        // Weights of pairs of a row and a landmark, and of two landmarks.
        let mut weight = multiply(self.y.view(), v.t());
        Zip::from(&mut weight).and(&c).for_each(|w, c| *w *= 2.0 / square * c);
        let mut among_weight = multiply(v.view(), v.t());
        Zip::from(&mut among_weight).and(&b).for_each(|w, b| *w *= b / square);
        *gradient = laplacian_times(&weight.sum_axis(Axis(1)), p, &multiply(weight.view(), landmarks.view()));
        let by_landmark =
            laplacian_times(&weight.sum_axis(Axis(0)), &landmarks, &multiply(weight.t(), p.view()));
        // Both rows of such a pair are landmarks, so it counts twice.
        let among = laplacian_times(
            &among_weight.sum_axis(Axis(1)),
            &landmarks,
            &multiply(among_weight.view(), landmarks.view()),
        ) * 2.0;
        for (a, &row) in self.landmarks.iter().enumerate() {
            for k in 0..p.ncols() {
                gradient[[row, k]] += by_landmark[[a, k]] - among[[a, k]];
            }
        }
        value
    }
}

/// $\sum_j w_{ij} (p_i - p_j)$ from the sums of weights and of weighted rows.
fn laplacian_times(total: &Array1<f64>, p: &Array2<f64>, sums: &Array2<f64>) -> Array2<f64> {
    p * &total.view().insert_axis(Axis(1)) - sums
}

/// $\exp(-\lVert p - z \rVert^2 / 2)$
fn kernel(p: &Rows, z: &Rows) -> Array2<f64> {
    gram(&Kernel::Rbf { gamma: 0.5 }, p, z).expect("projected rows have the same directions")
}

/// $(B + \epsilon I)^{-1} S$, with a growing ridge until the factorization succeeds; `None` if values are not finite.
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
