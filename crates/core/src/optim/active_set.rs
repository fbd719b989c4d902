//! The last steps of the pairwise solver at once: the coefficients strictly between their bounds solve linear equations.
//!
//! Near the optimum of the programme of [`super::Smo`] it is mostly settled which coefficients are at a bound. Those between, $F$,
//! then satisfy $K_{FF} \beta_F + b = y_F - K_{FB} \beta_B$ with $\sum_i \beta_i = 0$. Pairs of coefficients creep towards that where
//! the matrix is nearly flat; here it is solved by Cholesky factorisation. Where a coefficient would leave its bounds
//! the step ends there and the coefficient stays at the bound; where one at a bound pulls away from it, it is let go. Every
//! step lowers the objective, so what comes out is a better start at worst; [`super::Smo`] then says whether it is optimal.
//!
//! As the coefficients sum to zero, a constant may be added to all of $K$: that keeps $K_{FF}$ regular for a linear kernel,
//! which has one more coefficient between its bounds than columns.
//!
//! Cost: $O(|F|^3 + n |F|)$ per step. Reference: Nocedal and Wright, *Numerical optimization*, chapter 16, 2006.

use super::columns::BlockColumns;
use super::smo::{PairProblem, SmoSolution};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::simd::add_scaled;
use ndarray::Array2;

/// More coefficients between their bounds than this are left to the pairwise solver.
const MOST_FREE: usize = 256;

/// What is added to the diagonal, as a share of its mean.
const RIDGE: f64 = 1e-10;

/// Most steps that only solve what the ridge left of the same equations.
const MOST_REPEATS: usize = 10;

/// Improves the coefficients of a solution; they stay within their bounds and sum to zero. `tolerance`: as the solver's.
pub fn polish(
    problem: &PairProblem,
    columns: &BlockColumns,
    solution: &SmoSolution,
    tolerance: f64,
    most_steps: usize,
    ctx: &Context,
) -> Result<Vec<f64>> {
    let mut state = State::new(problem, columns, solution);
    for _ in 0..most_steps {
        ctx.check()?;
        if !state.step(tolerance) {
            break;
        }
    }
    // Rounding of the equations must not break the sum, which the solver relies on.
    let (sum, size) = state.beta.iter().fold((0.0, 0.0), |(s, z), b| (s + b, z + f64::abs(*b)));
    Ok(if f64::abs(sum) <= 1e-12 * size { state.beta } else { solution.coefficients.clone() })
}

struct State<'a> {
    columns: &'a BlockColumns<'a>,
    beta: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
    /// $y - K \beta$
    left: Vec<f64>,
    free: Vec<usize>,
    /// Steps in a row that solved the equations without meeting a bound.
    repeats: usize,
}

impl<'a> State<'a> {
    fn new(problem: &PairProblem, columns: &'a BlockColumns<'a>, solution: &SmoSolution) -> Self {
        let signed = |i: usize| problem.signs[i] * problem.bounds[i];
        let n = problem.signs.len();
        let beta = solution.coefficients.clone();
        let (least, most): (Vec<f64>, Vec<f64>) =
            (0..n).map(|i| (signed(i).min(0.0), signed(i).max(0.0))).unzip();
        let free = (0..n).filter(|&i| beta[i] > least[i] && beta[i] < most[i]).collect();
        Self { columns, beta, least, most, left: solution.left.clone(), free, repeats: 0 }
    }

    /// One step; says whether another may help.
    fn step(&mut self, tolerance: f64) -> bool {
        let Some((change, bias)) = self.direction() else { return false };
        // How far until the first coefficient meets a bound.
        let mut share = 1.0;
        let mut blocks = None;
        for (at, &i) in self.free.iter().enumerate() {
            let room =
                if change[at] > 0.0 { self.most[i] - self.beta[i] } else { self.least[i] - self.beta[i] };
            if change[at] != 0.0 && room / change[at] < share {
                share = room / change[at];
                blocks = Some(at);
            }
        }
        for (at, &i) in self.free.iter().enumerate() {
            // Several may meet their bounds together, one of them by rounding a little beyond.
            self.beta[i] = (self.beta[i] + share * change[at]).clamp(self.least[i], self.most[i]);
            add_scaled(&mut self.left, -share * change[at], self.columns.column(i));
        }
        if let Some(at) = blocks {
            let i = self.free.remove(at);
            self.beta[i] = if change[at] > 0.0 { self.most[i] } else { self.least[i] };
            self.repeats = 0;
            return true;
        }
        if self.let_go(bias, tolerance) {
            self.repeats = 0;
            return true;
        }
        // Where scales differ much the ridge leaves a part of the equations unsolved; each step takes most of it away.
        self.repeats += 1;
        let solved = |&i: &usize| f64::abs(self.left[i] - bias) <= 0.25 * tolerance;
        self.repeats < MOST_REPEATS && !self.free.iter().all(solved)
    }

