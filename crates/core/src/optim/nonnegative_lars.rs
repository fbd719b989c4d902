//! Non-negative least angle regression: the whole path of a lasso without negative weights.
//!
//! For a positive semidefinite matrix $G$ and a vector $b$,
//!
//! $$ \min_{\beta \ge 0} \tfrac12 \beta^\top G \beta - b^\top \beta + \lambda 1^\top \beta $$
//!
//! is solved for all $\lambda$ at once. With $c = b - G \beta$, weights that are not zero (the set $A$) have $c_j
//! = \lambda$, the others $c_j \le \lambda$. Between two knots of the path $\lambda$ falls by $\delta$ and
//! $\beta_A$ moves by $\delta w$, $w = G_{AA}^{-1} 1$, until another $c_j$ meets $\lambda$ and joins, or a weight
//! reaches zero and leaves.
//!
//! Columns of $G$ are asked for only where a weight joins, and only their entries for candidates. Where all
//! entries of $G$ are non-negative, which this solver needs, $c_j \le b_j$ along the whole path: a variable with
//! $b_j < \lambda$ cannot join, so nothing but its $b_j$ need be known. Candidates are taken in as $\lambda$
//! falls.
//!
//! Reference: Efron, Hastie, Johnstone and Tibshirani, *Least angle regression*, 2004; Morup, Madsen and Hansen,
//! *Approximate L0 constrained non-negative matrix and tensor factorization*, 2008.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::outcome::Stop;
use ndarray::Array2;

/// Candidates that are taken in at first.
const FIRST: usize = 32;
/// A variable that the active ones explain to this share has nothing to add.
const REDUNDANT: f64 = 1e-9;

/// A place on the path where a variable joins or leaves, or where it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Knot {
    /// $\lambda$.
    pub penalty: f64,
    /// Variables whose weight is not zero, in the order in which they joined.
    pub active: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// The largest violation of the conditions of optimality among the candidates.
    pub violation: f64,
}

/// The path from the largest penalty that lets anything in.
#[derive(Debug, Clone, PartialEq)]
pub struct LarsPath {
    /// From the first, at which all weights are zero, to the last.
    pub knots: Vec<Knot>,
    /// $c_j$ at the last knot for candidates; for the others $b_j$, which it cannot exceed.
    pub left: Vec<f64>,
    /// Why it ended: [`Stop::Wanted`] where the next variable would be one too many, [`Stop::Tolerance`] at the
    /// least penalty, [`Stop::MaxIterations`].
    pub stop: Stop,
}

/// Where a path ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LarsEnd {
    /// Just before one more variable than this would join.
    pub most: usize,
    /// At this penalty.
    pub least_penalty: f64,
    /// After this many knots.
    pub max_knots: usize,
}

/// The path of weights; `gram(j, of)` gives the entries of column `j` of $G$ for the variables `of`. All entries
/// must be 0 or more.
pub fn nonnegative_lars(
    b: &[f64],
    end: LarsEnd,
    gram: impl FnMut(usize, &[usize]) -> Result<Vec<f64>>,
) -> Result<LarsPath> {
    let mut lars = Lars::new(b, gram)?;
    let penalty = lars.by_size.first().map_or(0.0, |&j| b[j]);
    let mut knots = vec![Knot { penalty: penalty.max(0.0), active: vec![], weights: vec![], violation: 0.0 }];
    if penalty <= end.least_penalty || end.most == 0 {
        return Ok(LarsPath { knots, left: b.to_vec(), stop: Stop::Tolerance });
    }
    lars.penalty = penalty;
    lars.join(0)?;
    let mut stop = Stop::MaxIterations;
    while knots.len() <= end.max_knots {
        let event = lars.advance(end.least_penalty)?;
        let ended = match event {
            Event::Join(_) if lars.active.len() >= end.most => Some(Stop::Wanted),
            Event::End => Some(Stop::Tolerance),
            _ => None,
        };
        knots.push(lars.knot());
        if let Some(why) = ended {
            stop = why;
            break;
        }
        match event {
            Event::Join(place) => lars.join(place)?,
            Event::Leave(at) => lars.leave(at),
            Event::End => {}
        }
    }
    let mut left = b.to_vec();
    let c = lars.correlations();
    lars.by_size[..lars.pool].iter().zip(c).for_each(|(&j, c)| left[j] = c);
    Ok(LarsPath { knots, left, stop })
}

