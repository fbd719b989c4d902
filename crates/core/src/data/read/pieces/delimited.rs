//! CSV and TSV files in pieces: consecutive records, each piece with the header before them.

use super::place::{Place, Visit};
use crate::context::Context;
use crate::data::read::delimited::{header_end, read};
use crate::data::read::format::{Format, ReadOptions};
use crate::data::read::text::{newlines, text};
use crate::error::{Error, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Bytes of a piece, about.
pub(super) const PIECE_BYTES: usize = 1 << 21;
/// Bytes from which the size of the table is estimated.
const SAMPLE_BYTES: usize = 1 << 18;

/// Bytes of the complete table in memory, about, by the cells of the first lines.
pub(super) fn table_bytes(file: &Place) -> Result<f64> {
    let mut start = vec![];
    let opened = File::open(&file.path).map_err(|e| Error::io(&file.path, e))?;
    opened.take(SAMPLE_BYTES as u64).read_to_end(&mut start).map_err(|e| Error::io(&file.path, e))?;
    let separators = |byte: &u8| b",;\t|\n".contains(byte);
    let cells = start.iter().filter(|byte| separators(byte)).count().max(1);
    Ok(8.0 * cells as f64 * file.length as f64 / start.len().max(1) as f64)
}

/// Passes all pieces to `visit`.
pub(super) fn visit(
    file: &Place,
    warnings: &mut Vec<String>,
    ctx: &Context,
    visit: &mut Visit,
) -> Result<()> {
    let mut pieces = Pieces::start(file)?;
    let (mut first_row, mut first_line) = (0, 0);
    while let Some((text, header)) = pieces.next()? {
        ctx.check()?;
        let options = ReadOptions { separator: Some(pieces.delimiter), ..file.options.clone() };
        let mut found = vec![];
        let name = file.path.to_string_lossy();
        let table = read(&name, &text, Some(pieces.delimiter), &options, None, &mut found)
            .map_err(|e| moved(e, header, first_line))?;
        if first_row == 0 {
            warnings.append(&mut found);
        }
        first_line += newlines(text.as_bytes()) - if first_row == 0 { 0 } else { header };
        visit(&table, first_row)?;
        first_row += table.n_rows();
    }
    if first_row > 0 { Ok(()) } else { Err(Error::parse("the file has a header but no rows")) }
}

/// An error with its line in the file: pieces after the first have `header` lines of a copied header.
fn moved(error: Error, header: u64, first_line: u64) -> Error {
    let Error::Parse { place, why } = &error else { return error };
    let line = place.strip_prefix("line ").and_then(|rest| rest.strip_suffix(": ")?.parse::<u64>().ok());
    match line {
        Some(line) if first_line > 0 && line > header => {
            Error::at_line(line - header + first_line, why.clone())
        }
        _ => error,
    }
}

/// The text of a file, piece by piece.
struct Pieces<'a> {
    file: &'a Place,
    opened: File,
    /// Bytes read and not yet returned.
    rest: Vec<u8>,
    /// The header; empty before the first piece, and if there is none.
    header: Vec<u8>,
    delimiter: u8,
    is_first: bool,
    is_done: bool,
}

impl<'a> Pieces<'a> {
    fn start(file: &'a Place) -> Result<Self> {
        let mut opened = File::open(&file.path).map_err(|e| Error::io(&file.path, e))?;
        let mut mark = [0; 3];
        let has_mark = opened.read_exact(&mut mark).is_ok() && mark == *b"\xef\xbb\xbf";
        opened.seek(SeekFrom::Start(if has_mark { 3 } else { 0 })).map_err(|e| Error::io(&file.path, e))?;
        let (rest, header) = (vec![], vec![]);
        Ok(Self { file, opened, rest, header, delimiter: b',', is_first: true, is_done: false })
    }

    /// The next piece and the number of lines of its header.
    fn next(&mut self) -> Result<Option<(String, u64)>> {
        if self.is_done {
            return Ok(None);
        }
        let end = self.fill()?;
        if self.rest[..end].trim_ascii().is_empty() && !self.is_first {
            return Ok(None);
        }
        let bytes = [&self.header, &self.rest[..end]].concat();
        self.rest.drain(..end);
        let lines = newlines(&self.header);
        text(&bytes)?;
        let text = String::from_utf8(bytes).map_err(|e| Error::parse(e.to_string()))?;
        if std::mem::take(&mut self.is_first) {
            let by_format = (self.file.format == Format::Tsv).then_some(b'\t');
            let delimiter = self.file.options.separator.or(by_format);
            let (delimiter, header) = header_end(&text, delimiter, &self.file.options)?;
            self.delimiter = delimiter;
            if self.file.options.header {
                self.header = text.as_bytes()[..header].to_vec();
                if !self.header.ends_with(b"\n") {
                    self.header.push(b'\n');
                }
                return Ok(Some((text, newlines(&self.header))));
            }
        }
        Ok(Some((text, lines)))
    }

    /// Reads until a record ends, and returns where: at a line end outside quotes.
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
            if let Some(end) = last_record_end(&self.rest) {
                return Ok(end);
            }
            wanted += PIECE_BYTES;
        }
    }
}

/// Where the last complete record ends.
fn last_record_end(bytes: &[u8]) -> Option<usize> {
    if !bytes.contains(&b'"') {
        return bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
    }
    let (mut inside, mut end) = (false, None);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => inside = !inside,
            b'\n' if !inside => end = Some(at + 1),
            _ => {}
        }
    }
    end
}
