//! Least squares under the row norm, a row at a time.
//!
//! $$ \min_W P(W) = \tfrac{1}{2n} \lVert T - X W \rVert_F^2 + \lambda \Omega(W), \qquad \Omega(W) = \sum_j \max_k |w_{jk}| $$
//!
//! Convex, and with all other rows fixed a row has a formula: with $R = T - XW$ and $L_j = \lVert X_j \rVert^2 / n$,
//!
//! $$ w_j \leftarrow \operatorname{prox}\_{(\lambda / L_j) \lVert \cdot \rVert_\infty}\bigl( w_j + X_j^T R / (n L_j) \bigr). $$
//!
//! Sweeps go over the rows that are not zero until these are settled, then over all rows that the strong rule does not
//! rule out, $\lVert X_j^T R_0 / n \rVert_1 \ge 2 \lambda - \lambda_0$ with the residual at the last $\lambda_0$. Then all
//! rows are looked at: a row that was wrongly ruled out comes back in.
//!
//! The dual is $\max_\Theta \langle \Theta, T \rangle - \tfrac n2 \lVert \Theta \rVert^2$ where
//! $\max_j \lVert X_j^T \Theta \rVert_1 \le \lambda$, and $\Theta = s R / n$ with the best $s$ that is allowed gives a bound
//! from below: the gap to it says how far $P$ can be from its least value. A place is solved when both hold:
//!
//! * the gap is at most `tolerance` times $P(0)$;
//! * no row would move by more than `tolerance` in its own step, counted in the units of the gradient: the largest
//!   entry of $L_j (w_j - w_j^+)$, zero exactly where the first-order conditions hold.
//!
//! The larger of the two, the gap as a share of $P(0)$, is the optimality that is reported. From
//! $\lambda_{\max} = \max_j \lVert X_j^T T / n \rVert_1$ on, zero is optimal.
//!
//! Cost: $O(n q)$ a row and sweep, of sparse columns $q$ times what they store. Where there are more than twice as many rows
//! as columns, these dense and at most 1000, the problem is first written with as few rows as columns: then
//! $O(n d^2)$ once and $O(d q)$ a row. Sweeps run on one thread; looking at
//! all rows runs on all, in blocks of a fixed size.
//!
//! Reference: Tibshirani and others, *Strong rules for discarding predictors in lasso-type problems*, 2012;
//! Tseng, *Convergence of a block coordinate descent method for nondifferentiable minimization*, 2001.

use super::criterion::Criterion;
use super::design::{Design, Residual, compresses};
use super::row_norm::{dual_row_norm, prox_row, row_norm};
use super::spectral::Minimum;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::product_bytes;
use crate::outcome::Stop;
use ndarray::Array2;

const NAME: &str = "block descent";

/// A row of zeros enters only if it is pulled by more than the penalty and this share: copies of a row that is in are
/// pulled by the penalty up to rounding.
const ENTRY: f64 = 1e-11;

/// The least-squares problem, at any penalty.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    design: Design,
    target: Array2<f64>,
    /// $P(0)$
    at_zero: f64,
    /// What fewer rows leave out of every value.
    constant: f64,
}

/// The minimum at one penalty, and what the next one needs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The penalty.
    pub lambda: f64,
    /// The minimum.
    pub minimum: Minimum,
    /// Minus the gradient of the criterion there, $X^T R / n$: a row whose sizes add up to `lambda` is about to enter.
    pub pull: Array2<f64>,
}

impl LeastSquares {
    /// Bytes that such a problem takes with its path, beside the columns: targets and what is left of them, weights and
    /// pulls at the places that are remembered, and the eigenvectors for fewer rows.
    pub fn bytes(n: usize, d: usize, targets: usize, sparse: bool) -> f64 {
        let (nq, dq) = ((n * targets) as f64, (d * targets) as f64);
        let square = (d * d) as f64;
        let begun =
            if !sparse && compresses(n, d) { (5.2 * square).max(3.0 * square + 2.0 * nq) } else { nq };
        8.0 * (nq + begun.max(7.0 * dq)) + product_bytes()
    }

