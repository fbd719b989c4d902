//! Block coordinate descent for least squares penalized by the l1/l-infinity norm; a block is a row of $W$.
//!
//! $$ \min_W P(W) = \tfrac{1}{2n} \lVert T - X W \rVert_F^2 + \lambda \Omega(W), \qquad \Omega(W) = \sum_j \max_k |w_{jk}| $$
//!
//! The problem is convex. With all other rows fixed, a row has a closed form: with $R = T - XW$ and $L_j = \lVert X_j \rVert^2 / n$,
//!
//! $$ w_j \leftarrow \operatorname{prox}\_{(\lambda / L_j) \lVert \cdot \rVert_\infty}\bigl( w_j + X_j^T R / (n L_j) \bigr). $$
//!
//! A feature of several columns ([`Groups`]) has a block of several rows of $W$, whose entries count as one row in $\Omega$. Its step
//! is the same with a curvature for each row, $L_l = \mu_j \lVert X_l \rVert^2 / n$, where $\mu_j$ is the largest eigenvalue of the
//! correlation matrix of the columns. That bounds the curvature of the block: the step is not the minimum over the block, but a decrease,
//! and zero only where the block is optimal. For a category $\mu_j = 1$, so rare levels take steps as long as frequent ones.
//!
//! Sweeps visit the nonzero rows until they converge, then all rows that pass the strong rule,
//! $\lVert X_j^T R_0 / n \rVert_1 \ge 2 \lambda - \lambda_0$ with the residual at the last $\lambda_0$. Then the optimality conditions of
//! all rows are checked, and rows that the strong rule discarded wrongly are added.
//!
//! The dual is $\max_\Theta \langle \Theta, T \rangle - \tfrac n2 \lVert \Theta \rVert^2$ subject to
//! $\max_j \lVert X_j^T \Theta \rVert_1 \le \lambda$. $\Theta = s R / n$ with the best feasible $s$ gives a lower bound and so a duality
//! gap. The solver has converged if both conditions hold:
//!
//! * the duality gap is at most `tolerance` times $P(0)$;
//! * no row would change by more than `tolerance` in its step, in the units of the gradient: the largest entry of
//!   $L_j (w_j - w_j^+)$, row by row, which is zero exactly where the first-order conditions hold.
//!
//! The reported optimality measure is the larger of the two, with the gap relative to $P(0)$. From
//! $\lambda_{\max} = \max_j \lVert X_j^T T / n \rVert_1$ on, zero is optimal.
//!
//! Cost: $O(n q)$ per row and sweep; for sparse columns, $q$ times the number of nonzeros. Dense problems with at most 1000
//! columns and at least twice as many rows are first compressed to as many rows as columns: $O(n d^2)$ once, then $O(d q)$ per
//! row. Sweeps run on one thread; checks of all rows run on all threads, in blocks of a fixed size.
//!
//! Reference: Tibshirani and others, *Strong rules for discarding predictors in lasso-type problems*, 2012;
//! Tseng, *Convergence of a block coordinate descent method for nondifferentiable minimization*, 2001.

use super::criterion::Criterion;
use super::design::{Design, Residual, compresses};
use super::row_norm::{blocks, dual_group_norm, group_norm, l1_norm, max_abs, prox_block};
use super::spectral::{Minimum, not_finite};
use crate::context::Context;
use crate::data::Groups;
use crate::error::{Error, Result};
use crate::linalg::product_bytes;
use crate::outcome::Stop;
use ndarray::Array2;

const NAME: &str = "block descent";

/// A zero row becomes nonzero only if its gradient exceeds the penalty by this fraction: the gradient of a duplicate of a nonzero
/// row equals the penalty up to rounding.
const ENTRY_MARGIN: f64 = 1e-11;

/// The least-squares problem, at any penalty.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    design: Design,
    target: Array2<f64>,
    /// The columns of each feature.
    groups: Groups,
    /// $L_l$ of each column.
    curvature: Vec<f64>,
    /// $P(0)$
    at_zero: f64,
    /// Difference between the values of the original and the compressed problem.
    constant: f64,
}

/// The solution at one penalty of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathSolution {
    /// The penalty.
    pub lambda: f64,
    /// The minimum.
    pub minimum: Minimum,
    /// The negative gradient of the criterion, $X^T R / n$, row-major. A zero feature enters when its l1 norm reaches `lambda`.
    pub negative_gradient: Array2<f64>,
}

