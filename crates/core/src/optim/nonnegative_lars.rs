//! Non-negative least angle regression: the full path of a lasso with non-negative weights.
//!
//! For a positive semidefinite matrix $G$ and a vector $b$,
//!
//! $$ \min_{\beta \ge 0} \tfrac12 \beta^\top G \beta - b^\top \beta + \lambda 1^\top \beta $$
//!
//! is solved for all $\lambda$. With the correlations $c = b - G \beta$, variables with nonzero weights (the active set $A$) have
//! $c_j = \lambda$, the others $c_j \le \lambda$. Between two knots of the path $\lambda$ decreases by $\delta$ and $\beta_A$ changes by
//! $\delta w$, $w = G_{AA}^{-1} 1$, until another $c_j$ reaches $\lambda$ and its variable joins, or a weight reaches zero and its
//! variable leaves.
//!
//! Columns of $G$ are computed only for variables that join, and only their entries for candidates. The entries of $G$ must be
//! non-negative; then $c_j \le b_j$ along the path, and a variable with $b_j < \lambda$ cannot join. Candidates are added as
//! $\lambda$ decreases.
//!
//! Reference: Efron, Hastie, Johnstone and Tibshirani, *Least angle regression*, 2004; Morup, Madsen and Hansen,
//! *Approximate L0 constrained non-negative matrix and tensor factorization*, 2008.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::outcome::Stop;
use ndarray::Array2;

/// Initial number of candidates.
const INITIAL_CANDIDATES: usize = 32;
/// A variable is linearly dependent on the active ones if at most this fraction of its squared norm is not explained by them.
const DEPENDENT: f64 = 1e-9;

/// A point of the path where a variable joins or leaves, or where the path ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// $\lambda$.
    pub penalty: f64,
    /// Variables with nonzero weights, in the order in which they joined.
    pub active: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The largest violation of the optimality conditions among the candidates.
    pub violation: f64,
}

/// The path from the largest penalty with a nonzero solution.
#[derive(Debug, Clone, PartialEq)]
pub struct LarsPath {
    /// Knots with decreasing penalties; the first has zero weights.
    pub knots: Vec<Knot>,
    /// $c_j$ at the last knot for candidates; the upper bound $b_j$ for other variables.
    pub correlations: Vec<f64>,
    /// Why the path ended: [`Stop::Requested`] if another variable would exceed the maximum number, [`Stop::Tolerance`] at the
    /// smallest penalty, or [`Stop::MaxIterations`].
    pub stop: Stop,
}

/// Stopping criteria of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LarsStop {
    /// Maximum number of active variables.
    pub max_active: usize,
    /// Smallest penalty.
    pub min_penalty: f64,
    /// Maximum number of knots.
    pub max_knots: usize,
}

/// Computes the path; `gram(j, of)` returns the entries of column `j` of $G$ for the variables `of`, all non-negative.
pub fn nonnegative_lars(
    b: &[f64],
    limits: LarsStop,
    gram: impl FnMut(usize, &[usize]) -> Result<Vec<f64>>,
) -> Result<LarsPath> {
    let mut lars = Lars::new(b, gram)?;
    let penalty = lars.sorted.first().map_or(0.0, |&j| b[j]);
    let mut knots = vec![Knot { penalty: penalty.max(0.0), active: vec![], weights: vec![], violation: 0.0 }];
    if penalty <= limits.min_penalty || limits.max_active == 0 {
        return Ok(LarsPath { knots, correlations: b.to_vec(), stop: Stop::Tolerance });
    }
    lars.penalty = penalty;
    lars.join(0)?;
    let mut stop = Stop::MaxIterations;
    while knots.len() <= limits.max_knots {
        let event = lars.advance(limits.min_penalty)?;
        let reached = match event {
            Event::Join(_) if lars.active.len() >= limits.max_active => Some(Stop::Requested),
            Event::End => Some(Stop::Tolerance),
            _ => None,
        };
        knots.push(lars.knot());
        if let Some(reached) = reached {
            stop = reached;
            break;
        }
        match event {
            Event::Join(candidate) => lars.join(candidate)?,
            Event::Leave(at) => lars.leave(at),
            Event::End => {}
        }
    }
    let mut correlations = b.to_vec();
    let c = lars.correlations();
    lars.sorted[..lars.n_candidates].iter().zip(c).for_each(|(&j, c)| correlations[j] = c);
    Ok(LarsPath { knots, correlations, stop })
}

