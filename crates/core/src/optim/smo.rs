//! Sequential minimal optimisation: a quadratic programme with one equality, two variables at a time.
//!
//! $$ \min_\beta \tfrac12 \beta^\top K \beta - y^\top \beta \quad\text{with}\quad \sum_i \beta_i = 0, \quad
//!    0 \le y_i \beta_i \le C_i, \quad y_i = \pm 1 $$
//!
//! This is the dual of the support vector machine in signed coefficients $\beta_i = y_i \alpha_i$, which spares
//! the signs of $Q_{ij} = y_i y_j K_{ij}$. With $f = y - K \beta$, what is left of the labels, $\beta$ is optimal if no
//! row that may rise has a larger $f$ than one that may fall:
//!
//! $$ \max_{i:\ \beta_i \text{ may rise}} f_i - \min_{j:\ \beta_j \text{ may fall}} f_j \le \varepsilon $$
//!
//! Each step takes the row $i$ with the largest $f$ that may rise, and of those that may fall the one with which
//! the objective gains most to second order, $(f_i - f_j)^2 / (K_{ii} + K_{jj} - 2 K_{ij})$; the pair moves by
//! $\pm (f_i - f_j) / (K_{ii} + K_{jj} - 2 K_{ij})$, as far as the bounds allow.
//!
//! Rows at a bound that cannot take part in any such pair as things stand are set aside (shrinking). When the rest
//! is solved their $f$ is rebuilt from the coefficients, and all rows are looked at again: what is returned
//! holds for all. At the end $f$ of all rows is rebuilt, because the many small changes it went through leave rounding
//! behind; if it is not optimal after all, work goes on from there.
//!
//! Cost: $O(n)$ per step and one or two columns of $K$; the number of steps grows faster than $n$, and with $C$.
//!
//! Reference: Platt, *Fast training of support vector machines using sequential minimal optimization*, 1999; Fan,
//! Chen and Lin, *Working set selection using second order information*, 2005.

use super::columns::KernelColumns;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::simd::{add_scaled, best_partner, dot, largest_sum, step_and_largest_sum};

const NAME: &str = "pairwise solver";

/// Steps between two looks at what can be set aside.
const ROUND: usize = 1000;

/// Coefficients whose columns are added up between two looks at whether the user asked to stop.
const COMBINED: usize = 1024;

/// How often $f$ is rebuilt at the end; what is then still not optimal is so by the rounding of the kernel values.
const REBUILDS: usize = 5;

/// Steps without a limit of the user's, at least; columns of very different scales could take any number.
const MOST_STEPS: usize = 10_000_000;
/// The same per row.
const MOST_STEPS_PER_ROW: usize = 100;

/// Rows are set aside only if no more than this share stays: it costs a copy of what stays.
const WORTH_SHRINKING: f64 = 0.8;

/// How the programme is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smo {
    /// $\varepsilon$: the violation of the optimality conditions that is let pass.
    pub tolerance: f64,
    /// Most steps; 0 is ten million, or a hundred per row if that is more.
    pub max_iterations: usize,
    /// Whether rows are set aside.
    pub shrinking: bool,
}

impl Default for Smo {
    /// A tolerance of 0.001, no limit of its own, with shrinking.
    fn default() -> Self {
        Self { tolerance: 1e-3, max_iterations: 0, shrinking: true }
    }
}

/// What is solved, besides $K$.
#[derive(Debug, Clone, Copy)]
pub struct PairProblem<'a> {
    /// $y$: 1 or -1 per row.
    pub signs: &'a [f64],
    /// $C_i$, zero or more.
    pub bounds: &'a [f64],
    /// Where to start; all zeros if none.
    pub start: Option<PairStart<'a>>,
}

/// Where the solver starts.
#[derive(Debug, Clone, Copy)]
pub struct PairStart<'a> {
    /// Any $\beta$ that the conditions allow.
    pub coefficients: &'a [f64],
    /// $y - K \beta$, if that is known; it may be off by rounding, which is put right in the end.
    pub left: Option<&'a [f64]>,
}

