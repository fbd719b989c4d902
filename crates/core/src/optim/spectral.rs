//! Spectral gradient descent under the row norm, as a penalty or as a ball.
//!
//! $$ \min_W f(W) + \lambda \Omega(W) \qquad\text{or}\qquad \min_W f(W) \ \text{ where } \ \Omega(W) \le \tau $$
//!
//! with any smooth $f$ that comes as a [`Criterion`]. A step goes down the gradient by a length $\alpha$ and then to
//! the nearest point that the penalty or the ball allows,
//!
//! $$ P_\alpha(W) = \operatorname{prox}\_{\alpha \lambda \Omega}(W - \alpha \nabla f) \quad\text{or}\quad
//!    \operatorname{proj}_{\Omega \le \tau}(W - \alpha \nabla f). $$
//!
//! so that rows become exactly zero. The length is one of Barzilai and Borwein's, which follows the curvature met by the
//! last step: $\langle s, s \rangle / \langle s, y \rangle$, or the shorter $\langle s, y \rangle / \langle y, y \rangle$ where
//! the two differ much ($s$ the change of $W$, $y$ that of the gradient). It is cut until the objective lies below the
//! largest of the last few, not necessarily the last, by a share of $\lVert P_\alpha(W) - W \rVert^2 / \alpha$.
//! The best point seen is kept and given back.
//!
//! How far from optimal a point is, is measured by the step of length one, $\max_{jk} |W - P_1(W)|_{jk}$: zero
//! exactly where the first-order conditions hold. For entries that are free it is the gradient, so it has the units
//! of $f$: a criterion should be scaled so that its values and the entries of $W$ are of order one.
//! If $f$ is not convex this speaks of a stationary point, not of the least one.
//!
//! Cost: one value with gradient an iteration, rarely two, and two proximal steps.
//!
//! Reference: Barzilai and Borwein, *Two-point step size gradient methods*, 1988; Birgin, Martinez and Raydan, *Nonmonotone spectral
//! projected gradient methods on convex sets*, 2000; Wright, Nowak and Figueiredo, *Sparse reconstruction by separable
//! approximation*, 2009.

use super::criterion::Criterion;
use super::row_norm::{project_rows, prox_rows, row_norm};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use ndarray::{Array2, Zip};
use std::collections::VecDeque;

const NAME: &str = "spectral gradient";

/// Lengths of steps that are tried at most.
const SHORTEST: f64 = 1e-15;
const LONGEST: f64 = 1e15;
/// The share of the promised decrease that a step must bring.
const SHARE: f64 = 1e-4;
/// Steps smaller than this share of the largest entry change nothing but rounding.
const NOTHING: f64 = 1e-14;

/// What holds the rows of $W$ back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hold {
    /// $\lambda \Omega(W)$ is added to the criterion.
    Penalty(f64),
    /// $\Omega(W) \le \tau$ must hold.
    Ball(f64),
    /// $\Omega(W) \le \tau$ and $W \ge 0$ must hold.
    Positive(f64),
}

impl Hold {
    fn check(self) -> Result<()> {
        let (name, strength) = match self {
            Self::Penalty(lambda) => ("penalty", lambda),
            Self::Ball(tau) | Self::Positive(tau) => ("radius", tau),
        };
        if strength >= 0.0 && strength.is_finite() {
            return Ok(());
        }
        Err(Error::param(NAME, name, "0 or a positive number", strength))
    }

    /// Puts in place of `w` the nearest point allowed, for a step of this length.
    fn pull(self, w: &mut Array2<f64>, length: f64) {
        match self {
            Self::Penalty(lambda) => prox_rows(w, length * lambda),
            Self::Ball(tau) => project_rows(w, tau),
            // The norm sees sizes alone, so what is negative goes first.
            Self::Positive(tau) => {
                w.mapv_inplace(|v| v.max(0.0));
                project_rows(w, tau);
            }
        }
    }

