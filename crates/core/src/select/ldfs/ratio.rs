//! The two ratio forms, with a fixed scale of $w$.
//!
//! With $A(w) = w^T S_B w$ and $B(w) = w^T (S_W + \rho I) w$ both forms are scale-invariant:
//!
//! $$ -\frac{A(w)}{B(w)} + \lambda \frac{\Omega(w)}{N(w)}, \qquad N(w) = \lVert w \rVert \ \text{ or } \ \sqrt{B(w)}. $$
//!
//! So the scale is free, and with $\Omega(w) = 1$ the penalty term is smooth, $\lambda / N(w)$, and decreases as
//! $w$ grows: this is the minimization of a smooth criterion in the ball $\Omega(w) \le 1$, which [`Spectral`]
//! solves with exact zeros. The solution is then rescaled to $N(w) = 1$. Scatter matrices are never formed: a value
//! and gradient take one product with the data matrix and one with its transpose.

use super::super::row_path::Penalized;
use crate::context::Context;
use crate::data::Classes;
use crate::error::{Error, Result};
use crate::optim::{Criterion, Design, Minimum, PathSolution, Regularizer, Spectral, row_norm};
use crate::outcome::Stop;
use ndarray::{Array1, Array2, Zip};

/// Which norm is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// $\lVert w \rVert$
    Length,
    /// $\sqrt{w^T (S_W + \rho I) w}$
    Within,
}

/// The data of the ratio.
pub(super) struct Ratio {
    design: Design,
    /// The class of each sample, among nonempty classes.
    codes: Vec<usize>,
    /// Number of samples per class.
    counts: Vec<f64>,
    /// Weights of the classes in $S_B$; they sum to 1.
    class_weights: Vec<f64>,
    ridge: f64,
    norm: Norm,
    solver: Spectral,
}

/// The parts of the criterion at a point.
struct Parts {
    /// $A$ and $B$
    between: f64,
    within: f64,
    /// $S_B w$ and $(S_W + \rho I) w$
    between_w: Array2<f64>,
    within_w: Array2<f64>,
}

impl Ratio {
    pub(super) fn new(
        design: Design,
        classes: &Classes,
        (ridge, weighted): (f64, bool),
        norm: Norm,
        solver: Spectral,
    ) -> Self {
        let all = classes.counts();
        let present: Vec<usize> = (0..all.len()).filter(|&c| all[c] > 0).collect();
        let place = |c: usize| present.binary_search(&c).expect("a nonempty class");
        let codes = classes.codes.iter().map(|&c| place(c)).collect();
        let counts: Vec<f64> = present.iter().map(|&c| all[c] as f64).collect();
        let n: f64 = counts.iter().sum();
        let class_weights =
            counts.iter().map(|c| if weighted { c / n } else { 1.0 / counts.len() as f64 }).collect();
        Self { design, codes, counts, class_weights, ridge, norm, solver }
    }

    fn parts(&self, w: &Array2<f64>) -> Parts {
        let n = self.design.n() as f64;
        let projected = self.design.times(w);
        let mut means = vec![0.0; self.counts.len()];
        projected.iter().zip(&self.codes).for_each(|(z, &c)| means[c] += z / self.counts[c]);
        // Features have mean 0, so class means are deviations from the overall mean. One product serves both
        // matrices: S_B w = X^T v with v_i = weight m / n_c, times n.
        let mut both = Array2::zeros((self.codes.len(), 2));
        for (i, (&c, z)) in self.codes.iter().zip(&projected).enumerate() {
            both[[i, 0]] = n * self.class_weights[c] * means[c] / self.counts[c];
            both[[i, 1]] = z - means[c];
        }
        let within = both.column(1).iter().map(|v| v * v).sum::<f64>() / n;
        let products = self.design.transposed_times(&both);
        let column = |k: usize| products.column(k).to_owned().insert_axis(ndarray::Axis(1));
        let square: f64 = w.iter().map(|w| w * w).sum();
        Parts {
            between: means.iter().zip(&self.class_weights).map(|(m, weight)| weight * m * m).sum(),
            within: within + self.ridge * square,
            between_w: column(0),
            within_w: column(1) + &(w * self.ridge),
        }
    }

    /// The fixed norm, at `w`.
    fn norm(&self, w: &Array2<f64>, parts: &Parts) -> f64 {
        match self.norm {
            Norm::Length => w.iter().map(|w| w * w).sum::<f64>().sqrt(),
            Norm::Within => parts.within.sqrt(),
        }
    }

