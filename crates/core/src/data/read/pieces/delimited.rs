//! CSV and TSV files in pieces: consecutive records, each piece with the header before them.

use super::place::{Place, Visit};
use super::record_ends::{RecordEnds, for_each_record};
use super::sample::{Draw, STAGE, SampledRows};
use crate::context::Context;
use crate::data::read::delimited::{delimiter_and_start, header_end, read};
use crate::data::read::format::{Format, ReadOptions};
use crate::data::read::text::{newlines, text};
use crate::data::table::Table;
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a piece, about.
pub(super) const PIECE_BYTES: usize = 1 << 21;
/// Bytes from which the size of the table is estimated.
const SAMPLE_BYTES: usize = 1 << 18;
/// A quoted cell of more bytes is an error: its closing quote is missing.
const MAX_CELL_BYTES: usize = 1 << 25;

/// Bytes of the complete table in memory, about, by the cells of the first lines; `None` if lines end with a carriage return only.
pub(super) fn table_bytes(file: &Place) -> Result<Option<f64>> {
    let mut start = vec![];
    let opened = File::open(&file.path).map_err(|e| Error::io(&file.path, e))?;
    opened.take(SAMPLE_BYTES as u64).read_to_end(&mut start).map_err(|e| Error::io(&file.path, e))?;
    if start.contains(&b'\r') && !start.contains(&b'\n') {
        return Ok(None);
    }
    let separators = |byte: &u8| b",;\t|\n".contains(byte);
    let cells = start.iter().filter(|byte| separators(byte)).count().max(1);
    Ok(Some(8.0 * cells as f64 * file.state.length as f64 / start.len().max(1) as f64))
}

/// Passes all pieces to `visit`.
pub(super) fn visit(
    file: &Place,
    warnings: &mut Vec<String>,
    ctx: &Context,
    visit: &mut Visit,
) -> Result<()> {
    let mut pieces = Pieces::start(file)?;
    let mut first_row = 0;
    while let Some(Piece { text, header, .. }) = pieces.next()? {
        ctx.check()?;
        let delimiter = Some(pieces.ends.delimiter);
        let options = ReadOptions { separator: delimiter, ..file.options.clone() };
        let mut found = vec![];
        let name = file.path.to_string_lossy();
        let table = read(&name, &text, delimiter, &options, None, &mut found)
            .map_err(|e| moved(e, header, pieces.first_line))?;
        if first_row == 0 {
            warnings.append(&mut found);
        }
        visit(&table, first_row)?;
        first_row += table.n_rows();
    }
    if first_row > 0 { Ok(()) } else { Err(Error::parse("the file has a header but no rows")) }
}

/// The rows that are drawn: their text is read as if the file had no others, so columns have the types that it has for them.
pub(super) fn sample(file: &Place, draw: &Draw, ctx: &Context) -> Result<SampledRows> {
    let mut pieces = Pieces::start(file)?;
    let (delimiter, comment) = (pieces.ends.delimiter, file.options.comment);
    let (mut drawn, mut rows, mut n) = (String::new(), vec![], 0);
    // For each drawn row its line in `drawn` and in the file.
    let mut lines: Vec<(u64, u64)> = vec![];
    let mut line = 1;
    while let Some(Piece { text, header, records: from }) = pieces.next()? {
        if drawn.is_empty() {
            drawn = String::from_utf8_lossy(&pieces.header).into_owned();
            line += newlines(&pieces.header);
        }
        let (mut counted, mut in_file) = (0, pieces.first_line + 1);
        for_each_record(&text[from..], delimiter, comment, &mut |at, record, is_open| {
            // The reader says what is wrong with a quote that is not closed.
            if is_open || draw.has(n) {
                in_file += newlines(&text.as_bytes()[counted..from + at]);
                counted = from + at;
                lines.push((line, in_file.saturating_sub(header)));
                let record = record.trim_end_matches(['\n', '\r']);
                drawn.push_str(record);
                drawn.push('\n');
                line += newlines(record.as_bytes()) + 1;
                rows.push(n);
            }
            n += 1;
        });
        ctx.step(STAGE, n, 0)?;
    }
    let (name, mut warnings) = (file.path.to_string_lossy(), vec![]);
    if rows.is_empty() {
        return Ok(SampledRows { table: Table::Columns(vec![]), rows, n, warnings });
    }
    let options = ReadOptions { separator: Some(delimiter), ..file.options.clone() };
    let table = read(&name, &drawn, Some(delimiter), &options, None, &mut warnings);
    let table = table.map_err(|e| at_line_of_file(e, &lines))?;
    if table.n_rows() != rows.len() {
        return Err(Error::parse("it is not clear where rows end: close all quotes, or remove blank lines"));
    }
    Ok(SampledRows { table, rows, n, warnings })
}

/// An error in a sample with its line in the file; `lines` has the first line of each row in both.
fn at_line_of_file(error: Error, lines: &[(u64, u64)]) -> Error {
    match (line_of(&error), &error) {
        (Some(line), Error::Parse { why, .. }) => {
            let row = lines.partition_point(|(in_sample, _)| *in_sample <= line);
            match row.checked_sub(1).map(|row| lines[row]) {
                Some((in_sample, in_file)) => Error::at_line(in_file + line - in_sample, why.clone()),
                None => error,
            }
        }
        _ => error,
    }
}

