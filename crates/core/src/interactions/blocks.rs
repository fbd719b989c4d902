//! The functions of all features in single precision, in blocks of features.

use super::functions::{Columns, is_spread_over};
use crate::context::Context;
use crate::data::{Dataset, FeatureType};
use crate::error::Result;
use ndarray::Array2;
use rayon::prelude::*;
use std::ops::Range;

/// Functions in a block, at least, except for the last block: matrix products of this size are efficient, and their result
/// fits into a processor's cache.
const BLOCK: usize = 512;
/// Features per thread between two checks for cancellation.
const FEATURES_PER_CHECK: usize = 64;

/// Consecutive features and their functions.
pub(super) struct Block {
    /// The first feature.
    pub first: usize,
    /// The rows of the functions of each feature.
    pub rows: Vec<Range<usize>>,
    /// A function per row, a sample per column.
    pub values: Array2<f32>,
}

/// The functions of all features.
pub(super) struct Blocks {
    pub blocks: Vec<Block>,
    /// For every feature the number of functions, and the largest mean fourth power.
    pub counts: Vec<usize>,
    pub kurtosis: Vec<f64>,
    /// The largest number of functions in a block, and of features.
    pub height: usize,
    pub width: usize,
    pub n: usize,
}

impl Blocks {
    /// An upper bound on their memory, in bytes.
    pub fn bytes(data: &Dataset, limit: usize) -> f64 {
        4.0 * most_functions(data, limit) as f64 * data.n() as f64
    }

    /// The memory that [`Blocks::new`] needs besides, in bytes.
    pub fn temporary_bytes(data: &Dataset, limit: usize) -> f64 {
        let threads = rayon::current_num_threads();
        let at_a_time = (FEATURES_PER_CHECK * threads).min(data.d());
        // A full block may be copied to its final size.
        let copies = if most_functions(data, limit) > BLOCK { 2 * (BLOCK + limit) } else { 0 };
        // A column, its order and its functions are per thread.
        let per_thread = 8.0 * ((2 * limit + 6) * threads) as f64;
        (4.0 * (at_a_time * limit + copies) as f64 + per_thread) * data.n() as f64
    }

    /// Up to `limit` functions of every feature.
    pub fn new(data: &Dataset, columns: &Columns, limit: usize, ctx: &Context) -> Result<Self> {
        let (n, d) = (data.n(), data.d());
        let (mut counts, mut kurtosis) = (Vec::with_capacity(d), Vec::with_capacity(d));
        let capacity = (BLOCK + limit).min(most_functions(data, limit)) * n;
        let (mut blocks, mut open) = (vec![], Open::default());
        let features: Vec<usize> = (0..d).collect();
        for batch in features.chunks(FEATURES_PER_CHECK * rayon::current_num_threads()) {
            ctx.step("functions of features", batch[0], d)?;
            let of_feature = |&j: &usize| {
                ctx.check()?;
                let found = columns.functions(j, limit);
                let single: Vec<f32> = found.vectors.iter().flatten().map(|&v| v as f32).collect();
                Ok((found.vectors.len(), found.kurtosis, single))
            };
            let parts: Vec<Result<(usize, f64, Vec<f32>)>> = batch.par_iter().map(of_feature).collect();
            for part in parts {
                let (count, largest, values) = part?;
                counts.push(count);
                kurtosis.push(largest);
                open.push(count, &values, capacity);
                if open.height() >= BLOCK {
                    blocks.push(open.close(counts.len(), n));
                }
            }
        }
        if open.height() > 0 {
            blocks.push(open.close(counts.len(), n));
        }
        let height = blocks.iter().map(|block| block.values.nrows()).max().unwrap_or(0);
        let width = blocks.iter().map(|block| block.rows.len()).max().unwrap_or(0);
        Ok(Self { blocks, counts, kurtosis, height, width, n })
    }

    /// Whether enough rows determine the products of two features with a target of this mean fourth power.
    pub fn is_spread(&self, i: usize, j: usize, target: f64) -> bool {
        is_spread_over(self.n, [self.kurtosis[i], self.kurtosis[j], target])
    }
}

/// The most functions that all features may have together.
fn most_functions(data: &Dataset, limit: usize) -> usize {
    let most = |j: usize| match data.feature_type(j) {
        // One more level for categories that were not among the levels.
        FeatureType::Category { levels } => limit.min(levels),
        FeatureType::Number | FeatureType::Date(_) => limit,
    };
    (0..data.d()).map(most).sum()
}

/// A block that grows.
#[derive(Default)]
struct Open {
    rows: Vec<Range<usize>>,
    values: Vec<f32>,
}

impl Open {
    fn height(&self) -> usize {
        self.rows.last().map_or(0, |rows| rows.end)
    }

    fn push(&mut self, count: usize, values: &[f32], capacity: usize) {
        let start = self.height();
        if self.values.is_empty() {
            self.values.reserve_exact(capacity);
        }
        self.rows.push(start..start + count);
        self.values.extend_from_slice(values);
    }

    /// The block, which ends before feature `end`.
    fn close(&mut self, end: usize, n: usize) -> Block {
        let Self { rows, mut values } = std::mem::take(self);
        values.shrink_to_fit();
        let height = rows.last().map_or(0, |rows| rows.end);
        let values = Array2::from_shape_vec((height, n), values).expect("a value per function and sample");
        Block { first: end - rows.len(), rows, values }
    }
}
