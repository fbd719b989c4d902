//! Metrics with entries on the diagonal only: a weight for every column.
//!
//! $b_j = l_j^2$ in units in which the condition on similar pairs is $\sum_j b_j = 1$. Weights that are not needed come down
//! to rounding but not to zero that way, so they are set to zero in the end where the bound still holds.

use super::climb::{Judged, Problem, Top, best_blend, climb, gap, inverses, unit};
use super::pairs::Graph;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Criterion;
use crate::simd::{add_scaled, dot, roots_and_inverses};
use ndarray::Array2;
use rayon::prelude::*;

/// Pairs of a block: with some tens of columns it stays in a core's cache between the two times it is read.
const PAIRS: usize = 512;
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
    fn distances(&self, factor: &Array2<f64>) -> Vec<f64> {
        let mut out = vec![0.0; self.pairs];
        for (column, l) in self.columns().zip(factor) {
            if *l != 0.0 {
                add_scaled(&mut out, l * l, column);
            }
        }
        out
    }

    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        self.squares.chunks_exact(self.pairs)
    }
}

impl Diagonal {
    /// `weight` is what a unit of each column adds to the sum over similar pairs.
    pub fn new(x: &Array2<f64>, far: &Graph, weight: &[f64]) -> Self {
        let block = |pairs: &[[usize; 2]]| {
            let mut squares = Vec::with_capacity(pairs.len() * x.ncols());
            for (column, weight) in x.columns().into_iter().zip(weight) {
                let share = weight.recip();
                squares.extend(pairs.iter().map(|&[i, k]| (column[i] - column[k]).powi(2) * share));
            }
            Block { pairs: pairs.len(), squares }
        };
        let blocks = far.pairs().par_chunks(PAIRS).with_min_len(blocks_of_a_task(x.ncols())).map(block);
        Self { blocks: blocks.collect(), columns: x.ncols() }
    }

    /// The best weights. The factor of the result has one column.
    pub fn solve(&self, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Top> {
        let start = Array2::from_elem((self.columns, 1), (self.columns as f64).recip().sqrt());
        let top = climb(self, start, tolerance, max_iter, ctx)?;
        match self.sparse(&top, tolerance, max_iter, ctx)? {
            Some(better) => Ok(better),
            None => Ok(top),
        }
    }

    /// The same without the weights whose slope says that they should be zero, if that is as good.
    fn sparse(&self, top: &Top, tolerance: f64, max_iter: usize, ctx: &Context) -> Result<Option<Top>> {
        let slope = self.slope(&roots(&self.squares(&top.factor)));
        let weights = top.factor.column(0).mapv(|l| l * l);
        // What a weight of zero lacks to the slope of the others, against the weight left: one of them is 0 at the optimum.
        let idle = |j: usize| weights[j] < 1.0 - 2.0 * slope[j] / top.value;
        let mut kept = top.factor.clone();
        (0..self.columns).filter(|&j| idle(j)).for_each(|j| kept[[j, 0]] = 0.0);
        if kept == top.factor || kept.iter().all(|&l| l == 0.0) {
            return Ok(None);
        }
        let rest = max_iter.saturating_sub(top.iterations);
        let mut again = climb(self, unit(kept), tolerance, rest, ctx)?;
        again.iterations += top.iterations;
        // What left the optimum, or comes back to all weights, is no better.
        let fewer = count(&again.factor) < count(&top.factor);
        let good = again.gap <= top.gap.max(tolerance) && fewer;
        Ok(if good { Some(again) } else { None })
    }

    /// Squared distances of all pairs.
    fn squares(&self, factor: &Array2<f64>) -> Vec<f64> {
        self.tasks().flat_map_iter(|block| block.distances(factor)).collect()
    }

    /// $\tfrac12 \sum_D z_j^2 / d$ for every column.
    fn slope(&self, distances: &[f64]) -> Vec<f64> {
        let weight = inverses(distances);
        let mut sum = vec![0.0; self.columns];
        for (block, weight) in self.blocks.iter().zip(weight.chunks(PAIRS)) {
            sum.iter_mut().zip(block.columns()).for_each(|(sum, column)| *sum += 0.5 * dot(column, weight));
        }
        sum
    }

    fn tasks(&self) -> impl IndexedParallelIterator<Item = &Block> {
        self.blocks.par_iter().with_min_len(blocks_of_a_task(self.columns))
    }
}

impl Problem for Diagonal {
    fn criterion<'a>(&'a self, _: &Array2<f64>) -> Box<dyn Criterion + 'a> {
        Box::new(Sum(self))
    }

    fn judge(&self, factor: &Array2<f64>) -> Result<Judged> {
        let squares = self.squares(factor);
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

    fn moved(&self, factor: &Array2<f64>, judged: &Judged) -> Result<(Array2<f64>, f64)> {
        let (t, value) = best_blend(&judged.squares, &self.squares(&judged.leading));
        let mut moved = factor.clone();
        moved.zip_mut_with(&judged.leading, |l, e| *l = ((1.0 - t) * *l * *l + t * e * e).sqrt());
        Ok((moved, value))
    }
}

fn roots(squares: &[f64]) -> Vec<f64> {
    squares.iter().map(|q| q.sqrt()).collect()
}

fn count(factor: &Array2<f64>) -> usize {
    factor.iter().filter(|&&l| l != 0.0).count()
}

fn blocks_of_a_task(columns: usize) -> usize {
    (TASK / (PAIRS * columns.max(1))).max(1)
}

struct Sum<'a>(&'a Diagonal);

impl Criterion for Sum<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.0.columns, 1)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let part = |block: &Block| {
            let mut distances = block.distances(w);
            let sum = roots_and_inverses(&mut distances);
            let pull =
                |(column, &l): (&[f64], &f64)| if l == 0.0 { 0.0 } else { l * dot(column, &distances) };
            (sum, block.columns().zip(w).map(pull).collect())
        };
        let parts: Vec<(f64, Vec<f64>)> = self.0.tasks().map(part).collect();
        let sum: f64 = parts.iter().map(|(sum, _)| sum).sum();
        gradient.assign(w);
        for (_, part) in &parts {
            gradient.iter_mut().zip(part).for_each(|(gradient, part)| *gradient -= part / sum);
        }
        0.5 * w.iter().map(|w| w * w).sum::<f64>() - sum.ln()
    }
}