enum Event {
    /// The correlation of this candidate reaches the penalty.
    Join(usize),
    /// The weight at this index in the active set reaches zero.
    Leave(usize),
    /// The smallest penalty is reached.
    End,
}

struct Lars<'a, G> {
    b: &'a [f64],
    gram: G,
    /// Variables with positive $b_j$, largest first; the first `n_candidates` are candidates.
    sorted: Vec<usize>,
    n_candidates: usize,
    /// Candidates that have been active (indices into `sorted`), with their columns of $G$ over the candidates.
    columns: Vec<(usize, Vec<f64>)>,
    /// The active set, as indices into `columns`.
    active: Vec<usize>,
    weights: Vec<f64>,
    penalty: f64,
    /// Candidates that depend linearly on the active set and cannot join.
    dependent: Vec<usize>,
    /// The candidate that left last, which cannot join in the next step.
    left_last: Option<usize>,
}

impl<'a, G: FnMut(usize, &[usize]) -> Result<Vec<f64>>> Lars<'a, G> {
    fn new(b: &'a [f64], gram: G) -> Result<Self> {
        let mut sorted: Vec<usize> = (0..b.len()).filter(|&j| b[j] > 0.0).collect();
        sorted.sort_by(|&i, &j| b[j].total_cmp(&b[i]).then(i.cmp(&j)));
        Ok(Self {
            b,
            gram,
            n_candidates: sorted.len().min(INITIAL_CANDIDATES),
            sorted,
            columns: vec![],
            active: vec![],
            weights: vec![],
            penalty: 0.0,
            dependent: vec![],
            left_last: None,
        })
    }

    /// Makes a candidate active, unless it depends linearly on the active set.
    fn join(&mut self, candidate: usize) -> Result<()> {
        self.left_last = None;
        let column = match self.columns.iter().position(|c| c.0 == candidate) {
            Some(column) => column,
            None => {
                let entries = (self.gram)(self.sorted[candidate], &self.sorted[..self.n_candidates])?;
                self.columns.push((candidate, entries));
                self.columns.len() - 1
            }
        };
        self.active.push(column);
        self.weights.push(0.0);
        if self.direction().is_none() {
            self.active.pop();
            self.weights.pop();
            self.dependent.push(candidate);
        }
        Ok(())
    }

    fn leave(&mut self, at: usize) {
        self.left_last = Some(self.columns[self.active[at]].0);
        self.active.remove(at);
        self.weights.remove(at);
        // Candidates that depended on it may now be independent.
        self.dependent.clear();
    }

    /// $w = G_{AA}^{-1} 1$; `None` if the last active variable depends linearly on the others.
    fn direction(&self) -> Option<Vec<f64>> {
        let k = self.active.len();
        let g = Array2::from_shape_fn((k, k), |(i, j)| {
            // Use the column of the variable that joined first, so that the matrix is symmetric.
            let (first, second) = (self.active[i.min(j)], self.active[i.max(j)]);
            self.columns[first].1[self.columns[second].0]
        });
        let l = cholesky(g.view())?;
        if k > 0 && l[[k - 1, k - 1]].powi(2) <= DEPENDENT * g[[k - 1, k - 1]] {
            return None;
        }
        let mut w = Array2::ones((k, 1));
        cholesky_solve(l.view(), &mut w.view_mut());
        Some(w.into_raw_vec_and_offset().0)
    }

    /// $c_j$ of all candidates.
    fn correlations(&self) -> Vec<f64> {
        let mut c: Vec<f64> = self.sorted[..self.n_candidates].iter().map(|&j| self.b[j]).collect();
        for (&at, weight) in self.active.iter().zip(&self.weights) {
            c.iter_mut().zip(&self.columns[at].1).for_each(|(c, g)| *c -= weight * g);
        }
        c
    }

    /// Moves to the next event.
    fn advance(&mut self, min_penalty: f64) -> Result<Event> {
        // The matrix stays regular when variables leave.
        let Some(w) = self.direction() else { return Ok(Event::End) };
        let (step, event) = loop {
            let (step, event) = self.next(&w, min_penalty);
            let penalty = self.penalty - step;
            // More candidates can only shorten the step.
            let remaining = &self.sorted[self.n_candidates..];
            let missing = remaining.iter().take_while(|&&j| self.b[j] > penalty).count();
            if missing == 0 {
                break (step, event);
            }
            self.add_candidates(missing.min(self.n_candidates.max(INITIAL_CANDIDATES)))?;
        };
        self.weights.iter_mut().zip(&w).for_each(|(weight, w)| *weight += step * w);
        if let Event::Leave(at) = event {
            self.weights[at] = 0.0;
        }
        self.penalty -= step;
        Ok(event)
    }

