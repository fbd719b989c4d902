//! Effects of single features on the target.

use super::blocks::{Block, Blocks};
use super::functions::{Columns, FeatureFunctions, is_spread_over, largest_kurtosis};
use super::orthonormal::Orthonormal;
use super::significance::ln_p_value;
use super::target::target_columns;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::linalg::product_single;
use crate::simd::dot;
use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

const NAME: &str = "feature dependence";
/// Features per thread between two checks for cancellation.
const FEATURES_PER_CHECK: usize = 16;
/// At most this many features are removed from the target.
pub(super) const MAX_FEATURES: usize = 20;
/// The functions that are removed may use this fraction of the rows, those of one feature a quarter of it.
pub(super) const MAX_FRACTION: f64 = 0.25;

/// How much the target depends on a feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dependence {
    /// $\sum_{k, c} z_{kc}^2$: about chi-squared distributed with `degrees` degrees of freedom if the target does not
    /// depend on the feature.
    pub score: f64,
    /// Degrees of freedom: functions of the feature times columns of the target; 0 for a constant feature.
    pub degrees: usize,
    /// The p-value: of an F-test or, if few rows determine the score, a bound.
    pub p_value: f64,
    /// Its logarithm, which also compares p-values too small for a floating-point number.
    pub ln_p_value: f64,
}

/// The dependence of the target on every feature alone, by up to `n_functions` bounded functions of its ranks.
///
/// With $z_{kc} = n^{-1/2} \sum_r \varphi_k(u_r) Y_{rc}$ the score of a feature is the sum of squares over functions
/// and columns of the target; see the [module documentation](super). It supports types and missing values. Cost: $O(n \log
/// n)$ per feature.
pub fn feature_dependence(data: &Dataset, n_functions: usize, ctx: &Context) -> Result<Vec<Dependence>> {
    if n_functions == 0 {
        return Err(Error::param(NAME, "n_functions", "at least 1", n_functions));
    }
    // A feature has fewer functions than distinct values.
    let n_functions = n_functions.min(data.n());
    let target = target_columns(data, NAME)?;
    let (n, threads) = (data.n() as f64, rayon::current_num_threads() as f64);
    let bytes = Columns::bytes(data, n_functions) + 8.0 * n * (threads * (2 * n_functions + 6) as f64);
    ctx.need_memory("functions of features", bytes, "use fewer rows")?;
    let columns = Columns::new(data, n_functions);
    let kurtosis = largest_kurtosis(&target);
    let features: Vec<usize> = (0..data.d()).collect();
    let mut out = Vec::with_capacity(data.d());
    for batch in features.chunks(FEATURES_PER_CHECK * rayon::current_num_threads()) {
        ctx.step("dependence on features", batch[0], data.d())?;
        let of_feature = |&j: &usize| {
            ctx.check()?;
            let found = columns.functions(j, n_functions);
            Ok(dependence(&found, &target, kurtosis))
        };
        let parts: Vec<Result<Dependence>> = batch.par_iter().map(of_feature).collect();
        for part in parts {
            out.push(part?);
        }
    }
    Ok(out)
}

/// The dependence of the columns of a target with this kurtosis on the functions of a feature.
fn dependence(feature: &FeatureFunctions, target: &[Vec<f64>], kurtosis: f64) -> Dependence {
    let functions = &feature.vectors;
    let sum = sum_of_squares(functions, target);
    let ln_p_value = ln_dependence((functions, feature.kurtosis), (target, kurtosis), sum, 0);
    let score = sum / target[0].len() as f64;
    Dependence { score, degrees: functions.len() * target.len(), p_value: ln_p_value.exp(), ln_p_value }
}

/// The sum of squared inner products of functions of a feature and columns of the target.
pub(crate) fn sum_of_squares(functions: &[Vec<f64>], target: &[Vec<f64>]) -> f64 {
    functions.iter().flat_map(|f| target.iter().map(move |y| dot(f, y).powi(2))).sum()
}

