//! Spectral projected or proximal gradient descent with the l1/l-infinity norm, as a penalty or as a constraint.
//!
//! $$ \min_W f(W) + \lambda \Omega(W) \qquad\text{or}\qquad \min_W f(W) \ \text{ where } \ \Omega(W) \le \tau $$
//!
//! with any smooth $f$, given as a [`Criterion`]. A gradient step of length $\alpha$ is followed by the proximal operator of the
//! penalty or the projection on the ball,
//!
//! $$ P_\alpha(W) = \operatorname{prox}\_{\alpha \lambda \Omega}(W - \alpha \nabla f) \quad\text{or}\quad
//!    \operatorname{proj}_{\Omega \le \tau}(W - \alpha \nabla f). $$
//!
//! which makes rows exactly zero. The initial length is a Barzilai-Borwein step, which estimates the curvature along the last
//! step: $\langle s, s \rangle / \langle s, y \rangle$, or the shorter $\langle s, y \rangle / \langle y, y \rangle$ if the two
//! differ by more than a factor of two ($s$ is the change of $W$, $y$ that of the gradient). A nonmonotone line search shortens it
//! until the objective is below the largest of the last few values by a fraction of $\lVert P_\alpha(W) - W \rVert^2 / \alpha$.
//! The best point found is returned.
//!
//! The optimality measure is the step of length one, $\max_{jk} |W - P_1(W)|_{jk}$, which is zero exactly where the first-order
//! conditions hold. For unconstrained entries it equals the gradient, so it has the units of $f$: scale a criterion so that its
//! values and the entries of $W$ are of order one. If $f$ is not convex, the result is a stationary point.
//!
//! Cost: usually one value with gradient per iteration, and two proximal steps.
//!
//! Reference: Barzilai and Borwein, *Two-point step size gradient methods*, 1988; Birgin, Martinez and Raydan, *Nonmonotone spectral
//! projected gradient methods on convex sets*, 2000; Wright, Nowak and Figueiredo, *Sparse reconstruction by separable
//! approximation*, 2009.

use super::criterion::Criterion;
use super::row_norm::{group_norm, project_groups, prox_groups};
use crate::context::Context;
use crate::data::Groups;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use ndarray::{Array2, Zip};
use std::collections::VecDeque;

const NAME: &str = "spectral gradient";

/// Bounds on step lengths.
const MIN_LENGTH: f64 = 1e-15;
const MAX_LENGTH: f64 = 1e15;
/// Required fraction of the predicted decrease.
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Steps below this fraction of the largest entry are rounding error.
const NEGLIGIBLE_STEP: f64 = 1e-14;

/// Regularization of the rows of $W$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Regularizer {
    /// Adds $\lambda \Omega(W)$ to the criterion.
    Penalty(f64),
    /// Constrains $\Omega(W) \le \tau$.
    Ball(f64),
    /// Constrains $\Omega(W) \le \tau$ and $W \ge 0$.
    NonNegativeBall(f64),
    /// Adds $\lambda \Omega(W)$ to the criterion and constrains $W \ge 0$.
    NonNegativePenalty(f64),
}

impl Regularizer {
    fn check(self) -> Result<()> {
        let (name, strength) = match self {
            Self::Penalty(lambda) | Self::NonNegativePenalty(lambda) => ("penalty", lambda),
            Self::Ball(tau) | Self::NonNegativeBall(tau) => ("radius", tau),
        };
        if strength >= 0.0 && strength.is_finite() {
            return Ok(());
        }
        Err(Error::param(NAME, name, "0 or a positive number", strength))
    }

    /// Whether it constrains $W$.
    fn is_constraint(self) -> bool {
        !matches!(self, Self::Penalty(_))
    }
}

/// A regularizer over features, each of which has a block of rows of $W$.
#[derive(Clone, Copy)]
struct Grouped<'a> {
    regularizer: Regularizer,
    groups: &'a Groups,
}

