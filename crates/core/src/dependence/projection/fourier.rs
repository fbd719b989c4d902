//! Random Fourier features: linear in the number of rows.
//!
//! For frequencies $\omega_1, \ldots, \omega_f$ drawn from the standard normal distribution, the mean of
//! $\cos \langle \omega, p_i - p_j \rangle$ is an unbiased estimate of the kernel of two projected rows, so
//!
//! $$ \mathrm{HSIC} \approx \frac{1}{n^2 f} \bigl( \lVert C^\top \tilde Y \rVert_F^2 + \lVert S^\top \tilde Y \rVert_F^2 \bigr), \qquad
//!    C = \cos(P \Omega), \quad S = \sin(P \Omega). $$
//!
//! Sine and cosine of the same frequency are used together, which needs half as many frequencies as cosines with random phases and
//! has lower variance. The frequencies stay fixed while $W$ changes.
//!
//! Reference: Rahimi and Recht, *Random features for large-scale kernel machines*, 2007.

use super::projected::ProjectedCriterion;
use crate::linalg::{add_product, product_into};
use crate::random::Rng;
use crate::simd::sin_cos;
use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Rows per task.
const BLOCK: usize = 256;

/// HSIC by random Fourier features; see the module documentation.
pub struct Fourier {
    y: Array2<f64>,
    /// A column per frequency.
    omega: Array2<f64>,
}

impl Fourier {
    /// Takes the target's factor, the number of directions and the number of features (two per frequency).
    pub fn new(factor: Array2<f64>, directions: usize, features: usize, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "Fourier features");
        let omega = Array2::from_shape_simple_fn((directions, features.div_ceil(2).max(1)), || rng.normal());
        Self { y: factor.as_standard_layout().into_owned(), omega }
    }

    /// Bytes of a criterion over `n` rows against a target's factor of `targets` columns, and of its gradient.
    pub fn bytes(n: usize, targets: usize, directions: usize, features: usize) -> f64 {
        let frequencies = (features as f64 / 2.0).ceil();
        let blocks = n.div_ceil(BLOCK) as f64;
        // Cosines, sines and a product of a block, for every thread; sums over every block.
        let tasks = blocks.min(rayon::current_num_threads() as f64) * 3.0 * BLOCK.min(n) as f64;
        8.0 * frequencies * (directions as f64 + tasks + 2.0 * targets as f64 * (blocks + 1.0))
    }

    /// Cosines and sines of a block of rows.
    fn waves(&self, p: ArrayView2<f64>) -> (Array2<f64>, Array2<f64>) {
        let mut cosine = Array2::zeros((p.nrows(), self.omega.ncols()));
        product_into(p, self.omega.view(), cosine.view_mut());
        let mut sine = Array2::zeros(cosine.raw_dim());
        sin_cos(
            cosine.as_slice_mut().expect("standard layout"),
            sine.as_slice_mut().expect("standard layout"),
        );
        (cosine, sine)
    }

    /// $C^\top \tilde Y$ and $S^\top \tilde Y$.
    fn target_products(&self, p: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
        let shape = (self.omega.ncols(), self.y.ncols());
        let blocks: Vec<_> =
            p.axis_chunks_iter(Axis(0), BLOCK).zip(self.y.axis_chunks_iter(Axis(0), BLOCK)).collect();
        let parts: Vec<_> = blocks
            .into_par_iter()
            .map(|(p, y)| {
                let (cosine, sine) = self.waves(p);
                let (mut a, mut b) = (Array2::zeros(shape), Array2::zeros(shape));
                product_into(cosine.t(), y, a.view_mut());
                product_into(sine.t(), y, b.view_mut());
                (a, b)
            })
            .collect();
        let mut sum = (Array2::zeros(shape), Array2::zeros(shape));
        for (a, b) in parts {
            sum.0 += &a;
            sum.1 += &b;
        }
        sum
    }
}

impl ProjectedCriterion for Fourier {
    fn value(&self, p: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let n = p.nrows() as f64;
        let unit = 1.0 / (n * n * self.omega.ncols() as f64);
        let (a, b) = self.target_products(p);
        if let Some(gradient) = gradient {
            gradient.axis_chunks_iter_mut(Axis(0), BLOCK).into_par_iter().enumerate().for_each(
                |(task, mut gradient)| {
                    let rows = s![task * BLOCK..task * BLOCK + gradient.nrows(), ..];
                    let (mut cosine, mut sine) = self.waves(p.slice(rows));
                    let y = self.y.slice(rows);
                    let mut along = Array2::zeros(cosine.raw_dim());
                    product_into(y, a.t(), along.view_mut());
                    sine *= &along;
                    product_into(y, b.t(), along.view_mut());
                    cosine *= &along;
                    sine -= &cosine;
                    gradient.fill(0.0);
                    add_product(2.0 * unit, sine.view(), self.omega.t(), gradient);
                },
            );
        }
        -unit * (a.iter().map(|v| v * v).sum::<f64>() + b.iter().map(|v| v * v).sum::<f64>())
    }
}
