//! The steps of the interior point.

use super::families::{Families, Point, Scaled};
use super::normal::Normal;
use super::{Ending, Held, HingeProgram, HingeSolution};
use crate::context::Context;
use crate::error::Result;

/// How much of the way to the boundary a step goes at most.
const SHY: f64 = 0.995;
/// Objectives below this count as this where a gap is set against them.
const LEAST: f64 = 1e-7;
/// Without a better point or less complementarity for so many iterations the search has stalled.
const PATIENCE: usize = 25;
/// Cuts may be broken by so much of the largest weight or 1, their rows taken as of length 1.
const BROKEN: f64 = 1e-10;

pub(super) fn solve(
    program: &HingeProgram,
    tolerance: f64,
    max_iter: usize,
    ctx: &Context,
) -> Result<HingeSolution> {
    let scaled = Scaled::new(program);
    let mut run = Run::new(&scaled);
    let mut best = run.evaluate();
    let (mut waited, mut least) = (0, f64::INFINITY);
    let optimal = |evaluated: &Evaluated| {
        evaluated.broken <= BROKEN
            && evaluated.gap <= tolerance * evaluated.solution.objective.abs().max(LEAST)
    };
    for iteration in 0..max_iter {
        ctx.check()?;
        best.solution.iterations = iteration;
        if optimal(&best) {
            best.solution.ending = Ending::Optimal;
            return Ok(best.solution);
        }
        let moved = run.step();
        let now = run.evaluate();
        let centered = run.complementarity();
        waited = if now.distance() < best.distance() || centered < 0.9 * least { 0 } else { waited + 1 };
        least = least.min(centered);
        if now.distance() < best.distance() {
            best = now;
        }
        if !moved || waited > PATIENCE {
            best.solution.ending = if optimal(&best) { Ending::Optimal } else { Ending::Stalled };
            best.solution.iterations = iteration + 1;
            return Ok(best.solution);
        }
    }
    best.solution.iterations = max_iter;
    if optimal(&best) {
        best.solution.ending = Ending::Optimal;
    }
    Ok(best.solution)
}

struct Run<'a> {
    scaled: &'a Scaled<'a>,
    at: Point,
    /// Slacks of the constraints.
    z: Families,
    /// Prices of the constraints.
    y: Families,
    /// Constraints there are.
    count: f64,
}

/// A point, and how far from optimal it is.
struct Evaluated {
    solution: HingeSolution,
    /// Objective less bound; below 0 where broken cuts buy something.
    gap: f64,
    /// By how much the worst cut is broken, as a share of the largest weight.
    broken: f64,
}

impl Evaluated {
    fn distance(&self) -> f64 {
        self.gap.abs() + self.broken
    }
}

impl<'a> Run<'a> {
    fn new(scaled: &'a Scaled<'a>) -> Self {
        let program = scaled.program;
        let (t, k, m) = (program.statements(), program.len(), scaled.cuts.nrows());
        let at = Point { weights: vec![0.0; k], sizes: vec![1.0; program.groups], slacks: vec![1.5; t] };
        let sides = scaled.sides(&at);
        let mut z = Families::of([&sides], |[side]| side.max(1.0));
        z.statements.fill(1.0);
        let statement = 0.5 / t.max(1) as f64;
        let bound = 0.5 * program.penalty + 1e-3;
        let mut y = Families {
            statements: vec![statement; t],
            slacks: vec![statement; t],
            uppers: vec![bound; k],
            lowers: vec![bound; k],
            cuts: vec![1e-2 / m.max(1) as f64; m],
        };
        let alone = program.held.iter().filter(|h| **h == Held::Alone).count();
        let mut run = Self { scaled, at, z, y: y.clone(), count: (2 * t + 2 * k - alone + m) as f64 };
        run.without_missing(&mut y);
        run.y = y;
        run
    }

    /// Weights alone have no upper bound.
    fn without_missing(&self, families: &mut Families) {
        for (p, held) in self.scaled.program.held.iter().enumerate() {
            if *held == Held::Alone {
                families.uppers[p] = 0.0;
            }
        }
    }