enum Event {
    /// The candidate at this place meets the penalty.
    Join(usize),
    /// The weight at this place among the active ones reaches zero.
    Leave(usize),
    End,
}

struct Lars<'a, G> {
    b: &'a [f64],
    gram: G,
    /// All variables, largest $b_j$ first; the first `pool` are candidates.
    by_size: Vec<usize>,
    pool: usize,
    /// Variables that were ever active, as places in `by_size`, and their columns of $G$ over the candidates.
    met: Vec<(usize, Vec<f64>)>,
    /// Places in `met`.
    active: Vec<usize>,
    weights: Vec<f64>,
    penalty: f64,
    /// Candidates that the active ones explain, and the one that left last: they may not join now.
    barred: Vec<usize>,
    left_last: Option<usize>,
}

impl<'a, G: FnMut(usize, &[usize]) -> Result<Vec<f64>>> Lars<'a, G> {
    fn new(b: &'a [f64], gram: G) -> Result<Self> {
        let mut by_size: Vec<usize> = (0..b.len()).filter(|&j| b[j] > 0.0).collect();
        by_size.sort_by(|&i, &j| b[j].total_cmp(&b[i]).then(i.cmp(&j)));
        Ok(Self {
            b,
            gram,
            pool: by_size.len().min(FIRST),
            by_size,
            met: vec![],
            active: vec![],
            weights: vec![],
            penalty: 0.0,
            barred: vec![],
            left_last: None,
        })
    }

    /// The candidate at `place` becomes active, unless the active ones explain it.
    fn join(&mut self, place: usize) -> Result<()> {
        self.left_last = None;
        let known = match self.met.iter().position(|m| m.0 == place) {
            Some(known) => known,
            None => {
                let column = (self.gram)(self.by_size[place], &self.by_size[..self.pool])?;
                self.met.push((place, column));
                self.met.len() - 1
            }
        };
        self.active.push(known);
        self.weights.push(0.0);
        if self.direction().is_none() {
            self.active.pop();
            self.weights.pop();
            self.barred.push(place);
        }
        Ok(())
    }

    fn leave(&mut self, at: usize) {
        self.left_last = Some(self.met[self.active[at]].0);
        self.active.remove(at);
        self.weights.remove(at);
        // What it helped to explain may now have something to add.
        self.barred.clear();
    }

    /// $w = G_{AA}^{-1} 1$; none where the last active variable adds nothing to the others.
    fn direction(&self) -> Option<Vec<f64>> {
        let k = self.active.len();
        let g = Array2::from_shape_fn((k, k), |(i, j)| {
            // Entries come from two places; the earlier column has the say, so that the matrix is symmetric.
            let (first, second) = (self.active[i.min(j)], self.active[i.max(j)]);
            self.met[first].1[self.met[second].0]
        });
        let l = cholesky(g.view())?;
        if k > 0 && l[[k - 1, k - 1]].powi(2) <= REDUNDANT * g[[k - 1, k - 1]] {
            return None;
        }
        let mut w = Array2::ones((k, 1));
        cholesky_solve(l.view(), &mut w.view_mut());
        Some(w.into_raw_vec_and_offset().0)
    }

    /// $c_j$ of all candidates.
    fn correlations(&self) -> Vec<f64> {
        let mut c: Vec<f64> = self.by_size[..self.pool].iter().map(|&j| self.b[j]).collect();
        for (&at, weight) in self.active.iter().zip(&self.weights) {
            c.iter_mut().zip(&self.met[at].1).for_each(|(c, g)| *c -= weight * g);
        }
        c
    }

