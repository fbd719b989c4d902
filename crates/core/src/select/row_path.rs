//! Regularization path of methods with a penalty that drops features, and how a selection is made from it.
//!
//! Penalties decrease geometrically from the one at which the first feature enters, with warm starts. Three
//! stopping rules:
//!
//! * at a given penalty;
//! * at a requested number of features: the penalty decreases until enough features have a weight, then bisection
//!   between the last two penalties finds the exact number. Features may enter together, so there may be no such
//!   penalty. A non-convex problem may still reach the number with increasing penalties, from many features to
//!   fewer. Otherwise the next larger number is used and the smallest weights are dropped. If the path ends before,
//!   the features nearest to entering are added;
//! * otherwise the full path is computed, and the last point at or above a tenth of the first penalty is selected.
//!
//! The score of a feature is its largest absolute weight, 0 if it was dropped; a feature of several columns has the
//! weights of all of them. Features with zero weight are ranked by the penalty at which they would enter, the norm of their
//! gradient; constant ones come last.

use super::selector::{PathPoint, Selection};
use crate::context::Context;
use crate::data::Groups;
use crate::error::{Error, Result};
use crate::optim::{PathSolution, blocks, geometric, l1_norm, largest_rows, max_abs};
use crate::outcome::Outcome;

/// Maximum number of bisections between two path points.
const MAX_BISECTIONS: usize = 30;
/// The penalty of the automatic selection, as a fraction of the first penalty.
const AUTO_PENALTY_RATIO: f64 = 0.1;

/// A problem that can be solved at any penalty.
pub(super) trait Penalized {
    /// The solution at the largest penalty of interest.
    fn first(&self, ctx: &Context) -> Result<PathSolution>;
    /// The solution at a penalty, warm-started from another.
    fn solve(&self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution>;
    /// The columns of each feature: the rows of its weights.
    fn groups(&self) -> &Groups;
    /// The weight of each feature in the penalty. Its columns are divided by it, so its solutions are multiplied.
    fn weights(&self) -> &[f64];
    /// Whether a feature is not constant.
    fn varies(&self, feature: usize) -> bool;
    /// Whether the solution depends on the start (non-convex problems).
    fn is_nonconvex(&self) -> bool {
        false
    }
}

/// The settings of a path.
pub(super) struct PathSettings {
    /// The method's title in messages, and its name in the catalog.
    pub title: &'static str,
    pub name: &'static str,
    pub penalty: Option<f64>,
    pub n_penalties: usize,
    pub penalty_ratio: f64,
}

impl PathSettings {
    /// Computes the path and selects features.
    pub(super) fn select(
        &self,
        problem: &dyn Penalized,
        wanted: Option<usize>,
        ctx: &Context,
    ) -> Result<Selection> {
        if let (Some(_), Some(lambda)) = (wanted, self.penalty) {
            let expected = "left out where a number of features is given";
            return Err(Error::param(self.title, "penalty", expected, lambda));
        }
        let mut path =
            Path { settings: self, problem, points: vec![], bytes: 0.0, iterations: 0, unsolved: 0 };
        let solution = match (wanted, self.penalty) {
            (Some(k), _) => path.reach_count(k, ctx)?,
            (None, Some(lambda)) => path.down_to(lambda, ctx)?,
            (None, None) => path.full(ctx)?,
        };
        if path.unsolved > 0 {
            ctx.warn(format!(
                "{}: {} of the solutions on the path did not reach the tolerance; raise max_iter, or tol",
                self.title, path.unsolved
            ));
        }
        let (path, iterations) = (path.points, path.iterations);
        Ok(self.selection(problem, solution, wanted, path, iterations, ctx))
    }

