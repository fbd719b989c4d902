//! Finds the best feature to add exactly, with most of the work in single precision.
//!
//! All candidates are first evaluated in single precision, with an error bound. Only candidates that may be the
//! best within this bound, usually a few, are evaluated in double precision.
//!
//! With values $u$ scaled so that the kernel is $2^{-(u - v)^2}$ and at most $U$ from the center of their feature,
//! a relative rounding error of $\varepsilon$ changes a difference $D$ by $\varepsilon (2 U + D)$ and so the
//! exponent by $\varepsilon (4 U D + 5 D^2)$, including the rounding of its products. The error of the kernel is
//! that times $2^{-D^2} \ln 2$, at most $\varepsilon (1.5 U + 1.9)$, plus a relative error of [`F32_KERNEL_ERROR`].
//! Weights are rounded, and sums of $m$ terms have an error of $m \varepsilon$ times the sum of absolute values.
//!
//! Features of several columns are always evaluated in double precision.

use super::dense::{distances_before, rows_of, weighted_kernels};
use super::pairs::{Cells, Joint, ROWS};
use super::query::{Change, Query};
use crate::context::Context;
use crate::data::{Groups, Rows};
use crate::dependence::PairWeights;
use crate::error::Result;
use crate::simd::{F32_KERNEL_ERROR, F32_LANES, F32_UNIT_ROUNDOFF, gaussian_sum_f32};
use ndarray::Array2;
use std::f64::consts::LOG2_E;
use std::ops::Range;

/// Values summed in single precision before the sum continues in double.
const F32_BLOCK: usize = 2048;
/// Up to this many candidates are evaluated in double precision directly.
const MIN_CANDIDATES: usize = 8;
/// Features with a larger range in units of the kernel are evaluated in double precision.
const MAX_RANGE: f64 = 1000.0;
/// Values below the smallest normal number in single precision may underflow to zero.
const F32_UNDERFLOW: f64 = f32::MIN_POSITIVE as f64;

/// A growing set of features.
pub(in crate::select) struct Growth<'a> {
    joint: Joint<'a>,
    rough: Option<Rough>,
}

