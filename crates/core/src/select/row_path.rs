//! Regularization path of methods with a row-sparse penalty, and how a selection is made from it.
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
//! The score of a feature is its largest absolute weight, 0 if it was dropped. Features with zero weight are ranked
//! by the norm of their gradient, constant ones last.

use super::selector::{PathPoint, Selection};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::optim::{PathSolution, geometric};
use crate::outcome::Outcome;
use ndarray::{Array2, ArrayView1};

/// Maximum number of bisections between two path points.
const HALVINGS: usize = 30;
/// The penalty of the automatic selection, as a fraction of the first penalty.
const OWN_RULE: f64 = 0.1;

/// A problem that can be solved at any penalty.
pub(super) trait Penalized {
    /// The solution at the largest penalty of interest.
    fn top(&self) -> Result<PathSolution>;
    /// The solution at a penalty, warm-started from another.
    fn solve(&self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution>;
    /// Whether a feature is not constant.
    fn varies(&self, column: usize) -> bool;
    /// Whether the solution depends on the start (non-convex problems).
    fn has_branches(&self) -> bool {
        false
    }
}

/// The settings of a path.
pub(super) struct Route {
    /// The method's title in messages, and its name in the catalog.
    pub title: &'static str,
    pub name: &'static str,
    pub penalty: Option<f64>,
    pub n_penalties: usize,
    pub penalty_ratio: f64,
}

impl Route {
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
        let mut walk = Walk { route: self, problem, path: vec![], bytes: 0.0, iterations: 0, unsolved: 0 };
        let place = match (wanted, self.penalty) {
            (Some(k), _) => walk.reach(k, ctx)?,
            (None, Some(lambda)) => walk.down_to(lambda, ctx)?,
            (None, None) => walk.whole(ctx)?,
        };
        if walk.unsolved > 0 {
            ctx.warn(format!(
                "{}: {} of the solutions on the path did not reach the tolerance; raise max_iter, or tol",
                self.title, walk.unsolved
            ));
        }
        let (path, iterations) = (walk.path, walk.iterations);
        Ok(self.selection(problem, place, wanted, path, iterations, ctx))
    }

    fn selection(
        &self,
        problem: &dyn Penalized,
        place: PathSolution,
        wanted: Option<usize>,
        path: Vec<PathPoint>,
        iterations: usize,
        ctx: &Context,
    ) -> Selection {
        let mut scores: Vec<f64> = place.minimum.w.rows().into_iter().map(height).collect();
        let pull: Vec<f64> =
            place.negative_gradient.rows().into_iter().map(|row| row.iter().map(|v| v.abs()).sum()).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| {
            scores[b]
                .total_cmp(&scores[a])
                .then(problem.varies(b).cmp(&problem.varies(a)))
                .then(pull[b].total_cmp(&pull[a]))
                .then(a.cmp(&b))
        });
        // Dropped features have no score; the weights remain those of the solution.
        order[wanted.unwrap_or(scores.len())..].iter().for_each(|&j| scores[j] = 0.0);
        let count = count(&place.minimum.w);
        match wanted {
            None if count == 0 => ctx.warn(format!(
                "{}: all weights are zero at this penalty; the best column is kept; lower the penalty, or ask for a number of columns",
                self.title
            )),
            Some(k) if count < k => ctx.warn(format!(
                "{}: {count} of {k} columns have a weight at the end of the path; the others are those nearest \
                 to one; ask for fewer",
                self.title
            )),
            _ => {}
        }
        Selection {
            method: self.name.into(),
            order,
            scores,
            n_selected: wanted.unwrap_or(count.max(1)),
            curve: vec![],
            coef: Some(place.minimum.w),
            path,
            // The first point needs no iteration; count it as one.
            outcome: Outcome { stop: place.minimum.stop, iterations: iterations.max(1) },
        }
    }
}

/// The path computed so far.
struct Walk<'a> {
    route: &'a Route,
    problem: &'a dyn Penalized,
    path: Vec<PathPoint>,
    /// Bytes of the path.
    bytes: f64,
    iterations: usize,
    unsolved: usize,
}

