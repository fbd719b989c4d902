//! What the screen knows about each pair: norms for the error of a score, and the exact score.

use super::blocks::Blocks;
use super::functions::largest_kurtosis;
use super::top::{Bounded, Candidate, Shortlist, best_of};
use rayon::prelude::*;

/// What the tiles of a screen have in common.
pub(super) struct Scores<'a> {
    pub blocks: &'a Blocks,
    /// Columns of the target, and the largest mean fourth power.
    pub target: &'a [Vec<f64>],
    pub kurtosis: f64,
    /// For every feature the norm of the products of its functions with the target, over all of them.
    pub norms: Vec<f32>,
    /// Each feature's functions.
    functions: Vec<&'a [f32]>,
}

impl<'a> Scores<'a> {
    pub fn new(blocks: &'a Blocks, target: &'a [Vec<f64>]) -> Self {
        let mut functions: Vec<&[f32]> = vec![&[]; blocks.counts.len()];
        for block in &blocks.blocks {
            let values = block.values.as_slice().expect("standard layout");
            for (feature, rows) in (block.first..).zip(&block.rows) {
                functions[feature] = &values[rows.start * blocks.n..rows.end * blocks.n];
            }
        }
        let squares: Vec<f64> = (0..blocks.n).map(|r| target.iter().map(|y| y[r] * y[r]).sum()).collect();
        let norm = |values: &&[f32]| {
            let of_function = |values: &[f32]| {
                values.iter().zip(&squares).map(|(v, square)| f64::from(v * v) * square).sum::<f64>()
            };
            // Rounded up.
            (values.chunks_exact(blocks.n.max(1)).map(of_function).sum::<f64>().sqrt() * (1.0 + 1e-5)) as f32
        };
        let norms = functions.par_iter().map(norm).collect();
        Self { blocks, target, kurtosis: largest_kurtosis(target), norms, functions }
    }

    /// Scores in double precision.
    fn exact(&self, list: &Shortlist) -> Vec<Candidate> {
        let n = self.blocks.n;
        let score = |&Bounded { pair, .. }: &Bounded| {
            let (first, second) = (self.functions[pair.0 as usize], self.functions[pair.1 as usize]);
            let mut score = 0.0;
            let mut weighted = vec![0.0; n];
            for y in self.target {
                for a in first.chunks_exact(n) {
                    weighted.iter_mut().zip(a).zip(y).for_each(|((w, a), y)| *w = f64::from(*a) * y);
                    for b in second.chunks_exact(n) {
                        score += dot_mixed(&weighted, b).powi(2);
                    }
                }
            }
            let functions = self.blocks.counts[pair.0 as usize] * self.blocks.counts[pair.1 as usize];
            Candidate { ln_p: list.thresholds().ln_p(score / n as f64, functions), pair }
        };
        list.pairs.par_iter().map(score).collect()
    }

    /// The best pairs of a list, the best first.
    pub fn best(&self, list: &Shortlist) -> Vec<Candidate> {
        best_of(self.exact(list), list.capacity)
    }

    /// Adds pairs to a list, and replaces a crowded list by its best pairs.
    pub fn add(&self, list: &mut Shortlist, pairs: Vec<Bounded>) {
        list.add(pairs);
        if list.is_crowded() {
            list.settle(&self.best(list));
        }
    }
}

/// The inner product of numbers in double and in single precision.
fn dot_mixed(a: &[f64], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a_lanes, b_lanes) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_lanes.remainder().iter().zip(b_lanes.remainder()).map(|(a, b)| a * f64::from(*b)).sum();
    for (a, b) in a_lanes.zip(b_lanes) {
        (0..LANES).for_each(|lane| sums[lane] += a[lane] * f64::from(b[lane]));
    }
    sums.iter().sum::<f64>() + rest
}