impl<'a> PairStart<'a> {
    /// At coefficients of which nothing else is known.
    pub fn at(coefficients: &'a [f64]) -> Self {
        Self { coefficients, left: None }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoSolution {
    /// $\beta$
    pub coefficients: Vec<f64>,
    /// The constant that goes with them: $f$ of the rows strictly between their bounds, on average.
    pub bias: f64,
    /// $\tfrac12 \beta^\top K \beta - y^\top \beta$
    pub objective: f64,
    /// $y - K \beta$
    pub left: Vec<f64>,
    /// Steps taken.
    pub iterations: usize,
    /// Whether the violation is below the tolerance.
    pub converged: bool,
}

impl PairProblem<'_> {
    /// $y - K \beta$ at the start, if that is known.
    fn left(&self) -> Option<&[f64]> {
        self.start.and_then(|start| start.left)
    }

    /// The least and the most that every coefficient may be.
    pub(super) fn limits(&self) -> (Vec<f64>, Vec<f64>) {
        let ends = || self.signs.iter().zip(self.bounds).map(|(sign, bound)| sign * bound);
        (ends().map(|end| end.min(0.0)).collect(), ends().map(|end| end.max(0.0)).collect())
    }

    pub(super) fn check(&self, n: usize) -> Result<()> {
        for (what, length) in [("signs", self.signs.len()), ("bounds", self.bounds.len())]
            .into_iter()
            .chain(self.start.map(|s| ("starting coefficients", s.coefficients.len())))
            .chain(self.left().map(|f| ("what is left of the labels at the start", f.len())))
        {
            if length != n {
                let (expected, got) = (n.to_string(), length.to_string());
                return Err(Error::Shape { what: format!("{NAME}: {what}"), expected, got });
            }
        }
        if let Some(bound) = self.bounds.iter().find(|c| !(**c >= 0.0 && c.is_finite())) {
            return Err(Error::param(NAME, "bounds", "zero or more and finite", bound));
        }
        let Some(PairStart { coefficients: start, .. }) = self.start else { return Ok(()) };
        let sizes = start.iter().zip(self.signs).map(|(start, sign)| start * sign);
        let within =
            sizes.zip(self.bounds).fold(true, |all, (size, most)| all & (size >= 0.0) & (size <= *most));
        let (sum, size) = start.iter().fold((0.0, 0.0), |(s, z), b| (s + b, z + b.abs()));
        // A sum of numbers that cancel is rounding of their size.
        if !within || f64::abs(sum) > 1e-9 * size {
            return Err(Error::param(NAME, "start", "within the bounds, with the sum 0", "another start"));
        }
        Ok(())
    }
}

impl Smo {
    /// Solves the programme; `columns` gives $K$.
    pub fn solve(
        &self,
        problem: &PairProblem,
        columns: &mut impl KernelColumns,
        ctx: &Context,
    ) -> Result<SmoSolution> {
        columns.release();
        problem.check(columns.len())?;
        let mut run = Run::new(problem, columns, ctx)?;
        let (iterations, converged) = self.iterate(&mut run, columns, ctx)?;
        run.release(columns, ctx)?;
        Ok(run.solution(iterations, converged))
    }

    fn iterate(
        &self,
        run: &mut Run,
        columns: &mut impl KernelColumns,
        ctx: &Context,
    ) -> Result<(usize, bool)> {
        let limit = match self.max_iterations {
            0 => MOST_STEPS.max(MOST_STEPS_PER_ROW.saturating_mul(run.whole.len())),
            given => given,
        };
        let (mut iterations, mut until_look) = (0, ROUND.min(run.whole.len()));
        // Steps when f was last built from the coefficients, and how often it was rebuilt.
        let (mut exact, mut rebuilds) = (run.problem.left().is_none().then_some(0), 0);
        // Just before the end, what was set aside early is looked at once more.
        let mut looked_again = false;
        let mut first = run.active.first();
        if exact.is_some() && run.active.violation(first.0) < self.tolerance {
            // A start that needs nothing needs no column either.
            return Ok((0, true));
        }
        loop {
            if until_look == 0 {
                until_look = ROUND.min(run.whole.len());
                if self.shrinking {
                    let violation = run.active.violation(first.0);
                    if !looked_again && violation <= 10.0 * self.tolerance {
                        looked_again = true;
                        run.release(columns, ctx)?;
                    }
                    run.shrink(columns);
                    first = run.active.first();
                }
            }
            until_look -= 1;
            let (gain, second, violation) = run.active.partner(first, columns);
            if violation < self.tolerance || gain < 0.0 {
                if run.is_whole() {
                    if exact == Some(iterations) {
                        // Without a partner that gains it is solved too, unless kernel values are beyond a number.
                        return Ok((iterations, violation < self.tolerance));
                    }
                    if rebuilds == REBUILDS {
                        return Ok((iterations, false));
                    }
                    (exact, rebuilds) = (Some(iterations), rebuilds + 1);
                    run.rebuild_all(columns, ctx)?;
                } else {
                    run.release(columns, ctx)?;
                }
                first = run.active.first();
                continue;
            }
            if iterations == limit {
                return Ok((iterations, false));
            }
            if iterations % columns.patience() == 0 {
                ctx.check()?;
            }
            first = run.active.step(first.1, second, columns);
            iterations += 1;
        }
    }
}

/// All rows, and those at work.
struct Run<'a> {
    problem: &'a PairProblem<'a>,
    /// All coefficients; of rows at work, as they were when work began.
    whole: Vec<f64>,
    left: Vec<f64>,
    /// The least and the most that every coefficient may be.
    limits: (Vec<f64>, Vec<f64>),
    active: Active,
}

