//! Sequential minimal optimization (SMO): a quadratic program with one equality constraint, two variables at a time.
//!
//! $$ \min_\beta \tfrac12 \beta^\top K \beta - y^\top \beta \quad\text{with}\quad \sum_i \beta_i = 0, \quad
//!    0 \le y_i \beta_i \le C_i, \quad y_i = \pm 1 $$
//!
//! This is the dual of the support vector machine in signed coefficients $\beta_i = y_i \alpha_i$, which avoids the signs of
//! $Q_{ij} = y_i y_j K_{ij}$. With the residual $f = y - K \beta$, $\beta$ is optimal if no coefficient that can increase has a larger
//! $f$ than one that can decrease:
//!
//! $$ \max_{i:\ \beta_i \text{ can increase}} f_i - \min_{j:\ \beta_j \text{ can decrease}} f_j \le \varepsilon $$
//!
//! Each step takes the row $i$ with the largest $f$ among those that can increase and, among those that can decrease, the row $j$ with
//! the largest second-order gain $(f_i - f_j)^2 / (K_{ii} + K_{jj} - 2 K_{ij})$. The pair moves by
//! $\pm (f_i - f_j) / (K_{ii} + K_{jj} - 2 K_{ij})$, clipped to the bounds.
//!
//! Shrinking removes rows at a bound that cannot be part of a violating pair at the current $f$. When the remaining problem is
//! solved, the $f$ of the removed rows is recomputed and all rows are checked: the returned solution is optimal for all rows. At the
//! end $f$ of all rows is recomputed to remove accumulated rounding error; if the solution is not optimal then, the iterations
//! continue.
//!
//! Cost: $O(n)$ per step and one or two columns of $K$; the number of steps grows faster than $n$, and with $C$.
//!
//! Reference: Platt, *Fast training of support vector machines using sequential minimal optimization*, 1999; Fan,
//! Chen and Lin, *Working set selection using second order information*, 2005.

use super::columns::KernelColumns;
use super::pair_problem::PairProblem;
use crate::context::Context;
use crate::error::Result;
use crate::simd::{add_scaled, best_partner, dot, largest_sum, step_and_largest_sum};

/// Steps between two shrinking attempts.
const SHRINKING_INTERVAL: usize = 1000;

/// Columns that are combined between two checks for interruption.
const COLUMNS_PER_CHECK: usize = 1024;

/// Maximum number of times $f$ is recomputed at the end; violations that remain are due to rounding of the kernel values.
const MAX_RECOMPUTATIONS: usize = 5;

/// Default limit on steps; columns of very different scales can need any number.
const MIN_STEP_LIMIT: usize = 10_000_000;
/// Default limit on steps per row, if that is larger.
const STEP_LIMIT_PER_ROW: usize = 100;

/// Shrink only if at most this fraction of the rows remains, because shrinking copies the remaining matrix.
const MAX_REMAINING: f64 = 0.8;

/// The solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smo {
    /// $\varepsilon$: tolerance for violations of the optimality conditions.
    pub tolerance: f64,
    /// Maximum number of steps; 0 is ten million, or a hundred per row if that is more.
    pub max_iterations: usize,
    /// Whether to use the shrinking heuristic.
    pub shrinking: bool,
}

impl Default for Smo {
    /// A tolerance of 0.001, the default limit on steps, with shrinking.
    fn default() -> Self {
        Self { tolerance: 1e-3, max_iterations: 0, shrinking: true }
    }
}

/// A solution.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoSolution {
    /// $\beta$
    pub coefficients: Vec<f64>,
    /// The intercept: the mean of $f$ over the rows strictly between their bounds.
    pub bias: f64,
    /// $\tfrac12 \beta^\top K \beta - y^\top \beta$
    pub objective: f64,
    /// $f = y - K \beta$
    pub residual: Vec<f64>,
    /// Number of steps.
    pub iterations: usize,
    /// Whether the violation is below the tolerance.
    pub converged: bool,
}

