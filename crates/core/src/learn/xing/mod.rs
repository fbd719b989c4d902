//! The metric of Xing, Ng, Jordan and Russell: similar pairs close, dissimilar pairs far apart.
//!
//! From similar pairs $S$ and dissimilar pairs $D$ of rows it learns a metric $d_A(x, y)^2 = (x - y)^\top A (x - y)$ with $A$
//! positive semidefinite, full or diagonal:
//!
//! $$ \max_{A \succeq 0} \ g(A) = \sum_{D} d_A(x_i, x_j) \quad\text{s.t.}\quad f(A) = \sum_{S} d_A(x_i, x_j)^2 \le 1. $$
//!
//! The bound 1 only sets the scale: the optimal $A$ maximizes $g / \sqrt{f}$. The paper's diagonal form minimizes
//! $f(A) - \ln g(A)$, which is the same problem over diagonal $A$: at the optimal scale it equals
//! $\tfrac12 + \tfrac12 \ln 2 - \ln (g / \sqrt f)$. Distances in $g$ are not squared; otherwise the optimal metric would always have
//! rank one.
//!
//! Triplets give pairs: from "i is closer to j than to k", (i, j) is in $S$ and (i, k) in $D$. Duplicates within a set count once.
//! A pair can be in both sets, for example (i, k) with the further triplet "i is closer to k than to l": it then counts in both
//! sums, and a note reports the number of such pairs.
//!
//! # Steps
//!
//! 1. Columns in which no pair differs get weight zero. The others are standardized, so units do not matter.
//! 2. Directions in which no pair differs get weight zero. In coordinates of the others, $f(A)$ is the trace of the metric $B$
//!    (in the diagonal form the sum of the weights). If similar pairs agree in a direction in which others differ, $g$ is
//!    unbounded; then $\rho \sum_{S \cup D} d_A^2$ is added to $f$, see [`XingMetric::ridge`].
//! 3. With $B = L L^\top$, L-BFGS minimizes $\tfrac12 \lVert L \rVert_F^2 - \ln g(L L^\top)$. The gradient sums differences of
//!    transformed rows into one row each, and multiplies by the rows once.
//! 4. The problem in $L$ is not convex, so optimality is checked in $B$, where it is concave: with $G = \nabla g(B)$, no metric has a
//!    value above $\sqrt{2 g \lambda_{\max}(G)}$. If this exceeds $g$ by more than the tolerance, $B$ moves towards the leading
//!    eigenvector of $G$, which adds a column to $L$, and step 3 continues. So [`Status::Optimal`] is proven.
//! 5. Directions (features in the diagonal form) with very small weights are removed if the bound still holds.
//! 6. $A$ is scaled to a mean squared distance of 1 over all pairs of $S$ and $D$; the kernel is $\exp(-d_A^2)$.
//!
//! The diagonal form is concave in its weights, so steps 3 and 4 work on the weights, with the bound $b \ge 0$; weights that are not
//! needed become exactly 0.
//!
//! The paper solves the same problems, the full form by projected gradient ascent with alternating projections and the diagonal
//! form by Newton's method.
//!
//! Cost for $m$ rows in pairs, $p$ pairs and rank $k$ (at first 16): $O(m d k + p k)$ per step, $O(p d + m d^2 + d^3)$ for the
//! coordinates and a bound; usually 10 to 60 steps and one or two bounds. Memory $O(m d + d^2)$. Diagonal: $O(p d)$ per step and in
//! memory.
//!
//! Reference: Xing, Ng, Jordan and Russell, *Distance metric learning with application to clustering with side-information*,
//! 2002.

mod ascent;
mod diagonal;
mod frame;
mod full;
mod pairs;
#[cfg(test)]
mod tests;

use super::learner::{KernelLearner, Learned, Status};
use crate::context::Context;
use crate::data::triplets::check;
use crate::data::{Dataset, Groups, Triplet};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::product_bytes;
use crate::method::{Info, Needs};
use crate::parameters::{Kind, ParameterValue, Parameters};
use ascent::Solution;
use diagonal::Diagonal;
use frame::{Frame, Table, breakdown, ridge_for};
use full::Full;
use ndarray::Array2;
use pairs::{Graph, NAME, Pairs, from_triplets, times};
use serde::{Deserialize, Serialize};

crate::parameters! {
    /// Learns a metric from similar and dissimilar pairs; see the [module](self).
    #[derive(PartialEq)]
    pub struct XingMetric as "Xing metric" {
        /// Whether to learn a weight per feature instead of a full matrix. Features that are not needed get exactly 0.
        pub diagonal: bool = false;
        /// Fraction of the squared distances of all pairs that is added to those of similar pairs. Without it, a direction
        /// in which similar pairs agree and others differ, as exists with more features than samples, would get all the
        /// weight. With 0, such a direction is an error.
        pub ridge: Ridge = Ridge::Auto, at_least(0);
        /// Relative gap between the value and its upper bound at which the solver stops.
        pub tol: f64 = 1e-6, above(0);
        /// Maximum number of iterations.
        pub max_iter: usize = 1000, at_least(1);
    }
}

