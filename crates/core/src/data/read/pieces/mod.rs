//! Files read in pieces, for tables that do not fit into memory: Parquet, CSV and TSV.

#[cfg(feature = "parquet")]
mod columns;
mod delimited;
#[cfg(feature = "parquet")]
mod parquet;
mod place;
mod record_ends;
mod sample;

pub(crate) use self::place::Visit;
use self::place::{FileState, Place};
use self::sample::Draw;
pub use self::sample::SampledRows;
use super::format::{FileType, Format, Packing, ReadOptions, STDIN};
use crate::context::Context;
use crate::error::{Error, Result};
use std::path::Path;

/// A file that can be read in pieces.
#[derive(Debug)]
pub struct PieceFile {
    place: Place,
    /// Bytes of the complete table in memory, about.
    table_bytes: f64,
    /// Bytes that reading a piece takes.
    piece_bytes: f64,
}

impl PieceFile {
    /// Opens a file; `None` if its format cannot be read in pieces.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Option<Self>> {
        let name = path.to_string_lossy();
        if name == STDIN || !path.is_file() {
            return Ok(None);
        }
        let Ok(FileType { format, packing }) = FileType::of(&name, options.format) else { return Ok(None) };
        // A file whose format is given may be compressed, as its first bytes say.
        let is_plain = packing == Packing::None || packing == Packing::Detect && !is_packed(path)?;
        let state = FileState::of(path)?;
        let length = state.length;
        let (options, path) = (options.clone(), path.to_owned());
        let place = Place { path, options, format, state };
        let (table_bytes, piece_bytes) = match format {
            _ if !is_plain || length == 0 || place.options.transpose => return Ok(None),
            Format::Csv | Format::Tsv => {
                let piece = (length as f64).min(delimited::PIECE_BYTES as f64);
                let Some(table_bytes) = delimited::table_bytes(&place)? else { return Ok(None) };
                (table_bytes, 4.0 * piece)
            }
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::bytes(&place).map_err(|e| e.in_file(&place.path))?,
            _ => return Ok(None),
        };
        Ok(Some(Self { place, table_bytes, piece_bytes }))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// The names of the columns.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut names = vec![];
        let found = self.visit(None, &mut vec![], &Context::default(), &mut |table, _| {
            names = table.names().into_iter().map(str::to_owned).collect();
            Err(Error::Interrupted)
        });
        match found {
            Err(Error::Interrupted) | Ok(()) => Ok(names),
            Err(error) => Err(error),
        }
    }

    /// Bytes that reading and preparing the complete file takes: the file, the table and the data of a method.
    pub fn bytes_in_memory(&self) -> f64 {
        self.place.state.length as f64 + 2.0 * self.table_bytes
    }

    /// Bytes that reading a piece takes.
    pub fn piece_bytes(&self) -> f64 {
        self.piece_bytes
    }

    /// Reads a random sample of the rows in one pass: each row with the probability `fraction`, whatever the others are. The same seed
    /// gives the same rows, and a smaller fraction some of them.
    pub fn sample(&self, fraction: f64, ctx: &Context) -> Result<SampledRows> {
        let draw = Draw { fraction, seed: ctx.seed };
        match self.place.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => {
                let (mut sampling, mut warnings) = (columns::Sampling::default(), vec![]);
                self.visit(None, &mut warnings, ctx, &mut |piece, first| {
                    sampling.add(piece, first, &draw, ctx)
                })?;
                sampling.finish(warnings).map_err(|e| e.in_file(&self.place.path))
            }
            _ => self.unchanged(|| delimited::sample(&self.place, &draw, ctx)),
        }
    }

    /// Passes all pieces to `visit`, the first rows first. With `columns` only these columns are read, if the format allows that. A
    /// file that has changed since it was opened is an error.
    pub(crate) fn visit(
        &self,
        columns: Option<&[&str]>,
        warnings: &mut Vec<String>,
        ctx: &Context,
        visit: &mut Visit,
    ) -> Result<()> {
        self.unchanged(|| match self.place.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => parquet::visit(&self.place, columns, warnings, ctx, visit),
            _ => delimited::visit(&self.place, warnings, ctx, visit),
        })
    }

    /// Reads the file; a change of it, which may be the cause of an error, is one.
    fn unchanged<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let in_file = |e: Error| e.in_file(&self.place.path);
        self.place.check_unchanged().map_err(in_file)?;
        let result = read();
        if !matches!(result, Err(Error::Interrupted)) {
            self.place.check_unchanged().map_err(in_file)?;
        }
        result.map_err(in_file)
    }
}

/// Whether a file starts as gzip and zstd files do.
fn is_packed(path: &Path) -> Result<bool> {
    use std::io::Read;
    let mut start = vec![];
    let file = std::fs::File::open(path).map_err(|e| Error::io(path, e))?;
    file.take(4).read_to_end(&mut start).map_err(|e| Error::io(path, e))?;
    Ok(super::unpack::is_gzip(&start) || super::unpack::is_zstd(&start))
}

#[cfg(test)]
mod tests;
