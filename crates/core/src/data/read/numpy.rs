//! NumPy files: one array in `.npy`, several named ones in a zip archive, `.npz`.
//!
//! Pickled objects are refused: unpickling runs code from the file. Integers beyond 2^53 are rounded to the nearest f64.
//!
//! The crate `ndarray-npy` (0.10) is not used: it allocates the size that a header claims before it reads the data, so that
//! an 89-byte file that claims 4,000,000,000 x 100 numbers aborts the process ("memory allocation of 3200000000000 bytes
//! failed"). It also reads only the exact type that is asked for (no `<f4` as f64), and would add 18 crates, among them a second
//! version of `zip`.

use super::progress::MEMORY_ADVICE;
use super::unpack::read_limited;
use crate::context::need_room;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result, shorten};
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Names of the features in an .npz file; without them the only array with two dimensions is taken.
const FEATURES: [&str; 3] = ["X", "x", "data"];

/// Names of the target in an .npz file.
const TARGETS: [&str; 3] = ["y", "target", "label"];

/// Bytes read to find the shape of an array; headers are far shorter in practice.
const HEADER_BYTES: u64 = 1 << 17;

/// Reads one array; the columns are named x1, x2, ...
pub(super) fn read_npy(bytes: &[u8], limit: u64) -> Result<Table> {
    Table::new(Array::parse(bytes)?.columns(bytes, limit)?)
}

/// Reads the features and, if present, the target, which becomes the last column.
pub(super) fn read_npz(bytes: &[u8], limit: u64) -> Result<Table> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(zip_error)?;
    let names: Vec<String> = archive
        .file_names()
        .filter_map(|name| name.ok().and_then(|name| name.strip_suffix(".npy").map(str::to_owned)))
        .collect();
    if ["indptr", "indices", "shape"].iter().all(|part| names.iter().any(|name| name == part)) {
        return Err(Error::parse(
            "this is a sparse matrix of SciPy, which is not supported; save it as svmlight (.svm)",
        ));
    }
    let find = |wanted: &[&str]| wanted.iter().find(|w| names.iter().any(|n| n == *w)).map(|w| w.to_string());
    let target = find(&TARGETS);
    let features = match find(&FEATURES) {
        Some(name) => name,
        None => only_table(&mut archive, &names)?,
    };
    let mut columns = read_member(&mut archive, &features, limit)?;
    if let Some(name) = target.filter(|name| *name != features) {
        let mut read = read_member(&mut archive, &name, limit)?;
        let Some(mut column) = read.pop().filter(|_| read.is_empty()) else {
            return Err(Error::parse(format!("array '{name}': a target must have one column")));
        };
        column.name = "target".into();
        columns.push(column);
    }
    Table::new(columns)
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// The only array with two dimensions.
fn only_table(archive: &mut Archive, names: &[String]) -> Result<String> {
    let mut tables = vec![];
    for name in names {
        let mut start = vec![];
        let member = archive.by_name(&format!("{name}.npy")).map_err(zip_error)?;
        member.take(HEADER_BYTES).read_to_end(&mut start).map_err(zip_error)?;
        if Array::parse(&start).is_ok_and(|array| array.shape.len() == 2) {
            tables.push(name);
        }
    }
    match tables[..] {
        [name] => Ok(name.clone()),
        _ => {
            let names: Vec<String> = names.iter().take(8).map(|name| shorten(name)).collect();
            Err(Error::parse(format!(
                "there is no array X, x or data, and not exactly one with two dimensions; there are: {}",
                if names.is_empty() { "none".into() } else { names.join(", ") }
            )))
        }
    }
}

fn read_member(archive: &mut Archive, name: &str, limit: u64) -> Result<Vec<Column>> {
    let mut member = archive.by_name(&format!("{name}.npy")).map_err(zip_error)?;
    let mut bytes = vec![];
    read_limited(&mut member, limit, &mut bytes).map_err(zip_error)?;
    let in_array = |e: Error| Error::parse(format!("array '{name}': {e}"));
    Array::parse(&bytes).and_then(|array| array.columns(&bytes, limit)).map_err(in_array)
}

fn zip_error(error: impl std::fmt::Display) -> Error {
    Error::parse(format!("not a complete .npz file ({error}); copy or save it again"))
}

/// The header of an array.
struct Array {
    kind: Number,
    size: usize,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
    /// Offset of the data.
    start: usize,
}

#[derive(Clone, Copy)]
enum Number {
    Float,
    Signed,
    Unsigned,
}

