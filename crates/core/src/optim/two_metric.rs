//! Quasi-Newton descent in a box: two-metric projection with limited memory.
//!
//! $$ \min_x f(x) \quad\text{where}\quad \mathit{lo}_i \le x_i \le \mathit{hi}_i $$
//!
//! with any smooth $f$ that comes as a [`Criterion`], whose matrix is taken entry by entry. Entries that sit at a bound
//! with the gradient pushing outwards stay there for the step. The others take the L-BFGS direction made of the last pairs of
//! changes, restricted to these entries, and the step is cut back to the box and halved until the value falls enough:
//!
//! 1. $A = \lbrace i : x_i = \mathit{lo}_i, g_i > 0 \text{ or } x_i = \mathit{hi}_i, g_i < 0 \rbrace$
//! 2. $p = -H g$ outside $A$, 0 in it; if that does not lead downhill the pairs are forgotten and $p$ is along $-g$
//! 3. $f(\operatorname{proj}(x + t p)) \le f(x) + 10^{-4} \langle g, \operatorname{proj}(x + t p) - x \rangle$, $t = 1, \tfrac12, \ldots$
//!
//! A pair is kept if it shows positive curvature. The measure of optimality is the largest entry of
//! $x - \operatorname{proj}(x - g)$, in the units of the gradient; see [`super::Spectral`] for what that means for the scale.
//!
//! The row norm of more than one column ties entries to one another, which is no box. Of one column it is the sum of
//! sizes, and $w = u - v$ with $u, v \ge 0$ and the penalty $\lambda \sum (u + v)$ is a box: [`TwoMetric::minimise_l1`].
//!
//! Cost: one value with gradient an iteration as a rule, and $O(m)$ passes over $x$ with $m$ pairs kept.
//!
//! Reference: Gafni and Bertsekas, *Two-metric projection methods for constrained optimization*, 1984; Schmidt, Kim and Sra,
//! *Projected Newton-type methods in machine learning*, 2011.

use super::criterion::Criterion;
use super::spectral::{Minimum, broken, largest, need_shape, rounding};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use ndarray::{Array2, Zip, s};
use std::collections::VecDeque;

const NAME: &str = "two-metric descent";

/// The share of the decrease promised by the slope that a step must bring.
const SHARE: f64 = 1e-4;
/// Halvings of a step, down to rounding.
const HALVINGS: usize = 50;

/// Where entries may lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Lower bounds; minus infinity where there is none.
    pub lower: Array2<f64>,
    /// Upper bounds; infinity where there is none.
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

    /// Puts entries outside on the nearest bound.
    fn pull(&self, x: &mut Array2<f64>) {
        Zip::from(x).and(&self.lower).and(&self.upper).for_each(|x, &lower, &upper| {
            *x = x.max(lower).min(upper);
        });
    }

    /// Whether an entry may move: not at a bound with the gradient pushing outwards.
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

/// The solver and when it stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoMetric {
    /// The largest optimality measure that counts as solved; see the module's text.
    pub tolerance: f64,
    /// Most steps.
    pub max_iterations: usize,
    /// Pairs of changes that are kept.
    pub memory: usize,
    /// How far the first step, and any other that has no pairs to go by, may take an entry: about the size that entries have
    /// in the end.
    pub first_step: f64,
}

impl Default for TwoMetric {
    /// A tolerance of 1e-6, 1000 steps, 10 pairs, a first step of 1.
    fn default() -> Self {
        Self { tolerance: 1e-6, max_iterations: 1000, memory: 10, first_step: 1.0 }
    }
}

/// Changes of the point and of the gradient, oldest first.
type Pairs = VecDeque<(Array2<f64>, Array2<f64>)>;

/// A point, its gradient and its value.
type Point = (Array2<f64>, Array2<f64>, f64);

