//! Coordinate descent for linear SVMs.
//!
//! Two problems, with the signed slack $b_i = 1 - y_i \langle w, x_i \rangle$ and regularization parameters $C_i$:
//!
//! $$ \min_w \tfrac12 \lVert w \rVert_2^2 + \sum_i C_i \max(0, b_i)^p, \quad p = 1, 2 \qquad\qquad
//!    \min_w \lVert w \rVert_1 + \sum_i C_i \max(0, b_i)^2 $$
//!
//! The l2-penalized problem is solved in the dual: $w = \sum_i \alpha_i y_i x_i$ is updated with each $\alpha_i \ge 0$, which has a
//! closed form (Hsieh and others). The l1-penalized problem is solved in the primal: each weight takes a Newton step with a
//! line search, and most weights stay exactly zero (Yuan and others). Both visit the variables in random order and shrink: variables
//! at a bound, or zero, that satisfy the optimality conditions are skipped until the others have converged.

use super::sparse_columns::SparseColumns;
use crate::context::Context;
use crate::error::Result;
use crate::random::Rng;

/// Changes below this value are skipped.
const MIN_CHANGE: f64 = 1e-12;

/// Row operations that the dual needs.
pub trait RowProducts {
    /// Number of rows.
    fn n(&self) -> usize;
    /// $\langle x_i, x_i \rangle$
    fn square(&self, i: usize) -> f64;
    /// $\langle x_i, w \rangle$
    fn product(&self, i: usize, w: &[f64]) -> f64;
    /// $w \mathrel{+}= s x_i$
    fn add(&self, i: usize, s: f64, w: &mut [f64]);
}

/// Stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Tolerance for violations of the optimality conditions; see the functions.
    pub tolerance: f64,
    /// Maximum number of sweeps over the variables.
    pub max_iterations: usize,
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convergence {
    /// Sweeps over the variables.
    pub iterations: usize,
    /// Whether the violation is below the tolerance.
    pub converged: bool,
}

/// The l2-penalized problem, without its rows.
#[derive(Debug, Clone, Copy)]
pub struct DualProblem<'a> {
    /// Number of weights.
    pub d: usize,
    /// $y$: 1 or -1 per row.
    pub signs: &'a [f64],
    /// $C_i$
    pub c: &'a [f64],
    /// Whether $p = 2$ (squared hinge loss).
    pub squared: bool,
}

impl DualProblem<'_> {
    /// The upper bound of $\alpha_i$.
    fn bound(&self, i: usize) -> f64 {
        if self.squared { f64::INFINITY } else { self.c[i] }
    }

    /// The diagonal term that the squared loss adds to the dual.
    fn ridge(&self, i: usize) -> f64 {
        if self.squared { 0.5 / self.c[i] } else { 0.0 }
    }
}

/// Solves the l2-penalized problem, starting at `alpha`, which it updates. Returns $w$.
///
/// Stops when the projected gradients of one sweep over all rows differ by at most the tolerance.
pub fn dual_descent(
    x: &impl RowProducts,
    problem: &DualProblem,
    alpha: &mut [f64],
    stop: StopRule,
    rng: &mut Rng,
    ctx: &Context,
) -> Result<(Vec<f64>, Convergence)> {
    let n = x.n();
    let mut w = vec![0.0; problem.d];
    (0..n).filter(|&i| alpha[i] != 0.0).for_each(|i| x.add(i, alpha[i] * problem.signs[i], &mut w));
    // Rows with C = 0 have no influence.
    let all: Vec<usize> = (0..n).filter(|&i| problem.c[i] > 0.0).collect();
    let curvature: Vec<f64> =
        (0..n).map(|i| if problem.c[i] > 0.0 { x.square(i) + problem.ridge(i) } else { 1.0 }).collect();
    let mut sweep = DualSweep { x, problem, curvature, active: all.clone(), shrink: UNLIMITED };
    for iterations in 1..=stop.max_iterations {
        ctx.check()?;
        rng.shuffle(&mut sweep.active);
        let (lowest, highest) = sweep.run(alpha, &mut w);
        if highest - lowest <= stop.tolerance || sweep.active.is_empty() {
            if sweep.active.len() == all.len() {
                return Ok((w, Convergence { iterations, converged: true }));
            }
            sweep.active.clone_from(&all);
            sweep.shrink = UNLIMITED;
            continue;
        }
        sweep.shrink = (
            if lowest < 0.0 { lowest } else { f64::NEG_INFINITY },
            if highest > 0.0 { highest } else { f64::INFINITY },
        );
    }
    Ok((w, Convergence { iterations: stop.max_iterations, converged: false }))
}