impl Grouped<'_> {
    /// Applies the proximal operator for a step of this length, or the projection.
    fn prox(self, w: &mut Array2<f64>, length: f64) {
        // The norm depends on absolute values only, so projecting on the orthant first is exact.
        if let Regularizer::NonNegativeBall(_) | Regularizer::NonNegativePenalty(_) = self.regularizer {
            w.mapv_inplace(|v| v.max(0.0));
        }
        match self.regularizer {
            Regularizer::Penalty(lambda) | Regularizer::NonNegativePenalty(lambda) => {
                prox_groups(w, self.groups, length * lambda);
            }
            Regularizer::Ball(tau) | Regularizer::NonNegativeBall(tau) => {
                project_groups(w, self.groups, tau);
            }
        }
    }

    /// The penalty term.
    fn penalty(self, w: &Array2<f64>) -> f64 {
        match self.regularizer {
            Regularizer::Penalty(lambda) | Regularizer::NonNegativePenalty(lambda) => {
                lambda * group_norm(w, self.groups)
            }
            Regularizer::Ball(_) | Regularizer::NonNegativeBall(_) => 0.0,
        }
    }

    /// Writes $P_\alpha$ of the point `w` with this gradient to `out`.
    fn step(self, w: &Array2<f64>, gradient: &Array2<f64>, length: f64, out: &mut Array2<f64>) {
        Zip::from(&mut *out).and(w).and(gradient).for_each(|o, w, g| *o = w - length * g);
        self.prox(out, length);
    }
}

/// The solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectral {
    /// Tolerance for the optimality measure; see the module documentation.
    pub tolerance: f64,
    /// Maximum number of steps.
    pub max_iterations: usize,
    /// The line search compares with the largest of this many last values; with 1 the objective decreases monotonically.
    pub memory: usize,
}

impl Default for Spectral {
    /// A tolerance of 1e-6, 1000 steps, 10 values.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000, memory: 10 }
    }
}

/// The result of a minimization.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point.
    pub w: Array2<f64>,
    /// The criterion without penalty.
    pub value: f64,
    /// The criterion with penalty.
    pub objective: f64,
    /// Optimality measure, defined by the solver.
    pub optimality: f64,
    /// Number of steps.
    pub iterations: usize,
    /// Number of evaluations of the criterion.
    pub evaluations: usize,
    /// Why the solver stopped: [`Stop::Tolerance`], [`Stop::Stationary`] or [`Stop::MaxIterations`].
    pub stop: Stop,
}

/// A point with its gradient and values.
#[derive(Clone)]
struct Point {
    w: Array2<f64>,
    gradient: Array2<f64>,
    value: f64,
    objective: f64,
}

impl Point {
    fn at(criterion: &dyn Criterion, regularizer: Grouped, w: Array2<f64>) -> Self {
        let mut gradient = Array2::zeros(w.dim());
        let value = criterion.value_and_gradient(&w, &mut gradient);
        let objective = value + regularizer.penalty(&w);
        Self { w, gradient, value, objective }
    }

    fn is_finite(&self) -> bool {
        self.objective.is_finite() && self.gradient.iter().all(|g| g.is_finite())
    }

    /// The largest entry of $W - P_1(W)$.
    fn optimality(&self, regularizer: Grouped, scratch: &mut Array2<f64>) -> f64 {
        regularizer.step(&self.w, &self.gradient, 1.0, scratch);
        largest_difference(scratch, &self.w)
    }
}

impl Spectral {
    /// Minimizes from `start`, which need not lie in the ball.
    pub fn minimize(
        &self,
        criterion: &dyn Criterion,
        regularizer: Regularizer,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        self.minimize_groups(criterion, regularizer, &Groups::single(start.nrows()), start, ctx)
    }

