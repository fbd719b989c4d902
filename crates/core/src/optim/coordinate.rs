//! Coordinate descent for linear classifiers: one variable at a time, as fast as a row or column can be read.
//!
//! Two problems, with $b_i = 1 - y_i \langle w, x_i \rangle$ and prices $C_i$:
//!
//! $$ \min_w \tfrac12 \lVert w \rVert_2^2 + \sum_i C_i \max(0, b_i)^p, \quad p = 1, 2 \qquad\qquad
//!    \min_w \lVert w \rVert_1 + \sum_i C_i \max(0, b_i)^2 $$
//!
//! The first is solved in the dual, where $w = \sum_i \alpha_i y_i x_i$ is kept up to date and each
//! $\alpha_i \ge 0$ has a closed form (Hsieh and others). The second is solved as it stands: each weight takes a Newton
//! step on its own with a line search, and most stay exactly zero (Yuan and others). Both visit the variables in a
//! random order and set aside those that seem settled until the others are solved.

use crate::context::Context;
use crate::error::Result;
use crate::random::Rng;

/// Rows of numbers, as the dual needs them.
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

/// Columns with what is not zero in them.
#[derive(Debug, Clone, Default)]
pub struct SparseColumns {
    /// Cells of column `j` are `start[j]..start[j + 1]`.
    pub start: Vec<usize>,
    /// The row of each cell.
    pub row: Vec<u32>,
    /// Its value.
    pub value: Vec<f64>,
}

impl SparseColumns {
    /// Cells that come row by row, as (row, column, value), put together by `d` columns.
    pub fn gather<I: Iterator<Item = (usize, usize, f64)>>(d: usize, cells: impl Fn() -> I) -> Self {
        let mut start = vec![0; d + 1];
        cells().for_each(|(_, j, _)| start[j + 1] += 1);
        (0..d).for_each(|j| start[j + 1] += start[j]);
        let mut next = start.clone();
        let (mut row, mut value) = (vec![0; start[d]], vec![0.0; start[d]]);
        for (i, j, v) in cells() {
            (row[next[j]], value[next[j]]) = (i as u32, v);
            next[j] += 1;
        }
        Self { start, row, value }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there is no column.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and values of a column.
    pub fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let cells = self.start[j]..self.start[j + 1];
        self.row[cells.clone()].iter().map(|&i| i as usize).zip(self.value[cells].iter().copied())
    }
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sweeps {
    /// The violation that is let pass; see the functions.
    pub tolerance: f64,
    /// Most sweeps over the variables.
    pub max_iterations: usize,
}

/// How a descent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descent {
    /// Sweeps over the variables.
    pub iterations: usize,
    /// Whether the violation is below the tolerance.
    pub converged: bool,
}