impl LeastSquares {
    /// Memory in bytes for a problem and its path, besides the design: targets and residuals, weights and gradients of the
    /// stored solutions, and the eigenvectors for compression.
    pub fn bytes(n: usize, d: usize, targets: usize, sparse: bool) -> f64 {
        let (nq, dq) = ((n * targets) as f64, (d * targets) as f64);
        let square = (d * d) as f64;
        let setup =
            if !sparse && compresses(n, d) { (5.2 * square).max(3.0 * square + 2.0 * nq) } else { nq };
        8.0 * (nq + setup.max(7.0 * dq)) + product_bytes()
    }

    /// A problem with the given design matrix and targets, one row per sample, and the columns of each feature.
    pub fn new(design: Design, target: Array2<f64>, groups: Groups) -> Result<Self> {
        if target.nrows() != design.n() {
            return Err(Error::Shape {
                what: "rows of the targets".into(),
                expected: design.n().to_string(),
                got: target.nrows().to_string(),
            });
        }
        let finite = (0..design.d()).all(|j| design.curvature(j).is_finite());
        if !finite || !target.iter().all(|t| t.is_finite()) {
            return Err(Error::Breakdown {
                step: NAME,
                why: "squares of some features overflow; scale the features".into(),
            });
        }
        let half_square = |t: &Array2<f64>| t.iter().map(|t| t * t).sum::<f64>() / (2.0 * t.nrows() as f64);
        let at_zero = half_square(&target);
        let (design, target) = design.compressed(&target)?.unwrap_or((design, target));
        let constant = at_zero - half_square(&target);
        let bounds = groups.iter().map(|columns| design.block_curvature(columns));
        let curvature = bounds.collect::<Result<Vec<_>>>()?.concat();
        Ok(Self { design, target, groups, curvature, at_zero, constant })
    }

    /// The columns of each feature.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// The zero solution at $\lambda_{\max}$, the smallest penalty at which zero is optimal.
    pub fn null_solution(&self) -> PathSolution {
        let w = Array2::zeros(self.shape());
        let residual = self.design.residual(&self.target, &w);
        let negative_gradient = self.design.products(&residual, self.target.ncols());
        let value = self.at_zero;
        let minimum = Minimum {
            w,
            value,
            objective: value,
            optimality: 0.0,
            iterations: 0,
            evaluations: 1,
            stop: Stop::Tolerance,
        };
        PathSolution { lambda: dual_group_norm(&negative_gradient, &self.groups), minimum, negative_gradient }
    }

    /// Whether a feature has a nonzero value.
    pub fn varies(&self, feature: usize) -> bool {
        self.curvature[self.groups.columns(feature).start] > 0.0
    }

    fn value_of(&self, residual: &Residual) -> f64 {
        residual.sums(&self.target).0 / (2.0 * self.design.n() as f64) + self.constant
    }
}

impl Criterion for LeastSquares {
    fn shape(&self) -> (usize, usize) {
        (self.design.d(), self.target.ncols())
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let residual = self.design.residual(&self.target, w);
        let negative_gradient = self.design.products(&residual, self.target.ncols());
        gradient.zip_mut_with(&negative_gradient, |g, n| *g = -n);
        self.value_of(&residual)
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.value_of(&self.design.residual(&self.target, w))
    }
}

/// The solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockDescent {
    /// Tolerance for the optimality measure; see the module documentation.
    pub tolerance: f64,
    /// Maximum number of sweeps per penalty.
    pub max_iterations: usize,
}

impl Default for BlockDescent {
    /// A tolerance of 1e-6 and 10,000 sweeps.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 10_000 }
    }
}

