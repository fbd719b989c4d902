//! Open a file, decompress it, and hand it to the reader of its format.

use super::delimited::CellError;
use super::format::{FileType, Format, Packing, ReadOptions, STDIN};
use super::progress::{MEMORY_ADVICE, Progress};
use super::text::{empty, text};
use super::{arff, delimited, numpy, svmlight, unpack};
use crate::context::Context;
use crate::data::table::Table;
use crate::error::{self, Error, Result};
use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Reads a table from a file, or from standard input if the path is `-`; also returns warnings.
pub fn read_table(path: &Path, options: &ReadOptions, ctx: &Context) -> Result<(Table, Vec<String>)> {
    let (file_type, contents) = open(path, options.format, ctx)?;
    let (name, size) = (shown(path), contents.len());
    read(&name.to_string_lossy(), file_type, contents, options, ctx)
        .map_err(|e| advise_on_size(e, size, ctx).in_file(name))
}

/// Reads a table from memory; `name` stands for the file name, and its extension selects the format.
pub fn read_bytes(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
    ctx: &Context,
) -> Result<(Table, Vec<String>)> {
    FileType::of(name, options.format)
        .and_then(|file_type| read(name, file_type, Contents::Bytes(Cow::Borrowed(bytes)), options, ctx))
        .map_err(|e| advise_on_size(e, bytes.len(), ctx).in_file(Path::new(name)))
}

/// Calls `visit` with the cells of every record of a CSV or TSV file of `what` with columns `names`. `visit`
/// decides whether the first record is a header. `bytes` replaces the contents of the file.
pub(crate) fn read_records<const N: usize>(
    path: &Path,
    bytes: Option<&[u8]>,
    what: &str,
    names: [&str; N],
    visit: impl FnMut([&str; N]) -> std::result::Result<(), CellError>,
    ctx: &Context,
) -> Result<()> {
    let (file_type, contents) = match bytes {
        None => open(path, None, ctx)?,
        Some(bytes) => (FileType::of(&path.to_string_lossy(), None)?, Contents::Bytes(Cow::Borrowed(bytes))),
    };
    let size = contents.len();
    let result = records(file_type, contents, what, names, visit, ctx);
    result.map_err(|e| advise_on_size(e, size, ctx).in_file(shown(path)))
}

fn records<const N: usize>(
    file_type: FileType,
    contents: Contents,
    what: &str,
    names: [&str; N],
    visit: impl FnMut([&str; N]) -> std::result::Result<(), CellError>,
    ctx: &Context,
) -> Result<()> {
    let (Contents::Bytes(bytes), true) = (contents, file_type.format.is_delimited()) else {
        let why = format!("{what} are read from .csv and .tsv files (each also with .gz or .zst)");
        return Err(Error::parse(why));
    };
    let bytes = unpacked(file_type, &bytes, unpack::limit(bytes.len()).min(ctx.memory_limit))?;
    delimited::records(text(&bytes)?, delimiter(file_type.format), names, visit)
}

/// The delimiter that a format determines.
fn delimiter(format: Format) -> Option<u8> {
    (format == Format::Tsv).then_some(b'\t')
}

/// The name of a file in messages.
fn shown(path: &Path) -> &Path {
    if path.as_os_str() == STDIN { Path::new("standard input") } else { path }
}

/// The contents of a file.
enum Contents<'a> {
    Bytes(Cow<'a, [u8]>),
    /// A Parquet file, which its reader takes over: a copy would need as much memory as the table.
    Parquet(Vec<u8>),
}

impl Contents<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Parquet(bytes) => bytes.len(),
        }
    }
}

/// The type and the contents of a file.
fn open(path: &Path, format: Option<Format>, ctx: &Context) -> Result<(FileType, Contents<'static>)> {
    // Check the name first: do not read a large file that cannot be used.
    let file_type = || FileType::of(&path.to_string_lossy(), format).map_err(|e| e.in_file(path));
    if path.as_os_str() == STDIN {
        return Ok((file_type()?, Contents::Bytes(Cow::Owned(standard_input(ctx)?))));
    }
    let about = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    // Opening a directory fails on every system, but with different messages.
    if about.is_dir() {
        return Err(Error::io(path, ErrorKind::IsADirectory.into()));
    }
    let file_type = file_type()?;
    ctx.need_memory("the file", about.len() as f64, MEMORY_ADVICE).map_err(|e| e.in_file(path))?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let is_parquet = file_type == FileType { format: Format::Parquet, packing: Packing::None };
    let contents = if is_parquet { Contents::Parquet(bytes) } else { Contents::Bytes(Cow::Owned(bytes)) };
    Ok((file_type, contents))
}

fn standard_input(ctx: &Context) -> Result<Vec<u8>> {
    let name = shown(Path::new(STDIN));
    let mut bytes = vec![];
    let most = ctx.memory_limit.saturating_add(1);
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|e| Error::io(name, e))?;
    ctx.need_memory("the input", bytes.len() as f64, MEMORY_ADVICE).map_err(|e| e.in_file(name))?;
    Ok(bytes)
}

