//! Reading tables from files. The ending of a file's name says which format it has.
//!
//! This file does what all formats share: it finds the format, reads and unpacks the bytes, checks that
//! text is UTF-8, refuses infinities, and puts the file's name in front of every error. Each format has
//! a file of its own beside this one.

mod arff;
mod delimited;
mod levels;
mod number;
mod numpy;
mod parquet;
mod plain;
mod svmlight;
mod unpack;

use crate::context::{Context, need_room};
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a reader cannot know from the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the first line of a CSV or TSV file holds the column names (default: true).
    pub header: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { header: true }
    }
}

/// Reads a file. The second part is what the user should be told although it is no error.
pub fn read_table(path: &Path, options: &ReadOptions, ctx: &Context) -> Result<(Table, Vec<String>)> {
    let (format, bytes) = open(path, ctx)?;
    read(&path.to_string_lossy(), format, &bytes, options, ctx).map_err(|e| e.in_file(path))
}

/// The format of a file, and what is in it.
fn open(path: &Path, ctx: &Context) -> Result<(Format, Vec<u8>)> {
    let about = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    // Opening a folder fails on every system, but not with the same words.
    if about.is_dir() {
        return Err(Error::io(path, ErrorKind::IsADirectory.into()));
    }
    // The name first: a large file that cannot be used should not be read to find that out.
    let format = Format::of_name(&path.to_string_lossy()).map_err(|e| e.in_file(path))?;
    ctx.need_memory("the file", about.len() as f64, ADVICE).map_err(|e| e.in_file(path))?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    Ok((format, bytes))
}

/// Reads a table that is in memory already; `name` stands for the file's name.
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    ctx: &Context,
) -> Result<(Table, Vec<String>)> {
    Format::of_name(name)
        .and_then(|format| read(name, format, bytes, options, ctx))
        .map_err(|e| e.in_file(Path::new(name)))
}

/// What is wrong with a record, and with which of its cells, counted from 0, if it is one.
pub(crate) struct Flaw {
    pub column: Option<usize>,
    pub why: String,
}

/// Calls `visit` with the cells of every record of a CSV or TSV file of `what`, whose columns are known. The
/// first record may be a header: that is for `visit` to tell. What is in memory already is read from `bytes`.
pub(crate) fn read_records<const N: usize>(
    path: &Path,
    bytes: Option<&[u8]>,
    what: &str,
    names: [&str; N],
    visit: impl FnMut([&str; N]) -> std::result::Result<(), Flaw>,
) -> Result<()> {
    let ctx = Context::default();
    let (format, bytes) = match bytes {
        None => open(path, &ctx).map(|(format, bytes)| (format, Cow::Owned(bytes)))?,
        Some(bytes) => (Format::of_name(&path.to_string_lossy())?, Cow::Borrowed(bytes)),
    };
    records(format, &bytes, what, names, visit, &ctx).map_err(|e| e.in_file(path))
}

fn records<const N: usize>(
    format: Format,
    bytes: &[u8],
    what: &str,
    names: [&str; N],
    visit: impl FnMut([&str; N]) -> std::result::Result<(), Flaw>,
    ctx: &Context,
) -> Result<()> {
    let delimiter = match format.kind {
        Kind::Csv => None,
        Kind::Tsv => Some(b'\t'),
        _ => {
            let why = format!("{what} are read from .csv and .tsv files (each also with .gz)");
            return Err(Error::parse(why));
        }
    };
    let bytes = unpacked(format, bytes, unpack::limit(bytes.len()).min(ctx.memory_limit))?;
    delimited::records(text(&bytes)?, delimiter, names, visit)
}

/// The bytes themselves, or what is packed in them; some at least.
fn unpacked(format: Format, bytes: &[u8], room: u64) -> Result<Cow<'_, [u8]>> {
    let bytes = if format.gzip && !bytes.is_empty() {
        Cow::Owned(unpack::gunzip(bytes, room)?)
    } else {
        Cow::Borrowed(bytes)
    };
    if bytes.is_empty() { Err(empty()) } else { Ok(bytes) }
}

/// A format, and whether it is packed with gzip.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Format {
    kind: Kind,
    gzip: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Csv,
    Tsv,
    Arff,
    Svmlight,
    Npy,
    Npz,
    Parquet,
}

impl Format {
    fn of_name(name: &str) -> Result<Self> {
        let lower = name.to_lowercase();
        let (stem, gzip) = lower.strip_suffix(".gz").map_or((lower.as_str(), false), |stem| (stem, true));
        let kind = match stem.rsplit_once('.').map(|(_, ending)| ending) {
            Some("csv") => Kind::Csv,
            Some("tsv") => Kind::Tsv,
            Some("arff") => Kind::Arff,
            Some("svm" | "libsvm" | "svmlight") => Kind::Svmlight,
            Some("npy") if !gzip => Kind::Npy,
            Some("npz") if !gzip => Kind::Npz,
            Some("parquet") if !gzip => Kind::Parquet,
            _ => {
                return Err(Error::parse(
                    "the name's ending is not one that can be read; there are .csv, .tsv, .arff, .svm, \
                     .libsvm and .svmlight (each also with .gz), .parquet, .npy and .npz",
                ));
            }
        };
        Ok(Self { kind, gzip })
    }
}

