//! Write tables.
//!
//! Numbers have the shortest form that reads back to the same bits; missing values are written as empty fields.

use super::atomic::{check_place, write_atomic};
use super::output::{Output, WriteOptions};
use crate::context::Context;
use crate::data::table::{Column, Values};
use crate::error::{Error, Result, shorten};
use csv::{QuoteStyle, WriterBuilder};
use flate2::{Compression, write::GzEncoder};
use ndarray::ArrayView2;
use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Rows written between two progress reports, which also check for interruption.
const REPORT_ROWS: usize = 1024;

/// Writes a table: the columns of `x` with their `names`, then the `extra` columns. The extension of the path selects the
/// format: .csv or .tsv, also with .gz or .zst, .parquet, or .npy (numbers only, without names).
pub fn write_table(
    path: &Path,
    names: &[String],
    x: ArrayView2<f64>,
    extra: &[Column],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<()> {
    let table = Output::new(names, x, extra, options).map_err(|e| e.in_file(path))?;
    with_progress(ctx, table.rows, |report| match Format::of(path)? {
        Format::Npy => {
            let numbers = numbers(extra).map_err(|e| e.in_file(path))?;
            write_atomic(path, |out| table.write_npy(&numbers, out, report))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => write_atomic(path, |out| super::parquet::write(&table, out, report)),
        Format::Text { delimiter, packing: Packing::None } => {
            write_atomic(path, |out| table.write_text(delimiter, out, report))
        }
        Format::Text { delimiter, packing: Packing::Gzip } => write_atomic(path, |out| {
            let mut packed = GzEncoder::new(out, Compression::default());
            table.write_text(delimiter, &mut packed, report)?;
            packed.finish().map(drop)
        }),
        #[cfg(feature = "zstd")]
        Format::Text { delimiter, packing: Packing::Zstd } => write_atomic(path, |out| {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            table.write_text(delimiter, &mut packed, report)?;
            packed.finish().map(drop)
        }),
    })
}

/// Writes with progress reports. An interruption reaches the writers as an I/O error; this restores the original error.
fn with_progress(
    ctx: &Context,
    rows: usize,
    write: impl FnOnce(&dyn Fn(usize) -> io::Result<()>) -> Result<()>,
) -> Result<()> {
    let stopped = Cell::new(None);
    let written = write(&|done| {
        ctx.step("writing rows", done, rows).map_err(|error| {
            stopped.set(Some(error));
            io::Error::other("stopped")
        })
    });
    stopped.take().map_or(written, Err)
}

/// Refuses a path to which [`write_table`] could not write these `extra` columns, before any computation. Writing may still
/// fail later: the disk may fill up.
pub fn check_table(path: &Path, extra: &[Column]) -> Result<()> {
    if let Format::Npy = Format::of(path)? {
        numbers(extra).map_err(|e| e.in_file(path))?;
    }
    check_place(path)
}

/// The format that the extension of a path selects.
enum Format {
    Text {
        delimiter: u8,
        packing: Packing,
    },
    Npy,
    #[cfg(feature = "parquet")]
    Parquet,
}

enum Packing {
    None,
    Gzip,
    #[cfg(feature = "zstd")]
    Zstd,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let lower = path.to_string_lossy().to_lowercase();
        let (stem, packing) = match lower.rsplit_once('.') {
            Some((stem, "gz")) => (stem, Packing::Gzip),
            #[cfg(feature = "zstd")]
            Some((stem, "zst")) => (stem, Packing::Zstd),
            _ => (lower.as_str(), Packing::None),
        };
        match (stem.rsplit_once('.').map(|(_, extension)| extension), packing) {
            (Some("csv"), packing) => Ok(Self::Text { delimiter: b',', packing }),
            (Some("tsv"), packing) => Ok(Self::Text { delimiter: b'\t', packing }),
            (Some("npy"), Packing::None) => Ok(Self::Npy),
            #[cfg(feature = "parquet")]
            (Some("parquet"), Packing::None) => Ok(Self::Parquet),
            _ => {
                let packed = if cfg!(feature = "zstd") { ".gz or .zst" } else { ".gz" };
                let others = if cfg!(feature = "parquet") { ", .parquet and .npy" } else { " and .npy" };
                let why = format!(
                    "cannot write files with this extension; \
                     supported are .csv and .tsv (each also with {packed}){others}"
                );
                Err(Error::parse(why).in_file(path))
            }
        }
    }
}

/// Writes a table as CSV, for standard output. A closed pipe gives [`Error::Io`] with
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe).
pub fn write_table_to(
    out: &mut dyn Write,
    names: &[String],
    x: ArrayView2<f64>,
    extra: &[Column],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<()> {
    let table = Output::new(names, x, extra, options)?;
    let mut buffer = BufWriter::new(out);
    with_progress(ctx, table.rows, |report| {
        let written = table.write_text(b',', &mut buffer, report).and_then(|()| buffer.flush());
        written.map_err(|e| Error::io(Path::new("output"), e))
    })
}

impl Output<'_> {
    fn write_text(
        &self,
        delimiter: u8,
        out: &mut dyn Write,
        report: &dyn Fn(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write_header(delimiter, out)?;
        let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(out);
        let mut text = String::new();
        for i in 0..self.rows {
            if i % REPORT_ROWS == 0 {
                report(i)?;
            }
            for value in self.x.row(i) {
                writer.write_field(format_number(*value, &mut text)).map_err(io_error)?;
            }
            for column in self.extra {
                match &column.values {
                    Values::Numeric(cells) => {
                        writer.write_field(format_number(cells[i], &mut text)).map_err(io_error)?
                    }
                    Values::Text { .. } | Values::Date(_) | Values::Unsupported { .. } => {
                        let cell = column.cell(i).unwrap_or_default();
                        writer.write_field(&*self.text(&cell)).map_err(io_error)?
                    }
                }
            }
            writer.write_record(None::<&[u8]>).map_err(io_error)?;
        }
        writer.flush()
    }

    fn write_header(&self, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
        // Readers guess the delimiter from the header, so quote names that contain one.
        let ambiguous = self.names.iter().any(|name| name.contains([';', '\t', ',']));
        let style = if ambiguous { QuoteStyle::Always } else { QuoteStyle::Necessary };
        let mut writer = WriterBuilder::new().delimiter(delimiter).quote_style(style).from_writer(out);
        writer.write_record(self.names.iter().map(|name| self.text(name).into_owned()))?;
        writer.flush()
    }

    fn write_npy(
        &self,
        extra: &[&[f64]],
        out: &mut dyn Write,
        report: &dyn Fn(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut header = format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
            self.rows,
            self.names.len()
        );
        // NumPy aligns the data to 64 bytes; ten bytes precede the header, and a newline ends it.
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(header.len() as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        for i in 0..self.rows {
            if i % REPORT_ROWS == 0 {
                report(i)?;
            }
            for value in self.x.row(i).iter().chain(extra.iter().map(|cells| &cells[i])) {
                out.write_all(&value.to_le_bytes())?;
            }
        }
        Ok(())
    }
}

/// The cells of numeric columns; text is an error.
fn numbers(columns: &[Column]) -> Result<Vec<&[f64]>> {
    let numbers = columns.iter().map(|column| match &column.values {
        Values::Numeric(cells) => Ok(cells.as_slice()),
        Values::Text { .. } | Values::Date(_) | Values::Unsupported { .. } => Err(Error::parse(format!(
            "column '{}' is text, but .npy holds numbers only; write .csv instead",
            shorten(&column.name)
        ))),
    });
    numbers.collect()
}

/// The shortest form of a number; empty for NaN (a missing value).
fn format_number(value: f64, text: &mut String) -> &str {
    text.clear();
    // Writing to a string cannot fail. Scientific notation where plain digits would have many zeros.
    let _ = match value.abs() {
        size if size.is_nan() => Ok(()),
        size if size == 0.0 || (1e-5..1e17).contains(&size) => write!(text, "{value}"),
        _ => write!(text, "{value:e}"),
    };
    text
}

/// The I/O error that the csv crate wraps: a closed pipe must stay recognizable.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests;
