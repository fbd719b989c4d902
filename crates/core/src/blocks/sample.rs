//! Random rows, collected from blocks.

use super::block::Block;
use crate::random::Rng;
use ndarray::{Array2, Axis, concatenate};
use serde::{Deserialize, Serialize};

/// The rows of a sample, in ascending order: all rows if there are few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowSample {
    rows: Vec<usize>,
    n: usize,
}

/// Sampled rows with their target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampledRows {
    /// The features.
    pub(crate) x: Array2<f64>,
    /// The classes, if the target is classes.
    pub(crate) codes: Vec<usize>,
    /// The target, if it is continuous.
    pub(crate) numbers: Vec<f64>,
}

impl RowSample {
    /// At most `most` of `n` rows, drawn by the named stream of random numbers.
    pub(crate) fn draw(n: usize, most: usize, seed: u64, stream: &str) -> Self {
        Self { rows: Rng::stream(seed, stream).sample(n, most), n }
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the sample is the complete table.
    pub(crate) fn is_complete(&self) -> bool {
        self.rows.len() == self.n
    }

    /// The rows of the sample that are in a block.
    pub(crate) fn of_block(&self, block: &Block) -> SampledRows {
        let from = self.rows.partition_point(|&row| row < block.first);
        let to = self.rows.partition_point(|&row| row < block.first + block.n());
        let rows: Vec<usize> = self.rows[from..to].iter().map(|row| row - block.first).collect();
        SampledRows {
            x: block.x.select(Axis(0), &rows),
            codes: taken(block.codes(), &rows),
            numbers: taken(block.numbers(), &rows),
        }
    }
}

fn taken<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    if values.is_empty() { vec![] } else { rows.iter().map(|&row| values[row]).collect() }
}

impl SampledRows {
    /// Adds rows of later blocks.
    pub(crate) fn add(&mut self, later: Self) {
        self.x = concatenate![Axis(0), self.x, later.x];
        self.codes.extend(later.codes);
        self.numbers.extend(later.numbers);
    }
}
