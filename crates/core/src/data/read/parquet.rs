//! Parquet files with columns of numbers, text, dates and times; nested columns are skipped. Booleans become the text `true` and
//! `false`.
//!
//! Columns are read in parallel, each with the reader of its physical type. A cell is null where its definition level is 0.

mod meaning;
mod stream;

use self::meaning::Meaning;
pub(super) use self::stream::{Size, Stream};
use super::levels::Levels;
use super::number::MAX_EXACT;
use crate::context::{Context, need_room};
use crate::data::read::names::unique_names;
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result, shorten};
use ::parquet::column::page::Page;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{DataType, Int96};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescPtr;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cells decoded at once.
const BATCH: usize = 8192;

/// Reads a table; warns about an index stored by pandas, which is skipped.
pub(super) fn read(
    source: impl ChunkReader + 'static,
    limit: u64,
    warnings: &mut Vec<String>,
    ctx: &Context,
) -> Result<Table> {
    // Version 60 of the crate panics on some damaged files, such as a page that refers to a missing dictionary; the tests
    // contain such files. The panicking code shares no state with ours.
    catch_unwind(AssertUnwindSafe(|| read_file(source, limit, warnings, ctx)))
        .unwrap_or_else(|_| Err(damaged("its parts are inconsistent")))
}

/// The contents of a file as a source. (Several threads cannot read from one open file: they share its position.)
pub(super) fn in_memory(bytes: Vec<u8>) -> impl ChunkReader {
    of_type(Page::buffer, bytes)
}

/// Bytes in the type that the crate expects. It does not export the type, only a function that returns it.
fn of_type<B: From<Vec<u8>>>(_: fn(&Page) -> &B, bytes: Vec<u8>) -> B {
    bytes.into()
}

fn read_file<R: ChunkReader + 'static>(
    source: R,
    limit: u64,
    warnings: &mut Vec<String>,
    ctx: &Context,
) -> Result<Table> {
    let file = SerializedFileReader::new(source).map_err(damaged)?;
    check_offsets(&file)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let plan = plan(schema.columns(), warnings);
    let rows = check_size(&file, plan.len(), limit)?;
    let (done, total) = (AtomicUsize::new(0), plan.len());
    let read_column = |Planned { place, name, meaning }: Planned| {
        ctx.step("reading columns", done.fetch_add(1, Ordering::Relaxed), total)?;
        match meaning {
            Ok(meaning) => read_column(&file, place, meaning, &name).map_err(|e| in_column(&name, e)),
            Err(why) => Ok(Column { name, values: Values::Unsupported { rows: rows as usize, why } }),
        }
    };
    Table::new(plan.into_par_iter().map(read_column).collect::<Vec<_>>().into_iter().collect::<Result<_>>()?)
}

/// A column of the table: its place in the file, its name, and its meaning or why it is not supported.
struct Planned {
    place: usize,
    name: String,
    meaning: std::result::Result<Meaning, String>,
}

/// The columns to read. A nested column may have several places in the file.
fn plan(columns: &[ColumnDescPtr], warnings: &mut Vec<String>) -> Vec<Planned> {
    let mut plan: Vec<Planned> = vec![];
    let mut last_nested = None;
    for (place, column) in columns.iter().enumerate() {
        let path = column.path().parts();
        let name = path.first().cloned().unwrap_or_default();
        // The unnamed index of pandas: row numbers, not a feature.
        if name.starts_with("__index_level_") {
            warnings.push(format!("skipped the column '{}', an index stored by pandas", shorten(&name)));
            continue;
        }
        let nested = (path.len() > 1).then(|| name.clone());
        if nested.is_none() || nested != last_nested {
            plan.push(Planned { place, name, meaning: Meaning::of(column) });
        }
        last_nested = nested;
    }
    let mut names: Vec<String> = plan.iter_mut().map(|planned| std::mem::take(&mut planned.name)).collect();
    unique_names(&mut names, warnings);
    plan.iter_mut().zip(names).for_each(|(planned, name)| planned.name = name);
    plan
}

/// The crate assumes that offsets are not negative.
fn check_offsets(file: &dyn FileReader) -> Result<()> {
    let valid = file.metadata().row_groups().iter().flat_map(|group| group.columns()).all(|column| {
        column.data_page_offset() >= 0
            && column.compressed_size() >= 0
            && column.dictionary_page_offset().is_none_or(|offset| offset >= 0)
    });
    if valid { Ok(()) } else { Err(damaged("an offset is negative")) }
}