    /// As [`Spectral::minimize`], with a block of rows of $W$ for each feature.
    pub(crate) fn minimize_groups(
        &self,
        criterion: &dyn Criterion,
        regularizer: Regularizer,
        groups: &Groups,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        regularizer.check()?;
        let mut start = checked_start(criterion, start)?;
        let is_constraint = regularizer.is_constraint();
        let regularizer = Grouped { regularizer, groups };
        if is_constraint {
            // A penalty of length 0 only makes the start feasible.
            regularizer.prox(&mut start, 0.0);
        }
        let mut here = Point::at(criterion, regularizer, start);
        if !here.is_finite() {
            return Err(not_finite("at the start"));
        }
        let mut scratch = Array2::zeros(here.w.dim());
        let mut evaluations = 1;
        let mut optimality = here.optimality(regularizer, &mut scratch);
        // The first step changes the largest entry by about one.
        let mut length = (1.0 / optimality).clamp(MIN_LENGTH, MAX_LENGTH);
        let mut memory = self.memory.max(1);
        let mut last = VecDeque::from([here.objective]);
        let mut best = Best::new(&here, optimality);
        let mut iterations = 0;
        let stop = loop {
            ctx.check()?;
            if optimality <= self.tolerance {
                if here.objective <= best.least + rounding(best.least) {
                    (best.point, best.optimality) = (here, optimality);
                    break Stop::Tolerance;
                }
                // A stationary point, but a better point was found before: return to it and decrease monotonically.
                (here, memory) = (best.point.clone(), 1);
                last = VecDeque::from([here.objective]);
            }
            if iterations == self.max_iterations {
                break Stop::MaxIterations;
            }
            let highest = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let found = self.search(criterion, regularizer, &here, highest, length, &mut evaluations)?;
            let Some(next) = found else { break Stop::Stationary };
            iterations += 1;
            length = spectral_length(&here, &next, length);
            here = next;
            optimality = here.optimality(regularizer, &mut scratch);
            if last.len() >= memory {
                last.pop_front();
            }
            last.push_back(here.objective);
            best.update(&here, optimality, iterations);
            if iterations - best.iteration > 10 * self.memory.max(5) {
                break Stop::Stationary;
            }
        };
        let Best { point: Point { w, value, objective, .. }, optimality, .. } = best;
        Ok(Minimum { w, value, objective, optimality, iterations, evaluations, stop })
    }

    /// Minimizes with each regularizer in turn, starting from the previous solution.
    pub fn path(
        &self,
        criterion: &dyn Criterion,
        regularizers: &[Regularizer],
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Vec<Minimum>> {
        let mut start = start;
        let mut path = Vec::with_capacity(regularizers.len());
        for (at, &regularizer) in regularizers.iter().enumerate() {
            ctx.step("path", at, regularizers.len())?;
            let minimum = self.minimize(criterion, regularizer, start, ctx)?;
            start = minimum.w.clone();
            path.push(minimum);
        }
        Ok(path)
    }

    /// Backtracking line search: the first step of this length or shorter whose objective is sufficiently below `highest`;
    /// `None` if steps become negligible first.
    fn search(
        &self,
        criterion: &dyn Criterion,
        regularizer: Grouped,
        here: &Point,
        highest: f64,
        mut length: f64,
        evaluations: &mut usize,
    ) -> Result<Option<Point>> {
        let size = largest(&here.w);
        let mut finite = true;
        loop {
            let mut w = Array2::zeros(here.w.dim());
            regularizer.step(&here.w, &here.gradient, length, &mut w);
            if length < MIN_LENGTH || largest_difference(&w, &here.w) <= NEGLIGIBLE_STEP * size {
                return if finite { Ok(None) } else { Err(not_finite("for steps of any length")) };
            }
            let (mut slope, mut square) = (0.0, 0.0);
            Zip::from(&w).and(&here.w).and(&here.gradient).for_each(|new, old, g| {
                slope += (new - old) * g;
                square += (new - old) * (new - old);
            });
            let next = Point::at(criterion, regularizer, w);
            *evaluations += 1;
            finite = next.is_finite();
            let decrease = SUFFICIENT_DECREASE * 0.5 * square / length;
            if finite && next.objective <= highest + rounding(highest) - decrease {
                return Ok(Some(next));
            }
            // The minimum of the parabola through both values and the slope, within bounds.
            let bend = next.value - here.value - slope;
            let factor = if finite && bend > 0.0 { -slope / (2.0 * bend) } else { 0.1 };
            length *= if factor.is_finite() { factor.clamp(0.1, 0.5) } else { 0.1 };
        }
    }
}

/// The best point found so far.
struct Best {
    point: Point,
    optimality: f64,
    /// The iteration at which it was found.
    iteration: usize,
    /// The smallest objective so far.
    least: f64,
}

impl Best {
    fn new(point: &Point, optimality: f64) -> Self {
        Self { point: point.clone(), optimality, iteration: 0, least: point.objective }
    }

