//! The fast parser of numbers, for texts without quotes.
//!
//! Without quotes every delimiter separates cells and every line end separates records. The rows of each part can
//! therefore be counted before they are parsed, and all parts write into the same columns in parallel without copies.

use super::quoted::Numbers;
use super::source::{Source, is_line_end, leading_line_ends};
use crate::data::read::number::{self, Spelling};
use crate::data::read::progress::REPORT_BYTES;
use crate::error::Result;
use crate::linalg::zeros;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes whose line ends are counted in a `u8`: at most every second byte is one that counts.
const CHUNK: usize = 256;

/// The cells of a column in one part of the text.
struct Cells<'a> {
    cells: &'a mut [f64],
    are_numbers: bool,
    spelling: Spelling,
}

impl Cells<'_> {
    /// Ignores rows beyond the counted ones: they belong to records with too few cells, which are refused afterwards.
    fn set(&mut self, row: usize, value: f64) {
        if let Some(cell) = self.cells.get_mut(row) {
            *cell = value;
        }
    }
}

impl Source<'_> {
    /// The columns and the number of rows. Parts start where records start. `None` if the table would exceed the memory
    /// limit with numbers in all columns: some may be text.
    pub(super) fn unquoted_numbers(&self, parts: &[Range<usize>]) -> Result<Option<(Numbers, usize)>> {
        let capacities: Vec<usize> =
            parts.par_iter().map(|part| self.max_rows(&self.text[part.clone()])).collect();
        let rows: usize = capacities.iter().sum();
        let bytes = (size_of::<f64>() * self.n_columns) as u64 * rows as u64;
        if self.progress.is_some_and(|progress| bytes > progress.limit()) {
            return Ok(None);
        }
        let mut columns: Vec<Vec<f64>> = (0..self.n_columns).map(|_| zeros(rows)).collect();
        let mut part_columns: Vec<Vec<Cells>> =
            parts.iter().map(|_| Vec::with_capacity(self.n_columns)).collect();
        for column in &mut columns {
            let mut rest = column.as_mut_slice();
            for (part, &rows) in part_columns.iter_mut().zip(&capacities) {
                let (cells, after) = rest.split_at_mut(rows);
                part.push(Cells { cells, are_numbers: true, spelling: Spelling::default() });
                rest = after;
            }
        }
        // Collected before errors are looked at, so that the reported one is the first in the text.
        let read: Vec<Result<usize>> = parts
            .par_iter()
            .zip(&mut part_columns)
            .map(|(part, columns)| self.parse_part(part, columns))
            .collect();
        let filled: Vec<usize> = read.into_iter().collect::<Result<_>>()?;
        let are_numbers = |j: usize| {
            let mut spelling = Spelling::default();
            part_columns.iter().for_each(|part| spelling.join(part[j].spelling));
            !spelling.is_text() && part_columns.iter().all(|part| part[j].are_numbers)
        };
        let are_numbers: Vec<bool> = (0..self.n_columns).map(are_numbers).collect();
        let columns = columns
            .into_par_iter()
            .zip(are_numbers)
            .map(|(column, are_numbers)| are_numbers.then(|| compact(column, &capacities, &filled)))
            .collect();
        Ok(Some((columns, filled.iter().sum())))
    }

    /// An upper bound of the rows of a part. Its cells never outnumber the bytes, however many empty lines there are.
    fn max_rows(&self, part: &[u8]) -> usize {
        let next = part.get(1..).unwrap_or_default();
        // Counts fit a byte, so the compiler vectorizes the sum.
        let in_chunk = |(chunk, next): (&[u8], &[u8])| {
            let ends = |(&a, &b): (&u8, &u8)| u8::from(!is_line_end(a) & is_line_end(b));
            usize::from(chunk.iter().zip(next).map(ends).sum::<u8>())
        };
        let ended: usize = part.chunks(CHUNK).zip(next.chunks(CHUNK)).map(in_chunk).sum();
        let unended = usize::from(part.last().is_some_and(|&byte| !is_line_end(byte)));
        (ended + unended).min((part.len() + 1) / self.n_columns.max(1))
    }

    /// Parses a part into its slices of the columns; returns the number of rows.
    fn parse_part(&self, part: &Range<usize>, columns: &mut [Cells]) -> Result<usize> {
        let text = &self.text[part.clone()];
        let (mut at, mut rows) = (0, 0);
        let (mut reported, mut rows_reported) = (0, 0);
        loop {
            at += leading_line_ends(&text[at..]);
            if at == text.len() {
                return Ok(rows);
            }
            match self.parse_record(&text[at..], columns, rows) {
                Some(length) => {
                    at += length;
                    rows += 1;
                }
                None => {
                    let blank = self.blank_length(&text[at..]);
                    at += blank.map_err(|found| self.wrong_n_columns(part.start + at, found))?;
                }
            }
            if let Some(progress) = self.progress.filter(|_| at - reported >= REPORT_BYTES) {
                let numbers = columns.iter().filter(|column| column.are_numbers).count();
                let allocated = size_of::<f64>() * numbers * (rows - rows_reported);
                progress.add(at - reported)?;
                progress.allocate(allocated)?;
                (reported, rows_reported) = (at, rows);
            }
        }
    }

    /// Parses the record at the start of a text into a row; returns its length, or `None` if the number of cells is wrong.
    #[inline]
    fn parse_record(&self, text: &[u8], columns: &mut [Cells], row: usize) -> Option<usize> {
        let mut at = 0;
        for (j, column) in columns.iter_mut().enumerate() {
            let rest = &text[at..];
            let is_last = j + 1 == self.n_columns;
            // Fast path for single digits: many tables consist of flags and small counts.
            if let [digit @ b'0'..=b'9', end, ..] = rest
                && *end == self.delimiter
                && !is_last
            {
                column.set(row, f64::from(digit - b'0'));
                at += 2;
                continue;
            }
            let ends = |place: usize| {
                rest.get(place).is_none_or(|&byte| byte == self.delimiter || is_line_end(byte))
            };
            let (number, length) = match number::leading(rest) {
                Some((number, length)) if ends(length) => (Some(number), length),
                _ => {
                    let length = (0..).find(|&place| ends(place)).unwrap_or_default();
                    let cell = rest[..length].trim_ascii();
                    (if column.are_numbers { self.missing.number(cell) } else { None }, length)
                }
            };
            match number {
                Some(number) => {
                    column.set(row, number.value);
                    column.spelling.note(number);
                }
                None => column.are_numbers = false,
            }
            at += length;
            if is_last == (text.get(at) == Some(&self.delimiter)) {
                return None;
            }
            // Skip the delimiter.
            at += usize::from(!is_last);
        }
        Some(at)
    }

    /// The length of the record at the start of a text if it is blank; its number of cells otherwise.
    fn blank_length(&self, text: &[u8]) -> std::result::Result<usize, usize> {
        let length = text.iter().position(|&byte| is_line_end(byte)).unwrap_or(text.len());
        let delimiters = text[..length].iter().filter(|&&byte| byte == self.delimiter).count();
        if delimiters == 0 && text[..length].trim_ascii().is_empty() {
            Ok(length)
        } else {
            Err(delimiters + 1)
        }
    }
}

/// Moves the filled rows of each part together.
fn compact(mut column: Vec<f64>, capacities: &[usize], filled: &[usize]) -> Vec<f64> {
    let (mut from, mut to) = (0, 0);
    for (&capacity, &filled) in capacities.iter().zip(filled) {
        if from != to {
            column.copy_within(from..from + filled, to);
        }
        from += capacity;
        to += filled;
    }
    column.truncate(to);
    column
}