fn read(
    name: &str,
    file_type: FileType,
    contents: Contents,
    options: &ReadOptions,
    ctx: &Context,
) -> Result<(Table, Vec<String>)> {
    let stage = format!("reading {name}");
    ctx.step(&stage, 0, 1)?;
    options.check(file_type.format)?;
    // Limits memory by the size of the file, whatever its header claims.
    let limit = unpack::limit(contents.len()).min(ctx.memory_limit);
    let mut warnings = vec![];
    let table = match contents {
        Contents::Bytes(bytes) => {
            let bytes = &*unpacked(file_type, &bytes, limit)?;
            let progress = Progress::new(&stage, bytes.len(), limit, ctx);
            read_format(name, file_type.format, bytes, options, &progress, &mut warnings)?
        }
        Contents::Parquet(bytes) if bytes.is_empty() => return Err(empty()),
        #[cfg(feature = "parquet")]
        Contents::Parquet(bytes) => {
            super::parquet::read(super::parquet::in_memory(bytes), limit, &mut warnings, ctx)?
        }
        #[cfg(not(feature = "parquet"))]
        Contents::Parquet(_) => return Err(built_without("parquet")),
    };
    let table = if file_type.format.is_delimited() { table } else { table.with_missing(&options.na_values) };
    refuse_sparse_infinities(&table)?;
    Ok((table, warnings))
}

fn read_format(
    name: &str,
    format: Format,
    bytes: &[u8],
    options: &ReadOptions,
    progress: &Progress,
    warnings: &mut Vec<String>,
) -> Result<Table> {
    let limit = progress.limit();
    Ok(match format {
        Format::Csv | Format::Tsv => {
            let delimiter = options.separator.or(delimiter(format));
            delimited::read(name, text(bytes)?, delimiter, options, Some(progress), warnings)?
        }
        Format::Arff => arff::read(text(bytes)?, limit, Some(progress))?,
        Format::Svmlight => svmlight::read(text(bytes)?, limit, Some(progress))?,
        Format::Npy => numpy::read_npy(bytes, limit)?,
        Format::Npz => numpy::read_npz(bytes, limit)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            super::parquet::read(super::parquet::in_memory(bytes.to_vec()), limit, warnings, progress.ctx)?
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => return Err(built_without("parquet")),
        #[cfg(feature = "arrow")]
        Format::Arrow => super::arrow::read(bytes, limit, warnings, progress.ctx)?,
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => return Err(built_without("arrow")),
        #[cfg(feature = "xlsx")]
        Format::Xlsx => super::xlsx::read(bytes, limit, options, warnings, progress.ctx)?,
        #[cfg(not(feature = "xlsx"))]
        Format::Xlsx => return Err(built_without("xlsx")),
    })
}

#[cfg(not(all(feature = "parquet", feature = "arrow", feature = "xlsx")))]
fn built_without(feature: &str) -> Error {
    Error::parse(format!("kernsift was built without the Cargo feature `{feature}`"))
}

/// The bytes, decompressed if needed; an empty file is an error.
fn unpacked(file_type: FileType, bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>> {
    if bytes.is_empty() {
        return Err(empty());
    }
    let bytes = unpack::unpack(file_type.packing, bytes, limit)?.map_or(Cow::Borrowed(bytes), Cow::Owned);
    if bytes.is_empty() { Err(empty()) } else { Ok(bytes) }
}

/// The error with advice that helps if it is the size of the file that limits the memory: not a higher memory limit.
fn advise_on_size(error: Error, size: usize, ctx: &Context) -> Error {
    let most = unpack::limit(size);
    match error {
        Error::Memory { what, needed, limit, .. } if limit == most && most <= ctx.memory_limit => {
            Error::parse(format!(
                "{what} needs about {} of memory, but a file of this size may take {}; if you trust the file, \
                 decompress it or convert it to .csv or .npy",
                error::bytes(needed),
                error::bytes(most)
            ))
        }
        Error::Parse { place, why } if most <= ctx.memory_limit => {
            Error::Parse { place, why: why.replace(unpack::OR_RAISE, "") }
        }
        other => other,
    }
}

/// No method accepts infinite values, and the features of a sparse table are used as they are. Those of a dense table count as
/// missing when it is prepared.
fn refuse_sparse_infinities(table: &Table) -> Result<()> {
    let Table::Sparse { names, x, .. } = table else { return Ok(()) };
    match x.cells().find(|(_, _, v)| v.is_infinite()) {
        None => Ok(()),
        Some((row, column, value)) => {
            Err(Error::NonFinite { row: row + 1, column: names[column].clone(), value })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::need_room;

    #[test]
    fn advice_is_on_the_limit_that_applies() {
        let most = unpack::limit(1000);
        let advised = |memory_limit: u64, error: Error| {
            advise_on_size(error, 1000, &Context { memory_limit, ..Context::default() }).to_string()
        };
        let error = |limit| need_room("a table", 5e9, limit, MEMORY_ADVICE).unwrap_err();
        assert!(advised(4096, error(4096)).ends_with("raise the memory limit"));
        let by_size = advised(most, error(most));
        assert!(by_size.contains("a file of this size may take 256.0 MiB; if you trust"), "{by_size}");
        let unpacked = |limit| Error::parse(format!("decompresses to more than {limit}{}", unpack::OR_RAISE));
        assert!(advised(4096, unpacked(4096)).ends_with("or raise the memory limit"));
        assert!(!advised(most, unpacked(most)).contains("raise"));
    }
}