impl<'a> Growth<'a> {
    /// Reserves memory for copies of the features and the factor of the target's kernel; returns the remaining
    /// context.
    pub fn held<'c>(
        x: &Rows,
        factor: &Array2<f64>,
        method: &'static str,
        ctx: &Context<'c>,
    ) -> Result<Context<'c>> {
        let ctx = Joint::held(x, factor, method, ctx)?;
        let bytes = if x.is_sparse() { 0.0 } else { Rough::bytes(x.n(), x.d()) };
        ctx.hold(
            format!("{method}'s single-precision copy of the features"),
            bytes,
            "use fewer rows or columns",
        )
    }

    /// Features with these columns; `ctx` is that of [`Growth::held`].
    pub fn new(
        x: &'a Rows,
        groups: Groups,
        weights: PairWeights,
        method: &'static str,
        ctx: &Context,
    ) -> Result<Self> {
        let scale = weights.max_abs().recip();
        let joint = Joint::new(x, groups, weights, method, ctx)?;
        let rough = match &joint.cells {
            Cells::Dense(x) if scale.is_normal() => Some(Rough::new(x, &joint.groups, scale)),
            _ => None,
        };
        Ok(Self { joint, rough })
    }

    /// The non-constant features, in order.
    pub fn varying(&self) -> Vec<usize> {
        self.joint.varying()
    }

    /// The sums over `members` with each candidate added.
    pub fn all(
        &self,
        members: &[usize],
        candidates: &[usize],
        gamma: f64,
        ctx: &Context,
    ) -> Result<Vec<f64>> {
        let query = Query { members, candidates, change: Change::Add, gamma, gamma_unchanged: gamma };
        Ok(self.joint.sums(query, ctx)?.changed)
    }

    /// The position of the best candidate (the first on ties), and its sum.
    pub fn best(
        &self,
        members: &[usize],
        candidates: &[usize],
        gamma: f64,
        ctx: &Context,
    ) -> Result<(usize, f64)> {
        let places = self.contenders(members, candidates, gamma, ctx)?;
        let contenders: Vec<usize> = places.iter().map(|&at| candidates[at]).collect();
        let sums = self.all(members, &contenders, gamma, ctx)?;
        let best = first_of_the_best(&sums);
        Ok((places[best], sums[best]))
    }

    /// Positions of the candidates that may be the best, in order.
    fn contenders(
        &self,
        members: &[usize],
        candidates: &[usize],
        gamma: f64,
        ctx: &Context,
    ) -> Result<Vec<usize>> {
        let places = 0..candidates.len();
        let Some(rough) = self.rough.as_ref().filter(|_| candidates.len() > MIN_CANDIDATES) else {
            return Ok(places.collect());
        };
        let (sums, size) = self.rough_sums(rough, members, candidates, gamma, ctx)?;
        let errors: Vec<f64> = candidates.iter().map(|&f| rough.error(f, gamma, size)).collect();
        let lower_bound =
            sums.iter().zip(&errors).map(|(sum, error)| sum - error).fold(f64::NEG_INFINITY, f64::max);
        let may_be_best = |&at: &usize| (sums[at] + errors[at]).total_cmp(&lower_bound).is_ge();
        Ok(places.filter(may_be_best).collect())
    }

    /// The sums in single precision and scaled units, and the sum of absolute values.
    fn rough_sums(
        &self,
        rough: &Rough,
        members: &[usize],
        candidates: &[usize],
        gamma: f64,
        ctx: &Context,
    ) -> Result<(Vec<f64>, f64)> {
        let Cells::Dense(x) = &self.joint.cells else {
            unreachable!("only dense features have a rough copy")
        };
        let members = self.joint.groups.expand(members);
        let part = |at: Range<usize>| {
            let weights = self.joint.weights.rows(at.clone());
            let kernels =
                weighted_kernels(distances_before(x, &at, members.clone()), &rows_of(&weights), gamma);
            Ok(rough.sums(&kernels, at, candidates, gamma))
        };
        let sums = self.joint.over_rows(ROWS, candidates.len() + 1, part, ctx)?;
        Ok((sums.changed, sums.unchanged))
    }
}

/// The first of the largest values.
pub(in crate::select) fn first_of_the_best(sums: &[f64]) -> usize {
    (0..sums.len()).fold(0, |best, at| if sums[at] > sums[best] { at } else { best })
}

/// Columns in single precision, scaled to the range from -1 to 1.
struct Rough {
    /// The column of each feature; `None` for a feature of several columns.
    columns: Vec<Option<usize>>,
    cells: Vec<f32>,
    /// Distance between successive columns; the padding is zero.
    stride: usize,
    /// Half the range of each column.
    reach: Vec<f64>,
    /// Factor that scales the weights to at most 1.
    scale: f64,
}

impl Rough {
    fn stride(n: usize) -> usize {
        n.next_multiple_of(F32_LANES)
    }

    fn bytes(n: usize, d: usize) -> f64 {
        let weights = rayon::current_num_threads() * ROWS * Self::stride(n);
        4.0 * (Self::stride(n) * d + weights) as f64
    }

