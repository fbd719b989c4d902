//! The program, its objective and its dual bound.

use crate::simd::dot;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// The bound on a weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightBound {
    /// $-s_g \le \alpha \le s_g$
    Symmetric(usize),
    /// $0 \le \alpha \le s_g$
    NonNegative(usize),
    /// $0 \le \alpha$, in no group.
    Ungrouped,
}

impl WeightBound {
    /// The group of the weight.
    pub fn group(self) -> Option<usize> {
        match self {
            Self::Symmetric(g) | Self::NonNegative(g) => Some(g),
            Self::Ungrouped => None,
        }
    }
}

/// The program.
pub struct HingeProgram<'a> {
    /// $D$, by columns.
    pub(super) margins: &'a Array2<f64>,
    /// $c \ge 0$
    pub(super) costs: &'a [f64],
    pub(super) bounds: &'a [WeightBound],
    pub(super) groups: usize,
    /// $\rho$
    pub(super) penalty: f64,
    /// $C$
    pub(super) cuts: Option<&'a Array2<f64>>,
    /// The cut that is a positive multiple of $c^\top \alpha \ge 0$; it bounds the program where weights may be negative.
    pub(super) cost_cut: Option<usize>,
}

/// How the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The gap is within the tolerance.
    Optimal,
    /// No further progress.
    Stalled,
    /// The iteration limit was reached.
    MaxIterations,
}

/// The best point found.
#[derive(Debug, Clone)]
pub struct HingeSolution {
    /// $\alpha$
    pub weights: Vec<f64>,
    /// The objective of these weights.
    pub objective: f64,
    /// A lower bound on the objective, from the dual values.
    pub bound: f64,
    /// The dual value of each margin constraint, at most $1/T$.
    pub margin_duals: Vec<f64>,
    /// The dual value of each cut.
    pub cut_duals: Vec<f64>,
    /// How the search ended.
    pub ending: Ending,
    /// The number of iterations.
    pub iterations: usize,
}

impl<'a> HingeProgram<'a> {
    /// A program without cuts. Margins are laid out by columns, the penalty is positive, costs are nonnegative.
    pub fn new(margins: &'a Array2<f64>, costs: &'a [f64], bounds: &'a [WeightBound], penalty: f64) -> Self {
        assert!(
            margins.ncols() == costs.len() && costs.len() == bounds.len(),
            "one cost and one bound per column"
        );
        assert!(
            penalty > 0.0 && costs.iter().all(|&c| c >= 0.0),
            "the penalty is positive, costs are nonnegative"
        );
        assert!(margins.t().is_standard_layout(), "margins are laid out by columns");
        let groups = bounds.iter().filter_map(|b| b.group()).max().map_or(0, |g| g + 1);
        Self { margins, costs, bounds, groups, penalty, cuts: None, cost_cut: None }
    }

    /// Adds cuts. `cost_cut`: the cut that is a multiple of the costs; required if weights may be negative.
    pub fn with_cuts(mut self, cuts: &'a Array2<f64>, cost_cut: Option<usize>) -> Self {
        assert_eq!(cuts.ncols(), self.costs.len(), "columns of the cuts");
        self.cuts = Some(cuts);
        self.cost_cut = cost_cut;
        self
    }

    /// $T$
    pub(super) fn n_margins(&self) -> usize {
        self.margins.nrows()
    }

    pub(super) fn len(&self) -> usize {
        self.costs.len()
    }

    /// $D \alpha$
    pub(super) fn margins_of(&self, weights: &[f64]) -> Vec<f64> {
        times(self.margins.view(), weights)
    }

    /// The objective of weights, with the smallest feasible slacks and group sizes.
    pub(super) fn objective(&self, weights: &[f64]) -> f64 {
        let hinge: f64 = self.margins_of(weights).iter().map(|m| (1.0 - m).max(0.0)).sum();
        let mut largest = vec![0.0_f64; self.groups];
        for (bound, weight) in self.bounds.iter().zip(weights) {
            if let Some(g) = bound.group() {
                largest[g] = largest[g].max(weight.abs());
            }
        }
        hinge / self.n_margins().max(1) as f64
            + dot(self.costs, weights)
            + self.penalty * largest.iter().sum::<f64>()
    }

