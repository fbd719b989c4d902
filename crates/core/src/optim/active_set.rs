//! Active-set method that refines an approximate SMO solution.
//!
//! Near the optimum of the program of [`super::Smo`], the set of coefficients at a bound rarely changes. The free coefficients $F$,
//! strictly between their bounds, then satisfy $K_{FF} \beta_F + b = y_F - K_{FB} \beta_B$ with $\sum_i \beta_i = 0$. SMO converges
//! slowly to this solution if the matrix is ill-conditioned; here it is computed by Cholesky factorization. If a coefficient would
//! leave its bounds, the step ends there and the coefficient is fixed at the bound. A coefficient at a bound that violates the
//! optimality conditions is freed. Every step decreases the objective, so the result is at least a better start for
//! [`super::Smo`], which then checks optimality.
//!
//! As the coefficients sum to zero, a constant can be added to all of $K$. This keeps $K_{FF}$ regular for a linear kernel, which
//! can have one more free coefficient than features.
//!
//! Cost: $O(|F|^2 + n |F|)$ per step, and $O(|F|^3)$ once: the factor is updated when $F$ changes. Reference: Nocedal and
//! Wright, *Numerical optimization*, chapter 16, 2006.

use super::columns::BlockColumns;
use super::pair_problem::PairProblem;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::GrowingFactor;
use crate::simd::{add_scaled, largest_violation};
use ndarray::Array2;

/// Maximum number of free coefficients; with more, SMO solves the problem alone.
const MAX_FREE: usize = 1024;

/// Ridge added to the diagonal, relative to its mean.
const RIDGE: f64 = 1e-10;

/// Maximum number of refinement steps with the same free coefficients.
const MAX_REFINEMENTS: usize = 10;

/// Access to entries of $K$.
pub trait Products {
    /// The submatrix of `rows`.
    fn block(&self, rows: &[usize]) -> Array2<f64>;
    /// The entries of row `row` in the columns `columns`.
    fn entries(&self, row: usize, columns: &[usize]) -> Vec<f64>;
    /// The diagonal entry of a row.
    fn diagonal_entry(&self, row: usize) -> f64;
    /// `residual -= K[.., rows] weights`
    fn subtract_from(&self, residual: &mut [f64], rows: &[usize], weights: &[f64]);
}

impl Products for BlockColumns<'_> {
    fn block(&self, rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((rows.len(), rows.len()), |(a, b)| self.column(rows[a])[rows[b]])
    }

    fn entries(&self, row: usize, columns: &[usize]) -> Vec<f64> {
        let column = self.column(row);
        columns.iter().map(|&i| column[i]).collect()
    }

    fn diagonal_entry(&self, row: usize) -> f64 {
        self.column(row)[row]
    }

    fn subtract_from(&self, residual: &mut [f64], rows: &[usize], weights: &[f64]) {
        rows.iter().zip(weights).for_each(|(&i, w)| add_scaled(residual, -w, self.column(i)));
    }
}

/// Improves feasible coefficients with a known residual $y - K \beta$. `tolerance` is that of [`super::Smo`].
pub fn polish(
    problem: &PairProblem,
    products: &impl Products,
    (coefficients, residual): (&[f64], &[f64]),
    tolerance: f64,
    max_steps: usize,
    ctx: &Context,
) -> Result<Vec<f64>> {
    problem.check(coefficients.len())?;
    let mut state = State::new(problem, products, coefficients, residual);
    for _ in 0..max_steps {
        ctx.check()?;
        if !state.step(tolerance) {
            break;
        }
    }
    // SMO requires a sum of zero; discard the result if rounding has violated it.
    let (sum, size) = state.beta.iter().fold((0.0, 0.0), |(s, z), b| (s + b, z + f64::abs(*b)));
    Ok(if f64::abs(sum) <= 1e-12 * size { state.beta } else { coefficients.to_vec() })
}

struct State<'a, P> {
    products: &'a P,
    beta: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// $y - K \beta$
    residual: Vec<f64>,
    free: Vec<usize>,
    /// Feasible direction of a coefficient at a bound: 1 (increase) or -1 (decrease); 0 if it is free or fixed.
    direction: Vec<f64>,
    /// The equations of the free coefficients, in their order.
    equations: Option<Equations>,
    /// Consecutive steps with the same free coefficients.
    refinements: usize,
}

