//! Numbers straight from the bytes of a text without quotes.
//!
//! Where no cell is quoted, a delimiter parts cells and a line end parts records, wherever they stand. So the rows of
//! every part of a text can be counted before they are read, and all parts write into the same columns side by side:
//! nothing is copied, neither cells nor columns.

use super::delimited::{Numbers, Source};
use super::{REPORT, number};
use crate::error::Result;
use crate::linalg::zeros;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes whose line ends are counted together: at most every second one ends a line.
const CHUNK: usize = 256;

/// The cells of a column that a part of the text has, or had until one was text.
struct Cells<'a> {
    cells: &'a mut [f64],
    are_numbers: bool,
}

impl Cells<'_> {
    /// A record of too few cells may find no room here, as none of its width would fit.
    fn set(&mut self, row: usize, value: f64) {
        if let Some(cell) = self.cells.get_mut(row) {
            *cell = value;
        }
    }
}

impl Source<'_> {
    /// The columns of a text without quotes, and how many rows they have. The parts begin where records do. Nothing if
    /// numbers alone would need more memory than there is: some columns may be text.
    pub(super) fn plain_numbers(&self, parts: &[Range<usize>]) -> Result<Option<(Numbers, usize)>> {
        let room: Vec<usize> =
            parts.par_iter().map(|part| self.most_rows(&self.text[part.clone()])).collect();
        let rows: usize = room.iter().sum();
        let bytes = (size_of::<f64>() * self.width) as u64 * rows as u64;
        if self.told.is_some_and(|told| bytes > told.room) {
            return Ok(None);
        }
        let mut columns: Vec<Vec<f64>> = (0..self.width).map(|_| zeros(rows)).collect();
        let mut shares: Vec<Vec<Cells>> = parts.iter().map(|_| Vec::with_capacity(self.width)).collect();
        for column in &mut columns {
            let mut rest = column.as_mut_slice();
            for (share, &rows) in shares.iter_mut().zip(&room) {
                let (cells, after) = rest.split_at_mut(rows);
                share.push(Cells { cells, are_numbers: true });
                rest = after;
            }
        }
        // All parts before the first error: it is the one that comes first in the text.
        let read: Vec<Result<usize>> =
            parts.par_iter().zip(&mut shares).map(|(part, share)| self.plain_part(part, share)).collect();
        let filled: Vec<usize> = read.into_iter().collect::<Result<_>>()?;
        let are_numbers: Vec<bool> =
            (0..self.width).map(|j| shares.iter().all(|share| share[j].are_numbers)).collect();
        let columns = columns
            .into_par_iter()
            .zip(are_numbers)
            .map(|(column, are_numbers)| are_numbers.then(|| without_gaps(column, &room, &filled)))
            .collect();
        Ok(Some((columns, filled.iter().sum())))
    }

    /// Rows that a part has, and lines of spaces. Never more cells than bytes, however many empty lines there are.
    fn most_rows(&self, part: &[u8]) -> usize {
        let next = part.get(1..).unwrap_or_default();
        // So few at a time that their count fits a byte, of which many are added at once.
        let in_chunk = |(chunk, next): (&[u8], &[u8])| {
            let ends = |(&a, &b): (&u8, &u8)| u8::from(!ends_line(a) & ends_line(b));
            usize::from(chunk.iter().zip(next).map(ends).sum::<u8>())
        };
        let ended: usize = part.chunks(CHUNK).zip(next.chunks(CHUNK)).map(in_chunk).sum();
        let unended = usize::from(part.last().is_some_and(|&byte| !ends_line(byte)));
        (ended + unended).min((part.len() + 1) / self.width.max(1))
    }

    /// Reads a part into its share of the columns; says how many rows it has.
    fn plain_part(&self, part: &Range<usize>, share: &mut [Cells]) -> Result<usize> {
        let text = &self.text[part.clone()];
        let (mut at, mut rows) = (0, 0);
        let (mut reported, mut rows_reported) = (0, 0);
        loop {
            at += line_ends(&text[at..]);
            if at == text.len() {
                return Ok(rows);
            }
            match self.plain_record(&text[at..], share, rows) {
                Some(length) => {
                    at += length;
                    rows += 1;
                }
                None => {
                    let blank = self.blank(&text[at..]);
                    at += blank.map_err(|found| self.wrong_width(part.start + at, found))?;
                }
            }
            if let Some(told) = self.told.filter(|_| at - reported >= REPORT) {
                let numbers = share.iter().filter(|column| column.are_numbers).count();
                let held = size_of::<f64>() * numbers * (rows - rows_reported);
                told.add(at - reported)?;
                told.hold(held)?;
                (reported, rows_reported) = (at, rows);
            }
        }
    }

    /// Reads the record at the beginning of a text into a row; says how long it is, if it is as wide as all others.
    #[inline]
    fn plain_record(&self, text: &[u8], share: &mut [Cells], row: usize) -> Option<usize> {
        let mut at = 0;
        for (j, column) in share.iter_mut().enumerate() {
            let rest = &text[at..];
            let is_last = j + 1 == self.width;
            // Flags and counts: many tables have little else.
            if let [digit @ b'0'..=b'9', end, ..] = rest
                && *end == self.delimiter
                && !is_last
            {
                column.set(row, f64::from(digit - b'0'));
                at += 2;
                continue;
            }
            let ends =
                |place: usize| rest.get(place).is_none_or(|&byte| byte == self.delimiter || ends_line(byte));
            let (value, length) = match number::leading(rest) {
                Some((value, length)) if ends(length) => (Some(value), length),
                _ => {
                    let length = (0..).find(|&place| ends(place)).unwrap_or_default();
                    let cell = rest[..length].trim_ascii();
                    (if column.are_numbers { number::of_cell(cell) } else { None }, length)
                }
            };
            match value {
                Some(value) => column.set(row, value),
                None => column.are_numbers = false,
            }
            at += length;
            if is_last == (text.get(at) == Some(&self.delimiter)) {
                return None;
            }
            // Behind the delimiter.
            at += usize::from(!is_last);
        }
        Some(at)
    }

    /// How long the record at the beginning of a text is, if it is but spaces, as some editors leave them; otherwise how
    /// many cells it has.
    fn blank(&self, text: &[u8]) -> std::result::Result<usize, usize> {
        let length = text.iter().position(|&byte| ends_line(byte)).unwrap_or(text.len());
        let delimiters = text[..length].iter().filter(|&&byte| byte == self.delimiter).count();
        if delimiters == 0 && text[..length].trim_ascii().is_empty() {
            Ok(length)
        } else {
            Err(delimiters + 1)
        }
    }
}

/// How many bytes that end lines a text begins with.
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| ends_line(byte)).count()
}

fn ends_line(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r')
}

/// A column whose parts have room for more rows than they have.
fn without_gaps(mut column: Vec<f64>, room: &[usize], filled: &[usize]) -> Vec<f64> {
    let (mut from, mut to) = (0, 0);
    for (&room, &filled) in room.iter().zip(filled) {
        if from != to {
            column.copy_within(from..from + filled, to);
        }
        from += room;
        to += filled;
    }
    column.truncate(to);
    column
}