    fn selection(
        &self,
        problem: &dyn Penalized,
        solution: PathSolution,
        wanted: Option<usize>,
        path: Vec<PathPoint>,
        iterations: usize,
        ctx: &Context,
    ) -> Selection {
        let groups = problem.groups();
        let mut scores = feature_norms(&solution, problem);
        let gradient_norms: Vec<f64> = blocks(&solution.negative_gradient, groups).map(l1_norm).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| {
            scores[b]
                .total_cmp(&scores[a])
                .then(problem.varies(b).cmp(&problem.varies(a)))
                .then(gradient_norms[b].total_cmp(&gradient_norms[a]))
                .then(a.cmp(&b))
        });
        // Dropped features have no score; the weights remain those of the solution.
        order[wanted.unwrap_or(scores.len())..].iter().for_each(|&j| scores[j] = 0.0);
        let count = count(&solution, groups);
        let mut coef = largest_rows(solution.minimum.w, groups);
        coef.rows_mut().into_iter().zip(problem.weights()).for_each(|(mut row, weight)| row /= *weight);
        match wanted {
            None if count == 0 => ctx.warn(format!(
                "{}: all weights are zero at this penalty; no feature is selected; lower the penalty, or request a number of features",
                self.title
            )),
            Some(k) if count < k => ctx.warn(format!(
                "{}: only {count} of {k} features have a nonzero weight at the end of the path; the others are \
                 those with the largest gradients; request fewer",
                self.title
            )),
            _ => {}
        }
        Selection {
            automatic: None,
            sample: None,
            method: self.name.into(),
            order,
            scores,
            n_selected: wanted.unwrap_or(count),
            curve: vec![],
            coef: Some(coef),
            path,
            // The first point needs no iteration; count it as one.
            outcome: Outcome { stop: solution.minimum.stop, iterations: iterations.max(1) },
        }
    }
}

/// The path computed so far.
struct Path<'a> {
    settings: &'a PathSettings,
    problem: &'a dyn Penalized,
    points: Vec<PathPoint>,
    /// Bytes of the path.
    bytes: f64,
    iterations: usize,
    unsolved: usize,
}