    /// What is added to the criterion.
    fn price(self, w: &Array2<f64>) -> f64 {
        match self {
            Self::Penalty(lambda) => lambda * row_norm(w),
            Self::Ball(_) | Self::Positive(_) => 0.0,
        }
    }

    /// $P_\alpha$ of the point `w` with this gradient, into `out`.
    fn step(self, w: &Array2<f64>, gradient: &Array2<f64>, length: f64, out: &mut Array2<f64>) {
        Zip::from(&mut *out).and(w).and(gradient).for_each(|o, w, g| *o = w - length * g);
        self.pull(out, length);
    }
}

/// The solver and when it stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectral {
    /// The largest optimality measure that counts as solved; see the module's text.
    pub tolerance: f64,
    /// Most steps.
    pub max_iterations: usize,
    /// A step must lie below the largest of this many last values; 1 allows no rise.
    pub memory: usize,
}

impl Default for Spectral {
    /// A tolerance of 1e-6, 1000 steps, 10 values.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000, memory: 10 }
    }
}

/// Where a solver ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub w: Array2<f64>,
    /// The criterion alone.
    pub value: f64,
    /// The criterion with the penalty, if there is one.
    pub objective: f64,
    /// How far from optimal the point is; the solver says by which measure.
    pub optimality: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Times that the criterion was asked.
    pub evaluations: usize,
    /// Why it ended: [`Stop::Tolerance`], [`Stop::Stationary`] or [`Stop::MaxIterations`].
    pub stop: Stop,
}

/// A point with what is known there.
#[derive(Clone)]
struct Point {
    w: Array2<f64>,
    gradient: Array2<f64>,
    value: f64,
    objective: f64,
}

impl Point {
    fn at(criterion: &dyn Criterion, hold: Hold, w: Array2<f64>) -> Self {
        let mut gradient = Array2::zeros(w.dim());
        let value = criterion.value_and_gradient(&w, &mut gradient);
        let objective = value + hold.price(&w);
        Self { w, gradient, value, objective }
    }

    fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }

    /// The largest entry of $W - P_1(W)$.
    fn optimality(&self, hold: Hold, scratch: &mut Array2<f64>) -> f64 {
        hold.step(&self.w, &self.gradient, 1.0, scratch);
        largest_difference(scratch, &self.w)
    }
}

impl Spectral {
    /// Minimises from `start`, which need not lie in the ball.
    pub fn minimise(
        &self,
        criterion: &dyn Criterion,
        hold: Hold,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        hold.check()?;
        let mut start = need_shape(criterion, start)?;
        if let Hold::Ball(_) | Hold::Positive(_) = hold {
            hold.pull(&mut start, 1.0);
        }
        let mut here = Point::at(criterion, hold, start);
        if !here.is_finite() {
            return Err(broken("at the start"));
        }
        let mut scratch = Array2::zeros(here.w.dim());
        let mut evaluations = 1;
        let mut optimality = here.optimality(hold, &mut scratch);
        // The first step moves the largest entry by about one.
        let mut length = (1.0 / optimality).clamp(SHORTEST, LONGEST);
        let mut memory = self.memory.max(1);
        let mut last = VecDeque::from([here.objective]);
        let mut best = (here.clone(), optimality);
        let mut best_at = 0;
        let mut least = here.objective;
        let mut iterations = 0;
        let stop = loop {
            ctx.check()?;
            if optimality <= self.tolerance {
                if here.objective <= least + rounding(least) {
                    best = (here, optimality);
                    break Stop::Tolerance;
                }
                // A stationary point, but a better one was passed on the way: go back, and downhill only.
                (here, memory) = (best.0.clone(), 1);
                last = VecDeque::from([here.objective]);
            }
            if iterations == self.max_iterations {
                break Stop::MaxIterations;
            }
            let highest = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let Some(next) = self.search(criterion, hold, &here, highest, length, &mut evaluations)? else {
                break Stop::Stationary;
            };
            iterations += 1;
            length = spectral_length(&here, &next, length);
            here = next;
            optimality = here.optimality(hold, &mut scratch);
            if last.len() >= memory {
                last.pop_front();
            }
            last.push_back(here.objective);
            // Of values that differ by rounding alone the point with the better conditions is the better one.
            let margin = rounding(least);
            if here.objective < least - margin || (here.objective <= least + margin && optimality < best.1) {
                best = (here.clone(), optimality);
                best_at = iterations;
            } else if iterations - best_at > 10 * self.memory.max(5) {
                break Stop::Stationary;
            }
            least = least.min(here.objective);
        };
        let (Point { w, value, objective, .. }, optimality) = best;
        Ok(Minimum { w, value, objective, optimality, iterations, evaluations, stop })
    }