/// The rows at work, side by side.
#[derive(Default)]
struct Active {
    /// Places among all rows, rising.
    rows: Vec<usize>,
    beta: Vec<f64>,
    /// The bounds of each coefficient.
    least: Vec<f64>,
    most: Vec<f64>,
    /// $f$
    left: Vec<f64>,
    /// 0 where the coefficient may rise, minus infinity elsewhere.
    up: Vec<f64>,
    /// 0 where the coefficient may fall, infinity elsewhere.
    low: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(problem: &'a PairProblem<'a>, columns: &mut impl KernelColumns, ctx: &Context) -> Result<Self> {
        let whole = problem.start.map_or_else(|| vec![0.0; columns.len()], |at| at.coefficients.to_vec());
        let left = problem.left().unwrap_or(problem.signs).to_vec();
        let mut run = Self { problem, whole, left, limits: problem.limits(), active: Active::default() };
        let everything: Vec<usize> = (0..run.whole.len()).collect();
        if problem.left().is_none() {
            run.rebuild(&everything, columns, ctx)?;
        }
        run.activate(everything);
        Ok(run)
    }

    /// $f$ of all rows anew, which are all at work.
    fn rebuild_all(&mut self, columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        self.store();
        let everything: Vec<usize> = (0..self.whole.len()).collect();
        self.rebuild(&everything, columns, ctx)?;
        self.activate(everything);
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.active.rows.len() == self.whole.len()
    }

    /// $f$ of these rows from the coefficients of all.
    fn rebuild(&mut self, rows: &[usize], columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        let weights: Vec<(usize, f64)> =
            self.whole.iter().copied().enumerate().filter(|(_, b)| *b != 0.0).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let mut sum = vec![0.0; rows.len()];
        for weights in weights.chunks(COMBINED) {
            ctx.check()?;
            columns.combine(weights, rows, &mut sum);
        }
        rows.iter().zip(sum).for_each(|(&i, sum)| self.left[i] = self.problem.signs[i] - sum);
        Ok(())
    }

    fn activate(&mut self, rows: Vec<usize>) {
        let take = |from: &[f64]| -> Vec<f64> { rows.iter().map(|&i| from[i]).collect() };
        let (beta, left) = (take(&self.whole), take(&self.left));
        let (least, most) = (take(&self.limits.0), take(&self.limits.1));
        let up = beta.iter().zip(&most).map(|(beta, most)| Active::up(*beta, *most)).collect();
        let low = beta.iter().zip(&least).map(|(beta, least)| Active::low(*beta, *least)).collect();
        self.active = Active { rows, beta, least, most, left, up, low };
    }

    /// Writes what the rows at work have found to all rows.
    fn store(&mut self) {
        for (at, &i) in self.active.rows.iter().enumerate() {
            self.whole[i] = self.active.beta[at];
            self.left[i] = self.active.left[at];
        }
    }

