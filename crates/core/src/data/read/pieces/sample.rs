//! A random sample of the rows of a file, for what needs all its rows in memory.

use crate::data::table::Table;
use crate::random::Rng;

/// The stream of random numbers that draws rows.
const STREAM: u64 = 0x726f_7773;
/// What is shown as progress.
pub(super) const STAGE: &str = "reading a sample of the rows";

/// Some rows of a file.
#[derive(Debug)]
pub struct SampledRows {
    /// These rows as a table.
    pub table: Table,
    /// Which rows of the file they are, from 0.
    pub rows: Vec<usize>,
    /// Number of rows of the file.
    pub n: usize,
    /// Warnings of the reader.
    pub warnings: Vec<String>,
}

/// Which rows are drawn: each with the same probability, whatever the others are.
pub(super) struct Draw {
    pub(super) fraction: f64,
    pub(super) seed: u64,
}

impl Draw {
    pub(super) fn has(&self, row: usize) -> bool {
        Rng::of_item(self.seed, STREAM, row as u64) < self.fraction
    }
}