/// $K_{FF}$ with a constant added, factored.
struct Equations {
    factor: GrowingFactor,
    constant: f64,
    ridge: f64,
}

impl Equations {
    fn new(products: &impl Products, free: &[usize]) -> Option<Self> {
        let mut matrix = products.block(free);
        // Of the same magnitude as the matrix, which limits cancellation.
        let constant = matrix.diag().sum() / free.len() as f64;
        // The ridge is as small as rounding error: in a direction without curvature the step is so long that it reaches a
        // bound, which is correct, because the objective decreases all the way.
        let ridge = 2.0 * RIDGE * constant;
        matrix += constant;
        matrix.diag_mut().map_inplace(|v| *v += ridge);
        Some(Self { factor: GrowingFactor::of(matrix.view())?, constant, ridge })
    }

    /// Adds a row. Returns false if the equations would become singular.
    fn push(&mut self, products: &impl Products, row: usize, free: &[usize]) -> bool {
        let mut entries = products.entries(row, free);
        entries.iter_mut().for_each(|v| *v += self.constant);
        let diagonal = products.diagonal_entry(row) + self.constant + self.ridge;
        self.factor.push(entries, diagonal, 0.5 * self.ridge)
    }

    /// Solves `K change + bias = residual` with a change that sums to zero.
    fn solve(&self, residual: Vec<f64>) -> Option<(Vec<f64>, f64)> {
        let (mut change, mut ones) = (residual, vec![1.0; self.factor.size()]);
        self.factor.solve(&mut change);
        self.factor.solve(&mut ones);
        let bias = change.iter().sum::<f64>() / ones.iter().sum::<f64>();
        add_scaled(&mut change, -bias, &ones);
        // Correct the rounding error of the sum in the largest change.
        let excess: f64 = change.iter().sum();
        let largest =
            (0..change.len()).fold(0, |best, a| if change[a].abs() > change[best].abs() { a } else { best });
        change[largest] -= excess;
        change.iter().all(|c| c.is_finite()).then_some((change, bias))
    }
}

impl<'a, P: Products> State<'a, P> {
    fn new(problem: &PairProblem, products: &'a P, coefficients: &[f64], residual: &[f64]) -> Self {
        let (lower, upper) = problem.limits();
        let (beta, residual) = (coefficients.to_vec(), residual.to_vec());
        let limits = || lower.iter().zip(&upper).zip(&beta);
        let indicator = |yes: bool| f64::from(u8::from(yes));
        let direction = limits()
            .map(|((lower, upper), beta)| indicator(beta < upper) - indicator(beta > lower))
            .collect();
        let free = (limits().enumerate())
            .filter(|(_, ((lower, upper), beta))| beta > lower && beta < upper)
            .map(|(i, _)| i)
            .collect();
        Self { products, beta, lower, upper, residual, free, direction, equations: None, refinements: 0 }
    }

    /// One step. Returns whether another one may improve the solution.
    fn step(&mut self, tolerance: f64) -> bool {
        if self.free.len() < 2 {
            return self.free_violating_pair(tolerance);
        }
        let Some((change, bias)) = self.solve_free() else { return false };
        // The step length until the first coefficient reaches a bound.
        let mut length = 1.0;
        let mut blocking = None;
        for (at, &i) in self.free.iter().enumerate() {
            let limit = if change[at] > 0.0 { self.upper[i] } else { self.lower[i] } - self.beta[i];
            if change[at] != 0.0 && limit / change[at] < length {
                length = limit / change[at];
                blocking = Some(at);
            }
        }
        let moved: Vec<f64> = change.iter().map(|c| length * c).collect();
        for (at, &i) in self.free.iter().enumerate() {
            // If several reach their bounds at once, rounding can move one beyond.
            self.beta[i] = (self.beta[i] + moved[at]).clamp(self.lower[i], self.upper[i]);
        }
        self.products.subtract_from(&mut self.residual, &self.free, &moved);
        if let Some(at) = blocking {
            let i = self.free.remove(at);
            (self.beta[i], self.direction[i]) =
                if change[at] > 0.0 { (self.upper[i], -1.0) } else { (self.lower[i], 1.0) };
            self.equations.iter_mut().for_each(|e| e.factor.remove(at));
            self.refinements = 0;
            return true;
        }
        if self.free_violator(bias, tolerance) {
            self.refinements = 0;
            return true;
        }
        // With very different scales the ridge, or rounding in a factor after many updates, leaves a residual of the equations;
        // each step with a new factor reduces it.
        self.refinements += 1;
        if self.refinements == 1 {
            self.equations = None;
        }
        self.refinements < MAX_REFINEMENTS && !self.is_solved(bias, tolerance)
    }

