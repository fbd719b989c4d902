//! The printed form: HSIC less a penalty, along rising penalties until all weights are zero.

use super::constrained::point;
use super::problem::{Effort, Problem};
use super::starts::Starts;
use crate::context::Context;
use crate::error::Result;
use crate::optim::{Minimum, row_norm};
use crate::outcome::{Outcome, Stop};
use crate::random::Rng;
use crate::select::selector::PathPoint;
use ndarray::Array2;

/// What the penalty grows by from one place to the next.
const GROWTH: f64 = 1.3;
/// The first penalty costs this share of the value.
const FIRST: f64 = 0.01;
/// Places of the path, at most.
const MOST: usize = 80;
/// Columns of a set to start from.
const SET: usize = 4;
/// How well a start is solved before the best is chosen.
const ROUGH: Effort = Effort { tolerance: 1e-4, max_iterations: 60 };

/// The path, up to the collapse.
pub(super) struct Path {
    pub points: Vec<PathPoint>,
    solutions: Vec<Minimum>,
    /// Columns with a weight at each place, longest row first.
    kept: Vec<Vec<usize>>,
}

/// All weights at which to start.
fn starts(problem: &Problem, draws: usize, ctx: &Context) -> Result<Vec<Array2<f64>>> {
    let sets = Starts::find(problem, SET, ctx)?.sets;
    let mut all: Vec<Array2<f64>> =
        sets.iter().map(|set| problem.spread_over(set, set.len() as f64 * problem.unit)).collect();
    let mut rng = Rng::stream(ctx.seed, "HSFS penalised");
    all.extend((0..draws).map(|_| problem.drawn(&mut rng, 1.0)));
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
        let found = problem.solve_penalised(start, lambda, ROUGH, ctx)?;
        if best.as_ref().is_none_or(|best| found.objective < best.objective) {
            best = Some(found);
        }
    }
    let best = best.expect("there is a start");
    let polished = problem.solve_penalised(best.w, lambda, effort, ctx)?;
    Ok(Minimum { iterations: polished.iterations + best.iterations, ..polished })
}

impl Path {
    /// Walks from a small penalty up until no weight is left.
    pub fn walk(problem: &Problem, draws: usize, effort: Effort, ctx: &Context) -> Result<Self> {
        let mut path = Self { points: vec![], solutions: vec![], kept: vec![] };
        // Within a generous ball first: without any bound weights may grow for ever.
        let generous = 2.0 * problem.d().min(20) as f64 * problem.unit;
        let mut best: Option<Minimum> = None;
        for start in starts(problem, draws, ctx)? {
            let found = problem.solve(start, generous, ROUGH, ctx)?;
            if best.as_ref().is_none_or(|best| found.objective < best.objective) {
                best = Some(found);
            }
        }
        let best = best.expect("there is a start");
        let mut lambda = FIRST * best.value.abs() / row_norm(&best.w).max(f64::MIN_POSITIVE);
        let mut w = best.w;
        for step in 0..MOST {
            ctx.step("HSFS path", step, MOST)?;
            let found = problem.solve_penalised(w, lambda, effort, ctx)?;
            let point = point(problem, lambda, &found);
            w = found.w.clone();
            let collapsed = point.columns.is_empty();
            path.kept.push(point.columns.clone());
            path.points.push(point);
            path.solutions.push(found);
            if collapsed {
                break;
            }
            lambda *= GROWTH;
        }
        Ok(path)
    }

    /// The last place with at least so many columns, or with any; which columns; and how it ended.
    pub fn pick(&self, wanted: Option<usize>, ctx: &Context) -> (Minimum, Vec<usize>, Outcome) {
        let least = wanted.unwrap_or(1);
        let at = self.kept.iter().rposition(|kept| kept.len() >= least).unwrap_or(0);
        let count = self.kept[at].len();
        let chosen = self.kept[at][..wanted.unwrap_or(count).min(count)].to_vec();
        let iterations = self.solutions.iter().map(|m| m.iterations).sum();
        let next = self.kept.get(at + 1).map_or(0, Vec::len);
        let mut minimum = self.solutions[at].clone();
        let stop = match wanted {
            Some(wanted) if count > wanted && next == 0 => {
                ctx.warn(format!(
                    "HSFS: with a rising penalty the columns fall from {count} to none; the {wanted} with the longest rows are kept"
                ));
                Stop::Collapsed
            }
            Some(wanted) if count < wanted => {
                ctx.warn(format!(
                    "HSFS: {count} of {wanted} columns have a weight; the others are those that would gain most"
                ));
                Stop::Exhausted
            }
            _ => minimum.stop,
        };
        // What is cut has no weight.
        for (j, mut row) in minimum.w.rows_mut().into_iter().enumerate() {
            if !chosen.contains(&j) {
                row.fill(0.0);
            }
        }
        (minimum, chosen, Outcome { stop, iterations })
    }
}
