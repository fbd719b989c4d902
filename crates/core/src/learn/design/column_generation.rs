//! Nonnegative weights of very many kernels by column generation.
//!
//! The dual values $y_t$ of the triplet constraints give each group of kernels a gain per unit,
//! $\sum_p \max(0, \sum_t y_t m_{tp} - \gamma_2 K_{p,ii})$; its reduced cost is the penalty $\gamma_1$ minus this gain. Groups of
//! negative reduced cost lower the objective and join the program. Dual values scaled down until no gain exceeds the
//! penalty are dual feasible and give a lower bound. Two levels keep rounds cheap: a pool of the groups with the largest gains
//! out of all, and the groups of the pool that are in the program.

use super::penalties::Penalties;
use super::program::{ACCEPTABLE_GAP, MAX_ITERATIONS, Problem, Solved, ZERO_WEIGHT, status_of};
use crate::context::Context;
use crate::data::Triplet;
use crate::error::Result;
use crate::learn::learner::Status;
use crate::optim::{HingeProgram, HingeSolution, WeightBound};
use rayon::prelude::*;

/// Groups in the pool, at most, besides those with a weight.
const POOL_GROUPS: usize = 256;
/// Groups that join the program in a round, at most.
const GROUPS_PER_ROUND: usize = 32;

/// The solution over some kernels of the pool.
struct Restricted {
    kernels: Vec<usize>,
    solution: HingeSolution,
    tolerance: f64,
    /// Whether the objective decreased from the round before.
    decreased: bool,
}