    /// Adds candidates, with their entries in the known columns.
    fn add_candidates(&mut self, count: usize) -> Result<()> {
        let new = self.sorted[self.n_candidates..self.n_candidates + count].to_vec();
        for (candidate, column) in &mut self.columns {
            column.extend((self.gram)(self.sorted[*candidate], &new)?);
        }
        self.n_candidates += count;
        Ok(())
    }

    /// The step to the next event.
    fn next(&self, w: &[f64], min_penalty: f64) -> (f64, Event) {
        let (mut step, mut event) = (self.penalty - min_penalty, Event::End);
        for (at, (weight, w)) in self.weights.iter().zip(w).enumerate() {
            if *w < 0.0 && -weight / w < step {
                (step, event) = (-weight / w, Event::Leave(at));
            }
        }
        let c = self.correlations();
        let mut u = vec![0.0; self.n_candidates];
        for (&at, w) in self.active.iter().zip(w) {
            u.iter_mut().zip(&self.columns[at].1).for_each(|(u, g)| *u += w * g);
        }
        let mut excluded = vec![false; self.n_candidates];
        self.active.iter().for_each(|&at| excluded[self.columns[at].0] = true);
        self.dependent.iter().chain(&self.left_last).for_each(|&candidate| excluded[candidate] = true);
        for candidate in (0..self.n_candidates).filter(|&candidate| !excluded[candidate]) {
            // The penalty decreases at rate 1, the correlation at rate u.
            let rate = 1.0 - u[candidate];
            let reaches = (self.penalty - c[candidate]).max(0.0) / rate;
            if rate > DEPENDENT && reaches < step {
                (step, event) = (reaches, Event::Join(candidate));
            }
        }
        (step, event)
    }