    /// A path: the minimum under each hold in turn, each from where the last ended.
    pub fn path(
        &self,
        criterion: &dyn Criterion,
        holds: &[Hold],
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Vec<Minimum>> {
        let mut start = start;
        let mut path = Vec::with_capacity(holds.len());
        for (at, &hold) in holds.iter().enumerate() {
            ctx.step("path", at, holds.len())?;
            let minimum = self.minimise(criterion, hold, start, ctx)?;
            start = minimum.w.clone();
            path.push(minimum);
        }
        Ok(path)
    }

    /// The first step, of this length or shorter, that lies enough below `highest`; nothing if none does before steps
    /// are too small to matter.
    fn search(
        &self,
        criterion: &dyn Criterion,
        hold: Hold,
        here: &Point,
        highest: f64,
        mut length: f64,
        evaluations: &mut usize,
    ) -> Result<Option<Point>> {
        let size = largest(&here.w);
        let mut finite = true;
        loop {
            let mut w = Array2::zeros(here.w.dim());
            hold.step(&here.w, &here.gradient, length, &mut w);
            if length < SHORTEST || largest_difference(&w, &here.w) <= NOTHING * size {
                return if finite { Ok(None) } else { Err(broken("however short the step")) };
            }
            let (mut along, mut square) = (0.0, 0.0);
            Zip::from(&w).and(&here.w).and(&here.gradient).for_each(|new, old, g| {
                along += (new - old) * g;
                square += (new - old) * (new - old);
            });
            let next = Point::at(criterion, hold, w);
            *evaluations += 1;
            finite = next.is_finite();
            if finite && next.objective <= highest + rounding(highest) - SHARE * 0.5 * square / length {
                return Ok(Some(next));
            }
            // The least point of the parabola through both values and the slope, within bounds.
            let bend = next.value - here.value - along;
            let cut = if finite && bend > 0.0 { -along / (2.0 * bend) } else { 0.1 };
            length *= if cut.is_finite() { cut.clamp(0.1, 0.5) } else { 0.1 };
        }
    }
}

/// Barzilai and Borwein's length after the step from `here` to `next`; ten times the last where the curvature is not
/// positive.
fn spectral_length(here: &Point, next: &Point, last: f64) -> f64 {
    let (mut ss, mut sy, mut yy) = (0.0, 0.0, 0.0);
    Zip::from(&next.w).and(&here.w).and(&next.gradient).and(&here.gradient).for_each(|a, b, g, h| {
        let (s, y) = (a - b, g - h);
        ss += s * s;
        sy += s * y;
        yy += y * y;
    });
    let (long, short) = (ss / sy, sy / yy);
    let length = if sy <= 0.0 {
        10.0 * last
    } else if short < 0.5 * long {
        short
    } else {
        long
    };
    if length.is_finite() { length.clamp(SHORTEST, LONGEST) } else { last }
}

/// The start in the layout that criteria are promised.
pub(super) fn need_shape(criterion: &dyn Criterion, start: Array2<f64>) -> Result<Array2<f64>> {
    let (expected, got) = (criterion.shape(), start.dim());
    if expected != got {
        return Err(Error::Shape {
            what: "start of a minimisation".into(),
            expected: format!("{} x {}", expected.0, expected.1),
            got: format!("{} x {}", got.0, got.1),
        });
    }
    Ok(if start.is_standard_layout() { start } else { start.as_standard_layout().into_owned() })
}

pub(super) fn broken(place: &str) -> Error {
    Error::Breakdown {
        step: "minimisation",
        why: format!("the criterion or its gradient is not a finite number {place}; scale the columns"),
    }
}

/// What two computations of the same objective may differ by.
pub(super) fn rounding(objective: f64) -> f64 {
    1e-14 * objective.abs()
}

pub(super) fn largest(w: &Array2<f64>) -> f64 {
    w.iter().fold(0.0, |a, v| a.max(v.abs()))
}

fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    /// $\tfrac12 \lVert W - V \rVert^2$, each entry weighted.
    struct Distance {
        to: Array2<f64>,
        weight: f64,
    }