impl TwoMetric {
    /// Minimises from `start`, which need not lie in the box. The objective is the criterion.
    pub fn minimise(
        &self,
        criterion: &dyn Criterion,
        bounds: &Bounds,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        bounds.check(criterion.shape())?;
        let mut w = need_shape(criterion, start)?;
        bounds.pull(&mut w);
        let mut gradient = Array2::zeros(w.dim());
        let mut value = criterion.value_and_gradient(&w, &mut gradient);
        if !is_finite(value, &gradient) {
            return Err(broken("at the start"));
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
                // The direction of old pairs may have been a bad one; the plain gradient is not.
                if pairs.is_empty() {
                    break Stop::Stationary;
                }
                pairs.clear();
                continue;
            };
            iterations += 1;
            let (moved, turned) = (&next - &w, &next_gradient - &gradient);
            let curvature = inner(&moved, &turned);
            if curvature > 1e-10 * inner(&moved, &moved).sqrt() * inner(&turned, &turned).sqrt() {
                if pairs.len() >= self.memory.max(1) {
                    pairs.pop_front();
                }
                pairs.push_back((moved, turned));
            }
            (w, gradient, value) = (next, next_gradient, next_value);
            optimality = bounds.optimality(&w, &gradient);
        };
        Ok(Minimum { w, value, objective: value, optimality, iterations, evaluations, stop })
    }

    /// Minimises the criterion plus $\lambda \sum_{jk} |w_{jk}|$, which for a matrix of one column is the penalty of the
    /// row norm, by $w = u - v$. Zeros are exact. The optimality is that of the split problem.
    pub fn minimise_l1(
        &self,
        criterion: &dyn Criterion,
        lambda: f64,
        start: Array2<f64>,
        ctx: &Context,
    ) -> Result<Minimum> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::param(NAME, "penalty", "0 or a positive number", lambda));
        }
        let start = need_shape(criterion, start)?;
        let q = start.ncols();
        let split = Split { criterion, lambda };
        let mut both = Array2::zeros((start.nrows(), 2 * q));
        both.slice_mut(s![.., ..q]).assign(&start.mapv(|w| w.max(0.0)));
        both.slice_mut(s![.., q..]).assign(&start.mapv(|w| (-w).max(0.0)));
        let bounds = Bounds::uniform(both.dim(), 0.0, f64::INFINITY);
        let end = self.minimise(&split, &bounds, both, ctx)?;
        let w = split.joined(&end.w);
        let value = criterion.value(&w);
        let objective = value + lambda * w.iter().map(|w| w.abs()).sum::<f64>();
        Ok(Minimum { w, value, objective, evaluations: end.evaluations + 1, ..end })
    }
}

/// A criterion of $u - v$ with the penalty on both; $u$ and $v$ side by side.
struct Split<'a> {
    criterion: &'a dyn Criterion,
    lambda: f64,
}

