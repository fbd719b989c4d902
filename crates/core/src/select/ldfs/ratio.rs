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
use super::super::standard::{root_weights, weighted};
use crate::context::Context;
use crate::data::{Classes, Groups, Weights};
use crate::error::{Error, Result};
use crate::linalg::symmetric_eigen;
use crate::optim::{
    Criterion, Design, Minimum, PathSolution, Regularizer, Spectral, blocks, group_norm, l1_norm, max_abs,
};
use crate::outcome::Stop;
use ndarray::{Array1, Array2, Zip, s};
use std::ops::Range;

/// Which norm is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Norm {
    /// $\lVert w \rVert$
    Length,
    /// $\sqrt{w^T (S_W + \rho I) w}$
    Within,
}

/// The scatter matrices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    /// $\rho$
    pub ridge: f64,
    /// Whether classes are weighted by their number of samples in $S_B$.
    pub weighted: bool,
}

/// The data of the ratio.
pub(super) struct Ratio {
    /// The columns of each feature, divided by its weight in the penalty.
    design: Design,
    groups: Groups,
    weights: Vec<f64>,
    /// The class of each sample, among nonempty classes.
    codes: Vec<usize>,
    /// By what each row of the design is multiplied: 1 without weights.
    roots: Vec<f64>,
    /// Number of samples per class; with weights, their sum in units of the mean weight.
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
        groups: Groups,
        (classes, weights): (&Classes, Weights),
        scatter: Scatter,
        norm: Norm,
        solver: Spectral,
    ) -> Self {
        let all = classes.weighted_counts(weights);
        let present: Vec<usize> = (0..all.len()).filter(|&c| all[c] > 0.0).collect();
        let place = |c: usize| present.binary_search(&c).expect("a nonempty class");
        let codes = classes.codes.iter().map(|&c| place(c)).collect();
        let rows = classes.codes.len();
        let unit = rows as f64 / weights.total(rows);
        let roots = root_weights(weights, rows).unwrap_or_else(|| vec![1.0; rows]);
        let counts: Vec<f64> = present.iter().map(|&c| unit * all[c]).collect();
        let n: f64 = counts.iter().sum();
        let class_weights =
            counts.iter().map(|c| if scatter.weighted { c / n } else { 1.0 / counts.len() as f64 }).collect();
        let (design, weights) = weighted(design, &groups);
        let ridge = scatter.ridge;
        Self { design, groups, weights, codes, roots, counts, class_weights, ridge, norm, solver }
    }

    fn parts(&self, w: &Array2<f64>) -> Parts {
        let n = self.design.n() as f64;
        let projected = self.design.times(w);
        let mut means = vec![0.0; self.counts.len()];
        for ((z, &c), root) in projected.iter().zip(&self.codes).zip(&self.roots) {
            means[c] += root * z / self.counts[c];
        }
        // Features have mean 0, so class means are deviations from the overall mean. One product serves both
        // matrices: S_B w = X^T v with v_i = weight m / n_c, times n.
        let mut both = Array2::zeros((self.codes.len(), 2));
        for (i, (&c, z)) in self.codes.iter().zip(&projected).enumerate() {
            both[[i, 0]] = self.roots[i] * (n * self.class_weights[c] * means[c] / self.counts[c]);
            both[[i, 1]] = z - self.roots[i] * means[c];
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
    /// The best single feature, and the penalty above which no other can enter. If features have several columns, the
    /// solution at that penalty.
    fn first(&self, ctx: &Context) -> Result<PathSolution> {
        let (best, w) = self.best_feature()?;
        let parts = self.parts(&w);
        let (of_ratio, of_norm) = self.gradients(&w, &parts);
        let own = -(w.iter().zip(&of_norm).map(|(w, b)| w * b).sum::<f64>());
        let mut lambda = 0.0_f64;
        let gradients = blocks(&of_ratio, &self.groups).zip(blocks(&of_norm, &self.groups));
        for (_, (a, b)) in gradients.enumerate().filter(|(j, _)| *j != best) {
            // The feature has zero weight where ||a + lambda b||_1 <= lambda own. If b is as large as own, no penalty
            // excludes it.
            let along: f64 = a.iter().zip(b).map(|(a, b)| b * a.signum()).sum();
            let room = (own - along).max(0.05 * own);
            lambda = lambda.max(l1_norm(a) / room);
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
        let first = self.path_solution(lambda, minimum);
        // The weights within a feature of several columns depend on the penalty.
        if self.groups.is_single() { Ok(first) } else { self.solve(lambda, &first, ctx) }
    }

    fn solve(&self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution> {
        let start = &from.minimum.w / group_norm(&from.minimum.w, &self.groups);
        let criterion = AtPenalty { ratio: self, lambda };
        let ball = Regularizer::Ball(1.0);
        let minimum = self.solver.minimize_groups(&criterion, ball, &self.groups, start, ctx)?;
        Ok(self.path_solution(lambda, minimum))
    }

    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn varies(&self, feature: usize) -> bool {
        self.groups.columns(feature).any(|j| self.design.curvature(j) > 0.0)
    }

    fn is_nonconvex(&self) -> bool {
        true
    }
}

impl Ratio {
    /// The feature with the largest ratio by itself, and its weights, at most 1.
    fn best_feature(&self) -> Result<(usize, Array2<f64>)> {
        let means = self.class_means();
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for j in (0..self.groups.n_features()).filter(|&j| self.varies(j)) {
            let columns = self.groups.columns(j);
            let (ratio, weights) = match columns.len() {
                1 => (self.univariate_ratio(columns.start, &means), vec![1.0]),
                _ => self.largest_ratio(columns, &means)?,
            };
            // Ties are broken by column order.
            if best.as_ref().is_none_or(|(most, ..)| ratio.total_cmp(most).is_gt()) {
                best = Some((ratio, j, weights));
            }
        }
        let Some((_, best, weights)) = best else {
            return Err(Error::Breakdown { step: "LDFS", why: "all columns are constant".into() });
        };
        let mut w = Array2::zeros((self.design.d(), 1));
        w.slice_mut(s![self.groups.columns(best), 0]).assign(&Array1::from(weights));
        Ok((best, w))
    }

    /// Class means of all columns, by a product with the class indicators.
    fn class_means(&self) -> Array2<f64> {
        let n = self.design.n() as f64;
        let mut indicators = Array2::zeros((self.codes.len(), self.counts.len()));
        for (i, &c) in self.codes.iter().enumerate() {
            indicators[[i, c]] = self.roots[i] * n / self.counts[c];
        }
        self.design.transposed_times(&indicators)
    }

    /// $S_{B,jj} / (S_{W,jj} + \rho)$ of a column.
    fn univariate_ratio(&self, j: usize, means: &Array2<f64>) -> f64 {
        let n = self.design.n() as f64;
        let sums = |weight: &dyn Fn(usize) -> f64| -> f64 {
            (0..self.counts.len()).map(|c| weight(c) * means[[j, c]] * means[[j, c]]).sum()
        };
        let within = self.design.curvature(j) - sums(&|c| self.counts[c] / n);
        sums(&|c| self.class_weights[c]) / (within.max(0.0) + self.ridge)
    }

    /// The largest ratio of combinations of some columns, and the weights, scaled to a largest of 1.
    fn largest_ratio(&self, columns: Range<usize>, means: &Array2<f64>) -> Result<(f64, Vec<f64>)> {
        let n = self.design.n() as f64;
        let means = means.slice(s![columns.clone(), ..]);
        let scatter = |weights: Array1<f64>| (&means * &weights).dot(&means.t());
        let mut within = self.design.block_products(columns)
            - scatter(self.counts.iter().map(|count| count / n).collect());
        within.diag_mut().iter_mut().for_each(|v| *v += self.ridge);
        // With within = V L V^T and w = V L^-1/2 u, the ratio is a quadratic form in u.
        let eigen = symmetric_eigen(within.view())?;
        let whitening = &eigen.vectors / &eigen.values.mapv(|v| v.max(0.5 * self.ridge).sqrt());
        let between = scatter(self.class_weights.iter().copied().collect());
        let ratio = symmetric_eigen(whitening.t().dot(&between).dot(&whitening).view())?;
        let weights = whitening.dot(&ratio.vectors.column(0)).to_vec();
        let size = max_abs(&weights);
        Ok((ratio.values[0], weights.into_iter().map(|w| w / size).collect()))
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
        let scatter = Scatter { ridge: 0.1, weighted };
        let groups = Groups::single(5);
        (Ratio::new(design, groups, (&classes, Weights::ONE), scatter, norm, Spectral::default()), x, codes)
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
            let means = ratio.class_means();
            let univariate = |j: usize| ratio.univariate_ratio(j, &means);
            assert!((0..5).all(|j| (univariate(j) - between[[j, j]] / within[[j, j]]).abs() < 1e-13));
            // Some columns together: the ratio of the weights, which no other combination exceeds.
            let (largest, weights) = ratio.largest_ratio(1..4, &means).unwrap();
            let at = |w: &[f64]| {
                let form = |m: &Array2<f64>| -> f64 {
                    (0..9).map(|k| w[k / 3] * w[k % 3] * m[[1 + k / 3, 1 + k % 3]]).sum()
                };
                form(&between) / form(&within)
            };
            assert!((at(&weights) - largest).abs() < 1e-12 && max_abs(&weights) == 1.0);
            let mut rng = Rng::new(1);
            assert!((0..100).all(|_| at(&[0; 3].map(|_| rng.normal())) <= largest + 1e-12));
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
        let ctx = Context::default();
        let first = ratio.first(&ctx).unwrap();
        let used = |lambda: f64| {
            let solution = ratio.solve(lambda, &first, &ctx).unwrap();
            solution.minimum.w.iter().filter(|&&w| w != 0.0).count()
        };
        assert_eq!(first.minimum.w[[1, 0]], 1.0, "the relevant feature is the best single one");
        assert_eq!((used(1.001 * first.lambda), used(0.98 * first.lambda)), (1, 2));
    }
}
