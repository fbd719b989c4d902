//! Excel workbooks (.xlsx): a sheet as a table.
//!
//! The first row that is not empty holds the names. Empty rows and columns are skipped. A column of numbers is numeric,
//! one of dates a date column; any other is text, in which logical values are `true` and `false`.

mod parts;

use self::parts::damaged;
use super::format::ReadOptions;
use super::levels::Levels;
use super::number::MissingValues;
use crate::context::{Context, need_room};
use crate::data::date;
use crate::data::read::names::unique_names;
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result, shorten};
use calamine::{DataRef, Reader, SheetType, Xlsx, XlsxError};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Cells read between two progress reports.
const REPORT_CELLS: usize = 1 << 16;

/// Days from the first day of Excel's calendars (1900 and 1904) to 1970-01-01.
const EPOCH_1900: f64 = 25_569.0;
const EPOCH_1904: f64 = 24_107.0;

/// Excel counts a day 60, 1900-02-29, that did not exist.
const DAY_AFTER_MISTAKE: f64 = 61.0;

/// Reads a sheet as a table.
pub(super) fn read(
    bytes: &[u8],
    limit: u64,
    options: &ReadOptions,
    warnings: &mut Vec<String>,
    ctx: &Context,
) -> Result<Table> {
    parts::check(bytes, limit)?;
    // The crate does not promise to survive damaged files. It shares no state with our code.
    catch_unwind(AssertUnwindSafe(|| {
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
        let sheet = sheet_name(&book, options.sheet.as_deref(), warnings)?;
        let mut cells = read_cells(&mut book, &sheet, limit, warnings, ctx)?;
        if options.transpose {
            cells.iter_mut().for_each(|cell| std::mem::swap(&mut cell.row, &mut cell.column));
        }
        table(cells, options, limit, warnings)
    }))
    .unwrap_or_else(|_| Err(damaged("its parts are inconsistent")))
}

/// The requested sheet, or the first one.
fn sheet_name(
    book: &Xlsx<Cursor<&[u8]>>,
    requested: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<String> {
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<&str> = sheets.map(|sheet| sheet.name.as_str()).collect();
    let Some(requested) = requested else {
        let first = names.first().ok_or_else(|| Error::parse("the workbook has no sheets"))?;
        if names.len() > 1 {
            warnings.push(format!("read '{}', the first of {} sheets", shorten(first), names.len()));
        }
        return Ok((*first).to_owned());
    };
    match names.iter().find(|name| **name == requested) {
        Some(name) => Ok((*name).to_owned()),
        None => Err(Error::unknown_name("sheet", requested, names.iter().copied())),
    }
}

enum Value<'a> {
    Number(f64),
    /// Days since 1970-01-01.
    Date(f64),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    fn text(&self) -> Cow<'_, str> {
        match self {
            // -0 becomes 0.
            Self::Number(value) => Cow::Owned((value + 0.0).to_string()),
            Self::Date(days) => Cow::Owned(date::text(*days)),
            Self::Text(text) => Cow::Borrowed(text.trim()),
        }
    }
}

struct Cell<'a> {
    row: u32,
    column: u32,
    value: Value<'a>,
}

/// The cells of a sheet that are not empty.
fn read_cells<'a>(
    book: &'a mut Xlsx<Cursor<&[u8]>>,
    sheet: &str,
    limit: u64,
    warnings: &mut Vec<String>,
    ctx: &Context,
) -> Result<Vec<Cell<'a>>> {
    let epoch = if book.has_1904_epoch() { EPOCH_1904 } else { EPOCH_1900 };
    let mut reader = book.worksheet_cells_reader(sheet).map_err(damaged)?;
    let (mut cells, mut allocated, mut errors) = (vec![], 0, 0);
    while let Some(cell) = reader.next_cell().map_err(|error: XlsxError| damaged(error))? {
        let (row, column) = cell.get_position();
        let value = match cell.get_value() {
            DataRef::Empty => continue,
            DataRef::Error(_) => {
                errors += 1;
                continue;
            }
            DataRef::Int(value) => Value::Number(*value as f64),
            DataRef::Float(value) => Value::Number(*value),
            DataRef::Bool(value) => Value::Text(Cow::Borrowed(if *value { "true" } else { "false" })),
            DataRef::DateTime(time) if time.is_duration() => Value::Number(time.as_f64()),
            DataRef::DateTime(time) => Value::Date(days(time.as_f64(), epoch)),
            DataRef::SharedString(text) => Value::Text(Cow::Borrowed(text)),
            DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
                allocated += text.len();
                Value::Text(Cow::Owned(text.clone()))
            }
        };
        cells.push(Cell { row, column, value });
        if cells.len().is_multiple_of(REPORT_CELLS) {
            let needed = (allocated + cells.len() * size_of::<Cell>()) as f64;
            need_room("the sheet", needed, limit, super::progress::MEMORY_ADVICE)?;
            ctx.step("reading cells", cells.len(), cells.len())?;
        }
    }
    if errors > 0 {
        warnings.push(format!("read {errors} cells with errors such as #DIV/0! as missing values"));
    }
    Ok(cells)
}

