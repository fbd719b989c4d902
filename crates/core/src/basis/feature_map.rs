//! The result of every basis: a map into kernel space, defined by anchors (training samples) and coefficients.
//!
//! Basis vector $i$ is $w_i = \sum_j C_{ji} \phi(a_j)$ over the anchors $a_j$, so the coordinates of a sample are
//!
//! $$ f(x) = C^\top k(A, x) + b $$
//!
//! with $b = 0$, or $b_i = -\langle w_i, \mu \rangle$ if coordinates are centered at the mean $\mu$ of the anchors.

use crate::context::Context;
use crate::data::{Dataset, Rows};
use crate::error::{Error, Result, need_columns};
use crate::kernel::{Kernel, KernelChoice, diagonal, gram};
use crate::linalg::{Factor, cholesky, invert_lower, multiply};
use crate::method::Info;
use crate::outcome::Outcome;
use crate::parameters::Parameters;
use ndarray::{Array1, Array2, Axis, s};
use serde::{Deserialize, Serialize};

/// Samples mapped at a time, which bounds the size of the Gram matrix block.
const BLOCK: usize = 2048;
/// Coordinates have at most so many entries, unless a number of components is requested, or `exact`.
const MAX_ENTRIES: usize = 40_000_000;
/// Up to this many samples the Gram matrix of all pairs is used by default.
pub(super) const MAX_SQUARE: usize = 3000;

/// The number of components of `n` samples that are kept by default.
pub(super) fn max_components(n: usize) -> usize {
    (MAX_ENTRIES / n.max(1)).clamp(1, n.max(1))
}

/// Learns a basis of kernel space.
pub trait Basis: Parameters {
    /// What to know about it before using it.
    fn info(&self) -> &'static Info;

    /// The kernel.
    fn kernel(&self) -> &KernelChoice;

    /// The maximum number of components, if one is set.
    fn n_components(&self) -> Option<usize>;

    /// The kernel and the maximum number of components, mutable.
    fn shared_mut(&mut self) -> (&mut KernelChoice, &mut Option<usize>);

    /// The number of training samples that it uses at most: it gets a random sample of more, by class, from
    /// [`BasisMethod`](super::BasisMethod). `None` if it uses all, as with the parameter `exact`.
    fn max_rows(&self) -> Option<usize> {
        None
    }

    /// Learns the map and maps the training samples.
    fn fit(&self, data: &Dataset, ctx: &Context) -> Result<Fitted>;
}

/// A fitted map and the coordinates of its training samples.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The map.
    pub map: FeatureMap,
    /// Coordinates of the training samples, one row each.
    pub features: Array2<f64>,
}

/// A map from samples to coordinates in kernel space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureMap {
    kernel: Kernel,
    anchors: Rows,
    coef: Array2<f64>,
    origin: Option<Origin>,
    /// Converts coordinates to those of an orthonormal basis; `None` if the basis is orthonormal.
    #[serde(rename = "orthonormalise")]
    to_orthonormal: Option<Array2<f64>>,
    summary: Summary,
}

/// The mean of the anchors, if coordinates are centered there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Origin {
    /// $b$
    offset: Array1<f64>,
    /// $\lVert \mu \rVert^2$
    squared_norm: f64,
}

/// Summary of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The method's name.
    pub method: String,
    /// Number of training samples.
    pub n_rows: usize,
    /// Indices (from 0) of the training samples that span the basis.
    pub pivots: Vec<usize>,
    /// Residual norms before each component is added. KOBL and KGS: of the sample that becomes the pivot, $r_{kk}$.
    /// The others: root mean square over all samples.
    pub residual_norms: Vec<f64>,
    /// The largest norm before the first component: $r_{11}$, the reference of KOBL's threshold.
    pub start_norm: f64,
    /// $E$ (eq. 19): mean distance of training samples from the span.
    pub reconstruction_cost: f64,
    /// Theorem 1's bound on $E$, for KOBL.
    pub bound: Option<f64>,
    /// Fraction of the kernel matrix's trace that the basis explains.
    pub explained: f64,
    /// Why and when the fit stopped.
    pub outcome: Outcome,
}

