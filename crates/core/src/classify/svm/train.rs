//! Training: settings, class weights, and the pairs of classes one after another or side by side.

use super::model::{SvmModel, linear_weights};
use super::pairs::{PairMachine, PairMachines};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows};
use crate::error::{Error, Result};
use crate::kernel::{CachedColumns, Family, Gamma, Kernel, KernelChoice, diagonal, gram_symmetric};
use crate::optim::{BlockColumns, ColumnMemory, KernelColumns, PairProblem, PairStart, Smo, SmoSolution};
use crate::parameters::{Kind, ParameterValue};
use ndarray::{Array1, Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(super) const NAME: &str = "SVM";

/// Up to this many rows one fit keeps its whole Gram matrix, 128 MiB.
const KEPT_ROWS: usize = 4096;

/// The most bytes of columns that are remembered.
const MOST_CACHE: u64 = 1 << 30;

/// How much rows of each class count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// All alike.
    #[default]
    None,
    /// By one over the class's share, so that all classes count alike.
    Balanced,
    /// A factor per class, zero or more.
    Given(Vec<f64>),
}

/// A support vector machine; see the module's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Svm {
    /// The kernel.
    pub kernel: KernelChoice,
    /// $C$: the price of a row that the margin does not clear, above 0.
    pub c: f64,
    /// What $C$ is multiplied by for rows of each class.
    pub class_weight: ClassWeight,
    /// The violation of the optimality conditions that is let pass, above 0.
    pub tol: f64,
    /// Most steps of each machine; 0 is ten million, or a hundred per row if that is more.
    pub max_iter: usize,
    /// Whether rows that seem settled are set aside until the end. Saves time only.
    pub shrinking: bool,
}

impl Default for Svm {
    /// RBF with scikit-learn's width, $C = 1$.
    fn default() -> Self {
        let kernel = KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Scale, degree: 3, coef0: 0.0 };
        let class_weight = ClassWeight::None;
        Self { kernel, c: 1.0, class_weight, tol: 1e-3, max_iter: 0, shrinking: true }
    }
}

impl ParameterValue for ClassWeight {
    fn kinds() -> Vec<Kind> {
        vec![Kind::choice(&[
            ("none", "All samples have weight 1."),
            (
                "balanced",
                "Inversely proportional to class frequencies, so that all classes have equal weight.",
            ),
        ])]
    }
}

impl ClassWeight {
    /// The factor of every class, for rows of these classes.
    pub fn factors(&self, classes: &Classes) -> Result<Vec<f64>> {
        let counts = classes.counts();
        Ok(match self {
            Self::None => vec![1.0; counts.len()],
            Self::Balanced => {
                let share = classes.codes.len() as f64 / classes.n_present() as f64;
                counts.iter().map(|&count| if count > 0 { share / count as f64 } else { 1.0 }).collect()
            }
            Self::Given(factors) => {
                if factors.len() != counts.len() {
                    let expected = format!("one number for each of the {} classes", counts.len());
                    return Err(Error::param(NAME, "class_weight", expected, factors.len()));
                }
                if let Some(bad) = factors.iter().find(|f| !(**f >= 0.0 && f.is_finite())) {
                    return Err(Error::param(NAME, "class_weight", "zero or more and finite", bad));
                }
                factors.clone()
            }
        })
    }
}

