//! A delimited text as a table.

use super::detect::{after_comments, guess_delimiter};
use super::quoted::Numbers;
use super::source::Source;
use crate::data::read::format::ReadOptions;
use crate::data::read::levels::Levels;
use crate::data::read::names::unique_names;
use crate::data::read::number::{self, MissingValues};
use crate::data::read::progress::Progress;
use crate::data::table::{Column, Table, check_names};
use crate::data::types::Decimal;
use crate::error::{Error, Result};
use csv::ByteRecord;
use rayon::prelude::*;
use std::ops::Range;

/// Splitting a file into parts smaller than this costs more than it saves.
const MIN_PART_BYTES: usize = 1 << 20;

/// Reads a table; without `delimiter` it is guessed from the first lines.
pub(in crate::data::read) fn read(
    name: &str,
    text: &str,
    delimiter: Option<u8>,
    options: &ReadOptions,
    progress: Option<&Progress>,
    warnings: &mut Vec<String>,
) -> Result<Table> {
    let n_parts = 4 * rayon::current_num_threads();
    let part = (text.len() / n_parts).max(MIN_PART_BYTES);
    read_in_parts(name, text, delimiter, options, progress, warnings, part)
}

fn read_in_parts(
    name: &str,
    text: &str,
    delimiter: Option<u8>,
    options: &ReadOptions,
    progress: Option<&Progress>,
    warnings: &mut Vec<String>,
    part: usize,
) -> Result<Table> {
    let (delimiter, start) = delimiter_and_start(text.as_bytes(), delimiter, options);
    let mut source = Source {
        progress,
        comment: options.comment,
        missing: MissingValues::new(&options.na_values),
        decimal_comma: options.decimal == Some(Decimal::Comma),
        ..Source::new(text, delimiter)
    };
    let (first, after_first) = source.first_record(start)?;
    if first.is_empty() {
        return Err(Error::parse("the file has comments but no rows"));
    }
    let has_unnamed =
        options.header && !options.transpose && source.has_unnamed_column(&first, after_first)?;
    source.n_columns = first.len() + usize::from(has_unnamed);
    let (mut names, data) = if options.header {
        let is_number = |cell: &[u8]| number::parse(cell.trim_ascii()).is_some();
        // The header of a transposed table may hold numbers: the ids of samples.
        if !options.transpose && first.iter().all(is_number) {
            warnings.push(format!(
                "the first line of {name} contains only numbers; if it holds data, read the file without a header"
            ));
        }
        (names(&first), after_first..text.len())
    } else {
        ((1..=first.len()).map(|n| format!("c{n}")).collect(), start..text.len())
    };
    if first.len() == 1 && first[0].trim_ascii().iter().any(|byte| b" :".contains(byte)) {
        warnings.push(format!(
            "the first line of {name} has a single column; separate columns by commas, semicolons, tabs or |"
        ));
    }
    let parts = if source.quoted { vec![data] } else { split(source.text, data, part) };
    if !options.transpose {
        unique_names(&mut names, warnings);
        names.extend(has_unnamed.then(String::new));
        let mut columns = source.columns(names, &parts)?;
        if has_unnamed {
            let warning = assign_names(&mut columns);
            warnings.extend(warning.map(|warning| format!("{name}: {warning}")));
        }
        return Table::new(columns);
    }
    // These are ids of samples.
    check_names(names.iter().map(String::as_str))?;
    let mut columns = source.transposed(&names, &parts)?;
    let mut names: Vec<String> = columns.iter_mut().map(|column| std::mem::take(&mut column.name)).collect();
    unique_names(&mut names, warnings);
    columns.iter_mut().zip(names).for_each(|(column, name)| column.name = name);
    Table::new(columns)
}

/// The delimiter of a text, which is guessed if it is not given, and where its first record starts.
pub(in crate::data::read) fn delimiter_and_start(
    text: &[u8],
    delimiter: Option<u8>,
    options: &ReadOptions,
) -> (u8, usize) {
    let start = if options.comment.is_none() { after_comments(text, delimiter) } else { 0 };
    let guessed = || guess_delimiter(&text[start..], options.comment);
    (delimiter.unwrap_or_else(guessed), start)
}

/// Where the header of a text ends.
pub(in crate::data::read) fn header_end(text: &str, delimiter: u8, options: &ReadOptions) -> Result<usize> {
    let (delimiter, start) = delimiter_and_start(text.as_bytes(), Some(delimiter), options);
    let source = Source { comment: options.comment, ..Source::new(text, delimiter) };
    Ok(source.first_record(start)?.1)
}

