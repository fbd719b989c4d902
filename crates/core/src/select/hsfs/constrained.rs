//! Constrained form: maximizes HSIC within a ball, along a path of growing radii, and selects the best set of a
//! given size.

use super::problem::Problem;
use super::sets::{Sets, Solution, best_weights};
use super::solve::Effort;
use super::starts::Starts;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::outcome::Outcome;
use crate::random::Rng;
use crate::select::selector::PathPoint;
use ndarray::Array2;

/// Ratio of successive radii along the path.
const GROWTH: f64 = 1.6;
/// The first radius, and the last radius per feature, in units of one feature's weight.
const FIRST_RADIUS: f64 = 0.5;
const LAST_RADIUS: f64 = 1.5;
/// The path covers at least the radius for this many features.
const MIN_FEATURES: usize = 4;
/// Maximum number of samples used to compare starts and sets; larger data are subsampled.
const MAX_SAMPLES: usize = 1000;
/// Size of the subsample on which the path is computed, if there are more than twice as many samples; all samples
/// are then used for the weights of the best set.
pub(super) const PATH_SAMPLES: usize = 10_000;
/// Effort for each start, then for the best of them, and how many those are.
const FIRST_STAGE: Effort = Effort { tolerance: 1e-4, max_iterations: 12, rounds: 3 };
const SECOND_STAGE: Effort = Effort { tolerance: 1e-4, max_iterations: 40, rounds: 3 };
const N_CONTINUED: usize = 3;
/// If the solution at one radius is the answer: additional random starts, starts that continue, and starts solved
/// to the final tolerance.
const N_RANDOM_AT_RADIUS: usize = 16;
const N_CONTINUED_AT_RADIUS: usize = 12;
const N_FINAL_AT_RADIUS: usize = 4;
/// Up to this many features, every feature and every pair is then a start.
const MAX_EXHAUSTIVE_FEATURES: usize = 8;

/// The path, and all solutions found along it.
pub(super) struct Path<'a> {
    problem: &'a Problem<'a>,
    /// The problem used to compare starts and sets, if it is a subsample.
    sample: Option<Problem<'static>>,
    /// The problem on which solutions are computed, if there are too many samples.
    middle: Option<Problem<'static>>,
    effort: Effort,
    pub points: Vec<PathPoint>,
    pub best: Vec<Minimum>,
    /// Every solution found, including inferior ones.
    seen: Vec<Solution>,
    starts: Starts,
}

impl<'a> Path<'a> {
    /// Computes the path for up to `wanted` features.
    pub fn walk(
        problem: &'a Problem<'a>,
        wanted: usize,
        draws: usize,
        effort: Effort,
        ctx: &Context,
    ) -> Result<Self> {
        let columns = wanted.max(MIN_FEATURES).min(problem.d().max(1)) as f64;
        // With one weight per feature, the radius grows with the root of the number of features: larger weights
        // would make the kernel nearly diagonal.
        let units = if problem.is_diagonal() { columns.sqrt() } else { columns };
        let last = LAST_RADIUS * units * problem.unit;
        let mut path = Self::begin(problem, wanted, effort, ctx)?;
        path.go_to(last, draws, ctx)?;
        Ok(path)
    }