impl Smo {
    /// Solves the program; `columns` provides $K$.
    pub fn solve(
        &self,
        problem: &PairProblem,
        columns: &mut impl KernelColumns,
        ctx: &Context,
    ) -> Result<SmoSolution> {
        columns.unshrink();
        problem.check(columns.len())?;
        let mut run = Run::new(problem, columns, ctx)?;
        let (iterations, converged) = self.iterate(&mut run, columns, ctx)?;
        run.unshrink(columns, ctx)?;
        Ok(run.solution(iterations, converged))
    }

    fn iterate(
        &self,
        run: &mut Run,
        columns: &mut impl KernelColumns,
        ctx: &Context,
    ) -> Result<(usize, bool)> {
        let limit = match self.max_iterations {
            0 => MIN_STEP_LIMIT.max(STEP_LIMIT_PER_ROW.saturating_mul(run.coefficients.len())),
            given => given,
        };
        let interval = SHRINKING_INTERVAL.min(run.coefficients.len());
        let (mut iterations, mut until_shrinking) = (0, interval);
        // The step at which f was last computed from the coefficients, and the number of recomputations.
        let (mut exact, mut recomputations) = (run.problem.residual().is_none().then_some(0), 0);
        let mut first = run.active.first();
        if exact.is_some() && run.active.violation(first.0) < self.tolerance {
            // An optimal start needs no column.
            return Ok((0, true));
        }
        loop {
            if until_shrinking == 0 {
                until_shrinking = interval;
                if self.shrinking {
                    first = self.shrink(run, first.0, columns, ctx)?;
                }
            }
            until_shrinking -= 1;
            let (gain, second, violation) = run.active.partner(first, columns);
            if violation < self.tolerance || gain < 0.0 {
                if !run.is_complete() {
                    run.unshrink(columns, ctx)?;
                } else if exact == Some(iterations) {
                    // Without a partner it is solved too, unless kernel values are not finite.
                    return Ok((iterations, violation < self.tolerance));
                } else if recomputations == MAX_RECOMPUTATIONS {
                    return Ok((iterations, false));
                } else {
                    (exact, recomputations) = (Some(iterations), recomputations + 1);
                    run.recompute_all(columns, ctx)?;
                }
                first = run.active.first();
                continue;
            }
            if iterations == limit {
                return Ok((iterations, false));
            }
            if iterations % columns.check_interval() == 0 {
                ctx.check()?;
            }
            first = run.active.step(first.1, second, columns);
            iterations += 1;
        }
    }

    /// Shrinks. Close to the optimum, rows that were removed early are checked once more first. Returns the new first row.
    fn shrink(
        &self,
        run: &mut Run,
        highest: f64,
        columns: &mut impl KernelColumns,
        ctx: &Context,
    ) -> Result<(f64, usize)> {
        if !run.unshrunk_near_optimum && run.active.violation(highest) <= 10.0 * self.tolerance {
            run.unshrunk_near_optimum = true;
            run.unshrink(columns, ctx)?;
        }
        run.shrink(columns);
        Ok(run.active.first())
    }
}

/// All rows, and the active ones.
struct Run<'a> {
    problem: &'a PairProblem<'a>,
    /// All coefficients; those of active rows are current only after `store`.
    coefficients: Vec<f64>,
    residual: Vec<f64>,
    /// Lower and upper bounds of all coefficients.
    limits: (Vec<f64>, Vec<f64>),
    active: Active,
    /// Whether shrinking was undone close to the optimum.
    unshrunk_near_optimum: bool,
}

/// The active rows.
#[derive(Default)]
struct Active {
    /// Indices among all rows, increasing.
    rows: Vec<usize>,
    beta: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// $f$
    residual: Vec<f64>,
    /// 0 if the coefficient can increase, else minus infinity.
    up: Vec<f64>,
    /// 0 if the coefficient can decrease, else infinity.
    low: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(problem: &'a PairProblem<'a>, columns: &mut impl KernelColumns, ctx: &Context) -> Result<Self> {
        let coefficients =
            problem.start.map_or_else(|| vec![0.0; columns.len()], |start| start.coefficients.to_vec());
        let all: Vec<usize> = (0..coefficients.len()).collect();
        let mut run = Self {
            problem,
            coefficients,
            residual: problem.residual().unwrap_or(problem.signs).to_vec(),
            limits: problem.limits(),
            active: Active::default(),
            unshrunk_near_optimum: false,
        };
        if problem.residual().is_none() {
            run.recompute(&all, columns, ctx)?;
        }
        run.activate(all);
        Ok(run)
    }