    /// Among points whose objectives are equal up to rounding, the one with the smaller optimality measure is better.
    fn update(&mut self, point: &Point, optimality: f64, iteration: usize) {
        let margin = rounding(self.least);
        if point.objective < self.least - margin
            || (point.objective <= self.least + margin && optimality < self.optimality)
        {
            (self.point, self.optimality, self.iteration) = (point.clone(), optimality, iteration);
        }
        self.least = self.least.min(point.objective);
    }
}

/// Barzilai-Borwein length after the step from `here` to `next`; ten times the last one if the curvature is not positive.
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
    if length.is_finite() { length.clamp(MIN_LENGTH, MAX_LENGTH) } else { last }
}

/// Checks the shape of a start and makes it row-major.
pub(super) fn checked_start(criterion: &dyn Criterion, start: Array2<f64>) -> Result<Array2<f64>> {
    let (expected, got) = (criterion.shape(), start.dim());
    if expected != got {
        return Err(Error::Shape {
            what: "start of a minimization".into(),
            expected: format!("{} x {}", expected.0, expected.1),
            got: format!("{} x {}", got.0, got.1),
        });
    }
    Ok(if start.is_standard_layout() { start } else { start.as_standard_layout().into_owned() })
}

pub(super) fn not_finite(place: &str) -> Error {
    Error::Breakdown {
        step: "minimization",
        why: format!("the criterion or its gradient is not a finite number {place}; scale the features"),
    }
}