    /// Columns and as many rows of targets.
    pub fn new(design: Design, target: Array2<f64>) -> Result<Self> {
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
                why: "squares of some columns are too large for a number; scale the columns".into(),
            });
        }
        let half_square = |t: &Array2<f64>| t.iter().map(|t| t * t).sum::<f64>() / (2.0 * t.nrows() as f64);
        let at_zero = half_square(&target);
        let (design, target) = design.compressed(&target)?.unwrap_or((design, target));
        let constant = at_zero - half_square(&target);
        Ok(Self { design, target, at_zero, constant })
    }

    /// The least penalty at which zero is optimal, and zero itself.
    pub fn top(&self) -> Place {
        let w = Array2::zeros(self.shape());
        let residual = self.design.residual(&self.target, &w);
        let pull = self.design.products(&residual, self.target.ncols());
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
        Place { lambda: dual_row_norm(&pull), minimum, pull }
    }

    /// Whether a column is not zero throughout.
    pub fn varies(&self, column: usize) -> bool {
        self.design.curvature(column) > 0.0
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
        let pull = self.design.products(&residual, self.target.ncols());
        gradient.zip_mut_with(&pull, |g, p| *g = -p);
        self.value_of(&residual)
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.value_of(&self.design.residual(&self.target, w))
    }
}

/// The solver and when it stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockDescent {
    /// What counts as solved; see the module's text.
    pub tolerance: f64,
    /// Most sweeps at one penalty.
    pub max_iterations: usize,
}

impl Default for BlockDescent {
    /// A tolerance of 1e-6 and 10,000 sweeps.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 10_000 }
    }
}

impl BlockDescent {
    /// The minimum at a penalty, starting from another place.
    pub fn minimise(
        &self,
        problem: &LeastSquares,
        lambda: f64,
        from: &Place,
        ctx: &Context,
    ) -> Result<Place> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::param(NAME, "penalty", "0 or a positive number", lambda));
        }
        if lambda >= dual_row_norm(&from.pull) && from.minimum.w.iter().all(|&w| w == 0.0) {
            // Zero exactly, whatever the rounding of a sweep would make of it.
            return Ok(Place { lambda, ..from.clone() });
        }
        let (d, q) = problem.shape();
        let at_zero = problem.at_zero;
        let mut state = State::new(problem, lambda, from.minimum.w.clone());
        let bar = 2.0 * lambda - from.lambda.max(lambda);
        let mut inside: Vec<bool> = (0..d).map(|j| state.is_used(j) || size(&from.pull, j) >= bar).collect();
        let mut settled = self.tolerance.max(1e-10);
        let (mut iterations, mut evaluations) = (0, 0);
        loop {
            let rows: Vec<usize> =
                (0..d).filter(|&j| inside[j] && problem.design.curvature(j) > 0.0).collect();
            iterations += state.settle(&rows, settled, self.max_iterations - iterations, ctx)?;
            // Small changes have been added up; look at everything from the sums themselves.
            state.residual = problem.design.residual(&problem.target, &state.w);
            let pull = problem.design.products(&state.residual, q);
            evaluations += 1;
            let gap = state.gap(&pull);
            let optimality = state.violation(&pull).max(if at_zero > 0.0 { gap / at_zero } else { gap });
            if !optimality.is_finite() {
                return Err(super::spectral::broken("on the way"));
            }
            let missed: Vec<usize> = (0..d).filter(|&j| !inside[j] && size(&pull, j) > lambda).collect();
            let stop = if optimality <= self.tolerance {
                Some(Stop::Tolerance)
            } else if iterations >= self.max_iterations {
                Some(Stop::MaxIterations)
            } else if missed.is_empty() && settled < 1e-14 {
                Some(Stop::Stationary)
            } else {
                None
            };
            if let Some(stop) = stop {
                let value = problem.value_of(&state.residual);
                let w = state.w;
                let objective = value + lambda * row_norm(&w);
                let minimum = Minimum { w, value, objective, optimality, iterations, evaluations, stop };
                return Ok(Place { lambda, minimum, pull });
            }
            if missed.is_empty() {
                settled *= 0.1;
            }
            missed.iter().for_each(|&j| inside[j] = true);
        }
    }

    /// A path: the minimum at each penalty in turn, falling ones for preference, each from where the last ended.
    pub fn path(&self, problem: &LeastSquares, lambdas: &[f64], ctx: &Context) -> Result<Vec<Place>> {
        let mut path: Vec<Place> = vec![];
        for (at, &lambda) in lambdas.iter().enumerate() {
            ctx.step("path", at, lambdas.len())?;
            let place = match path.last() {
                Some(last) => self.minimise(problem, lambda, last, ctx)?,
                None => self.minimise(problem, lambda, &problem.top(), ctx)?,
            };
            path.push(place);
        }
        Ok(path)
    }
}

/// `count` penalties from `top` down to `ratio` times it, each the same share of the one before.
pub fn geometric(top: f64, ratio: f64, count: usize) -> Vec<f64> {
    let steps = count.max(2) - 1;
    (0..count).map(|i| top * ratio.powf(i as f64 / steps as f64)).collect()
}

