//! SVM-RFE: recursive feature elimination by the weights of a support vector machine.

mod cached;
mod features;
mod linear;
mod svms;
#[cfg(test)]
mod tests;

use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use crate::classify::{ClassWeight, need_finite};
use crate::context::Context;
use crate::data::{Classes, Dataset, Weights};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, Kernel, KernelChoice};
use crate::linalg::product_bytes;
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use crate::parameters::{Kind, ParameterValue, Parameters};
use cached::CachedPairs;
use features::Features;
use linear::Linear;
use serde::{Deserialize, Serialize};
use svms::{NAME, Svms};

/// Larger data are sampled: with the linear kernel, and with another.
const MAX_ROWS: [usize; 2] = [10_000, 3000];
/// The default kernel.
const LINEAR: KernelChoice =
    KernelChoice::Named { family: Family::Linear, gamma: Gamma::Scale, degree: 3, coef0: 0.0 };

/// How many features to remove in each round. Serialized as a number: a fraction below 1, a count from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub enum Step {
    /// This many, 1 or more.
    Count(usize),
    /// This fraction of all features, between 0 and 1; at least one.
    Fraction(f64),
}

impl TryFrom<f64> for Step {
    type Error = &'static str;

    fn try_from(step: f64) -> std::result::Result<Self, &'static str> {
        match step {
            _ if step > 0.0 && step < 1.0 => Ok(Self::Fraction(step)),
            _ if step >= 1.0 && step.fract() == 0.0 && step < 1e15 => Ok(Self::Count(step as usize)),
            _ => Err("a step is an integer from 1, or a fraction between 0 and 1"),
        }
    }
}

impl From<Step> for f64 {
    fn from(step: Step) -> Self {
        match step {
            Step::Count(count) => count as Self,
            Step::Fraction(fraction) => fraction,
        }
    }
}

impl ParameterValue for Step {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Integer, Kind::Real]
    }

    fn numbers(&self) -> Vec<f64> {
        vec![(*self).into()]
    }
}

crate::parameters! {
    /// Recursive feature elimination by an SVM.
    ///
    /// Each round trains an SVM on the remaining features and removes the least important ones, until one remains. The
    /// importance of a feature is the change of $\lVert w \rVert^2 = \sum_{ik} \beta_i \beta_k K_{ik}$ when it is
    /// removed and the coefficients stay fixed, summed over the binary SVMs of all pairs of classes:
    ///
    /// $$ \text{linear: } \sum_p w_{pj}^2 \qquad
    ///    \text{RBF: } \sum_p \Bigl| \sum_{ik} \beta_i \beta_k \bigl( K_{ik} - K_{ik} e^{\gamma (x_{ij} - x_{kj})^2} \bigr) \Bigr| $$
    ///
    /// A feature with several columns (a category, or a number with an indicator of missing values) is removed with all of
    /// them. In the RBF form its squared differences are the sum over its columns. In the linear form its importance is the
    /// variance of its part of the decision function, $w_j^T \Sigma_j w_j / \sigma_j^2$, with $\Sigma_j$ the covariance
    /// matrix of its columns and $\sigma_j^2$ the variance of the feature: of the number, or the sum over the levels of a
    /// category; both are 1 after standardization. For a single column that is the squared weight. A sum of squared weights
    /// would favor noise with many levels: their weights are estimated from few samples each, so they are large, but each
    /// concerns few samples.
    ///
    /// The linear form ranks like scikit-learn's `RFE(SVC(kernel="linear"))`. Departures: elimination always continues
    /// to the last feature, so that the ranking is complete and a smaller number selects the first of a larger one; the
    /// SVM is solved to a tolerance of 1e-6, because the stopping point decides between features of nearly equal
    /// weight; gamma of the RBF kernel is set once, on all features. By default (`auto`) the method selects half of the
    /// features, as scikit-learn does: the training error is not a suitable stopping criterion.
    ///
    /// Squared distances or inner products of all samples are cached, and the contribution of a feature is subtracted
    /// when it is removed. Each SVM is warm-started from the previous one, and its last steps are replaced by solving
    /// the linear equations of the free coefficients (an active-set method). A linear SVM needs no cached products
    /// once there are fewer features than samples.
    ///
    /// Cost: for every round $O(n^2)$ per removed feature, plus a warm-started SVM, plus $O(s d)$ (linear) or $O(s^2
    /// d)$ (RBF) for $s$ support vectors; linear with fewer features than samples $O(n d + d^2)$ for each of the few
    /// coefficients that move to or from a bound, and $O(d^3)$. Memory: two $n \times n$ matrices.
    ///
    /// Reference: Guyon, Weston, Barnhill and Vapnik, *Gene selection for cancer classification using support vector
    /// machines*, 2002.
    #[derive(PartialEq)]
    pub struct SvmRfe as "SVM-RFE" {
        /// The kernel, linear or rbf.
        pub kernel: KernelChoice = LINEAR;
        /// Regularization parameter of the SVM.
        pub c as "C": f64 = 1.0, above(0);
        /// Features to remove in each round: a number, or a fraction (below 1) of all features.
        pub step: Step = Step::Count(1), above(0);
        /// Weights of the classes.
        pub class_weight: ClassWeight = ClassWeight::None;
        /// Maximum number of iterations of the SVM solver; none is ten million, or a hundred per sample if that is
        /// more.
        pub max_iter: Option<usize> = None, at_least(1);
        /// Whether to use all rows. Otherwise a random sample of 10,000 rows, or 3000 with the RBF kernel, by class, represents
        /// larger data.
        pub exact: bool = false;
    }
}