/// The first problem. `alpha` is where it starts and where it ends; returns $w$. `squared`: $p = 2$.
///
/// Stops when the projected gradients of one sweep over all rows lie within `tolerance` of one another.
#[allow(clippy::too_many_arguments, reason = "a problem, a start and a way to stop")]
pub fn dual_descent(
    x: &impl RowProducts,
    d: usize,
    signs: &[f64],
    prices: &[f64],
    squared: bool,
    alpha: &mut [f64],
    sweeps: Sweeps,
    rng: &mut Rng,
    ctx: &Context,
) -> Result<(Vec<f64>, Descent)> {
    let n = x.n();
    let bound = |i: usize| if squared { f64::INFINITY } else { prices[i] };
    let ridge = |i: usize| if squared { 0.5 / prices[i] } else { 0.0 };
    let mut w = vec![0.0; d];
    (0..n).filter(|&i| alpha[i] != 0.0).for_each(|i| x.add(i, alpha[i] * signs[i], &mut w));
    // Rows that cost nothing have no say.
    let everything: Vec<usize> = (0..n).filter(|&i| prices[i] > 0.0).collect();
    let curvature: Vec<f64> =
        (0..n).map(|i| if prices[i] > 0.0 { x.square(i) + ridge(i) } else { 1.0 }).collect();
    let mut active = everything.clone();
    let (mut highest_before, mut lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
    for iterations in 1..=sweeps.max_iterations {
        ctx.check()?;
        rng.shuffle(&mut active);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut at = 0;
        while at < active.len() {
            let i = active[at];
            let gradient = signs[i] * x.product(i, &w) - 1.0 + ridge(i) * alpha[i];
            let aside = (alpha[i] == 0.0 && gradient > highest_before)
                || (alpha[i] >= bound(i) && gradient < lowest_before);
            if aside {
                active.swap_remove(at);
                continue;
            }
            at += 1;
            let projected = if alpha[i] == 0.0 {
                gradient.min(0.0)
            } else if alpha[i] >= bound(i) {
                gradient.max(0.0)
            } else {
                gradient
            };
            (highest, lowest) = (highest.max(projected), lowest.min(projected));
            if projected.abs() > 1e-12 && curvature[i] > 0.0 {
                let before = alpha[i];
                alpha[i] = (before - gradient / curvature[i]).clamp(0.0, bound(i));
                x.add(i, (alpha[i] - before) * signs[i], &mut w);
            } else if projected < 0.0 && curvature[i] == 0.0 {
                // A row of zeros and no ridge: nothing holds it back.
                alpha[i] = bound(i);
            }
        }
        if highest - lowest <= sweeps.tolerance || active.is_empty() {
            if active.len() == everything.len() {
                return Ok((w, Descent { iterations, converged: true }));
            }
            active.clone_from(&everything);
            (highest_before, lowest_before) = (f64::INFINITY, f64::NEG_INFINITY);
            continue;
        }
        highest_before = if highest > 0.0 { highest } else { f64::INFINITY };
        lowest_before = if lowest < 0.0 { lowest } else { f64::NEG_INFINITY };
    }
    Ok((w, Descent { iterations: sweeps.max_iterations, converged: false }))
}

/// The second problem, whose columns carry the signs: cell $i$ of column $j$ is $y_i x_{ij}$. `w` is where it starts
/// and where it ends.
///
/// Stops when the violations of one sweep over all weights add up to at most `tolerance` times what they are at zero.
pub fn l1_descent(
    columns: &SparseColumns,
    prices: &[f64],
    w: &mut [f64],
    sweeps: Sweeps,
    rng: &mut Rng,
    ctx: &Context,
) -> Result<Descent> {
    let d = columns.len();
    let at_zero: f64 =
        l1_gradient(columns, prices, &vec![1.0; prices.len()]).iter().map(|g| (g.abs() - 1.0).max(0.0)).sum();
    let mut margin = l1_margins(columns, prices.len(), w);
    let mut active: Vec<usize> = (0..d).collect();
    let mut worst_before = f64::INFINITY;
    for iterations in 1..=sweeps.max_iterations {
        ctx.check()?;
        rng.shuffle(&mut active);
        let (mut worst, mut sum) = (0.0_f64, 0.0);
        let mut at = 0;
        while at < active.len() {
            let j = active[at];
            let (gradient, curvature) = derivatives(columns, j, prices, &margin);
            let (rising, falling) = (gradient + 1.0, gradient - 1.0);
            let violation = if w[j] == 0.0 {
                let per_row = worst_before / prices.len() as f64;
                if rising > per_row && falling < -per_row {
                    active.swap_remove(at);
                    continue;
                }
                (-rising).max(falling).max(0.0)
            } else if w[j] > 0.0 {
                rising.abs()
            } else {
                falling.abs()
            };
            at += 1;
            worst = worst.max(violation);
            sum += violation;
            let newton = if rising < curvature * w[j] {
                -rising / curvature
            } else if falling > curvature * w[j] {
                -falling / curvature
            } else {
                -w[j]
            };
            if newton.abs() > 1e-12 {
                line_search(columns, j, prices, &mut margin, &mut w[j], gradient, newton);
            }
        }
        if sum <= sweeps.tolerance * at_zero || active.is_empty() {
            if active.len() == d {
                return Ok(Descent { iterations, converged: true });
            }
            active = (0..d).collect();
            worst_before = f64::INFINITY;
            // Small changes have been added up; start the last look from the sums themselves.
            margin = l1_margins(columns, prices.len(), w);
            continue;
        }
        worst_before = worst;
    }
    Ok(Descent { iterations: sweeps.max_iterations, converged: false })
}

/// $b_i = 1 - \sum_j w_j y_i x_{ij}$
pub fn l1_margins(columns: &SparseColumns, n: usize, w: &[f64]) -> Vec<f64> {
    let mut margin = vec![1.0; n];
    for (j, &w) in w.iter().enumerate().filter(|(_, w)| **w != 0.0) {
        columns.column(j).for_each(|(i, v)| margin[i] -= w * v);
    }
    margin
}

/// The gradient of the loss for every weight, given all $b_i$.
pub fn l1_gradient(columns: &SparseColumns, prices: &[f64], margin: &[f64]) -> Vec<f64> {
    (0..columns.len()).map(|j| derivatives(columns, j, prices, margin).0).collect()
}

/// $\lVert w \rVert_1 + \sum_i C_i \max(0, b_i)^2$
pub fn l1_objective(prices: &[f64], margin: &[f64], w: &[f64]) -> f64 {
    let loss: f64 = margin.iter().zip(prices).map(|(b, c)| c * b.max(0.0).powi(2)).sum();
    w.iter().map(|w| w.abs()).sum::<f64>() + loss
}

/// First and second derivative of the loss along weight `j`.
fn derivatives(columns: &SparseColumns, j: usize, prices: &[f64], margin: &[f64]) -> (f64, f64) {
    let (mut first, mut second) = (0.0, 0.0);
    for (i, v) in columns.column(j) {
        if margin[i] > 0.0 {
            let priced = prices[i] * v;
            first -= priced * margin[i];
            second += priced * v;
        }
    }
    // Where no row is inside the margin the loss is flat; any curvature will do.
    (2.0 * first, (2.0 * second).max(1e-12))
}

/// Goes along the Newton direction as far as the objective falls enough, halving at most 20 times.
fn line_search(
    columns: &SparseColumns,
    j: usize,
    prices: &[f64],
    margin: &mut [f64],
    w: &mut f64,
    gradient: f64,
    newton: f64,
) {
    const SHARE: f64 = 0.01;
    let change = |step: f64| -> f64 {
        let loss: f64 = columns
            .column(j)
            .map(|(i, v)| {
                let (old, new) = (margin[i].max(0.0), (margin[i] - step * v).max(0.0));
                prices[i] * (new - old) * (new + old)
            })
            .sum();
        (*w + step).abs() - w.abs() + loss
    };
    let promised = gradient * newton + (*w + newton).abs() - w.abs();
    let mut share = 1.0;
    for _ in 0..20 {
        if change(share * newton) <= SHARE * share * promised {
            let step = share * newton;
            // A full step to zero lands on it.
            *w = if share == 1.0 && newton == -*w { 0.0 } else { *w + step };
            columns.column(j).for_each(|(i, v)| margin[i] -= step * v);
            return;
        }
        share *= 0.5;
    }
}
