//! The steps of the interior-point method.

use super::constraints::{PerConstraint, Point, Scaled};
use super::normal::NormalEquations;
use super::program::{Ending, HingeProgram, HingeSolution, WeightBound, times};
use crate::context::Context;
use crate::error::Result;

/// A step goes at most this fraction of the way to the boundary.
const STEP_FRACTION: f64 = 0.995;
/// The gap is relative to the objective, or to this if the objective is smaller.
const MIN_OBJECTIVE: f64 = 1e-7;
/// The search has stalled after this many iterations without a better point or less complementarity.
const MAX_STALLED_ITERATIONS: usize = 25;
/// Cuts of norm 1 may be violated by this fraction of the largest weight or of 1.
const CUT_TOLERANCE: f64 = 1e-10;
/// Passes of the projection to dual feasibility; each reduces the residual to rounding errors of the one before.
const PROJECTIONS: usize = 3;

impl HingeProgram<'_> {
    /// Searches until objective and bound differ by at most `tolerance` times the objective.
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<HingeSolution> {
        let scaled = Scaled::new(self);
        let mut run = Run::new(&scaled);
        let mut best = run.evaluate();
        let (mut stalled, mut least) = (0, f64::INFINITY);
        let mut ending = Ending::MaxIterations;
        let mut iterations = 0;
        while iterations < max_iter && !best.is_optimal(tolerance) {
            ctx.check()?;
            let moved = run.step();
            iterations += 1;
            let now = run.evaluate();
            let mu = run.complementarity();
            stalled = if now.distance() < best.distance() || mu < 0.9 * least { 0 } else { stalled + 1 };
            least = least.min(mu);
            if now.distance() < best.distance() {
                best = now;
            }
            if !moved || stalled > MAX_STALLED_ITERATIONS {
                ending = Ending::Stalled;
                break;
            }
        }
        if !best.is_optimal(tolerance) {
            best.project_duals(&scaled);
        }
        if best.is_optimal(tolerance) {
            ending = Ending::Optimal;
        }
        Ok(HingeSolution { ending, iterations, ..best.solution })
    }
}

struct Run<'a> {
    scaled: &'a Scaled<'a>,
    at: Point,
    /// Slacks of the constraints.
    z: PerConstraint,
    /// Dual values of the constraints.
    y: PerConstraint,
    n_constraints: f64,
}

/// A point and its distance from the optimum.
struct Evaluated {
    solution: HingeSolution,
    /// Dual values of the scaled constraints.
    y: PerConstraint,
    /// Objective minus bound; negative if violated cuts lower the objective.
    gap: f64,
    /// The violation of the worst cut, relative to the largest weight.
    violation: f64,
}

impl Evaluated {
    fn distance(&self) -> f64 {
        self.gap.abs() + self.violation
    }

    fn is_optimal(&self, tolerance: f64) -> bool {
        self.violation <= CUT_TOLERANCE
            && self.gap <= tolerance * self.solution.objective.abs().max(MIN_OBJECTIVE)
    }

    /// Moves the dual values to the nearest solution of $G^\top y = c$, in units of the dual values, and keeps them if their bound
    /// is better.
    ///
    /// Near the optimum the ratios of dual value to slack differ by so many orders of magnitude that rounding errors of the
    /// Newton steps exceed the dual residual, which then stops decreasing. The weights $y^2$ do not depend on slacks.
    fn project_duals(&mut self, scaled: &Scaled) {
        let squares = PerConstraint::map([&self.y], |[y]| y * y);
        let Some(normal) = NormalEquations::new(scaled, squares.clone()) else { return };
        let mut y = self.y.clone();
        for _ in 0..PROJECTIONS {
            let dx = normal.solve(&scaled.dual_residual(&y));
            let dy = PerConstraint::map([&squares, &scaled.apply(&dx)], |[square, side]| square * side);
            if !dy.is_finite() {
                return;
            }
            y.advance(1.0, &dy);
        }
        let (bound, margin_duals, cut_duals) = dual_bound(scaled, &y);
        if bound > self.solution.bound {
            self.gap = self.solution.objective - bound;
            self.solution.bound = bound;
            self.solution.margin_duals = margin_duals;
            self.solution.cut_duals = cut_duals;
        }
    }
}

impl<'a> Run<'a> {
    fn new(scaled: &'a Scaled<'a>) -> Self {
        let program = scaled.program;
        let (t, k, m) = (program.n_margins(), program.len(), scaled.cuts.nrows());
        let at = Point { weights: vec![0.0; k], sizes: vec![1.0; program.groups], slacks: vec![1.5; t] };
        let mut z = PerConstraint::map([&scaled.apply(&at)], |[side]| side.max(1.0));
        z.margins.fill(1.0);
        let margin = 0.5 / t.max(1) as f64;
        let bound = 0.5 * program.penalty + 1e-3;
        let mut y = PerConstraint {
            margins: vec![margin; t],
            slacks: vec![margin; t],
            uppers: vec![bound; k],
            lowers: vec![bound; k],
            cuts: vec![1e-2 / m.max(1) as f64; m],
        };
        clear_unused(program, &mut y);
        let ungrouped = program.bounds.iter().filter(|b| **b == WeightBound::Ungrouped).count();
        Self { scaled, at, z, y, n_constraints: (2 * t + 2 * k - ungrouped + m) as f64 }
    }

