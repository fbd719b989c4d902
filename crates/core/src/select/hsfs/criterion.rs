//! The HSIC criterion of the data, its bandwidth and its approximations.

use super::settings::{Approximation, Hsfs, NAME};
use crate::basis::{Basis, Kobl, Threshold};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Groups, Rows};
use crate::dependence::projection::{Exact, Fourier, Nystrom, ProjectedCriterion};
use crate::error::{Error, Result};
use crate::random::Rng;
use ndarray::Array2;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of samples and of features from which the bandwidth is estimated.
const BANDWIDTH_SAMPLE: usize = 200;

impl Hsfs {
    /// The HSIC criterion for these samples.
    pub(super) fn criterion(
        &self,
        factor: &Array2<f64>,
        x: &Rows,
        directions: usize,
        ctx: &Context,
    ) -> Result<Arc<dyn ProjectedCriterion>> {
        let n = x.n();
        Ok(match self.approximation_of(n) {
            Approximation::Auto | Approximation::Exact => Arc::new(Exact::new(factor.clone()).on(ctx.device)),
            Approximation::Fourier => {
                ctx.note(format!("{NAME}: HSIC of {n} rows by {} random Fourier features", self.features));
                Arc::new(Fourier::new(factor.clone(), directions, self.features, ctx.seed))
            }
            Approximation::Nystrom => {
                let landmarks = landmarks(x, self.features.min(n), ctx)?;
                ctx.note(format!("{NAME}: HSIC of {n} rows by {} landmarks", landmarks.len()));
                ctx.need_memory(
                    format!("{NAME} with {} landmarks", landmarks.len()),
                    24.0 * n as f64 * landmarks.len() as f64,
                    "use fewer landmarks, or Fourier features",
                )?;
                Arc::new(Nystrom::new(factor.clone(), landmarks))
            }
        })
    }
}

/// At most `wanted` landmarks: the pivots of KOBL.
fn landmarks(x: &Rows, wanted: usize, ctx: &Context) -> Result<Vec<usize>> {
    let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
    let kobl = Kobl { n_components: Some(wanted), threshold: Threshold::None, ..Kobl::default() };
    let fit = kobl.fit(&Dataset::unlabeled(x.clone())?, &quiet)?;
    Ok(fit.map.summary().pivots.clone())
}

/// The bandwidth at which a typical pair of samples differs by one in a typical feature: the median over features
/// of the median difference without ties, but no more than the samples differ in the feature that varies most. In
/// sparse features the few nonzero differences are large relative to the standard deviation, and with such a
/// bandwidth the kernel would be almost linear. The difference in a feature of several columns is the distance.
pub(super) fn median_bandwidth(x: &Rows, groups: &Groups, ctx: &Context) -> f64 {
    let (_, std) = x.moments();
    let std_of = |columns: Range<usize>| match columns.len() {
        1 => std[columns.start],
        _ => columns.map(|j| std[j] * std[j]).sum::<f64>().sqrt(),
    };
    let most = std::f64::consts::SQRT_2 * groups.iter().map(std_of).fold(f64::MIN_POSITIVE, f64::max);
    let features = Rng::stream(ctx.seed, "HSFS width").sample(groups.n_features(), BANDWIDTH_SAMPLE);
    let sample: Vec<usize> = Rng::stream(ctx.seed, "HSFS rows").sample(x.n(), BANDWIDTH_SAMPLE);
    let x = x.take_rows(&sample).take_columns(&groups.expand(&features)).into_dense();
    let median = |values: &mut Vec<f64>| {
        let half = values.len() / 2;
        (!values.is_empty()).then(|| *values.select_nth_unstable_by(half, f64::total_cmp).1)
    };
    let of_feature = |columns: Range<usize>| {
        let mut differences = vec![];
        let difference = |i: usize, k: usize| match columns.len() {
            1 => (x[[i, columns.start]] - x[[k, columns.start]]).abs(),
            _ => columns.clone().map(|j| (x[[i, j]] - x[[k, j]]).powi(2)).sum::<f64>().sqrt(),
        };
        for i in 0..x.nrows() {
            differences.extend((0..i).map(|k| difference(i, k)).filter(|e| *e > 0.0));
        }
        median(&mut differences)
    };
    let mut medians: Vec<f64> = groups.take(&features).iter().filter_map(of_feature).collect();
    median(&mut medians).unwrap_or(1.0).min(most)
}

/// Returns an error for features whose distances overflow.
pub(super) fn need_moderate(x: &Rows) -> Result<()> {
    let (mean, std) = x.moments();
    if mean.iter().chain(&std).any(|v| v.abs() > 1e100) {
        return Err(Error::Breakdown {
            step: NAME,
            why: "distances between rows overflow; scale the features".into(),
        });
    }
    Ok(())
}
