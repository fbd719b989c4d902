//! Scores of all pairs, by matrix products in single precision.
//!
//! For two blocks of features the sums $\sum_r \varphi_k(u_{ri}) \varphi_l(u_{rj}) Y_{rc}$ are a product of matrices for each
//! column $c$ of the target; their squares are summed over $k$, $l$ and $c$. A pair of blocks is a task of one thread, so that
//! the result does not depend on the number of threads.

use super::blocks::{Block, Blocks};
use super::functions::{is_spread_over, largest_kurtosis};
use super::top::{Candidate, Thresholds, Top};
use crate::context::Context;
use crate::error::Result;
use crate::linalg::{product_bytes, product_single};
use crate::simd::{add_squares_f32, multiply_f32};
use ndarray::{Array2, ShapeBuilder, s};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Samples per matrix product: bounds the copy of a block that is weighted by the target.
const ROWS: usize = 2048;
/// Tasks per thread between two checks for cancellation.
const TASKS_PER_CHECK: usize = 16;

/// Memory of the screen in bytes, besides the functions.
pub(super) fn screen_bytes(blocks: &Blocks, capacity: usize) -> f64 {
    let threads = rayon::current_num_threads() as f64;
    let weighted = blocks.height * blocks.n.min(ROWS);
    let buffers = weighted + blocks.height * (blocks.height + blocks.width);
    // Before thresholds exist, every pair of a task is a candidate.
    let pairs = (blocks.width * blocks.width).min(capacity) as f64;
    // All of a task while it selects the best, in a vector that grows; those of a batch thrice while they are joined.
    let of_task = 2.0 * (blocks.width * blocks.width) as f64;
    let candidates = threads * (of_task + 3.0 * TASKS_PER_CHECK as f64 * pairs) + capacity as f64;
    threads * 4.0 * buffers as f64 + product_bytes() + size_of::<Candidate>() as f64 * candidates
}

/// The `capacity` pairs with the smallest p-values of their scores.
pub(super) fn best_pairs(
    blocks: &Blocks,
    target: &[Vec<f64>],
    capacity: usize,
    stage: &str,
    ctx: &Context,
) -> Result<Vec<Candidate>> {
    let limit = blocks.counts.iter().copied().max().unwrap_or(0);
    let mut top = Top::new(capacity, limit, target.len());
    let kurtosis = largest_kurtosis(target);
    let target: Vec<Vec<f32>> = target.iter().map(|y| y.iter().map(|&v| v as f32).collect()).collect();
    let count = blocks.blocks.len();
    let tasks: Vec<(usize, usize)> = (0..count).flat_map(|a| (a..count).map(move |b| (a, b))).collect();
    let n_batch = TASKS_PER_CHECK * rayon::current_num_threads();
    // Buffers that no thread uses at present.
    let spare: Mutex<Vec<Tile>> = Mutex::default();
    for (done, batch) in tasks.chunks(n_batch).enumerate() {
        ctx.step(stage, done * n_batch, tasks.len())?;
        let thresholds = top.thresholds();
        let of_tile = |&(a, b): &(usize, usize)| {
            ctx.check()?;
            let (a, b) = (&blocks.blocks[a], &blocks.blocks[b]);
            let mut tile = lock(&spare).pop().unwrap_or_else(|| Tile::new(blocks));
            tile.add_up(a, b, &target);
            let mut part = Top::new(capacity, 0, 0);
            part.add(tile.candidates((a, b), blocks, kurtosis, thresholds));
            lock(&spare).push(tile);
            Ok(part.best)
        };
        let found: Result<Vec<Vec<Candidate>>> = batch.par_iter().with_max_len(1).map(of_tile).collect();
        top.add(found?.concat());
    }
    Ok(top.best)
}

fn lock(spare: &Mutex<Vec<Tile>>) -> MutexGuard<'_, Vec<Tile>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Buffers of a thread.
struct Tile {
    /// The first block times a column of the target.
    weighted: Array2<f32>,
    /// The first feature of the block in `weighted`, if all of it is there: consecutive tiles mostly have the same first block.
    weighted_block: Option<usize>,
    /// Products of a function of the first block and one of the second, column-major.
    products: Array2<f32>,
    /// For every feature of the second block and function of the first: the sum of squares, column-major.
    sums: Array2<f32>,
}

impl Tile {
    fn new(blocks: &Blocks) -> Self {
        Self {
            weighted: Array2::zeros((blocks.height, blocks.n.min(ROWS))),
            weighted_block: None,
            products: Array2::zeros((blocks.height, blocks.height).f()),
            sums: Array2::zeros((blocks.height, blocks.width).f()),
        }
    }

    /// Adds up squares for all pairs of a feature of `a` and one of `b`.
    fn add_up(&mut self, a: &Block, b: &Block, target: &[Vec<f32>]) {
        let (height, width) = (a.values.nrows(), b.values.nrows());
        self.sums.fill(0.0);
        let is_weighted = self.weighted_block == Some(a.first);
        for y in target {
            let mut products = self.products.slice_mut(s![..height, ..width]);
            for start in (0..y.len()).step_by(ROWS) {
                let rows = start..y.len().min(start + ROWS);
                let mut weighted = self.weighted.slice_mut(s![..height, ..rows.len()]);
                let unweighted = if is_weighted { 0 } else { height };
                for (mut out, values) in weighted.rows_mut().into_iter().zip(a.values.rows()).take(unweighted)
                {
                    let values = values.to_slice().expect("rows are contiguous");
                    let out = out.as_slice_mut().expect("rows are contiguous");
                    multiply_f32(&values[rows.clone()], &y[rows.clone()], out);
                }
                let second = b.values.slice(s![.., rows]);
                product_single(weighted.view(), second.t(), products.view_mut(), start > 0);
            }
            for (mut sums, rows) in self.sums.columns_mut().into_iter().zip(&b.rows) {
                let sums = &mut sums.as_slice_mut().expect("columns are contiguous")[..height];
                for row in rows.clone() {
                    let column = products.column(row);
                    add_squares_f32(sums, column.to_slice().expect("columns are contiguous"));
                }
            }
        }
        let fits = target.len() == 1 && target[0].len() <= ROWS;
        self.weighted_block = fits.then_some(a.first);
    }

    /// The pairs above the thresholds; `kurtosis` is that of the target.
    fn candidates(
        &self,
        (a, b): (&Block, &Block),
        blocks: &Blocks,
        kurtosis: f64,
        thresholds: &Thresholds,
    ) -> Vec<Candidate> {
        let n = blocks.n as f32;
        let mut out = vec![];
        for (j, (sums, second)) in (b.first..).zip(self.sums.columns().into_iter().zip(&b.rows)) {
            let sums = sums.to_slice().expect("columns are contiguous");
            for (i, first) in (a.first..).zip(&a.rows) {
                let functions = first.len() * second.len();
                let score = sums[first.clone()].iter().sum::<f32>() / n;
                if i < j && functions > 0 && score >= thresholds.of(functions) {
                    // Few rows determine the products of such a pair.
                    if !is_spread_over(blocks.n, [blocks.kurtosis[i], blocks.kurtosis[j], kurtosis]) {
                        continue;
                    }
                    out.push(Candidate {
                        ln_p: thresholds.ln_p(score, functions),
                        pair: (i as u32, j as u32),
                    });
                }
            }
        }
        out
    }
}
