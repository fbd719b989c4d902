//! The metric of Xing, Ng, Jordan and Russell: similar pairs near, dissimilar pairs far.
//!
//! From pairs $S$ of rows that are alike and pairs $D$ that are not, a metric
//! $d_A(x, y)^2 = (x - y)^\top A (x - y)$ with $A$ positive semidefinite, full or diagonal:
//!
//! $$ \max_{A \succeq 0} \ g(A) = \sum_{D} d_A(x_i, x_j) \quad\text{where}\quad f(A) = \sum_{S} d_A(x_i, x_j)^2 \le 1. $$
//!
//! The bound 1 only sets the scale: the best $A$ makes $g / \sqrt{f}$ largest. The paper's diagonal form, the least
//! $f(A) - \ln g(A)$, is the same problem over diagonal $A$: at the best scale it is $\tfrac12 + \tfrac12 \ln 2 - \ln (g / \sqrt f)$.
//! Distances in $g$ are not squared, or else the best metric would have rank one always.
//!
//! Pairs are read off triples: with "i is more like j than k" (i, j) is in $S$ and (i, k) in $D$. A pair counts once
//! in each set however often it is stated. A pair can be in both, as (i, k) is with "i is more like k than l" beside the former:
//! it then counts in both sums, and a note says how many do.
//!
//! # Steps
//!
//! 1. Columns in which no pair differs get no weight. The others are scaled, so that the units given do not matter.
//! 2. Directions in which no pair differs get no weight; of the rest, coordinates are taken in which $f(A)$ is the trace of
//!    the metric $B$ (all weights add up to 1 in the diagonal form). If similar pairs agree in a direction in which others
//!    differ, $g$ would grow without limit: then $\rho \sum_{S \cup D} d_A^2$ is added to $f$, see [`XingMetric::ridge`].
//! 3. With $B = L L^\top$, the least $\tfrac12 \lVert L \rVert_F^2 - \ln g(L L^\top)$ by L-BFGS. Its gradient goes by the rows and not by
//!    the pairs: differences of mapped rows are added up row by row, and then meet the rows in one matrix product.
//! 4. The problem in $L$ is not convex, so the answer is checked in $B$, where it is: with $G = \nabla g(B)$, no metric has a
//!    value above $\sqrt{2 g \lambda_{\max}(G)}$. If that is more than the tolerance above $g$, $B$ is moved towards the
//!    leading eigenvector of $G$, which adds a column to $L$, and 3 goes on. So [`Status::Optimal`] is proven.
//! 5. Directions (columns in the diagonal form) with hardly any weight go, if the bound still holds.
//! 6. $A$ is scaled so that squared distances have the mean 1 over all pairs of $S$ and $D$; the kernel is
//!    $\exp(-d_A^2)$.
//!
//! The diagonal form is concave in its weights, so there steps 3 and 4 work on the weights themselves, held above 0; those not
//! needed become exactly 0.
//!
//! The paper climbs by projecting on the two constraints in turn, and the diagonal form by Newton's method; both solve the
//! same problems, and both go by the pairs.
//!
//! Cost for $m$ rows in pairs, $p$ pairs and $k$ columns of $L$ (the rank, 16 at first): $O(m d k + p k)$ a step, $O(p d + m d^2 + d^3)$
//! for the coordinates and a bound; 10 to 60 steps and one or two bounds as a rule. Memory $O(m d + d^2)$. Diagonal: $O(p d)$ a step and
//! in memory.
//!
//! Reference: Xing, Ng, Jordan and Russell, *Distance metric learning with application to clustering with side-information*,
//! 2002.

mod climb;
mod diagonal;
mod frame;
mod full;
mod pairs;
#[cfg(test)]
mod tests;

use super::learner::{KernelLearner, Learned, Status};
use crate::context::Context;
use crate::data::triplets::check;
use crate::data::{Dataset, Triplet};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::linalg::product_bytes;
use climb::Top;
use diagonal::Diagonal;
use frame::{Frame, Table, breakdown, ridge_for};
use full::Full;
use ndarray::Array2;
use pairs::{Graph, Pairs, from_triplets, times};
use serde::{Deserialize, Serialize};

