//! A linear programme of many statements and few weights, solved by an interior point.
//!
//! $$\min_{\alpha, s, e} \frac1T \sum_t e_t + c^\top \alpha + \rho \sum_g s_g \quad\text{s.t.}\quad D \alpha + e \ge 1,\ e \ge 0,
//! |\alpha_p| \le s_{g(p)},\ C \alpha \ge 0$$
//!
//! A row of $D$ is a statement that should hold with margin 1, a row of $C$ a cut that must hold. A column may also be held to
//! $0 \le \alpha_p \le s_g$, or to $\alpha_p \ge 0$ alone, outside of every group.
//!
//! Steps: predictor and corrector of Mehrotra. The unknowns $e$ and $s$ have diagonal blocks in Newton's equations and are
//! eliminated, which leaves a dense system of the size of $\alpha$: $O((T + m) k^2 + k^3)$ per iteration and some twenty
//! iterations, whatever the data. After each step the weights are evaluated by the objective itself, with each $e_t$ and $s_g$ as
//! small as they may be, and the prices are drawn towards a point that surely is dual feasible until they are feasible: the
//! difference of the two is a proven gap, and it is what ends the run.
//!
//! Reference: Mehrotra, *On the implementation of a primal-dual interior point method*, SIAM J. Optim. 2, 1992.

mod families;
mod interior;
mod normal;
#[cfg(test)]
mod tests;

use crate::context::Context;
use crate::error::Result;
use crate::simd::dot;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// How a weight is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// $-s_g \le \alpha \le s_g$
    Within(usize),
    /// $0 \le \alpha \le s_g$
    Above(usize),
    /// $0 \le \alpha$, in no group.
    Alone,
}

impl Held {
    /// The group it is in.
    pub fn group(self) -> Option<usize> {
        match self {
            Self::Within(g) | Self::Above(g) => Some(g),
            Self::Alone => None,
        }
    }
}

/// The programme.
pub struct HingeProgram<'a> {
    /// $D$, by columns.
    margins: &'a Array2<f64>,
    /// $c$, none negative.
    costs: &'a [f64],
    held: &'a [Held],
    groups: usize,
    /// $\rho$
    penalty: f64,
    /// $C$
    cuts: Option<&'a Array2<f64>>,
    /// The cut that says $c^\top \alpha \ge 0$ up to a positive factor; it bounds the programme where weights may be negative.
    anchor: Option<usize>,
}

/// How the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The gap is within the tolerance.
    Optimal,
    /// Steps came to nothing before that.
    Stalled,
    /// The limit on iterations was reached before that.
    MaxIterations,
}

/// The best point that was found.
#[derive(Debug, Clone)]
pub struct HingeSolution {
    /// $\alpha$
    pub weights: Vec<f64>,
    /// The objective of these weights.
    pub objective: f64,
    /// No weights have a lower objective: proven by the prices.
    pub bound: f64,
    /// The price of each statement, at most $1/T$.
    pub statements: Vec<f64>,
    /// The price of each cut.
    pub cuts: Vec<f64>,
    /// How the search ended.
    pub ending: Ending,
    /// Iterations it took.
    pub iterations: usize,
}

impl<'a> HingeProgram<'a> {
    /// A programme without cuts. Margins are laid out by columns, the penalty is positive, no cost negative.
    pub fn new(margins: &'a Array2<f64>, costs: &'a [f64], held: &'a [Held], penalty: f64) -> Self {
        assert!(margins.ncols() == costs.len() && costs.len() == held.len(), "one cost and hold a column");
        assert!(penalty > 0.0 && costs.iter().all(|&c| c >= 0.0), "a penalty above 0, costs not below");
        assert!(margins.t().is_standard_layout(), "margins are laid out by columns");
        let groups = held.iter().filter_map(|h| h.group()).max().map_or(0, |g| g + 1);
        Self { margins, costs, held, groups, penalty, cuts: None, anchor: None }
    }

    /// Adds cuts. `anchor`: the cut that is the costs up to a factor; without one no weight may be negative.
    pub fn with_cuts(mut self, cuts: &'a Array2<f64>, anchor: Option<usize>) -> Self {
        assert_eq!(cuts.ncols(), self.costs.len(), "columns of the cuts");
        self.cuts = Some(cuts);
        self.anchor = anchor;
        self
    }

    /// Searches until objective and bound differ by `tolerance` of the objective.
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<HingeSolution> {
        interior::solve(self, tolerance, max_iter, ctx)
    }

    fn statements(&self) -> usize {
        self.margins.nrows()
    }

    fn len(&self) -> usize {
        self.costs.len()
    }

    /// $D \alpha$
    fn margins_of(&self, weights: &[f64]) -> Vec<f64> {
        times(self.margins.view(), weights)
    }

