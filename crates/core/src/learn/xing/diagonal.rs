//! Diagonal metrics: a weight for every feature.
//!
//! Weights are in units in which the constraint on similar pairs is $\sum_j b_j = 1$. The problem is concave in the weights, with
//! the bound $b \ge 0$; weights that are not needed become exactly 0.

use super::ascent::{Evaluation, Problem, Solution, ascend, best_step, gap, inverses};
use super::pairs::Graph;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Criterion;
use crate::simd::{add_combination, dots, roots_and_inverses};
use ndarray::Array2;
use rayon::prelude::*;

/// Squared differences of a block: it stays in the L1 cache between its two reads.
const BLOCK: usize = 4096;
/// Squared differences per task.
const TASK: usize = 1 << 17;

/// Squared differences of the dissimilar pairs, in blocks of pairs.
pub(super) struct Diagonal {
    blocks: Vec<Block>,
    columns: usize,
}

/// Squared differences of some pairs, by columns.
struct Block {
    pairs: usize,
    squares: Vec<f64>,
}

impl Block {
    /// Squared distances of the pairs.
    fn squared_distances(&self, weights: &Array2<f64>) -> Vec<f64> {
        const BATCH: usize = 4;
        let weights = weights.as_slice().expect("one column");
        let mut out = vec![0.0; self.pairs];
        for (columns, weights) in self.squares.chunks(BATCH * self.pairs).zip(weights.chunks(BATCH)) {
            if weights.iter().any(|&weight| weight != 0.0) {
                add_combination(&mut out, columns, self.pairs, weights);
            }
        }
        out
    }

    /// The weighted sum over pairs of squared differences, for every column.
    fn sums(&self, weight: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.squares.len() / self.pairs];
        dots(&mut out, &self.squares, weight);
        out
    }
}

impl Diagonal {
    /// `similar` holds each column's sum of squared differences over similar pairs.
    pub fn new(x: &Array2<f64>, dissimilar: &Graph, similar: &[f64]) -> Self {
        let by_columns = x.t().as_standard_layout().into_owned();
        let block = |pairs: &[[usize; 2]]| {
            let mut squares = Vec::with_capacity(pairs.len() * x.ncols());
            for (column, similar) in by_columns.rows().into_iter().zip(similar) {
                let column = column.to_slice().expect("standard layout");
                let scale = similar.recip();
                squares.extend(pairs.iter().map(|&[i, k]| (column[i] - column[k]).powi(2) * scale));
            }
            Block { pairs: pairs.len(), squares }
        };
        let blocks =
            dissimilar.pairs().par_chunks(pairs_per_block(x.ncols())).with_min_len(TASK / BLOCK).map(block);
        Self { blocks: blocks.collect(), columns: x.ncols() }
    }

    /// Maximizes over the weights.
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Solution> {
        let equal = Array2::from_elem((self.columns, 1), (self.columns as f64).recip());
        ascend(self, equal, tolerance, max_iter, ctx)
    }

    /// Squared distances of all pairs.
    fn squared_distances(&self, weights: &Array2<f64>) -> Vec<f64> {
        self.tasks().flat_map_iter(|block| block.squared_distances(weights)).collect()
    }

    /// $\tfrac12 \sum_D z_j^2 / d$ for every column.
    fn gradient(&self, distances: &[f64]) -> Vec<f64> {
        let weight = inverses(distances);
        let mut sum = vec![0.0; self.columns];
        for (block, weight) in self.blocks.iter().zip(weight.chunks(pairs_per_block(self.columns))) {
            sum.iter_mut().zip(block.sums(weight)).for_each(|(sum, part)| *sum += 0.5 * part);
        }
        sum
    }

    fn tasks(&self) -> impl IndexedParallelIterator<Item = &Block> {
        self.blocks.par_iter().with_min_len(TASK / BLOCK)
    }
}

impl Problem for Diagonal {
    fn criterion<'a>(&'a self, _: &Array2<f64>) -> Box<dyn Criterion + 'a> {
        Box::new(Objective(self))
    }

    fn lower_bound(&self) -> f64 {
        0.0
    }

    /// A weight if all are equal.
    fn first_step(&self, weights: &Array2<f64>) -> f64 {
        (weights.len() as f64).recip()
    }

    fn normalized(&self, weights: Array2<f64>) -> Array2<f64> {
        let sum = weights.sum();
        weights / sum
    }

    fn evaluate(&self, weights: &Array2<f64>) -> Result<Evaluation> {
        let squares = self.squared_distances(weights);
        let distances = roots(&squares);
        let value = distances.iter().sum();
        let gradient = self.gradient(&distances);
        let best = (0..self.columns).max_by(|&a, &b| gradient[a].total_cmp(&gradient[b])).unwrap_or(0);
        let mut leading = Array2::zeros((self.columns, 1));
        leading[[best, 0]] = 1.0;
        // The gradient is not defined for a pair at distance 0, so there is no bound.
        let bounded = squares.iter().all(|&square| square > 0.0);
        let gap = if bounded { gap(value, gradient[best]) } else { f64::INFINITY };
        Ok(Evaluation { value, gap, squares, leading })
    }

    fn step(&self, weights: &Array2<f64>, at: &Evaluation) -> Result<(Array2<f64>, f64)> {
        let (t, value) = best_step(&at.squares, &self.squared_distances(&at.leading));
        Ok((weights * (1.0 - t) + &at.leading * t, value))
    }

    fn without_small(&self, weights: &Array2<f64>, fraction: f64) -> Result<Option<Array2<f64>>> {
        let threshold = fraction * weights.iter().copied().fold(0.0, f64::max);
        let is_small = |&weight: &f64| weight > 0.0 && weight <= threshold;
        let kept = || self.normalized(weights.mapv(|weight| if weight > threshold { weight } else { 0.0 }));
        Ok(weights.iter().any(is_small).then(kept))
    }
}

fn roots(squares: &[f64]) -> Vec<f64> {
    squares.iter().map(|q| q.sqrt()).collect()
}

fn pairs_per_block(columns: usize) -> usize {
    (BLOCK / columns.max(1)).next_multiple_of(16)
}

struct Objective<'a>(&'a Diagonal);

impl Criterion for Objective<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.0.columns, 1)
    }

    /// The gradient is not finite if a pair has distance 0, so that no step ends there.
    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let part = |block: &Block| {
            let mut distances = block.squared_distances(w);
            let sum = roots_and_inverses(&mut distances);
            (sum, block.sums(&distances))
        };
        let parts: Vec<(f64, Vec<f64>)> = self.0.tasks().map(part).collect();
        let sum: f64 = parts.iter().map(|(sum, _)| sum).sum();
        gradient.fill(1.0);
        for (_, part) in &parts {
            gradient.iter_mut().zip(part).for_each(|(gradient, part)| *gradient -= part / sum);
        }
        *gradient *= 0.5;
        0.5 * w.sum() - sum.ln()
    }
}