    fn is_solved(&self, bias: f64, tolerance: f64) -> bool {
        self.free.iter().all(|&i| f64::abs(self.residual[i] - bias) <= 0.25 * tolerance)
    }

    /// Frees the coefficient at a bound that most violates the optimality conditions, if any.
    fn free_violator(&mut self, bias: f64, tolerance: f64) -> bool {
        let (violation, i) = largest_violation(&self.residual, &self.direction, bias);
        if violation > 0.25 * tolerance {
            self.free(i);
            return true;
        }
        false
    }

    /// Frees the pair that most violates the optimality conditions, if any: the equations need two free coefficients.
    fn free_violating_pair(&mut self, tolerance: f64) -> bool {
        let (mut highest, mut lowest) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
        for i in 0..self.beta.len() {
            if self.beta[i] < self.upper[i] && self.residual[i] > highest.0 {
                highest = (self.residual[i], i);
            }
            if self.beta[i] > self.lower[i] && self.residual[i] < lowest.0 {
                lowest = (self.residual[i], i);
            }
        }
        let violation = highest.0 - lowest.0;
        if violation.is_nan() || violation <= 0.5 * tolerance {
            return false;
        }
        for i in [highest.1, lowest.1] {
            if !self.free.contains(&i) {
                self.free(i);
            }
        }
        true
    }

    fn free(&mut self, i: usize) {
        let fits = self.equations.as_mut().is_some_and(|e| e.push(self.products, i, &self.free));
        if !fits {
            self.equations = None;
        }
        self.free.push(i);
        self.direction[i] = 0.0;
    }

    /// The change of the free coefficients that solves their equations, and the intercept.
    fn solve_free(&mut self) -> Option<(Vec<f64>, f64)> {
        if !(2..=MAX_FREE).contains(&self.free.len()) {
            return None;
        }
        if self.equations.is_none() {
            self.equations = Some(Equations::new(self.products, &self.free)?);
        }
        self.equations.as_ref()?.solve(self.free.iter().map(|&i| self.residual[i]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PairStart, Smo};
    use super::*;
    use crate::random::Rng;

    /// SMO needs no step after polishing, and the objective does not increase.
    #[test]
    fn polished_coefficients_are_optimal() {
        let ctx = Context::default();
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let x = Array2::from_shape_simple_fn((80, 6), || rng.normal());
            let signs: Vec<f64> =
                x.rows().into_iter().map(|r| (r[0] - r[1] + 0.5 * rng.normal()).signum()).collect();
            let bounds = vec![10f64.powi(seed as i32 % 4 - 1); 80];
            let k = x.dot(&x.t());
            let rows: Vec<usize> = (0..80).collect();
            let mut columns = BlockColumns::new(k.view(), &rows);
            let problem = PairProblem { signs: &signs, bounds: &bounds, start: None };
            let rough =
                Smo { tolerance: 1e-1, ..Smo::default() }.solve(&problem, &mut columns, &ctx).unwrap();
            let known = (&rough.coefficients[..], &rough.residual[..]);
            let better = polish(&problem, &columns, known, 1e-8, 200, &ctx).unwrap();
            let tight = Smo { tolerance: 1e-8, ..Smo::default() };
            let start = PairProblem { start: Some(PairStart::at(&better)), ..problem };
            let polished = tight.solve(&start, &mut columns, &ctx).unwrap();
            assert_eq!(polished.iterations, 0, "seed {seed}");
            assert!(polished.objective <= rough.objective);
            let cold = tight.solve(&problem, &mut columns, &ctx).unwrap();
            // Both objectives exceed the optimum by at most the tolerance times the sum of the bounds; 1e-12 for rounding of a
            // sum of 80 terms.
            let allowed = 2.0 * 1e-8 * bounds.iter().sum::<f64>() + 1e-12 * cold.objective.abs();
            assert!((polished.objective - cold.objective).abs() < allowed, "seed {seed}");
        }
    }
}
