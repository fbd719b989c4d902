//! KOBL: kernel orthogonal basis learning.

use super::feature_map::{Basis, FeatureMap, Fitted, Summary, max_components};
use crate::context::Context;
use crate::data::{Dataset, Rows};
use crate::error::{Error, Result, number};
use crate::kernel::{Gram, Kernel, KernelChoice, gram};
use crate::linalg::{self, Factor, Rule, pivoted_cholesky};
use crate::method::{Info, Needs};
use crate::outcome::{Outcome, Stop};
use crate::parameters::{Kind, ParameterValue, Parameters};
use crate::random::Rng;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Size of the subsample from which the medoid (first pivot) is determined.
const MEDOID_SAMPLE: usize = 256;

crate::parameters! {
    /// Kernel orthogonal basis learning.
    ///
    /// Finds the effective dimension of the data in kernel space and an orthonormal basis spanned by a few samples.
    /// Each step selects the sample with the largest residual (eqs 5-7) and subtracts its direction from all others
    /// (8-9). It stops when the largest residual is small, relative to a threshold that rises with the fraction of
    /// samples already used (20-21):
    ///
    /// $$ \frac{r_{k+1,k+1}}{r_{11}} < f\left(\frac{k}{N}\right), \qquad f(t) = t \text{ by default} $$
    ///
    /// | symbol | here |
    /// |---|---|
    /// | $N$, $d$ | `n_rows`, `n_components` |
    /// | $r_{kk}$ | `residual_norms` |
    /// | $E$ (eq. 19) | `reconstruction_cost` |
    ///
    /// Departures from the paper. The recursion over full coefficient vectors (eqs 10-13, $O(N^2 d)$ and the full Gram
    /// matrix) is replaced by the equivalent but cheaper pivoted Cholesky factorization,
    /// pivoted Cholesky factorization. The paper does not define $f$; $f(t)=t$ reproduces its Table 2. With random
    /// pivots or pivots by gain, $r_{kk}$ need not decrease, so the stopping rule uses the largest residual instead,
    /// which does; Theorem 1 still holds.
    ///
    /// Cost: $O(N d)$ kernel values, $O(N d^2)$ operations, $O(N d)$ memory.
    ///
    /// If the residual curve is flat, greedy pivots select outliers: random pivots reach smaller residuals, and pivots
    /// by gain (the sample that explains most of the residual of a subsample) smaller ones still.
    ///
    /// Reference: Xu and others, *TAKES: a fast method to select features in the kernel space*, CIKM 2010.
    /// Random pivots: Chen, Epperly, Tropp and Webber, *Randomly pivoted Cholesky*, 2022. Pivots by gain: Farahat, Ghodsi and
    /// Kamel, *A novel greedy algorithm for Nyström approximation*, 2011.
    pub struct Kobl as "KOBL" {
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::default();
        /// Threshold function f of the adaptive stopping rule: linear (f(t) = t), a power p > 0 (f(t) = t^p), or none (no
        /// adaptive stop).
        pub threshold: Threshold = Threshold::Linear, above(0);
        /// Maximum number of components; none leaves it to `threshold` and `tol`.
        pub n_components: Option<usize> = None, at_least(1);
        /// How to choose the next pivot.
        pub pivoting: Pivoting = Pivoting::Greedy;
        /// The first pivot.
        pub first_pivot: FirstPivot = FirstPivot::First;
        /// Stop when the residual is at most this fraction of the trace of the kernel matrix.
        pub tol: f64 = 0.0, from_below(0, 1);
        /// Whether to keep as many components as there are otherwise, of however many samples. If false, and without `n_components`,
        /// coordinates have at most 40 million entries: 200 components of 200,000 samples.
        pub exact: bool = false;
    }
}

crate::choices! {
    /// How KOBL chooses the next pivot.
    pub enum Pivoting {
        /// The sample with the largest residual; ties are broken by row order.
        Greedy = "greedy",
        /// At random, with probability proportional to the squared residual (randomly pivoted Cholesky).
        Random = "random",
        /// The sample that explains most of the residual of samples drawn at random.
        Gain = "gain",
    }
}

impl From<Pivoting> for linalg::Pivoting {
    fn from(pivoting: Pivoting) -> Self {
        match pivoting {
            Pivoting::Greedy => Self::Greedy,
            Pivoting::Random => Self::Random,
            Pivoting::Gain => Self::Gain,
        }
    }
}

crate::choices! {
    /// The first pivot. Kernels with a constant diagonal tie there, so that the order of the samples would decide.
    pub enum FirstPivot {
        /// As `pivoting` chooses it.
        First = "first",
        /// The medoid: the sample with the largest mean kernel value.
        Medoid = "medoid",
    }
}