impl Path<'_> {
    fn first(&mut self, ctx: &Context) -> Result<PathSolution> {
        let first = self.problem.first(ctx)?;
        self.push(&first, ctx)?;
        Ok(first)
    }

    /// Number of features with a weight.
    fn count(&self, solution: &PathSolution) -> usize {
        count(solution, self.problem.groups())
    }

    /// Adds a solution to the path, unless the path would exceed the memory limit.
    fn push(&mut self, solution: &PathSolution, ctx: &Context) -> Result<()> {
        let point = point(solution, self.problem);
        self.bytes += (size_of::<PathPoint>() + 16 * point.features.len()) as f64;
        ctx.need_memory(format!("the path of {}", self.settings.title), self.bytes, "use fewer penalties")?;
        self.points.push(point);
        Ok(())
    }

    fn solve(&mut self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution> {
        let solution = self.problem.solve(lambda, from, ctx)?;
        self.iterations += solution.minimum.iterations;
        self.unsolved += usize::from(!solution.minimum.stop.converged());
        Ok(solution)
    }

    /// Penalties below `first`; empty if no feature has a gradient.
    fn penalties(&self, first: f64) -> Vec<f64> {
        let mut all = geometric(first, self.settings.penalty_ratio, self.settings.n_penalties);
        all.remove(0);
        all.retain(|&lambda| lambda > 0.0);
        all
    }

    fn full(&mut self, ctx: &Context) -> Result<PathSolution> {
        let first = self.first(ctx)?;
        let penalties = self.penalties(first.lambda);
        // A small tolerance, so that the tenth itself is included despite rounding.
        let min_penalty = AUTO_PENALTY_RATIO * first.lambda * (1.0 - 1e-9);
        let mut selected = first.clone();
        let mut last = first;
        for (at, &lambda) in penalties.iter().enumerate() {
            ctx.step(self.settings.title, at, penalties.len())?;
            last = self.solve(lambda, &last, ctx)?;
            self.push(&last, ctx)?;
            if lambda >= min_penalty {
                selected = last.clone();
            }
        }
        Ok(selected)
    }

    fn down_to(&mut self, lambda: f64, ctx: &Context) -> Result<PathSolution> {
        let mut last = self.first(ctx)?;
        let mut penalties = self.penalties(last.lambda);
        penalties.retain(|&step| step > lambda);
        penalties.push(lambda);
        for (at, &step) in penalties.iter().enumerate() {
            ctx.step(self.settings.title, at, penalties.len())?;
            last = self.solve(step, &last, ctx)?;
            self.push(&last, ctx)?;
        }
        Ok(last)
    }

    /// The path point with `k` nonzero features or, if impossible, the next larger number; if the path ends before,
    /// its last point.
    fn reach_count(&mut self, k: usize, ctx: &Context) -> Result<PathSolution> {
        let mut below = self.first(ctx)?;
        if self.count(&below) >= k {
            return Ok(below);
        }
        let penalties = self.penalties(below.lambda);
        let mut above = None;
        for (at, &lambda) in penalties.iter().enumerate() {
            ctx.step(self.settings.title, at, penalties.len())?;
            let here = self.solve(lambda, &below, ctx)?;
            if self.count(&here) >= k {
                above = Some(here);
                break;
            }
            self.push(&here, ctx)?;
            below = here;
        }
        let Some(above) = above else { return Ok(below) };
        let mut selected = self.bisect(k, below, above, false, ctx)?;
        if self.count(&selected) > k && self.problem.is_nonconvex() {
            selected = self.increase_penalty(k, selected, ctx)?;
        }
        self.points.retain(|point| point.strength > selected.lambda);
        self.push(&selected, ctx)?;
        Ok(selected)
    }

    /// Bisects between a point with fewer than `k` features and one with at least `k`; returns the latter.
    /// Solutions are warm-started from the latter if `from_above`.
    fn bisect(
        &mut self,
        k: usize,
        mut below: PathSolution,
        mut above: PathSolution,
        from_above: bool,
        ctx: &Context,
    ) -> Result<PathSolution> {
        for _ in 0..MAX_BISECTIONS {
            if self.count(&above) == k {
                break;
            }
            let middle = (below.lambda * above.lambda).sqrt();
            if !(middle < below.lambda && middle > above.lambda) {
                break;
            }
            let here = self.solve(middle, if from_above { &above } else { &below }, ctx)?;
            if self.count(&here) >= k { above = here } else { below = here }
        }
        Ok(above)
    }

    /// If the path skips a number with decreasing penalties, it may reach it with increasing ones: increases the
    /// penalty from `above`, as long as at least `k` features remain.
    fn increase_penalty(&mut self, k: usize, mut above: PathSolution, ctx: &Context) -> Result<PathSolution> {
        let steps = self.settings.n_penalties - 1;
        let growth = self.settings.penalty_ratio.powf(-1.0 / steps as f64);
        for _ in 0..steps {
            let here = self.solve(growth * above.lambda, &above, ctx)?;
            if self.count(&here) < k {
                return self.bisect(k, here, above, true, ctx);
            }
            above = here;
            if self.count(&above) == k {
                break;
            }
        }
        Ok(above)
    }
}

/// Number of features with a weight.
fn count(solution: &PathSolution, groups: &Groups) -> usize {
    blocks(&solution.minimum.w, groups).filter(|w| max_abs(w) > 0.0).count()
}

/// The largest absolute weight of each feature.
fn feature_norms(solution: &PathSolution, problem: &dyn Penalized) -> Vec<f64> {
    let norms = blocks(&solution.minimum.w, problem.groups()).map(max_abs);
    norms.zip(problem.weights()).map(|(norm, weight)| norm / weight).collect()
}

fn point(solution: &PathSolution, problem: &dyn Penalized) -> PathPoint {
    let minimum = &solution.minimum;
    let norms = feature_norms(solution, problem);
    let mut features: Vec<usize> = (0..norms.len()).filter(|&j| norms[j] > 0.0).collect();
    features.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]).then(a.cmp(&b)));
    PathPoint {
        strength: solution.lambda,
        objective: minimum.objective,
        optimality: minimum.optimality,
        iterations: minimum.iterations,
        stop: minimum.stop,
        weights: features.iter().map(|&j| norms[j]).collect(),
        features,
    }
}
