//! Parquet: numbers and text in columns, packed. Tables only; nested columns are refused.
//!
//! The columns are read side by side, each with the reader for its physical type. Where a cell is null,
//! its definition level is below the column's; that is all of the nesting machinery a table needs.

use super::levels::Levels;
use super::need_room;
use crate::context::Context;
use crate::data::table::{Column, Table, check_names};
use crate::error::{Error, Result, shorten};
use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::page::Page;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cells decoded at a time.
const BATCH: usize = 8192;

/// Reads a table; says so when an index that pandas stored is left out.
pub(super) fn read(bytes: &[u8], room: u64, warnings: &mut Vec<String>, ctx: &Context) -> Result<Table> {
    // Version 60 of the crate panics on some damage, such as a page that refers to a dictionary the file
    // does not have; the tests below come across it. Nothing of ours is shared with the part that fails.
    catch_unwind(AssertUnwindSafe(|| read_file(in_memory(Page::buffer, bytes), room, warnings, ctx)))
        .unwrap_or_else(|_| Err(damaged("its parts do not fit together")))
}

/// Bytes in the type the crate wants. It does not export that type, but a function that returns it.
fn in_memory<B: From<Vec<u8>>>(_: fn(&Page) -> &B, bytes: &[u8]) -> B {
    bytes.to_vec().into()
}

fn read_file<R: ChunkReader + 'static>(
    source: R,
    room: u64,
    warnings: &mut Vec<String>,
    ctx: &Context,
) -> Result<Table> {
    let file = SerializedFileReader::new(source).map_err(damaged)?;
    check_places(&file)?;
    let schema = file.metadata().file_metadata().schema_descr_ptr();
    let mut plan = vec![];
    for (place, column) in schema.columns().iter().enumerate() {
        let name = column.path().parts().join(".");
        // What pandas calls an index without a name: row numbers, not a feature.
        if name.starts_with("__index_level_") {
            warnings.push(format!("left out the column '{}', an index that pandas stored", shorten(&name)));
        } else {
            plan.push((place, Meaning::of(column, &name)?, name));
        }
    }
    check_names(plan.iter().map(|(_, _, name)| name.as_str()))?;
    check_size(&file, plan.len(), room)?;
    let (done, total) = (AtomicUsize::new(0), plan.len());
    let read_column = |(place, meaning, name): (usize, Meaning, String)| {
        ctx.step("reading columns", done.fetch_add(1, Ordering::Relaxed), total)?;
        read_column(&file, place, meaning, &name).map_err(|e| in_column(&name, e))
    };
    Table::new(plan.into_par_iter().map(read_column).collect::<Vec<_>>().into_iter().collect::<Result<_>>()?)
}

/// The crate takes for granted that places in the file are not negative.
fn check_places(file: &dyn FileReader) -> Result<()> {
    let sound = file.metadata().row_groups().iter().flat_map(|group| group.columns()).all(|column| {
        column.data_page_offset() >= 0
            && column.compressed_size() >= 0
            && column.dictionary_page_offset().is_none_or(|place| place >= 0)
    });
    if sound { Ok(()) } else { Err(damaged("a place in the file is negative")) }
}

/// Runs of equal cells take next to no room in the file, so its size alone is no protection.
fn check_size(file: &dyn FileReader, columns: usize, room: u64) -> Result<()> {
    let rows = file.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
    let rows = rows.fold(0u64, u64::saturating_add);
    if columns == 0 {
        return Err(Error::parse("the file has no columns"));
    }
    if rows == 0 {
        return Err(Error::parse("the file has columns but no rows"));
    }
    let what = format!("a table of {rows} rows and {columns} columns");
    let advice = "check the file, split it, or raise --memory-limit";
    need_room(what, rows as f64 * columns as f64 * 8.0, room, advice)
}

/// What the cells of a column are to us.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meaning {
    Number,
    Unsigned,
    /// Whole numbers over a power of ten.
    Decimal(i32),
    Text,
}

