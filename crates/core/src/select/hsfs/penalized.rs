//! The penalized form as published: HSIC minus a penalty, along increasing penalties until all weights are zero.

use super::constrained::point;
use super::problem::Problem;
use super::solve::Effort;
use super::starts::Starts;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::outcome::{Outcome, Stop};
use crate::random::Rng;
use crate::select::selector::PathPoint;
use ndarray::Array2;

/// Ratio of successive penalties along the path.
const GROWTH: f64 = 1.3;
/// The first penalty term is this fraction of the value.
const FIRST_FRACTION: f64 = 0.01;
/// Maximum number of path points.
const MAX_POINTS: usize = 80;
/// Number of features in an initial set.
const SET_SIZE: usize = 4;
/// Effort for each start before the best one is chosen.
const ROUGH: Effort = Effort::new(1e-4, 60);

/// The path, up to the point where all weights vanish.
pub(super) struct Path {
    pub points: Vec<PathPoint>,
    /// The last path point with at least the requested number of features, or with any, else the first; and its
    /// solution.
    at: usize,
    solution: Minimum,
}

/// All initial weights.
fn starts(problem: &Problem, draws: usize, ctx: &Context) -> Result<Vec<Array2<f64>>> {
    let sets = Starts::find(problem, SET_SIZE, ctx)?.sets;
    let mut all: Vec<Array2<f64>> =
        sets.iter().map(|set| problem.orthogonal_weights(set, set.len() as f64 * problem.unit)).collect();
    let mut rng = Rng::stream(ctx.seed, "HSFS penalised");
    all.extend((0..draws).map(|_| problem.random_weights(&mut rng, 1.0)));
    Ok(all)
}

/// The best solution from all starts at one penalty.
pub(super) fn at(
    problem: &Problem,
    lambda: f64,
    draws: usize,
    effort: Effort,
    ctx: &Context,
) -> Result<Minimum> {
    let mut best: Option<Minimum> = None;
    for start in starts(problem, draws, ctx)? {
        let found = problem.solve_penalized(start, lambda, ROUGH, ctx)?;
        if best.as_ref().is_none_or(|best| found.objective < best.objective) {
            best = Some(found);
        }
    }
    let best = best.expect("there is at least one start");
    let polished = problem.solve_penalized(best.w, lambda, effort, ctx)?;
    Ok(Minimum { iterations: polished.iterations + best.iterations, ..polished })
}

impl Path {
    /// Increases the penalty from a small value until all weights are zero.
    pub fn walk(
        problem: &Problem,
        wanted: Option<usize>,
        draws: usize,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Self> {
        // Start within a large ball: unbounded weights may diverge.
        let generous = 2.0 * problem.d().min(20) as f64 * problem.unit;
        let mut best: Option<Minimum> = None;
        for start in starts(problem, draws, ctx)? {
            let found = problem.solve(start, generous, ROUGH, ctx)?;
            if best.as_ref().is_none_or(|best| found.objective < best.objective) {
                best = Some(found);
            }
        }
        let best = best.expect("there is at least one start");
        let mut lambda = FIRST_FRACTION * best.value.abs() / problem.norm(&best.w).max(f64::MIN_POSITIVE);
        let mut w = best.w;
        let mut points: Vec<PathPoint> = vec![];
        let mut answer = None;
        for step in 0..MAX_POINTS {
            ctx.step("HSFS path", step, MAX_POINTS)?;
            let found = problem.solve_penalized(w, lambda, effort, ctx)?;
            let point = point(problem, lambda, &found);
            w = found.w.clone();
            let count = point.features.len();
            points.push(point);
            if step == 0 || count >= wanted.unwrap_or(1) {
                answer = Some((step, found));
            }
            if count == 0 {
                break;
            }
            lambda *= GROWTH;
        }
        let (at, solution) = answer.expect("the first point is an answer");
        Ok(Self { points, at, solution })
    }

    /// The weights for the requested number, their features, and the outcome.
    pub fn pick(
        &self,
        problem: &Problem,
        wanted: Option<usize>,
        ctx: &Context,
    ) -> (Array2<f64>, Vec<usize>, Outcome) {
        let kept = &self.points[self.at].features;
        let count = kept.len();
        let chosen = kept[..wanted.unwrap_or(count).min(count)].to_vec();
        let iterations = self.points.iter().map(|point| point.iterations).sum();
        let none_next = self.points.get(self.at + 1).is_some_and(|next| next.features.is_empty());
        let mut w = self.solution.w.clone();
        let stop = match wanted {
            Some(wanted) if count > wanted && none_next => {
                ctx.warn(format!(
                    "HSFS: as the penalty increases, the number of features drops from {count} to 0; the {wanted} with the largest rows are selected; the constrained form has sets of every size"
                ));
                Stop::Collapsed
            }
            Some(wanted) if count < wanted => {
                ctx.warn(format!(
                    "HSFS: {count} of {wanted} features have a weight; the others are those with the largest gain; select fewer features"
                ));
                Stop::Exhausted
            }
            _ => self.solution.stop,
        };
        // Features not selected have no weight.
        for (mut row, j) in w.rows_mut().into_iter().zip(problem.groups.feature_of_columns()) {
            if !chosen.contains(&j) {
                row.fill(0.0);
            }
        }
        (w, chosen, Outcome { stop, iterations })
    }
}