impl Array {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let (header, start) = header(bytes)?;
        let entry = |key: &str| {
            entry(header, key).ok_or_else(|| Error::parse(format!("the array's header has no '{key}'")))
        };
        let (kind, size, big_endian) = number_type(entry("descr")?)?;
        let fortran_order = entry("fortran_order")?.starts_with("True");
        let shape =
            shape(entry("shape")?).ok_or_else(|| Error::parse("the array's header has no valid shape"))?;
        Ok(Self { kind, size, big_endian, fortran_order, shape, start })
    }

    /// The columns; first checks the claimed shape against the number of bytes.
    fn columns(&self, bytes: &[u8], limit: u64) -> Result<Vec<Column>> {
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                let n = self.shape.len();
                return Err(Error::parse(format!("the array has {n} dimensions; a table needs one or two")));
            }
        };
        if rows == 0 || columns == 0 {
            return Err(Error::parse(format!("the array is empty ({rows} x {columns})")));
        }
        let numbers = bytes.get(self.start..).unwrap_or_default();
        let claimed = rows.checked_mul(columns).and_then(|n| n.checked_mul(self.size));
        if claimed.is_none_or(|claimed| claimed > numbers.len()) {
            return Err(Error::parse(format!(
                "the header claims {rows} x {columns} numbers of {} bytes, but only {} bytes follow; \
                 the file is truncated or damaged",
                self.size,
                numbers.len()
            )));
        }
        let needed = rows as f64 * columns as f64 * 8.0;
        need_room(format!("a table of {rows} rows and {columns} columns"), needed, limit, MEMORY_ADVICE)?;
        let at = |i: usize, j: usize| if self.fortran_order { j * rows + i } else { i * columns + j };
        let cell = |place: usize| self.number(&numbers[place * self.size..(place + 1) * self.size]);
        Ok((0..columns)
            .map(|j| Column::numeric(format!("x{}", j + 1), (0..rows).map(|i| cell(at(i, j))).collect()))
            .collect())
    }

    fn number(&self, bytes: &[u8]) -> f64 {
        // Widened to eight bytes, little endian.
        let mut wide = [0u8; 8];
        for (place, &byte) in bytes.iter().enumerate() {
            wide[if self.big_endian { self.size - 1 - place } else { place }] = byte;
        }
        let bits = u64::from_le_bytes(wide);
        match (self.kind, self.size) {
            (Number::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (Number::Float, _) => f64::from_bits(bits),
            (Number::Unsigned, _) => bits as f64,
            (Number::Signed, size) => {
                let unused = 64 - 8 * size as u32;
                (((bits << unused) as i64) >> unused) as f64
            }
        }
    }
}

/// The text of the header, and the offset of the data.
fn header(bytes: &[u8]) -> Result<(&str, usize)> {
    let truncated = || Error::parse("the array is truncated within its header");
    let Some(rest) = bytes.strip_prefix(b"\x93NUMPY") else {
        return Err(Error::parse("not a NumPy array: it does not start with \\x93NUMPY"));
    };
    let (start, length) = match rest {
        [1, _, a, b, ..] => (10, u16::from_le_bytes([*a, *b]) as usize),
        [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [version @ (0 | 4..), ..] => {
            return Err(Error::parse(format!("version {version} of the NumPy format is not supported")));
        }
        _ => return Err(truncated()),
    };
    let end = start + length;
    let text = bytes.get(start..end).ok_or_else(truncated)?;
    let text = std::str::from_utf8(text).map_err(|_| Error::parse("the array's header is not text"))?;
    Ok((text, end))
}

/// The text after `'key':` in a dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = |quote: char| header.split_once(&format!("{quote}{key}{quote}"));
    let (_, rest) = after('\'').or_else(|| after('"'))?;
    rest.trim_start().strip_prefix(':').map(str::trim_start)
}

fn number_type(descr: &str) -> Result<(Number, usize, bool)> {
    let name = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split(['\'', '"']).next());
    let known = name.and_then(|name| {
        let (order, kind) = name.split_at_checked(1)?;
        let big_endian = match order {
            "<" | "|" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return None,
        };
        let (kind, size) = match kind {
            "f4" => (Number::Float, 4),
            "f8" => (Number::Float, 8),
            "i1" => (Number::Signed, 1),
            "i2" => (Number::Signed, 2),
            "i4" => (Number::Signed, 4),
            "i8" => (Number::Signed, 8),
            "u1" | "b1" => (Number::Unsigned, 1),
            "u2" => (Number::Unsigned, 2),
            "u4" => (Number::Unsigned, 4),
            "u8" => (Number::Unsigned, 8),
            _ => return None,
        };
        Some((kind, size, big_endian))
    });
    known.ok_or_else(|| {
        let what = match name {
            Some(name) => format!("values of the type '{}'", shorten(name)),
            None => "records with fields".into(),
        };
        Error::parse(format!("the array holds {what}, not numbers; save it with .astype(float)"))
    })
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let inside = inside.trim().strip_suffix(',').unwrap_or(inside.trim());
    if inside.is_empty() {
        return Some(vec![]);
    }
    inside.split(',').map(|size| size.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests;