/// The threshold function $f: [0, 1] \to [0, 1]$ of eq. 20, nondecreasing.
/// Serialized as `"linear"`, a number or `"none"`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// $f(t) = t$
    #[default]
    Linear,
    /// $f(t) = 0$: no adaptive stopping.
    None,
    /// A user-defined function.
    #[serde(skip)]
    Function(ThresholdFunction),
    /// $f(t) = t^p$, $p > 0$
    #[serde(untagged)]
    Power(f64),
}

impl ParameterValue for Threshold {
    fn kinds() -> Vec<Kind> {
        let names = Kind::choice(&[("linear", "f(t) = t."), ("none", "No adaptive stop.")]);
        vec![names, Kind::Real]
    }

    fn numbers(&self) -> Vec<f64> {
        if let Self::Power(power) = self { vec![*power] } else { vec![] }
    }
}

/// A user-defined threshold function.
#[derive(Clone)]
pub struct ThresholdFunction(pub Arc<dyn Fn(f64) -> f64 + Send + Sync>);

impl std::fmt::Debug for ThresholdFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ThresholdFunction(..)")
    }
}

impl Threshold {
    /// $f(t)$
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Linear => t,
            Self::Power(p) => t.powf(*p),
            Self::None => 0.0,
            Self::Function(f) => f.0(t),
        }
    }

    fn validate(&self) -> Result<()> {
        let mut before = 0.0;
        for i in 0..=1000 {
            let t = f64::from(i) / 1000.0;
            let value = self.at(t);
            if !(value >= before && value <= 1.0) {
                let got = format!("f({t}) = {} after {}", number(value), number(before));
                return Err(Error::param(
                    "KOBL",
                    "threshold",
                    "a function that rises from 0 or more to 1 or less",
                    got,
                ));
            }
            before = value;
        }
        Ok(())
    }
}

impl Kobl {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "kobl",
        title: "Kernel orthogonal basis learning",
        summary: "The intrinsic dimension of kernel space, and an orthonormal basis built from few samples",
        needs: Needs::Nothing,
        cost: "O(n m²) time, O(n m) memory",
        reference: "Xu et al., TAKES, CIKM 2010",
    };

    /// The threshold applied to each residual norm, if there is one.
    pub fn threshold_curve(&self, summary: &Summary) -> Option<Vec<f64>> {
        if matches!(self.threshold, Threshold::None) {
            return None;
        }
        let at = |k: usize| summary.start_norm * self.threshold.at(k as f64 / summary.n_rows as f64);
        Some((0..summary.residual_norms.len()).map(at).collect())
    }

    pub(super) fn validate(&self, n: usize) -> Result<()> {
        self.check_ranges()?;
        self.kernel.validate()?;
        self.threshold.validate()?;
        check_components("KOBL", self.n_components, n)?;
        Ok(())
    }

    /// The number of components found with this kernel, at most `most`.
    pub(super) fn dimension(&self, kernel: &Kernel, x: &Rows, most: usize, ctx: &Context) -> Result<usize> {
        Ok(self.factor(kernel, x, most, ctx)?.pivots.len())
    }

    fn factor(&self, kernel: &Kernel, x: &Rows, max_rank: usize, ctx: &Context) -> Result<Factor> {
        let n = x.n() as f64;
        let first = match self.first_pivot {
            FirstPivot::First => None,
            FirstPivot::Medoid => Some(medoid(kernel, x, ctx)?),
        };
        let rule = Rule {
            pivoting: self.pivoting.into(),
            first,
            max_rank,
            zero: ZERO,
            tolerance: self.tol,
            threshold: &|rank| self.threshold.at(rank as f64 / n),
        };
        pivoted_cholesky(&Gram::new(kernel, x)?, &rule, ctx)
    }
}

/// Residual norms at or below this fraction of the first count as zero: their squares are below f64 precision.
pub(super) const ZERO: f64 = 1e-7;

impl Basis for Kobl {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>) {
        (&mut self.kernel, &mut self.n_components)
    }

    fn kernel(&self) -> &KernelChoice {
        &self.kernel
    }

    fn n_components(&self) -> Option<usize> {
        self.n_components
    }

    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted> {
        data.need_rows("KOBL", 1)?;
        data.need_complete("KOBL")?;
        self.validate(data.n())?;
        let kernel = self.kernel.resolve(data.x(), ctx)?;
        let limit = Limit::new("KOBL", self.n_components, self.exact, data.n());
        let factor = self.factor(&kernel, data.x(), limit.components, ctx)?;
        limit.warn(factor.stop, factor.pivots.len(), ctx);
        let mut summary = factor_summary("kobl", &factor)?;
        summary.bound = Some(self.bound(&factor));
        Ok(Fitted { map: FeatureMap::from_factor(kernel, data.x(), &factor, summary)?, features: factor.l })
    }
}