fn read(
    name: &str,
    format: Format,
    bytes: &[u8],
    options: &ReadOptions,
    ctx: &Context,
) -> Result<(Table, Vec<String>)> {
    let stage = format!("reading {name}");
    ctx.step(&stage, 0, 1)?;
    // What a small file may claim is not what it may take.
    let room = unpack::limit(bytes.len()).min(ctx.memory_limit);
    let bytes = &*unpacked(format, bytes, room)?;
    let told = Tally::new(&stage, bytes.len(), room, ctx);
    let mut warnings = vec![];
    let table = match format.kind {
        Kind::Csv => delimited::read(name, text(bytes)?, None, options, Some(&told), &mut warnings)?,
        Kind::Tsv => delimited::read(name, text(bytes)?, Some(b'\t'), options, Some(&told), &mut warnings)?,
        Kind::Arff => arff::read(text(bytes)?, room, Some(&told))?,
        Kind::Svmlight => svmlight::read(text(bytes)?, room, Some(&told))?,
        Kind::Npy => numpy::read_npy(bytes, room)?,
        Kind::Npz => numpy::read_npz(bytes, room)?,
        Kind::Parquet => parquet::read(bytes, room, &mut warnings, ctx)?,
    };
    refuse_infinities(&table)?;
    Ok((table, warnings))
}

/// Bytes between two reports of how far the reading is.
const REPORT: usize = 1 << 20;

/// What to do about a file that does not fit.
const ADVICE: &str = "use fewer rows or columns, or raise --memory-limit";

/// How much of a text was read, by several threads, and how much memory that took.
struct Tally<'a> {
    stage: &'a str,
    done: Mutex<usize>,
    total: usize,
    held: AtomicU64,
    room: u64,
    ctx: &'a Context<'a>,
}

impl<'a> Tally<'a> {
    fn new(stage: &'a str, total: usize, room: u64, ctx: &'a Context<'a>) -> Self {
        // The text itself is there already.
        Self { stage, done: Mutex::new(0), total, held: AtomicU64::new(total as u64), room, ctx }
    }

    /// So many bytes more are held, of what was read so far.
    fn hold(&self, bytes: usize) -> Result<()> {
        let held = (self.held.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64) as f64;
        if held <= self.room as f64 {
            return Ok(());
        }
        let done = *self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let text = self.total as f64;
        let whole = text + (held - text) * text / done.max(1) as f64;
        need_room("the table in this file", whole.max(held), self.room, ADVICE)
    }

    /// So many bytes more.
    fn add(&self, bytes: usize) -> Result<()> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done = (*done + bytes).min(self.total);
        self.ctx.step(self.stage, *done, self.total)
    }

    /// The text is read once more.
    fn again(&self) -> Result<()> {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        self.add(0)
    }
}

/// Counts lines for a [`Tally`], if there is one.
struct Pace<'a> {
    told: Option<&'a Tally<'a>>,
    /// Bytes that it was not told of yet.
    since: usize,
}

impl<'a> Pace<'a> {
    fn new(told: Option<&'a Tally<'a>>) -> Self {
        Self { told, since: 0 }
    }

    /// A line was read.
    fn line(&mut self, line: &str) -> Result<()> {
        self.since += line.len() + 1;
        match self.told {
            Some(told) if self.since >= REPORT => told.add(std::mem::take(&mut self.since)),
            _ => Ok(()),
        }
    }
}

fn empty() -> Error {
    Error::parse("the file is empty")
}

/// The bytes as text, without the mark some programs put in front.
fn text(bytes: &[u8]) -> Result<&str> {
    if unpack::is_gzip(bytes) {
        return Err(Error::parse("the file is gzip, but its name does not end in .gz; rename it"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::parse("the text is UTF-16; save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err(Error::parse("the file is not text, as it has zero bytes; is its ending right?"));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + newlines(&bytes[..e.valid_up_to()]);
        Error::at_line(line, "the text is not UTF-8; save it as UTF-8")
    })?;
    if text.trim_ascii().is_empty() { Err(empty()) } else { Ok(text) }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// No method can use an infinity, and no file means one: it is a slip or an overflow further up.
fn refuse_infinities(table: &Table) -> Result<()> {
    let found = match table {
        Table::Columns(columns) => first_infinity(columns),
        Table::Sparse { names, x, target } => first_infinity(target.as_slice())
            .into_iter()
            .chain(first_sparse_infinity(names, x))
            .min_by_key(|(row, _, _)| *row),
    };
    match found {
        None => Ok(()),
        Some((row, name, value)) => Err(Error::NonFinite { row: row + 1, column: name.to_owned(), value }),
    }
}

fn first_infinity(columns: &[Column]) -> Option<(usize, &str, f64)> {
    columns
        .par_iter()
        .filter_map(|column| match &column.values {
            Values::Numeric(cells) => {
                cells.iter().position(|v| v.is_infinite()).map(|row| (row, column.name.as_str(), cells[row]))
            }
            Values::Text { .. } => None,
        })
        // Of several in one row the leftmost: `reduce_with` keeps the order of the columns.
        .reduce_with(|a, b| if b.0 < a.0 { b } else { a })
}

fn first_sparse_infinity<'a>(names: &'a [String], x: &SparseRows) -> Option<(usize, &'a str, f64)> {
    x.cells().find(|(_, _, v)| v.is_infinite()).map(|(row, column, v)| (row, names[column].as_str(), v))
}

#[cfg(test)]
mod tests;
