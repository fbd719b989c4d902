//! What a pair of features explains beyond the two features alone.
//!
//! The additive functions of a pair are a constant and twice as many functions of each feature as its products use: products of
//! functions of two equal features would be among them. The products are compared with the target after both lose their parts
//! along additive functions: with $T$ the sums of squares and products of the target's columns without their additive part
//! and $H$ the part of $T$ that the products explain, the statistic is Pillai's trace $\operatorname{tr}(T^{-1} H)$.
//! All of it follows from one Gram matrix per pair, by elimination.

use super::functions::Columns;
use super::significance::ln_p_value;
use super::top::Candidate;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::{add_product, product_bytes};
use ndarray::{Array2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Samples per matrix product.
const ROWS: usize = 512;
/// Pairs per task; consecutive pairs share their first feature.
const PAIRS: usize = 8;
/// Tasks per thread between two checks for cancellation.
const TASKS_PER_CHECK: usize = 4;
/// A column depends on earlier ones if less than this fraction of its squared length remains. A Gram matrix has the
/// squared condition number of its columns, so its rounding error is about 1e-13.
const TOLERANCE: f64 = 1e-9;
/// A product counts only if at least this fraction of its squared length is no sum of functions of one feature and of earlier
/// products. For two features that are almost equal, the remainder is large in few rows, whose statistic has not its
/// limiting distribution.
const MIN_REMAINDER: f64 = 0.1;

/// A pair of features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The features, in their order in the data.
    pub features: (usize, usize),
    /// The dependence of the target on products of functions of the features: the sum of $z^2$.
    pub score: f64,
    /// What the pair explains beyond the two features alone: about chi-squared distributed with `degrees` degrees of freedom
    /// if it is nothing.
    pub beyond: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// The p-value of `beyond`.
    pub p_value: f64,
    /// The p-value adjusted for all pairs.
    pub q_value: f64,
    /// The logarithm of the p-value, which also compares p-values too small for a floating-point number.
    pub ln_p_value: f64,
}

/// The target without main effects.
pub(super) struct Tested<'a> {
    pub data: &'a Dataset,
    pub columns: &'a Columns<'a>,
    /// Columns of the target, orthonormal.
    pub target: &'a [Vec<f64>],
    /// Number of functions that were removed from the target.
    pub removed: usize,
    /// Functions per feature.
    pub limit: usize,
}

/// Sorts pairs, the most significant first.
pub(super) fn sort(pairs: &mut [Pair]) {
    pairs.sort_by(|a, b| a.ln_p_value.total_cmp(&b.ln_p_value).then(a.features.cmp(&b.features)));
}

/// Memory in bytes.
pub(super) fn beyond_bytes(n: usize, limit: usize, columns: usize, capacity: usize) -> f64 {
    let size = 1 + 4 * limit + limit * limit + columns;
    let per_thread = 8.0 * (n * (4 * limit + 6) + ROWS * size + 2 * size * size) as f64;
    rayon::current_num_threads() as f64 * per_thread
        + product_bytes()
        + (3 * size_of::<Pair>() * capacity) as f64
}

impl Tested<'_> {
    /// Tests all candidates; the most significant pair is the first. `q_value` is the p-value.
    pub fn pairs(&self, candidates: &[Candidate], stage: &str, ctx: &Context) -> Result<Vec<Pair>> {
        let mut pairs: Vec<(usize, usize)> =
            candidates.iter().map(|c| (c.pair.0 as usize, c.pair.1 as usize)).collect();
        pairs.sort_unstable();
        let tasks: Vec<&[(usize, usize)]> = pairs.chunks(PAIRS).collect();
        let mut out = Vec::with_capacity(pairs.len());
        for batch in tasks.chunks(TASKS_PER_CHECK * rayon::current_num_threads()) {
            ctx.step(stage, out.len(), pairs.len())?;
            let parts: Vec<Result<Vec<Pair>>> =
                batch.par_iter().with_max_len(1).map(|task| self.consecutive(task, ctx)).collect();
            for part in parts {
                out.append(&mut part?);
            }
        }
        sort(&mut out);
        Ok(out)
    }

    /// Pairs that share their first feature, mostly.
    fn consecutive(&self, pairs: &[(usize, usize)], ctx: &Context) -> Result<Vec<Pair>> {
        let mut first = (usize::MAX, vec![]);
        let mut out = Vec::with_capacity(pairs.len());
        for &(i, j) in pairs {
            ctx.check()?;
            if first.0 != i {
                first = (i, self.functions(i));
            }
            out.push(self.pair((i, j), &first.1, &self.functions(j)));
        }
        Ok(out)
    }

    fn functions(&self, feature: usize) -> Vec<Vec<f64>> {
        self.columns.functions(feature, 2 * self.limit).vectors
    }

    fn pair(&self, features: (usize, usize), first: &[Vec<f64>], second: &[Vec<f64>]) -> Pair {
        self.effect(&[first, second]).of_pair(features)
    }

    /// What features explain beyond sums of functions of fewer of them.
    fn effect(&self, features: &[&[Vec<f64>]]) -> Effect {
        let design = Design::new(features, self.target, self.limit);
        Effect::of_gram(design.gram(), (design.lower, design.columns.len()), (self.data.n(), self.removed))
    }
    /// The logarithm of the p-value of what three features explain beyond each of their pairs.
    pub fn ln_p_value_of_three(&self, features: [usize; 3]) -> f64 {
        let functions = features.map(|feature| self.functions(feature));
        self.effect(&[&functions[0], &functions[1], &functions[2]]).ln_p_value
    }
}