/// The ridge of [`XingMetric`]. Serialized as `"auto"` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ridge {
    /// 0, or 0.01 with a warning if similar pairs agree in a direction in which others differ.
    Auto,
    /// A number; with 0, such a direction is an error.
    #[serde(untagged)]
    Value(f64),
}

impl ParameterValue for Ridge {
    fn kinds() -> Vec<Kind> {
        let auto = "0, or 0.01 with a warning if there is such a direction.";
        vec![Kind::choice(&[("auto", auto)]), Kind::Real]
    }

    fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Auto => vec![],
            Self::Value(ridge) => vec![*ridge],
        }
    }
}

impl KernelLearner for XingMetric {
    fn name(&self) -> &'static str {
        if self.diagonal { Self::DIAGONAL.name } else { Self::INFO.name }
    }

    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned> {
        if let Some(warning) = check(triplets, data.n())?.warning() {
            ctx.warn(warning);
        }
        let (similar, dissimilar) = from_triplets(triplets);
        self.learn_pairs(data, &similar, &dissimilar, ctx)
    }
}

impl XingMetric {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "xing",
        title: "Metric from similar and dissimilar pairs",
        summary: "A metric in which similar pairs are near and dissimilar pairs are far",
        needs: Needs::Triplets,
        cost: "O(n d m + t m) per step for rank m, O(d³) in all",
        reference: "Xing, Ng, Jordan and Russell, NIPS 2002",
    };

    /// What `kernsift methods` says about the diagonal form.
    pub const DIAGONAL: Info = Info {
        name: "xing-diagonal",
        title: "Feature weights from similar and dissimilar pairs",
        summary: "The same with one weight per feature, zero for features that are not needed",
        cost: "O(t d) per step",
        ..Self::INFO
    };

    /// The diagonal form.
    pub fn diagonal() -> Self {
        Self { diagonal: true, ..Self::default() }
    }

    /// Learns from similar and dissimilar pairs of row indices.
    pub fn learn_pairs(
        &self,
        data: &Dataset,
        similar: &[[usize; 2]],
        dissimilar: &[[usize; 2]],
        ctx: &Context,
    ) -> Result<Learned> {
        self.check_ranges()?;
        data.need_complete(NAME)?;
        let pairs = Pairs::new(data.n(), similar, dissimilar)?;
        if pairs.both > 0 {
            ctx.note(format!(
                "{NAME}: {} pairs are both similar and dissimilar; they count as both",
                pairs.both
            ));
        }
        self.need_memory(&pairs, data.x().d(), ctx)?;
        let x = data.x().take_rows(&pairs.rows).into_dense();
        let metric = self.solve(&Problem::new(x, pairs, ctx)?, ctx)?;
        ctx.note(format!(
            "{NAME}: the sum of distances of dissimilar pairs is within {:.1e} of its maximum",
            metric.gap
        ));
        metric.learned(self.name(), &data.groups())
    }

    fn need_memory(&self, pairs: &Pairs, d: usize, ctx: &Context) -> Result<()> {
        let (m, p, d) = (pairs.rows.len() as f64, pairs.dissimilar.len() as f64, d as f64);
        let r = d.min(m);
        // Copies of the rows; two of the metric; squared differences of pairs, or square matrices and the L-BFGS history.
        let (bytes, advice) = if self.diagonal {
            (8.0 * (2.0 * m * d + d * p.max(2.0 * d)), "use fewer triplets or columns")
        } else {
            let bytes = 8.0 * (3.0 * m * d + 2.0 * d * d + 4.0 * r * r + 24.0 * 32.0 * r) + product_bytes();
            (bytes, FULL_ADVICE)
        };
        ctx.need_memory(format!("{NAME} of {m} rows x {d} columns"), bytes, advice)
    }

    fn solve(&self, problem: &Problem, ctx: &Context) -> Result<Metric> {
        if self.diagonal { self.solve_diagonal(problem, ctx) } else { self.solve_full(problem, ctx) }
    }

    fn given_ridge(&self) -> Option<f64> {
        match self.ridge {
            Ridge::Auto => None,
            Ridge::Value(ridge) => Some(ridge),
        }
    }

    fn solve_full(&self, problem: &Problem, ctx: &Context) -> Result<Metric> {
        let Problem { table, similar, dissimilar } = problem;
        let frame = Frame::new(table, similar, dissimilar, self.given_ridge(), ctx)?;
        let full = Full { rows: &frame.rows, dissimilar };
        let solution = full.solve(self.tol, self.max_iter, ctx)?;
        let mapped = times(frame.rows.view(), solution.matrix.view());
        let squares =
            similar.squared_distances(&mapped).iter().chain(&dissimilar.squared_distances(&mapped)).sum();
        let factor = times(frame.transform.view(), solution.matrix.view());
        let metric = times(factor.view(), factor.t());
        Ok(problem.unscaled(metric, squares, solution))
    }

    fn solve_diagonal(&self, problem: &Problem, ctx: &Context) -> Result<Metric> {
        let Problem { table, dissimilar, .. } = problem;
        let least = table.similar.iter().copied().fold(f64::INFINITY, f64::min);
        let ridge = ridge_for(self.given_ridge(), least, "column", ctx)?;
        let sums: Vec<f64> =
            table.similar.iter().map(|fraction| table.squares * (fraction + ridge)).collect();
        let solution = Diagonal::new(&table.x, dissimilar, &sums).solve(self.tol, self.max_iter, ctx)?;
        let weights: Vec<f64> = solution.matrix.iter().zip(&sums).map(|(weight, sum)| weight / sum).collect();
        let squares = table.squares * weights.iter().sum::<f64>();
        Ok(problem.unscaled(Array2::from_diag(&ndarray::aview1(&weights)), squares, solution))
    }
}