/// $\sum_k |a_{jk}|$
fn size(a: &Array2<f64>, j: usize) -> f64 {
    a.row(j).iter().map(|v| v.abs()).sum()
}

/// The weights on their way.
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

    fn is_used(&self, j: usize) -> bool {
        self.w.row(j).iter().any(|&w| w != 0.0)
    }

    /// Sweeps over these rows until none moves by more than `settled`; how many sweeps it took.
    fn settle(&mut self, rows: &[usize], settled: f64, most: usize, ctx: &Context) -> Result<usize> {
        let mut sweeps = 0;
        while sweeps < most {
            ctx.check()?;
            let moved = self.sweep(rows);
            sweeps += 1;
            if moved <= settled {
                break;
            }
            let used: Vec<usize> = rows.iter().copied().filter(|&j| self.is_used(j)).collect();
            while sweeps < most {
                ctx.check()?;
                let moved = self.sweep(&used);
                sweeps += 1;
                if moved <= settled {
                    break;
                }
            }
        }
        Ok(sweeps)
    }

    /// One step of each row; the largest move, in the units of the gradient.
    fn sweep(&mut self, rows: &[usize]) -> f64 {
        let design = &self.problem.design;
        let q = self.w.ncols();
        let (mut next, mut change) = (vec![0.0; q], vec![0.0; q]);
        let mut largest = 0.0_f64;
        for &j in rows {
            let curvature = design.curvature(j);
            design.product(j, &self.residual, &mut next);
            let mut old = self.w.row_mut(j);
            let pull: f64 = next.iter().map(|v| v.abs()).sum();
            if pull <= self.lambda * (1.0 + ENTRY) && old.iter().all(|&w| w == 0.0) {
                continue;
            }
            next.iter_mut().zip(&old).for_each(|(z, w)| *z = w + *z / curvature);
            prox_row(&mut next, self.lambda / curvature);
            change.iter_mut().zip(&next).zip(&old).for_each(|((c, new), old)| *c = new - old);
            let moved = change.iter().fold(0.0_f64, |a, c| a.max(c.abs()));
            if moved > 0.0 {
                design.subtract(j, &change, &mut self.residual);
                old.iter_mut().zip(&next).for_each(|(to, from)| *to = *from);
            }
            largest = largest.max(curvature * moved);
        }
        largest
    }

    /// The most that any row would move in its own step, in the units of the gradient.
    fn violation(&self, pull: &Array2<f64>) -> f64 {
        let mut worst = 0.0_f64;
        for (j, (old, pull)) in self.w.rows().into_iter().zip(pull.rows()).enumerate() {
            let curvature = self.problem.design.curvature(j);
            if curvature > 0.0 {
                let mut next: Vec<f64> = old.iter().zip(pull).map(|(w, p)| w + p / curvature).collect();
                prox_row(&mut next, self.lambda / curvature);
                let moved = next.iter().zip(old).map(|(a, b)| (a - b).abs());
                worst = moved.fold(worst, |a, m| if m.is_nan() { f64::NAN } else { a.max(curvature * m) });
            }
        }
        worst
    }

    /// $P(W)$ less the bound from below that the residual gives.
    fn gap(&self, pull: &Array2<f64>) -> f64 {
        let n = self.problem.design.n() as f64;
        let (square, along) = self.residual.sums(&self.problem.target);
        let (square, along) = (square / n, along / n);
        let primal = 0.5 * square + self.lambda * row_norm(&self.w);
        let longest = self.lambda / dual_row_norm(pull).max(f64::MIN_POSITIVE);
        let share = if square > 0.0 { (along / square).clamp(-longest, longest) } else { 0.0 };
        primal - (share * along - 0.5 * share * share * square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{Hold, SparseColumns, Spectral, gradient_error};
    use crate::random::Rng;

    /// Columns that lean on one another, about a third of whose cells are zero, and targets made of three.
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
        let centre: Vec<f64> = x.columns().into_iter().map(|c| c.sum() / n).collect();
        let spread = x.columns().into_iter().zip(&centre);
        let scale =
            spread.map(|(c, m)| 1.0 / (c.iter().map(|v| (v - m).powi(2)).sum::<f64>() / n).sqrt()).collect();
        (centre, scale)
    }

    fn dense(x: &Array2<f64>, target: &Array2<f64>) -> LeastSquares {
        let (centre, scale) = moments(x);
        LeastSquares::new(Design::dense(x.view(), &centre, &scale), target.clone()).unwrap()
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
        let (centre, scale) = moments(x);
        LeastSquares::new(Design::sparse(x.nrows(), columns, centre, scale), target.clone()).unwrap()
    }

    #[test]
    fn gradients_are_differences() {
        let (x, target) = example(1, 15, 6, 3);
        let mut rng = Rng::new(2);
        let w = Array2::from_shape_simple_fn((6, 3), || rng.normal());
        for problem in [dense(&x, &target), sparse(&x, &target)] {
            // Quadratic: the differences are exact but for rounding.
            assert!(gradient_error(&problem, &w, 1e-4) < 1e-9);
        }
    }

    #[test]
    fn it_ends_where_the_spectral_solver_ends() {
        let ctx = Context::default();
        for seed in 0..4 {
            let (x, target) = example(seed, 40, 25, 1 + seed as usize);
            for problem in [dense(&x, &target), sparse(&x, &target)] {
                let top = problem.top().lambda;
                let lambdas = geometric(top, 0.01, 6);
                let path = BlockDescent::default().path(&problem, &lambdas, &ctx).unwrap();
                assert!(path[0].minimum.w.iter().all(|&w| w == 0.0), "zero at the top");
                for place in &path[1..] {
                    let end = &place.minimum;
                    assert!(end.stop == Stop::Tolerance && end.optimality <= 1e-6, "{end:?}");
                    assert!(end.w.iter().any(|&w| w != 0.0));
                    let other = Spectral { tolerance: 1e-8, max_iterations: 20_000, memory: 10 }
                        .minimise(&problem, Hold::Penalty(place.lambda), Array2::zeros(end.w.dim()), &ctx)
                        .unwrap();
                    // Both lie within a millionth of P(0) of the least value, and the gap proves it for one.
                    let slack = 1e-6 * problem.at_zero;
                    assert!((end.objective - other.objective).abs() <= slack, "{seed} {}", place.lambda);
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
    fn more_columns_than_rows_and_rows_that_the_strong_rule_misses() {
        let ctx = Context::default();
        let (x, target) = example(9, 20, 120, 2);
        let problem = dense(&x, &target);
        // One long stride makes the strong rule keep everything; from a place with a smaller penalty it keeps little.
        let top = problem.top();
        let low = BlockDescent::default().minimise(&problem, 0.05 * top.lambda, &top, &ctx).unwrap();
        let high = BlockDescent::default().minimise(&problem, 0.3 * top.lambda, &low, &ctx).unwrap();
        let again = BlockDescent::default().minimise(&problem, 0.3 * top.lambda, &top, &ctx).unwrap();
        assert!((high.minimum.objective - again.minimum.objective).abs() <= 1e-6 * problem.at_zero);
        assert!(low.minimum.stop == Stop::Tolerance && high.minimum.stop == Stop::Tolerance);
    }

    #[test]
    fn copies_of_a_row_that_is_in_stay_out() {
        let (x, target) = example(5, 40, 10, 2);
        let twice = ndarray::concatenate![ndarray::Axis(1), x, x];
        for problem in [dense(&twice, &target), sparse(&twice, &target)] {
            let top = problem.top();
            let lambdas = geometric(top.lambda, 0.1, 10);
            for place in BlockDescent::default().path(&problem, &lambdas, &Context::default()).unwrap() {
                let w = &place.minimum.w;
                assert!((10..20).all(|j| w.row(j).iter().all(|&w| w == 0.0)), "{w}");
            }
        }
    }

    #[test]
    fn ends_are_told() {
        let ctx = Context::default();
        let (x, target) = example(3, 40, 25, 2);
        let problem = dense(&x, &target);
        let top = problem.top();
        let short = BlockDescent { max_iterations: 2, ..BlockDescent::default() };
        let end = short.minimise(&problem, 0.01 * top.lambda, &top, &ctx).unwrap().minimum;
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 2));
        let exact = BlockDescent { tolerance: 0.0, ..BlockDescent::default() };
        let end = exact.minimise(&problem, 0.1 * top.lambda, &top, &ctx).unwrap().minimum;
        assert!(end.stop == Stop::Stationary && end.optimality < 1e-12, "{end:?}");
        assert!(short.minimise(&problem, -1.0, &top, &ctx).is_err());
        let (centre, scale) = moments(&x);
        let design = Design::dense(x.view(), &centre, &scale);
        assert!(LeastSquares::new(design.clone(), Array2::zeros((3, 1))).is_err());
        assert!(LeastSquares::new(design, Array2::from_elem((40, 1), f64::NAN)).is_err());
    }
}