const NAME: &str = "Xing metric";

/// Which metrics are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricForm {
    /// All positive semidefinite matrices.
    #[default]
    Full,
    /// Diagonal ones: a weight for every column, exactly zero for those not needed.
    Diagonal,
}

/// Learns a metric from pairs; see the module's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct XingMetric {
    /// Full or diagonal.
    pub form: MetricForm,
    /// $\rho$, the share of the squares of all pairs that is added to those of similar pairs. Left out, it is 0, or 0.01
    /// with a warning where similar pairs agree in a direction in which others differ; given as 0, that is an error.
    pub ridge: Option<f64>,
    /// How far below the largest possible value the value may be proven to lie, as a share.
    pub tolerance: f64,
    /// Most steps.
    pub max_iter: usize,
}

impl Default for XingMetric {
    /// Full, with a ridge only where it is needed, a tolerance of 1e-6 and 1000 steps.
    fn default() -> Self {
        Self { form: MetricForm::Full, ridge: None, tolerance: 1e-6, max_iter: 1000 }
    }
}

impl KernelLearner for XingMetric {
    fn name(&self) -> &'static str {
        "xing"
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
    /// Learns from pairs of row numbers that are alike and pairs that are not.
    pub fn learn_pairs(
        &self,
        data: &Dataset,
        similar: &[[usize; 2]],
        dissimilar: &[[usize; 2]],
        ctx: &Context,
    ) -> Result<Learned> {
        self.check()?;
        data.need_complete(NAME)?;
        let pairs = Pairs::new(data.n(), similar, dissimilar)?;
        if pairs.both > 0 {
            ctx.note(format!(
                "{NAME}: {} pairs are both similar and dissimilar, and count as both",
                pairs.both
            ));
        }
        self.need_memory(&pairs, data.d(), ctx)?;
        let x = data.x().take_rows(&pairs.rows).into_dense();
        let solved = self.solve(&Problem::new(x, pairs, ctx)?, ctx)?;
        ctx.note(format!(
            "{NAME}: the distances of dissimilar pairs add up to within {:.1e} of the largest possible sum",
            solved.gap
        ));
        solved.learned(self.name(), data.d())
    }

    fn check(&self) -> Result<()> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !positive(self.tolerance) {
            return Err(Error::param(NAME, "tolerance", "a positive number", self.tolerance));
        }
        if self.max_iter == 0 {
            return Err(Error::param(NAME, "max_iter", "at least 1", 0));
        }
        match self.ridge {
            Some(ridge) if ridge != 0.0 && !positive(ridge) => {
                Err(Error::param(NAME, "ridge", "0 or a positive number", ridge))
            }
            _ => Ok(()),
        }
    }

    fn need_memory(&self, pairs: &Pairs, d: usize, ctx: &Context) -> Result<()> {
        let (m, p, d) = (pairs.rows.len() as f64, pairs.dissimilar.len() as f64, d as f64);
        let r = d.min(m);
        // Copies of the rows; the metric, twice; the squares of pairs, or square matrices and the steps that L-BFGS remembers.
        let (bytes, advice) = match self.form {
            MetricForm::Full => {
                (8.0 * (3.0 * m * d + 2.0 * d * d + 4.0 * r * r + 24.0 * 32.0 * r) + product_bytes(), FEWER)
            }
            MetricForm::Diagonal => {
                (8.0 * (2.0 * m * d + d * p.max(2.0 * d)), "use fewer triples or columns")
            }
        };
        ctx.need_memory(format!("{NAME} of {m} rows x {d} columns"), bytes, advice)
    }

    fn solve(&self, problem: &Problem, ctx: &Context) -> Result<Solved> {
        let Problem { table, near, far } = problem;
        match self.form {
            MetricForm::Full => {
                let frame = Frame::new(table, near, far, self.ridge, ctx)?;
                let full = Full { rows: &frame.rows, far };
                let top = full.solve(self.tolerance, self.max_iter, ctx)?;
                let mapped = times(frame.rows.view(), top.matrix.view());
                let squares = near.squares(&mapped).iter().chain(&far.squares(&mapped)).sum();
                let factor = times(frame.back.view(), top.matrix.view());
                let metric = times(factor.view(), factor.t());
                Ok(problem.solved(metric, squares, top))
            }
            MetricForm::Diagonal => {
                let least = table.similar.iter().copied().fold(f64::INFINITY, f64::min);
                let ridge = ridge_for(self.ridge, least, "column", ctx)?;
                let price: Vec<f64> =
                    table.similar.iter().map(|share| table.squares * (share + ridge)).collect();
                let top = Diagonal::new(&table.x, far, &price).solve(self.tolerance, self.max_iter, ctx)?;
                let weights: Vec<f64> =
                    top.matrix.iter().zip(&price).map(|(weight, price)| weight / price).collect();
                let squares = table.squares * weights.iter().sum::<f64>();
                Ok(problem.solved(Array2::from_diag(&ndarray::aview1(&weights)), squares, top))
            }
        }
    }
}

