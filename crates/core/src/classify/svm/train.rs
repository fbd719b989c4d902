//! Parameters and training of kernel SVMs.

use super::kernel_source::{KernelSource, NAME, need_finite};
use super::model::{SvmModel, linear_weights};
use super::pairs::{BinarySvm, BinarySvms};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Weights};
use crate::error::{Error, Result};
use crate::kernel::{CachedColumns, Family, Gamma, Kernel, KernelChoice};
use crate::optim::{BlockColumns, ColumnMemory, KernelColumns, PairProblem, PairStart, Smo, SmoSolution};
use crate::parameters::{Kind, ParameterValue, Parameters};
use ndarray::{Array1, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Class weights: factors of $C$.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeight {
    /// 1 for all classes.
    #[default]
    None,
    /// Inversely proportional to class frequencies, which weights classes equally.
    Balanced,
    /// One nonnegative factor per class.
    Given(Vec<f64>),
}

crate::parameters! {
    /// A kernel SVM.
    ///
    /// For two classes $y_i = \pm 1$, with the regularization parameter $C_i$ of row $i$,
    ///
    /// $$ \min_{w, b} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b)) $$
    ///
    /// solved in the dual by SMO. More classes: one-vs-one, a binary SVM for every pair of classes. The class with the most
    /// votes wins; ties go to the first class.
    ///
    /// Cost: between $O(n^2 d)$ and $O(n^3)$ time. A small Gram matrix is stored completely; of a large one a cache holds as
    /// many columns as fit in half of the memory, up to 1 GiB.
    ///
    /// Reference: Boser, Guyon and Vapnik, *A training algorithm for optimal margin classifiers*, 1992; Cortes and
    /// Vapnik, *Support-vector networks*, 1995; Chang and Lin, *LIBSVM*, 2011.
    #[derive(PartialEq)]
    pub struct Svm as "SVM" {
        /// The kernel.
        pub kernel: KernelChoice = default_kernel();
        /// Regularization parameter: the penalty of margin violations.
        pub c as "C": f64 = 1.0, above(0);
        /// Factors of C by class.
        pub class_weight: ClassWeight = ClassWeight::None;
        /// Tolerance of the optimality conditions.
        pub tol: f64 = 1e-3, above(0);
        /// Maximum number of iterations of each binary SVM; none is ten million, or a hundred per sample if that is more.
        pub max_iter: Option<usize> = None, at_least(1);
        /// Whether to use the shrinking heuristic, which only saves time.
        pub shrinking: bool = true;
    }
}

/// RBF with scikit-learn's `gamma="scale"`.
pub(crate) fn default_kernel() -> KernelChoice {
    KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Scale, degree: 3, coef0: 0.0 }
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
    /// The factor of every class, for samples with these weights.
    pub fn factors(&self, classes: &Classes, weights: Weights) -> Result<Vec<f64>> {
        let counts = classes.weighted_counts(weights);
        Ok(match self {
            Self::None => vec![1.0; counts.len()],
            Self::Balanced => {
                let mean_count = weights.total(classes.codes.len()) / classes.n_present() as f64;
                counts.iter().map(|&count| if count > 0.0 { mean_count / count } else { 1.0 }).collect()
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
    /// Fits on dense or sparse rows.
    pub fn fit(&self, data: &Dataset, ctx: &Context) -> Result<SvmModel> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check()?;
        self.class_weight.factors(classes, data.weights())?;
        let kernel = self.kernel.resolve_weighted(data.x(), data.weights(), ctx)?;
        let centered = Centered::new(&kernel, data.x());
        let x = centered.rows(data.x());
        let svms = {
            let source = KernelSource::for_one_fit(&kernel, x, ctx)?;
            let all: Vec<usize> = (0..data.n()).collect();
            self.fit_rows(&source, (classes, data.weights()), &all, ctx)?
        };
        centered.model(kernel, data.x(), classes, svms)
    }

    /// Fits on a Gram matrix; `k` is symmetric, with a row per element of `classes`.
    pub fn fit_gram(&self, k: ArrayView2<f64>, classes: &Classes, ctx: &Context) -> Result<BinarySvms> {
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
        let all: Vec<usize> = (0..n).collect();
        self.fit_rows(&KernelSource::Full(k.into()), (classes, Weights::ONE), &all, ctx)
    }

    /// Fits on some rows of a source.
    pub(super) fn fit_rows(
        &self,
        source: &KernelSource,
        (classes, weights): (&Classes, Weights),
        rows: &[usize],
        ctx: &Context,
    ) -> Result<BinarySvms> {
        let tasks = PairTask::all((classes, weights), rows, &self.class_weight)?;
        let solve = |pair: &PairTask| {
            let solutions = self.solve_path(source, pair, &[self.c], &mut ColumnMemory::default(), ctx)?;
            Ok(pair.svm(&solutions[0]))
        };
        let svms = match source {
            KernelSource::Full(_) => tasks.par_iter().map(solve).collect::<Result<_>>()?,
            // Sequentially, as each may fill the cache.
            KernelSource::Columns { .. } => tasks.iter().map(solve).collect::<Result<_>>()?,
        };
        let present = present(classes, rows);
        Ok(BinarySvms { n_classes: classes.names.len(), present, svms })
    }

    /// Solves one pair of classes for ascending values of C, each from a warm start.
    pub(super) fn solve_path(
        &self,
        source: &KernelSource,
        pair: &PairTask,
        c_values: &[f64],
        memory: &mut ColumnMemory,
        ctx: &Context,
    ) -> Result<Vec<SmoSolution>> {
        match source {
            KernelSource::Full(k) => {
                let mut columns = BlockColumns::with_memory(std::mem::take(memory), k.view(), &pair.rows);
                let solutions = self.solve_columns(&mut columns, pair, c_values, ctx);
                *memory = columns.into_memory();
                solutions
            }
            KernelSource::Columns { kernel, x, bytes } => {
                let mut columns = CachedColumns::new(kernel, &x.take_rows(&pair.rows), *bytes)?;
                self.solve_columns(&mut columns, pair, c_values, ctx)
            }
        }
    }

    fn solve_columns(
        &self,
        columns: &mut impl KernelColumns,
        pair: &PairTask,
        c_values: &[f64],
        ctx: &Context,
    ) -> Result<Vec<SmoSolution>> {
        let mut solutions: Vec<SmoSolution> = vec![];
        for (at, c) in c_values.iter().enumerate() {
            let bounds: Vec<f64> = pair.weights.iter().map(|w| w * c).collect();
            let before =
                solutions.last().map(|before| warm_start(before, pair, c_values[at - 1], *c, &bounds));
            let start = before
                .as_ref()
                .map(|(coefficients, residual)| PairStart { coefficients, residual: residual.as_deref() });
            let problem = PairProblem { signs: &pair.signs, bounds: &bounds, start };
            solutions.push(self.solver().solve(&problem, columns, ctx)?);
        }
        Ok(solutions)
    }

    fn solver(&self) -> Smo {
        Smo { tolerance: self.tol, max_iterations: self.max_iter.unwrap_or(0), shrinking: self.shrinking }
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_ranges()?;
        self.kernel.validate()
    }
}

/// Coefficients and residual to start with for a larger C: the coefficients scale with C, so that those at their bound
/// stay there.
fn warm_start(
    before: &SmoSolution,
    pair: &PairTask,
    from: f64,
    to: f64,
    bounds: &[f64],
) -> (Vec<f64>, Option<Vec<f64>>) {
    let growth = to / from;
    let at = before.coefficients.iter().zip(bounds).zip(pair.signs.iter().zip(&pair.weights));
    let coefficients = at.map(|((b, bound), (sign, weight))| {
        // Exactly the bound, which the product could miss by rounding.
        if sign * b >= weight * from { sign * bound } else { (b * growth).clamp(-bound, *bound) }
    });
    let residual = before.residual.iter().zip(&pair.signs).map(|(r, sign)| sign - growth * (sign - r));
    // Without convergence the residual has accumulated rounding errors; omit it.
    (coefficients.collect(), before.converged.then(|| residual.collect()))
}

/// Dense rows centered at their mean, for the linear kernel.
///
/// The coefficients sum to zero, so that the rows may be shifted: with $x - m$ the weights are the same and the
/// intercept increases by $\langle w, m \rangle$. Without centering, products of rows far from zero lose the
/// differences between rows to rounding.
pub(super) struct Centered(Option<(Rows, Array1<f64>)>);

impl Centered {
    /// Centers dense rows for the linear kernel; leaves others unchanged.
    pub(super) fn new(kernel: &Kernel, x: &Rows) -> Self {
        let (Kernel::Linear, Rows::Dense(dense)) = (kernel, x) else { return Self(None) };
        let (mean, _) = x.moments();
        Self(Some(((dense - &mean).into(), mean)))
    }

    /// The rows to train on.
    pub(super) fn rows<'a>(&'a self, x: &'a Rows) -> &'a Rows {
        self.0.as_ref().map_or(x, |(rows, _)| rows)
    }

    /// The model for the original rows `x`.
    pub(super) fn model(
        &self,
        kernel: Kernel,
        x: &Rows,
        classes: &Classes,
        mut svms: BinarySvms,
    ) -> Result<SvmModel> {
        // From the centered rows: rows far from zero would amplify rounding errors of the coefficients.
        let weights = self.0.as_ref().map(|(rows, mean)| {
            let weights = linear_weights(rows, &svms);
            svms.svms.iter_mut().zip(weights.dot(mean)).for_each(|(svm, shift)| svm.bias -= shift);
            weights
        });
        SvmModel::new(kernel, x, classes, svms, weights)
    }
}

/// A pair of classes and their rows.
pub(crate) struct PairTask {
    first: usize,
    second: usize,
    /// Ascending row indices.
    pub(crate) rows: Vec<usize>,
    pub(crate) signs: Vec<f64>,
    /// Factor of C for each row.
    pub(crate) weights: Vec<f64>,
}

/// The classes of these rows, in ascending order.
pub(crate) fn present(classes: &Classes, rows: &[usize]) -> Vec<usize> {
    let mut seen = vec![false; classes.names.len()];
    rows.iter().for_each(|&i| seen[classes.codes[i]] = true);
    (0..seen.len()).filter(|&c| seen[c]).collect()
}

impl PairTask {
    /// All pairs of the classes of these rows, given classes and weights of all rows.
    pub(crate) fn all(
        (classes, weights): (&Classes, Weights),
        rows: &[usize],
        weight: &ClassWeight,
    ) -> Result<Vec<Self>> {
        let codes: Vec<usize> = rows.iter().map(|&i| classes.codes[i]).collect();
        let of_rows = weights.of_rows(rows);
        let classes_of_rows = Classes { codes, names: classes.names.clone() };
        let factors = weight.factors(&classes_of_rows, Weights::new(of_rows.as_deref()))?;
        let factor = |i: usize| factors[classes.codes[i]] * weights.of(i);
        let present = present(classes, rows);
        let pairs =
            present.iter().enumerate().flat_map(|(at, &a)| present[at + 1..].iter().map(move |&b| (a, b)));
        Ok(pairs.map(|(first, second)| Self::new(first, second, classes, rows, factor)).collect())
    }

    fn new(
        first: usize,
        second: usize,
        classes: &Classes,
        rows: &[usize],
        factor: impl Fn(usize) -> f64,
    ) -> Self {
        let of = |i: &usize| [first, second].contains(&classes.codes[*i]);
        let rows: Vec<usize> = rows.iter().copied().filter(of).collect();
        let signs = rows.iter().map(|&i| if classes.codes[i] == first { 1.0 } else { -1.0 }).collect();
        let weights = rows.iter().map(|&i| factor(i)).collect();
        Self { first, second, rows, signs, weights }
    }

    /// The binary SVM of a solution, restricted to the support vectors.
    pub(super) fn svm(&self, solution: &SmoSolution) -> BinarySvm {
        let support = || solution.coefficients.iter().zip(&self.rows).filter(|(b, _)| **b != 0.0);
        BinarySvm {
            first: self.first,
            second: self.second,
            rows: support().map(|(_, &i)| i).collect(),
            coefficients: support().map(|(&b, _)| b).collect(),
            bias: solution.bias,
            objective: solution.objective,
            iterations: solution.iterations,
            converged: solution.converged,
        }
    }
}
