//! The last steps of the pairwise solver at once: the coefficients strictly between their bounds solve linear equations.
//!
//! Near the optimum of the programme of [`super::Smo`] it is mostly settled which coefficients are at a bound. Those between, $F$,
//! then satisfy $K_{FF} \beta_F + b = y_F - K_{FB} \beta_B$ with $\sum_i \beta_i = 0$. Pairs of coefficients creep towards that where
//! the matrix is nearly flat; here it is solved by Cholesky factorisation. Where a coefficient would leave its bounds
//! the step ends there and the coefficient stays at the bound; where one at a bound pulls away from it, it is let go. Every
//! step lowers the objective, so what comes out is a better start at worst; [`super::Smo`] then says whether it is optimal.
//!
//! As the coefficients sum to zero, a constant may be added to all of $K$: that keeps $K_{FF}$ regular for a linear kernel,
//! which has one more coefficient between its bounds than columns.
//!
//! Cost: $O(|F|^2 + n |F|)$ per step, and $O(|F|^3)$ once: the factor follows the coefficients that come and go. Reference: Nocedal and Wright, *Numerical optimization*, chapter 16, 2006.

use super::columns::BlockColumns;
use super::smo::PairProblem;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::GrowingFactor;
use crate::simd::{add_scaled, largest_pull};
use ndarray::Array2;

/// More coefficients between their bounds than this are left to the pairwise solver.
const MOST_FREE: usize = 1024;

/// What is added to the diagonal, as a share of its mean.
const RIDGE: f64 = 1e-10;

/// Most steps that only solve what the ridge left of the same equations.
const MOST_REPEATS: usize = 10;

/// $K$ as equations need it.
pub trait Products {
    /// $K$ of these rows with each other.
    fn block(&self, rows: &[usize]) -> Array2<f64>;
    /// $K$ of a row with these.
    fn with(&self, row: usize, rows: &[usize]) -> Vec<f64>;
    /// $K$ of a row with itself.
    fn own(&self, row: usize) -> f64;
    /// `left -= K[.., rows] weights`
    fn take_from(&self, left: &mut [f64], rows: &[usize], weights: &[f64]);
}

impl Products for BlockColumns<'_> {
    fn block(&self, rows: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((rows.len(), rows.len()), |(a, b)| self.column(rows[a])[rows[b]])
    }

    fn with(&self, row: usize, rows: &[usize]) -> Vec<f64> {
        let column = self.column(row);
        rows.iter().map(|&i| column[i]).collect()
    }

    fn own(&self, row: usize) -> f64 {
        self.column(row)[row]
    }

    fn take_from(&self, left: &mut [f64], rows: &[usize], weights: &[f64]) {
        rows.iter().zip(weights).for_each(|(&i, w)| add_scaled(left, -w, self.column(i)));
    }
}

/// Improves coefficients, of which `left` is what they leave of the labels; they stay within their bounds and sum to zero.
/// `tolerance`: as the solver's.
pub fn polish(
    problem: &PairProblem,
    products: &impl Products,
    (coefficients, left): (&[f64], &[f64]),
    tolerance: f64,
    most_steps: usize,
    ctx: &Context,
) -> Result<Vec<f64>> {
    problem.check(coefficients.len())?;
    let mut state = State::new(problem, products, coefficients, left);
    for _ in 0..most_steps {
        ctx.check()?;
        if !state.step(tolerance) {
            break;
        }
    }
    // Rounding of the equations must not break the sum, which the solver relies on.
    let (sum, size) = state.beta.iter().fold((0.0, 0.0), |(s, z), b| (s + b, z + f64::abs(*b)));
    Ok(if f64::abs(sum) <= 1e-12 * size { state.beta } else { coefficients.to_vec() })
}

struct State<'a, P> {
    products: &'a P,
    beta: Vec<f64>,
    least: Vec<f64>,
    most: Vec<f64>,
    /// $y - K \beta$
    left: Vec<f64>,
    free: Vec<usize>,
    /// Where a coefficient that is not free could go: up (1), down (-1), or nowhere (0), as one that is free.
    way: Vec<f64>,
    /// The equations of the free coefficients, in their order.
    equations: Option<Equations>,
    /// Steps in a row that solved the equations without meeting a bound.
    repeats: usize,
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
        // Of the size of the matrix itself, so that nothing drowns.
        let constant = matrix.diag().sum() / free.len() as f64;
        // A ridge of rounding's size: where the matrix is flat the step becomes so long that it meets a bound, which
        // is right, for the objective falls all the way.
        let ridge = 2.0 * RIDGE * constant;
        matrix += constant;
        matrix.diag_mut().map_inplace(|v| *v += ridge);
        Some(Self { factor: GrowingFactor::of(matrix.view())?, constant, ridge })
    }

    /// Adds a row; says whether the equations stay solvable.
    fn push(&mut self, products: &impl Products, row: usize, free: &[usize]) -> bool {
        let mut with = products.with(row, free);
        with.iter_mut().for_each(|v| *v += self.constant);
        let own = products.own(row) + self.constant + self.ridge;
        self.factor.push(with, own, 0.5 * self.ridge)
    }

    /// The change of the free coefficients that solves their equations, and the constant that goes with it:
    /// `K change + bias = left`, with a change that sums to zero.
    fn direction(&self, left: Vec<f64>) -> Option<(Vec<f64>, f64)> {
        let (mut change, mut ones) = (left, vec![1.0; self.factor.size()]);
        self.factor.solve(&mut change);
        self.factor.solve(&mut ones);
        let bias = change.iter().sum::<f64>() / ones.iter().sum::<f64>();
        add_scaled(&mut change, -bias, &ones);
        // What rounding left of the sum goes to the coefficient that moves most.
        let excess: f64 = change.iter().sum();
        let largest =
            (0..change.len()).fold(0, |best, a| if change[a].abs() > change[best].abs() { a } else { best });
        change[largest] -= excess;
        change.iter().all(|c| c.is_finite()).then_some((change, bias))
    }
}