    /// All rows go back to work.
    fn release(&mut self, columns: &mut impl KernelColumns, ctx: &Context) -> Result<()> {
        self.store();
        if self.is_whole() {
            return Ok(());
        }
        columns.release();
        let mut aside = vec![true; self.whole.len()];
        self.active.rows.iter().for_each(|&i| aside[i] = false);
        let aside: Vec<usize> = (0..aside.len()).filter(|&i| aside[i]).collect();
        self.rebuild(&aside, columns, ctx)?;
        self.activate((0..self.whole.len()).collect());
        Ok(())
    }

    /// Sets rows aside that no violating pair can have as things stand.
    fn shrink(&mut self, columns: &mut impl KernelColumns) {
        let keep = self.active.still_needed();
        if keep.is_empty() || keep.len() as f64 > WORTH_SHRINKING * self.active.rows.len() as f64 {
            return;
        }
        self.store();
        let rows = keep.iter().map(|&at| self.active.rows[at]).collect();
        columns.restrict(&keep);
        self.activate(rows);
    }

    fn solution(self, iterations: usize, converged: bool) -> SmoSolution {
        let Active { beta, left, least, most, .. } = &self.active;
        let inside = (0..beta.len()).filter(|&i| beta[i] > least[i] && beta[i] < most[i]);
        let (free, sum) = inside.fold((0_usize, 0.0), |(count, sum), i| (count + 1, sum + left[i]));
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
        let twice = dot(beta, self.problem.signs) + dot(beta, left);
        SmoSolution {
            coefficients: self.active.beta,
            bias,
            objective: -0.5 * twice,
            left: self.active.left,
            iterations,
            converged,
        }
    }
}

impl Active {
    /// Whether a coefficient may rise, as a handicap.
    fn up(beta: f64, most: f64) -> f64 {
        if beta < most { 0.0 } else { f64::NEG_INFINITY }
    }

    /// Whether it may fall.
    fn low(beta: f64, least: f64) -> f64 {
        if beta > least { 0.0 } else { f64::INFINITY }
    }

    /// Says whether coefficient `i` may rise and fall.
    fn mark(&mut self, i: usize) {
        self.up[i] = Self::up(self.beta[i], self.most[i]);
        self.low[i] = Self::low(self.beta[i], self.least[i]);
    }

    /// The row that wants most to rise: its $f$ and place.
    fn first(&self) -> (f64, usize) {
        largest_sum(&self.left, &self.up)
    }

    /// How far the largest $f$ that may rise lies above the least that may fall.
    fn violation(&self, highest: f64) -> f64 {
        highest - self.lowest()
    }

    /// The least $f$ that may fall; infinity if none may.
    fn lowest(&self) -> f64 {
        self.left.iter().zip(&self.low).map(|(f, low)| f + low).fold(f64::INFINITY, f64::min)
    }

    /// Gain, place and largest violation for the partner of `first`.
    fn partner(&self, first: (f64, usize), columns: &mut impl KernelColumns) -> (f64, usize, f64) {
        let own = columns.diagonal()[first.1];
        columns.with_column(first.1, |diagonal, column| {
            best_partner(first.0, &self.left, &self.low, own, diagonal, column)
        })
    }

    /// Moves the pair, and finds the next first row.
    fn step(&mut self, i: usize, j: usize, columns: &mut impl KernelColumns) -> (f64, usize) {
        let own = columns.diagonal()[i];
        let step = columns.with_column(i, |diagonal, column| {
            // The same floor as where the partner was chosen.
            let curvature = (own + diagonal[j] - 2.0 * column[j]).max(1e-12);
            let step = self.move_pair(i, j, (self.left[i] - self.left[j]) / curvature);
            add_scaled(&mut self.left, -step, column);
            step
        });
        columns.with_column(j, |_, column| step_and_largest_sum(&mut self.left, step, column, &self.up))
    }

    /// Raises `i` and lowers `j` by `step` or as far as bounds allow, which are then met exactly.
    fn move_pair(&mut self, i: usize, j: usize, step: f64) -> f64 {
        let (room, below) = (self.most[i] - self.beta[i], self.beta[j] - self.least[j]);
        let step = step.min(room).min(below);
        self.beta[i] = if step == room { self.most[i] } else { self.beta[i] + step };
        self.beta[j] = if step == below { self.least[j] } else { self.beta[j] - step };
        self.mark(i);
        self.mark(j);
        step
    }