/// The logarithm of the p-value of the [`sum_of_squares`] of orthonormal functions of a feature and columns of the target, each
/// with their [`largest_kurtosis`], after `removed` functions were removed from both.
pub(crate) fn ln_dependence(
    (functions, of_functions): (&[Vec<f64>], f64),
    (target, of_target): (&[Vec<f64>], f64),
    sum: f64,
    removed: usize,
) -> f64 {
    let n = target.first().map_or(0, Vec::len);
    if is_spread_over(n, [of_functions, of_target]) {
        let rows = n as f64 - 1.0 - removed as f64;
        return ln_p_value(sum / (n as f64).powi(2), functions.len(), target.len(), rows);
    }
    let bounds = functions.iter().flat_map(|f| target.iter().map(move |y| ln_bound(f, y)));
    let products = (functions.len() * target.len()).max(1) as f64;
    (bounds.fold(0.0, f64::min) + products.ln()).min(0.0)
}

/// The logarithm of Bernstein's bound on the p-value of the inner product of two vectors with mean 0 and mean square 1. It also
/// holds where a few rows, such as those of a rare level and a rare class, determine it.
fn ln_bound(f: &[f64], y: &[f64]) -> f64 {
    let largest = |v: &[f64]| v.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
    let z = dot(f, y).abs();
    let variance = f.len() as f64 + largest(f) * largest(y) * z / 3.0;
    std::f64::consts::LN_2 - z * z / (2.0 * variance)
}

/// A target without the effects of the features on which it depends most.
pub(super) struct Residual {
    /// Orthonormal columns of the target; none if single features explain all of it.
    pub target: Vec<Vec<f64>>,
    /// The features whose effects were removed, the strongest first.
    pub features: Vec<usize>,
    /// Number of functions that were removed.
    pub removed: usize,
}

/// Removes effects of single features from the target, the strongest first, while they are significant at `alpha` (adjusted
/// for the number of features). Up to four times as many functions of each are removed as pairs use: products of functions
/// have up to twice their frequency, and what remains of a steep function of a feature looks like an interaction of two
/// features that are correlated with it.
pub(super) fn without_main_effects(
    target: &[Vec<f64>],
    (columns, blocks): (&Columns, &Blocks),
    n_functions: usize,
    alpha: f64,
    ctx: &Context,
) -> Result<Residual> {
    let n = blocks.n as f64;
    let level = (alpha / blocks.counts.len() as f64).ln();
    let wide = wide(blocks.n, n_functions);
    let mut removed = Orthonormal::default();
    let mut residual = Residual { target: target.to_vec(), features: vec![], removed: 0 };
    while residual.features.len() < MAX_FEATURES
        && (removed.vectors.len() + wide) as f64 <= MAX_FRACTION * n
        && !residual.target.is_empty()
    {
        ctx.check()?;
        let scores = scores(blocks, &residual.target);
        let rows = n - 1.0 - removed.vectors.len() as f64;
        let ln_p = |j: usize| ln_p_value(scores[j] / n, blocks.counts[j], residual.target.len(), rows);
        let best = (0..scores.len()).filter(|j| !residual.features.contains(j)).map(|j| (j, ln_p(j)));
        let Some((best, _)) = best.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, p)| *p <= level) else {
            break;
        };
        for function in columns.functions(best, wide).vectors {
            removed.push(function);
        }
        residual.features.push(best);
        residual.removed = removed.vectors.len();
        residual.target = removed.complement(target);
    }
    Ok(residual)
}

/// Functions of a feature that are removed, if pairs use `n_functions`.
pub(super) fn wide(n: usize, n_functions: usize) -> usize {
    (n / 16).clamp(2 * n_functions, 4 * n_functions)
}

/// The score of every feature, in single precision.
fn scores(blocks: &Blocks, target: &[Vec<f64>]) -> Vec<f64> {
    let (n, t) = (blocks.n, target.len());
    let target = Array2::from_shape_fn((n, t), |(i, c)| target[c][i] as f32);
    let of_block = |block: &Block| {
        let mut z = Array2::<f32>::zeros((block.values.nrows(), t));
        product_single(block.values.view(), target.view(), z.view_mut(), false);
        let score = |rows: &std::ops::Range<usize>| {
            let squares = rows.clone().flat_map(|row| z.row(row).to_vec());
            squares.map(|z| f64::from(z).powi(2)).sum::<f64>() / n as f64
        };
        (block.first, block.rows.iter().map(score).collect::<Vec<f64>>())
    };
    let parts: Vec<(usize, Vec<f64>)> = blocks.blocks.par_iter().map(of_block).collect();
    let mut out = vec![0.0; blocks.counts.len()];
    for (first, scores) in parts {
        out[first..first + scores.len()].copy_from_slice(&scores);
    }
    out
}