/// Shrinking limits that shrink nothing.
const UNLIMITED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

struct DualSweep<'a, X> {
    x: &'a X,
    problem: &'a DualProblem<'a>,
    curvature: Vec<f64>,
    active: Vec<usize>,
    /// A row at its upper bound with a gradient below the first limit, or at zero with one above the second, is shrunk.
    shrink: (f64, f64),
}

impl<X: RowProducts> DualSweep<'_, X> {
    /// One sweep over the active rows. Returns the smallest and largest projected gradient.
    fn run(&mut self, alpha: &mut [f64], w: &mut [f64]) -> (f64, f64) {
        let problem = self.problem;
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut at = 0;
        while at < self.active.len() {
            let i = self.active[at];
            let bound = problem.bound(i);
            let gradient = problem.signs[i] * self.x.product(i, w) - 1.0 + problem.ridge(i) * alpha[i];
            let shrinks = (alpha[i] == 0.0 && gradient > self.shrink.1)
                || (alpha[i] >= bound && gradient < self.shrink.0);
            if shrinks {
                self.active.swap_remove(at);
                continue;
            }
            at += 1;
            let projected = if alpha[i] == 0.0 {
                gradient.min(0.0)
            } else if alpha[i] >= bound {
                gradient.max(0.0)
            } else {
                gradient
            };
            (highest, lowest) = (highest.max(projected), lowest.min(projected));
            if projected.abs() > MIN_CHANGE && self.curvature[i] > 0.0 {
                let old = alpha[i];
                alpha[i] = (old - gradient / self.curvature[i]).clamp(0.0, bound);
                self.x.add(i, (alpha[i] - old) * problem.signs[i], w);
            } else if projected < 0.0 && self.curvature[i] == 0.0 {
                // A row of zeros without a ridge: the objective is linear in its coefficient.
                alpha[i] = bound;
            }
        }
        (lowest, highest)
    }
}

/// Solves the l1-penalized problem, starting at `w`, which it updates. The columns include the signs: entry $i$ of column $j$ is
/// $y_i x_{ij}$.
///
/// Stops when the sum of violations in one sweep over all weights is at most the tolerance times that at zero.
pub fn l1_descent(
    columns: &SparseColumns,
    c: &[f64],
    w: &mut [f64],
    stop: StopRule,
    rng: &mut Rng,
    ctx: &Context,
) -> Result<Convergence> {
    let d = columns.len();
    let at_zero: f64 =
        l1_gradient(columns, c, &vec![1.0; c.len()]).iter().map(|g| (g.abs() - 1.0).max(0.0)).sum();
    let mut slack = l1_slacks(columns, c.len(), w);
    let mut active: Vec<usize> = (0..d).collect();
    let mut shrink = f64::INFINITY;
    for iterations in 1..=stop.max_iterations {
        ctx.check()?;
        rng.shuffle(&mut active);
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        let mut at = 0;
        while at < active.len() {
            let j = active[at];
            let (gradient, curvature) = derivatives(columns, j, c, &slack);
            let (right, left) = (gradient + 1.0, gradient - 1.0);
            if w[j] == 0.0 {
                let limit = shrink / c.len() as f64;
                if right > limit && left < -limit {
                    active.swap_remove(at);
                    continue;
                }
            }
            at += 1;
            let violation = l1_violation(w[j], right, left);
            largest = largest.max(violation);
            sum += violation;
            let newton = newton_step(w[j], right, left, curvature);
            if newton.abs() > MIN_CHANGE {
                line_search(columns, j, c, &mut slack, &mut w[j], gradient, newton);
            }
        }
        if sum <= stop.tolerance * at_zero || active.is_empty() {
            if active.len() == d {
                return Ok(Convergence { iterations, converged: true });
            }
            active = (0..d).collect();
            shrink = f64::INFINITY;
            // Remove accumulated rounding error before the final sweeps.
            slack = l1_slacks(columns, c.len(), w);
            continue;
        }
        shrink = largest;
    }
    Ok(Convergence { iterations: stop.max_iterations, converged: false })
}