/// Days since 1970-01-01 of a day of Excel's calendar.
fn days(serial: f64, epoch: f64) -> f64 {
    let mistaken = epoch == EPOCH_1900 && serial < DAY_AFTER_MISTAKE - 1.0;
    serial - epoch + f64::from(u8::from(mistaken))
}

fn table(
    mut cells: Vec<Cell>,
    options: &ReadOptions,
    limit: u64,
    warnings: &mut Vec<String>,
) -> Result<Table> {
    cells.retain(|cell| !matches!(&cell.value, Value::Text(text) if text.trim().is_empty()));
    cells.sort_by_key(|cell| (cell.row, cell.column));
    let places: Vec<u32> =
        cells.iter().map(|cell| cell.column).collect::<BTreeSet<_>>().into_iter().collect();
    let place = |column: u32| places.binary_search(&column).unwrap_or_default();
    let rows: Vec<&[Cell]> = cells.chunk_by(|a, b| a.row == b.row).collect();
    let (header, rows) = match (rows.split_first(), options.header) {
        (None, _) => return Err(Error::parse("the sheet is empty")),
        (Some((_, [])), true) => return Err(Error::parse("the sheet has a header but no rows")),
        (Some((header, rest)), true) => (*header, rest),
        (Some(_), false) => (&[][..], &rows[..]),
    };
    let what = format!("a table of {} rows and {} columns", rows.len(), places.len());
    need_room(what, rows.len() as f64 * places.len() as f64 * 8.0, limit, super::progress::MEMORY_ADVICE)?;
    let kind = if options.header { "unnamed_" } else { "c" };
    let mut names: Vec<String> = (1..=places.len()).map(|n| format!("{kind}{n}")).collect();
    header.iter().for_each(|cell| names[place(cell.column)] = cell.value.text().into_owned());
    if options.transpose {
        names[0] = "sample".into();
    }
    unique_names(&mut names, warnings);
    let mut columns: Vec<Vec<(usize, &Value)>> = places.iter().map(|_| vec![]).collect();
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|cell| columns[place(cell.column)].push((i, &cell.value)));
    }
    let missing = MissingValues::new(&options.na_values);
    let columns = names.into_iter().zip(columns).enumerate().map(|(j, (name, values))| {
        let ids = options.transpose && j == 0;
        column(name, rows.len(), values, &missing, ids)
    });
    Table::new(columns.collect())
}

/// A column from its cells and their rows, which are in increasing order; `ids` are always text.
fn column(
    name: String,
    n: usize,
    mut values: Vec<(usize, &Value)>,
    missing: &MissingValues,
    ids: bool,
) -> Column {
    values
        .retain(|(_, value)| !matches!(value, Value::Text(text) if missing.contains(text.trim().as_bytes())));
    let dense = |number: fn(&Value) -> Option<f64>| -> Option<Vec<f64>> {
        let mut cells = vec![f64::NAN; n];
        values.iter().try_for_each(|(row, value)| number(value).map(|number| cells[*row] = number))?;
        Some(cells)
    };
    let numbers = || dense(|value| if let Value::Number(number) = value { Some(*number) } else { None });
    let dates = || dense(|value| if let Value::Date(days) = value { Some(*days) } else { None });
    if let Some(cells) = (!ids).then(numbers).flatten() {
        return Column::numeric(name, cells);
    }
    if let Some(cells) = (!ids).then(dates).flatten() {
        return Column { name, values: Values::Date(cells) };
    }
    let mut levels = Levels::default();
    let mut values = values.into_iter().peekable();
    for row in 0..n {
        let value = values.next_if(|(at, _)| *at == row);
        levels.push(value.map(|(_, value)| value.text()).as_deref());
    }
    levels.into_column(name)
}

#[cfg(test)]
pub(super) mod tests;
