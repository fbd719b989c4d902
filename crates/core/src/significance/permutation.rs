//! Statistics of all features, and how many permuted targets have at least the same.
//!
//! Both statistics are sums of squared products of vectors of the feature and vectors of the target. Vectors of the target are
//! permuted once for all features, and their products are matrix products in single precision.

use super::covariates::Covariates;
use super::vectors::{FeatureVectors, Side};
use crate::context::Context;
use crate::error::Result;
use crate::interactions::{Columns, sum_of_squares};
use crate::linalg::{product_bytes, product_single};
use crate::random::Rng;
use crate::simd::add_squares_f32;
use ndarray::{Array2, s};
use rayon::prelude::*;
use std::ops::Range;

/// Vectors of features in a matrix product, about.
const HEIGHT: usize = 256;
/// Permuted vectors of the target in a matrix product, about.
const WIDTH: usize = 512;
/// Permuted vectors of the target in memory have at most this many entries (64 MiB).
const CHUNK: usize = 1 << 24;
/// Permutations with at least this fraction of the observed statistic count: equal ones differ by rounding in single precision.
const ALMOST: f64 = 1.0 - 1e-4;

/// What a feature has in common with the target.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Observed {
    /// The sum of squared products of vectors of mean square 1 or, for a kernel, of the factors.
    pub sum: f64,
    /// The logarithm of the asymptotic p-value.
    pub ln_p_value: f64,
    /// The number of permuted targets with at least this sum.
    pub exceeding: usize,
}

/// The target and how it is permuted.
pub(super) struct Permutations<'a> {
    pub target: &'a Side,
    pub covariates: &'a Covariates,
    pub count: usize,
}

impl Permutations<'_> {
    /// Permutations that are in memory together.
    fn per_chunk(&self) -> usize {
        (CHUNK / (self.target.n() * self.target.vectors.len()).max(1)).clamp(1, self.count.max(1))
    }

    /// The statistics of features.
    pub fn observe(
        &self,
        features: &FeatureVectors,
        indices: &[usize],
        ctx: &Context,
    ) -> Result<Vec<Observed>> {
        let (n, t) = (self.target.n(), self.target.vectors.len());
        let threads = rayon::current_num_threads();
        let per_group = (HEIGHT / features.most()).max(1);
        let (chunk, height) = (self.per_chunk().min(self.count), per_group * features.most());
        let per_thread = 4 * height * (n + WIDTH + t) + 8 * n * (2 * features.most() + 6);
        let bytes = Columns::bytes(features.data, features.most())
            + (4 * n * t * chunk) as f64
            + (threads * (per_thread + 16 * n * t)) as f64
            + if self.count > 0 { product_bytes() } else { 0.0 };
        ctx.need_memory("tests of features", bytes, "use fewer rows")?;
        let mut out = vec![Observed::default(); indices.len()];
        let chunks = self.count.div_ceil(self.per_chunk()).max(1);
        for done in 0..chunks {
            let from = done * self.per_chunk();
            let permuted = self.permuted(from..self.count.min(from + self.per_chunk()), ctx)?;
            let groups: Vec<&[usize]> = indices.chunks(per_group).collect();
            let mut at = 0;
            for batch in groups.chunks(threads) {
                ctx.step("tests of features", done * indices.len() + at, chunks * indices.len())?;
                let of_group = |group: &&[usize]| {
                    ctx.check()?;
                    Ok(self.of_group(features, group, &permuted))
                };
                let parts: Vec<Result<Vec<Observed>>> = batch.par_iter().map(of_group).collect();
                for part in parts {
                    for found in part? {
                        out[at] = Observed { exceeding: out[at].exceeding + found.exceeding, ..found };
                        at += 1;
                    }
                }
            }
        }
        Ok(out)
    }

    /// The vectors of permuted targets, a row each.
    fn permuted(&self, at: Range<usize>, ctx: &Context) -> Result<Array2<f32>> {
        let (n, t) = (self.target.n(), self.target.vectors.len());
        let mut out = Array2::<f32>::zeros((at.len() * t, n));
        let Some(cells) = out.as_slice_mut().filter(|cells| !cells.is_empty()) else { return Ok(out) };
        let fill = |(b, cells): (usize, &mut [f32])| {
            ctx.check()?;
            let mut rng = Rng::stream(ctx.seed, &format!("permutation {}", at.start + b));
            let order = self.covariates.permutation(n, &mut rng);
            let mut permuted = self.target.permuted(&order);
            if self.covariates.changes_permuted() {
                permuted = permuted.without(&self.covariates.basis);
            }
            for (row, vector) in cells.chunks_exact_mut(n).zip(&permuted.vectors) {
                row.iter_mut().zip(vector).for_each(|(out, v)| *out = *v as f32);
            }
            Ok(())
        };
        cells.par_chunks_mut(n * t).enumerate().map(fill).collect::<Result<()>>()?;
        Ok(out)
    }

    /// The statistics of a group of features.
    fn of_group(&self, features: &FeatureVectors, group: &[usize], permuted: &Array2<f32>) -> Vec<Observed> {
        let (mut rows, mut single, mut out) = (vec![], Vec::<f32>::new(), vec![]);
        let n = self.target.n();
        for &j in group {
            let side = features.of(j, &self.covariates.basis);
            let sum = sum_of_squares(&side.vectors, &self.target.vectors);
            let ln_p_value = side.ln_p_value(self.target, sum, self.covariates.basis.vectors.len());
            out.push(Observed { sum, ln_p_value, exceeding: 0 });
            if !permuted.is_empty() {
                let first = single.len() / n;
                single.extend(side.vectors.iter().flatten().map(|&v| v as f32));
                rows.push(first..single.len() / n);
            }
        }
        if permuted.is_empty() {
            return out;
        }
        let values = Array2::from_shape_vec((single.len() / n, n), single).expect("a row per vector");
        let t = self.target.vectors.len();
        let width = (WIDTH / t).max(1) * t;
        let mut products = Array2::<f32>::zeros((values.nrows(), width));
        for from in (0..permuted.nrows()).step_by(width) {
            let targets = permuted.slice(s![from..permuted.nrows().min(from + width), ..]);
            let mut products = products.slice_mut(s![.., ..targets.nrows()]);
            product_single(values.view(), targets.t(), products.view_mut(), false);
            for (found, rows) in out.iter_mut().zip(&rows) {
                let mut sums = vec![0.0_f32; targets.nrows()];
                for row in rows.clone() {
                    add_squares_f32(&mut sums, products.row(row).to_slice().expect("contiguous"));
                }
                let threshold = ALMOST * found.sum;
                let sums = sums.chunks_exact(t).map(|sums| sums.iter().map(|&v| f64::from(v)).sum::<f64>());
                found.exceeding += sums.filter(|&sum| sum >= threshold).count();
            }
        }
        out
    }
}