    /// Recomputes $f$ of all rows, which must all be active.
    fn recompute_all(&mut self, columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        self.store();
        let all: Vec<usize> = (0..self.coefficients.len()).collect();
        self.recompute(&all, columns, ctx)?;
        self.activate(all);
        Ok(())
    }

    /// Whether all rows are active.
    fn is_complete(&self) -> bool {
        self.active.rows.len() == self.coefficients.len()
    }

    /// Recomputes $f$ of `rows` from all coefficients.
    fn recompute(&mut self, rows: &[usize], columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        let weights: Vec<(usize, f64)> =
            self.coefficients.iter().copied().enumerate().filter(|(_, b)| *b != 0.0).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut sum = vec![0.0; rows.len()];
        for weights in weights.chunks(COLUMNS_PER_CHECK) {
            ctx.check()?;
            columns.combine(weights, rows, &mut sum);
        }
        rows.iter().zip(sum).for_each(|(&i, sum)| self.residual[i] = self.problem.signs[i] - sum);
        Ok(())
    }

    fn activate(&mut self, rows: Vec<usize>) {
        let take = |from: &[f64]| -> Vec<f64> { rows.iter().map(|&i| from[i]).collect() };
        let (beta, residual) = (take(&self.coefficients), take(&self.residual));
        let (lower, upper) = (take(&self.limits.0), take(&self.limits.1));
        let up = beta.iter().zip(&upper).map(|(beta, upper)| Active::up(*beta, *upper)).collect();
        let low = beta.iter().zip(&lower).map(|(beta, lower)| Active::low(*beta, *lower)).collect();
        self.active = Active { rows, beta, lower, upper, residual, up, low };
    }

    /// Copies the state of the active rows to all rows.
    fn store(&mut self) {
        for (at, &i) in self.active.rows.iter().enumerate() {
            self.coefficients[i] = self.active.beta[at];
            self.residual[i] = self.active.residual[at];
        }
    }

    /// Makes all rows active.
    fn unshrink(&mut self, columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        self.store();
        if self.is_complete() {
            return Ok(());
        }
        columns.unshrink();
        let mut inactive = vec![true; self.coefficients.len()];
        self.active.rows.iter().for_each(|&i| inactive[i] = false);
        let inactive: Vec<usize> = (0..inactive.len()).filter(|&i| inactive[i]).collect();
        self.recompute(&inactive, columns, ctx)?;
        self.activate((0..self.coefficients.len()).collect());
        Ok(())
    }

    /// Removes rows that cannot be part of a violating pair at the current $f$.
    fn shrink(&mut self, columns: &mut impl KernelColumns) {
        let keep = self.active.remaining();
        if keep.is_empty() || keep.len() as f64 > MAX_REMAINING * self.active.rows.len() as f64 {
            return;
        }
        self.store();
        let rows = keep.iter().map(|&at| self.active.rows[at]).collect();
        columns.shrink(&keep);
        self.activate(rows);
    }

    fn solution(self, iterations: usize, converged: bool) -> SmoSolution {
        let Active { beta, residual, lower, upper, .. } = &self.active;
        let inside = (0..beta.len()).filter(|&i| beta[i] > lower[i] && beta[i] < upper[i]);
        let (free, sum) = inside.fold((0_usize, 0.0), |(count, sum), i| (count + 1, sum + residual[i]));
        let bias = if free > 0 {
            sum / free as f64
        } else {
            let ((highest, _), lowest) = (self.active.first(), self.active.lowest());
            match (highest.is_finite(), lowest.is_finite()) {
                (true, true) => 0.5 * (highest + lowest),
                (true, false) => highest,
                (false, true) => lowest,
                (false, false) => 0.0,
            }
        };
        let twice = dot(beta, self.problem.signs) + dot(beta, residual);
        SmoSolution {
            coefficients: self.active.beta,
            bias,
            objective: -0.5 * twice,
            residual: self.active.residual,
            iterations,
            converged,
        }
    }
}

