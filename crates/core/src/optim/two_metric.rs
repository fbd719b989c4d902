//! Two-metric projection: L-BFGS with box constraints.
//!
//! $$ \min_x f(x) \quad\text{where}\quad \mathit{lo}_i \le x_i \le \mathit{hi}_i $$
//!
//! with any smooth $f$, given as a [`Criterion`]; constraints apply to each entry of its matrix. Entries at a bound whose gradient
//! points outwards are fixed for the step. The others take the L-BFGS direction, restricted to these entries. The step is projected
//! on the box and halved until the value decreases sufficiently:
//!
//! 1. $A = \lbrace i : x_i = \mathit{lo}_i, g_i > 0 \text{ or } x_i = \mathit{hi}_i, g_i < 0 \rbrace$
//! 2. $p = -H g$ outside $A$, 0 in it; if that is not a descent direction, the memory is cleared and $p$ is proportional to $-g$
//! 3. $f(\operatorname{proj}(x + t p)) \le f(x) + 10^{-4} \langle g, \operatorname{proj}(x + t p) - x \rangle$, $t = 1, \tfrac12, \ldots$
//!
//! A pair of changes enters the memory if its curvature is positive. The optimality measure is the largest entry of
//! $x - \operatorname{proj}(x - g)$, in the units of the gradient; see [`super::Spectral`] for scaling.
//!
//! For a matrix of one column the row norm is the l1 norm. With $w = u - v$, $u, v \ge 0$ and the penalty
//! $\lambda \sum (u + v)$ this is a box-constrained problem: [`TwoMetric::minimize_l1`].
//!
//! Cost: usually one value with gradient per iteration, and $O(m)$ passes over $x$ with $m$ pairs in memory.
//!
//! Reference: Gafni and Bertsekas, *Two-metric projection methods for constrained optimization*, 1984; Schmidt, Kim and Sra,
//! *Projected Newton-type methods in machine learning*, 2011.

use super::criterion::Criterion;
use super::spectral::{Minimum, checked_start, largest, not_finite, rounding};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use ndarray::{Array2, Zip, s};
use std::collections::VecDeque;

const NAME: &str = "two-metric descent";

/// Required fraction of the decrease predicted by the slope (Armijo condition).
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// Maximum number of halvings of a step, down to rounding error.
const MAX_HALVINGS: usize = 50;
/// A pair of changes is used if the cosine of its angle exceeds this value.
const MIN_CURVATURE: f64 = 1e-10;

/// Box constraints.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Lower bounds; minus infinity if there is none.
    pub lower: Array2<f64>,
    /// Upper bounds; infinity if there is none.
    pub upper: Array2<f64>,
}

impl Bounds {
    /// The same bounds for every entry.
    pub fn uniform(shape: (usize, usize), lower: f64, upper: f64) -> Self {
        Self { lower: Array2::from_elem(shape, lower), upper: Array2::from_elem(shape, upper) }
    }

    fn check(&self, shape: (usize, usize)) -> Result<()> {
        let fits = self.lower.dim() == shape && self.upper.dim() == shape;
        if fits && self.lower.iter().zip(&self.upper).all(|(lower, upper)| lower <= upper) {
            return Ok(());
        }
        Err(Error::param(NAME, "bounds", "a lower bound at most the upper one for every entry", "others"))
    }

    fn project(&self, x: &mut Array2<f64>) {
        Zip::from(x).and(&self.lower).and(&self.upper).for_each(|x, &lower, &upper| {
            *x = x.max(lower).min(upper);
        });
    }

    /// Entries that can move: those not at a bound with the gradient pointing outwards.
    fn free(&self, x: &Array2<f64>, gradient: &Array2<f64>) -> Array2<bool> {
        let mut free = Array2::from_elem(x.dim(), true);
        Zip::from(&mut free).and(x).and(gradient).and(&self.lower).and(&self.upper).for_each(
            |free, &x, &g, &lower, &upper| *free = !(x <= lower && g > 0.0 || x >= upper && g < 0.0),
        );
        free
    }