    /// Moves to where the next thing happens.
    fn advance(&mut self, least: f64) -> Result<Event> {
        // A matrix that was good enough when its last variable joined stays so when one leaves.
        let Some(w) = self.direction() else { return Ok(Event::End) };
        let (step, event) = loop {
            let (step, event) = self.next(&w, least);
            let penalty = self.penalty - step;
            // Candidates that are missing can only make the step shorter.
            let missing = self.by_size[self.pool..].iter().take_while(|&&j| self.b[j] > penalty).count();
            if missing == 0 {
                break (step, event);
            }
            self.take_in(missing.min(self.pool.max(FIRST)))?;
        };
        self.weights.iter_mut().zip(&w).for_each(|(weight, w)| *weight += step * w);
        if let Event::Leave(at) = event {
            self.weights[at] = 0.0;
        }
        self.penalty -= step;
        Ok(event)
    }

    /// More candidates, with their entries in the columns that are known.
    fn take_in(&mut self, count: usize) -> Result<()> {
        let new = self.by_size[self.pool..self.pool + count].to_vec();
        for (place, column) in &mut self.met {
            column.extend((self.gram)(self.by_size[*place], &new)?);
        }
        self.pool += count;
        Ok(())
    }

    /// The shortest step to an event.
    fn next(&self, w: &[f64], least: f64) -> (f64, Event) {
        let (mut step, mut event) = (self.penalty - least, Event::End);
        for (at, (weight, w)) in self.weights.iter().zip(w).enumerate() {
            if *w < 0.0 && -weight / w < step {
                (step, event) = (-weight / w, Event::Leave(at));
            }
        }
        let c = self.correlations();
        let mut u = vec![0.0; self.pool];
        for (&at, w) in self.active.iter().zip(w) {
            u.iter_mut().zip(&self.met[at].1).for_each(|(u, g)| *u += w * g);
        }
        let mut out = vec![false; self.pool];
        self.active.iter().for_each(|&at| out[self.met[at].0] = true);
        self.barred.iter().chain(&self.left_last).for_each(|&place| out[place] = true);
        for place in (0..self.pool).filter(|&place| !out[place]) {
            let slower = 1.0 - u[place];
            let meets = (self.penalty - c[place]).max(0.0) / slower;
            if slower > REDUNDANT && meets < step {
                (step, event) = (meets, Event::Join(place));
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
            .for_each(|&at| violation = violation.max((c[self.met[at].0] - self.penalty).abs()));
        let kept = || self.active.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        Knot {
            penalty: self.penalty,
            active: kept().map(|(&at, _)| self.by_size[self.met[at].0]).collect(),
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

    fn path(g: &Array2<f64>, b: &[f64], most: usize, least_penalty: f64) -> LarsPath {
        let end = LarsEnd { most, least_penalty, max_knots: 1000 };
        nonnegative_lars(b, end, |j, of| Ok(of.iter().map(|&i| g[[i, j]]).collect())).unwrap()
    }

    #[test]
    fn by_hand() {
        // Two variables that have nothing in common: b = (3, 1). The first joins at 3, the second at 1, where the
        // first has the weight 2; without a penalty the weights are b.
        let eye = Array2::<f64>::eye(2);
        let found = path(&eye, &[3.0, 1.0], 5, 0.0);
        let knots: Vec<(f64, Vec<f64>)> =
            found.knots.iter().map(|k| (k.penalty, k.weights.clone())).collect();
        assert_eq!(knots, [(3.0, vec![]), (1.0, vec![2.0]), (0.0, vec![3.0, 1.0])]);
        assert_eq!(found.stop, Stop::Tolerance);
        // Wanted: one. It ends where the second would join.
        let one = path(&eye, &[3.0, 1.0], 1, 0.0);
        assert_eq!((one.knots.len(), one.stop, one.left), (2, Stop::Wanted, vec![1.0, 1.0]));
        // A least penalty cuts the path between knots.
        assert_eq!(path(&eye, &[3.0, 1.0], 5, 2.5).knots[1].weights, [0.5]);
        // Nothing to let in.
        assert_eq!(path(&eye, &[0.0, -1.0], 5, 0.0).knots.len(), 1);
    }

    #[test]
    fn a_copy_adds_nothing() {
        let g = array![[1.0, 1.0, 0.2], [1.0, 1.0, 0.2], [0.2, 0.2, 1.0]];
        let last = path(&g, &[0.9, 0.9, 0.5], 3, 0.0).knots.pop().unwrap();
        assert_eq!(last.active, [0, 2]);
        assert!(last.violation < 1e-12);
    }

    #[test]
    fn what_was_explained_may_join_when_a_part_of_the_explanation_leaves() {
        // Variables are copies of one another or sums of others, so that many are explained by those that are in, and
        // stop being so when one of these leaves.
        let mut explained = 0;
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
            let pool: f64 = found.knots.iter().map(|knot| knot.violation).fold(0.0, f64::max);
            // Numbers of order ten, and matrices with a condition of up to the inverse of REDUNDANT.
            assert!(pool < 1e-6, "{seed}: {pool}");
            let last = found.knots.last().unwrap();
            let mut weights = Array1::<f64>::zeros(24);
            last.active.iter().zip(&last.weights).for_each(|(&j, w)| weights[j] = *w);
            let pull = &Array1::from(b.clone()) - &g.dot(&weights);
            assert!(pull.iter().all(|c| *c <= last.penalty + 1e-6), "{seed}: {pull} at {}", last.penalty);
            explained += usize::from(last.active.len() < 12);
        }
        assert!(explained > 0);
    }

    /// Coordinate descent, until nothing moves.
    fn descent(g: &Array2<f64>, b: &[f64], penalty: f64) -> Array1<f64> {
        let mut beta = Array1::<f64>::zeros(b.len());
        for _ in 0..100_000 {
            let mut moved = 0.0_f64;
            for j in 0..b.len() {
                let rest = b[j] - g.row(j).dot(&beta) + g[[j, j]] * beta[j] - penalty;
                let new = (rest / g[[j, j]]).max(0.0);
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
    fn every_knot_solves_its_problem() {
        let mut leavers = 0;
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            // Non-negative rows make a non-negative matrix; more variables than are taken in at first.
            let rows = Array2::from_shape_simple_fn((60, 80), || rng.uniform().powi(6));
            let target = Array1::from_shape_simple_fn(60, || rng.uniform().powi(3));
            let g = rows.t().dot(&rows);
            let b = rows.t().dot(&target).to_vec();
            let found = path(&g, &b, 80, 1e-3);
            for knot in &found.knots {
                let expected = descent(&g, &b, knot.penalty);
                let mut weights = vec![0.0; 80];
                knot.active.iter().zip(&knot.weights).for_each(|(&j, w)| weights[j] = *w);
                // Descent stops within its tolerance times the condition of the matrix.
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
        assert!(leavers > 0, "no weight ever left: the test would not see it");
    }

    #[test]
    fn entries_of_what_cannot_join_are_never_asked_for() {
        let d = 10_000;
        let b: Vec<f64> = (0..d).map(|j| if j < 3 { 1.0 - 0.1 * j as f64 } else { 0.01 }).collect();
        let mut asked = 0;
        let end = LarsEnd { most: 3, least_penalty: 0.05, max_knots: 100 };
        let found = nonnegative_lars(&b, end, |j, of| {
            asked += of.len();
            Ok(of.iter().map(|&i| if i == j { 1.0 } else { 0.1 }).collect())
        });
        assert_eq!(found.unwrap().knots.last().unwrap().active, [0, 1, 2]);
        assert!(asked <= 3 * FIRST, "{asked}");
    }
}
