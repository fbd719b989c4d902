//! The search both forms share: quasi-Newton steps on a factor or on weights, until a bound proves the value.

use super::super::learner::Status;
use super::NAME;
use crate::context::Context;
use crate::error::Result;
use crate::optim::{Bounds, Criterion, TwoMetric};
use crate::outcome::Stop;
use ndarray::Array2;

/// Rounds of steps and bounds at most.
const ROUNDS: usize = 40;
/// The first measure of optimality asked of the steps, as a share of the tolerance; a tenth of it in each next round.
const FIRST: f64 = 0.3;
/// The finest measure asked for; values of the criterion are equal to rounding well before it.
const FINEST: f64 = 1e-11;

/// Shares of the largest weight below which weights are left out, if the bound still holds.
const FAINT: [f64; 2] = [1e-5, 1e-9];

/// $\max_B \sum_D \sqrt{z^\top B z}$ where $\operatorname{tr} B = 1$, with $B$ given by a matrix of few numbers: a factor, or the
/// diagonal.
pub(super) trait Problem {
    /// $\tfrac12 \operatorname{tr} B - \ln \sum_D \sqrt{z^\top B z}$, whose least point has trace 1.
    fn criterion<'a>(&'a self, matrix: &Array2<f64>) -> Box<dyn Criterion + 'a>;

    /// The least that entries of the matrix may be.
    fn least(&self) -> f64;

    /// How far the first step may take an entry of a matrix.
    fn first_step(&self, matrix: &Array2<f64>) -> f64;

    /// The matrix scaled to trace 1 of $B$.
    fn unit(&self, matrix: Array2<f64>) -> Array2<f64>;

    /// How good a matrix is whose $B$ has trace 1.
    fn judge(&self, matrix: &Array2<f64>) -> Result<Judged>;

    /// The matrix moved towards the direction that promises most, as far as the value rises, and the value there.
    fn moved(&self, matrix: &Array2<f64>, judged: &Judged) -> Result<(Array2<f64>, f64)>;

    /// The matrix without what has less than a share of the largest weight, scaled to trace 1 of $B$; nothing if all has
    /// more.
    fn without_faint(&self, matrix: &Array2<f64>, share: f64) -> Result<Option<Array2<f64>>>;
}

/// What is known of a matrix whose $B$ has trace 1.
pub(super) struct Judged {
    /// The sum of distances of dissimilar pairs.
    pub value: f64,
    /// No metric has a value above this one's times one plus the gap.
    pub gap: f64,
    /// The squared distances of dissimilar pairs.
    pub squares: Vec<f64>,
    /// The direction that promises most, as a matrix of one column.
    pub leading: Array2<f64>,
}

/// Where the search ended.
pub(super) struct Top {
    pub matrix: Array2<f64>,
    pub value: f64,
    pub gap: f64,
    pub iterations: usize,
    pub status: Status,
}

/// Climbs from `start` until the gap is within the tolerance, and leaves out what is hardly there and not needed.
pub(super) fn climb(
    problem: &dyn Problem,
    start: Array2<f64>,
    tolerance: f64,
    max_iter: usize,
    ctx: &Context,
) -> Result<Top> {
    let mut matrix = start;
    let (mut iterations, mut rounds) = (0, 0);
    let mut fine = FIRST * tolerance;
    let top = loop {
        ctx.step(NAME, iterations, max_iter)?;
        let solver = TwoMetric {
            tolerance: fine.max(FINEST),
            max_iterations: max_iter - iterations,
            first_step: problem.first_step(&matrix),
            ..TwoMetric::default()
        };
        let criterion = problem.criterion(&matrix);
        let bounds = Bounds::uniform(matrix.dim(), problem.least(), f64::INFINITY);
        let end = solver.minimize(&*criterion, &bounds, matrix, ctx)?;
        drop(criterion);
        iterations += end.iterations;
        matrix = problem.unit(end.w);
        let judged = problem.judge(&matrix)?;
        let ended =
            |status| Top { matrix: matrix.clone(), value: judged.value, gap: judged.gap, iterations, status };
        if judged.gap <= tolerance {
            break ended(Status::Optimal);
        }
        if end.stop == Stop::MaxIterations {
            break ended(Status::MaxIterations);
        }
        let (moved, value) = problem.moved(&matrix, &judged)?;
        let stuck = value <= judged.value * (1.0 + 8.0 * f64::EPSILON);
        if rounds == ROUNDS || stuck && (fine <= FINEST || end.stop == Stop::Stationary) {
            break ended(Status::Stalled);
        }
        matrix = moved;
        fine *= 0.1;
        rounds += 1;
    };
    without_faint(problem, top, tolerance)
}

fn without_faint(problem: &dyn Problem, mut top: Top, tolerance: f64) -> Result<Top> {
    for share in FAINT {
        if let Some(matrix) = problem.without_faint(&top.matrix, share)? {
            let judged = problem.judge(&matrix)?;
            if judged.gap <= top.gap.max(tolerance) {
                (top.value, top.gap, top.matrix) = (judged.value, judged.gap, matrix);
                if top.status == Status::Stalled && top.gap <= tolerance {
                    top.status = Status::Optimal;
                }
                break;
            }
        }
    }
    Ok(top)
}

/// The gap that a largest slope proves. The value is concave and of degree ½ in $B = L L^\top$: with
/// $G = \nabla g(B)$ and $\langle G, B \rangle = g/2$, $g(B') \le g(cB) + \langle \nabla g(cB), B' - cB \rangle
/// \le \tfrac12 \sqrt{c} g + \lambda_{\max}(G) / \sqrt{c}$ for every $c > 0$ and $B'$ of trace 1, and the best $c$ makes
/// that $\sqrt{2 g \lambda_{\max}}$.
pub(super) fn gap(value: f64, slope: f64) -> f64 {
    ((2.0 * slope / value).sqrt() - 1.0).max(0.0)
}

/// The $t$ in $[0, 1]$ at which $\sum_p \sqrt{(1 - t) a_p + t b_p}$ is largest, and the sum there.
pub(super) fn best_blend(a: &[f64], b: &[f64]) -> (f64, f64) {
    let at = |t: f64| a.iter().zip(b).map(|(a, b)| ((1.0 - t) * a + t * b).sqrt()).sum::<f64>();
    let slope = |t: f64| {
        let term = |(a, b): (&f64, &f64)| {
            let root = ((1.0 - t) * a + t * b).sqrt();
            if root > 0.0 { (b - a) / root } else { 0.0 }
        };
        a.iter().zip(b).map(term).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 1.0);
    // The sum is concave, so its slope falls; 50 halvings come down to rounding.
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low, at(low))
}

/// One over every distance; 0 for none, where the pair has no slope to give.
pub(super) fn inverses(distances: &[f64]) -> Vec<f64> {
    distances.iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect()
}