impl Problem<'_> {
    pub(super) fn solve_by_column_generation(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<Solved> {
        let mut duals = self.initial_duals();
        let mut solved: Option<Solved> = None;
        let mut bounds: Vec<f64> = vec![];
        for _ in 0..self.max_rounds {
            let gains = self.gains(&duals, penalties, kernels, ctx)?;
            let bound = push_bound(&mut bounds, &duals, &gains, penalties.kernels);
            let mut in_pool = vec![false; self.n_groups()];
            if let Some(solved) = &mut solved {
                let complete = largest(&gains) <= penalties.kernels * (1.0 + ACCEPTABLE_GAP);
                if complete || solved.objective - bound <= self.tolerance * solved.objective {
                    solved.bounds = bounds;
                    return Ok(solved.clone());
                }
                (0..solved.weights.len()).for_each(|p| in_pool[self.groups[p]] |= solved.weights[p] != 0.0);
                solved.status = Status::MaxIterations;
            }
            let mut order: Vec<usize> = (0..gains.len()).collect();
            sort_by_gain(&mut order, &gains);
            order.iter().take(POOL_GROUPS).for_each(|&g| in_pool[g] = true);
            let pool: Vec<usize> = kernels.iter().copied().filter(|&p| in_pool[self.groups[p]]).collect();
            let (of_pool, new_duals) = self.solve_pool(penalties, &pool, ctx)?;
            duals = new_duals;
            solved = Some(of_pool);
        }
        let mut solved = solved.expect("at least one round");
        solved.bounds = bounds;
        solved.status = Status::MaxIterations;
        Ok(solved)
    }

    /// Solves over the kernels of the pool. Also returns the dual values of the triplet constraints.
    fn solve_pool(&self, penalties: Penalties, pool: &[usize], ctx: &Context) -> Result<(Solved, Vec<f64>)> {
        let mut duals = self.initial_duals();
        let mut active = vec![false; self.n_groups()];
        let (mut bounds, mut last) = (vec![], None::<Restricted>);
        let mut status = Status::MaxIterations;
        for round in 0..self.max_rounds {
            ctx.step("rounds of kernels", round, self.max_rounds)?;
            let gains = self.gains(&duals, penalties, pool, ctx)?;
            let bound = push_bound(&mut bounds, &duals, &gains, penalties.kernels);
            let mut missing: Vec<usize> = (0..gains.len())
                .filter(|&g| !active[g] && gains[g] > penalties.kernels * (1.0 + self.tolerance))
                .collect();
            let mut tolerance = 1e-3;
            if let Some(restricted) = &last {
                let solution = &restricted.solution;
                let gap = (solution.objective - bound) / solution.objective;
                let complete = missing.is_empty() && restricted.tolerance <= self.tolerance;
                if gap <= self.tolerance || complete {
                    status = status_of(solution, bound);
                    break;
                }
                // No more accuracy than the missing groups allow.
                tolerance =
                    if missing.is_empty() { self.tolerance } else { (0.01 * gap).max(self.tolerance) };
                if restricted.decreased {
                    self.drop_groups(restricted, &gains, penalties.kernels, &mut active);
                }
            } else if missing.is_empty() {
                status = Status::Optimal;
                break;
            }
            sort_by_gain(&mut missing, &gains);
            missing.iter().take(GROUPS_PER_ROUND).for_each(|&g| active[g] = true);
            let kernels: Vec<usize> = pool.iter().copied().filter(|&p| active[self.groups[p]]).collect();
            let solution = self.solve_restricted(penalties, &kernels, tolerance, ctx)?;
            duals.clone_from(&solution.margin_duals);
            // Groups may only leave after a decrease, or they could come and go forever.
            let before = last.as_ref().map_or(1.0, |restricted| restricted.solution.objective);
            let decreased = solution.objective < before * (1.0 - tolerance);
            last = Some(Restricted { kernels, solution, tolerance, decreased });
        }
        let (weights, objective) = match &last {
            Some(Restricted { kernels, solution, .. }) => {
                (self.expand(kernels, &solution.weights), solution.objective)
            }
            None => (vec![0.0; self.similarity.len()], 1.0),
        };
        Ok((Solved { weights, noise: 0.0, objective, bounds, cuts: 0, status }, duals))
    }

    fn solve_restricted(
        &self,
        penalties: Penalties,
        kernels: &[usize],
        tolerance: f64,
        ctx: &Context,
    ) -> Result<HingeSolution> {
        let margins = self.margins(kernels, false, ctx)?;
        let (costs, weight_bounds) =
            (self.costs(penalties, kernels), self.weight_bounds(kernels, WeightBound::NonNegative));
        HingeProgram::new(&margins, &costs, &weight_bounds, penalties.kernels).solve(
            tolerance,
            MAX_ITERATIONS,
            ctx,
        )
    }

    /// Drops active groups without a weight whose gain is clearly below the penalty.
    fn drop_groups(&self, restricted: &Restricted, gains: &[f64], penalty: f64, active: &mut [bool]) {
        let weights = &restricted.solution.weights;
        let largest = weights.iter().fold(0.0_f64, |a, w| a.max(*w));
        let mut has_weight = vec![false; active.len()];
        for (&p, weight) in restricted.kernels.iter().zip(weights) {
            has_weight[self.groups[p]] |= *weight > ZERO_WEIGHT * largest;
        }
        for (g, active) in active.iter_mut().enumerate() {
            *active &= has_weight[g] || gains[g] >= 0.9 * penalty;
        }
    }

    /// The smallest $\gamma_1$ at which all nonnegative weights are zero.
    pub(super) fn smallest_zero_penalty(&self, diagonal: f64, ctx: &Context) -> Result<f64> {
        let all: Vec<usize> = (0..self.similarity.len()).collect();
        let penalties = Penalties { kernels: 1.0, diagonal };
        let gains = self.gains(&self.initial_duals(), penalties, &all, ctx)?;
        Ok(gains.into_iter().fold(0.0, f64::max))
    }

    /// The dual values at zero weights, where every triplet constraint is violated.
    fn initial_duals(&self) -> Vec<f64> {
        let t = self.triplets.len();
        vec![1.0 / t as f64; t]
    }

    /// The gain of each group per unit, see the module documentation.
    fn gains(
        &self,
        duals: &[f64],
        penalties: Penalties,
        kernels: &[usize],
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        // Constraints that are satisfied strictly have the dual value zero.
        let binding: Vec<usize> = (0..duals.len()).filter(|&t| duals[t] > 0.0).collect();
        let triplets: Vec<Triplet> = binding.iter().map(|&t| self.triplets[t]).collect();
        let duals: Vec<f64> = binding.iter().map(|&t| duals[t]).collect();
        let gains: Result<Vec<f64>> = kernels
            .par_iter()
            .map(|&p| {
                ctx.check()?;
                let margins = self.similarity.margins(p, &triplets)?;
                Ok(crate::simd::dot(&margins, &duals) - penalties.diagonal * self.similarity.diagonals[p])
            })
            .collect();
        let mut sums = vec![0.0; self.n_groups()];
        for (&p, gain) in kernels.iter().zip(gains?) {
            sums[self.groups[p]] += gain.max(0.0);
        }
        Ok(sums)
    }
}

/// Adds the bound of dual values that are scaled to be feasible, or the bound before if that is larger.
fn push_bound(bounds: &mut Vec<f64>, duals: &[f64], gains: &[f64], penalty: f64) -> f64 {
    let largest = largest(gains);
    let scale = if largest > penalty { penalty / largest } else { 1.0 };
    let bound = (scale * duals.iter().sum::<f64>()).max(bounds.last().copied().unwrap_or(0.0));
    bounds.push(bound);
    bound
}

fn largest(gains: &[f64]) -> f64 {
    gains.iter().copied().fold(0.0, f64::max)
}

fn sort_by_gain(groups: &mut [usize], gains: &[f64]) {
    groups.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
}
