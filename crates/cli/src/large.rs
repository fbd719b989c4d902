//! Files that do not fit into memory.

use crate::args::{PassArgs, TableArgs};
use crate::failure::Failure;
use kernsift::data::Table;
use kernsift::data::read::PieceFile;
use kernsift::{Context, Result};
use std::path::Path;

/// Share of the memory that a sample of a larger file may take, also while it is read; methods need the rest.
const SAMPLE_SHARE: f64 = 0.5;

/// Rows that a sample has at least.
const MIN_ROWS: usize = 1000;

/// The rows of a table that were read.
pub struct TableRows {
    /// These rows.
    pub table: Table,
    /// Which rows of the file they are, from 0, and how many it has; `None` for all.
    pub sample: Option<(Vec<usize>, usize)>,
}

impl From<Table> for TableRows {
    fn from(table: Table) -> Self {
        Self { table, sample: None }
    }
}

/// A file that does not fit into the memory limit and can be read in pieces.
pub fn large_file(args: &TableArgs, ctx: &Context) -> Option<PieceFile> {
    if args.data.starts_with("builtin:") || args.reading.labels.is_some() {
        return None;
    }
    let options = args.reading.options(args.columns.decimal);
    // What is wrong with the file is said when it is read.
    let file = PieceFile::open(Path::new(&args.data), &options).unwrap_or_default();
    file.filter(|file| file.bytes_in_memory() > ctx.memory_limit as f64)
}

/// Reads a random sample of a large file, with the warnings of the reader; `None` if it would be too small.
pub fn read_sample(file: &PieceFile, ctx: &Context) -> Result<Option<(TableRows, Vec<String>)>> {
    let most = SAMPLE_SHARE * ctx.memory_limit as f64 / file.bytes_in_memory();
    // A power of two, so that a little more or less free memory gives the same rows.
    let found = file.sample(most.log2().floor().exp2(), ctx)?;
    if found.rows.len() < MIN_ROWS {
        return Ok(None);
    }
    Ok(Some((TableRows { table: found.table, sample: Some((found.rows, found.n)) }, found.warnings)))
}

/// Returns an error for an option of tables that are read in passes.
pub fn refuse_checkpoint(args: &PassArgs) -> std::result::Result<(), Failure> {
    match args.checkpoint {
        Some(_) => Err(Failure::Input(
            "--checkpoint has no effect: the table is not read in passes; leave it out".into(),
        )),
        None => Ok(()),
    }
}

/// Returns an error for options that need the table in memory.
pub fn refuse_options(options: &[(&str, bool)]) -> std::result::Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::Input(format!(
            "{option} needs the table in memory, which it does not fit into; leave the option out, or raise --memory-limit"
        ))),
        None => Ok(()),
    }
}