    fn new(x: &Array2<f64>, groups: &Groups, scale: f64) -> Self {
        let columns = groups.iter().map(|columns| (columns.len() == 1).then_some(columns.start)).collect();
        let stride = Self::stride(x.nrows());
        let mut cells = vec![0.0; stride * x.ncols()];
        let mut reach = vec![];
        for (to, column) in cells.chunks_exact_mut(stride.max(1)).zip(x.columns()) {
            let (low, high) = column
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (v.min(low), v.max(high)));
            let (middle, half) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
            if half > 0.0 {
                to.iter_mut().zip(column).for_each(|(to, v)| *to = ((v - middle) / half) as f32);
            }
            reach.push(half);
        }
        Self { columns, cells, stride, reach, scale }
    }

    /// Sums of the weighted kernels of rows `at` with earlier rows, times the candidates' kernels, doubled and
    /// scaled, 0 for features of several columns; and the sum of absolute values of the weighted kernels.
    fn sums(&self, kernels: &[Vec<f64>], at: Range<usize>, candidates: &[usize], gamma: f64) -> Vec<f64> {
        let round = |row: &Vec<f64>| {
            let mut rough = vec![0.0; Self::stride(row.len())];
            rough.iter_mut().zip(row).for_each(|(to, v)| *to = (v * self.scale) as f32);
            rough
        };
        let weights: Vec<Vec<f32>> = kernels.iter().map(round).collect();
        let sum = |&f: &usize| {
            let Some(j) = self.columns[f] else { return 0.0 };
            let cells = &self.cells[j * self.stride..(j + 1) * self.stride];
            let exponent = -(self.exponent(j, gamma) as f32);
            let of_row = |(i, weights): (usize, &Vec<f32>)| -> f64 {
                let spans = weights.chunks(F32_BLOCK).zip(cells.chunks(F32_BLOCK));
                spans.map(|(w, x)| gaussian_sum_f32(w, &x[..w.len()], cells[i], exponent)).sum()
            };
            2.0 * at.clone().zip(&weights).map(of_row).sum::<f64>()
        };
        let mut out: Vec<f64> = candidates.iter().map(sum).collect();
        out.push(2.0 * self.scale * kernels.iter().flatten().map(|v| v.abs()).sum::<f64>());
        out
    }

    /// $U^2$: the kernel of a column is two to the power of minus this times the squared difference of its scaled
    /// values.
    fn exponent(&self, j: usize, gamma: f64) -> f64 {
        gamma * LOG2_E * self.reach[j] * self.reach[j]
    }

    /// Error bound of a candidate's sum, given the sum of absolute values of the weighted kernels.
    fn error(&self, f: usize, gamma: f64, size: f64) -> f64 {
        let Some(j) = self.columns[f] else { return f64::INFINITY };
        let range = self.exponent(j, gamma).sqrt();
        if range >= MAX_RANGE || range.is_nan() {
            return f64::INFINITY;
        }
        let n = self.stride as f64;
        let terms = n.min(F32_BLOCK as f64) / F32_LANES as f64 + 1.0;
        let relative = F32_KERNEL_ERROR + F32_UNIT_ROUNDOFF * (1.5 * range + 1.9 + 1.0 + terms);
        // A factor of two covers the second-order terms omitted from the bound.
        2.0 * (relative * size + n * n * F32_UNDERFLOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, Target};
    use crate::dependence::{Estimator, TargetKernel, target_factor};
    use crate::random::Rng;

    fn weights(n: usize, estimator: Estimator) -> PairWeights {
        let target = Target::Classes(Classes::from_codes((0..n).map(|i| i * 7 % 3).collect()));
        let factor = target_factor(&target, TargetKernel::Auto, "m", &Context::default()).unwrap();
        PairWeights::new(&factor, estimator, "m").unwrap()
    }

    /// Features with different scales and offsets, with outliers and duplicates.
    fn columns(n: usize, d: usize, seed: u64) -> Array2<f64> {
        let mut rng = Rng::new(seed);
        let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        for (j, mut column) in x.columns_mut().into_iter().enumerate() {
            match j % 5 {
                0 => column.mapv_inplace(|v| v + 1e6),
                1 => column.mapv_inplace(|v| v * 30.0),
                2 => column[j % n] = 1e4,
                3 => column.mapv_inplace(|v| v * 1e-9),
                _ => {}
            }
        }
        let twin = x.column(4).to_owned();
        x.column_mut(d - 1).assign(&twin);
        x
    }

    #[test]
    fn the_error_bound_holds() {
        let (n, d) = (3 * ROWS + 7, 20);
        let ctx = Context::default();
        for (estimator, seed) in [(Estimator::Biased, 1), (Estimator::Unbiased, 2)] {
            let x: Rows = columns(n, d, seed).into();
            let growth = Growth::new(&x, Groups::single(d), weights(n, estimator), "m", &ctx).unwrap();
            let rough = growth.rough.as_ref().unwrap();
            let diagonal: f64 = weights(n, estimator).rows(0..n).diag().sum();
            let all: Vec<usize> = (0..d).collect();
            let mut near = 0;
            for (members, gamma) in [(vec![], 0.5), (vec![4, 7], 0.1), (vec![9, 14, 1], 3.0)] {
                let (sums, size) = growth.rough_sums(rough, &members, &all, gamma, &ctx).unwrap();
                let exact = growth.all(&members, &all, gamma, &ctx).unwrap();
                for f in 0..d {
                    let (wrong, most) =
                        (sums[f] - (exact[f] - diagonal) * rough.scale, rough.error(f, gamma, size));
                    assert!(wrong.abs() <= most, "{f}: an error of {wrong} exceeds the bound {most}");
                    near += usize::from(most < 1e-4 * size);
                }
            }
            assert!(near > d, "the bound is useful for {near} features only");
        }
    }

    #[test]
    fn the_best_is_that_of_exact_sums() {
        let ctx = Context::default();
        for seed in 0..20 {
            let (n, d) = (2 * ROWS + 3, 30);
            let x: Rows = columns(n, d, seed).into();
            let growth =
                Growth::new(&x, Groups::single(d), weights(n, Estimator::Biased), "m", &ctx).unwrap();
            let candidates: Vec<usize> = (0..d).filter(|f| f % 7 != 1).collect();
            for members in [vec![], vec![8, 1], vec![15, 22, 29]] {
                let gamma = 0.5 / (members.len() + 1) as f64;
                let all = growth.all(&members, &candidates, gamma, &ctx).unwrap();
                let best = first_of_the_best(&all);
                assert_eq!(growth.best(&members, &candidates, gamma, &ctx).unwrap(), (best, all[best]));
            }
            // The same columns as fewer features.
            let groups = Groups::of_sizes([1, 1, 1, 3, 1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 2, 9]);
            let growth = Growth::new(&x, groups, weights(n, Estimator::Biased), "m", &ctx).unwrap();
            let candidates: Vec<usize> = (0..16).filter(|f| f % 7 != 1).collect();
            for members in [vec![], vec![3, 1]] {
                let gamma = 0.5 / (members.len() + 1) as f64;
                let all = growth.all(&members, &candidates, gamma, &ctx).unwrap();
                let best = first_of_the_best(&all);
                assert_eq!(growth.best(&members, &candidates, gamma, &ctx).unwrap(), (best, all[best]));
            }
        }
    }

    #[test]
    fn few_contenders_remain_unless_single_precision_fails() {
        let ctx = Context::default();
        let (n, d) = (200, 60);
        let mut rng = Rng::new(5);
        let mut x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        let candidates: Vec<usize> = (0..d).collect();
        let rows: Rows = x.clone().into();
        let growth = Growth::new(&rows, Groups::single(d), weights(n, Estimator::Biased), "m", &ctx).unwrap();
        let places = growth.contenders(&[3], &candidates[4..], 0.25, &ctx).unwrap();
        assert!(places.len() < 4, "{places:?}");
        // Kernels of the members that underflow in single precision, and features with too large a range.
        let underflow = growth.contenders(&[0, 1, 2], &candidates[4..], 1e4, &ctx).unwrap();
        assert_eq!(underflow.len(), d - 4);
        x.row_mut(0).fill(1e9);
        let rows: Rows = x.into();
        let growth = Growth::new(&rows, Groups::single(d), weights(n, Estimator::Biased), "m", &ctx).unwrap();
        assert_eq!(growth.contenders(&[], &candidates, 0.5, &ctx).unwrap().len(), d);
    }
}
