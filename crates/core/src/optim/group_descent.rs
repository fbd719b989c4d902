//! Block coordinate descent for linear SVMs with a penalty per group of weights.
//!
//! $$ \min_w \sum_g \lVert w_g \rVert_2 + \sum_i C_i \max(0, b_i)^2, \qquad b_i = 1 - y_i \langle w, x_i \rangle $$
//!
//! The weights of a group are zero together. Each group in turn minimizes a quadratic model of the loss plus its penalty,
//!
//! $$ w_g^+ = \Bigl(1 - \frac{1}{h \lVert u \rVert}\Bigr)_+ u, \qquad u = w_g - \frac1h \nabla_g, $$
//!
//! with $h$ the largest second derivative among its weights, and a line search. For groups of one weight this is the
//! l1-penalized problem and its Newton step. Groups are visited in random order; groups of zeros that satisfy the optimality
//! conditions are skipped until the others have converged.
//!
//! Reference: Yuan and Lin, *Model selection and estimation in regression with grouped variables*, 2006 (penalty).

use super::coordinate::{Convergence, StopRule, derivatives, l1_gradient, l1_slacks};
use super::sparse_columns::SparseColumns;
use crate::context::Context;
use crate::error::Result;
use crate::random::Rng;
use std::ops::Range;

/// Changes below this value are skipped.
const MIN_CHANGE: f64 = 1e-12;
/// Required fraction of the predicted decrease.
const SUFFICIENT_DECREASE: f64 = 0.01;
const MAX_HALVINGS: usize = 20;

/// Solves the problem for groups of adjacent columns, starting at `w`, which it updates. The columns include the signs.
///
/// Stops when the sum of violations in one sweep over all groups is at most the tolerance times that at zero.
pub fn group_descent(
    columns: &SparseColumns,
    groups: &[Range<usize>],
    c: &[f64],
    w: &mut [f64],
    stop: StopRule,
    rng: &mut Rng,
    ctx: &Context,
) -> Result<Convergence> {
    let gradient = l1_gradient(columns, c, &vec![1.0; c.len()]);
    let at_zero: f64 = groups.iter().map(|group| (norm(&gradient[group.clone()]) - 1.0).max(0.0)).sum();
    let mut slack = l1_slacks(columns, c.len(), w);
    let mut active: Vec<usize> = (0..groups.len()).collect();
    let mut shrink = f64::INFINITY;
    for iterations in 1..=stop.max_iterations {
        ctx.check()?;
        rng.shuffle(&mut active);
        let limit = 1.0 - shrink / c.len() as f64;
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        active.retain(|&g| {
            let w = &mut w[groups[g].clone()];
            let block = Block::new(columns, groups[g].clone(), c, &slack);
            let is_zero = w.iter().all(|w| *w == 0.0);
            if is_zero && norm(&block.gradient) < limit {
                return false;
            }
            let violation = block.violation(w);
            largest = largest.max(violation);
            sum += violation;
            block.step(c, &mut slack, w);
            true
        });
        if sum <= stop.tolerance * at_zero || active.is_empty() {
            if active.len() == groups.len() {
                return Ok(Convergence { iterations, converged: true });
            }
            active = (0..groups.len()).collect();
            shrink = f64::INFINITY;
            // Remove accumulated rounding error before the final sweeps.
            slack = l1_slacks(columns, c.len(), w);
            continue;
        }
        shrink = largest;
    }
    Ok(Convergence { iterations: stop.max_iterations, converged: false })
}

/// The Euclidean norm.
fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The loss as a function of the weights of one group.
struct Block<'a> {
    columns: &'a SparseColumns,
    group: Range<usize>,
    gradient: Vec<f64>,
    curvature: f64,
}

impl<'a> Block<'a> {
    fn new(columns: &'a SparseColumns, group: Range<usize>, c: &[f64], slack: &[f64]) -> Self {
        let of_columns = group.clone().map(|j| derivatives(columns, j, c, slack));
        let (gradient, curvatures): (Vec<f64>, Vec<f64>) = of_columns.unzip();
        Self { columns, group, gradient, curvature: curvatures.into_iter().fold(0.0, f64::max) }
    }

    /// Violation of the optimality conditions.
    fn violation(&self, w: &[f64]) -> f64 {
        let size = norm(w);
        if size == 0.0 {
            return (norm(&self.gradient) - 1.0).max(0.0);
        }
        norm(&self.gradient.iter().zip(w).map(|(g, w)| g + w / size).collect::<Vec<_>>())
    }

    /// The minimizer of the quadratic model plus the penalty, as a change of the weights.
    fn change(&self, w: &[f64]) -> Vec<f64> {
        let target: Vec<f64> = w.iter().zip(&self.gradient).map(|(w, g)| w - g / self.curvature).collect();
        let size = self.curvature * norm(&target);
        let factor = if size > 1.0 { 1.0 - 1.0 / size } else { 0.0 };
        target.iter().zip(w).map(|(target, w)| factor * target - w).collect()
    }