impl SvmRfe {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "svm-rfe",
        title: "SVM-RFE",
        summary: "Features that a support vector machine needs most; the others are eliminated step by step",
        needs: Needs::Classes,
        cost: "O(n² d) time and an SVM fit per round, O(n²) memory; beyond 10,000 rows a sample",
        reference: "Guyon et al., 2002",
    };

    fn is_linear(&self) -> bool {
        matches!(
            self.kernel,
            KernelChoice::Named { family: Family::Linear, .. } | KernelChoice::Fixed(Kernel::Linear)
        )
    }
}

impl Selector for SvmRfe {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.check_ranges()?;
        match self.step {
            Step::Fraction(fraction) if !(fraction > 0.0 && fraction < 1.0) => {
                return Err(Error::param(NAME, "step", "a fraction between 0 and 1", fraction));
            }
            _ => {}
        }
        self.class_weight.factors(classes, Weights::ONE)?;
        self.kernel.validate()?;
        let supported = match &self.kernel {
            KernelChoice::Named { family, .. } => matches!(family, Family::Linear | Family::Rbf),
            KernelChoice::Fixed(kernel) => matches!(kernel, Kernel::Linear | Kernel::Rbf { .. }),
        };
        if supported {
            return Ok(());
        }
        Err(Error::param(NAME, "kernel", "linear or rbf", "another kernel"))
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(if self.is_linear() { DependenceCheck::Single } else { DependenceCheck::Joint })
    }

    fn max_rows(&self) -> Option<usize> {
        let [linear, other] = MAX_ROWS;
        (!self.exact).then_some(if self.is_linear() { linear } else { other })
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check_classes(classes)?;
        let d = data.d();
        let wanted = wanted.resolve(NAME, d)?;
        let kernel = self.kernel.resolve_weighted(data.x(), data.weights(), ctx)?;
        let bytes = bytes_of(&kernel, data.n(), data.x().d(), classes);
        ctx.need_memory(format!("SVM-RFE of {} rows", data.n()), bytes, "use fewer rows")?;
        let per_round = match self.step {
            Step::Count(n) => n,
            Step::Fraction(fraction) => ((fraction * d as f64) as usize).max(1),
        };
        let svms = Svms::new(self.c, self.max_iter, (classes, data.weights()), &self.class_weight)?;
        let mut elimination = Elimination::new(&kernel, data, svms)?;
        elimination.run(per_round, ctx)?;
        Ok(elimination.selection(wanted.unwrap_or((d / 2).max(1))))
    }
}

/// Bytes of a run with `d` columns.
fn bytes_of(kernel: &Kernel, n: usize, d: usize, classes: &Classes) -> f64 {
    let (n, d, k) = (n as f64, d as f64, classes.n_present());
    if kernel != &Kernel::Linear {
        // The features; distances, kernel values, and their part for one pair of classes.
        return 8.0 * (n * d + 3.0 * n * n) + product_bytes();
    }
    // One SVM per pair of classes: their samples, and their samples squared.
    let within: f64 = classes.counts().iter().map(|&rows| (rows * rows) as f64).sum();
    let (rows, squares) = ((k as f64 - 1.0) * n, n * n + (k as f64 - 2.0) * within);
    let columns = if rows * d <= n * n {
        // The features, and those of every SVM in row-major and column-major order.
        n * d + 2.0 * rows * d
    } else {
        // The features and a copy; SVMs have copies once few features remain.
        2.0 * n * d
    };
    // Products of all samples, or of the samples of every SVM with those requested, which are most of them.
    8.0 * (columns + 0.8 * squares) + product_bytes()
}

/// How the SVMs get their kernel values.
enum Form {
    Linear(Linear),
    Cached(CachedPairs),
}

