//! A file and how it is read.

use crate::data::read::format::{Format, ReadOptions};
use crate::data::table::Table;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file and how it is read.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) options: ReadOptions,
    pub(super) format: Format,
    pub(super) state: FileState,
}

/// What differs after a file was changed.
#[derive(Debug, PartialEq)]
pub(super) struct FileState {
    /// Bytes of the file.
    pub(super) length: u64,
    /// When the file was modified; `None` if the file system does not know.
    modified: Option<SystemTime>,
}

impl FileState {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        Ok(Self { length: found.len(), modified: found.modified().ok() })
    }
}

impl Place {
    /// Returns an error if the file has changed since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        let why = "the file changed while it was read; copy it, or run again";
        if FileState::of(&self.path)? == self.state { Ok(()) } else { Err(Error::parse(why)) }
    }
}

/// Receives a piece and the number of its first row.
pub(crate) type Visit<'a> = dyn FnMut(&Table, usize) -> Result<()> + 'a;
