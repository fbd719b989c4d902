//! Records with a known number of cells.

use super::detect::guess_delimiter;
use super::source::Source;
use crate::error::{Error, Result};

/// An error in a record, and the index of the cell that causes it, if it is a single one.
pub(crate) struct CellError {
    pub column: Option<usize>,
    pub why: String,
}

/// Calls `visit` with the trimmed cells of every record of a text with columns `names`. `visit` decides whether the
/// first record is a header.
pub(in crate::data::read) fn records<const N: usize>(
    text: &str,
    delimiter: Option<u8>,
    names: [&str; N],
    mut visit: impl FnMut([&str; N]) -> std::result::Result<(), CellError>,
) -> Result<()> {
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(text.as_bytes(), None));
    let source = Source { n_columns: N, ..Source::new(text, delimiter) };
    let (first, _) = source.first_record(0)?;
    if first.len() != N {
        let names = names.join(", ");
        let why = format!(
            "expected {N} columns ({names}), found {}; keep these, with a comma, semicolon, tab or | between \
             them",
            first.len()
        );
        return Err(Error::at_line(source.line(0), why));
    }
    let mut error: Option<(usize, CellError)> = None;
    let read = source.for_each_record(&(0..text.len()), |record, at| {
        if error.is_none() {
            let cells: [_; N] = std::array::from_fn(|j| String::from_utf8_lossy(record[j].trim_ascii()));
            error = visit(cells.each_ref().map(|cell| &**cell)).err().map(|error| (at.start, error));
        }
        0
    });
    match error {
        Some((at, CellError { column, why })) => {
            let column = column.map(|j| format!(", column {}", j + 1)).unwrap_or_default();
            Err(Error::Parse { place: format!("line {}{column}: ", source.line(at)), why })
        }
        None => read,
    }
}