impl BlockDescent {
    /// The solution at a penalty, starting from another solution.
    pub fn minimize(
        &self,
        problem: &LeastSquares,
        lambda: f64,
        from: &PathSolution,
        ctx: &Context,
    ) -> Result<PathSolution> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::param(NAME, "penalty", "0 or a positive number", lambda));
        }
        let groups = &problem.groups;
        if lambda >= dual_group_norm(&from.negative_gradient, groups)
            && from.minimum.w.iter().all(|&w| w == 0.0)
        {
            // Exactly zero, without the rounding error of a sweep.
            return Ok(PathSolution { lambda, ..from.clone() });
        }
        let (d, q) = (groups.n_features(), problem.target.ncols());
        let at_zero = problem.at_zero;
        let mut state = State::new(problem, lambda, from.minimum.w.clone());
        let strong_rule = 2.0 * lambda - from.lambda.max(lambda);
        let gradients = blocks(&from.negative_gradient, groups).enumerate();
        let mut candidate: Vec<bool> =
            gradients.map(|(j, g)| state.is_nonzero(j) || l1_norm(g) >= strong_rule).collect();
        let mut tolerance = self.tolerance.max(1e-10);
        let (mut iterations, mut evaluations) = (0, 0);
        loop {
            let features: Vec<usize> = (0..d).filter(|&j| candidate[j] && problem.varies(j)).collect();
            iterations += state.converge(&features, tolerance, self.max_iterations - iterations, ctx)?;
            // Remove accumulated rounding error before all features are checked.
            state.residual = problem.design.residual(&problem.target, &state.w);
            let negative_gradient = problem.design.products(&state.residual, q);
            evaluations += 1;
            let gap = state.gap(&negative_gradient);
            let relative_gap = if at_zero > 0.0 { gap / at_zero } else { gap };
            let optimality = state.violation(&negative_gradient).max(relative_gap);
            if !optimality.is_finite() {
                return Err(not_finite("during the iterations"));
            }
            let gradients = blocks(&negative_gradient, groups).enumerate();
            let missed: Vec<usize> =
                gradients.filter(|(j, g)| !candidate[*j] && l1_norm(g) > lambda).map(|(j, _)| j).collect();
            let stop = if optimality <= self.tolerance {
                Some(Stop::Tolerance)
            } else if iterations >= self.max_iterations {
                Some(Stop::MaxIterations)
            } else if missed.is_empty() && tolerance < 1e-14 {
                Some(Stop::Stationary)
            } else {
                None
            };
            if let Some(stop) = stop {
                let value = problem.value_of(&state.residual);
                let w = state.w;
                let objective = value + lambda * group_norm(&w, groups);
                let minimum = Minimum { w, value, objective, optimality, iterations, evaluations, stop };
                return Ok(PathSolution { lambda, minimum, negative_gradient });
            }
            if missed.is_empty() {
                tolerance *= 0.1;
            }
            missed.iter().for_each(|&j| candidate[j] = true);
        }
    }

    /// Solutions at each penalty in turn, preferably decreasing, each starting from the previous one.
    #[cfg(test)]
    fn path(&self, problem: &LeastSquares, lambdas: &[f64], ctx: &Context) -> Result<Vec<PathSolution>> {
        let mut path: Vec<PathSolution> = vec![];
        for (at, &lambda) in lambdas.iter().enumerate() {
            ctx.step("path", at, lambdas.len())?;
            let solution = match path.last() {
                Some(last) => self.minimize(problem, lambda, last, ctx)?,
                None => self.minimize(problem, lambda, &problem.null_solution(), ctx)?,
            };
            path.push(solution);
        }
        Ok(path)
    }
}

/// A geometric sequence of `count` penalties from `max` down to `ratio * max`.
pub fn geometric(max: f64, ratio: f64, count: usize) -> Vec<f64> {
    let steps = count.max(2) - 1;
    (0..count).map(|i| max * ratio.powf(i as f64 / steps as f64)).collect()
}

/// The step of a feature from `old`: `next` is its negative gradient before and its new weights after.
fn step(next: &mut [f64], old: &[f64], curvature: &[f64], lambda: f64) {
    let q = next.len() / curvature.len();
    for ((next, old), c) in next.chunks_exact_mut(q).zip(old.chunks_exact(q)).zip(curvature) {
        next.iter_mut().zip(old).for_each(|(z, w)| *z = w + *z / c);
    }
    prox_block(next, curvature, lambda);
}

/// The largest change of a feature, in the units of the gradient.
fn largest_move(change: &[f64], curvature: &[f64]) -> f64 {
    let rows = change.chunks_exact(change.len() / curvature.len());
    rows.zip(curvature).map(|(row, c)| c * max_abs(row)).fold(0.0, f64::max)
}

/// The current weights and their residual.
struct State<'a> {
    problem: &'a LeastSquares,
    lambda: f64,
    w: Array2<f64>,
    residual: Residual,
}

impl<'a> State<'a> {
    fn new(problem: &'a LeastSquares, lambda: f64, w: Array2<f64>) -> Self {
        let residual = problem.design.residual(&problem.target, &w);
        Self { problem, lambda, w, residual }
    }

    fn is_nonzero(&self, j: usize) -> bool {
        let mut rows = self.problem.groups.columns(j);
        rows.any(|column| self.w.row(column).iter().any(|&w| w != 0.0))
    }