    /// Changes the weights and the slacks.
    fn step(&self, c: &[f64], slack: &mut [f64], w: &mut [f64]) {
        let change = self.change(w);
        if change.iter().all(|change| change.abs() <= MIN_CHANGE) {
            return;
        }
        let mut shift = vec![0.0; slack.len()];
        for (j, &change) in self.group.clone().zip(&change) {
            self.columns.column(j).for_each(|(i, v)| shift[i] += change * v);
        }
        let moved = |length: f64| w.iter().zip(&change).map(|(w, e)| w + length * e).collect::<Vec<_>>();
        let linear: f64 = self.gradient.iter().zip(&change).map(|(g, e)| g * e).sum();
        let predicted = linear + norm(&moved(1.0)) - norm(w);
        let mut length = 1.0;
        for _ in 0..MAX_HALVINGS {
            let new = moved(length);
            let loss = loss_change(c, slack, &shift, length);
            if loss + norm(&new) - norm(w) <= SUFFICIENT_DECREASE * length * predicted {
                // A full step to zero gives exactly zero.
                let is_zero = length == 1.0 && change.iter().zip(w.iter()).all(|(e, w)| *e == -w);
                w.iter_mut().zip(new).for_each(|(w, new)| *w = if is_zero { 0.0 } else { new });
                slack.iter_mut().zip(&shift).for_each(|(b, shift)| *b -= length * shift);
                return;
            }
            length *= 0.5;
        }
    }
}

/// The change of the loss if the slacks decrease by a multiple of `shift`.
fn loss_change(c: &[f64], slack: &[f64], shift: &[f64], length: f64) -> f64 {
    let of_row = |((b, shift), c): ((&f64, &f64), &f64)| {
        let (old, new) = (b.max(0.0), (b - length * shift).max(0.0));
        c * (new - old) * (new + old)
    };
    slack.iter().zip(shift).zip(c).map(of_row).sum()
}

#[cfg(test)]
mod tests {
    use super::super::coordinate::{l1_descent, l1_objective};
    use super::*;

    const STOP: StopRule = StopRule { tolerance: 1e-9, max_iterations: 100_000 };

    fn random(n: usize, d: usize, seed: u64) -> SparseColumns {
        let mut rng = Rng::new(seed);
        let cells: Vec<(usize, usize, f64)> = (0..n)
            .flat_map(|i| (0..d).map(move |j| (i, j)))
            .map(|(i, j)| (i, j, rng.normal() + 0.3))
            .collect();
        SparseColumns::gather(d, || cells.iter().copied())
    }

    #[test]
    fn groups_of_one_weight_are_the_l1_problem() {
        let columns = random(40, 6, 1);
        let c = vec![0.05; 40];
        let (mut a, mut b) = (vec![0.0; 6], vec![0.0; 6]);
        let groups: Vec<Range<usize>> = (0..6).map(|j| j..j + 1).collect();
        let ctx = Context::default();
        let run = group_descent(&columns, &groups, &c, &mut a, STOP, &mut Rng::new(1), &ctx).unwrap();
        l1_descent(&columns, &c, &mut b, STOP, &mut Rng::new(2), &ctx).unwrap();
        assert!(run.converged);
        // Both are within 1e-9 of the violation at zero of the optimum, with a curvature near 1.
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
        let value = |w: &[f64]| l1_objective(&c, &l1_slacks(&columns, 40, w), w);
        assert!((value(&a) - value(&b)).abs() < 1e-9);
    }

    #[test]
    fn a_group_is_zero_as_a_whole_and_optimal() {
        let columns = random(60, 7, 3);
        let groups = [0..3, 3..4, 4..7];
        let ctx = Context::default();
        let mut sizes = vec![];
        for c in [0.005, 0.03, 0.3] {
            let c = vec![c; 60];
            let mut w = vec![0.0; 7];
            let run = group_descent(&columns, &groups, &c, &mut w, STOP, &mut Rng::new(4), &ctx).unwrap();
            assert!(run.converged);
            let gradient = l1_gradient(&columns, &c, &l1_slacks(&columns, 60, &w));
            for group in &groups {
                let (w, g) = (&w[group.clone()], &gradient[group.clone()]);
                let size = norm(w);
                // Optimality conditions, to the tolerance times the violation at zero (below 100).
                if size == 0.0 {
                    assert!(norm(g) <= 1.0 + 1e-6);
                } else {
                    assert!(w.iter().zip(g).all(|(w, g)| (g + w / size).abs() < 1e-6 && *w != 0.0));
                }
            }
            sizes.push(groups.iter().filter(|group| norm(&w[(*group).clone()]) > 0.0).count());
        }
        assert!(sizes[0] < 3 && sizes[2] == 3, "{sizes:?}");
    }

    #[test]
    fn two_columns_by_hand() {
        // Rows (3, 4) and (-3, -4) of the classes 1 and -1: both are (3, 4) with their signs. The weights are t (3, 4) / 5,
        // and t + 2 C (1 - 5 t)^2 with C = 1 is smallest at 1 - 5 t = 1 / 20.
        let cells = [(0, 0, 3.0), (0, 1, 4.0), (1, 0, 3.0), (1, 1, 4.0)];
        let columns = SparseColumns::gather(2, || cells.iter().copied());
        let mut w = vec![0.0; 2];
        let (c, ctx) = ([1.0, 1.0], Context::default());
        group_descent(&columns, std::slice::from_ref(&(0..2)), &c, &mut w, STOP, &mut Rng::new(1), &ctx)
            .unwrap();
        // t = 0.19.
        assert!((w[0] - 0.19 * 0.6).abs() < 1e-9 && (w[1] - 0.19 * 0.8).abs() < 1e-9, "{w:?}");
    }
}