const FEWER: &str = "use fewer columns, or the diagonal form";

/// Rows on a common scale and the pairs among them.
struct Problem {
    table: Table,
    near: Graph,
    far: Graph,
}

impl Problem {
    fn new(x: Array2<f64>, pairs: Pairs, ctx: &Context) -> Result<Self> {
        let m = pairs.rows.len();
        let near = Graph::new(m, pairs.similar);
        let far = Graph::new(m, pairs.dissimilar);
        let table = Table::new(x, &near, &far)?;
        let apart: Vec<[usize; 2]> =
            far.pairs().iter().copied().filter(|&pair| table.tells_apart(pair)).collect();
        if apart.is_empty() {
            return Err(breakdown("all dissimilar pairs are of equal rows, so nothing can tell them apart"));
        }
        if !near.pairs().iter().any(|&pair| table.tells_apart(pair)) {
            return Err(breakdown(
                "all similar pairs are of equal rows, so nothing holds the distances back; give similar pairs that differ",
            ));
        }
        let alike = far.len() - apart.len();
        if alike == 0 {
            return Ok(Self { table, near, far });
        }
        ctx.note(format!("{NAME}: {alike} dissimilar pairs are of equal rows, and play no part"));
        Ok(Self { table, near, far: Graph::new(m, apart) })
    }

    /// The metric of the scaled columns in the units given, with a mean square of 1 over all pairs.
    fn solved(&self, mut metric: Array2<f64>, squares: f64, top: Top) -> Solved {
        let scale = (self.near.len() + self.far.len()) as f64 / squares;
        let unit = &self.table.unit;
        for ((i, j), value) in metric.indexed_iter_mut() {
            *value *= scale / unit[i] / unit[j];
        }
        // Products round differently on both sides of the diagonal.
        for i in 0..metric.nrows() {
            for j in 0..i {
                let middle = (metric[[i, j]] + metric[[j, i]]) / 2.0;
                (metric[[i, j]], metric[[j, i]]) = (middle, middle);
            }
        }
        Solved {
            columns: self.table.columns.clone(),
            metric,
            gap: top.gap,
            iterations: top.iterations,
            status: top.status,
        }
    }
}

/// The best metric found.
struct Solved {
    /// Columns that some pair differs in.
    columns: Vec<usize>,
    /// The metric of these, in the units given.
    metric: Array2<f64>,
    gap: f64,
    iterations: usize,
    status: Status,
}

impl Solved {
    fn learned(self, name: &str, d: usize) -> Result<Learned> {
        let mut metric = Array2::zeros((d, d));
        for ((i, j), &value) in self.metric.indexed_iter() {
            metric[[self.columns[i], self.columns[j]]] = value;
        }
        let roots: Vec<f64> = metric.diag().iter().map(|v| v.max(0.0).sqrt()).collect();
        let largest = roots.iter().copied().fold(0.0, f64::max);
        // In units of the columns themselves, whose squares may be too large or too small for a number.
        if largest == 0.0 || metric.iter().any(|value| !value.is_finite()) {
            let why = "columns hold numbers that are too large or too small; scale the columns".into();
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