impl Active {
    fn up(beta: f64, upper: f64) -> f64 {
        if beta < upper { 0.0 } else { f64::NEG_INFINITY }
    }

    fn low(beta: f64, lower: f64) -> f64 {
        if beta > lower { 0.0 } else { f64::INFINITY }
    }

    /// Updates `up` and `low` of coefficient `i`.
    fn mark(&mut self, i: usize) {
        self.up[i] = Self::up(self.beta[i], self.upper[i]);
        self.low[i] = Self::low(self.beta[i], self.lower[i]);
    }

    /// The largest $f$ among rows that can increase, and its index.
    fn first(&self) -> (f64, usize) {
        largest_sum(&self.residual, &self.up)
    }

    /// The maximum violation of the optimality conditions, given the largest $f$ among rows that can increase.
    fn violation(&self, highest: f64) -> f64 {
        highest - self.lowest()
    }

    /// The smallest $f$ among rows that can decrease; infinity if there are none.
    fn lowest(&self) -> f64 {
        self.residual.iter().zip(&self.low).map(|(f, low)| f + low).fold(f64::INFINITY, f64::min)
    }

    /// The partner of `first`: its gain and index, and the maximum violation.
    fn partner(&self, first: (f64, usize), columns: &mut impl KernelColumns) -> (f64, usize, f64) {
        let own = columns.diagonal()[first.1];
        columns.with_column(first.1, |diagonal, column| {
            best_partner(first.0, &self.residual, &self.low, own, diagonal, column)
        })
    }

    /// Moves the pair and returns the next first row.
    fn step(&mut self, i: usize, j: usize, columns: &mut impl KernelColumns) -> (f64, usize) {
        let own = columns.diagonal()[i];
        let step = columns.with_column(i, |diagonal, column| {
            // The same lower bound as in `best_partner`.
            let curvature = (own + diagonal[j] - 2.0 * column[j]).max(1e-12);
            let step = self.move_pair(i, j, (self.residual[i] - self.residual[j]) / curvature);
            add_scaled(&mut self.residual, -step, column);
            step
        });
        columns.with_column(j, |_, column| step_and_largest_sum(&mut self.residual, step, column, &self.up))
    }

    /// Increases `i` and decreases `j` by `step`, clipped so that bounds are met exactly. Returns the clipped step.
    fn move_pair(&mut self, i: usize, j: usize, step: f64) -> f64 {
        let (above, below) = (self.upper[i] - self.beta[i], self.beta[j] - self.lower[j]);
        let step = step.min(above).min(below);
        self.beta[i] = if step == above { self.upper[i] } else { self.beta[i] + step };
        self.beta[j] = if step == below { self.lower[j] } else { self.beta[j] - step };
        self.mark(i);
        self.mark(j);
        step
    }

