//! The most HSIC within a ball, along growing radii, and the best set of a wanted size.

use super::problem::{Effort, Problem};
use super::sets::{Seen, Sets};
use super::starts::Starts;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::outcome::Outcome;
use crate::random::Rng;
use crate::select::selector::PathPoint;
use ndarray::Array2;

/// What the radius grows by from one place of the path to the next.
const GROWTH: f64 = 1.6;
/// The first radius, and what the last one allows a column, in units of one column's weight.
const FIRST: f64 = 0.5;
const LAST: f64 = 1.5;
/// The path goes at least as far as for this many columns.
const AT_LEAST: usize = 4;
/// Rows up to which starts and sets are compared by all; of more, by a sample.
const ROWS: usize = 1000;
/// How well each start is solved before the better ones go on, and how many do.
const FIRST_LOOK: Effort = Effort { tolerance: 1e-4, max_iterations: 12 };
const SECOND_LOOK: Effort = Effort { tolerance: 1e-4, max_iterations: 40 };
const GO_ON: usize = 3;

/// The path, and all that was seen on the way.
pub(super) struct Path<'a> {
    problem: &'a Problem<'a>,
    /// The problem by which starts and sets are compared, if it is another.
    sample: Option<Problem<'static>>,
    effort: Effort,
    pub points: Vec<PathPoint>,
    pub best: Vec<Minimum>,
    /// Every solution, the good and the less good.
    seen: Vec<Seen>,
    starts: Starts,
}

impl<'a> Path<'a> {
    /// Walks the path for up to `wanted` columns.
    pub fn walk(
        problem: &'a Problem<'a>,
        wanted: usize,
        draws: usize,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Self> {
        let last = LAST * wanted.max(AT_LEAST).min(problem.d().max(1)) as f64 * problem.unit;
        Self::walk_to(problem, last, wanted, draws, effort, ctx)
    }

    /// Walks the path to a radius, from sets of `wanted` columns among others.
    pub fn walk_to(
        problem: &'a Problem<'a>,
        last: f64,
        wanted: usize,
        draws: usize,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Self> {
        let starts = Starts::find(problem, wanted, ctx)?;
        let sample = problem.sampled(ROWS, ctx);
        let mut path = Self { problem, sample, effort, points: vec![], best: vec![], seen: vec![], starts };
        let mut radii = vec![];
        let mut radius = FIRST * problem.unit;
        while radius * GROWTH.sqrt() < last {
            radii.push(radius);
            radius *= GROWTH;
        }
        radii.push(last);
        let total = radii.len();
        for (at, radius) in radii.into_iter().enumerate() {
            ctx.step("HSFS path", at, total)?;
            path.visit(radius, draws, ctx)?;
        }
        Ok(path)
    }

    /// The solution at one radius: from the last one, from every set of columns, and from random weights.
    fn visit(&mut self, radius: f64, draws: usize, ctx: &Context) -> Result<()> {
        let mut starts: Vec<Array2<f64>> = vec![];
        if let Some(last) = self.best.last() {
            let norm = crate::optim::row_norm(&last.w);
            starts.push(if norm > 0.0 { &last.w * (radius / norm) } else { last.w.clone() });
        }
        starts.extend(self.starts.sets.iter().map(|set| self.problem.spread_over(set, radius)));
        let mut rng = Rng::stream(ctx.seed, &format!("HSFS {}", self.best.len()));
        starts.extend((0..draws).map(|_| self.problem.drawn(&mut rng, 1.0)));
        let rough = self.sample.as_ref().unwrap_or(self.problem);
        let mut looks = vec![];
        for start in starts {
            looks.push(rough.solve(start, radius, FIRST_LOOK, ctx)?);
        }
        self.seen.extend(looks.iter().map(|look| Seen::of(rough, &look.w)));
        looks.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        looks.truncate(GO_ON);
        for look in &mut looks {
            *look = rough.solve(look.w.clone(), radius, SECOND_LOOK, ctx)?;
            self.seen.push(Seen::of(rough, &look.w));
        }
        looks.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let best = looks.swap_remove(0);
        let rough = best.iterations;
        let polished = self.problem.solve(best.w, radius, self.effort, ctx)?;
        let polished = Minimum { iterations: polished.iterations + rough, ..polished };
        self.points.push(point(self.problem, radius, &polished));
        self.seen.push(Seen::of(self.problem, &polished.w));
        self.best.push(polished);
        Ok(())
    }

    /// The best set of this many columns among those that lead any solution, and its weights.
    pub fn pick(&self, wanted: usize, ctx: &Context) -> Result<(Vec<usize>, Minimum)> {
        let wanted = wanted.min(self.problem.d());
        let radius = wanted as f64 * self.problem.unit;
        let mut sets = Sets::default();
        self.seen.iter().for_each(|seen| sets.nominate_seen(seen, wanted));
        for set in self.starts.sets.iter().filter(|set| set.len() >= wanted) {
            sets.nominate(&set[..wanted], self.problem, radius);
        }
        if sets.is_empty() {
            // Every solution has fewer columns: fill up with those that would gain most.
            let last = &self.best[self.best.len() - 1].w;
            let (lengths, gains) = (self.problem.lengths(last), self.problem.gains(last));
            let mut order: Vec<usize> = (0..lengths.len()).collect();
            order.sort_by(|&a, &b| {
                lengths[b].total_cmp(&lengths[a]).then(gains[b].total_cmp(&gains[a])).then(a.cmp(&b))
            });
            sets.nominate(&order[..wanted], self.problem, radius);
        }
        sets.best(self.problem, radius, self.effort, ctx)
    }

    /// How far columns outside a set are from it: by their weights along the path, last place first, then by the gain
    /// of a little weight.
    pub fn nearness(&self, w: &Array2<f64>) -> Vec<f64> {
        let gains = self.problem.gains(w);
        let largest = gains.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut nearness: Vec<f64> = gains.iter().map(|g| g / largest).collect();
        for minimum in &self.best {
            let lengths = self.problem.lengths(&minimum.w);
            let most = lengths.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            nearness
                .iter_mut()
                .zip(&lengths)
                .for_each(|(n, l)| *n = n.max(if *l > 0.0 { 1.0 + l / most } else { 0.0 }));
        }
        nearness
    }

    /// How the answer ended, after how many steps of the path; how each place of it did, its point says.
    pub fn outcome(&self, answer: &Minimum) -> Outcome {
        let iterations = self.best.iter().map(|m| m.iterations).sum::<usize>() + answer.iterations;
        Outcome { stop: answer.stop, iterations }
    }
}

/// A place of the path, as it is reported.
pub(super) fn point(problem: &Problem, strength: f64, minimum: &Minimum) -> PathPoint {
    let lengths = problem.lengths(&minimum.w);
    let mut columns: Vec<usize> = (0..lengths.len()).filter(|&j| lengths[j] > 0.0).collect();
    columns.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
    PathPoint {
        strength,
        objective: minimum.objective,
        optimality: minimum.optimality,
        iterations: minimum.iterations,
        stop: minimum.stop,
        weights: columns.iter().map(|&j| lengths[j]).collect(),
        columns,
    }
}
