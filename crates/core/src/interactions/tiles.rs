//! Scores of pairs by matrix products in single precision, on the processor.
//!
//! For two blocks of features the sums $\sum_r \varphi_k(u_{ri}) \varphi_l(u_{rj}) Y_{rc}$ are a product of matrices for each
//! column $c$ of the target; their squares are summed over $k$, $l$ and $c$. A pair of blocks is a task of one thread.

use super::blocks::{Block, Blocks};
use super::scores::Scores;
use super::top::{Bounded, Shortlist, Thresholds};
use crate::context::Context;
use crate::device::PairError;
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

/// Memory of the tiles in bytes.
pub(super) fn tile_bytes(blocks: &Blocks, capacity: usize) -> f64 {
    let threads = rayon::current_num_threads() as f64;
    let weighted = blocks.height * blocks.n.min(ROWS);
    let buffers = weighted + blocks.height * (blocks.height + blocks.width);
    // Before thresholds exist, every pair of a task is a candidate.
    let pairs = (blocks.width * blocks.width).min(capacity) as f64;
    // All of a task while it selects the best, in a vector that grows; those of a batch thrice while they are joined.
    let of_task = 2.0 * (blocks.width * blocks.width) as f64;
    let candidates = threads * (of_task + 3.0 * TASKS_PER_CHECK as f64 * pairs) + capacity as f64;
    threads * 4.0 * buffers as f64 + product_bytes() + size_of::<Bounded>() as f64 * candidates
}

/// The error of the root of a score of `n` samples: of products with the target, of sums of at most [`ROWS`] terms in any
/// order that are added up, and of a sum of squares.
fn error(n: usize, squares: usize) -> PairError {
    let bound = |operations: usize| 1.01 * operations as f32 * f32::EPSILON / 2.0;
    PairError { products: bound(n.min(ROWS) + n.div_ceil(ROWS) + 3), result: bound(squares + 8) }
}

/// What tasks share.
pub(super) struct Tiles<'a> {
    pub scores: &'a Scores<'a>,
    /// Columns of the target.
    pub target: &'a [Vec<f32>],
}

impl Tiles<'_> {
    /// Adds all pairs that may be among the best.
    pub fn run(&self, list: &mut Shortlist, stage: &str, ctx: &Context) -> Result<()> {
        let blocks = self.scores.blocks;
        let count = blocks.blocks.len();
        let tasks: Vec<(usize, usize)> = (0..count).flat_map(|a| (a..count).map(move |b| (a, b))).collect();
        let n_batch = TASKS_PER_CHECK * rayon::current_num_threads();
        // Buffers that no thread uses at present.
        let spare: Mutex<Vec<Tile>> = Mutex::default();
        for (done, batch) in tasks.chunks(n_batch).enumerate() {
            ctx.step(stage, done * n_batch, tasks.len())?;
            let thresholds = list.thresholds();
            let capacity = list.capacity;
            let of_tile = |&(a, b): &(usize, usize)| {
                ctx.check()?;
                let (a, b) = (&blocks.blocks[a], &blocks.blocks[b]);
                let mut tile = lock(&spare).pop().unwrap_or_else(|| Tile::new(blocks));
                tile.add_up(a, b, self.target);
                let mut part = Shortlist::new(capacity, 0, 0);
                part.add(tile.candidates((a, b), self.scores, thresholds));
                lock(&spare).push(tile);
                Ok(part.pairs)
            };
            let found: Result<Vec<Vec<Bounded>>> = batch.par_iter().with_max_len(1).map(of_tile).collect();
            self.scores.add(list, found?.concat());
        }
        Ok(())
    }
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

    /// The pairs that may be above the thresholds.
    fn candidates(&self, (a, b): (&Block, &Block), scores: &Scores, thresholds: &Thresholds) -> Vec<Bounded> {
        let blocks = scores.blocks;
        let most = blocks.counts.iter().copied().max().unwrap_or(0);
        let error = error(blocks.n, most * most * scores.target.len());
        let n = blocks.n as f32;
        let mut out = vec![];
        for (j, (sums, second)) in (b.first..).zip(self.sums.columns().into_iter().zip(&b.rows)) {
            let sums = sums.to_slice().expect("columns are contiguous");
            for (i, first) in (a.first..).zip(&a.rows) {
                let functions = first.len() * second.len();
                if i >= j || functions == 0 {
                    continue;
                }
                let root = (sums[first.clone()].iter().sum::<f32>() / n).sqrt();
                let error = error.of(root, scores.norms[i], second.len());
                // Few rows determine the products of some pairs.
                if root + error >= thresholds.of(functions) && blocks.is_spread(i, j, scores.kurtosis) {
                    out.push(thresholds.bounded((i as u32, j as u32), (root, error), functions));
                }
            }
        }
        out
    }
}