const FULL_ADVICE: &str = "use fewer columns, or the diagonal form";

/// Scaled rows and the pairs among them.
struct Problem {
    table: Table,
    similar: Graph,
    dissimilar: Graph,
}

impl Problem {
    fn new(x: Array2<f64>, pairs: Pairs, ctx: &Context) -> Result<Self> {
        let m = pairs.rows.len();
        let similar = Graph::new(m, pairs.similar);
        let dissimilar = Graph::new(m, pairs.dissimilar);
        let table = Table::new(x, &similar, &dissimilar)?;
        let distinct: Vec<[usize; 2]> =
            dissimilar.pairs().iter().copied().filter(|&pair| table.separates(pair)).collect();
        if distinct.is_empty() {
            return Err(breakdown("all dissimilar pairs are of equal rows, so no metric can separate them"));
        }
        if !similar.pairs().iter().any(|&pair| table.separates(pair)) {
            return Err(breakdown(
                "all similar pairs are of equal rows, so distances are unbounded; give similar pairs that differ",
            ));
        }
        let equal = dissimilar.len() - distinct.len();
        if equal == 0 {
            return Ok(Self { table, similar, dissimilar });
        }
        ctx.note(format!("{NAME}: {equal} dissimilar pairs are of equal rows and are ignored"));
        Ok(Self { table, similar, dissimilar: Graph::new(m, distinct) })
    }

    /// The metric in the original units, with a mean squared distance of 1 over all pairs.
    fn unscaled(&self, mut metric: Array2<f64>, squares: f64, solution: Solution) -> Metric {
        let factor = (self.similar.len() + self.dissimilar.len()) as f64 / squares;
        let scale = &self.table.scale;
        for ((i, j), value) in metric.indexed_iter_mut() {
            *value *= factor / scale[i] / scale[j];
        }
        // Symmetrize: products round differently on both sides of the diagonal.
        for i in 0..metric.nrows() {
            for j in 0..i {
                let middle = (metric[[i, j]] + metric[[j, i]]) / 2.0;
                (metric[[i, j]], metric[[j, i]]) = (middle, middle);
            }
        }
        Metric {
            columns: self.table.columns.clone(),
            metric,
            gap: solution.gap,
            iterations: solution.iterations,
            status: solution.status,
        }
    }
}

/// A metric in the original units.
struct Metric {
    /// Columns in which some pair differs.
    columns: Vec<usize>,
    /// The metric of these columns.
    metric: Array2<f64>,
    gap: f64,
    iterations: usize,
    status: Status,
}

impl Metric {
    /// The score of a feature is the root of the sum over its columns of the diagonal of the metric.
    fn learned(self, name: &str, groups: &Groups) -> Result<Learned> {
        let d = groups.n_columns();
        let mut metric = Array2::zeros((d, d));
        for ((i, j), &value) in self.metric.indexed_iter() {
            metric[[self.columns[i], self.columns[j]]] = value;
        }
        let diagonal: Vec<f64> = metric.diag().iter().map(|v| v.max(0.0)).collect();
        let roots: Vec<f64> = groups.sums(&diagonal).into_iter().map(f64::sqrt).collect();
        let largest = roots.iter().copied().fold(0.0, f64::max);
        // Squares of the columns may overflow or underflow.
        if largest == 0.0 || metric.iter().any(|value| !value.is_finite()) {
            let why =
                "values are too large or too small, so the metric overflows or underflows; scale the columns"
                    .into();
            return Err(Error::Breakdown { step: NAME, why });
        }
        Ok(Learned {
            method: name.into(),
            kernel: Kernel::Mahalanobis { metric },
            noise: 0.0,
            scores: roots.iter().map(|root| root / largest).collect(),
            status: self.status,
            iterations: self.iterations,
        })
    }
}