    /// The largest entry of $x - \operatorname{proj}(x - g)$.
    fn optimality(&self, x: &Array2<f64>, gradient: &Array2<f64>) -> f64 {
        let mut worst = 0.0_f64;
        Zip::from(x).and(gradient).and(&self.lower).and(&self.upper).for_each(|&x, &g, &lower, &upper| {
            worst = worst.max((x - (x - g).max(lower).min(upper)).abs());
        });
        worst
    }
}

/// The solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoMetric {
    /// Tolerance for the optimality measure; see the module documentation.
    pub tolerance: f64,
    /// Maximum number of steps.
    pub max_iterations: usize,
    /// Number of L-BFGS pairs.
    pub memory: usize,
    /// The largest change of an entry in a steepest-descent step (the first one, and whenever the memory is empty); should be
    /// about the size of the entries of the solution.
    pub first_step: f64,
}

impl Default for TwoMetric {
    /// A tolerance of 1e-6, 1000 steps, 10 pairs, a first step of 1.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000, memory: 10, first_step: 1.0 }
    }
}

/// L-BFGS memory: changes of the point and of the gradient, oldest first.
type Pairs = VecDeque<(Array2<f64>, Array2<f64>)>;

/// A point, its gradient and its value.
type Point = (Array2<f64>, Array2<f64>, f64);

impl TwoMetric {
    /// Minimizes from `start`, which need not lie in the box. The objective is the criterion.
    pub fn minimize(
        &self,
        criterion: &dyn Criterion,
        bounds: &Bounds,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        bounds.check(criterion.shape())?;
        let mut w = checked_start(criterion, start)?;
        bounds.project(&mut w);
        let mut gradient = Array2::zeros(w.dim());
        let mut value = criterion.value_and_gradient(&w, &mut gradient);
        if !is_finite(value, &gradient) {
            return Err(not_finite("at the start"));
        }
        let (mut evaluations, mut iterations) = (1, 0);
        let mut pairs: Pairs = VecDeque::new();
        let mut optimality = bounds.optimality(&w, &gradient);
        let stop = loop {
            ctx.check()?;
            if optimality <= self.tolerance {
                break Stop::Tolerance;
            }
            if iterations == self.max_iterations {
                break Stop::MaxIterations;
            }
            let free = bounds.free(&w, &gradient);
            let direction = match quasi_newton(&gradient, &free, &pairs) {
                Some(direction) => direction,
                None => {
                    pairs.clear();
                    steepest(&gradient, &free, self.first_step)
                }
            };
            let found = search(criterion, bounds, (&w, &gradient, value), &direction, ctx, &mut evaluations)?;
            let Some((next, next_gradient, next_value)) = found else {
                // Outdated pairs can give a poor direction; try the gradient.
                if pairs.is_empty() {
                    break Stop::Stationary;
                }
                pairs.clear();
                continue;
            };
            iterations += 1;
            let (s, y) = (&next - &w, &next_gradient - &gradient);
            let curvature = inner(&s, &y);
            if curvature > MIN_CURVATURE * inner(&s, &s).sqrt() * inner(&y, &y).sqrt() {
                if pairs.len() >= self.memory.max(1) {
                    pairs.pop_front();
                }
                pairs.push_back((s, y));
            }
            (w, gradient, value) = (next, next_gradient, next_value);
            optimality = bounds.optimality(&w, &gradient);
        };
        Ok(Minimum { w, value, objective: value, optimality, iterations, evaluations, stop })
    }

    /// Minimizes the criterion plus $\lambda \sum_{jk} |w_{jk}|$ by the split $w = u - v$. Zeros are exact. The optimality measure
    /// is that of the split problem.
    pub fn minimize_l1(
        &self,
        criterion: &dyn Criterion,
        lambda: f64,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::param(NAME, "penalty", "0 or a positive number", lambda));
        }
        let start = checked_start(criterion, start)?;
        let q = start.ncols();
        let split = Split { criterion, lambda };
        let mut both = Array2::zeros((start.nrows(), 2 * q));
        both.slice_mut(s![.., ..q]).assign(&start.mapv(|w| w.max(0.0)));
        both.slice_mut(s![.., q..]).assign(&start.mapv(|w| (-w).max(0.0)));
        let bounds = Bounds::uniform(both.dim(), 0.0, f64::INFINITY);
        let end = self.minimize(&split, &bounds, both, ctx)?;
        let w = split.difference(&end.w);
        let value = criterion.value(&w);
        let objective = value + lambda * w.iter().map(|w| w.abs()).sum::<f64>();
        Ok(Minimum { w, value, objective, evaluations: end.evaluations + 1, ..end })
    }
}