/// The number of rows. Runs of equal cells compress to almost nothing, so the size of the file limits nothing.
fn check_size(file: &dyn FileReader, columns: usize, limit: u64) -> Result<u64> {
    let rows = file.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    let rows = rows.fold(0u64, u64::saturating_add);
    if columns == 0 {
        return Err(Error::parse("the file has no columns"));
    }
    if rows == 0 {
        return Err(Error::parse("the file has columns but no rows"));
    }
    let what = format!("a table of {rows} rows and {columns} columns");
    let advice = "check the file, split it, or raise the memory limit";
    need_room(what, rows as f64 * columns as f64 * 8.0, limit, advice)?;
    Ok(rows)
}

/// Reads a column; integers that a number cannot hold are read again, as text.
fn read_column(file: &dyn FileReader, place: usize, meaning: Meaning, name: &str) -> Result<Column> {
    let mut cells = Cells::of(meaning);
    cells.read(file, place)?;
    if cells.inexact {
        cells = Cells { integers_as_text: true, ..Cells::of(meaning) };
        cells.read(file, place)?;
    }
    Ok(cells.into_column(name))
}

/// A column under construction.
#[derive(Default)]
struct Cells {
    meaning: Meaning,
    integers_as_text: bool,
    numbers: Vec<f64>,
    texts: Levels,
    /// Whether an integer lost digits.
    inexact: bool,
    /// Whether a text is not UTF-8.
    not_text: bool,
}

impl Cells {
    fn of(meaning: Meaning) -> Self {
        Self { meaning, ..Self::default() }
    }

    /// Reads a column of a file.
    fn read(&mut self, file: &dyn FileReader, place: usize) -> Result<()> {
        for group in 0..file.num_row_groups() {
            let group = file.get_row_group(group).map_err(damaged)?;
            let rows = group.metadata().num_rows();
            let mut reader = group.get_column_reader(place).map_err(damaged)?;
            self.read_rows(&mut reader, rows, true)?;
        }
        Ok(())
    }

    /// Reads the next rows of a column; `all`: of which there are no more.
    fn read_rows(&mut self, reader: &mut ColumnReader, rows: i64, all: bool) -> Result<()> {
        let rows = &Expected { rows, all };
        let numbers = &mut self.numbers;
        match reader {
            ColumnReader::BoolColumnReader(reader) => for_each_cell(reader, rows, |v| {
                self.texts.push(v.map(|&v| if v { "true" } else { "false" }));
                Ok(())
            })?,
            ColumnReader::Int32ColumnReader(reader) => for_each_cell(reader, rows, |v| {
                self.push_integer(v.map(|&v| (u64::from(v as u32), i64::from(v))));
                Ok(())
            })?,
            ColumnReader::Int64ColumnReader(reader) => for_each_cell(reader, rows, |v| {
                self.push_integer(v.map(|&v| (v as u64, v)));
                Ok(())
            })?,
            ColumnReader::Int96ColumnReader(reader) => push_numbers(reader, rows, numbers, old_timestamp)?,
            ColumnReader::FloatColumnReader(reader) => {
                push_numbers(reader, rows, numbers, |&v| f64::from(v))?
            }
            ColumnReader::DoubleColumnReader(reader) => push_numbers(reader, rows, numbers, |&v| v)?,
            ColumnReader::ByteArrayColumnReader(reader) => match self.meaning {
                Meaning::Decimal(scale) => push_numbers(reader, rows, numbers, |v| decimal(v.data(), scale))?,
                _ => for_each_cell(reader, rows, |v| {
                    let text = v.map(|v| std::str::from_utf8(v.data()));
                    self.not_text |= matches!(text, Some(Err(_)));
                    self.texts.push(text.and_then(std::result::Result::ok));
                    Ok(())
                })?,
            },
            ColumnReader::FixedLenByteArrayColumnReader(reader) => match self.meaning {
                Meaning::Decimal(scale) => push_numbers(reader, rows, numbers, |v| decimal(v.data(), scale))?,
                _ => return Err(damaged("a column has several types")),
            },
        }
        Ok(())
    }

    /// The column.
    fn into_column(self, name: &str) -> Column {
        if self.not_text {
            let why = "the cells are bytes, not text".into();
            return Column { name: name.into(), values: Values::Unsupported { rows: self.texts.len(), why } };
        }
        match self.meaning {
            Meaning::Boolean | Meaning::Text => self.texts.into_column(name.into()),
            _ if self.integers_as_text => self.texts.into_column(name.into()),
            Meaning::Date(_) | Meaning::OldTimestamp => {
                Column { name: name.into(), values: Values::Date(self.numbers) }
            }
            _ => Column::numeric(name, self.numbers),
        }
    }

