//! What an accelerator computes.

use ndarray::ArrayView2;
use std::ops::Range;

/// Why an accelerator does not compute something; the processor does instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The problem is too small or not supported, or there is no device.
    Declined,
    /// It does not fit into the memory of the device.
    OutOfMemory,
    /// The device or its driver failed, with the reason.
    Failed(String),
}

/// A result, or why there is none.
pub type Attempt<T> = Result<T, Refusal>;

/// Hardware that computes the longest loops. All calls may come from several threads.
pub trait Accelerator: Send + Sync {
    /// The name of the hardware, such as `NVIDIA H200`; none if there is none that can be used.
    fn name(&self) -> Option<String>;

    /// Prepares the screening of all pairs of features.
    fn pairs<'a>(&'a self, functions: &'a PairFunctions<'a>) -> Attempt<Box<dyn PairTiles + 'a>>;

    /// $\sum_{ij} A_{ij}$ with $A_{ij} = \exp(-\frac12 \lVert p_i - p_j \rVert^2) \, y_i^\top y_j$ over all pairs of rows, in double
    /// precision.
    ///
    /// `sums`, if given, gets for each row $i$ the $q + 1$ numbers $\sum_j A_{ij}$ and $\sum_j A_{ij} p_j$.
    fn hsic(&self, pairs: ProjectedPairs, sums: Option<&mut [f64]>) -> Attempt<f64>;

    /// Whether to prepare a search for nearest neighbors among this number of rows and columns, for this number of queries, with
    /// `listed` rows for each.
    fn wants_nearest(&self, size: ((usize, usize), usize), listed: usize) -> bool;

    /// Prepares the search for nearest neighbors among rows, `listed` for each query.
    fn nearest<'a>(
        &'a self,
        reference: ArrayView2<'a, f32>,
        listed: usize,
        metric: Metric,
    ) -> Attempt<Box<dyn NearestLists + 'a>>;
}

/// Functions of features and a target, see [`crate::interactions`].
pub struct PairFunctions<'a> {
    /// Number of samples.
    pub n: usize,
    /// The first function of each feature, then the number of all functions.
    pub starts: Vec<usize>,
    /// Values of the functions, one after another; a part has the values of consecutive functions.
    pub parts: Vec<&'a [f32]>,
    /// Columns of the target.
    pub target: &'a [Vec<f32>],
    /// For each feature the norm of the products of its functions with the target, over all of them.
    pub norms: Vec<f32>,
    /// For each feature the largest mean fourth power of its functions.
    pub kurtosis: Vec<f32>,
    /// Pairs whose product of these exceeds this number do not count; may be larger by single-precision rounding.
    pub max_kurtosis: f32,
}

impl PairFunctions<'_> {
    /// Number of functions of a feature.
    pub fn count(&self, feature: usize) -> usize {
        self.starts[feature + 1] - self.starts[feature]
    }
}

/// A pair of features and the root of its score, up to the error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredPair {
    /// The features, the first before the second.
    pub features: (u32, u32),
    /// The root of the score, not exact.
    pub root: f32,
}

/// Bounds on the error of the root $r$ of a score.
///
/// The error is at most `products` $\cdot \lVert \varphi_i Y \rVert \sqrt{K_j} +$ `result` $\cdot r$, where the norm of the first
/// feature is that of [`PairFunctions::norms`] and the second has $K_j$ functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairError {
    /// The relative error of products of functions and target, and of their sums.
    pub products: f32,
    /// The relative error of results.
    pub result: f32,
}

impl PairError {
    /// The bound for a pair of features with this norm and this number of functions.
    pub fn of(self, root: f32, norm: f32, functions: usize) -> f32 {
        self.products * norm * (functions as f32).sqrt() + self.result * root
    }
}

/// Screening in tiles.
pub trait PairTiles {
    /// Bounds on the error.
    fn error(&self) -> PairError;

    /// All pairs $i < j$ of a feature of `first` and one of `second` for which the root of the score plus its error is not below
    /// `thresholds[K_i * K_j]`; none if there are too many to return.
    fn tile(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
        thresholds: &[f32],
    ) -> Attempt<Option<Vec<ScoredPair>>>;
}

/// Projected rows and the factor of the target's kernel.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedPairs<'a> {
    /// Number of rows.
    pub n: usize,
    /// Projected rows $p$, by columns.
    pub rows: &'a [f64],
    /// The factor $y$, by columns.
    pub factor: &'a [f64],
}

/// A distance between rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The sum of squared differences.
    SquaredEuclidean,
    /// The sum of absolute differences.
    Manhattan,
}

/// Search for nearest neighbors.
pub trait NearestLists {
    /// The largest number of queries in one call.
    fn most_queries(&self) -> usize;

    /// For each query, one after another, the `listed` nearest rows and their distances in single precision, nearest first, ties
    /// by row; if there are fewer rows, the list ends with row `u32::MAX`. `exclude` names a row to leave out, or is `u32::MAX`.
    ///
    /// The terms of a sum may be rounded and added in any order, each operation in single precision.
    fn lists(&mut self, queries: ArrayView2<f32>, exclude: &[u32]) -> Attempt<Vec<(f32, u32)>>;
}