    fn knot(&self) -> Knot {
        let c = self.correlations();
        let mut violation = 0.0_f64;
        c.iter().for_each(|c| violation = violation.max(c - self.penalty));
        self.active
            .iter()
            .for_each(|&at| violation = violation.max((c[self.columns[at].0] - self.penalty).abs()));
        let kept = || self.active.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        Knot {
            penalty: self.penalty,
            active: kept().map(|(&at, _)| self.sorted[self.columns[at].0]).collect(),
            weights: kept().map(|(_, weight)| *weight).collect(),
            violation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::{Array1, array};

    fn path(g: &Array2<f64>, b: &[f64], max_active: usize, min_penalty: f64) -> LarsPath {
        let limits = LarsStop { max_active, min_penalty, max_knots: 1000 };
        nonnegative_lars(b, limits, |j, of| Ok(of.iter().map(|&i| g[[i, j]]).collect())).unwrap()
    }

    #[test]
    fn two_orthogonal_variables() {
        // b = (3, 1): the first joins at 3, the second at 1, where the first has the weight 2; at penalty 0 the weights
        // are b.
        let eye = Array2::<f64>::eye(2);
        let found = path(&eye, &[3.0, 1.0], 5, 0.0);
        let knots: Vec<(f64, Vec<f64>)> =
            found.knots.iter().map(|k| (k.penalty, k.weights.clone())).collect();
        assert_eq!(knots, [(3.0, vec![]), (1.0, vec![2.0]), (0.0, vec![3.0, 1.0])]);
        assert_eq!(found.stop, Stop::Tolerance);
        // At most one variable: the path ends where the second would join.
        let one = path(&eye, &[3.0, 1.0], 1, 0.0);
        assert_eq!((one.knots.len(), one.stop, one.correlations), (2, Stop::Requested, vec![1.0, 1.0]));
        // A smallest penalty between knots.
        assert_eq!(path(&eye, &[3.0, 1.0], 5, 2.5).knots[1].weights, [0.5]);
        // No positive correlation.
        assert_eq!(path(&eye, &[0.0, -1.0], 5, 0.0).knots.len(), 1);
    }

    #[test]
    fn a_duplicate_does_not_join() {
        let g = array![[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]];
        let last = path(&g, &[0.9, 0.9, 0.5], 3, 0.0).knots.pop().unwrap();
        assert_eq!(last.active, [0, 2]);
        assert!(last.violation < 1e-12);
    }

    #[test]
    fn dependent_variables_can_join_after_others_leave() {
        // Half of the variables are sums of others, so many depend on the active set until one of these leaves.
        let mut dependent = 0;
        for seed in 0..30 {
            let mut rng = Rng::new(seed);
            let mut rows = Array2::from_shape_simple_fn((12, 24), || rng.uniform().powi(4));
            for j in 12..24 {
                let (a, b) = (rng.below(12), rng.below(12));
                let sum = &rows.column(a) + &rows.column(b);
                rows.column_mut(j).assign(&sum);
            }
            let target = Array1::from_shape_simple_fn(12, || rng.uniform().powi(2));
            let (g, b) = (rows.t().dot(&rows), rows.t().dot(&target).to_vec());
            let found = path(&g, &b, 24, 1e-3);
            let violation: f64 = found.knots.iter().map(|knot| knot.violation).fold(0.0, f64::max);
            // Numbers of order ten, and condition numbers up to 1 / DEPENDENT.
            assert!(violation < 1e-6, "{seed}: {violation}");
            let last = found.knots.last().unwrap();
            let mut weights = Array1::<f64>::zeros(24);
            last.active.iter().zip(&last.weights).for_each(|(&j, w)| weights[j] = *w);
            let c = &Array1::from(b.clone()) - &g.dot(&weights);
            assert!(c.iter().all(|c| *c <= last.penalty + 1e-6), "{seed}: {c} at {}", last.penalty);
            dependent += usize::from(last.active.len() < 12);
        }
        assert!(dependent > 0);
    }

    /// Coordinate descent to full precision.
    fn descent(g: &Array2<f64>, b: &[f64], penalty: f64) -> Array1<f64> {
        let mut beta = Array1::<f64>::zeros(b.len());
        for _ in 0..100_000 {
            let mut moved = 0.0_f64;
            for j in 0..b.len() {
                let residual = b[j] - g.row(j).dot(&beta) + g[[j, j]] * beta[j] - penalty;
                let new = (residual / g[[j, j]]).max(0.0);
                moved = moved.max((new - beta[j]).abs());
                beta[j] = new;
            }
            if moved < 1e-15 {
                break;
            }
        }
        beta
    }

    #[test]
    fn every_knot_agrees_with_coordinate_descent() {
        let mut leavers = 0;
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            // Non-negative rows give a non-negative matrix; more variables than initial candidates.
            let rows = Array2::from_shape_simple_fn((60, 80), || rng.uniform().powi(6));
            let target = Array1::from_shape_simple_fn(60, || rng.uniform().powi(3));
            let g = rows.t().dot(&rows);
            let b = rows.t().dot(&target).to_vec();
            let found = path(&g, &b, 80, 1e-3);
            for knot in &found.knots {
                let expected = descent(&g, &b, knot.penalty);
                let mut weights = vec![0.0; 80];
                knot.active.iter().zip(&knot.weights).for_each(|(&j, w)| weights[j] = *w);
                // The error of coordinate descent is its tolerance times the condition number.
                assert!(
                    expected.iter().zip(&weights).all(|(a, b)| (a - b).abs() < 1e-8),
                    "{seed} {}",
                    knot.penalty
                );
                assert!(knot.violation < 1e-10);
            }
            let met: std::collections::BTreeSet<usize> =
                found.knots.iter().flat_map(|k| k.active.clone()).collect();
            leavers += met.len() - found.knots.last().unwrap().active.len();
            assert!(found.knots.windows(2).all(|w| w[0].penalty > w[1].penalty));
        }
        assert!(leavers > 0, "no variable left the active set, so leaving is not tested");
    }

    #[test]
    fn entries_of_variables_that_cannot_join_are_not_computed() {
        let d = 10_000;
        let b: Vec<f64> = (0..d).map(|j| if j < 3 { 1.0 - 0.1 * j as f64 } else { 0.01 }).collect();
        let mut computed = 0;
        let limits = LarsStop { max_active: 3, min_penalty: 0.05, max_knots: 100 };
        let found = nonnegative_lars(&b, limits, |j, of| {
            computed += of.len();
            Ok(of.iter().map(|&i| if i == j { 1.0 } else { 0.1 }).collect())
        });
        assert_eq!(found.unwrap().knots.last().unwrap().active, [0, 1, 2]);
        assert!(computed <= 3 * INITIAL_CANDIDATES, "{computed}");
    }
}