    /// Places of rows that are not at a bound that nothing pulls them from.
    fn still_needed(&self) -> Vec<usize> {
        let ((highest, _), lowest) = (self.first(), self.lowest());
        let stuck = |i: usize| {
            (self.up[i] != 0.0 && self.left[i] > highest) || (self.low[i] != 0.0 && self.left[i] < lowest)
        };
        (0..self.rows.len()).filter(|&i| !stuck(i)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::BlockColumns;
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
        // Points 1 and -1 with the product as kernel: w = 1, so alpha = 1/2 each, no constant, objective -1/2.
        let k = array![[1.0, -1.0], [-1.0, 1.0]];
        let free = solve(&k, &[1.0, -1.0], &[10.0, 10.0]);
        assert_eq!(free.coefficients, [0.5, -0.5]);
        assert!((free.bias, free.objective, free.converged) == (0.0, -0.5, true));
        // A bound of 1/4 binds: both are at it, w = 1/2, f = 1 - 1/2 and -1 + 1/2.
        let bound = solve(&k, &[1.0, -1.0], &[0.25, 0.25]);
        assert_eq!(bound.coefficients, [0.25, -0.25]);
        assert_eq!(bound.left, [0.5, -0.5]);
        assert_eq!((bound.bias, bound.objective), (0.0, 0.5 * 0.25 - 0.5));
    }

    #[test]
    fn the_constant_is_where_the_line_crosses() {
        // Points 0 and 2 on a line: w = 1, b = -1.
        let k = array![[0.0, 0.0], [0.0, 4.0]];
        let solution = solve(&k, &[-1.0, 1.0], &[9.0, 9.0]);
        assert_eq!(solution.coefficients, [-0.5, 0.5]);
        assert_eq!(solution.bias, -1.0);
    }

    #[test]
    fn nothing_can_move_where_bounds_are_zero() {
        let solution = solve(&array![[1.0, 0.0], [0.0, 1.0]], &[1.0, -1.0], &[0.0, 0.0]);
        assert!(solution.converged && solution.coefficients == [0.0, 0.0] && solution.bias == 0.0);
    }

    #[test]
    fn a_side_without_a_price_sets_the_constant() {
        // Nothing can move; f is 1 and -1. Only the second row could fall, so that its f is the constant: its class
        // is predicted everywhere. The other way round the first row could rise.
        let k = array![[1.0, 0.0], [0.0, 1.0]];
        assert_eq!(solve(&k, &[1.0, -1.0], &[0.0, 1.0]).bias, -1.0);
        assert_eq!(solve(&k, &[1.0, -1.0], &[1.0, 0.0]).bias, 1.0);
    }

    #[test]
    fn starts_that_break_the_conditions_are_refused() {
        let k = array![[1.0, 0.0], [0.0, 1.0]];
        let mut columns = BlockColumns::new(k.view(), &[0, 1]);
        for start in [[0.5, 0.5], [0.5, -0.4], [2.0, -2.0], [-0.5, 0.5], [f64::NAN, 0.0], [0.0, f64::NAN]] {
            let problem =
                PairProblem { signs: &[1.0, -1.0], bounds: &[1.0, 1.0], start: Some(PairStart::at(&start)) };
            let error = Smo::default().solve(&problem, &mut columns, &Context::default()).unwrap_err();
            assert!(error.to_string().contains("'start' must be within the bounds"), "{error}");
        }
        let start = Some(PairStart { coefficients: &[0.5, -0.5], left: Some(&[0.5]) });
        let problem = PairProblem { signs: &[1.0, -1.0], bounds: &[1.0, 1.0], start };
        let error = Smo::default().solve(&problem, &mut columns, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("what is left of the labels at the start"), "{error}");
    }

    #[test]
    fn a_limit_of_steps_is_an_outcome() {
        let k = array![[2.0, 0.1, 0.3], [0.1, 1.0, 0.2], [0.3, 0.2, 3.0]];
        let mut columns = BlockColumns::new(k.view(), &[0, 1, 2]);
        let problem = PairProblem { signs: &[1.0, -1.0, 1.0], bounds: &[9.0; 3], start: None };
        let smo = Smo { max_iterations: 1, tolerance: 1e-9, ..Smo::default() };
        let solution = smo.solve(&problem, &mut columns, &Context::default()).unwrap();
        assert!(!solution.converged && solution.iterations == 1);
    }
}
