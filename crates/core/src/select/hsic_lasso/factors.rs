//! Normalized kernel matrices of features and target, as low-rank factors.
//!
//! A feature's kernel matrix enters only through inner products $\langle \bar K_f, \bar K_g \rangle$ of centered
//! matrices of unit norm, and with $\bar K_f = F_f F_f^\top$, $\langle \bar K_f, \bar K_g \rangle = \lVert F_f^\top
//! F_g \rVert_F^2$. If most samples of a feature have the same value, such as the zeros of sparse data, only the
//! factor rows of the others are stored: subtracting that value's row from all rows does not change the centered
//! matrix.
//!
//! With weights $w_i$ of the samples, the mean is weighted and row $i$ of a centered factor is multiplied by $\sqrt{w_i}$.

use super::dense::{Dense, MAX_ROWS, ROUNDING};
use crate::context::Context;
use crate::data::{Dataset, Groups, Rows, Target, Weights};
use crate::dependence::{
    DistinctValues, TargetKernel, factor_of_outputs, gaussian_of_outputs, standardized_outputs,
    target_factor, weighted_column_factor, weighted_target_factor,
};
use crate::error::{Error, Result};
use crate::kernel::{Family, weighted_median_gamma};
use crate::linalg::product_into;
use ndarray::{Array2, Axis, ShapeBuilder};
use std::ops::Range;

/// Fraction of a kernel matrix's trace that its factor may omit.
const TOLERANCE: f64 = 1e-8;
/// Typical rank of a factor: normal data reach the tolerance at 20.
const TYPICAL_RANK: usize = 20;

/// A centered kernel matrix of unit norm as a low-rank factor, or zero.
pub(super) struct LowRank {
    /// In column-major order, one row per entry of `rows`, or per sample of the block, times the root of its weight.
    factor: Array2<f64>,
    /// Indices of nonzero rows, ascending; `None` for all rows, and then the columns are centered.
    rows: Option<Vec<u32>>,
    /// Weighted column sums over the root of the total weight: subtracted by centering.
    sums: Vec<f64>,
    /// The trace of the matrix.
    pub trace: f64,
}

impl LowRank {
    /// The Gaussian kernel with bandwidth 1 of one feature, which has columns of `n` values each, one after another.
    pub fn of_feature(cells: &[f64], n: usize, weights: Weights) -> Self {
        let levels = DistinctValues::of_rows(cells, n, weights);
        let total = weights.total(n);
        let flat = levels.factor(0.5, TOLERANCE);
        let n_values = levels.counts.len();
        let rank = flat.len() / n_values.max(1);
        let majority = (0..n_values).find(|&level| 2.0 * levels.counts[level] > total);
        let rows: Option<Vec<u32>> = majority.map(|level| {
            let other = |row: &u32| levels.index[*row as usize] != level as u32;
            (0..n as u32).filter(other).collect()
        });
        let mut out = Vec::with_capacity(rank * rows.as_ref().map_or(n, Vec::len));
        for column in flat.chunks_exact(n_values.max(1)) {
            match (&rows, majority) {
                (Some(rows), Some(level)) => {
                    let place = |&row: &u32| levels.index[row as usize] as usize;
                    out.extend(rows.iter().map(|row| column[place(row)] - column[level]));
                }
                _ => out.extend(levels.index.iter().map(|&p| column[p as usize])),
            }
        }
        let stored = rows.as_ref().map_or(n, Vec::len);
        let factor = Array2::from_shape_vec((stored, rank).f(), out).expect("a number per row and column");
        Self::normalized(factor, rows, weights, total)
    }