impl<'a, P: Products> State<'a, P> {
    fn new(problem: &PairProblem, products: &'a P, coefficients: &[f64], left: &[f64]) -> Self {
        let (least, most) = problem.limits();
        let beta = coefficients.to_vec();
        let limits = || least.iter().zip(&most).zip(&beta);
        let may = |yes: bool| f64::from(u8::from(yes));
        let way = limits().map(|((least, most), beta)| may(beta < most) - may(beta > least)).collect();
        let free = (limits().enumerate())
            .filter(|(_, ((least, most), beta))| beta > least && beta < most)
            .map(|(i, _)| i)
            .collect();
        Self { products, beta, least, most, left: left.to_vec(), free, way, equations: None, repeats: 0 }
    }

    /// One step; says whether another may help.
    fn step(&mut self, tolerance: f64) -> bool {
        if self.free.len() < 2 {
            return self.let_a_pair_go(tolerance);
        }
        let Some((change, bias)) = self.direction() else { return false };
        // How far until the first coefficient meets a bound.
        let mut share = 1.0;
        let mut blocks = None;
        for (at, &i) in self.free.iter().enumerate() {
            let room =
                if change[at] > 0.0 { self.most[i] - self.beta[i] } else { self.least[i] - self.beta[i] };
            if change[at] != 0.0 && room / change[at] < share {
                share = room / change[at];
                blocks = Some(at);
            }
        }
        let moved: Vec<f64> = change.iter().map(|c| share * c).collect();
        for (at, &i) in self.free.iter().enumerate() {
            // Several may meet their bounds together, one of them by rounding a little beyond.
            self.beta[i] = (self.beta[i] + moved[at]).clamp(self.least[i], self.most[i]);
        }
        self.products.take_from(&mut self.left, &self.free, &moved);
        if let Some(at) = blocks {
            let i = self.free.remove(at);
            (self.beta[i], self.way[i]) =
                if change[at] > 0.0 { (self.most[i], -1.0) } else { (self.least[i], 1.0) };
            self.equations.iter_mut().for_each(|e| e.factor.remove(at));
            self.repeats = 0;
            return true;
        }
        if self.let_go(bias, tolerance) {
            self.repeats = 0;
            return true;
        }
        // Where scales differ much the ridge leaves a part of the equations unsolved, and so does a factor that many
        // coefficients came to and left; each step with a new one takes most of it away.
        self.repeats += 1;
        if self.repeats == 1 {
            self.equations = None;
        }
        self.repeats < MOST_REPEATS && !self.is_solved(bias, tolerance)
    }

    fn is_solved(&self, bias: f64, tolerance: f64) -> bool {
        self.free.iter().all(|&i| f64::abs(self.left[i] - bias) <= 0.25 * tolerance)
    }

    /// Frees the coefficient that pulls hardest away from its bound, if one does.
    fn let_go(&mut self, bias: f64, tolerance: f64) -> bool {
        let (pull, i) = largest_pull(&self.left, &self.way, bias);
        if pull > 0.25 * tolerance {
            self.free(i);
            return true;
        }
        false
    }

    /// Equations are about two coefficients or more: frees those that pull hardest against each other, if any do.
    fn let_a_pair_go(&mut self, tolerance: f64) -> bool {
        let (mut highest, mut lowest) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
        for i in 0..self.beta.len() {
            if self.beta[i] < self.most[i] && self.left[i] > highest.0 {
                highest = (self.left[i], i);
            }
            if self.beta[i] > self.least[i] && self.left[i] < lowest.0 {
                lowest = (self.left[i], i);
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
        self.way[i] = 0.0;
    }

    /// The change of the free coefficients, and the constant.
    fn direction(&mut self) -> Option<(Vec<f64>, f64)> {
        if !(2..=MOST_FREE).contains(&self.free.len()) {
            return None;
        }
        if self.equations.is_none() {
            self.equations = Some(Equations::new(self.products, &self.free)?);
        }
        self.equations.as_ref()?.direction(self.free.iter().map(|&i| self.left[i]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PairStart, Smo};
    use super::*;
    use crate::random::Rng;

    /// After polishing the solver has nothing left to do, and the objective is no worse.
    #[test]
    fn what_is_polished_is_optimal() {
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
            let known = (&rough.coefficients[..], &rough.left[..]);
            let better = polish(&problem, &columns, known, 1e-8, 200, &ctx).unwrap();
            let tight = Smo { tolerance: 1e-8, ..Smo::default() };
            let start = PairProblem { start: Some(PairStart::at(&better)), ..problem };
            let polished = tight.solve(&start, &mut columns, &ctx).unwrap();
            assert_eq!(polished.iterations, 0, "seed {seed}");
            assert!(polished.objective <= rough.objective);
            let cold = tight.solve(&problem, &mut columns, &ctx).unwrap();
            // Both miss the optimum by at most the tolerance times the sum of the bounds; 1e-12 for rounding of an
            // objective that is a sum of 80 terms.
            let allowed = 2.0 * 1e-8 * bounds.iter().sum::<f64>() + 1e-12 * cold.objective.abs();
            assert!((polished.objective - cold.objective).abs() < allowed, "seed {seed}");
        }
    }
}
