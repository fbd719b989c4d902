//! Three features on which the target depends jointly, among few features.
//!
//! As for pairs, with products of three functions. The cost grows with the third power of the number of features.

use super::beyond::Tested;
use super::blocks::Blocks;
use super::functions::{Columns, is_spread_over, largest_kurtosis};
use super::main_effects::without_main_effects;
use super::target::target_columns;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::linalg::{product_bytes, product_single};
use crate::probability::ln_chi_squared_upper_tail;
use crate::simd::multiply_f32;
use ndarray::{Array2, s};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const NAME: &str = "sets of three features";
/// Functions of each feature.
const N_FUNCTIONS: usize = 2;
/// Significance level at which effects of single features are removed from the target.
const ALPHA: f64 = 0.05;
/// Products of three functions and a column of the target, at most.
const MAX_PRODUCTS: f64 = 6e9;
/// The cost of a set of three is that of at least this many rows.
const MIN_ROWS: usize = 500;
/// Sets to test beyond their pairs, and to report.
const N_TESTED: usize = 100;
const N_REPORTED: usize = 10;

/// A set of three features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ThreeWay {
    /// The features, in their order in the data.
    pub features: [usize; 3],
    /// The p-value, adjusted for all sets of three.
    pub q_value: f64,
    /// The logarithm of the p-value.
    pub ln_p_value: f64,
}

/// The most features among which all sets of three are screened.
pub(super) fn most_features(data: &Dataset, n_columns: usize) -> usize {
    let products = 3.0 * MAX_PRODUCTS / (data.n().max(MIN_ROWS) * n_columns.max(1)) as f64;
    products.cbrt() as usize / N_FUNCTIONS
}

/// The most significant sets of three features, the best first; their p-values are adjusted for `n_all` sets.
pub(super) fn best_three_way(data: &Dataset, n_all: f64, ctx: &Context) -> Result<Vec<ThreeWay>> {
    let (n, d) = (data.n(), data.d());
    let target = target_columns(data, NAME)?;
    let threads = rayon::current_num_threads() as f64;
    let functions = (d * N_FUNCTIONS) as f64;
    let bytes = Columns::bytes(data, 4 * N_FUNCTIONS)
        + 2.0 * Blocks::bytes(data, N_FUNCTIONS)
        + threads * (4.0 * functions * (n as f64 + functions) + 8.0 * functions * functions)
        + product_bytes();
    ctx.need_memory(NAME, bytes, "use fewer rows or columns")?;
    let columns = Columns::new(data, 4 * N_FUNCTIONS);
    let blocks = Blocks::new(data, &columns, N_FUNCTIONS, ctx)?;
    let residual = without_main_effects(&target, (&columns, &blocks), N_FUNCTIONS, ALPHA, ctx)?;
    let (values, mut rows) = all_functions(&blocks);
    // Blocks end with the last feature that has a function.
    rows.resize(d, values.nrows()..values.nrows());
    let target: Vec<Vec<f32>> =
        residual.target.iter().map(|y| y.iter().map(|&v| v as f32).collect()).collect();
    let kurtosis = largest_kurtosis(&residual.target);
    let is_spread = |set: [usize; 3]| {
        let of_features = set.map(|feature| blocks.kurtosis[feature]);
        is_spread_over(n, of_features.into_iter().chain([kurtosis]))
    };
    let first: Vec<usize> = (0..d.saturating_sub(2)).collect();
    let mut best = vec![];
    for batch in first.chunks(4 * rayon::current_num_threads()) {
        ctx.step(NAME, batch[0], d)?;
        let of_feature = |&i: &usize| of_first(i, (&values, &rows), &target, &is_spread);
        best.extend(batch.par_iter().with_max_len(1).map(of_feature).collect::<Vec<_>>().concat());
        best.sort_by(|a: &ThreeWay, b| a.ln_p_value.total_cmp(&b.ln_p_value));
        best.truncate(N_TESTED);
    }
    let tested = Tested {
        data,
        columns: &columns,
        target: &residual.target,
        removed: residual.removed,
        limit: N_FUNCTIONS,
    };
    for three in &mut best {
        ctx.check()?;
        // Both must be significant: a sum of effects of pairs is no effect of three features.
        three.ln_p_value = three.ln_p_value.max(tested.ln_p_value_of_three(three.features));
    }
    best.sort_by(|a, b| a.ln_p_value.total_cmp(&b.ln_p_value));
    best.truncate(N_REPORTED);
    best.iter_mut().for_each(|three| three.q_value = (three.ln_p_value + n_all.ln()).exp().min(1.0));
    Ok(best)
}

/// The functions of all features, one per row, and the rows of each feature.
fn all_functions(blocks: &Blocks) -> (Array2<f32>, Vec<Range<usize>>) {
    let height = blocks.blocks.iter().map(|block| block.values.nrows()).sum();
    let mut values = Array2::zeros((height, blocks.n));
    let (mut rows, mut start) = (vec![], 0);
    for block in &blocks.blocks {
        values.slice_mut(s![start..start + block.values.nrows(), ..]).assign(&block.values);
        rows.extend(block.rows.iter().map(|range| range.start + start..range.end + start));
        start += block.values.nrows();
    }
    (values, rows)
}

/// The best sets whose first feature is `i`.
fn of_first(
    i: usize,
    (values, rows): (&Array2<f32>, &[Range<usize>]),
    target: &[Vec<f32>],
    is_spread: &impl Fn([usize; 3]) -> bool,
) -> Vec<ThreeWay> {
    let later = values.slice(s![rows[i].end.., ..]);
    let n = values.ncols();
    let mut squares = Array2::<f64>::zeros((later.nrows(), later.nrows()));
    let mut weights = vec![0.0; n];
    let mut weighted = Array2::<f32>::zeros(later.dim());
    let mut z = Array2::<f32>::zeros(squares.dim());
    for function in rows[i].clone() {
        let function = values.row(function).to_vec();
        for y in target {
            multiply_f32(&function, y, &mut weights);
            for (mut out, row) in weighted.rows_mut().into_iter().zip(later.rows()) {
                let out = out.as_slice_mut().expect("contiguous");
                multiply_f32(row.as_slice().expect("contiguous"), &weights, out);
            }
            product_single(weighted.view(), later.t(), z.view_mut(), false);
            squares.zip_mut_with(&z, |sum, z| *sum += f64::from(*z).powi(2));
        }
    }
    let offset = rows[i].end;
    let width = later.nrows();
    let squares = squares.as_slice().expect("contiguous");
    let sum = |a: &Range<usize>, b: &Range<usize>| {
        a.clone().map(|row| squares[row * width..][b.clone()].iter().sum::<f64>()).sum::<f64>()
    };
    let local = |f: usize| rows[f].start - offset..rows[f].end - offset;
    let mut best: Vec<ThreeWay> = vec![];
    for j in i + 1..rows.len() {
        for k in j + 1..rows.len() {
            let score = sum(&local(j), &local(k)) / n as f64;
            let degrees = rows[i].len() * rows[j].len() * rows[k].len() * target.len();
            // Smaller scores are not significant.
            if degrees > 0 && score > 10.0 + degrees as f64 && is_spread([i, j, k]) {
                let ln_p_value = ln_chi_squared_upper_tail(score, degrees as f64);
                best.push(ThreeWay { features: [i, j, k], q_value: 1.0, ln_p_value });
            }
        }
    }
    best.sort_by(|a, b| a.ln_p_value.total_cmp(&b.ln_p_value));
    best.truncate(N_TESTED);
    best
}