    /// One predictor and corrector; false if there is no step to take.
    fn step(&mut self) -> bool {
        let scaled = self.scaled;
        let mut primal = Families::of([&self.z, &scaled.sides(&self.at)], |[z, side]| z - side);
        primal.statements.iter_mut().for_each(|left| *left += 1.0);
        self.without_missing(&mut primal);
        let gathered = scaled.gathered(&self.y);
        let each = 1.0 / gathered.slacks.len().max(1) as f64;
        let dual = Point {
            weights: scaled.costs.iter().zip(&gathered.weights).map(|(c, g)| c - g).collect(),
            sizes: gathered.sizes.iter().map(|g| scaled.program.penalty - g).collect(),
            slacks: gathered.slacks.iter().map(|g| each - g).collect(),
        };
        let theta = Families::of([&self.y, &self.z], |[y, z]| y / z);
        let Some(normal) = Normal::new(scaled, theta.clone()) else { return false };
        // Newton: G dx - dz = primal, G' dy = dual, z dy + y dz = wanted.
        let newton = |wanted: &Families| {
            let turned =
                Families::of([wanted, &self.z, &theta, &primal], |[w, z, theta, p]| w / z + theta * p);
            let mut right = scaled.gathered(&turned);
            for (right, dual) in [
                (&mut right.weights, &dual.weights),
                (&mut right.sizes, &dual.sizes),
                (&mut right.slacks, &dual.slacks),
            ] {
                right.iter_mut().zip(dual).for_each(|(right, dual)| *right -= dual);
            }
            let dx = normal.solve(&right);
            let dz = Families::of([&scaled.sides(&dx), &primal], |[side, p]| side - p);
            let dy = Families::of([wanted, &self.y, &dz, &self.z], |[w, y, dz, z]| (w - y * dz) / z);
            (dx, dz, dy)
        };
        let mu = self.complementarity();
        let (_, dz, dy) = newton(&Families::of([&self.z, &self.y], |[z, y]| -z * y));
        let (primal_room, dual_room) = (self.z.room(&dz), self.y.room(&dy));
        let (mut z, mut y) = (self.z.clone(), self.y.clone());
        z.advance(primal_room, &dz);
        y.advance(dual_room, &dy);
        let ahead = (z.product(&y) / self.count).max(0.0);
        let center = (ahead / mu).powi(3) * mu;
        let mut wanted =
            Families::of([&self.z, &self.y, &dz, &dy], |[z, y, dz, dy]| center - z * y - dz * dy);
        self.without_missing(&mut wanted);
        let (dx, dz, dy) = newton(&wanted);
        let finite = dx.weights.iter().chain(&dx.sizes).chain(&dx.slacks).all(|v| v.is_finite())
            && dy.parts().iter().all(|part| part.iter().all(|v| v.is_finite()));
        let (primal_step, dual_step) = (SHY * self.z.room(&dz), SHY * self.y.room(&dy));
        // Such steps change nothing any more.
        if !finite || primal_step.max(dual_step) < 1e-12 {
            return false;
        }
        self.at.advance(primal_step, &dx);
        self.z.advance(primal_step, &dz);
        self.y.advance(dual_step, &dy);
        true
    }

    /// The mean of slack times price, which is 0 at the optimum.
    fn complementarity(&self) -> f64 {
        self.z.product(&self.y) / self.count
    }

    /// The objective of the weights and the bound of the prices as they are now.
    fn evaluate(&self) -> Evaluated {
        let program = self.scaled.program;
        let mut weights: Vec<f64> =
            self.at.weights.iter().zip(&self.scaled.units).map(|(w, unit)| w * unit).collect();
        for (weight, held) in weights.iter_mut().zip(program.held) {
            if !matches!(held, Held::Within(_)) {
                *weight = weight.max(0.0);
            }
        }
        let mut statements = self.y.statements.clone();
        let mut cuts: Vec<f64> =
            self.y.cuts.iter().zip(&self.scaled.lengths).map(|(price, length)| price / length).collect();
        let bound = program.prove(&mut statements, &mut cuts);
        let objective = program.objective(&weights);
        let largest = self.at.weights.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
        let worst = super::times(self.scaled.cuts.view(), &self.at.weights).into_iter().fold(0.0, f64::min);
        let broken = -worst / largest.max(1.0);
        let gap = objective - bound;
        let solution = HingeSolution {
            weights,
            objective,
            bound,
            statements,
            cuts,
            ending: Ending::MaxIterations,
            iterations: 0,
        };
        Evaluated { solution, gap, broken }
    }
}