    /// `n` is the number of samples of the block, or their total weight.
    fn normalized(mut factor: Array2<f64>, rows: Option<Vec<u32>>, weights: Weights, n: f64) -> Self {
        let of_rows: Option<Vec<f64>> = match &rows {
            Some(rows) => weights.of_rows(&rows.iter().map(|&row| row as usize).collect::<Vec<_>>()),
            None => weights.given().map(<[f64]>::to_vec),
        };
        let mut sums = vec![0.0; factor.ncols()];
        for (mut column, sum) in factor.axis_iter_mut(Axis(1)).zip(&mut sums) {
            let total = match &of_rows {
                None => column.sum(),
                Some(weights) => column.iter().zip(weights).map(|(v, w)| v * w).sum(),
            };
            match rows {
                Some(_) => *sum = total / n.sqrt(),
                None => column.mapv_inplace(|v| v - total / n),
            }
            for (v, w) in column.iter_mut().zip(of_rows.iter().flatten()) {
                *v *= w.sqrt();
            }
        }
        let mut low_rank = Self { factor, rows, sums, trace: 0.0 };
        let length = low_rank.product(&low_rank).sqrt();
        if length <= ROUNDING * n {
            return Self { factor: Array2::zeros((0, 0).f()), rows: None, sums: vec![], trace: 0.0 };
        }
        let scale = 1.0 / length.sqrt();
        low_rank.factor *= scale;
        low_rank.sums.iter_mut().for_each(|s| *s *= scale);
        let all: f64 = low_rank.factor.iter().map(|v| v * v).sum();
        low_rank.trace = all - low_rank.sums.iter().map(|s| s * s).sum::<f64>();
        low_rank
    }

    /// $\langle \bar K_f, \bar K_g \rangle$ over the same samples.
    pub fn product(&self, other: &Self) -> f64 {
        let (r, q) = (self.factor.ncols(), other.factor.ncols());
        if r == 0 || q == 0 {
            return 0.0;
        }
        let mut out = Array2::zeros((r, q).f());
        match (&self.rows, &other.rows) {
            (None, None) => product_into(self.factor.t(), other.factor.view(), out.view_mut()),
            (Some(rows), None) => {
                add_rows(&self.factor, rows.iter().map(|&i| i as usize).enumerate(), &other.factor, &mut out)
            }
            (None, Some(_)) => return other.product(self),
            (Some(rows), Some(others)) => {
                add_rows(&self.factor, Common::of(rows, others), &other.factor, &mut out);
                for ((i, j), cell) in out.indexed_iter_mut() {
                    *cell -= self.sums[i] * other.sums[j];
                }
            }
        }
        out.iter().map(|v| v * v).sum()
    }

    /// The full matrix, for a factor with all rows.
    pub fn matrix(&self) -> Vec<f64> {
        debug_assert!(self.rows.is_none());
        let n = self.factor.nrows();
        let mut out = Array2::zeros((n, n));
        product_into(self.factor.view(), self.factor.t(), out.view_mut());
        out.into_raw_vec_and_offset().0
    }

    /// Memory in bytes.
    fn bytes(&self) -> usize {
        8 * (self.factor.len() + self.sums.len()) + 4 * self.rows.as_ref().map_or(0, Vec::len)
    }
}

/// Adds the outer products of pairs of rows.
fn add_rows(
    a: &Array2<f64>,
    pairs: impl Iterator<Item = (usize, usize)>,
    b: &Array2<f64>,
    out: &mut Array2<f64>,
) {
    for (i, j) in pairs {
        for (q, mut column) in out.axis_iter_mut(Axis(1)).enumerate() {
            let right = b[[j, q]];
            column.iter_mut().zip(a.row(i)).for_each(|(cell, left)| *cell += left * right);
        }
    }
}

/// Positions of the common elements of two ascending lists.
struct Common<'a> {
    a: &'a [u32],
    b: &'a [u32],
    i: usize,
    j: usize,
}

impl<'a> Common<'a> {
    fn of(a: &'a [u32], b: &'a [u32]) -> Self {
        Self { a, b, i: 0, j: 0 }
    }
}

impl Iterator for Common<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.i < self.a.len() && self.j < self.b.len() {
            let (a, b) = (self.a[self.i], self.b[self.j]);
            let at = (self.i, self.j);
            self.i += usize::from(a <= b);
            self.j += usize::from(b <= a);
            if a == b {
                return Some(at);
            }
        }
        None
    }
}

/// One kernel matrix per block of samples.
pub(super) enum Stack {
    /// As low-rank factors.
    LowRank(Vec<LowRank>),
    /// As full matrices.
    Dense(Dense),
}