    /// Sweeps over `features` until none changes by more than `tolerance`. Returns the number of sweeps.
    fn converge(
        &mut self,
        features: &[usize],
        tolerance: f64,
        max_sweeps: usize,
        ctx: &Context,
    ) -> Result<usize> {
        let mut sweeps = 0;
        while sweeps < max_sweeps {
            ctx.check()?;
            let change = self.sweep(features);
            sweeps += 1;
            if change <= tolerance {
                break;
            }
            let nonzero: Vec<usize> = features.iter().copied().filter(|&j| self.is_nonzero(j)).collect();
            while sweeps < max_sweeps {
                ctx.check()?;
                let change = self.sweep(&nonzero);
                sweeps += 1;
                if change <= tolerance {
                    break;
                }
            }
        }
        Ok(sweeps)
    }

    /// One step of each feature. Returns the largest change, in the units of the gradient.
    fn sweep(&mut self, features: &[usize]) -> f64 {
        let problem = self.problem;
        let q = self.w.ncols();
        let weights = self.w.as_slice_mut().expect("row-major");
        let (mut next, mut change) = (vec![], vec![]);
        let mut largest = 0.0_f64;
        for &j in features {
            let columns = problem.groups.columns(j);
            let curvature = &problem.curvature[columns.clone()];
            let old = &mut weights[columns.start * q..columns.end * q];
            next.resize(old.len(), 0.0);
            change.resize(old.len(), 0.0);
            for (column, next) in columns.clone().zip(next.chunks_exact_mut(q)) {
                problem.design.product(column, &self.residual, next);
            }
            if l1_norm(&next) <= self.lambda * (1.0 + ENTRY_MARGIN) && old.iter().all(|&w| w == 0.0) {
                continue;
            }
            step(&mut next, old, curvature, self.lambda);
            change.iter_mut().zip(&next).zip(&*old).for_each(|((c, new), old)| *c = new - old);
            let moved = largest_move(&change, curvature);
            if moved > 0.0 {
                for (column, change) in columns.zip(change.chunks_exact(q)) {
                    problem.design.subtract(column, change, &mut self.residual);
                }
                old.copy_from_slice(&next);
            }
            largest = largest.max(moved);
        }
        largest
    }

    /// The largest change of any feature in its step, in the units of the gradient.
    fn violation(&self, negative_gradient: &Array2<f64>) -> f64 {
        let groups = &self.problem.groups;
        let mut worst = 0.0_f64;
        let of_features = blocks(&self.w, groups).zip(blocks(negative_gradient, groups));
        for (j, (old, gradient)) in of_features.enumerate().filter(|(j, _)| self.problem.varies(*j)) {
            let curvature = &self.problem.curvature[groups.columns(j)];
            let mut next = gradient.to_vec();
            step(&mut next, old, curvature, self.lambda);
            next.iter_mut().zip(old).for_each(|(new, old)| *new -= old);
            if next.iter().any(|change| change.is_nan()) {
                return f64::NAN;
            }
            worst = worst.max(largest_move(&next, curvature));
        }
        worst
    }