/// The parts from which a basis method builds its map.
pub(super) struct Parts {
    pub kernel: Kernel,
    pub anchors: Rows,
    pub coef: Array2<f64>,
    pub orthonormal: bool,
    pub centered: bool,
    pub summary: Summary,
}

impl FeatureMap {
    /// Completes a map. `k` is the Gram matrix of the anchors, required if centered or not orthonormal.
    pub(super) fn new(parts: Parts, k: Option<&Array2<f64>>) -> Result<Self> {
        let Parts { kernel, anchors, mut coef, orthonormal, centered, summary } = parts;
        if centered {
            // Columns sum to zero up to rounding, which the coefficients of a short component magnify.
            let means = coef.mean_axis(Axis(0)).expect("at least one anchor");
            coef -= &means;
        }
        let k = || k.expect("centered and oblique bases pass their Gram matrix");
        let origin = centered.then(|| {
            let means = k().mean_axis(Axis(0)).expect("at least one anchor");
            Origin { offset: -coef.t().dot(&means), squared_norm: means.sum() / means.len() as f64 }
        });
        let to_orthonormal = if orthonormal {
            None
        } else {
            let inner = coef.t().dot(&multiply(k().view(), coef.view()));
            let factor = cholesky(inner.view()).ok_or_else(|| Error::Breakdown {
                step: "basis",
                why: "its directions are linearly dependent; request fewer components".into(),
            })?;
            Some(invert_lower(factor.view()).reversed_axes())
        };
        Ok(Self { kernel, anchors, coef, origin, to_orthonormal, summary })
    }

    /// The map of a pivoted Cholesky factor: $C = L_P^{-\top}$.
    pub(super) fn from_factor(kernel: Kernel, x: &Rows, factor: &Factor, summary: Summary) -> Result<Self> {
        let coef = invert_lower(factor.pivot_block().view()).reversed_axes();
        let anchors = x.take_rows(&factor.pivots);
        Self::new(Parts { kernel, anchors, coef, orthonormal: true, centered: false, summary }, None)
    }

    /// Number of components.
    pub fn n_components(&self) -> usize {
        self.coef.ncols()
    }