/// Violation of the optimality conditions of a weight; `right` and `left` are the derivatives of the objective for positive and
/// negative weights.
fn l1_violation(w: f64, right: f64, left: f64) -> f64 {
    if w == 0.0 {
        (-right).max(left).max(0.0)
    } else if w > 0.0 {
        right.abs()
    } else {
        left.abs()
    }
}

/// The minimizer of the quadratic model of the loss plus the penalty, as a change of the weight.
fn newton_step(w: f64, right: f64, left: f64, curvature: f64) -> f64 {
    if right < curvature * w {
        -right / curvature
    } else if left > curvature * w {
        -left / curvature
    } else {
        -w
    }
}

/// Signed slacks $b_i = 1 - \sum_j w_j y_i x_{ij}$, positive where a row violates the margin.
pub fn l1_slacks(columns: &SparseColumns, n: usize, w: &[f64]) -> Vec<f64> {
    let mut slack = vec![1.0; n];
    for (j, &w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        columns.column(j).for_each(|(i, v)| slack[i] -= w * v);
    }
    slack
}

/// The gradient of the loss with respect to the weights, given all $b_i$.
pub fn l1_gradient(columns: &SparseColumns, c: &[f64], slack: &[f64]) -> Vec<f64> {
    (0..columns.len()).map(|j| derivatives(columns, j, c, slack).0).collect()
}

/// $\lVert w \rVert_1 + \sum_i C_i \max(0, b_i)^2$
pub fn l1_objective(c: &[f64], slack: &[f64], w: &[f64]) -> f64 {
    let loss: f64 = slack.iter().zip(c).map(|(b, c)| c * b.max(0.0).powi(2)).sum();
    w.iter().map(|w| w.abs()).sum::<f64>() + loss
}

/// First and second derivative of the loss with respect to weight `j`.
pub(super) fn derivatives(columns: &SparseColumns, j: usize, c: &[f64], slack: &[f64]) -> (f64, f64) {
    let (mut first, mut second) = (0.0, 0.0);
    for (i, v) in columns.column(j) {
        if slack[i] > 0.0 {
            let weighted = c[i] * v;
            first -= weighted * slack[i];
            second += weighted * v;
        }
    }
    // If no row violates the margin the loss has no curvature; any positive value works.
    (2.0 * first, (2.0 * second).max(1e-12))
}

/// Backtracking line search along the Newton direction, with at most 20 halvings.
fn line_search(
    columns: &SparseColumns,
    j: usize,
    c: &[f64],
    slack: &mut [f64],
    w: &mut f64,
    gradient: f64,
    newton: f64,
) {
    /// Required fraction of the predicted decrease.
    const SUFFICIENT_DECREASE: f64 = 0.01;
    let change = |step: f64| -> f64 {
        let loss: f64 = columns
            .column(j)
            .map(|(i, v)| {
                let (old, new) = (slack[i].max(0.0), (slack[i] - step * v).max(0.0));
                c[i] * (new - old) * (new + old)
            })
            .sum();
        (*w + step).abs() - w.abs() + loss
    };
    let predicted = gradient * newton + (*w + newton).abs() - w.abs();
    let mut length = 1.0;
    for _ in 0..20 {
        if change(length * newton) <= SUFFICIENT_DECREASE * length * predicted {
            let step = length * newton;
            // A full step to zero gives exactly zero.
            *w = if length == 1.0 && newton == -*w { 0.0 } else { *w + step };
            columns.column(j).for_each(|(i, v)| slack[i] -= step * v);
            return;
        }
        length *= 0.5;
    }
}