    impl Criterion for Distance {
        fn shape(&self) -> (usize, usize) {
            self.to.dim()
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            Zip::from(gradient).and(w).and(&self.to).for_each(|g, w, v| *g = self.weight * (w - v));
            0.5 * self.weight * w.iter().zip(&self.to).map(|(w, v)| (w - v).powi(2)).sum::<f64>()
        }
    }

    fn solve(criterion: &dyn Criterion, hold: Hold) -> Minimum {
        let start = Array2::zeros(criterion.shape());
        Spectral::default().minimise(criterion, hold, start, &Context::default()).unwrap()
    }

    #[test]
    fn the_nearest_point_is_the_prox_or_the_projection() {
        let to = array![[4.0, 0.5], [1.5, -1.5], [0.2, 0.3]];
        for weight in [1.0, 30.0, 0.1] {
            let criterion = Distance { to: to.clone(), weight };
            let penalised = solve(&criterion, Hold::Penalty(weight));
            // One weighs against one: 1 is cut off every row, whatever both weigh.
            assert!(largest_difference(&penalised.w, &array![[3.0, 0.5], [1.0, -1.0], [0.0, 0.0]]) < 1e-5);
            assert_eq!(penalised.w.row(2), array![0.0, 0.0]);
            // 1 is cut off each of the first two, and the last row lies within.
            let held = solve(&criterion, Hold::Ball(4.0));
            assert!(largest_difference(&held.w, &penalised.w) < 1e-5, "{weight} {}", held.w);
            assert_eq!((held.value, held.stop), (held.objective, Stop::Tolerance));
            // Half the squares of 1, twice 0.5, 0.2 and 0.3.
            assert!((penalised.value - weight * 0.815).abs() < 1e-6 * weight, "{}", penalised.value);
            assert!((penalised.objective - penalised.value - 4.0 * weight).abs() < 1e-5 * weight);
        }
    }

    /// Least squares with a bad condition, by products.
    struct Squares {
        a: Array2<f64>,
        b: Array2<f64>,
    }

    impl Criterion for Squares {
        fn shape(&self) -> (usize, usize) {
            (self.a.ncols(), self.b.ncols())
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            let rest = self.a.dot(w) - &self.b;
            gradient.assign(&self.a.t().dot(&rest));
            0.5 * rest.iter().map(|v| v * v).sum::<f64>()
        }
    }

    fn squares(seed: u64) -> Squares {
        let mut rng = Rng::new(seed);
        // Columns of sizes 1 to 10: curvatures up to a hundred times as large as others.
        let a = Array2::from_shape_fn((30, 12), |(_, j)| {
            10.0_f64.powf(j as f64 / 11.0) * rng.normal() / 30.0_f64.sqrt()
        });
        let b = Array2::from_shape_simple_fn((30, 3), || rng.normal());
        Squares { a, b }
    }