/// The line that an error is about.
fn line_of(error: &Error) -> Option<u64> {
    let Error::Parse { place, .. } = error else { return None };
    place.strip_prefix("line ")?.strip_suffix(": ")?.parse().ok()
}

/// An error with its line in the file: pieces after the first have `header` lines of a copied header.
fn moved(error: Error, header: u64, first_line: u64) -> Error {
    match (line_of(&error), &error) {
        (Some(line), Error::Parse { why, .. }) if first_line > 0 && line > header => {
            Error::at_line(line - header + first_line, why.clone())
        }
        _ => error,
    }
}

/// Consecutive records of a file.
struct Piece {
    /// The header of the file, and the records.
    text: String,
    /// Lines of the header if it is a copy: of all pieces but the first.
    header: u64,
    /// Where the records begin.
    records: usize,
}

/// The text of a file, piece by piece.
struct Pieces<'a> {
    file: &'a Place,
    opened: File,
    /// Bytes read and not yet returned.
    rest: Vec<u8>,
    /// The header; empty before the first piece, and if there is none.
    header: Vec<u8>,
    /// Where the first record of the file begins.
    start: usize,
    ends: RecordEnds,
    /// Lines before the piece, and in it without a copied header.
    first_line: u64,
    n_lines: u64,
    is_first: bool,
    is_done: bool,
}

impl<'a> Pieces<'a> {
    fn start(file: &'a Place) -> Result<Self> {
        let failed = |e| Error::io(&file.path, e);
        let mut opened = File::open(&file.path).map_err(failed)?;
        let mut mark = [0; 3];
        let has_mark = opened.read_exact(&mut mark).is_ok() && mark == *b"\xef\xbb\xbf";
        opened.seek(SeekFrom::Start(if has_mark { 3 } else { 0 })).map_err(failed)?;
        let mut rest = vec![];
        (&opened).take(PIECE_BYTES as u64).read_to_end(&mut rest).map_err(failed)?;
        let by_format = (file.format == Format::Tsv).then_some(b'\t');
        let delimiter = file.options.separator.or(by_format);
        let (delimiter, start) = delimiter_and_start(&rest, delimiter, &file.options);
        let ends = RecordEnds::new(delimiter, file.options.comment, start);
        let (header, is_first, is_done) = (vec![], true, false);
        Ok(Self { file, opened, rest, header, start, ends, first_line: 0, n_lines: 0, is_first, is_done })
    }

    /// The next piece with rows.
    fn next(&mut self) -> Result<Option<Piece>> {
        let next = self.read_next();
        next.map_err(|e| moved(e, newlines(&self.header), self.first_line))
    }

    fn read_next(&mut self) -> Result<Option<Piece>> {
        let end = loop {
            if self.is_done {
                return Ok(None);
            }
            self.first_line += self.n_lines;
            let end = self.fill()?;
            self.n_lines = newlines(&self.rest[..end]);
            if self.is_first || !self.is_blank(end) {
                break end;
            }
            self.remove(end);
        };
        let bytes = [&self.header, &self.rest[..end]].concat();
        self.remove(end);
        let (header, mut records) = (newlines(&self.header), self.header.len());
        text(&bytes)?;
        let text = String::from_utf8(bytes).map_err(|e| Error::parse(e.to_string()))?;
        if std::mem::take(&mut self.is_first) {
            records = self.start;
            if self.file.options.header {
                records = header_end(&text, self.ends.delimiter, &self.file.options)?;
                self.header = text.as_bytes()[..records].to_vec();
                if !self.header.ends_with(b"\n") {
                    self.header.push(b'\n');
                }
            }
        }
        Ok(Some(Piece { text, header, records }))
    }

    /// Whether the first `end` bytes are blank lines and comments.
    fn is_blank(&self, end: usize) -> bool {
        let comment = self.file.options.comment;
        let is_comment = |line: &[u8]| comment.is_some() && line.first() == comment.as_ref();
        let mut lines = self.rest[..end].split(|&byte| byte == b'\n');
        lines.all(|line| line.trim_ascii().is_empty() || is_comment(line))
    }

    fn remove(&mut self, end: usize) {
        self.rest.drain(..end);
        self.ends.remove(end);
    }

    /// Reads until a record ends, and returns where.
    fn fill(&mut self) -> Result<usize> {
        let mut wanted = PIECE_BYTES;
        loop {
            let missing = wanted.saturating_sub(self.rest.len()) as u64;
            let read = (&self.opened).take(missing).read_to_end(&mut self.rest);
            let read = read.map_err(|e| Error::io(&self.file.path, e))?;
            if (read as u64) < missing {
                self.is_done = true;
                return Ok(self.rest.len());
            }
            self.ends.scan(&self.rest);
            if let Some(end) = self.ends.last() {
                return Ok(end);
            }
            if let Some(at) = self.ends.open_quote().filter(|at| self.rest.len() - at > MAX_CELL_BYTES) {
                let line = 1 + newlines(&self.header) + newlines(&self.rest[..at]);
                let why = "a cell opens with a quote (\") that is not closed within 32 MiB";
                return Err(Error::at_line(line, why));
            }
            wanted += PIECE_BYTES;
        }
    }
}
