//! The most HSIC within a ball, along growing radii, and the best set of a wanted size.

use super::problem::{Effort, Problem};
use super::sets::{Levels, Seen, Sets};
use super::starts::Starts;
use crate::context::Context;
use crate::error::Result;
use crate::optim::{Minimum, row_norm};
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
/// Rows of the sample on which the path is walked, where there are more than twice as many; all rows then decide between the last sets.
pub(super) const MANY: usize = 10_000;
/// How well each start is solved before the better ones go on, and how many do.
const FIRST_LOOK: Effort = Effort { tolerance: 1e-4, max_iterations: 12, rounds: 3 };
const SECOND_LOOK: Effort = Effort { tolerance: 1e-4, max_iterations: 40, rounds: 3 };
const GO_ON: usize = 3;
/// Where the answer is the solution at one radius: random starts besides, starts that go on, and those that go on to the end.
const MORE_DRAWS: usize = 16;
const MORE_GO_ON: usize = 12;
const TO_THE_END: usize = 4;
/// Columns up to which every one and every pair is a start then.
const FEW: usize = 8;

/// The path, and all that was seen on the way.
pub(super) struct Path<'a> {
    problem: &'a Problem<'a>,
    /// The problem by which starts and sets are compared, if it is another.
    sample: Option<Problem<'static>>,
    /// The problem by which solutions are found, if all rows are too many for that.
    middle: Option<Problem<'static>>,
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
        let columns = wanted.max(AT_LEAST).min(problem.d().max(1)) as f64;
        // With a weight per column the kernel is to tell more than near rows apart, however many columns there are.
        let units = if problem.is_diagonal() { columns.sqrt() } else { columns };
        let last = LAST * units * problem.unit;
        let mut path = Self::begin(problem, wanted, effort, ctx)?;
        path.go_to(last, draws, ctx)?;
        Ok(path)
    }

    /// Walks the path to a radius whose solution is the answer.
    pub fn walk_to(
        problem: &'a Problem<'a>,
        radius: f64,
        wanted: usize,
        draws: usize,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Self> {
        let mut path = Self::begin(problem, wanted, effort, ctx)?;
        path.go_to(radius / GROWTH, draws, ctx)?;
        let mut starts = path.starts_at(radius, draws, ctx);
        let mut rng = Rng::stream(ctx.seed, "HSFS at a radius");
        let d = problem.d();
        if d <= FEW {
            for a in 0..d {
                starts.push(problem.spread_over(&[a], radius));
                for b in 0..a {
                    starts.push(problem.spread_over(&[a, b], radius));
                    starts.extend([1.0, -1.0].map(|sign| problem.along(&[(a, 1.0), (b, sign)], radius)));
                }
            }
        }
        // From weights spread over many columns to such as have hardly left zero.
        let scales = [0.3, 1.0, 3.0, 10.0];
        starts.extend((0..MORE_DRAWS).map(|at| problem.drawn(&mut rng, scales[at % scales.len()])));
        path.solve_from(starts, radius, MORE_GO_ON, TO_THE_END, ctx)?;
        if path.middle.is_some()
            && let Some(found) = path.best.pop()
        {
            let whole = problem.solve(found.w, radius, effort, ctx)?;
            path.points.pop();
            path.points.push(point(problem, radius, &whole));
            path.best.push(Minimum { iterations: whole.iterations + found.iterations, ..whole });
        }
        Ok(path)
    }

    fn begin(problem: &'a Problem<'a>, wanted: usize, effort: Effort, ctx: &Context) -> Result<Self> {
        let starts = Starts::find(problem, wanted, ctx)?;
        let sample = problem.sampled(ROWS, ctx);
        let too_many = problem.has_waves() && problem.n() > 2 * MANY;
        let middle = if too_many { problem.sampled(MANY, ctx) } else { None };
        Ok(Self { problem, sample, middle, effort, points: vec![], best: vec![], seen: vec![], starts })
    }

    /// Solves at growing radii up to the last.
    fn go_to(&mut self, last: f64, draws: usize, ctx: &Context) -> Result<()> {
        let mut radii = vec![];
        let mut radius = FIRST * self.problem.unit;
        while radius * GROWTH.sqrt() < last {
            radii.push(radius);
            radius *= GROWTH;
        }
        radii.push(last);
        let total = radii.len();
        for (at, radius) in radii.into_iter().enumerate() {
            ctx.step("HSFS path", at, total)?;
            let starts = self.starts_at(radius, draws, ctx);
            self.solve_from(starts, radius, GO_ON, 1, ctx)?;
        }
        Ok(())
    }

    /// The last solution, every set of columns, and random weights.
    fn starts_at(&self, radius: f64, draws: usize, ctx: &Context) -> Vec<Array2<f64>> {
        let mut starts: Vec<Array2<f64>> = vec![];
        if let Some(last) = self.best.last() {
            let norm = row_norm(&last.w);
            starts.push(if norm > 0.0 { &last.w * (radius / norm) } else { last.w.clone() });
        }
        starts.extend(self.starts.sets.iter().map(|set| self.problem.spread_over(set, radius)));
        let mut rng = Rng::stream(ctx.seed, &format!("HSFS {}", self.best.len()));
        starts.extend((0..draws).map(|_| self.problem.drawn(&mut rng, 1.0)));
        starts
    }

    /// The best solution at a radius, added to the path.
    fn solve_from(
        &mut self,
        starts: Vec<Array2<f64>>,
        radius: f64,
        go_on: usize,
        to_the_end: usize,
        ctx: &Context,
    ) -> Result<()> {
        let rough = self.sample.as_ref().unwrap_or(self.problem);
        let mut looks = vec![];
        for start in starts {
            looks.push(rough.solve(start, radius, FIRST_LOOK, ctx)?);
        }
        self.seen.extend(looks.iter().map(|look| Seen::of(rough, &look.w)));
        looks.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        looks.truncate(go_on);
        for look in &mut looks {
            *look = rough.solve(look.w.clone(), radius, SECOND_LOOK, ctx)?;
            self.seen.push(Seen::of(rough, &look.w));
        }
        looks.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        looks.truncate(to_the_end);
        let fine = self.middle.as_ref().unwrap_or(self.problem);
        let mut polished = vec![];
        for look in looks {
            let found = fine.solve(look.w, radius, self.effort, ctx)?;
            polished.push(Minimum { iterations: found.iterations + look.iterations, ..found });
        }
        polished.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let best = polished.swap_remove(0);
        self.points.push(point(fine, radius, &best));
        self.seen.push(Seen::of(fine, &best.w));
        self.best.push(best);
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
        let levels =
            Levels { whole: self.problem, middle: self.middle.as_ref(), sample: self.sample.as_ref() };
        sets.best(&levels, radius, self.effort, ctx)
    }

    /// How near columns outside a set are to it: by their largest weights along the path, as shares of the longest row there, then
    /// by the gain of a little weight.
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
    let (columns, lengths) = problem.leading(&minimum.w);
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
