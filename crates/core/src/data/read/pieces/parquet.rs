//! Parquet files in pieces.

use super::place::{Place, Visit};
use crate::context::Context;
use crate::data::read::parquet::{Size, Stream};
use crate::error::Result;

/// Cells of a piece, and its rows at least and at most.
const CELLS: usize = 1 << 21;
const MIN_ROWS: usize = 256;
const MAX_ROWS: usize = 1 << 16;
/// Bytes per cell of a piece: its columns, which grow, and the features made of them.
const CELL_BYTES: f64 = 24.0;

/// Bytes of the complete table in memory, and those that reading a piece takes.
pub(super) fn bytes(file: &Place) -> Result<(f64, f64)> {
    let size = Size::of(&file.path)?;
    let rows = size.rows.min(piece_rows(size.columns) as u64);
    let cells = |rows: u64| rows as f64 * size.columns as f64;
    Ok((8.0 * cells(size.rows), CELL_BYTES * cells(rows) + size.page_bytes))
}

/// Rows of a piece of a table with so many columns.
fn piece_rows(columns: usize) -> usize {
    (CELLS / columns.max(1)).clamp(MIN_ROWS, MAX_ROWS)
}

/// Passes all pieces to `visit`.
pub(super) fn visit(
    file: &Place,
    columns: Option<&[&str]>,
    warnings: &mut Vec<String>,
    ctx: &Context,
    visit: &mut Visit,
) -> Result<()> {
    let mut stream = Stream::open(&file.path, columns, warnings)?;
    let (mut first, mut rows) = (0, MIN_ROWS);
    while let Some(table) = stream.next(rows)? {
        ctx.check()?;
        let table = table.with_missing(&file.options.na_values);
        visit(&table, first)?;
        first += table.n_rows();
        rows = piece_rows(table.names().len());
    }
    Ok(())
}