    /// Number of input features.
    pub fn n_inputs(&self) -> usize {
        self.anchors.d()
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The training samples that span the basis.
    pub fn anchors(&self) -> &Rows {
        &self.anchors
    }

    /// $C$: one row per anchor, one column per basis vector.
    pub fn coefficients(&self) -> &Array2<f64> {
        &self.coef
    }

    /// The same map, whose training samples are these rows.
    pub(super) fn of_rows(mut self, rows: &[usize]) -> Self {
        self.summary.pivots.iter_mut().for_each(|pivot| *pivot = rows[*pivot]);
        self
    }

    /// Summary of the fit.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Coordinates of new samples, one row each.
    pub fn transform(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        self.project(x, &self.coef, self.origin.as_ref().map(|o| &o.offset), ctx)
    }

    /// Selected coordinates of new samples, in the order of `keep`.
    pub fn transform_kept(&self, x: &Rows, keep: &[usize], ctx: &Context) -> Result<Array2<f64>> {
        let coef = self.coef.select(Axis(1), keep);
        let offset = self.origin.as_ref().map(|o| o.offset.select(Axis(0), keep));
        self.project(x, &coef, offset.as_ref(), ctx)
    }

    fn project(
        &self,
        x: &Rows,
        coef: &Array2<f64>,
        offset: Option<&Array1<f64>>,
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        let mut out = Array2::zeros((x.n(), coef.ncols()));
        self.by_blocks(x, ctx, |from, _, k| {
            let mut part = out.slice_mut(s![from..from + k.nrows(), ..]);
            part.assign(&multiply(k.view(), coef.view()));
            if let Some(offset) = offset {
                part += offset;
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Distance of each new sample from the span, in kernel space.
    pub fn residual_norms(&self, x: &Rows, ctx: &Context) -> Result<Vec<f64>> {
        let mut out = vec![];
        self.by_blocks(x, ctx, |_, block, k| {
            let mut features = multiply(k.view(), self.coef.view());
            if let Some(origin) = &self.origin {
                features += &origin.offset;
            }
            let features = self.orthonormal(features);
            let lengths = self.lengths(&diagonal(&self.kernel, block)?, &k);
            out.extend(
                lengths.iter().zip(features.rows()).map(|(length, f)| (length - f.dot(&f)).max(0.0).sqrt()),
            );
            Ok(())
        })?;
        Ok(out)
    }

    /// $E$ (eq. 19) of new samples.
    pub fn reconstruction_cost(&self, x: &Rows, ctx: &Context) -> Result<f64> {
        let norms = self.residual_norms(x, ctx)?;
        Ok(norms.iter().sum::<f64>() / norms.len().max(1) as f64)
    }

    /// Converts coordinates to those of an orthonormal basis of the same span.
    fn orthonormal(&self, features: Array2<f64>) -> Array2<f64> {
        match &self.to_orthonormal {
            None => features,
            Some(transform) => features.dot(transform),
        }
    }

    /// Squared distances of samples from the origin of the coordinates.
    fn lengths(&self, own: &[f64], k: &Array2<f64>) -> Vec<f64> {
        match &self.origin {
            None => own.to_vec(),
            Some(origin) => {
                let n = k.ncols() as f64;
                own.iter()
                    .zip(k.rows())
                    .map(|(own, k)| own - 2.0 * k.sum() / n + origin.squared_norm)
                    .collect()
            }
        }
    }

    /// Passes blocks of samples to `take`: index of the first sample, the samples, their kernel values with the
    /// anchors.
    fn by_blocks(
        &self,
        x: &Rows,
        ctx: &Context,
        mut take: impl FnMut(usize, &Rows, Array2<f64>) -> Result<()>,
    ) -> Result<()> {
        need_columns("columns of the rows to map", self.n_inputs(), x.d())?;
        for from in (0..x.n()).step_by(BLOCK) {
            ctx.step("rows", from, x.n())?;
            let rows: Vec<usize> = (from..x.n().min(from + BLOCK)).collect();
            let block = x.take_rows(&rows);
            let k = gram(&self.kernel, &block, &self.anchors)?;
            take(from, &block, k)?;
        }
        Ok(())
    }

    /// Adds reconstruction cost, residual curve and explained fraction to the summary of a map with all components
    /// known, as after an eigendecomposition. A pivoted factor reports them itself.
    pub(super) fn with_costs(mut self, own: &[f64], k: &Array2<f64>, features: &Array2<f64>) -> Self {
        let lengths = self.lengths(own, k);
        self.summary.start_norm = lengths.iter().copied().fold(0.0, f64::max).sqrt();
        let coordinates = self.orthonormal(features.clone());
        let total: f64 = lengths.iter().sum();
        let n = lengths.len() as f64;
        let mut residual = lengths;
        let rms = |residual: &[f64]| (residual.iter().sum::<f64>().max(0.0) / n).sqrt();
        self.summary.residual_norms.clear();
        for column in coordinates.columns() {
            self.summary.residual_norms.push(rms(&residual));
            residual.iter_mut().zip(column).for_each(|(r, f)| *r -= f * f);
        }
        self.summary.reconstruction_cost = residual.iter().map(|l| l.max(0.0).sqrt()).sum::<f64>() / n;
        self.summary.explained =
            if total > 0.0 { (1.0 - residual.iter().sum::<f64>() / total).clamp(0.0, 1.0) } else { 1.0 };
        self
    }

    /// Validates a map read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        let m = self.coef.ncols();
        let sound = self.coef.nrows() == self.anchors.n()
            && self.origin.as_ref().is_none_or(|o| o.offset.len() == m)
            && self.to_orthonormal.as_ref().is_none_or(|t| t.dim() == (m, m))
            && self.coef.iter().all(|v| v.is_finite())
            && self.anchors.first_not_finite().is_none();
        if !sound {
            return Err(Error::Model { why: "its parts are inconsistent".into() });
        }
        self.kernel.validate(self.anchors.d())
    }
}

impl Summary {
    /// A summary without the costs, which are added later.
    pub(super) fn start(method: &str, n_rows: usize, pivots: Vec<usize>, outcome: Outcome) -> Self {
        Self {
            method: method.into(),
            n_rows,
            pivots,
            residual_norms: vec![],
            start_norm: 0.0,
            reconstruction_cost: 0.0,
            bound: None,
            explained: 0.0,
            outcome,
        }
    }
}