/// What features explain together.
pub(super) struct Effect {
    score: f64,
    beyond: f64,
    degrees: usize,
    ln_p_value: f64,
}

impl Effect {
    /// Of the Gram matrix of a [`Design`] of `n` rows: `lower` of its `all` columns before those of the target are no products of
    /// functions of all features. `removed` functions were removed from the target.
    pub(super) fn of_gram(
        mut gram: Array2<f64>,
        (lower, all): (usize, usize),
        (n, removed): (usize, usize),
    ) -> Self {
        let (n, t) = (n as f64, gram.nrows() - all);
        let score = gram.slice(s![lower..all, all..]).iter().map(|z| z * z).sum::<f64>() / n;
        let scale: Vec<f64> = gram.diag().to_vec();
        let eliminated = |gram: &mut Array2<f64>, columns: std::ops::Range<usize>, fraction: f64| {
            columns.filter(|&c| eliminate(gram, c, fraction * scale[c])).count()
        };
        let rank = eliminated(&mut gram, 0..lower, TOLERANCE);
        let total = gram.slice(s![all.., all..]).to_owned();
        let functions = eliminated(&mut gram, lower..all, MIN_REMAINDER);
        let explained = &total - &gram.slice(s![all.., all..]);
        let (trace, columns) = relative_trace(total, explained, TOLERANCE * n);
        let rows = n - (rank + removed) as f64;
        let ln_p_value = ln_p_value(trace, functions, columns, rows);
        Effect { score, beyond: rows.max(0.0) * trace, degrees: functions * t, ln_p_value }
    }

    pub(super) fn of_pair(self, features: (usize, usize)) -> Pair {
        let Self { score, beyond, degrees, ln_p_value } = self;
        let p_value = ln_p_value.exp();
        Pair { features, score, beyond, degrees, p_value, q_value: p_value, ln_p_value }
    }
}

/// The columns of the least-squares problem of some features.
pub(super) struct Design<'a> {
    /// The factors of each column: a constant, functions of single features, products of functions of fewer than all features,
    /// products of functions of all features.
    pub(super) columns: Vec<Vec<&'a [f64]>>,
    /// The number of columns that are no products of functions of all features.
    pub(super) lower: usize,
    target: &'a [Vec<f64>],
}