    /// One predictor and corrector step; false if no step is possible.
    fn step(&mut self) -> bool {
        let scaled = self.scaled;
        let mut primal = PerConstraint::map([&self.z, &scaled.apply(&self.at)], |[z, side]| z - side);
        primal.margins.iter_mut().for_each(|residual| *residual += 1.0);
        clear_unused(scaled.program, &mut primal);
        let dual = scaled.dual_residual(&self.y);
        let theta = PerConstraint::map([&self.y, &self.z], |[y, z]| y / z);
        let Some(normal) = NormalEquations::new(scaled, theta.clone()) else { return false };
        // Newton: G dx - dz = primal, G' dy = dual, z dy + y dz = target.
        let newton = |target: &PerConstraint| {
            let shifted =
                PerConstraint::map([target, &self.z, &theta, &primal], |[w, z, theta, p]| w / z + theta * p);
            let mut right = scaled.apply_transposed(&shifted);
            right.advance(-1.0, &dual);
            let dx = normal.solve(&right);
            let dz = PerConstraint::map([&scaled.apply(&dx), &primal], |[side, p]| side - p);
            let dy = PerConstraint::map([target, &self.y, &dz, &self.z], |[w, y, dz, z]| (w - y * dz) / z);
            (dx, dz, dy)
        };
        let mu = self.complementarity();
        let (_, dz, dy) = newton(&PerConstraint::map([&self.z, &self.y], |[z, y]| -z * y));
        let (mut z, mut y) = (self.z.clone(), self.y.clone());
        z.advance(self.z.max_step(&dz), &dz);
        y.advance(self.y.max_step(&dy), &dy);
        let predicted = (z.dot(&y) / self.n_constraints).max(0.0);
        let center = (predicted / mu).powi(3) * mu;
        let mut target =
            PerConstraint::map([&self.z, &self.y, &dz, &dy], |[z, y, dz, dy]| center - z * y - dz * dy);
        clear_unused(scaled.program, &mut target);
        let (dx, dz, dy) = newton(&target);
        let primal_step = STEP_FRACTION * self.z.max_step(&dz);
        let dual_step = STEP_FRACTION * self.y.max_step(&dy);
        // Shorter steps change nothing.
        if !dx.is_finite() || !dy.is_finite() || primal_step.max(dual_step) < 1e-12 {
            return false;
        }
        self.at.advance(primal_step, &dx);
        self.z.advance(primal_step, &dz);
        self.y.advance(dual_step, &dy);
        true
    }

    /// The mean of slack times dual value, which is 0 at the optimum.
    fn complementarity(&self) -> f64 {
        self.z.dot(&self.y) / self.n_constraints
    }

    /// The objective of the current weights and the bound of the current dual values.
    fn evaluate(&self) -> Evaluated {
        let program = self.scaled.program;
        let mut weights: Vec<f64> =
            self.at.weights.iter().zip(&self.scaled.units).map(|(w, unit)| w * unit).collect();
        for (weight, bound) in weights.iter_mut().zip(program.bounds) {
            if !matches!(bound, WeightBound::Symmetric(_)) {
                *weight = weight.max(0.0);
            }
        }
        let (bound, margin_duals, cut_duals) = dual_bound(self.scaled, &self.y);
        let objective = program.objective(&weights);
        let largest = self.at.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        let worst = times(self.scaled.cuts.view(), &self.at.weights).into_iter().fold(0.0, f64::min);
        let violation = -worst / largest.max(1.0);
        let gap = objective - bound;
        let ending = Ending::MaxIterations;
        let solution =
            HingeSolution { weights, objective, bound, margin_duals, cut_duals, ending, iterations: 0 };
        Evaluated { solution, y: self.y.clone(), gap, violation }
    }
}

/// The lower bound from dual values of the scaled constraints, and the feasible dual values of margins and cuts that give it.
fn dual_bound(scaled: &Scaled, y: &PerConstraint) -> (f64, Vec<f64>, Vec<f64>) {
    let mut margin_duals = y.margins.clone();
    let mut cut_duals: Vec<f64> = y.cuts.iter().zip(&scaled.norms).map(|(dual, norm)| dual / norm).collect();
    let bound = scaled.program.dual_bound(&mut margin_duals, &mut cut_duals);
    (bound, margin_duals, cut_duals)
}

/// Sets the upper bounds of weights outside groups, which have none, to 0.
fn clear_unused(program: &HingeProgram, values: &mut PerConstraint) {
    for (upper, bound) in values.uppers.iter_mut().zip(program.bounds) {
        if *bound == WeightBound::Ungrouped {
            *upper = 0.0;
        }
    }
}