    /// The gradients of $-A / B$ and of $1 / N$.
    fn gradients(&self, w: &Array2<f64>, parts: &Parts) -> (Array2<f64>, Array2<f64>) {
        let quotient = parts.between / parts.within;
        let ratio = (&parts.within_w * quotient - &parts.between_w) * (2.0 / parts.within);
        let cube = self.norm(w, parts).powi(3);
        let norm = match self.norm {
            Norm::Length => w / -cube,
            Norm::Within => &parts.within_w / -cube,
        };
        (ratio, norm)
    }
}

/// The criterion in the ball at one penalty.
pub(super) struct AtPenalty<'a> {
    pub ratio: &'a Ratio,
    pub lambda: f64,
}

impl Criterion for AtPenalty<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.ratio.design.d(), 1)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let parts = self.ratio.parts(w);
        let norm = self.ratio.norm(w, &parts);
        // The ratio is undefined at zero; infinity keeps a step from ending there.
        if !(norm > 0.0 && parts.within > 0.0) {
            return f64::INFINITY;
        }
        let (of_ratio, of_norm) = self.ratio.gradients(w, &parts);
        Zip::from(gradient).and(&of_ratio).and(&of_norm).for_each(|g, a, b| *g = a + self.lambda * b);
        -parts.between / parts.within + self.lambda / norm
    }
}

impl Ratio {
    /// A path point from a solution with $\Omega = 1$, rescaled to $N = 1$.
    fn path_solution(&self, lambda: f64, minimum: Minimum) -> PathSolution {
        let parts = self.parts(&minimum.w);
        let (of_ratio, of_norm) = self.gradients(&minimum.w, &parts);
        let negative_gradient = -(of_ratio + of_norm * lambda);
        let w = &minimum.w / self.norm(&minimum.w, &parts);
        let value = -parts.between / parts.within;
        PathSolution { lambda, minimum: Minimum { w, value, ..minimum }, negative_gradient }
    }
}

impl Penalized for Ratio {
    /// The best single feature, and the penalty above which no other can enter.
    fn first(&self) -> Result<PathSolution> {
        let d = self.design.d();
        // Each feature alone: the value is -S_B / (S_W + rho); for standardized features S_W = 1 - S_B if classes
        // are weighted.
        let univariate_ratios = self.univariate_ratios();
        let best = (0..d).filter(|&j| self.design.curvature(j) > 0.0).max_by(|&a, &b| {
            // Ties are broken by column order.
            univariate_ratios[a].total_cmp(&univariate_ratios[b]).then(b.cmp(&a))
        });
        let Some(best) = best else {
            return Err(Error::Breakdown { step: "LDFS", why: "all columns are constant".into() });
        };
        let mut w = Array2::zeros((d, 1));
        w[[best, 0]] = 1.0;
        let parts = self.parts(&w);
        let (of_ratio, of_norm) = self.gradients(&w, &parts);
        let own = of_norm[[best, 0]].abs();
        let mut lambda = 0.0_f64;
        for j in (0..d).filter(|&j| j != best) {
            // The feature has zero weight where |a + lambda b| <= lambda own. If b is as large as own, no penalty
            // excludes it.
            let (a, b) = (of_ratio[[j, 0]], of_norm[[j, 0]]);
            let room = (own - b * a.signum()).max(0.05 * own);
            lambda = lambda.max(a.abs() / room);
        }
        let objective = -parts.between / parts.within + lambda / self.norm(&w, &parts);
        let minimum = Minimum {
            w,
            value: objective,
            objective,
            optimality: 0.0,
            iterations: 0,
            evaluations: 1,
            stop: Stop::Tolerance,
        };
        Ok(self.path_solution(lambda, minimum))
    }