impl<'a> Design<'a> {
    /// Products use at most `limit` functions of a feature.
    pub(super) fn new(features: &[&'a [Vec<f64>]], target: &'a [Vec<f64>], limit: usize) -> Self {
        let mut columns: Vec<Vec<&[f64]>> = vec![vec![]];
        columns.extend(features.iter().flat_map(|functions| functions.iter().map(|f| vec![f.as_slice()])));
        if let [a, b, c] = features {
            for pair in [[a, b], [a, c], [b, c]] {
                columns.extend(products(&pair.map(|functions| *functions), limit));
            }
        }
        let lower = columns.len();
        columns.extend(products(features, limit));
        Self { columns, lower, target }
    }

    /// The Gram matrix of all columns, those of the target last.
    pub(super) fn gram(&self) -> Array2<f64> {
        let size = self.columns.len() + self.target.len();
        let n = self.target[0].len();
        let mut gram = Array2::zeros((size, size));
        let mut block = Array2::zeros((size, ROWS.min(n)));
        for start in (0..n).step_by(ROWS) {
            let rows = start..n.min(start + ROWS);
            let mut block = block.slice_mut(s![.., ..rows.len()]);
            for (at, factors) in self.columns.iter().enumerate() {
                let mut row = block.row_mut(at);
                row.fill(1.0);
                factors.iter().for_each(|factor| {
                    row.iter_mut().zip(&factor[rows.clone()]).for_each(|(out, v)| *out *= v);
                });
            }
            for (at, values) in (self.columns.len()..).zip(self.target) {
                block.row_mut(at).iter_mut().zip(&values[rows.clone()]).for_each(|(out, v)| *out = *v);
            }
            add_product(1.0, block.view(), block.t(), gram.view_mut());
        }
        gram
    }
}

/// The factors of all products of a function of each feature.
fn products<'a>(features: &[&'a [Vec<f64>]], limit: usize) -> Vec<Vec<&'a [f64]>> {
    let mut out: Vec<Vec<&[f64]>> = vec![vec![]];
    for functions in features {
        let with_each = |factors: Vec<&'a [f64]>| {
            let used = functions.iter().take(limit);
            used.map(move |f| factors.iter().copied().chain([f.as_slice()]).collect())
        };
        out = out.into_iter().flat_map(with_each).collect();
    }
    out
}

/// Removes the part along one column from all later ones. False if the column depends on earlier ones: its remaining squared
/// length is at most `smallest`.
fn eliminate(gram: &mut Array2<f64>, column: usize, smallest: f64) -> bool {
    let pivot = gram[[column, column]];
    if pivot.is_nan() || pivot <= smallest {
        return false;
    }
    let pivot_row = gram.row(column).slice(s![column + 1..]).to_owned();
    for (offset, &entry) in pivot_row.iter().enumerate() {
        let factor = -entry / pivot;
        gram.slice_mut(s![column + 1 + offset, column + 1..]).scaled_add(factor, &pivot_row);
    }
    true
}

/// $\operatorname{tr}(T^{-1} H)$ and the rank of $T$. Columns with a remaining squared length of at most `smallest` are left out.
fn relative_trace(mut total: Array2<f64>, mut explained: Array2<f64>, smallest: f64) -> (f64, usize) {
    let (mut trace, mut rank) = (0.0, 0);
    for column in 0..total.nrows() {
        let pivot = total[[column, column]];
        if pivot.is_nan() || pivot <= smallest {
            continue;
        }
        trace += explained[[column, column]] / pivot;
        rank += 1;
        let factors: Vec<f64> = total.row(column).iter().map(|entry| -entry / pivot).collect();
        for (later, &factor) in factors.iter().enumerate().skip(column + 1) {
            // The same change of columns and rows for both.
            for matrix in [&mut total, &mut explained] {
                let row = matrix.row(column).to_owned();
                matrix.row_mut(later).scaled_add(factor, &row);
                let column = matrix.column(column).to_owned();
                matrix.column_mut(later).scaled_add(factor, &column);
            }
        }
    }
    (trace, rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn elimination_by_hand() {
        // Columns (1, 1), (1, 2) and (2, 2): the second keeps (-1/2, 1/2), the third nothing.
        let mut gram = array![[2.0, 3.0, 4.0], [3.0, 5.0, 6.0], [4.0, 6.0, 8.0]];
        assert!(eliminate(&mut gram, 0, 1e-9));
        assert_eq!(gram.slice(s![1.., 1..]), array![[0.5, 0.0], [0.0, 0.0]]);
        assert!(eliminate(&mut gram, 1, 1e-9) && !eliminate(&mut gram, 2, 1e-9));
    }

    #[test]
    fn trace_of_a_quotient() {
        // T^-1 H with T = [[2, 1], [1, 2]], H = [[1, 0], [0, 2]]: T^-1 = [[2, -1], [-1, 2]] / 3, trace 2/3 + 4/3.
        let (trace, rank) =
            relative_trace(array![[2.0, 1.0], [1.0, 2.0]], array![[1.0, 0.0], [0.0, 2.0]], 1e-9);
        assert!((trace - 2.0).abs() < 1e-14 && rank == 2);
        let (trace, rank) =
            relative_trace(array![[2.0, 2.0], [2.0, 2.0]], array![[1.0, 1.0], [1.0, 1.0]], 1e-9);
        assert!((trace - 0.5).abs() < 1e-14 && rank == 1);
    }
}