impl Svm {
    /// Learns from dense or sparse rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<SvmModel> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check()?;
        self.class_weight.factors(classes)?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let around = Around::mean(&kernel, data.x());
        let x = around.rows(data.x());
        let machines = {
            let source = KernelSource::for_one_fit(&kernel, x, ctx)?;
            let all: Vec<usize> = (0..data.n()).collect();
            self.fit_rows(&source, classes, &all, ctx)?
        };
        around.model(kernel, data.x(), classes, machines)
    }

    /// Learns from a Gram matrix; `k` is symmetric, a row per row of `classes`.
    pub fn fit_gram(&self, k: ArrayView2<f64>, classes: &Classes, ctx: &Context) -> Result<PairMachines> {
        let n = classes.codes.len();
        if k.dim() != (n, n) {
            let (expected, got) = (format!("{n} x {n}"), format!("{} x {}", k.nrows(), k.ncols()));
            return Err(Error::Shape { what: "the kernel matrix".into(), expected, got });
        }
        if classes.n_present() < 2 {
            let class = classes.codes.first().map_or(String::new(), |&c| classes.names[c].clone());
            return Err(Error::OneClass { method: NAME, class });
        }
        self.check()?;
        need_finite(NAME, k.iter().copied())?;
        self.fit_rows(&KernelSource::Whole(k.into()), classes, &(0..n).collect::<Vec<_>>(), ctx)
    }

    /// Learns from some rows of a source.
    pub(super) fn fit_rows(
        &self,
        source: &KernelSource,
        classes: &Classes,
        rows: &[usize],
        ctx: &Context,
    ) -> Result<PairMachines> {
        let task = PairTask::all(classes, rows, &self.class_weight)?;
        let solve = |pair: &PairTask| {
            let solutions = self.solve_path(source, pair, &[self.c], &mut ColumnMemory::default(), ctx)?;
            Ok(pair.machine(&solutions[0]))
        };
        let machines = match source {
            KernelSource::Whole(_) => task.par_iter().map(solve).collect::<Result<_>>()?,
            // One after another: each may fill the cache.
            KernelSource::Columns { .. } => task.iter().map(solve).collect::<Result<_>>()?,
        };
        let present = present(classes, rows);
        Ok(PairMachines { n_classes: classes.names.len(), present, machines })
    }

    /// One pair at several prices, rising; each starts from the one before.
    pub(super) fn solve_path(
        &self,
        source: &KernelSource,
        pair: &PairTask,
        prices: &[f64],
        memory: &mut ColumnMemory,
        ctx: &Context,
    ) -> Result<Vec<SmoSolution>> {
        match source {
            KernelSource::Whole(k) => {
                let mut columns = BlockColumns::within(std::mem::take(memory), k.view(), &pair.rows);
                let found = self.walk(&mut columns, pair, prices, ctx);
                *memory = columns.into_memory();
                found
            }
            KernelSource::Columns { kernel, x, bytes } => {
                let mut columns = CachedColumns::new(kernel, &x.take_rows(&pair.rows), *bytes)?;
                self.walk(&mut columns, pair, prices, ctx)
            }
        }
    }

    fn walk(
        &self,
        columns: &mut impl KernelColumns,
        pair: &PairTask,
        prices: &[f64],
        ctx: &Context,
    ) -> Result<Vec<SmoSolution>> {
        let mut found: Vec<SmoSolution> = vec![];
        for (at, price) in prices.iter().enumerate() {
            let bounds: Vec<f64> = pair.weights.iter().map(|w| w * price).collect();
            let before = found.last().map(|before| raised(before, pair, prices[at - 1], *price, &bounds));
            let start =
                before.as_ref().map(|(coefficients, left)| PairStart { coefficients, left: left.as_deref() });
            let problem = PairProblem { signs: &pair.signs, bounds: &bounds, start };
            found.push(self.solver().solve(&problem, columns, ctx)?);
        }
        Ok(found)
    }

    fn solver(&self) -> Smo {
        Smo { tolerance: self.tol, max_iterations: self.max_iter, shrinking: self.shrinking }
    }

    /// Refuses parameters that are wrong whatever the data are.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [("C", self.c), ("tol", self.tol)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::param(NAME, name, "a positive finite number", value));
            }
        }
        self.kernel.validate()
    }
}