fn names(header: &ByteRecord) -> Vec<String> {
    let name = |(position, cell): (usize, &[u8])| match cell.trim_ascii() {
        b"" => format!("unnamed_{}", position + 1),
        name => String::from_utf8_lossy(name).into_owned(),
    };
    header.iter().enumerate().map(name).collect()
}

/// Names the columns of a table whose last column has no name. If it is empty, all rows end with a separator, and it is dropped;
/// otherwise the first column is the one without a name in the header, and a warning says so.
fn assign_names(columns: &mut Vec<Column>) -> Option<String> {
    let last = columns.last()?;
    if (0..last.len()).all(|row| last.is_missing(row)) {
        columns.pop();
        return None;
    }
    for at in (1..columns.len()).rev() {
        columns[at].name = std::mem::take(&mut columns[at - 1].name);
    }
    // A name of the header may be the same.
    let free = |name: &String| columns[1..].iter().all(|column| column.name != *name);
    let name = (1..).map(|n| format!("unnamed_{n}")).find(free)?;
    columns[0].name = name.clone();
    Some(format!("rows have one cell more than the header has names; the first column is called '{name}'"))
}

/// Splits a text without quotes after line ends, into parts of at least `size` bytes except for the last.
fn split(text: &[u8], data: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = data.start;
    while data.end - start > size {
        let Some(line_end) = text[start + size..data.end].iter().position(|&byte| byte == b'\n') else {
            break;
        };
        let end = start + size + line_end + 1;
        parts.push(start..end);
        start = end;
    }
    parts.push(start..data.end);
    parts
}

impl Source<'_> {
    /// Whether the first two rows have one cell more than the header: R writes row names so, and some programs end all rows but
    /// the header with a separator.
    fn has_unnamed_column(&self, header: &ByteRecord, start: usize) -> Result<bool> {
        let (row, end) = self.first_record(start)?;
        let (second, _) = self.first_record(end)?;
        let is_longer = |row: &ByteRecord| row.len() == header.len() + 1;
        Ok(header.len() > 1 && is_longer(&row) && (is_longer(&second) || second.len() <= 1))
    }

    fn columns(&self, names: Vec<String>, parts: &[Range<usize>]) -> Result<Vec<Column>> {
        let general =
            self.quoted || self.comment.is_some() || self.missing.has_numbers() || self.decimal_comma;
        let unquoted = if general { None } else { self.unquoted_numbers(parts)? };
        let (numbers, rows): (Numbers, usize) = match unquoted {
            Some(read) => read,
            None => self.quoted_numbers(parts)?,
        };
        if rows == 0 {
            return Err(Error::parse("the file has a header but no rows"));
        }
        let with_text: Vec<usize> = (0..self.n_columns).filter(|&j| numbers[j].is_none()).collect();
        let mut texts = self.texts(&with_text, parts)?.into_iter();
        Ok(names
            .into_iter()
            .zip(numbers)
            .map(|(name, cells)| match cells {
                Some(cells) => Column::numeric(name, cells),
                None => texts.next().unwrap_or_default().into_column(name),
            })
            .collect())
    }

    /// Second pass: the columns that contain text.
    fn texts(&self, columns: &[usize], parts: &[Range<usize>]) -> Result<Vec<Levels>> {
        if columns.is_empty() {
            return Ok(vec![]);
        }
        self.progress.map_or(Ok(()), Progress::restart)?;
        let read_part = |part| -> Result<Vec<Levels>> {
            let mut texts: Vec<Levels> = columns.iter().map(|_| Levels::default()).collect();
            self.for_each_record(part, |record, _| {
                let cells = columns.iter().map(|&j| record[j].trim_ascii());
                let push = |(levels, cell): (&mut Levels, &[u8])| match self.missing.contains(cell) {
                    true => levels.push(None),
                    false => levels.push(Some(&String::from_utf8_lossy(cell))),
                };
                texts.iter_mut().zip(cells).map(push).sum()
            })?;
            Ok(texts)
        };
        let read: Vec<Vec<Levels>> = parts.par_iter().map(read_part).collect::<Result<_>>()?;
        let mut complete: Vec<Levels> = columns.iter().map(|_| Levels::default()).collect();
        for part in read {
            complete.iter_mut().zip(part).for_each(|(levels, more)| levels.append(more));
        }
        Ok(complete)
    }
}

#[cfg(test)]
mod tests;