    /// Adds an integer, given as an unsigned and as a signed one.
    fn push_integer(&mut self, cell: Option<(u64, i64)>) {
        let is_unsigned = self.meaning == Meaning::Unsigned;
        if self.integers_as_text {
            let text = cell.map(|(unsigned, signed)| match is_unsigned {
                true => unsigned.to_string(),
                false => signed.to_string(),
            });
            self.texts.push(text.as_deref());
            return;
        }
        let (unsigned, signed) = cell.unwrap_or_default();
        let value = match self.meaning {
            Meaning::Unsigned => unsigned as f64,
            Meaning::Decimal(scale) => signed as f64 / 10f64.powi(scale),
            Meaning::Date(units) => signed as f64 / units,
            _ => signed as f64,
        };
        let is_integer = is_unsigned || self.meaning == Meaning::Signed;
        let size = if is_unsigned { unsigned } else { signed.unsigned_abs() };
        self.inexact |= is_integer && size > MAX_EXACT as u64;
        self.numbers.push(if cell.is_some() { value } else { f64::NAN });
    }
}

/// A decimal number: a big-endian integer in two's complement, divided by a power of ten.
fn decimal(bytes: &[u8], scale: i32) -> f64 {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let size = |flip: u8| bytes.iter().fold(0.0, |size, byte| 256.0 * size + f64::from(byte ^ flip));
    let value = if is_negative { -(size(0xff) + 1.0) } else { size(0) };
    value / 10f64.powi(scale)
}

/// Days since 1970-01-01.
fn old_timestamp(value: &Int96) -> f64 {
    /// The Julian day of 1970-01-01.
    const EPOCH: i64 = 2_440_588;
    let [low, high, day] = [0, 1, 2].map(|at| value.data().get(at).copied().unwrap_or_default());
    let nanoseconds = u64::from(high) << 32 | u64::from(low);
    (i64::from(day) - EPOCH) as f64 + nanoseconds as f64 / 86_400e9
}

fn push_numbers<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: &Expected,
    out: &mut Vec<f64>,
    number: impl Fn(&T::T) -> f64,
) -> Result<()> {
    for_each_cell(reader, rows, |cell| {
        out.push(cell.map_or(f64::NAN, &number));
        Ok(())
    })
}

/// The rows to read from a column in a row group.
struct Expected {
    rows: i64,
    /// Whether these are all that remain.
    all: bool,
}

/// Calls `visit` with the next cells of a column in a row group, `None` for null.
fn for_each_cell<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    expected: &Expected,
    mut visit: impl FnMut(Option<&T::T>) -> Result<()>,
) -> Result<()> {
    let (mut levels, mut values) = (vec![], vec![]);
    let (rows, mut seen) = (expected.rows, 0);
    loop {
        levels.clear();
        values.clear();
        let batch = if expected.all { BATCH } else { BATCH.min((rows - seen).max(0) as usize) };
        let (n, _, _) = reader.read_records(batch, Some(&mut levels), None, &mut values).map_err(damaged)?;
        seen += n as i64;
        if n == 0 || seen > rows {
            break;
        }
        // A required column has no definition levels: all its cells are values.
        if levels.is_empty() {
            values.iter().try_for_each(|value| visit(Some(value)))?;
        } else {
            let mut values = values.iter();
            levels.iter().try_for_each(|&level| visit(if level == 0 { None } else { values.next() }))?;
        }
    }
    if seen == rows { Ok(()) } else { Err(damaged(format!("expected {rows} rows, found {seen}"))) }
}

fn in_column(name: &str, error: Error) -> Error {
    Error::parse(format!("column '{}': {error}", shorten(name)))
}

fn damaged(why: impl Into<Why>) -> Error {
    Error::parse(format!("not a Parquet file, or a damaged one ({})", why.into().0))
}

/// An error message, without the prefix of the crate.
struct Why(String);

impl From<ParquetError> for Why {
    fn from(error: ParquetError) -> Self {
        let text = error.to_string();
        Self(text.strip_prefix("Parquet error: ").unwrap_or(&text).to_owned())
    }
}

impl From<&str> for Why {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Why {
    fn from(text: String) -> Self {
        Self(text)
    }
}

#[cfg(test)]
pub(super) mod tests;
