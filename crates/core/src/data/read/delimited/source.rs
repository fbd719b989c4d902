//! The text of a delimited file, its records and its line numbers.

use crate::data::read::number::{MissingValues, Number};
use crate::data::read::progress::{Progress, REPORT_BYTES};
use crate::data::read::text::newlines;
use crate::error::{Error, Result};
use csv::{ByteRecord, ReaderBuilder};
use std::io::Read;
use std::ops::Range;

/// Appended to a text with quotes: if it is not read as a separate record, a quote was not closed.
const END: &[u8] = b"\n\0end";

/// Further lines named in an error, at most, and the bytes in which they are searched.
const MAX_NAMED: usize = 5;
const MAX_SEARCHED: usize = 1 << 26;

/// A text and how it is delimited.
pub(super) struct Source<'a> {
    pub progress: Option<&'a Progress<'a>>,
    pub text: &'a [u8],
    pub delimiter: u8,
    /// Whether the text contains quote characters.
    pub quoted: bool,
    /// Cells per record.
    pub n_columns: usize,
    /// Lines that start with this byte are skipped.
    pub comment: Option<u8>,
    pub missing: MissingValues<'a>,
    /// Whether decimals are separated by a comma.
    pub decimal_comma: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, delimiter: u8) -> Self {
        let (text, quoted) = (text.as_bytes(), text.contains('"'));
        let missing = MissingValues::default();
        Self {
            progress: None,
            text,
            delimiter,
            quoted,
            n_columns: 0,
            comment: None,
            missing,
            decimal_comma: false,
        }
    }
}

impl Source<'_> {
    /// The number in a trimmed cell; `None` if it is text. With decimal commas, a point separates thousands or is a mistake:
    /// the complete column decides.
    pub(super) fn number(&self, cell: &[u8]) -> Option<Number> {
        if self.decimal_comma && cell.contains(&b'.') && !self.missing.contains(cell) {
            return None;
        }
        self.missing.number(cell)
    }

    /// The first record after a position, and where it ends.
    pub(super) fn first_record(&self, start: usize) -> Result<(ByteRecord, usize)> {
        let mut reader = self.reader(&(start..self.text.len()));
        let mut record = ByteRecord::new();
        reader.read_byte_record(&mut record).map_err(|e| Error::parse(e.to_string()))?;
        if contains_end(&record) {
            return Err(self.unclosed(start));
        }
        // In a text with quotes, a last record without a line end ends with that of END.
        Ok((record, (start + reader.position().byte() as usize).min(self.text.len())))
    }

    /// Calls `visit` with each record of a part and its range in the part; `visit` returns the bytes it allocated.
    pub(super) fn for_each_record(
        &self,
        part: &Range<usize>,
        mut visit: impl FnMut(&ByteRecord, Range<usize>) -> usize,
    ) -> Result<()> {
        let mut reader = self.reader(part);
        let mut record = ByteRecord::new();
        let (mut start, mut last_start) = (0, 0);
        let (mut reported, mut allocated) = (0, 0);
        while reader.read_byte_record(&mut record).map_err(|e| Error::parse(e.to_string()))? {
            let end = reader.position().byte() as usize;
            if self.quoted && end > part.len() && record.as_slice() == &END[1..] {
                return Ok(());
            }
            if record.len() == self.n_columns {
                allocated += visit(&record, start..end);
            } else if contains_end(&record) {
                return Err(self.unclosed(part.start + start));
            } else if !is_blank(&record) {
                return Err(self.wrong_n_columns(part.start + start, record.len()));
            }
            (last_start, start) = (start, end);
            let due = end - reported >= REPORT_BYTES || allocated >= REPORT_BYTES;
            if let Some(progress) = self.progress.filter(|_| due) {
                progress.add(end - reported)?;
                progress.allocate(std::mem::take(&mut allocated))?;
                reported = end;
            }
        }
        // A text with quotes returns above at END, unless an unclosed quote made END part of the last record.
        if self.quoted { Err(self.unclosed(part.start + last_start)) } else { Ok(()) }
    }

    fn reader<'b>(&'b self, part: &Range<usize>) -> csv::Reader<std::io::Chain<&'b [u8], &'static [u8]>> {
        let end = if self.quoted { END } else { b"" };
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .comment(self.comment)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(self.text[part.clone()].chain(end))
    }

    /// The error for the record at a position; it also names the next ones with a wrong number of cells.
    pub(super) fn wrong_n_columns(&self, at: usize, found: usize) -> Error {
        let mut reader = self.reader(&(at..self.text.len()));
        let mut record = ByteRecord::new();
        let (mut start, mut others) = (0, vec![]);
        while others.len() <= MAX_NAMED
            && start <= MAX_SEARCHED
            && let Ok(true) = reader.read_byte_record(&mut record)
        {
            let is_end = self.quoted && (record.as_slice() == &END[1..] || contains_end(&record));
            if start > 0 && record.len() != self.n_columns && !is_blank(&record) && !is_end {
                others.push(format!("line {} has {}", self.line(at + start), record.len()));
            }
            start = reader.position().byte() as usize;
        }
        if others.len() > MAX_NAMED {
            others[MAX_NAMED] = "so on".into();
        }
        let rest = match others.split_last() {
            None => String::new(),
            Some((last, [])) => format!("; {last}"),
            Some((last, first)) => format!("; {} and {last}", first.join(", ")),
        };
        Error::at_line(self.line(at), format!("expected {} fields, found {found}{rest}", self.n_columns))
    }

    fn unclosed(&self, at: usize) -> Error {
        Error::at_line(self.line(at), "a cell opens with a quote (\") that is never closed")
    }

    /// The line number of the record that starts at a position, or after the line ends at that position.
    pub(super) fn line(&self, at: usize) -> u64 {
        let mut at = at.min(self.text.len());
        loop {
            at += leading_line_ends(&self.text[at..]);
            let rest = &self.text[at..];
            if self.comment.is_none() || rest.first() != self.comment.as_ref() {
                break;
            }
            at += rest.iter().position(|&byte| is_line_end(byte)).unwrap_or(rest.len());
        }
        let before = &self.text[..at];
        let lone_returns = before.windows(2).filter(|pair| pair[0] == b'\r' && pair[1] != b'\n').count();
        1 + newlines(before) + lone_returns as u64 + u64::from(before.last() == Some(&b'\r'))
    }
}

/// Number of line-end bytes at the start of a text.
pub(super) fn leading_line_ends(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| is_line_end(byte)).count()
}

pub(super) fn is_line_end(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r')
}

/// A line of spaces, which some editors leave at the end.
fn is_blank(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].trim_ascii().is_empty()
}

fn contains_end(record: &ByteRecord) -> bool {
    record.iter().next_back().is_some_and(|cell| cell.ends_with(END))
}