impl Kobl {
    /// Theorem 1: pivots have no residual; the residuals of other samples are at most the next pivot's, which the
    /// stopping rule keeps below $r_{11} f(d/N)$.
    fn bound(&self, factor: &Factor) -> f64 {
        let (n, d) = (factor.residual.len() as f64, factor.pivots.len() as f64);
        let largest = match factor.stop {
            Stop::Threshold => factor.largest * self.threshold.at(d / n),
            _ => factor.next_norm(),
        };
        (n - d) / n * largest
    }
}

/// The maximum number of components of a factor.
pub(super) struct Limit {
    method: &'static str,
    pub components: usize,
    n: usize,
    is_requested: bool,
}

impl Limit {
    pub fn new(method: &'static str, wanted: Option<usize>, exact: bool, n: usize) -> Self {
        let default = if exact { n } else { max_components(n) };
        Self { method, components: wanted.unwrap_or(default), n, is_requested: wanted.is_some() }
    }

    /// Warns if there would be more components, but nobody requested this number.
    pub fn warn(&self, stop: Stop, n_components: usize, ctx: &Context) {
        if !self.is_requested && stop == Stop::Requested {
            ctx.warn(format!(
                "{}: stopped at {n_components} components of {} rows to limit time and memory; set n_components, or exact=true",
                self.method, self.n
            ));
        }
    }
}

/// Returns an error for zero components, or more components than samples.
pub(super) fn check_components(method: &'static str, wanted: Option<usize>, n: usize) -> Result<()> {
    match wanted {
        Some(m) if m == 0 || m > n => {
            Err(Error::param(method, "n_components", format!("from 1 to the number of rows, {n}"), m))
        }
        _ => Ok(()),
    }
}

/// The summary of a pivoted factor.
pub(super) fn factor_summary(method: &str, factor: &Factor) -> Result<Summary> {
    if factor.pivots.is_empty() {
        return Err(Error::Breakdown {
            step: "kernel basis",
            why: "the kernel of every row with itself is 0, so there is no basis; are all columns constant?"
                .into(),
        });
    }
    let n = factor.residual.len();
    let outcome = Outcome { stop: factor.stop, iterations: factor.pivots.len() };
    let residual: f64 = factor.residual.iter().sum();
    Ok(Summary {
        residual_norms: factor.norms.clone(),
        start_norm: factor.largest,
        reconstruction_cost: factor.residual.iter().map(|r| r.sqrt()).sum::<f64>() / n as f64,
        explained: (1.0 - residual / factor.trace).clamp(0.0, 1.0),
        ..Summary::start(method, n, factor.pivots.clone(), outcome)
    })
}

