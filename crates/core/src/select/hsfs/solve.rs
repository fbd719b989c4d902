//! Solves the problem from a start.

use super::problem::{ACTIVE_SET_STEP, MAX_FULL_DIAGONAL, Problem, power_of_two};
use crate::context::Context;
use crate::error::Result;
use crate::optim::{Bounds, Criterion, Minimum, Regularizer, Spectral, TwoMetric, blocks};
use crate::outcome::Stop;
use ndarray::{Array2, Axis};

/// Above this many columns the problem is solved on an active set.
const MAX_FULL: usize = 2048;
/// [`ACTIVE_SET_STEP`] with one weight per feature, where the cost is proportional to the active features times all
/// pairs.
const ACTIVE_SET_STEP_DIAGONAL: usize = 64;

/// Tolerance and limits of a solver run.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub tolerance: f64,
    /// Maximum number of iterations, per round of the active set.
    pub max_iterations: usize,
    /// Maximum number of rounds of the active set.
    pub rounds: usize,
}

impl Effort {
    pub const fn new(tolerance: f64, max_iterations: usize) -> Self {
        Self { tolerance, max_iterations, rounds: 20 }
    }
}

impl Problem<'_> {
    /// Passes the objective to a solver with weights in units of the kernel's bandwidth, rounded to a power of two, so that steps and
    /// gradients are of order one for any scale of the features.
    fn in_units<T>(&self, work: impl FnOnce(&dyn Criterion) -> T) -> T {
        self.with_criterion(|criterion| work(&InUnits { criterion, unit: self.scale() }))
    }

    /// The unit of [`Self::in_units`].
    fn scale(&self) -> f64 {
        power_of_two(if self.is_diagonal() { self.unit } else { self.inverse_bandwidth() })
    }

    fn constraint(&self, radius: f64) -> Regularizer {
        if self.is_diagonal() { Regularizer::NonNegativeBall(radius) } else { Regularizer::Ball(radius) }
    }

    /// Minimizes the objective within a ball, from a start. With many features it is solved on an active set:
    /// features with a weight and those with the largest gain, until no other feature would enter.
    pub fn solve(&self, start: Array2<f64>, radius: f64, effort: Effort, ctx: &Context) -> Result<Minimum> {
        let scale = self.scale();
        let constraint = self.constraint(radius / scale);
        let spectral = Spectral {
            tolerance: effort.tolerance,
            max_iterations: effort.max_iterations,
            ..Spectral::default()
        };
        let start = start / scale;
        let max_full = if self.is_diagonal() { MAX_FULL_DIAGONAL } else { MAX_FULL };
        let end = if self.n_columns() <= max_full {
            self.in_units(|criterion| {
                spectral.minimize_groups(criterion, constraint, &self.groups, start, ctx)
            })?
        } else {
            self.solve_on_active_set(start, constraint, spectral, effort.rounds, ctx)?
        };
        Ok(Minimum { w: end.w * scale, ..end })
    }

    fn solve_on_active_set(
        &self,
        start: Array2<f64>,
        constraint: Regularizer,
        spectral: Spectral,
        rounds: usize,
        ctx: &Context,
    ) -> Result<Minimum> {
        let step = if self.is_diagonal() { ACTIVE_SET_STEP_DIAGONAL } else { ACTIVE_SET_STEP };
        self.in_units(|criterion| {
            let at = |w: Array2<f64>| {
                let evaluation = Spectral { max_iterations: 0, ..spectral };
                evaluation.minimize_groups(criterion, constraint, &self.groups, w, ctx)
            };
            let mut here = at(start)?;
            let mut gradient = Array2::zeros(here.w.dim());
            let (mut iterations, mut stop) = (0, Stop::MaxIterations);
            for _ in 0..rounds {
                criterion.value_and_gradient(&here.w, &mut gradient);
                let gains = self.dual_norms(&gradient);
                let active = self.active_set(&here.w, &gains, step);
                let (part, rows) = (self.among(&active), self.groups.expand(&active));
                let found = part.in_units(|criterion| {
                    let start = here.w.select(Axis(0), &rows);
                    spectral.minimize_groups(criterion, constraint, &part.groups, start, ctx)
                })?;
                iterations += found.iterations;
                // A solution on the active set need not be optimal over all features.
                stop = if found.stop == Stop::Tolerance { Stop::MaxIterations } else { found.stop };
                let mut w = Array2::zeros(here.w.dim());
                rows.iter().enumerate().for_each(|(i, &j)| w.row_mut(j).assign(&found.w.row(i)));
                let next = at(w)?;
                if next.objective > here.objective {
                    stop = Stop::Stationary;
                    break;
                }
                here = next;
                if here.optimality <= spectral.tolerance.max(found.optimality) {
                    break;
                }
            }
            let solved = here.optimality <= spectral.tolerance;
            Ok(Minimum { iterations, stop: if solved { Stop::Tolerance } else { stop }, ..here })
        })
    }

    /// The features with a weight, and those with the largest gains of the others, up to `step` columns but at least one
    /// feature; in ascending order.
    fn active_set(&self, w: &Array2<f64>, gains: &[f64], step: usize) -> Vec<usize> {
        let inside: Vec<bool> =
            blocks(w, &self.groups).map(|block| block.iter().any(|w| *w != 0.0)).collect();
        let mut features: Vec<usize> = (0..self.d()).collect();
        features
            .sort_by(|&a, &b| inside[b].cmp(&inside[a]).then(gains[b].total_cmp(&gains[a])).then(a.cmp(&b)));
        let (with_weight, others) = features.split_at(inside.iter().filter(|inside| **inside).count());
        let mut n_columns = 0;
        let fits = |j: &&usize| {
            n_columns += self.groups.columns(**j).len();
            n_columns <= step
        };
        let n_others = others.iter().take_while(fits).count().max(1);
        let n_active = with_weight.len() + n_others;
        features.truncate(n_active);
        features.sort_unstable();
        features
    }

    /// Minimizes the penalized objective from a start.
    pub fn solve_penalized(
        &self,
        start: Array2<f64>,
        lambda: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Minimum> {
        let (tolerance, max_iterations) = (effort.tolerance, effort.max_iterations);
        let two_metric = TwoMetric { tolerance, max_iterations, ..TwoMetric::default() };
        let scale = self.scale();
        let (start, lambda) = (start / scale, lambda * scale);
        let spectral = Spectral { tolerance, max_iterations, ..Spectral::default() };
        // With one row per feature and one column, the norm is a sum, which the two-metric method can minimize.
        let is_sum = self.groups.is_single() && self.directions == 1;
        let end = self.in_units(|criterion| match (self.is_diagonal(), is_sum) {
            (true, true) => {
                let penalized = WithPenalty { criterion, lambda };
                let bounds = Bounds::uniform(criterion.shape(), 0.0, f64::INFINITY);
                let end = two_metric.minimize(&penalized, &bounds, start, ctx)?;
                Ok(Minimum { value: end.objective - lambda * end.w.sum(), ..end })
            }
            (false, true) => two_metric.minimize_l1(criterion, lambda, start, ctx),
            (is_diagonal, false) => {
                let penalty = if is_diagonal {
                    Regularizer::NonNegativePenalty(lambda)
                } else {
                    Regularizer::Penalty(lambda)
                };
                spectral.minimize_groups(criterion, penalty, &self.groups, start, ctx)
            }
        })?;
        Ok(Minimum { w: end.w * scale, ..end })
    }
}

/// An objective with rescaled weights.
struct InUnits<'a> {
    criterion: &'a dyn Criterion,
    unit: f64,
}

impl Criterion for InUnits<'_> {
    fn shape(&self) -> (usize, usize) {
        self.criterion.shape()
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let value = self.criterion.value_and_gradient(&(w * self.unit), gradient);
        *gradient *= self.unit;
        value
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.criterion.value(&(w * self.unit))
    }
}

/// An objective plus a multiple of the sum of the nonnegative weights.
struct WithPenalty<'a> {
    criterion: &'a dyn Criterion,
    lambda: f64,
}

impl Criterion for WithPenalty<'_> {
    fn shape(&self) -> (usize, usize) {
        self.criterion.shape()
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let value = self.criterion.value_and_gradient(w, gradient);
        *gradient += self.lambda;
        value + self.lambda * w.sum()
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.criterion.value(w) + self.lambda * w.sum()
    }
}