    /// Indices of the rows that can be part of a violating pair.
    fn remaining(&self) -> Vec<usize> {
        let ((highest, _), lowest) = (self.first(), self.lowest());
        let removable = |i: usize| {
            (self.up[i] != 0.0 && self.residual[i] > highest)
                || (self.low[i] != 0.0 && self.residual[i] < lowest)
        };
        (0..self.rows.len()).filter(|&i| !removable(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::BlockColumns;
    use super::super::pair_problem::PairStart;
    use super::*;
    use ndarray::{Array2, array};

    fn solve(k: &Array2<f64>, signs: &[f64], bounds: &[f64]) -> SmoSolution {
        let rows: Vec<usize> = (0..k.nrows()).collect();
        let mut columns = BlockColumns::new(k.view(), &rows);
        let problem = PairProblem { signs, bounds, start: None };
        Smo { tolerance: 1e-10, ..Smo::default() }.solve(&problem, &mut columns, &Context::default()).unwrap()
    }

    #[test]
    fn two_points_on_a_line() {
        // Points 1 and -1 with a linear kernel: w = 1, so alpha = 1/2 each, intercept 0, objective -1/2.
        let k = array![[1.0, -1.0], [-1.0, 1.0]];
        let free = solve(&k, &[1.0, -1.0], &[10.0, 10.0]);
        assert_eq!(free.coefficients, [0.5, -0.5]);
        assert!((free.bias, free.objective, free.converged) == (0.0, -0.5, true));
        // A bound of 1/4 binds: both are at it, w = 1/2, f = 1 - 1/2 and -1 + 1/2.
        let bound = solve(&k, &[1.0, -1.0], &[0.25, 0.25]);
        assert_eq!(bound.coefficients, [0.25, -0.25]);
        assert_eq!(bound.residual, [0.5, -0.5]);
        assert_eq!((bound.bias, bound.objective), (0.0, 0.5 * 0.25 - 0.5));
    }

    #[test]
    fn the_intercept_of_two_points() {
        // Points 0 and 2 on a line: w = 1, b = -1.
        let k = array![[0.0, 0.0], [0.0, 4.0]];
        let solution = solve(&k, &[-1.0, 1.0], &[9.0, 9.0]);
        assert_eq!(solution.coefficients, [-0.5, 0.5]);
        assert_eq!(solution.bias, -1.0);
    }

    #[test]
    fn bounds_of_zero_give_coefficients_of_zero() {
        let solution = solve(&array![[1.0, 0.0], [0.0, 1.0]], &[1.0, -1.0], &[0.0, 0.0]);
        assert!(solution.converged && solution.coefficients == [0.0, 0.0] && solution.bias == 0.0);
    }

    #[test]
    fn a_class_with_bounds_of_zero_determines_the_intercept() {
        // No coefficient can move; f is 1 and -1. Only the second can decrease, so its f is the intercept: its class is
        // predicted everywhere. With the bounds exchanged only the first can increase.
        let k = array![[1.0, 0.0], [0.0, 1.0]];
        assert_eq!(solve(&k, &[1.0, -1.0], &[0.0, 1.0]).bias, -1.0);
        assert_eq!(solve(&k, &[1.0, -1.0], &[1.0, 0.0]).bias, 1.0);
    }

    #[test]
    fn infeasible_starts_are_an_error() {
        let k = array![[1.0, 0.0], [0.0, 1.0]];
        let mut columns = BlockColumns::new(k.view(), &[0, 1]);
        for start in [[0.5, 0.5], [0.5, -0.4], [2.0, -2.0], [-0.5, 0.5], [f64::NAN, 0.0], [0.0, f64::NAN]] {
            let problem =
                PairProblem { signs: &[1.0, -1.0], bounds: &[1.0, 1.0], start: Some(PairStart::at(&start)) };
            let error = Smo::default().solve(&problem, &mut columns, &Context::default()).unwrap_err();
            assert!(error.to_string().contains("'start' must be within the bounds"), "{error}");
        }
        let start = Some(PairStart { coefficients: &[0.5, -0.5], residual: Some(&[0.5]) });
        let problem = PairProblem { signs: &[1.0, -1.0], bounds: &[1.0, 1.0], start };
        let error = Smo::default().solve(&problem, &mut columns, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("initial residual"), "{error}");
    }

    #[test]
    fn the_limit_on_steps_is_an_outcome() {
        let k = array![[2.0, 0.1, 0.3], [0.1, 1.0, 0.2], [0.3, 0.2, 3.0]];
        let mut columns = BlockColumns::new(k.view(), &[0, 1, 2]);
        let problem = PairProblem { signs: &[1.0, -1.0, 1.0], bounds: &[9.0; 3], start: None };
        let smo = Smo { max_iterations: 1, tolerance: 1e-9, ..Smo::default() };
        let solution = smo.solve(&problem, &mut columns, &Context::default()).unwrap();
        assert!(!solution.converged && solution.iterations == 1);
    }
}