/// The sample with the largest mean kernel value to a random subsample (to all samples, if there are few).
fn medoid(kernel: &Kernel, x: &Rows, ctx: &Context) -> Result<usize> {
    let sample = Rng::stream(ctx.seed, "medoid").sample(x.n(), MEDOID_SAMPLE);
    let mut sums = vec![0.0; x.n()];
    for part in sample.chunks(16) {
        let k = gram(kernel, x, &x.take_rows(part))?;
        sums.iter_mut().zip(k.rows()).for_each(|(sum, row)| *sum += row.sum());
    }
    Ok((0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn line(n: usize) -> Dataset {
        Dataset::unlabeled(Array2::from_shape_fn((n, 1), |(i, _)| i as f64)).unwrap()
    }

    fn rbf(gamma: f64) -> KernelChoice {
        Kernel::Rbf { gamma }.into()
    }

    #[test]
    fn three_points_by_hand() {
        // Points 0, 1, 3 with exp(-|x-y|^2 ln 2): K(0,1) = 1/2, K(0,3) = 2^-9, K(1,3) = 1/16.
        let data = Dataset::unlabeled(array![[0.0], [1.0], [3.0]]).unwrap();
        let kobl = Kobl { kernel: rbf(2.0_f64.ln()), threshold: Threshold::None, ..Kobl::default() };
        let fit = kobl.fit(&data, &Context::default()).unwrap();
        let (a, b, c) = (0.5, 2.0_f64.powi(-9), 0.0625);
        // First row 0 (all tie), then row 2, which has the larger residual 1 - b^2.
        let r22 = (1.0 - b * b).sqrt();
        let l12 = (c - a * b) / r22;
        let r33 = (1.0 - a * a - l12 * l12).sqrt();
        assert_eq!(fit.map.summary().pivots, [0, 2, 1]);
        let expected = array![[1.0, 0.0, 0.0], [a, l12, r33], [b, r22, 0.0]];
        assert!((&fit.features - &expected).iter().all(|e| e.abs() < 1e-14), "{:?}", fit.features);
        assert_eq!(fit.map.summary().outcome.stop, Stop::Exhausted);
    }

    #[test]
    fn components_of_tall_data_are_limited() {
        let limit = |wanted, exact, n| Limit::new("KOBL", wanted, exact, n).components;
        // 40 million entries.
        assert_eq!([200_000, 20_000, 6000].map(|n| limit(None, false, n)), [200, 2000, 6000]);
        assert_eq!((limit(None, true, 200_000), limit(Some(700), false, 200_000)), (200_000, 700));
        assert_eq!(limit(None, false, usize::MAX), 1);
    }

    #[test]
    fn edge_cases_of_the_definition() {
        let ctx = Context::default();
        // One sample: one dimension, no residual.
        let one = Kobl { kernel: rbf(1.0), ..Kobl::default() }.fit(&line(1), &ctx).unwrap();
        assert_eq!((one.map.n_components(), one.map.summary().reconstruction_cost), (1, 0.0));
        // A linear kernel has at most as many dimensions as features.
        let linear = Kobl { kernel: Kernel::Linear.into(), threshold: Threshold::None, ..Kobl::default() };
        assert_eq!(linear.fit(&line(30), &ctx).unwrap().map.n_components(), 1);
        // Equal samples span one dimension.
        let same = Dataset::unlabeled(Array2::ones((5, 2))).unwrap();
        assert_eq!(
            Kobl { kernel: rbf(1.0), ..Kobl::default() }.fit(&same, &ctx).unwrap().map.n_components(),
            1
        );
        // A kernel that is zero everywhere spans nothing.
        let zero = Dataset::unlabeled(Array2::zeros((5, 2))).unwrap();
        let error = linear.fit(&zero, &ctx).unwrap_err().to_string();
        assert!(error.contains("there is no basis"), "{error}");
    }

    #[test]
    fn parameters_are_checked() {
        let message = |kobl: Kobl| kobl.fit(&line(4), &Context::default()).unwrap_err().to_string();
        assert_eq!(
            message(Kobl { n_components: Some(5), ..Kobl::default() }),
            "KOBL: parameter 'n_components' must be from 1 to the number of rows, 4, got 5"
        );
        assert!(message(Kobl { n_components: Some(0), ..Kobl::default() }).contains("got 0"));
        assert!(
            message(Kobl { threshold: Threshold::Power(-1.0), ..Kobl::default() })
                .contains("'threshold' must be a number, above 0, or linear or none, got -1")
        );
        assert!(message(Kobl { tol: 1.5, ..Kobl::default() }).contains("'tol'"));
        let falling = Threshold::Function(ThresholdFunction(Arc::new(|t| 1.0 - t)));
        assert!(message(Kobl { threshold: falling, ..Kobl::default() }).contains("rises from 0 or more"));
    }

    #[test]
    fn a_lower_threshold_keeps_more() {
        let fit = |threshold| {
            let kobl = Kobl { kernel: rbf(0.05), threshold, ..Kobl::default() };
            kobl.fit(&line(60), &Context::default()).unwrap().map.n_components()
        };
        let custom = Threshold::Function(ThresholdFunction(Arc::new(|t| t * t)));
        let (linear, square) = (fit(Threshold::Linear), fit(Threshold::Power(2.0)));
        assert!(linear < square && square < fit(Threshold::None));
        assert_eq!(fit(custom), square);
    }

    #[test]
    fn the_medoid_is_in_the_middle_and_does_not_depend_on_the_order() {
        let kobl = Kobl { kernel: rbf(0.01), first_pivot: FirstPivot::Medoid, ..Kobl::default() };
        let fit = kobl.fit(&line(21), &Context::default()).unwrap();
        assert_eq!(fit.map.summary().pivots[0], 10);
        let mut order: Vec<usize> = (0..21).collect();
        Rng::new(4).shuffle(&mut order);
        let shuffled = kobl.fit(&line(21).take_rows(&order), &Context::default()).unwrap();
        assert_eq!(order[shuffled.map.summary().pivots[0]], 10);
    }
}