    fn solve(&self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution> {
        let start = &from.minimum.w / row_norm(&from.minimum.w);
        let criterion = AtPenalty { ratio: self, lambda };
        let minimum = self.solver.minimize(&criterion, Regularizer::Ball(1.0), start, ctx)?;
        Ok(self.path_solution(lambda, minimum))
    }

    fn varies(&self, column: usize) -> bool {
        self.design.curvature(column) > 0.0
    }

    fn is_nonconvex(&self) -> bool {
        true
    }
}

impl Ratio {
    /// $S_{B,jj} / (S_{W,jj} + \rho)$ of every feature.
    fn univariate_ratios(&self) -> Array1<f64> {
        let n = self.design.n() as f64;
        let classes = self.counts.len();
        // Class means of all features, by a product with the class indicators.
        let mut indicators = Array2::zeros((self.codes.len(), classes));
        for (i, &c) in self.codes.iter().enumerate() {
            indicators[[i, c]] = n / self.counts[c];
        }
        let means = self.design.transposed_times(&indicators);
        (0..self.design.d())
            .map(|j| {
                let sums = |weight: &dyn Fn(usize) -> f64| -> f64 {
                    (0..classes).map(|c| weight(c) * means[[j, c]] * means[[j, c]]).sum()
                };
                let within = self.design.curvature(j) - sums(&|c| self.counts[c] / n);
                sums(&|c| self.class_weights[c]) / (within.max(0.0) + self.ridge)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::gradient_error;
    use crate::random::Rng;

    fn example(norm: Norm, weighted: bool) -> (Ratio, Array2<f64>, Vec<usize>) {
        let mut rng = Rng::new(4);
        let codes: Vec<usize> = (0..30).map(|i| if i % 5 == 0 { 2 } else { i % 2 }).collect();
        let mut x = Array2::from_shape_fn((30, 5), |(i, j)| {
            rng.normal() + if j == 1 { codes[i] as f64 } else { 0.0 }
        });
        let means = x.mean_axis(ndarray::Axis(0)).unwrap();
        x -= &means;
        let design = Design::dense(x.view(), &[0.0; 5], &[1.0; 5]);
        let classes = Classes::from_codes(codes.clone());
        (Ratio::new(design, &classes, (0.1, weighted), norm, Spectral::default()), x, codes)
    }

    #[test]
    fn parts_equal_the_scatter_matrices() {
        for weighted in [true, false] {
            let (ratio, x, codes) = example(Norm::Length, weighted);
            let (mut between, mut within) = (Array2::<f64>::zeros((5, 5)), Array2::<f64>::eye(5) * 0.1);
            for c in 0..3 {
                let rows: Vec<usize> = (0..30).filter(|&i| codes[i] == c).collect();
                let part = x.select(ndarray::Axis(0), &rows);
                let mean = part.mean_axis(ndarray::Axis(0)).unwrap().insert_axis(ndarray::Axis(0));
                let weight = if weighted { rows.len() as f64 / 30.0 } else { 1.0 / 3.0 };
                between = between + mean.t().dot(&mean) * weight;
                let rest = &part - &mean;
                within = within + rest.t().dot(&rest) / 30.0;
            }
            let w = Array2::from_shape_fn((5, 1), |(j, _)| 0.3 - 0.2 * j as f64);
            let parts = ratio.parts(&w);
            assert!((&parts.between_w - &between.dot(&w)).iter().all(|e| e.abs() < 1e-14));
            assert!((&parts.within_w - &within.dot(&w)).iter().all(|e| e.abs() < 1e-14));
            assert!((parts.between - w.t().dot(&between).dot(&w)[[0, 0]]).abs() < 1e-14);
            assert!((parts.within - w.t().dot(&within).dot(&w)[[0, 0]]).abs() < 1e-14);
            let univariate_ratios = ratio.univariate_ratios();
            assert!((0..5).all(|j| (univariate_ratios[j] - between[[j, j]] / within[[j, j]]).abs() < 1e-13));
        }
    }

    #[test]
    fn gradients_equal_finite_differences() {
        let mut rng = Rng::new(9);
        let w = Array2::from_shape_simple_fn((5, 1), || rng.normal());
        for norm in [Norm::Length, Norm::Within] {
            for weighted in [true, false] {
                let (ratio, ..) = example(norm, weighted);
                let error = gradient_error(&AtPenalty { ratio: &ratio, lambda: 0.3 }, &w, 1e-5);
                assert!(error < 1e-6, "{norm:?}: {error}");
            }
        }
        let (ratio, ..) = example(Norm::Length, true);
        assert_eq!(AtPenalty { ratio: &ratio, lambda: 0.3 }.value(&Array2::zeros((5, 1))), f64::INFINITY);
    }

    #[test]
    fn a_second_feature_enters_below_the_first_penalty() {
        let (ratio, ..) = example(Norm::Length, true);
        let first = ratio.first().unwrap();
        let ctx = Context::default();
        let used = |lambda: f64| {
            let solution = ratio.solve(lambda, &first, &ctx).unwrap();
            solution.minimum.w.iter().filter(|&&w| w != 0.0).count()
        };
        assert_eq!(first.minimum.w[[1, 0]], 1.0, "the relevant feature is the best single one");
        assert_eq!((used(1.001 * first.lambda), used(0.98 * first.lambda)), (1, 2));
    }
}
