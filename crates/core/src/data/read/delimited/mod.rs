//! CSV and TSV files.
//!
//! The first pass parses every cell as a number; a second pass collects the cells of the columns that contain text, or
//! integers whose spelling a number would lose. In a
//! file without quote characters every line end ends a record, so it can be split there and parsed in parallel by a faster
//! parser (`unquoted`) with the same result as the general one (`quoted`).
//!
//! Spaces around cells are removed, quoted or not: `1, 2` is read as `1,2`.

mod detect;
mod quoted;
mod records;
mod source;
mod table;
mod transposed;
mod unquoted;

pub(crate) use records::CellError;
pub(super) use records::records;
pub(super) use table::{delimiter_and_start, header_end, read};
