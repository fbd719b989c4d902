//! The ascent that both forms share: quasi-Newton steps on a factor or on weights, until a bound proves optimality.

use super::super::learner::Status;
use super::pairs::NAME;
use crate::context::Context;
use crate::error::Result;
use crate::optim::{Bounds, Criterion, TwoMetric};
use crate::outcome::Stop;
use ndarray::Array2;

/// Rounds of steps and bounds, at most.
const MAX_ROUNDS: usize = 40;
/// Solver tolerance in the first round, as a fraction of the tolerance; each further round divides it by ten.
const FIRST_TOLERANCE: f64 = 0.3;
/// The smallest solver tolerance; the criterion reaches rounding error before it.
const LAST_TOLERANCE: f64 = 1e-11;
/// Weights below these fractions of the largest are removed, if the bound still holds.
const SMALL: [f64; 2] = [1e-5, 1e-9];

/// $\max_B \sum_D \sqrt{z^\top B z}$ where $\operatorname{tr} B = 1$, with $B$ given by a matrix: its factor or its
/// diagonal.
pub(super) trait Problem {
    /// $\tfrac12 \operatorname{tr} B - \ln \sum_D \sqrt{z^\top B z}$, whose minimum has trace 1.
    fn criterion<'a>(&'a self, matrix: &Array2<f64>) -> Box<dyn Criterion + 'a>;

    /// Lower bound on the entries of the matrix.
    fn lower_bound(&self) -> f64;

    /// How far the first step may change an entry of the matrix.
    fn first_step(&self, matrix: &Array2<f64>) -> f64;

    /// The matrix scaled so that $B$ has trace 1.
    fn normalized(&self, matrix: Array2<f64>) -> Array2<f64>;

    /// Evaluates a normalized matrix.
    fn evaluate(&self, matrix: &Array2<f64>) -> Result<Evaluation>;

    /// The best matrix on the line towards the leading direction, and its value.
    fn step(&self, matrix: &Array2<f64>, at: &Evaluation) -> Result<(Array2<f64>, f64)>;

    /// The normalized matrix without weights up to a fraction of the largest; `None` if there are none.
    fn without_small(&self, matrix: &Array2<f64>, fraction: f64) -> Result<Option<Array2<f64>>>;
}

/// Value and bound of a normalized matrix.
pub(super) struct Evaluation {
    /// The sum of distances of dissimilar pairs.
    pub value: f64,
    /// No metric has a value above `value * (1 + gap)`.
    pub gap: f64,
    /// The squared distances of dissimilar pairs.
    pub squares: Vec<f64>,
    /// The direction of steepest ascent, as a matrix of one column.
    pub leading: Array2<f64>,
}

/// The result of [`ascend`].
pub(super) struct Solution {
    pub matrix: Array2<f64>,
    pub value: f64,
    pub gap: f64,
    pub iterations: usize,
    pub status: Status,
}

/// Ascends from `start` until the gap is within the tolerance, then removes small weights.
pub(super) fn ascend(
    problem: &dyn Problem,
    start: Array2<f64>,
    tolerance: f64,
    max_iter: usize,
    ctx: &Context,
) -> Result<Solution> {
    let mut matrix = start;
    let (mut iterations, mut rounds) = (0, 0);
    let mut solver_tolerance = FIRST_TOLERANCE * tolerance;
    let solution = loop {
        ctx.step(NAME, iterations, max_iter)?;
        let solver = TwoMetric {
            tolerance: solver_tolerance.max(LAST_TOLERANCE),
            max_iterations: max_iter - iterations,
            first_step: problem.first_step(&matrix),
            ..TwoMetric::default()
        };
        let criterion = problem.criterion(&matrix);
        let bounds = Bounds::uniform(matrix.dim(), problem.lower_bound(), f64::INFINITY);
        let end = solver.minimize(&*criterion, &bounds, matrix, ctx)?;
        drop(criterion);
        iterations += end.iterations;
        matrix = problem.normalized(end.w);
        let at = problem.evaluate(&matrix)?;
        let ended =
            |status| Solution { matrix: matrix.clone(), value: at.value, gap: at.gap, iterations, status };
        if at.gap <= tolerance {
            break ended(Status::Optimal);
        }
        if end.stop == Stop::MaxIterations {
            break ended(Status::MaxIterations);
        }
        let (next, value) = problem.step(&matrix, &at)?;
        let stuck = value <= at.value * (1.0 + 8.0 * f64::EPSILON);
        if rounds == MAX_ROUNDS
            || stuck && (solver_tolerance <= LAST_TOLERANCE || end.stop == Stop::Stationary)
        {
            break ended(Status::Stalled);
        }
        matrix = next;
        solver_tolerance *= 0.1;
        rounds += 1;
    };
    without_small(problem, solution, tolerance)
}

fn without_small(problem: &dyn Problem, mut solution: Solution, tolerance: f64) -> Result<Solution> {
    for fraction in SMALL {
        if let Some(matrix) = problem.without_small(&solution.matrix, fraction)? {
            let at = problem.evaluate(&matrix)?;
            if at.gap <= solution.gap.max(tolerance) {
                (solution.value, solution.gap, solution.matrix) = (at.value, at.gap, matrix);
                if solution.status == Status::Stalled && solution.gap <= tolerance {
                    solution.status = Status::Optimal;
                }
                break;
            }
        }
    }
    Ok(solution)
}

/// The gap that the largest eigenvalue of the gradient proves. The value is concave and of degree ½ in $B = L L^\top$: with
/// $G = \nabla g(B)$ and $\langle G, B \rangle = g/2$, $g(B') \le g(cB) + \langle \nabla g(cB), B' - cB \rangle
/// \le \tfrac12 \sqrt{c} g + \lambda_{\max}(G) / \sqrt{c}$ for every $c > 0$ and $B'$ of trace 1, and the best $c$ makes
/// that $\sqrt{2 g \lambda_{\max}}$.
pub(super) fn gap(value: f64, largest: f64) -> f64 {
    ((2.0 * largest / value).sqrt() - 1.0).max(0.0)
}

/// The $t$ in $[0, 1]$ at which $\sum_p \sqrt{(1 - t) a_p + t b_p}$ is largest, and the sum there.
pub(super) fn best_step(a: &[f64], b: &[f64]) -> (f64, f64) {
    let at = |t: f64| a.iter().zip(b).map(|(a, b)| ((1.0 - t) * a + t * b).sqrt()).sum::<f64>();
    let derivative = |t: f64| {
        let term = |(a, b): (&f64, &f64)| {
            let root = ((1.0 - t) * a + t * b).sqrt();
            if root > 0.0 { (b - a) / root } else { 0.0 }
        };
        a.iter().zip(b).map(term).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    // The sum is concave, so its derivative decreases; 50 bisections reach rounding error.
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if derivative(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low, at(low))
}

/// The inverse of every distance; 0 for distance 0, where the gradient is not defined.
pub(super) fn inverses(distances: &[f64]) -> Vec<f64> {
    distances.iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect()
}