    /// The objective of weights, with slacks and group sizes as small as they may be.
    fn objective(&self, weights: &[f64]) -> f64 {
        let missing: f64 = self.margins_of(weights).iter().map(|m| (1.0 - m).max(0.0)).sum();
        let mut largest = vec![0.0_f64; self.groups];
        for (held, weight) in self.held.iter().zip(weights) {
            if let Some(g) = held.group() {
                largest[g] = largest[g].max(weight.abs());
            }
        }
        missing / self.statements().max(1) as f64
            + dot(self.costs, weights)
            + self.penalty * largest.iter().sum::<f64>()
    }

    /// Draws prices towards a dual feasible point until they are feasible, and gives the bound they prove.
    ///
    /// With $u = c - D^\top \lambda - C^\top \mu$ feasible means $\sum_{p \in g} |u_p| \le \rho$ (the negative part alone for weights
    /// held above 0) and $u_p \ge 0$ for weights alone. At $\lambda = 0$ and a price of the anchor that takes away most of $c$
    /// all this holds with room to spare.
    fn prove(&self, statements: &mut [f64], cuts: &mut [f64]) -> f64 {
        let most = 1.0 / self.statements().max(1) as f64;
        statements.iter_mut().for_each(|price| *price = price.clamp(0.0, most));
        cuts.iter_mut().for_each(|price| *price = price.max(0.0));
        let left: Vec<f64> = {
            let d = transposed_times(self.margins.view(), statements);
            let c = self.cuts.map_or(vec![0.0; self.len()], |all| transposed_times(all.view(), cuts));
            (0..self.len()).map(|p| self.costs[p] - d[p] - c[p]).collect()
        };
        let sums = |of: &dyn Fn(usize) -> f64| {
            let mut sums = vec![0.0; self.groups];
            for (p, held) in self.held.iter().enumerate() {
                match held {
                    Held::Within(g) => sums[*g] += of(p).abs(),
                    Held::Above(g) => sums[*g] += (-of(p)).max(0.0),
                    Held::Alone => {}
                }
            }
            sums
        };
        // The share of the costs that stays at the sure point.
        let heaviest = sums(&|p| self.costs[p]).into_iter().fold(0.0, f64::max);
        let stays = if heaviest > 0.5 * self.penalty { 0.5 * self.penalty / heaviest } else { 1.0 };
        if stays < 1.0 && self.anchor.is_none() {
            return f64::NEG_INFINITY;
        }
        let (sure, now) = (sums(&|p| stays * self.costs[p]), sums(&|p| left[p]));
        let mut share = 1.0_f64;
        for (sure, now) in sure.iter().zip(&now) {
            if *now > self.penalty {
                share = share.min((self.penalty - sure) / (now - sure));
            }
        }
        for (p, held) in self.held.iter().enumerate() {
            if *held == Held::Alone && left[p] < 0.0 {
                let sure = stays * self.costs[p];
                share = share.min(sure / (sure - left[p]));
            }
        }
        if share < 1.0 {
            statements.iter_mut().chain(cuts.iter_mut()).for_each(|price| *price *= share);
            if let (Some(anchor), true) = (self.anchor, stays < 1.0) {
                cuts[anchor] += (1.0 - share) * (1.0 - stays) * self.anchor_price();
            }
        }
        statements.iter().sum()
    }

    /// The price of the anchor that takes all costs away.
    fn anchor_price(&self) -> f64 {
        let (Some(anchor), Some(cuts)) = (self.anchor, self.cuts) else { return 0.0 };
        let row = cuts.row(anchor);
        let square: f64 = row.iter().map(|v| v * v).sum();
        row.iter().zip(self.costs).map(|(v, c)| v * c).sum::<f64>() / square
    }
}

/// Rows that one task works on.
const ROWS: usize = 4096;

/// $A x$ of a matrix laid out by columns.
fn times(a: ArrayView2<f64>, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; a.nrows()];
    out.par_chunks_mut(ROWS).zip(a.axis_chunks_iter(Axis(0), ROWS).into_par_iter()).for_each(|(out, a)| {
        for (column, &weight) in a.columns().into_iter().zip(x) {
            if weight != 0.0 {
                out.iter_mut().zip(column).for_each(|(out, v)| *out += weight * v);
            }
        }
    });
    out
}

/// $A^\top y$
fn transposed_times(a: ArrayView2<f64>, y: &[f64]) -> Vec<f64> {
    a.axis_iter(Axis(1))
        .into_par_iter()
        .map(|column| match column.to_slice() {
            Some(column) => dot(column, y),
            None => column.iter().zip(y).map(|(v, y)| v * y).sum(),
        })
        .collect()
}
