//! The general parser of numbers, for texts with quotes and tables that may exceed the memory limit.

use super::source::Source;
use crate::data::read::number::Spelling;
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Numeric columns; `None` for a column that is read as text.
pub(super) type Numbers = Vec<Option<Vec<f64>>>;

/// The numbers of a column in one part of the text; `cells` is `None` if one is text.
#[derive(Clone)]
struct Piece {
    cells: Option<Vec<f64>>,
    spelling: Spelling,
}

impl Source<'_> {
    /// The columns and the number of rows.
    pub(super) fn quoted_numbers(&self, parts: &[Range<usize>]) -> Result<(Numbers, usize)> {
        let read: Vec<(Vec<Piece>, usize)> = parts
            .par_iter()
            .map(|part| self.part_numbers(part))
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_>>()?;
        let rows = read.iter().map(|(_, rows)| rows).sum();
        Ok((join(read.into_iter().map(|(columns, _)| columns).collect(), self.n_columns), rows))
    }

    fn part_numbers(&self, part: &Range<usize>) -> Result<(Vec<Piece>, usize)> {
        let empty = Piece { cells: Some(vec![]), spelling: Spelling::default() };
        let mut columns = vec![empty; self.n_columns];
        let mut rows = 0;
        self.for_each_record(part, |record, at| {
            if rows == 0 {
                // Reserve space for the rows that the length of this one suggests, unless the complete file would exceed
                // the limit; never more cells than the part has bytes.
                let rows_in = |bytes: usize| bytes / at.end.max(1) + 1;
                let complete = size_of::<f64>() * self.n_columns * rows_in(self.text.len());
                if self.progress.is_none_or(|progress| complete as u64 <= progress.limit()) {
                    let all_cells = columns.iter_mut().filter_map(|column| column.cells.as_mut());
                    all_cells.for_each(|cells| cells.reserve(rows_in(part.len())));
                }
            }
            rows += 1;
            let mut allocated = 0;
            for (cell, column) in record.iter().zip(&mut columns) {
                let Some(cells) = &mut column.cells else { continue };
                match self.number(cell.trim_ascii()) {
                    Some(number) => {
                        cells.push(number.value);
                        column.spelling.note(number);
                        allocated += size_of::<f64>();
                    }
                    None => column.cells = None,
                }
            }
            allocated
        })?;
        Ok((columns, rows))
    }
}

/// Concatenates the parts of each column; text in one part makes the column text.
fn join(parts: Vec<Vec<Piece>>, n_columns: usize) -> Numbers {
    let mut columns: Vec<Vec<Piece>> = (0..n_columns).map(|_| Vec::with_capacity(parts.len())).collect();
    for part in parts {
        columns.iter_mut().zip(part).for_each(|(column, piece)| column.push(piece));
    }
    columns
        .into_par_iter()
        .map(|mut column| {
            let mut spelling = Spelling::default();
            column.iter().for_each(|piece| spelling.join(piece.spelling));
            if spelling.is_text() {
                return None;
            }
            if column.len() == 1 {
                return column.pop().and_then(|piece| piece.cells);
            }
            let column: Option<Vec<Vec<f64>>> = column.into_iter().map(|piece| piece.cells).collect();
            column.map(|pieces| pieces.concat())
        })
        .collect()
}