    #[test]
    fn first_order_conditions_hold_at_the_end() {
        for seed in 0..5 {
            let problem = squares(seed);
            let mut gradient = Array2::zeros(problem.shape());
            problem.value_and_gradient(&gradient.clone(), &mut gradient);
            let most = super::super::row_norm::dual_row_norm(&gradient);
            for share in [1.1, 0.5, 0.1] {
                let lambda = share * most;
                let end = solve(&problem, Hold::Penalty(lambda));
                assert_eq!(end.stop, Stop::Tolerance, "{seed} {share}: {}", end.optimality);
                problem.value_and_gradient(&end.w, &mut gradient);
                // Zero rows: ||g||_1 <= lambda. Others: = lambda, and <g, w> = -lambda max |w|.
                let slack = 1e-5;
                for (g, w) in gradient.rows().into_iter().zip(end.w.rows()) {
                    let (size, height) = (
                        g.iter().map(|g| g.abs()).sum::<f64>(),
                        w.iter().fold(0.0_f64, |a, w| a.max(w.abs())),
                    );
                    assert!(size <= lambda + slack, "{seed} {share}: {size} {lambda}");
                    assert!((g.dot(&w) + lambda * height).abs() <= slack * height, "{seed} {share}");
                }
                assert_eq!(share > 1.0, end.w.iter().all(|&w| w == 0.0));
                // The ball of that radius has the same solution.
                let held = solve(&problem, Hold::Ball(row_norm(&end.w)));
                assert!((held.value - end.value).abs() < 1e-6 * end.value, "{seed} {share}");
            }
        }
    }

    #[test]
    fn a_path_starts_each_point_at_the_last() {
        let problem = squares(1);
        let holds: Vec<Hold> = (1..=5).map(|k| Hold::Ball(0.2 * f64::from(k))).collect();
        let ctx = Context::default();
        let path = Spectral::default().path(&problem, &holds, Array2::zeros((12, 3)), &ctx).unwrap();
        assert_eq!(path.len(), 5);
        assert!(path.windows(2).all(|w| w[1].value < w[0].value));
        for (end, hold) in path.iter().zip(&holds) {
            let alone = solve(&problem, *hold);
            assert!((alone.value - end.value).abs() < 1e-7 * end.value);
        }
    }

    /// Two valleys, and a cliff beyond which there is no value.
    struct Valleys;

    impl Criterion for Valleys {
        fn shape(&self) -> (usize, usize) {
            (1, 1)
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            let x = w[[0, 0]];
            gradient[[0, 0]] = 4.0 * x * (x * x - 1.0) + 0.3;
            if x.abs() > 3.0 { f64::NAN } else { (x * x - 1.0).powi(2) + 0.3 * x }
        }
    }

    #[test]
    fn ends_are_told() {
        let ctx = Context::default();
        let from = |x: f64| Spectral::default().minimise(&Valleys, Hold::Penalty(0.0), array![[x]], &ctx);
        for x in [2.9, -2.9, 0.1] {
            let end = from(x).unwrap();
            assert!(end.stop == Stop::Tolerance && end.optimality <= 1e-6, "{x}: {end:?}");
        }
        assert!(matches!(from(4.0).unwrap_err(), Error::Breakdown { .. }));
        let short = Spectral { max_iterations: 2, ..Spectral::default() };
        let end = short.minimise(&squares(0), Hold::Penalty(0.1), Array2::zeros((12, 3)), &ctx).unwrap();
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 2));
        let exact = Spectral { tolerance: 0.0, ..Spectral::default() };
        let end = exact.minimise(&squares(0), Hold::Penalty(0.1), Array2::zeros((12, 3)), &ctx).unwrap();
        assert!(end.stop == Stop::Stationary && end.optimality < 1e-9, "{end:?}");
        let error = from(f64::NAN).unwrap_err();
        assert!(error.to_string().contains("not a finite number at the start"), "{error}");
        assert!(Spectral::default().minimise(&Valleys, Hold::Ball(-1.0), array![[0.0]], &ctx).is_err());
        assert!(Spectral::default().minimise(&Valleys, Hold::Ball(1.0), array![[0.0, 1.0]], &ctx).is_err());
    }
}