/// A start for a higher price, and what it leaves of the labels: everything grows in proportion, so that rows at their bound
/// stay at it.
fn raised(
    before: &SmoSolution,
    pair: &PairTask,
    from: f64,
    to: f64,
    bounds: &[f64],
) -> (Vec<f64>, Option<Vec<f64>>) {
    let growth = to / from;
    let at = before.coefficients.iter().zip(bounds).zip(pair.signs.iter().zip(&pair.weights));
    let coefficients = at.map(|((b, bound), (sign, weight))| {
        // Exactly at the bound, where a product could miss it by rounding.
        if sign * b >= weight * from { sign * bound } else { (b * growth).clamp(-bound, *bound) }
    });
    let left = before.left.iter().zip(&pair.signs).map(|(left, sign)| sign - growth * (sign - left));
    // What the steps of one that did not come to its end have left carries their rounding.
    (coefficients.collect(), before.converged.then(|| left.collect()))
}

/// Refuses kernel values that are not finite, or so large that a sum of four is not.
pub(crate) fn need_finite(step: &'static str, mut values: impl Iterator<Item = f64>) -> Result<()> {
    if values.all(|v| v.abs() <= f64::MAX / 4.0) {
        return Ok(());
    }
    Err(Error::Breakdown { step, why: "kernel values are too large for a number; scale the columns".into() })
}

/// Dense rows around their mean, for the linear kernel.
///
/// Coefficients sum to zero, so that the kernel may be taken around any point: with $x - m$ the weights are the same and
/// the constant is larger by $\langle w, m \rangle$. Far from zero the products of rows are so large that what tells
/// rows apart drowns in their rounding.
pub(super) struct Around(Option<(Rows, Array1<f64>)>);

impl Around {
    /// Around the mean where that is possible, else around zero.
    pub(super) fn mean(kernel: &Kernel, x: &Rows) -> Self {
        let (Kernel::Linear, Rows::Dense(dense)) = (kernel, x) else { return Self(None) };
        let (mean, _) = x.moments();
        Self(Some(((dense - &mean).into(), mean)))
    }

    /// The rows to train on.
    pub(super) fn rows<'a>(&'a self, x: &'a Rows) -> &'a Rows {
        self.0.as_ref().map_or(x, |(rows, _)| rows)
    }

    /// What was trained on them, for the rows as they were, `x`.
    pub(super) fn model(
        &self,
        kernel: Kernel,
        x: &Rows,
        classes: &Classes,
        mut machines: PairMachines,
    ) -> Result<SvmModel> {
        // From these rows, because far from zero the rounding of weights would be multiplied by far rows.
        let weights = self.0.as_ref().map(|(rows, mean)| {
            let weights = linear_weights(rows, &machines);
            machines.machines.iter_mut().zip(weights.dot(mean)).for_each(|(m, shift)| m.bias -= shift);
            weights
        });
        SvmModel::new(kernel, x, classes, machines, weights)
    }
}

/// Where kernel values come from.
pub(super) enum KernelSource<'a> {
    /// The whole matrix is there.
    Whole(ndarray::CowArray<'a, f64, ndarray::Ix2>),
    /// Columns are computed when asked for.
    Columns {
        /// The kernel.
        kernel: &'a Kernel,
        /// All rows.
        x: &'a Rows,
        /// Bytes of columns to remember.
        bytes: usize,
    },
}