impl Stack {
    /// The mean inner product over the blocks. Both have the same representation, which depends on the block size.
    pub fn product(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::LowRank(a), Self::LowRank(b)) => {
                a.iter().zip(b).map(|(a, b)| a.product(b)).sum::<f64>() / a.len() as f64
            }
            (Self::Dense(a), Self::Dense(b)) => a.product(b),
            _ => unreachable!("stacks over the same blocks"),
        }
    }

    /// The mean product of traces over the blocks.
    pub fn product_of_traces(&self, other: &Self) -> f64 {
        let (mine, others) = (self.traces(), other.traces());
        mine.iter().zip(&others).map(|(a, b)| a * b).sum::<f64>() / mine.len() as f64
    }

    fn traces(&self) -> Vec<f64> {
        match self {
            Self::LowRank(all) => all.iter().map(|low_rank| low_rank.trace).collect(),
            Self::Dense(all) => all.traces().collect(),
        }
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::LowRank(all) => all.iter().map(LowRank::bytes).sum(),
            Self::Dense(all) => all.bytes(),
        }
    }
}

/// The blocks of samples, and the weights of all samples. With weights there is a single block.
pub(super) struct Blocks(pub Vec<Vec<usize>>, pub Option<Vec<f64>>);

impl Blocks {
    fn weights(&self) -> Weights<'_> {
        Weights::new(self.1.as_deref())
    }

    /// The kernel matrices of a feature. Its columns, one after another, are divided by `std`; those with 0 are omitted.
    pub fn feature(&self, cells: &[f64], std: &[f64]) -> Stack {
        let n = cells.len() / std.len();
        let columns = cells.chunks_exact(n).zip(std).filter(|(_, std)| **std > 0.0);
        let scaled: Vec<f64> =
            columns.flat_map(|(column, std)| column.iter().map(move |v| v / std)).collect();
        if self.are_small() {
            return Stack::Dense(Dense::of_feature(&scaled, n, &self.0, self.weights()));
        }
        Stack::LowRank(self.each(&scaled, n, |cells, n| LowRank::of_feature(cells, n, self.weights())))
    }

    /// Approximate bytes of the kernel matrices of the largest of these features.
    pub fn feature_bytes(&self, groups: &Groups) -> f64 {
        Self::bytes(self.0.len() as f64, self.0[0].len(), groups)
    }

    /// Approximate bytes of the kernel matrices of the largest of these features, over `blocks` blocks of `n` samples.
    pub fn bytes(blocks: f64, n: usize, groups: &Groups) -> f64 {
        // The rank of a category is at most its number of columns. A number with an indicator has two numbers' ranks.
        let rank = |columns: Range<usize>| match columns.len() {
            1 => TYPICAL_RANK,
            several => several.max(2 * TYPICAL_RANK),
        };
        let rank = groups.iter().map(rank).max().unwrap_or(TYPICAL_RANK);
        let of_block = if n <= MAX_ROWS { n * (n + 1) / 2 } else { n * n.min(rank) };
        8.0 * blocks * of_block as f64
    }

    fn are_small(&self) -> bool {
        let is_small =
            |rows: &Vec<usize>| rows.len().max(self.weights().total(rows.len()).ceil() as usize) <= MAX_ROWS;
        self.0.iter().all(is_small)
    }

    /// Makes a factor for each block, given the values of a feature in the block and the number of its samples.
    fn each(&self, cells: &[f64], n: usize, make: impl Fn(&[f64], usize) -> LowRank) -> Vec<LowRank> {
        let mut part = vec![];
        let of_block = |rows: &Vec<usize>| {
            part.clear();
            for column in cells.chunks_exact(n) {
                part.extend(rows.iter().map(|&i| column[i]));
            }
            make(&part, rows.len())
        };
        self.0.iter().map(of_block).collect()
    }

    /// Converts low-rank factors to the representation used for features.
    fn stack(&self, factors: Vec<LowRank>) -> Stack {
        if self.are_small() {
            Stack::Dense(Dense::of_matrices(|block| factors[block].matrix(), &self.0, self.weights()))
        } else {
            Stack::LowRank(factors)
        }
    }

    /// The kernel matrix of a factor, centered and of norm 1.
    fn centered(&self, mut factor: Array2<f64>) -> LowRank {
        let n = factor.nrows();
        // A linear kernel scales with the squares of the target, so its threshold does too.
        let size = factor.iter().fold(0.0_f64, |largest, v| largest.max(v.abs()));
        if size > 0.0 {
            factor.mapv_inplace(|v| v / size);
        }
        LowRank::normalized(factor, None, self.weights(), self.weights().total(n))
    }

    /// The kernel matrices of several outputs, unless the kernel is for classes.
    fn outputs(
        &self,
        y: &Array2<f64>,
        kernel: TargetKernel,
        method: &'static str,
        ctx: &Context,
    ) -> Result<Option<Stack>> {
        let weights = self.weights();
        let standardized = standardized_outputs(y, weights, method)?;
        let columns = standardized.ncols();
        let of_cells = |cells: &[f64], factor: &dyn Fn(&[f64], usize) -> Array2<f64>| {
            self.stack(self.each(cells, y.nrows(), |part, n| self.centered(factor(part, n))))
        };
        Ok(Some(match kernel {
            // The mean over outputs in place of their sum, so that a repeated output changes nothing.
            TargetKernel::Auto => {
                let cells: Vec<f64> = standardized.t().iter().copied().collect();
                self.feature(&cells, &vec![(columns as f64).sqrt(); columns])
            }
            TargetKernel::Gaussian => {
                let (gamma, cells) = gaussian_of_outputs(standardized, weights, ctx)?;
                of_cells(&cells, &|part, n| factor_of_outputs(part, n, weights, gamma))
            }
            TargetKernel::Linear => {
                let cells: Vec<f64> = standardized.t().iter().copied().collect();
                of_cells(&cells, &|part, n| {
                    Array2::from_shape_vec((n, columns).f(), part.to_vec()).expect("n per column")
                })
            }
            TargetKernel::ClassBalanced | TargetKernel::Delta => return Ok(None),
        }))
    }

    /// The target's kernel matrices. A continuous target has the kernel of the features by default.
    pub fn target(
        &self,
        data: &Dataset,
        kernel: TargetKernel,
        method: &'static str,
        ctx: &Context,
    ) -> Result<Stack> {
        let weights = self.weights();
        if let Target::Outputs(y) = data.target()
            && let Some(stack) = self.outputs(y, kernel, method, ctx)?
        {
            return Ok(stack);
        }
        // Validate the full target first.
        let full = weighted_target_factor(data.target(), weights, kernel, method, ctx)?;
        match (data.target(), kernel) {
            (Target::Continuous(values), TargetKernel::Auto) => {
                let std = Rows::Dense(
                    Array2::from_shape_vec((values.len(), 1), values.clone()).expect("one column"),
                )
                .weighted_moments(weights)
                .1[0];
                Ok(self.feature(values, &[std]))
            }
            (Target::Continuous(values), TargetKernel::Gaussian) => {
                let column = Array2::from_shape_vec((values.len(), 1), values.clone()).expect("one column");
                let gamma = weighted_median_gamma(Family::Rbf, &Rows::Dense(column), weights, ctx.seed)?;
                let factor =
                    |part: &[f64], _| self.centered(weighted_column_factor(part, weights, gamma, TOLERANCE));
                Ok(self.stack(self.each(values, values.len(), factor)))
            }
            _ if self.0.len() == 1 && self.0[0].len() == data.n() => {
                Ok(self.stack(vec![self.centered(full)]))
            }
            _ => {
                let of = |rows: &Vec<usize>| match target_factor(&data.target_of(rows), kernel, method, ctx) {
                    Ok(factor) => Ok(self.centered(factor)),
                    // A block with a constant target contributes nothing.
                    Err(Error::OneClass { .. } | Error::ConstantTarget { .. }) => Ok(LowRank::normalized(
                        Array2::zeros((rows.len(), 0).f()),
                        None,
                        Weights::ONE,
                        rows.len() as f64,
                    )),
                    Err(error) => Err(error),
                };
                Ok(self.stack(self.0.iter().map(of).collect::<Result<_>>()?))
            }
        }
    }
}