/// The penalized criterion of $u - v$; the columns of $u$ come before those of $v$.
struct Split<'a> {
    criterion: &'a dyn Criterion,
    lambda: f64,
}

impl Split<'_> {
    fn difference(&self, both: &Array2<f64>) -> Array2<f64> {
        let q = both.ncols() / 2;
        &both.slice(s![.., ..q]) - &both.slice(s![.., q..])
    }
}

impl Criterion for Split<'_> {
    fn shape(&self) -> (usize, usize) {
        let (d, q) = self.criterion.shape();
        (d, 2 * q)
    }

    fn value_and_gradient(&self, both: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let w = self.difference(both);
        let q = w.ncols();
        let mut inner = Array2::zeros(w.dim());
        let value = self.criterion.value_and_gradient(&w, &mut inner);
        gradient.slice_mut(s![.., ..q]).assign(&(&inner + self.lambda));
        gradient.slice_mut(s![.., q..]).assign(&(self.lambda - &inner));
        value + self.lambda * both.sum()
    }
}

fn is_finite(value: f64, gradient: &Array2<f64>) -> bool {
    value.is_finite() && gradient.iter().all(|g| g.is_finite())
}

fn inner(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn inner_free(a: &Array2<f64>, b: &Array2<f64>, free: &Array2<bool>) -> f64 {
    Zip::from(a).and(b).and(free).fold(0.0, |sum, a, b, &free| if free { sum + a * b } else { sum })
}

fn add_free(to: &mut Array2<f64>, factor: f64, from: &Array2<f64>, free: &Array2<bool>) {
    Zip::from(to).and(from).and(free).for_each(|to, from, &free| {
        if free {
            *to += factor * from;
        }
    });
}

/// Steepest descent of the free entries, scaled so that the largest change is `step`.
fn steepest(gradient: &Array2<f64>, free: &Array2<bool>, step: f64) -> Array2<f64> {
    let mut direction = Array2::zeros(gradient.dim());
    add_free(&mut direction, -1.0, gradient, free);
    let size = largest(&direction);
    if size > 0.0 { direction * (step / size) } else { direction }
}

/// $-H g$ on the free entries by the L-BFGS two-loop recursion; `None` if there are no pairs or it is no descent direction.
fn quasi_newton(gradient: &Array2<f64>, free: &Array2<bool>, pairs: &Pairs) -> Option<Array2<f64>> {
    // Pairs restricted to the free entries, if their curvature is positive there.
    let usable: Vec<(&Array2<f64>, &Array2<f64>, f64)> = pairs
        .iter()
        .map(|(s, y)| (s, y, inner_free(s, y, free)))
        .filter(|(s, y, curvature)| {
            let sizes = inner_free(s, s, free) * inner_free(y, y, free);
            *curvature > MIN_CURVATURE * sizes.sqrt()
        })
        .collect();
    let (_, y, curvature) = usable.last()?;
    let mut direction = Array2::zeros(gradient.dim());
    add_free(&mut direction, -1.0, gradient, free);
    let mut alphas = vec![0.0; usable.len()];
    for (alpha, (s, y, curvature)) in alphas.iter_mut().zip(&usable).rev() {
        *alpha = inner_free(s, &direction, free) / curvature;
        add_free(&mut direction, -*alpha, y, free);
    }
    direction *= curvature / inner_free(y, y, free);
    for (alpha, (s, y, curvature)) in alphas.iter().zip(&usable) {
        let beta = inner_free(y, &direction, free) / curvature;
        add_free(&mut direction, alpha - beta, s, free);
    }
    let slope = inner(&direction, gradient);
    let steepest = inner_free(gradient, gradient, free);
    (slope < -1e-10 * steepest && direction.iter().all(|p| p.is_finite())).then_some(direction)
}

/// Backtracking line search along the projected direction; `None` if no step decreases the value sufficiently.
fn search(
    criterion: &dyn Criterion,
    bounds: &Bounds,
    (w, gradient, value): (&Array2<f64>, &Array2<f64>, f64),
    direction: &Array2<f64>,
    ctx: &Context,
    evaluations: &mut usize,
) -> Result<Option<Point>> {
    let mut length = 1.0;
    let mut next_gradient = Array2::zeros(w.dim());
    for _ in 0..MAX_HALVINGS {
        ctx.check()?;
        let mut next = w + &(direction * length);
        bounds.project(&mut next);
        let slope = inner(gradient, &(&next - w));
        if next == *w {
            break;
        }
        let next_value = criterion.value_and_gradient(&next, &mut next_gradient);
        *evaluations += 1;
        // Also accept a step whose predicted decrease is below the rounding error of the value.
        let decreases = next_value <= value + SUFFICIENT_DECREASE * slope
            || (slope < 0.0 && -slope <= rounding(value) && next_value <= value);
        if is_finite(next_value, &next_gradient) && decreases {
            return Ok(Some((next, next_gradient, next_value)));
        }
        length *= 0.5;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{Regularizer, Spectral};
    use crate::random::Rng;
    use ndarray::array;

    /// $\sum_i c_i (x_i - t_i)^2 / 2$
    struct Quadratic {
        weight: Array2<f64>,
        to: Array2<f64>,
    }

    impl Criterion for Quadratic {
        fn shape(&self) -> (usize, usize) {
            self.to.dim()
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            gradient.assign(&(&self.weight * &(w - &self.to)));
            0.5 * (&self.weight * &(w - &self.to).mapv(|v| v * v)).sum()
        }
    }

    #[test]
    fn a_separable_quadratic_is_minimized_at_the_projected_center() {
        let quadratic = Quadratic {
            weight: array![[1.0, 100.0], [1e-2, 7.0], [3.0, 0.5]],
            to: array![[2.0, -3.0], [0.5, 0.25], [-1.0, 10.0]],
        };
        let bounds = Bounds::uniform((3, 2), 0.0, 1.0);
        let solver = TwoMetric { tolerance: 1e-9, ..TwoMetric::default() };
        let end = solver
            .minimize(&quadratic, &bounds, Array2::from_elem((3, 2), 0.7), &Context::default())
            .unwrap();
        assert_eq!(end.stop, Stop::Tolerance);
        // The smallest curvature is 0.01: the error of that entry is a hundred times its gradient.
        let expected = array![[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]];
        assert!((&end.w - &expected).iter().all(|e| e.abs() < 1e-6), "{}", end.w);
        assert_eq!((end.w[[0, 0]], end.w[[0, 1]]), (1.0, 0.0), "bounds are met exactly");
    }

    #[test]
    fn a_first_step_of_the_right_size_needs_no_halving() {
        // The solution is about 1e-6: a first step of one is halved about twenty times.
        let quadratic = Quadratic { weight: array![[1.0], [3.0], [2.0]], to: array![[1e-6], [3e-6], [0.0]] };
        let bounds = Bounds::uniform((3, 1), 0.0, f64::INFINITY);
        let evaluations = |first_step: f64| {
            let solver = TwoMetric { tolerance: 1e-9, first_step, ..TwoMetric::default() };
            let end = solver
                .minimize(&quadratic, &bounds, Array2::from_elem((3, 1), 2e-6), &Context::default())
                .unwrap();
            // Curvatures are at least 1: errors are at most those of the gradient.
            assert!((&end.w - &quadratic.to).iter().all(|e| e.abs() < 1e-9), "{}", end.w);
            end.evaluations
        };
        let (large, right) = (evaluations(1.0), evaluations(1e-6));
        assert!(right + 15 <= large, "{right}, {large}");
    }

    /// $100 (y - x^2)^2 + (1 - x)^2$
    struct Rosenbrock;

    impl Criterion for Rosenbrock {
        fn shape(&self) -> (usize, usize) {
            (2, 1)
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            let (x, y) = (w[[0, 0]], w[[1, 0]]);
            let bend = y - x * x;
            gradient[[0, 0]] = -400.0 * x * bend - 2.0 * (1.0 - x);
            gradient[[1, 0]] = 200.0 * bend;
            100.0 * bend * bend + (1.0 - x).powi(2)
        }
    }

    #[test]
    fn the_rosenbrock_function_with_and_without_a_bound() {
        let ctx = Context::default();
        let solve = |bounds: Bounds| {
            TwoMetric::default().minimize(&Rosenbrock, &bounds, array![[-1.2], [1.0]], &ctx).unwrap()
        };
        let open = solve(Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY));
        assert!((&open.w - 1.0).iter().all(|e| e.abs() < 1e-5), "{}", open.w);
        assert!(open.iterations < 100, "{}", open.iterations);
        // With x <= 0.5 the solution has y = x^2.
        let mut bounded = Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY);
        bounded.upper[[0, 0]] = 0.5;
        let end = solve(bounded);
        assert!(end.w[[0, 0]] == 0.5 && (end.w[[1, 0]] - 0.25).abs() < 1e-7, "{}", end.w);
    }

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
            gradient.assign(&(self.a.t().dot(&residual) / self.a.nrows() as f64));
            0.5 * inner(&residual, &residual) / self.a.nrows() as f64
        }
    }

    #[test]
    fn l1_agrees_with_the_spectral_solver() {
        let ctx = Context::default();
        for seed in 0..5 {
            let mut rng = Rng::new(seed);
            let a = Array2::from_shape_simple_fn((40, 15), || rng.normal());
            let b = Array2::from_shape_fn((40, 1), |(i, _)| a[[i, 3]] - 2.0 * a[[i, 7]] + 0.1 * rng.normal());
            let problem = Squares { a, b };
            for lambda in [0.0, 0.05, 0.5, 10.0] {
                let zero = Array2::zeros((15, 1));
                let split = TwoMetric { tolerance: 1e-9, ..TwoMetric::default() }
                    .minimize_l1(&problem, lambda, zero.clone(), &ctx)
                    .unwrap();
                let spectral = Spectral { tolerance: 1e-9, ..Spectral::default() }
                    .minimize(&problem, Regularizer::Penalty(lambda), zero, &ctx)
                    .unwrap();
                assert_eq!(split.stop, Stop::Tolerance);
                // Both gradients are accurate to 1e-9 and curvatures are above 0.1.
                assert!((&split.w - &spectral.w).iter().all(|e| e.abs() < 1e-7), "{seed} {lambda}");
                assert!((split.objective - spectral.objective).abs() < 1e-12, "{seed} {lambda}");
                let zeros = |w: &Array2<f64>| w.iter().map(|&w| w == 0.0).collect::<Vec<_>>();
                assert_eq!(zeros(&split.w), zeros(&spectral.w), "{seed} {lambda}");
            }
        }
    }

    #[test]
    fn invalid_input_is_an_error() {
        let ctx = Context::default();
        let solver = TwoMetric::default();
        let start = array![[0.0], [0.0]];
        let crossed = Bounds::uniform((2, 1), 1.0, 0.0);
        assert!(solver.minimize(&Rosenbrock, &crossed, start.clone(), &ctx).is_err());
        assert!(
            solver.minimize(&Rosenbrock, &Bounds::uniform((1, 1), 0.0, 1.0), start.clone(), &ctx).is_err()
        );
        let open = Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY);
        let error = solver.minimize(&Rosenbrock, &open, array![[1e200], [0.0]], &ctx).unwrap_err();
        assert!(matches!(error, Error::Breakdown { .. }), "{error}");
        assert!(solver.minimize_l1(&Rosenbrock, f64::NAN, start.clone(), &ctx).is_err());
        let short = TwoMetric { max_iterations: 1, ..solver };
        let end = short.minimize(&Rosenbrock, &open, array![[-1.2], [1.0]], &ctx).unwrap();
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 1));
    }
}