impl Meaning {
    fn of(column: &ColumnDescriptor, name: &str) -> Result<Self> {
        if column.path().parts().len() != 1 || column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(Error::parse(format!(
                "column '{}' is nested; make plain columns of it, or leave it out",
                shorten(name)
            )));
        }
        let physical = column.physical_type();
        let converted = column.converted_type();
        let meaning = match (physical, column.logical_type_ref()) {
            (Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE, _) => Some(Self::Number),
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int))) => {
                Some(if int.is_signed { Self::Number } else { Self::Unsigned })
            }
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Decimal(d))) => {
                Some(Self::Decimal(d.scale))
            }
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Unknown)) => Some(Self::Number),
            (Physical::INT32 | Physical::INT64, None) => Self::of_whole(converted, column.type_scale()),
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
                Some(Self::Text)
            }
            (Physical::BYTE_ARRAY, None) => {
                use ConvertedType::{ENUM, JSON, NONE, UTF8};
                matches!(converted, NONE | UTF8 | ENUM | JSON).then_some(Self::Text)
            }
            _ => None,
        };
        meaning.ok_or_else(|| {
            Error::parse(format!(
                "column '{}' has the type {}, which cannot be read; make it numbers or text, or leave it out",
                shorten(name),
                type_name(column)
            ))
        })
    }

    fn of_whole(converted: ConvertedType, scale: i32) -> Option<Self> {
        use ConvertedType::*;
        match converted {
            NONE | INT_8 | INT_16 | INT_32 | INT_64 => Some(Self::Number),
            UINT_8 | UINT_16 | UINT_32 | UINT_64 => Some(Self::Unsigned),
            DECIMAL => Some(Self::Decimal(scale)),
            _ => None,
        }
    }
}

fn type_name(column: &ColumnDescriptor) -> String {
    let physical = column.physical_type();
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Timestamp(_)), _) => "TIMESTAMP".into(),
        (Some(LogicalType::Time(_)), _) => "TIME".into(),
        (Some(LogicalType::Date), _) => "DATE".into(),
        (Some(LogicalType::Decimal(_)), _) => format!("DECIMAL as {physical}"),
        (None, converted) if converted != ConvertedType::NONE => format!("{converted} as {physical}"),
        _ => physical.to_string(),
    }
}

fn read_column(file: &dyn FileReader, place: usize, meaning: Meaning, name: &str) -> Result<Column> {
    let mut numbers = vec![];
    let mut texts = Levels::default();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(damaged)?;
        let rows = group.metadata().num_rows();
        let whole = |unsigned: u64, signed: i64| match meaning {
            Meaning::Unsigned => unsigned as f64,
            Meaning::Decimal(scale) => signed as f64 / 10f64.powi(scale),
            Meaning::Number | Meaning::Text => signed as f64,
        };
        match group.get_column_reader(place).map_err(damaged)? {
            ColumnReader::BoolColumnReader(reader) => {
                push_numbers(reader, rows, &mut numbers, |&v| f64::from(u8::from(v)))?;
            }
            ColumnReader::Int32ColumnReader(reader) => {
                push_numbers(reader, rows, &mut numbers, |&v| whole(u64::from(v as u32), i64::from(v)))?;
            }
            ColumnReader::Int64ColumnReader(reader) => {
                push_numbers(reader, rows, &mut numbers, |&v| whole(v as u64, v))?;
            }
            ColumnReader::FloatColumnReader(reader) => {
                push_numbers(reader, rows, &mut numbers, |&v| f64::from(v))?;
            }
            ColumnReader::DoubleColumnReader(reader) => push_numbers(reader, rows, &mut numbers, |&v| v)?,
            ColumnReader::ByteArrayColumnReader(reader) => for_each_cell(reader, rows, |v| {
                let text = v.map(|v| std::str::from_utf8(v.data())).transpose();
                texts.push(
                    text.map_err(|_| Error::parse("holds bytes that are not UTF-8 text; leave it out"))?,
                );
                Ok(())
            })?,
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return Err(damaged("the types of a column differ"));
            }
        }
    }
    Ok(match meaning {
        Meaning::Text => texts.into_column(name.into()),
        _ => Column::numeric(name, numbers),
    })
}

fn push_numbers<T: DataType>(
    reader: ColumnReaderImpl<T>,
    rows: i64,
    out: &mut Vec<f64>,
    number: impl Fn(&T::T) -> f64,
) -> Result<()> {
    for_each_cell(reader, rows, |cell| {
        out.push(cell.map_or(f64::NAN, &number));
        Ok(())
    })
}

/// Calls `visit` with each cell of a column in a row group; nothing stands for null.
fn for_each_cell<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: i64,
    mut visit: impl FnMut(Option<&T::T>) -> Result<()>,
) -> Result<()> {
    let (mut levels, mut values) = (vec![], vec![]);
    let mut seen = 0;
    loop {
        levels.clear();
        values.clear();
        let (n, _, _) = reader.read_records(BATCH, Some(&mut levels), None, &mut values).map_err(damaged)?;
        seen += n as i64;
        if n == 0 || seen > rows {
            break;
        }
        // A column without nulls has no levels: all its cells are values.
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

/// What the crate says, without the word "Parquet" in front of it, or what we say.
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