impl Split<'_> {
    fn joined(&self, both: &Array2<f64>) -> Array2<f64> {
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
        let w = self.joined(both);
        let q = w.ncols();
        let mut inside = Array2::zeros(w.dim());
        let value = self.criterion.value_and_gradient(&w, &mut inside);
        gradient.slice_mut(s![.., ..q]).assign(&(&inside + self.lambda));
        gradient.slice_mut(s![.., q..]).assign(&(self.lambda - &inside));
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

/// Down the gradient where entries are free, the largest by `step`.
fn steepest(gradient: &Array2<f64>, free: &Array2<bool>, step: f64) -> Array2<f64> {
    let mut direction = Array2::zeros(gradient.dim());
    add_free(&mut direction, -1.0, gradient, free);
    let size = largest(&direction);
    if size > 0.0 { direction * (step / size) } else { direction }
}

/// $-H g$ on the free entries by the two loops; nothing where there are no pairs or it does not lead downhill.
fn quasi_newton(gradient: &Array2<f64>, free: &Array2<bool>, pairs: &Pairs) -> Option<Array2<f64>> {
    // Pairs as the free entries see them, where these see positive curvature.
    let seen: Vec<(&Array2<f64>, &Array2<f64>, f64)> = pairs
        .iter()
        .map(|(moved, turned)| (moved, turned, inner_free(moved, turned, free)))
        .filter(|(moved, turned, curvature)| {
            let sizes = inner_free(moved, moved, free) * inner_free(turned, turned, free);
            *curvature > 1e-10 * sizes.sqrt()
        })
        .collect();
    let (_, turned, curvature) = seen.last()?;
    let mut direction = Array2::zeros(gradient.dim());
    add_free(&mut direction, -1.0, gradient, free);
    let mut shares = vec![0.0; seen.len()];
    for (share, (moved, turned, curvature)) in shares.iter_mut().zip(&seen).rev() {
        *share = inner_free(moved, &direction, free) / curvature;
        add_free(&mut direction, -*share, turned, free);
    }
    direction *= curvature / inner_free(turned, turned, free);
    for (share, (moved, turned, curvature)) in shares.iter().zip(&seen) {
        let back = inner_free(turned, &direction, free) / curvature;
        add_free(&mut direction, share - back, moved, free);
    }
    let downhill = inner(&direction, gradient);
    let steep = inner_free(gradient, gradient, free);
    (downhill < -1e-10 * steep && direction.iter().all(|p| p.is_finite())).then_some(direction)
}

/// The first halving of the step that brings the value down enough, with gradient and value.
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
    for _ in 0..HALVINGS {
        ctx.check()?;
        let mut next = w + &(direction * length);
        bounds.pull(&mut next);
        let slope = inner(gradient, &(&next - w));
        if next == *w {
            break;
        }
        let next_value = criterion.value_and_gradient(&next, &mut next_gradient);
        *evaluations += 1;
        let promised = SHARE * slope;
        // A decrease that rounding hides still counts if the slope says so.
        let falls = next_value <= value + promised
            || (slope < 0.0 && -slope <= rounding(value) && next_value <= value);
        if is_finite(next_value, &next_gradient) && falls {
            return Ok(Some((next, next_gradient, next_value)));
        }
        length *= 0.5;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{Hold, Spectral};
    use crate::random::Rng;
    use ndarray::array;

    /// $\sum_i c_i (x_i - t_i)^2 / 2$
    struct Bowl {
        weight: Array2<f64>,
        to: Array2<f64>,
    }

    impl Criterion for Bowl {
        fn shape(&self) -> (usize, usize) {
            self.to.dim()
        }

        fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
            gradient.assign(&(&self.weight * &(w - &self.to)));
            0.5 * (&self.weight * &(w - &self.to).mapv(|v| v * v)).sum()
        }
    }

    #[test]
    fn a_bowl_in_a_box_ends_at_the_clipped_middle() {
        let bowl = Bowl {
            weight: array![[1.0, 100.0], [1e-2, 7.0], [3.0, 0.5]],
            to: array![[2.0, -3.0], [0.5, 0.25], [-1.0, 10.0]],
        };
        let bounds = Bounds::uniform((3, 2), 0.0, 1.0);
        let solver = TwoMetric { tolerance: 1e-9, ..TwoMetric::default() };
        let end =
            solver.minimise(&bowl, &bounds, Array2::from_elem((3, 2), 0.7), &Context::default()).unwrap();
        assert_eq!(end.stop, Stop::Tolerance);
        // The flattest entry has curvature 0.01: its error is a hundred times its gradient's.
        let expected = array![[1.0, 0.0], [0.5, 0.25], [0.0, 1.0]];
        assert!((&end.w - &expected).iter().all(|e| e.abs() < 1e-6), "{}", end.w);
        assert_eq!((end.w[[0, 0]], end.w[[0, 1]]), (1.0, 0.0), "bounds are met exactly");
    }

    #[test]
    fn a_first_step_of_the_right_size_needs_no_halving() {
        // Entries of a millionth: a first step of one is halved about twenty times.
        let bowl = Bowl { weight: array![[1.0], [3.0], [2.0]], to: array![[1e-6], [3e-6], [0.0]] };
        let bounds = Bounds::uniform((3, 1), 0.0, f64::INFINITY);
        let evaluations = |first_step: f64| {
            let solver = TwoMetric { tolerance: 1e-9, first_step, ..TwoMetric::default() };
            let end = solver
                .minimise(&bowl, &bounds, Array2::from_elem((3, 1), 2e-6), &Context::default())
                .unwrap();
            // Curvatures of 1 and more: errors are at most those of the gradient.
            assert!((&end.w - &bowl.to).iter().all(|e| e.abs() < 1e-9), "{}", end.w);
            end.evaluations
        };
        let (large, right) = (evaluations(1.0), evaluations(1e-6));
        assert!(right + 15 <= large, "{right} beside {large}");
    }

    /// Rosenbrock's valley: $100 (y - x^2)^2 + (1 - x)^2$.
    struct Valley;

    impl Criterion for Valley {
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
    fn a_bent_valley_with_and_without_a_wall() {
        let ctx = Context::default();
        let solve = |bounds: Bounds| {
            TwoMetric::default().minimise(&Valley, &bounds, array![[-1.2], [1.0]], &ctx).unwrap()
        };
        let open = solve(Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY));
        assert!((&open.w - 1.0).iter().all(|e| e.abs() < 1e-5), "{}", open.w);
        assert!(open.iterations < 100, "{}", open.iterations);
        // A wall at x = 0.5: there y = x^2.
        let mut walled = Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY);
        walled.upper[[0, 0]] = 0.5;
        let end = solve(walled);
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
            let rest = self.a.dot(w) - &self.b;
            gradient.assign(&(self.a.t().dot(&rest) / self.a.nrows() as f64));
            0.5 * inner(&rest, &rest) / self.a.nrows() as f64
        }
    }

    #[test]
    fn one_column_split_is_the_penalised_problem() {
        let ctx = Context::default();
        for seed in 0..5 {
            let mut rng = Rng::new(seed);
            let a = Array2::from_shape_simple_fn((40, 15), || rng.normal());
            let b = Array2::from_shape_fn((40, 1), |(i, _)| a[[i, 3]] - 2.0 * a[[i, 7]] + 0.1 * rng.normal());
            let problem = Squares { a, b };
            for lambda in [0.0, 0.05, 0.5, 10.0] {
                let zero = Array2::zeros((15, 1));
                let split = TwoMetric { tolerance: 1e-9, ..TwoMetric::default() }
                    .minimise_l1(&problem, lambda, zero.clone(), &ctx)
                    .unwrap();
                let spectral = Spectral { tolerance: 1e-9, ..Spectral::default() }
                    .minimise(&problem, Hold::Penalty(lambda), zero, &ctx)
                    .unwrap();
                assert_eq!(split.stop, Stop::Tolerance);
                // Both gradients are right to 1e-9 and curvatures are above 0.1.
                assert!((&split.w - &spectral.w).iter().all(|e| e.abs() < 1e-7), "{seed} {lambda}");
                assert!((split.objective - spectral.objective).abs() < 1e-12, "{seed} {lambda}");
                let zeros = |w: &Array2<f64>| w.iter().map(|&w| w == 0.0).collect::<Vec<_>>();
                assert_eq!(zeros(&split.w), zeros(&spectral.w), "{seed} {lambda}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let ctx = Context::default();
        let solver = TwoMetric::default();
        let start = array![[0.0], [0.0]];
        let crossed = Bounds::uniform((2, 1), 1.0, 0.0);
        assert!(solver.minimise(&Valley, &crossed, start.clone(), &ctx).is_err());
        assert!(solver.minimise(&Valley, &Bounds::uniform((1, 1), 0.0, 1.0), start.clone(), &ctx).is_err());
        let open = Bounds::uniform((2, 1), f64::NEG_INFINITY, f64::INFINITY);
        let error = solver.minimise(&Valley, &open, array![[1e200], [0.0]], &ctx).unwrap_err();
        assert!(matches!(error, Error::Breakdown { .. }), "{error}");
        assert!(solver.minimise_l1(&Valley, f64::NAN, start.clone(), &ctx).is_err());
        let short = TwoMetric { max_iterations: 1, ..solver };
        let end = short.minimise(&Valley, &open, array![[-1.2], [1.0]], &ctx).unwrap();
        assert_eq!((end.stop, end.iterations), (Stop::MaxIterations, 1));
    }
}