    /// The duality gap.
    fn gap(&self, negative_gradient: &Array2<f64>) -> f64 {
        let n = self.problem.design.n() as f64;
        let (square, along) = self.residual.sums(&self.problem.target);
        let (square, along) = (square / n, along / n);
        let primal = 0.5 * square + self.lambda * group_norm(&self.w, &self.problem.groups);
        let dual_norm = dual_group_norm(negative_gradient, &self.problem.groups);
        let limit = self.lambda / dual_norm.max(f64::MIN_POSITIVE);
        let scale = if square > 0.0 { (along / square).clamp(-limit, limit) } else { 0.0 };
        primal - (scale * along - 0.5 * scale * scale * square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{Regularizer, SparseColumns, Spectral, gradient_error};
    use crate::random::Rng;

    /// Correlated columns with about a third of zeros, and targets that depend on a few of them.
    fn example(seed: u64, n: usize, d: usize, q: usize) -> (Array2<f64>, Array2<f64>) {
        let mut rng = Rng::new(seed);
        let mut x = Array2::from_shape_simple_fn((n, d), || {
            let v = rng.normal();
            if v.abs() < 0.45 { 0.0 } else { v }
        });
        for i in 0..n {
            for j in 1..d {
                if x[[i, j]] != 0.0 {
                    x[[i, j]] += 0.7 * x[[i, j - 1]];
                }
            }
        }
        let mix = Array2::from_shape_fn((d, q), |(j, _)| if j % 7 == 2 { rng.normal() } else { 0.0 });
        let noise = Array2::from_shape_simple_fn((n, q), || 0.3 * rng.normal());
        let target = x.dot(&mix) + noise;
        (x, target)
    }

    fn moments(x: &Array2<f64>) -> (Vec<f64>, Vec<f64>) {
        let n = x.nrows() as f64;
        let center: Vec<f64> = x.columns().into_iter().map(|c| c.sum() / n).collect();
        let columns = x.columns().into_iter().zip(&center);
        let scale =
            columns.map(|(c, m)| 1.0 / (c.iter().map(|v| (v - m).powi(2)).sum::<f64>() / n).sqrt()).collect();
        (center, scale)
    }

    fn dense(x: &Array2<f64>, target: &Array2<f64>) -> LeastSquares {
        let (center, scale) = moments(x);
        let design = Design::dense(x.view(), &center, &scale);
        LeastSquares::new(design, target.clone(), Groups::single(x.ncols())).unwrap()
    }

    /// The same problem with other features.
    fn grouped(problem: &LeastSquares, sizes: &[usize]) -> LeastSquares {
        let groups = Groups::of_sizes(sizes.iter().copied());
        LeastSquares::new(problem.design.clone(), problem.target.clone(), groups).unwrap()
    }

    fn sparse(x: &Array2<f64>, target: &Array2<f64>) -> LeastSquares {
        let mut columns = SparseColumns { start: vec![0], ..SparseColumns::default() };
        for column in x.columns() {
            for (i, &v) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.row.push(i as u32);
                columns.value.push(v);
            }
            columns.start.push(columns.row.len());
        }
        let (center, scale) = moments(x);
        let design = Design::sparse(x.nrows(), columns, center, scale);
        LeastSquares::new(design, target.clone(), Groups::single(x.ncols())).unwrap()
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (x, target) = example(1, 15, 6, 3);
        let mut rng = Rng::new(2);
        let w = Array2::from_shape_simple_fn((6, 3), || rng.normal());
        for problem in [dense(&x, &target), sparse(&x, &target)] {
            // Quadratic: central differences are exact up to rounding.
            assert!(gradient_error(&problem, &w, 1e-4) < 1e-9);
        }
    }

    #[test]
    fn agrees_with_the_spectral_solver() {
        let ctx = Context::default();
        for seed in 0..4 {
            let (x, target) = example(seed, 40, 25, 1 + seed as usize);
            for problem in [dense(&x, &target), sparse(&x, &target)] {
                let lambdas = geometric(problem.null_solution().lambda, 0.01, 6);
                let path = BlockDescent::default().path(&problem, &lambdas, &ctx).unwrap();
                assert!(path[0].minimum.w.iter().all(|&w| w == 0.0), "zero at lambda_max");
                for solution in &path[1..] {
                    let end = &solution.minimum;
                    assert!(end.stop == Stop::Tolerance && end.optimality <= 1e-6, "{end:?}");
                    assert!(end.w.iter().any(|&w| w != 0.0));
                    let other = Spectral { tolerance: 1e-8, max_iterations: 20_000, memory: 10 }
                        .minimize(
                            &problem,
                            Regularizer::Penalty(solution.lambda),
                            Array2::zeros(end.w.dim()),
                            &ctx,
                        )
                        .unwrap();
                    // Both objectives are within 1e-6 P(0) of the minimum; for one the duality gap proves it.
                    let slack = 1e-6 * problem.at_zero;
                    assert!((end.objective - other.objective).abs() <= slack, "{seed} {}", solution.lambda);
                }
                let sizes: Vec<usize> = path
                    .iter()
                    .map(|p| p.minimum.w.rows().into_iter().filter(|r| r.iter().any(|&w| w != 0.0)).count())
                    .collect();
                assert!(sizes[5] > sizes[1], "{sizes:?}");
            }
        }
    }

    #[test]
    fn features_of_several_columns_are_optimal() {
        let ctx = Context::default();
        let (x, target) = example(4, 40, 25, 2);
        let sizes = [3, 1, 1, 6, 2, 1, 4, 1, 6];
        for problem in [dense(&x, &target), sparse(&x, &target)] {
            let problem = grouped(&problem, &sizes);
            let lambdas = geometric(problem.null_solution().lambda, 0.01, 6);
            let path = BlockDescent::default().path(&problem, &lambdas, &ctx).unwrap();
            for solution in &path[1..] {
                let (end, lambda) = (&solution.minimum, solution.lambda);
                assert!(end.stop == Stop::Tolerance && end.optimality <= 1e-6, "{end:?}");
                for (w, g) in
                    blocks(&end.w, &problem.groups).zip(blocks(&solution.negative_gradient, &problem.groups))
                {
                    // First-order conditions, to the tolerance in each of up to twelve entries: zero blocks have ||g||_1 <=
                    // lambda, others equality and <g, w> = lambda max |w|.
                    let inner: f64 = w.iter().zip(g).map(|(w, g)| w * g).sum();
                    assert!(l1_norm(g) <= lambda + 12e-6);
                    assert!((inner - lambda * max_abs(w)).abs() <= 12e-6 * (1.0 + max_abs(w)));
                }
                let other = Spectral { tolerance: 1e-8, max_iterations: 20_000, memory: 10 }
                    .minimize_groups(
                        &problem,
                        Regularizer::Penalty(lambda),
                        &problem.groups,
                        Array2::zeros(end.w.dim()),
                        &ctx,
                    )
                    .unwrap();
                // The duality gap of one is at most 1e-6 P(0); the other is not above by more.
                assert!((end.objective - other.objective).abs() <= 1e-6 * problem.at_zero, "{lambda}");
            }
            let zero = |w: &[f64]| w.iter().all(|&w| w == 0.0);
            let count = |at: usize| blocks(&path[at].minimum.w, &problem.groups).filter(|w| !zero(w)).count();
            assert!(count(1) < count(5), "{} {}", count(1), count(5));
        }
    }

    #[test]
    fn rows_that_the_strong_rule_discards_wrongly_are_added() {
        let ctx = Context::default();
        let (x, target) = example(9, 20, 120, 2);
        let problem = dense(&x, &target);
        // After a large decrease of the penalty the strong rule discards nothing; after an increase it discards most rows.
        let top = problem.null_solution();
        let low = BlockDescent::default().minimize(&problem, 0.05 * top.lambda, &top, &ctx).unwrap();
        let high = BlockDescent::default().minimize(&problem, 0.3 * top.lambda, &low, &ctx).unwrap();
        let again = BlockDescent::default().minimize(&problem, 0.3 * top.lambda, &top, &ctx).unwrap();
        assert!((high.minimum.objective - again.minimum.objective).abs() <= 1e-6 * problem.at_zero);
        assert!(low.minimum.stop == Stop::Tolerance && high.minimum.stop == Stop::Tolerance);
    }

    #[test]
    fn duplicates_of_a_selected_feature_stay_zero() {
        let (x, target) = example(5, 40, 10, 2);
        let twice = ndarray::concatenate![ndarray::Axis(1), x, x];
        for problem in [dense(&twice, &target), sparse(&twice, &target)] {
            let lambdas = geometric(problem.null_solution().lambda, 0.1, 10);
            for solution in BlockDescent::default().path(&problem, &lambdas, &Context::default()).unwrap() {
                let w = &solution.minimum.w;
                assert!((10..20).all(|j| w.row(j).iter().all(|&w| w == 0.0)), "{w}");
            }
        }
    }

    #[test]
    fn stop_reasons_and_errors() {
        let ctx = Context::default();
        let (x, target) = example(3, 40, 25, 2);
        let problem = dense(&x, &target);
        let top = problem.null_solution();
        let short = BlockDescent { max_iterations: 2, ..BlockDescent::default() };
        let end = short.minimize(&problem, 0.01 * top.lambda, &top, &ctx).unwrap().minimum;
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 2));
        let exact = BlockDescent { tolerance: 0.0, ..BlockDescent::default() };
        let end = exact.minimize(&problem, 0.1 * top.lambda, &top, &ctx).unwrap().minimum;
        assert!(end.stop == Stop::Stationary && end.optimality < 1e-12, "{end:?}");
        assert!(short.minimize(&problem, -1.0, &top, &ctx).is_err());
        let (center, scale) = moments(&x);
        let design = Design::dense(x.view(), &center, &scale);
        let new = |target| LeastSquares::new(design.clone(), target, Groups::single(25));
        assert!(new(Array2::zeros((3, 1))).is_err() && new(Array2::from_elem((40, 1), f64::NAN)).is_err());
    }
}