    /// Frees the coefficient that pulls hardest away from its bound, if one does.
    fn let_go(&mut self, bias: f64, tolerance: f64) -> bool {
        let mut worst = (0.25 * tolerance, None);
        for i in 0..self.beta.len() {
            let pull = self.left[i] - bias;
            let pull = match (self.beta[i] < self.most[i], self.beta[i] > self.least[i]) {
                (true, false) => pull,
                (false, true) => -pull,
                // Between its bounds, or without room.
                _ => 0.0,
            };
            if pull > worst.0 {
                worst = (pull, Some(i));
            }
        }
        let Some(i) = worst.1 else { return false };
        let at = self.free.partition_point(|&f| f < i);
        self.free.insert(at, i);
        true
    }

    /// The change of the free coefficients that solves their equations, and the constant that goes with it.
    fn direction(&self) -> Option<(Vec<f64>, f64)> {
        let m = self.free.len();
        if !(2..=MOST_FREE).contains(&m) {
            return None;
        }
        let k = |a: usize, b: usize| self.columns.column(self.free[a])[self.free[b]];
        // Of the size of the matrix itself, so that nothing drowns.
        let constant = (0..m).map(|a| k(a, a)).sum::<f64>() / m as f64;
        // A ridge of rounding's size: where the matrix is flat the step becomes so long that it meets a bound, which
        // is right, for the objective falls all the way.
        let ridge = 2.0 * RIDGE * constant;
        let matrix =
            Array2::from_shape_fn((m, m), |(a, b)| k(a, b) + constant + if a == b { ridge } else { 0.0 });
        let factor = cholesky(matrix.view())?;
        // K change + bias = left, with a change that sums to zero.
        let mut solved = Array2::ones((m, 2));
        self.free.iter().enumerate().for_each(|(a, &i)| solved[[a, 0]] = self.left[i]);
        cholesky_solve(factor.view(), &mut solved.view_mut());
        let (with, ones) = (solved.column(0), solved.column(1));
        let bias = with.sum() / ones.sum();
        let mut change: Vec<f64> = (0..m).map(|a| with[a] - bias * ones[a]).collect();
        // What rounding left of the sum goes to the coefficient that moves most.
        let excess: f64 = change.iter().sum();
        let largest = (0..m).fold(0, |best, a| if change[a].abs() > change[best].abs() { a } else { best });
        change[largest] -= excess;
        change.iter().all(|c| c.is_finite()).then_some((change, bias))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Smo;
    use super::*;
    use crate::random::Rng;

    /// After polishing the solver has nothing left to do, and the objective is no worse.
    #[test]
    fn what_is_polished_is_optimal() {
        let ctx = Context::default();
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let x = Array2::from_shape_simple_fn((80, 6), || rng.normal());
            let signs: Vec<f64> =
                x.rows().into_iter().map(|r| (r[0] - r[1] + 0.5 * rng.normal()).signum()).collect();
            let bounds = vec![10f64.powi(seed as i32 % 4 - 1); 80];
            let k = x.dot(&x.t());
            let rows: Vec<usize> = (0..80).collect();
            let mut columns = BlockColumns::new(k.view(), &rows);
            let problem = PairProblem { signs: &signs, bounds: &bounds, start: None };
            let rough =
                Smo { tolerance: 1e-1, ..Smo::default() }.solve(&problem, &mut columns, &ctx).unwrap();
            let better = polish(&problem, &columns, &rough, 1e-8, 200, &ctx).unwrap();
            let tight = Smo { tolerance: 1e-8, ..Smo::default() };
            let start = PairProblem { start: Some(&better), ..problem };
            let polished = tight.solve(&start, &mut columns, &ctx).unwrap();
            assert_eq!(polished.iterations, 0, "seed {seed}");
            assert!(polished.objective <= rough.objective);
            let cold = tight.solve(&problem, &mut columns, &ctx).unwrap();
            // Both miss the optimum by at most the tolerance times the sum of the bounds; 1e-12 for rounding of an
            // objective that is a sum of 80 terms.
            let allowed = 2.0 * 1e-8 * bounds.iter().sum::<f64>() + 1e-12 * cold.objective.abs();
            assert!((polished.objective - cold.objective).abs() < allowed, "seed {seed}");
        }
    }
}
