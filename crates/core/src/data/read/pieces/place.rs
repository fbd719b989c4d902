//! A file and how it is read.

use crate::data::read::format::{Format, ReadOptions};
use crate::data::table::Table;
use crate::error::Result;
use std::path::PathBuf;

/// A file and how it is read.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) options: ReadOptions,
    pub(super) format: Format,
    /// Bytes of the file.
    pub(super) length: u64,
}

/// Receives a piece and the number of its first row.
pub(crate) type Visit<'a> = dyn FnMut(&Table, usize) -> Result<()> + 'a;