/// The state of the elimination.
struct Elimination<'a> {
    features: Features,
    svms: Svms<'a>,
    form: Form,
    /// Removed features in order of removal, and the round of each.
    removed: Vec<(usize, usize)>,
    /// The training error of each round.
    curve: Vec<f64>,
    converged: bool,
}

impl<'a> Elimination<'a> {
    fn new(kernel: &Kernel, data: &Dataset, svms: Svms<'a>) -> Result<Self> {
        let features = Features::new(data);
        let gamma = kernel.gamma();
        let form = if gamma.is_none() && rows_take_less(&svms, &features) {
            let squares = |i: usize| features.iter().map(|c| c[i] * c[i]).sum::<f64>();
            need_finite(NAME, (0..data.n()).map(squares))?;
            Form::Linear(Linear::new(&svms, &features))
        } else {
            Form::Cached(CachedPairs::new(gamma, &features)?)
        };
        Ok(Self { features, svms, form, removed: vec![], curve: vec![], converged: true })
    }

    /// Eliminates features until one remains.
    fn run(&mut self, per_round: usize, ctx: &Context) -> Result<()> {
        let total = self.features.remaining.len().div_ceil(per_round);
        loop {
            ctx.step("SVM-RFE", self.curve.len(), total)?;
            self.train(ctx)?;
            if self.features.remaining.len() == 1 {
                return Ok(());
            }
            let removed = self.least_important(per_round, ctx)?;
            let round = self.curve.len();
            self.removed.extend(removed.iter().map(|&j| (j, round)));
            self.remove(&removed)?;
        }
    }

    fn train(&mut self, ctx: &Context) -> Result<()> {
        if let Form::Cached(CachedPairs { gamma: None, .. }) = self.form
            && rows_take_less(&self.svms, &self.features)
        {
            self.form = Form::Linear(Linear::new(&self.svms, &self.features));
        }
        let error = match &mut self.form {
            Form::Linear(linear) => linear.train(&mut self.svms, &self.features, ctx)?,
            Form::Cached(cached) => cached.train(&mut self.svms, ctx)?,
        };
        self.curve.push(error);
        self.converged &= self.svms.solutions.iter().all(|s| s.converged);
        Ok(())
    }

    fn importances(&self, ctx: &Context) -> Result<Vec<f64>> {
        match &self.form {
            Form::Linear(linear) => Ok(linear.importances(&self.svms, &self.features)),
            Form::Cached(cached) => cached.importances(&self.svms, &self.features, ctx),
        }
    }

    /// The next features to remove, least important first; one remains.
    fn least_important(&self, count: usize, ctx: &Context) -> Result<Vec<usize>> {
        let (importances, remaining) = (self.importances(ctx)?, &self.features.remaining);
        // Constant features are removed before all others, even those of weight 0.
        let key = |at: usize| if self.features.constant[remaining[at]] { -1.0 } else { importances[at] };
        let mut order: Vec<usize> = (0..remaining.len()).collect();
        // Ties are broken by column order: the later feature is removed first.
        order.sort_by(|&a, &b| key(a).total_cmp(&key(b)).then(b.cmp(&a)));
        order.truncate(count.min(remaining.len() - 1));
        Ok(order.into_iter().map(|at| remaining[at]).collect())
    }

    fn remove(&mut self, removed: &[usize]) -> Result<()> {
        let columns = self.features.remove(removed);
        match &mut self.form {
            Form::Linear(linear) => linear.remove(&columns),
            Form::Cached(cached) => cached.remove(&columns, &self.features)?,
        }
        Ok(())
    }

    fn selection(self, n_selected: usize) -> Selection {
        let (constant, last, rounds) = (self.features.constant, self.features.remaining[0], self.curve.len());
        let mut scores = vec![0.0; constant.len()];
        for (j, round) in self.removed.iter().copied().chain([(last, rounds)]) {
            scores[j] = if constant[j] { 0.0 } else { round as f64 };
        }
        let order = [last].into_iter().chain(self.removed.iter().rev().map(|r| r.0)).collect();
        let stop = if self.converged { Stop::Requested } else { Stop::MaxIterations };
        Selection {
            automatic: None,
            sample: None,
            method: "svm-rfe".into(),
            order,
            scores,
            n_selected,
            curve: self.curve.into_iter().rev().collect(),
            coef: None,
            path: vec![],
            outcome: Outcome { stop, iterations: rounds },
        }
    }
}

/// Whether the samples of all SVMs take less memory than the products of all samples.
fn rows_take_less(svms: &Svms, features: &Features) -> bool {
    let rows: usize = svms.tasks.iter().map(|task| task.rows.len()).sum();
    rows * features.columns.len() <= features.n.pow(2)
}
