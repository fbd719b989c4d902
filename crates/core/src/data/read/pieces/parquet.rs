//! Parquet files in pieces.

use super::place::{Place, Visit};
use crate::context::Context;
use crate::data::read::parquet::{Stream, rows_and_columns};
use crate::error::Result;

/// Cells of a piece, and its rows at least and at most.
const CELLS: usize = 1 << 21;
const MIN_ROWS: usize = 256;
const MAX_ROWS: usize = 1 << 16;

/// Bytes of the complete table in memory.
pub(super) fn table_bytes(file: &Place) -> Result<f64> {
    let (rows, columns) = rows_and_columns(&file.path)?;
    Ok(8.0 * rows as f64 * columns as f64)
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
        rows = (CELLS / table.names().len().max(1)).clamp(MIN_ROWS, MAX_ROWS);
    }
    Ok(())
}