    /// Computes the path up to a radius whose solution is the answer.
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
        if d <= MAX_EXHAUSTIVE_FEATURES {
            for a in 0..d {
                starts.push(problem.orthogonal_weights(&[a], radius));
                for b in 0..a {
                    starts.push(problem.orthogonal_weights(&[a, b], radius));
                    starts.extend(
                        [1.0, -1.0].map(|sign| problem.in_one_direction(&[(a, 1.0), (b, sign)], radius)),
                    );
                }
            }
        }
        // From weights spread over many features to weights close to zero.
        let scales = [0.3, 1.0, 3.0, 10.0];
        starts.extend(
            (0..N_RANDOM_AT_RADIUS).map(|at| problem.random_weights(&mut rng, scales[at % scales.len()])),
        );
        path.solve_from(starts, radius, N_CONTINUED_AT_RADIUS, N_FINAL_AT_RADIUS, ctx)?;
        if path.middle.is_some()
            && let Some(found) = path.best.pop()
        {
            let refined = problem.solve(found.w, radius, effort, ctx)?;
            path.points.pop();
            path.points.push(point(problem, radius, &refined));
            path.best.push(Minimum { iterations: refined.iterations + found.iterations, ..refined });
        }
        Ok(path)
    }

    fn begin(problem: &'a Problem<'a>, wanted: usize, effort: Effort, ctx: &Context) -> Result<Self> {
        let starts = Starts::find(problem, wanted, ctx)?;
        let sample = problem.sampled(MAX_SAMPLES, ctx);
        let too_many = problem.uses_fourier_features() && problem.n() > 2 * PATH_SAMPLES;
        let middle = if too_many { problem.sampled(PATH_SAMPLES, ctx) } else { None };
        Ok(Self { problem, sample, middle, effort, points: vec![], best: vec![], seen: vec![], starts })
    }

    /// Solves along growing radii up to `last`.
    fn go_to(&mut self, last: f64, draws: usize, ctx: &Context) -> Result<()> {
        let mut radii = vec![];
        let mut radius = FIRST_RADIUS * self.problem.unit;
        while radius * GROWTH.sqrt() < last {
            radii.push(radius);
            radius *= GROWTH;
        }
        radii.push(last);
        let total = radii.len();
        for (at, radius) in radii.into_iter().enumerate() {
            ctx.step("HSFS path", at, total)?;
            let starts = self.starts_at(radius, draws, ctx);
            self.solve_from(starts, radius, N_CONTINUED, 1, ctx)?;
        }
        Ok(())
    }

    /// Starts: the last solution, every candidate set of features, and random weights.
    fn starts_at(&self, radius: f64, draws: usize, ctx: &Context) -> Vec<Array2<f64>> {
        let mut starts: Vec<Array2<f64>> = vec![];
        if let Some(last) = self.best.last() {
            let norm = self.problem.norm(&last.w);
            starts.push(if norm > 0.0 { &last.w * (radius / norm) } else { last.w.clone() });
        }
        starts.extend(self.starts.sets.iter().map(|set| self.problem.orthogonal_weights(set, radius)));
        let mut rng = Rng::stream(ctx.seed, &format!("HSFS {}", self.best.len()));
        starts.extend((0..draws).map(|_| self.problem.random_weights(&mut rng, 1.0)));
        starts
    }

    /// Adds the best solution at a radius to the path.
    fn solve_from(
        &mut self,
        starts: Vec<Array2<f64>>,
        radius: f64,
        n_continued: usize,
        n_final: usize,
        ctx: &Context,
    ) -> Result<()> {
        let sample = self.sample.as_ref().unwrap_or(self.problem);
        let mut rough = vec![];
        for start in starts {
            rough.push(sample.solve(start, radius, FIRST_STAGE, ctx)?);
        }
        self.seen.extend(rough.iter().map(|found| Solution::of(sample, &found.w)));
        rough.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        rough.truncate(n_continued);
        for found in &mut rough {
            *found = sample.solve(found.w.clone(), radius, SECOND_STAGE, ctx)?;
            self.seen.push(Solution::of(sample, &found.w));
        }
        rough.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        rough.truncate(n_final);
        let fine = self.middle.as_ref().unwrap_or(self.problem);
        let mut polished = vec![];
        for start in rough {
            let found = fine.solve(start.w, radius, self.effort, ctx)?;
            polished.push(Minimum { iterations: found.iterations + start.iterations, ..found });
        }
        polished.sort_by(|a, b| a.objective.total_cmp(&b.objective));
        let best = polished.swap_remove(0);
        self.points.push(point(fine, radius, &best));
        self.seen.push(Solution::of(fine, &best.w));
        self.best.push(best);
        Ok(())
    }

    /// The best set of `wanted` features among those nominated by any solution, and its weights.
    pub fn pick(&self, wanted: usize, ctx: &Context) -> Result<(Vec<usize>, Minimum)> {
        let (set, w) = self.best_set(wanted, ctx)?;
        let radius = set.len() as f64 * self.problem.unit;
        let found = best_weights(self.problem, self.sample.as_ref(), (&set, w), radius, self.effort, ctx)?;
        Ok((set, found))
    }

    /// The best set of `wanted` features among those nominated by any solution, and initial weights.
    pub fn best_set(&self, wanted: usize, ctx: &Context) -> Result<(Vec<usize>, Array2<f64>)> {
        let wanted = wanted.min(self.problem.d());
        let radius = wanted as f64 * self.problem.unit;
        let mut sets = Sets::default();
        self.seen.iter().for_each(|seen| sets.nominate_solution(seen, wanted));
        for set in self.starts.sets.iter().filter(|set| set.len() >= wanted) {
            sets.nominate(&set[..wanted], self.problem, radius);
        }
        if sets.is_empty() {
            // Every solution has fewer features: add those with the largest gain.
            let last = &self.best[self.best.len() - 1].w;
            let (row_norms, gains) = (self.problem.row_norms(last), self.problem.gains(last));
            let mut order: Vec<usize> = (0..row_norms.len()).collect();
            order.sort_by(|&a, &b| {
                row_norms[b].total_cmp(&row_norms[a]).then(gains[b].total_cmp(&gains[a])).then(a.cmp(&b))
            });
            sets.nominate(&order[..wanted], self.problem, radius);
        }
        sets.best(self.sample.as_ref().unwrap_or(self.problem), ctx)
    }

    /// Ranks features outside a set: by their largest weights along the path, relative to the largest row norm
    /// there, then by the gain of a small weight.
    pub fn nearness(&self, w: &Array2<f64>) -> Vec<f64> {
        let gains = self.problem.gains(w);
        let largest = gains.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let mut nearness: Vec<f64> = gains.iter().map(|g| g / largest).collect();
        for minimum in &self.best {
            let row_norms = self.problem.row_norms(&minimum.w);
            let most = row_norms.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            nearness
                .iter_mut()
                .zip(&row_norms)
                .for_each(|(n, l)| *n = n.max(if *l > 0.0 { 1.0 + l / most } else { 0.0 }));
        }
        nearness
    }

    /// Why the answer's solver stopped and the number of path steps; each path point reports its own outcome.
    pub fn outcome(&self, answer: &Minimum) -> Outcome {
        let iterations = self.best.iter().map(|m| m.iterations).sum::<usize>() + answer.iterations;
        Outcome { stop: answer.stop, iterations }
    }
}

/// A point of the path, as reported.
pub(super) fn point(problem: &Problem, strength: f64, minimum: &Minimum) -> PathPoint {
    let (features, row_norms) = problem.leading(&minimum.w);
    PathPoint {
        strength,
        objective: minimum.objective,
        optimality: minimum.optimality,
        iterations: minimum.iterations,
        stop: minimum.stop,
        weights: features.iter().map(|&j| row_norms[j]).collect(),
        features,
    }
}
