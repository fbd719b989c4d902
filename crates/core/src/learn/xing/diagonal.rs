//! Metrics with entries on the diagonal only: a weight for every column.
//!
//! Weights are in units in which the condition on similar pairs is $\sum_j b_j = 1$. The problem is concave in the weights
//! themselves, which are held above 0: those not needed become exactly 0 on the way, or in the end.

use super::climb::{Judged, Problem, Top, best_blend, climb, gap, inverses};
use super::pairs::Graph;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Criterion;
use crate::simd::{add_combination, dots, roots_and_inverses};
use ndarray::Array2;
use rayon::prelude::*;

/// Squared differences of a block: it stays in a core's nearest cache between the two times it is read.
const BLOCK: usize = 4096;
/// Squared differences that are worth a task of their own.
const TASK: usize = 1 << 17;

/// Squared differences of the pairs that should be far, in blocks of pairs.
pub(super) struct Diagonal {
    blocks: Vec<Block>,
    columns: usize,
}

/// Squared differences of some pairs, one column after the other.
struct Block {
    pairs: usize,
    squares: Vec<f64>,
}

impl Block {
    /// Squared distances of the pairs.
    fn distances(&self, weights: &Array2<f64>) -> Vec<f64> {
        const TOGETHER: usize = 4;
        let weights = weights.as_slice().expect("one column");
        let mut out = vec![0.0; self.pairs];
        for (columns, weights) in self.squares.chunks(TOGETHER * self.pairs).zip(weights.chunks(TOGETHER)) {
            if weights.iter().any(|&weight| weight != 0.0) {
                add_combination(&mut out, columns, self.pairs, weights);
            }
        }
        out
    }

    /// The sum of squared differences times weights of the pairs, for every column.
    fn sums(&self, weight: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.squares.len() / self.pairs];
        dots(&mut out, &self.squares, weight);
        out
    }
}

impl Diagonal {
    /// `weight` is what a unit of each column adds to the sum over similar pairs.
    pub fn new(x: &Array2<f64>, far: &Graph, weight: &[f64]) -> Self {
        let by_columns = x.t().as_standard_layout().into_owned();
        let block = |pairs: &[[usize; 2]]| {
            let mut squares = Vec::with_capacity(pairs.len() * x.ncols());
            for (column, weight) in by_columns.rows().into_iter().zip(weight) {
                let column = column.to_slice().expect("columns were laid out one after the other");
                let share = weight.recip();
                squares.extend(pairs.iter().map(|&[i, k]| (column[i] - column[k]).powi(2) * share));
            }
            Block { pairs: pairs.len(), squares }
        };
        let blocks =
            far.pairs().par_chunks(pairs_of_a_block(x.ncols())).with_min_len(TASK / BLOCK).map(block);
        Self { blocks: blocks.collect(), columns: x.ncols() }
    }

    /// The best weights.
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Top> {
        let equal = Array2::from_elem((self.columns, 1), (self.columns as f64).recip());
        climb(self, equal, tolerance, max_iter, ctx)
    }

    /// Squared distances of all pairs.
    fn squares(&self, weights: &Array2<f64>) -> Vec<f64> {
        self.tasks().flat_map_iter(|block| block.distances(weights)).collect()
    }

    /// $\tfrac12 \sum_D z_j^2 / d$ for every column.
    fn slope(&self, distances: &[f64]) -> Vec<f64> {
        let weight = inverses(distances);
        let mut sum = vec![0.0; self.columns];
        for (block, weight) in self.blocks.iter().zip(weight.chunks(pairs_of_a_block(self.columns))) {
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
        Box::new(Sum(self))
    }

    fn least(&self) -> f64 {
        0.0
    }

    /// What a weight is if all are equal.
    fn first_step(&self, weights: &Array2<f64>) -> f64 {
        (weights.len() as f64).recip()
    }

    fn unit(&self, weights: Array2<f64>) -> Array2<f64> {
        let sum = weights.sum();
        weights / sum
    }

    fn judge(&self, weights: &Array2<f64>) -> Result<Judged> {
        let squares = self.squares(weights);
        let distances = roots(&squares);
        let value = distances.iter().sum();
        let slope = self.slope(&distances);
        let best = (0..self.columns).max_by(|&a, &b| slope[a].total_cmp(&slope[b])).unwrap_or(0);
        let mut leading = Array2::zeros((self.columns, 1));
        leading[[best, 0]] = 1.0;
        // A pair at distance 0 has no slope to bound anything with.
        let proven = squares.iter().all(|&square| square > 0.0);
        let gap = if proven { gap(value, slope[best]) } else { f64::INFINITY };
        Ok(Judged { value, gap, squares, leading })
    }

    fn moved(&self, weights: &Array2<f64>, judged: &Judged) -> Result<(Array2<f64>, f64)> {
        let (t, value) = best_blend(&judged.squares, &self.squares(&judged.leading));
        Ok((weights * (1.0 - t) + &judged.leading * t, value))
    }

    fn without_faint(&self, weights: &Array2<f64>, share: f64) -> Result<Option<Array2<f64>>> {
        let least = share * weights.iter().copied().fold(0.0, f64::max);
        let faint = |&weight: &f64| weight > 0.0 && weight <= least;
        let kept = || self.unit(weights.mapv(|weight| if weight > least { weight } else { 0.0 }));
        Ok(weights.iter().any(faint).then(kept))
    }
}

fn roots(squares: &[f64]) -> Vec<f64> {
    squares.iter().map(|q| q.sqrt()).collect()
}

fn pairs_of_a_block(columns: usize) -> usize {
    (BLOCK / columns.max(1)).next_multiple_of(16)
}

struct Sum<'a>(&'a Diagonal);

impl Criterion for Sum<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.0.columns, 1)
    }

    /// Where a pair comes to distance 0 the gradient is not finite, so that no step ends there.
    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let part = |block: &Block| {
            let mut distances = block.distances(w);
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