    /// Moves dual values towards an interior dual feasible point until they are feasible, and returns their lower bound.
    ///
    /// With the reduced costs $u = c - D^\top \lambda - C^\top \mu$, dual values are feasible if $\sum_{p \in g} |u_p| \le \rho$
    /// (only negative parts for nonnegative weights) and $u_p \ge 0$ for weights outside groups. The interior point is
    /// $\lambda = 0$ with a dual value of the cost cut that cancels most of $c$.
    pub(super) fn dual_bound(&self, margin_duals: &mut [f64], cut_duals: &mut [f64]) -> f64 {
        let most = 1.0 / self.n_margins().max(1) as f64;
        margin_duals.iter_mut().for_each(|dual| *dual = dual.clamp(0.0, most));
        cut_duals.iter_mut().for_each(|dual| *dual = dual.max(0.0));
        let reduced: Vec<f64> = {
            let d = transposed_times(self.margins.view(), margin_duals);
            let c = self.cuts.map_or(vec![0.0; self.len()], |all| transposed_times(all.view(), cut_duals));
            (0..self.len()).map(|p| self.costs[p] - d[p] - c[p]).collect()
        };
        // The fraction of the costs that remains at the interior point.
        let heaviest = self.group_sums(&|p| self.costs[p]).into_iter().fold(0.0, f64::max);
        let remaining = if heaviest > 0.5 * self.penalty { 0.5 * self.penalty / heaviest } else { 1.0 };
        if remaining < 1.0 && self.cost_cut.is_none() {
            return f64::NEG_INFINITY;
        }
        let interior = self.group_sums(&|p| remaining * self.costs[p]);
        let current = self.group_sums(&|p| reduced[p]);
        let mut fraction = 1.0_f64;
        for (interior, current) in interior.iter().zip(&current) {
            if *current > self.penalty {
                fraction = fraction.min((self.penalty - interior) / (current - interior));
            }
        }
        for (p, bound) in self.bounds.iter().enumerate() {
            if *bound == WeightBound::Ungrouped && reduced[p] < 0.0 {
                let interior = remaining * self.costs[p];
                fraction = fraction.min(interior / (interior - reduced[p]));
            }
        }
        if fraction < 1.0 {
            margin_duals.iter_mut().chain(cut_duals.iter_mut()).for_each(|dual| *dual *= fraction);
            if let (Some(cut), true) = (self.cost_cut, remaining < 1.0) {
                cut_duals[cut] += (1.0 - fraction) * (1.0 - remaining) * self.cost_cut_dual();
            }
        }
        margin_duals.iter().sum()
    }

    /// The sum over each group of $|u_p|$, or of the negative part of $u_p$ for nonnegative weights.
    fn group_sums(&self, u: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.groups];
        for (p, bound) in self.bounds.iter().enumerate() {
            match bound {
                WeightBound::Symmetric(g) => sums[*g] += u(p).abs(),
                WeightBound::NonNegative(g) => sums[*g] += (-u(p)).max(0.0),
                WeightBound::Ungrouped => {}
            }
        }
        sums
    }

    /// The dual value of the cost cut that cancels all costs.
    fn cost_cut_dual(&self) -> f64 {
        let (Some(cut), Some(cuts)) = (self.cost_cut, self.cuts) else { return 0.0 };
        let row = cuts.row(cut);
        let square: f64 = row.iter().map(|v| v * v).sum();
        row.iter().zip(self.costs).map(|(v, c)| v * c).sum::<f64>() / square
    }
}

/// Rows per task.
const ROWS: usize = 4096;

/// $A x$ of a matrix laid out by columns.
pub(super) fn times(a: ArrayView2<f64>, x: &[f64]) -> Vec<f64> {
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
pub(super) fn transposed_times(a: ArrayView2<f64>, y: &[f64]) -> Vec<f64> {
    a.axis_iter(Axis(1))
        .into_par_iter()
        .map(|column| match column.to_slice() {
            Some(column) => dot(column, y),
            None => column.iter().zip(y).map(|(v, y)| v * y).sum(),
        })
        .collect()
}