/// Bound on the rounding error of an objective.
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
    use crate::optim::row_norm;
    use crate::random::Rng;
    use ndarray::array;

    /// $\tfrac c2 \lVert W - V \rVert^2$
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

    fn solve(criterion: &dyn Criterion, regularizer: Regularizer) -> Minimum {
        let start = Array2::zeros(criterion.shape());
        Spectral::default().minimize(criterion, regularizer, start, &Context::default()).unwrap()
    }

    #[test]
    fn the_nearest_point_is_the_prox_or_the_projection() {
        let to = array![[4.0, 0.5], [1.5, -1.5], [0.2, 0.3]];
        for weight in [1.0, 30.0, 0.1] {
            let criterion = Distance { to: to.clone(), weight };
            let penalized = solve(&criterion, Regularizer::Penalty(weight));
            // Penalty and criterion have the same weight: every row is reduced by 1.
            assert!(largest_difference(&penalized.w, &array![[3.0, 0.5], [1.0, -1.0], [0.0, 0.0]]) < 1e-5);
            assert_eq!(penalized.w.row(2), array![0.0, 0.0]);
            // The first two rows are reduced by 1, the last to zero.
            let constrained = solve(&criterion, Regularizer::Ball(4.0));
            assert!(largest_difference(&constrained.w, &penalized.w) < 1e-5, "{weight} {}", constrained.w);
            assert_eq!((constrained.value, constrained.stop), (constrained.objective, Stop::Tolerance));
            // Half the sum of squares of 1, 0.5, 0.5, 0.2 and 0.3.
            assert!((penalized.value - weight * 0.815).abs() < 1e-6 * weight, "{}", penalized.value);
            assert!((penalized.objective - penalized.value - 4.0 * weight).abs() < 1e-5 * weight);
        }
    }

    /// An ill-conditioned least-squares problem.
    struct Squares {
        a: Array2<f64>,
        b: Array2<f64>,
    }

    impl Criterion for Squares {
        fn shape(&self) -> (usize, usize) {
            (self.a.ncols(), self.b.ncols())
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            let residual = self.a.dot(w) - &self.b;
            gradient.assign(&self.a.t().dot(&residual));
            0.5 * residual.iter().map(|v| v * v).sum::<f64>()
        }
    }

    fn squares(seed: u64) -> Squares {
        let mut rng = Rng::new(seed);
        // Columns with norms from 1 to 10: curvatures differ by a factor of up to 100.
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
            let lambda_max = super::super::row_norm::dual_group_norm(&gradient, &Groups::single(12));
            for ratio in [1.1, 0.5, 0.1] {
                let lambda = ratio * lambda_max;
                let end = solve(&problem, Regularizer::Penalty(lambda));
                assert_eq!(end.stop, Stop::Tolerance, "{seed} {ratio}: {}", end.optimality);
                problem.value_and_gradient(&end.w, &mut gradient);
                // Zero rows: ||g||_1 <= lambda. Others: = lambda, and <g, w> = -lambda max |w|.
                let slack = 1e-5;
                for (g, w) in gradient.rows().into_iter().zip(end.w.rows()) {
                    let (size, height) = (
                        g.iter().map(|g| g.abs()).sum::<f64>(),
                        w.iter().fold(0.0_f64, |a, w| a.max(w.abs())),
                    );
                    assert!(size <= lambda + slack, "{seed} {ratio}: {size} {lambda}");
                    assert!((g.dot(&w) + lambda * height).abs() <= slack * height, "{seed} {ratio}");
                }
                assert_eq!(ratio > 1.0, end.w.iter().all(|&w| w == 0.0));
                // The ball of that radius has the same solution.
                let constrained = solve(&problem, Regularizer::Ball(row_norm(&end.w)));
                assert!((constrained.value - end.value).abs() < 1e-6 * end.value, "{seed} {ratio}");
            }
        }
    }

    #[test]
    fn a_path_gives_the_same_values_as_separate_fits() {
        let problem = squares(1);
        let regularizers: Vec<Regularizer> = (1..=5).map(|k| Regularizer::Ball(0.2 * f64::from(k))).collect();
        let ctx = Context::default();
        let path = Spectral::default().path(&problem, &regularizers, Array2::zeros((12, 3)), &ctx).unwrap();
        assert_eq!(path.len(), 5);
        assert!(path.windows(2).all(|w| w[1].value < w[0].value));
        for (end, regularizer) in path.iter().zip(&regularizers) {
            let separate = solve(&problem, *regularizer);
            assert!((separate.value - end.value).abs() < 1e-7 * end.value);
        }
    }

    /// A function with two local minima that is NaN far from zero.
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
    fn stop_reasons_and_errors() {
        let ctx = Context::default();
        let from =
            |x: f64| Spectral::default().minimize(&Valleys, Regularizer::Penalty(0.0), array![[x]], &ctx);
        for x in [2.9, -2.9, 0.1] {
            let end = from(x).unwrap();
            assert!(end.stop == Stop::Tolerance && end.optimality <= 1e-6, "{x}: {end:?}");
        }
        assert!(matches!(from(4.0).unwrap_err(), Error::Breakdown { .. }));
        let short = Spectral { max_iterations: 2, ..Spectral::default() };
        let end =
            short.minimize(&squares(0), Regularizer::Penalty(0.1), Array2::zeros((12, 3)), &ctx).unwrap();
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 2));
        let exact = Spectral { tolerance: 0.0, ..Spectral::default() };
        let end =
            exact.minimize(&squares(0), Regularizer::Penalty(0.1), Array2::zeros((12, 3)), &ctx).unwrap();
        assert!(end.stop == Stop::Stationary && end.optimality < 1e-9, "{end:?}");
        let error = from(f64::NAN).unwrap_err();
        assert!(error.to_string().contains("not a finite number at the start"), "{error}");
        assert!(
            Spectral::default().minimize(&Valleys, Regularizer::Ball(-1.0), array![[0.0]], &ctx).is_err()
        );
        assert!(
            Spectral::default().minimize(&Valleys, Regularizer::Ball(1.0), array![[0.0, 1.0]], &ctx).is_err()
        );
    }
}
