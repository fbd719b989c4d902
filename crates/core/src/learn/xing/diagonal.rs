//! Metrics with entries on the diagonal only: a weight for every column.
//!
//! $b_j = l_j^2$ in units in which the condition on similar pairs is $\sum_j b_j = 1$. Weights that are not needed come down
//! to rounding but not to zero that way, so they are set to zero in the end where the bound still holds.

use super::climb::{Judged, Problem, Top, best_blend, climb, gap, inverses, unit};
use super::pairs::Graph;
use crate::context::Context;
use crate::error::Result;
use crate::optim::Criterion;
use ndarray::{Array1, Array2};
use rayon::prelude::*;

/// Pairs that one task works on.
const PAIRS: usize = 2048;

/// Squared differences of the pairs that should be far, in blocks of pairs, a row for each column.
pub(super) struct Diagonal {
    blocks: Vec<Array2<f64>>,
    columns: usize,
}

impl Diagonal {
    /// `weight` is what a unit of each column adds to the sum over similar pairs.
    pub fn new(x: &Array2<f64>, far: &Graph, weight: &[f64]) -> Self {
        let block = |pairs: &[[usize; 2]]| {
            let square = |(j, p): (usize, usize)| {
                let [i, k] = pairs[p];
                (x[[i, j]] - x[[k, j]]).powi(2) / weight[j]
            };
            Array2::from_shape_fn((x.ncols(), pairs.len()), square)
        };
        Self { blocks: far.pairs().par_chunks(PAIRS).map(block).collect(), columns: x.ncols() }
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
        self.blocks.par_iter().flat_map_iter(|block| block_squares(block, factor).to_vec()).collect()
    }

    /// $\tfrac12 \sum_D z_j^2 / d$ for every column.
    fn slope(&self, distances: &[f64]) -> Vec<f64> {
        let weight = inverses(distances);
        let mut sum = Array1::zeros(self.columns);
        for (block, weight) in self.blocks.iter().zip(weight.chunks(PAIRS)) {
            sum += &block.dot(&Array1::from(weight.to_vec()));
        }
        sum.iter().map(|s| 0.5 * s).collect()
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

fn block_squares(block: &Array2<f64>, factor: &Array2<f64>) -> Array1<f64> {
    let mut out = Array1::zeros(block.ncols());
    for (row, l) in block.rows().into_iter().zip(factor) {
        if *l != 0.0 {
            out.scaled_add(l * l, &row);
        }
    }
    out
}

struct Sum<'a>(&'a Diagonal);

impl Criterion for Sum<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.0.columns, 1)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        let parts: Vec<(f64, Array1<f64>)> = self
            .0
            .blocks
            .par_iter()
            .map(|block| {
                let distances = block_squares(block, w).mapv_into(f64::sqrt);
                let sum = distances.sum();
                let weight = distances.mapv_into(|d| if d > 0.0 { 1.0 / d } else { 0.0 });
                let slope = block.rows().into_iter().zip(w);
                (sum, slope.map(|(row, &l)| if l == 0.0 { 0.0 } else { l * row.dot(&weight) }).collect())
            })
            .collect();
        let sum: f64 = parts.iter().map(|(sum, _)| sum).sum();
        gradient.assign(w);
        for (_, part) in &parts {
            gradient.column_mut(0).scaled_add(-1.0 / sum, part);
        }
        0.5 * w.iter().map(|w| w * w).sum::<f64>() - sum.ln()
    }
}