impl<'a> KernelSource<'a> {
    fn for_one_fit(kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<Self> {
        // The matrix, a pair's part of it, and what is left of that after shrinking.
        if x.n() <= KEPT_ROWS && Self::fits(x.n(), 3.0, ctx) {
            return Self::whole(kernel, x);
        }
        Self::columns(kernel, x, ctx)
    }

    pub(super) fn whole(kernel: &Kernel, x: &Rows) -> Result<Self> {
        // No kernel value is larger than those of rows with themselves.
        need_finite(NAME, diagonal(kernel, x)?.into_iter())?;
        Ok(Self::Whole(gram_symmetric(kernel, x)?.into()))
    }

    /// Whether so many matrices fit in half of the memory.
    pub(super) fn fits(n: usize, matrices: f64, ctx: &Context) -> bool {
        matrices * square_bytes(n) <= 0.5 * ctx.room() as f64
    }

    pub(super) fn columns(kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<Self> {
        let bytes = (ctx.room() / 2).min(MOST_CACHE);
        ctx.need_memory(
            format!("an SVM of {} rows", x.n()),
            // Two columns, and the dozen vectors of the solver.
            16.0 * 8.0 * x.n() as f64,
            "use fewer rows",
        )?;
        need_finite(NAME, diagonal(kernel, x)?.into_iter())?;
        Ok(Self::Columns { kernel, x, bytes: bytes as usize })
    }

    /// The kernel of some rows with some others.
    pub(super) fn block(&self, rows: &[usize], others: &[usize]) -> Result<Array2<f64>> {
        match self {
            Self::Whole(k) => {
                let mut out = Array2::zeros((rows.len(), others.len()));
                for (&i, mut out) in rows.iter().zip(out.rows_mut()) {
                    // Symmetric: a column is as good as a row, and one of them lies together.
                    let line = if k.strides()[1] == 1 { k.row(i) } else { k.column(i) };
                    out.iter_mut().zip(others).for_each(|(out, &j)| *out = line[j]);
                }
                Ok(out)
            }
            Self::Columns { kernel, x, .. } => {
                crate::kernel::gram(kernel, &x.take_rows(rows), &x.take_rows(others))
            }
        }
    }
}

fn square_bytes(n: usize) -> f64 {
    8.0 * (n as f64) * (n as f64)
}

/// Two classes and their rows.
pub(crate) struct PairTask {
    first: usize,
    second: usize,
    /// Places among all rows, rising.
    pub(crate) rows: Vec<usize>,
    pub(crate) signs: Vec<f64>,
    /// What the price is multiplied by, per row.
    pub(crate) weights: Vec<f64>,
}

/// Classes that some of these rows have, rising.
pub(crate) fn present(classes: &Classes, rows: &[usize]) -> Vec<usize> {
    let mut seen = vec![false; classes.names.len()];
    rows.iter().for_each(|&i| seen[classes.codes[i]] = true);
    (0..seen.len()).filter(|&c| seen[c]).collect()
}

impl PairTask {
    /// All pairs of the classes that these rows have.
    pub(crate) fn all(classes: &Classes, rows: &[usize], weight: &ClassWeight) -> Result<Vec<Self>> {
        let codes: Vec<usize> = rows.iter().map(|&i| classes.codes[i]).collect();
        let factors = weight.factors(&Classes { codes, names: classes.names.clone() })?;
        let present = present(classes, rows);
        let pairs =
            present.iter().enumerate().flat_map(|(at, &a)| present[at + 1..].iter().map(move |&b| (a, b)));
        Ok(pairs.map(|(first, second)| Self::new(first, second, classes, rows, &factors)).collect())
    }

    fn new(first: usize, second: usize, classes: &Classes, rows: &[usize], factors: &[f64]) -> Self {
        let of = |i: &usize| [first, second].contains(&classes.codes[*i]);
        let rows: Vec<usize> = rows.iter().copied().filter(of).collect();
        let signs = rows.iter().map(|&i| if classes.codes[i] == first { 1.0 } else { -1.0 }).collect();
        let weights = rows.iter().map(|&i| factors[classes.codes[i]]).collect();
        Self { first, second, rows, signs, weights }
    }

    /// What the solver found, without the rows that do not count.
    pub(super) fn machine(&self, solution: &SmoSolution) -> PairMachine {
        let count = || solution.coefficients.iter().zip(&self.rows).filter(|(b, _)| **b != 0.0);
        PairMachine {
            first: self.first,
            second: self.second,
            rows: count().map(|(_, &i)| i).collect(),
            coefficients: count().map(|(&b, _)| b).collect(),
            bias: solution.bias,
            objective: solution.objective,
            iterations: solution.iterations,
            converged: solution.converged,
        }
    }
}
