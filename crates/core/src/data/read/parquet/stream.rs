//! A Parquet file from disk, some rows at a time.

use super::{Cells, Planned, check_offsets, check_size, damaged, in_column, plan};
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result};
use ::parquet::column::reader::ColumnReader;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use rayon::prelude::*;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Bytes of a decoded page, at most, of a file written with the usual settings.
const PAGE_BYTES: i64 = 1 << 20;

/// The size of a file.
pub(in crate::data::read) struct Size {
    pub rows: u64,
    pub columns: usize,
    /// Bytes of a decoded page of each column.
    pub page_bytes: f64,
}

impl Size {
    pub(in crate::data::read) fn of(path: &Path) -> Result<Self> {
        guarded(|| {
            let file = open(path)?;
            let schema = file.metadata().file_metadata().schema_descr_ptr();
            let planned = plan(schema.columns(), &mut vec![]);
            let columns = planned.len();
            let groups = file.metadata().row_groups();
            let page = |planned: &Planned| {
                let sizes = groups.iter().map(|group| group.column(planned.place).uncompressed_size());
                sizes.max().unwrap_or(0).clamp(0, PAGE_BYTES) as f64
            };
            let page_bytes = planned.iter().map(page).sum();
            Ok(Self { rows: check_size(&file, columns, u64::MAX)?, columns, page_bytes })
        })
    }
}

/// A file that is read from its first row to its last, some rows at a time.
pub(in crate::data::read) struct Stream {
    parts: Vec<Part>,
    /// Rows of the row groups.
    groups: Vec<i64>,
    /// The open row group, and the rows of it that were read.
    group: usize,
    read: i64,
}

/// Some of the columns, with a file of their own: threads cannot read from one, since they share its position.
struct Part {
    file: SerializedFileReader<File>,
    columns: Vec<Planned>,
    /// A reader for each column of the open row group.
    readers: Vec<ColumnReader>,
}

impl Stream {
    /// Opens a file; with `columns` only these are read.
    pub(in crate::data::read) fn open(
        path: &Path,
        columns: Option<&[&str]>,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        guarded(|| {
            let file = open(path)?;
            check_offsets(&file)?;
            let schema = file.metadata().file_metadata().schema_descr_ptr();
            let mut planned = plan(schema.columns(), warnings);
            check_size(&file, planned.len(), u64::MAX)?;
            if let Some(columns) = columns {
                planned.retain(|planned| columns.contains(&planned.name.as_str()));
            }
            let groups = file.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
            let size = planned.len().div_ceil(rayon::current_num_threads()).max(1);
            let mut parts = vec![];
            while !planned.is_empty() {
                let columns = planned.drain(..size.min(planned.len())).collect();
                parts.push(Part { file: open(path)?, columns, readers: vec![] });
            }
            Ok(Self { parts, groups, group: 0, read: 0 })
        })
    }

    /// The next rows, at most `most`; `None` after the last one.
    pub(in crate::data::read) fn next(&mut self, most: usize) -> Result<Option<Table>> {
        while self.groups.get(self.group).is_some_and(|rows| self.read == *rows) {
            (self.group, self.read) = (self.group + 1, 0);
        }
        let Some(&in_group) = self.groups.get(self.group) else { return Ok(None) };
        let rows = (in_group - self.read).min(most as i64);
        let (group, is_new) = (self.group, self.read == 0);
        let columns: Vec<Result<Vec<Column>>> = self
            .parts
            .par_iter_mut()
            .with_max_len(1)
            .map(|part| guarded(|| part.next(group, is_new, rows)))
            .collect();
        self.read += rows;
        let columns: Result<Vec<Vec<Column>>> = columns.into_iter().collect();
        Table::new(columns?.into_iter().flatten().collect()).map(Some)
    }
}

impl Part {
    /// The next rows of the columns in a row group, which is opened if it is new.
    fn next(&mut self, group: usize, is_new: bool, rows: i64) -> Result<Vec<Column>> {
        if is_new {
            let group = self.file.get_row_group(group).map_err(damaged)?;
            let open = |planned: &Planned| match planned.meaning {
                Ok(_) => group.get_column_reader(planned.place).map(Some).map_err(damaged),
                Err(_) => Ok(None),
            };
            let readers: Result<Vec<Option<ColumnReader>>> = self.columns.iter().map(open).collect();
            self.readers = readers?.into_iter().flatten().collect();
        }
        let mut readers = self.readers.iter_mut();
        let column = |planned: &Planned| -> Result<Column> {
            let name = &planned.name;
            let meaning = match &planned.meaning {
                Ok(meaning) => *meaning,
                Err(why) => {
                    let values = Values::Unsupported { rows: rows as usize, why: why.clone() };
                    return Ok(Column { name: name.clone(), values });
                }
            };
            let mut cells = Cells::of(meaning);
            let reader = readers.next().ok_or_else(|| damaged("a column is not there"))?;
            cells.read_rows(reader, rows, false).map_err(|e| in_column(name, e))?;
            if cells.inexact {
                let why = "integers of more than 15 digits are names and not numbers";
                let values = Values::Unsupported { rows: rows as usize, why: why.into() };
                return Ok(Column { name: name.clone(), values });
            }
            Ok(cells.into_column(name))
        };
        self.columns.iter().map(column).collect()
    }
}

fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    SerializedFileReader::new(file).map_err(damaged)
}

/// Runs `work`; a panic of the crate, which some damaged files cause, is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(damaged("its parts are inconsistent")))
}
