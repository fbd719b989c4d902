//! The search both forms share: quasi-Newton steps on a factor, until a bound proves the value.

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

/// $\max_L \sum_D \lVert L^\top z \rVert$ where $\lVert L \rVert_F = 1$.
pub(super) trait Problem {
    /// $\tfrac12 \lVert L \rVert_F^2 - \ln \sum_D \lVert L^\top z \rVert$, whose least point has norm 1.
    fn criterion<'a>(&'a self, factor: &Array2<f64>) -> Box<dyn Criterion + 'a>;

    /// How good a factor of norm 1 is.
    fn judge(&self, factor: &Array2<f64>) -> Result<Judged>;

    /// The factor moved towards the direction that promises most, as far as the value rises, and the value there.
    fn moved(&self, factor: &Array2<f64>, judged: &Judged) -> Result<(Array2<f64>, f64)>;
}

/// What is known of a factor of norm 1.
pub(super) struct Judged {
    /// The sum of distances of dissimilar pairs.
    pub value: f64,
    /// No metric has a value above this one's times one plus the gap.
    pub gap: f64,
    /// The squared distances of dissimilar pairs.
    pub squares: Vec<f64>,
    /// The direction that promises most, as a factor of one column.
    pub leading: Array2<f64>,
}

/// Where the search ended.
pub(super) struct Top {
    pub factor: Array2<f64>,
    pub value: f64,
    pub gap: f64,
    pub iterations: usize,
    pub status: Status,
}

/// Climbs from `start` until the gap is within the tolerance.
pub(super) fn climb(
    problem: &dyn Problem,
    start: Array2<f64>,
    tolerance: f64,
    max_iter: usize,
    ctx: &Context,
) -> Result<Top> {
    let mut factor = start;
    let (mut iterations, mut rounds) = (0, 0);
    let mut fine = FIRST * tolerance;
    loop {
        ctx.step(NAME, iterations, max_iter)?;
        let solver = TwoMetric {
            tolerance: fine.max(FINEST),
            max_iterations: max_iter - iterations,
            ..TwoMetric::default()
        };
        let criterion = problem.criterion(&factor);
        let free = Bounds::uniform(factor.dim(), f64::NEG_INFINITY, f64::INFINITY);
        let end = solver.minimise(&*criterion, &free, factor, ctx)?;
        drop(criterion);
        iterations += end.iterations;
        factor = unit(end.w);
        let judged = problem.judge(&factor)?;
        let ended =
            |status| Top { factor: factor.clone(), value: judged.value, gap: judged.gap, iterations, status };
        if judged.gap <= tolerance {
            return Ok(ended(Status::Optimal));
        }
        if end.stop == Stop::MaxIterations {
            return Ok(ended(Status::MaxIterations));
        }
        let (moved, value) = problem.moved(&factor, &judged)?;
        let stuck = value <= judged.value * (1.0 + 8.0 * f64::EPSILON);
        if rounds == ROUNDS || stuck && (fine <= FINEST || end.stop == Stop::Stationary) {
            return Ok(ended(Status::Stalled));
        }
        factor = moved;
        fine *= 0.1;
        rounds += 1;
    }
}

/// The factor with norm 1.
pub(super) fn unit(factor: Array2<f64>) -> Array2<f64> {
    let norm = factor.iter().map(|v| v * v).sum::<f64>().sqrt();
    factor / norm
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