impl Walk<'_> {
    fn top(&mut self, ctx: &Context) -> Result<PathSolution> {
        let top = self.problem.top()?;
        self.push(&top, ctx)?;
        Ok(top)
    }

    /// Adds a solution to the path, unless the path would exceed the memory limit.
    fn push(&mut self, solution: &PathSolution, ctx: &Context) -> Result<()> {
        let point = point(solution);
        self.bytes += (size_of::<PathPoint>() + 16 * point.columns.len()) as f64;
        ctx.need_memory(format!("the path of {}", self.route.title), self.bytes, "use fewer penalties")?;
        self.path.push(point);
        Ok(())
    }

    fn solve(&mut self, lambda: f64, from: &PathSolution, ctx: &Context) -> Result<PathSolution> {
        let place = self.problem.solve(lambda, from, ctx)?;
        self.iterations += place.minimum.iterations;
        self.unsolved += usize::from(!place.minimum.stop.converged());
        Ok(place)
    }

    /// Penalties below `top`; empty if no feature has a gradient.
    fn penalties(&self, top: f64) -> Vec<f64> {
        let mut all = geometric(top, self.route.penalty_ratio, self.route.n_penalties);
        all.remove(0);
        all.retain(|&lambda| lambda > 0.0);
        all
    }

    fn whole(&mut self, ctx: &Context) -> Result<PathSolution> {
        let top = self.top(ctx)?;
        let penalties = self.penalties(top.lambda);
        // A small tolerance, so that the tenth itself is included despite rounding.
        let bar = OWN_RULE * top.lambda * (1.0 - 1e-9);
        let mut answer = top.clone();
        let mut last = top;
        for (at, &lambda) in penalties.iter().enumerate() {
            ctx.step(self.route.title, at, penalties.len())?;
            last = self.solve(lambda, &last, ctx)?;
            self.push(&last, ctx)?;
            if lambda >= bar {
                answer = last.clone();
            }
        }
        Ok(answer)
    }

    fn down_to(&mut self, lambda: f64, ctx: &Context) -> Result<PathSolution> {
        let mut last = self.top(ctx)?;
        let mut penalties = self.penalties(last.lambda);
        penalties.retain(|&step| step > lambda);
        penalties.push(lambda);
        for (at, &step) in penalties.iter().enumerate() {
            ctx.step(self.route.title, at, penalties.len())?;
            last = self.solve(step, &last, ctx)?;
            self.push(&last, ctx)?;
        }
        Ok(last)
    }

    /// The path point with `k` nonzero features or, if impossible, the next larger number; if the path ends before,
    /// its last point.
    fn reach(&mut self, k: usize, ctx: &Context) -> Result<PathSolution> {
        let mut below = self.top(ctx)?;
        if count(&below.minimum.w) >= k {
            return Ok(below);
        }
        let penalties = self.penalties(below.lambda);
        let mut above = None;
        for (at, &lambda) in penalties.iter().enumerate() {
            ctx.step(self.route.title, at, penalties.len())?;
            let here = self.solve(lambda, &below, ctx)?;
            if count(&here.minimum.w) >= k {
                above = Some(here);
                break;
            }
            self.push(&here, ctx)?;
            below = here;
        }
        let Some(above) = above else { return Ok(below) };
        let mut answer = self.halve(k, below, above, false, ctx)?;
        if count(&answer.minimum.w) > k && self.problem.has_branches() {
            answer = self.climb(k, answer, ctx)?;
        }
        self.path.retain(|point| point.strength > answer.lambda);
        self.push(&answer, ctx)?;
        Ok(answer)
    }

    /// Bisects between a point with fewer than `k` features and one with at least `k`; returns the latter.
    /// Solutions are warm-started from the latter if `from_above`.
    fn halve(
        &mut self,
        k: usize,
        mut below: PathSolution,
        mut above: PathSolution,
        from_above: bool,
        ctx: &Context,
    ) -> Result<PathSolution> {
        for _ in 0..HALVINGS {
            if count(&above.minimum.w) == k {
                break;
            }
            let middle = (below.lambda * above.lambda).sqrt();
            if !(middle < below.lambda && middle > above.lambda) {
                break;
            }
            let here = self.solve(middle, if from_above { &above } else { &below }, ctx)?;
            if count(&here.minimum.w) >= k { above = here } else { below = here }
        }
        Ok(above)
    }

    /// If the path skips a number with decreasing penalties, it may reach it with increasing ones: increases the
    /// penalty from `above`, as long as at least `k` features remain.
    fn climb(&mut self, k: usize, mut above: PathSolution, ctx: &Context) -> Result<PathSolution> {
        let steps = self.route.n_penalties - 1;
        let growth = self.route.penalty_ratio.powf(-1.0 / steps as f64);
        for _ in 0..steps {
            let here = self.solve(growth * above.lambda, &above, ctx)?;
            if count(&here.minimum.w) < k {
                return self.halve(k, here, above, true, ctx);
            }
            above = here;
            if count(&above.minimum.w) == k {
                break;
            }
        }
        Ok(above)
    }
}

fn height(row: ArrayView1<f64>) -> f64 {
    row.iter().fold(0.0, |a, w| a.max(w.abs()))
}

/// Number of nonzero rows.
fn count(w: &Array2<f64>) -> usize {
    w.rows().into_iter().filter(|&row| height(row) > 0.0).count()
}

fn point(place: &PathSolution) -> PathPoint {
    let minimum = &place.minimum;
    let heights: Vec<f64> = minimum.w.rows().into_iter().map(height).collect();
    let mut columns: Vec<usize> = (0..heights.len()).filter(|&j| heights[j] > 0.0).collect();
    columns.sort_by(|&a, &b| heights[b].total_cmp(&heights[a]).then(a.cmp(&b)));
    PathPoint {
        strength: place.lambda,
        objective: minimum.objective,
        optimality: minimum.optimality,
        iterations: minimum.iterations,
        stop: minimum.stop,
        weights: columns.iter().map(|&j| heights[j]).collect(),
        columns,
    }
}
