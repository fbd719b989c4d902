//! CSV and TSV: cells between delimiters, a record per line.
//!
//! One pass reads every cell as a number. Only when some columns turn out to hold text does a second
//! pass collect their cells. A file without a single quote character has a line end where a record
//! ends, so it can be cut there and its parts read side by side, by a way of its own; the result is the same.
//!
//! Cells lose the spaces around them, quoted or not: `1, 2` means what `1,2` means.

use super::levels::Levels;
use super::plain::line_ends;
use super::{Flaw, REPORT, ReadOptions, Tally, number};
use crate::data::table::{Column, Table, check_names};
use crate::error::{Error, Result};
use csv::{ByteRecord, ReaderBuilder};
use rayon::prelude::*;
use std::io::Read;
use std::ops::Range;

/// Cutting a file into parts smaller than this costs more than it saves.
const SMALLEST_PART: usize = 1 << 20;

/// Put behind a text that has quotes: if it is not read as a record of its own, a quote was not closed.
const END: &[u8] = b"\n\0end";

/// Reads a table; the delimiter is guessed from the first line if it is not given.
pub(super) fn read(
    name: &str,
    text: &str,
    delimiter: Option<u8>,
    options: &ReadOptions,
    told: Option<&Tally>,
    warnings: &mut Vec<String>,
) -> Result<Table> {
    let n_parts = 4 * rayon::current_num_threads();
    let part = (text.len() / n_parts).max(SMALLEST_PART);
    read_in_parts(name, text, delimiter, options, told, warnings, part)
}

fn read_in_parts(
    name: &str,
    text: &str,
    delimiter: Option<u8>,
    options: &ReadOptions,
    told: Option<&Tally>,
    warnings: &mut Vec<String>,
    part: usize,
) -> Result<Table> {
    let mut source = Source {
        told,
        text: text.as_bytes(),
        delimiter: delimiter.unwrap_or_else(|| guess_delimiter(text)),
        quoted: text.contains('"'),
        width: 0,
    };
    let (first, after_first) = source.first_record()?;
    source.width = first.len();
    let (names, data) = if options.header {
        if first.iter().all(|cell| number::parse(cell.trim_ascii()).is_some()) {
            warnings.push(format!(
                "the first line of {name} looks like data, not column names; use --no-header if it is"
            ));
        }
        (names(&first), after_first..text.len())
    } else {
        ((1..=first.len()).map(|n| format!("c{n}")).collect(), 0..text.len())
    };
    if first.len() == 1 && first[0].trim_ascii().iter().any(|byte| b" |:".contains(byte)) {
        warnings.push(format!(
            "the first line of {name} has one column only; columns are parted by commas, semicolons or tabs"
        ));
    }
    // Before the data: a wrong header is often the sign of a wrong delimiter.
    check_names(names.iter().map(String::as_str))?;
    let parts = if source.quoted { vec![data] } else { cut(source.text, data, part) };
    Table::new(source.columns(names, &parts)?)
}

/// Calls `visit` with the cells of every record of a text, trimmed; `names` says what they are. The first
/// record may be a header: that is for `visit` to tell.
pub(super) fn records<const N: usize>(
    text: &str,
    delimiter: Option<u8>,
    names: [&str; N],
    mut visit: impl FnMut([&str; N]) -> std::result::Result<(), Flaw>,
) -> Result<()> {
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(text));
    let quoted = text.contains('"');
    let source = Source { told: None, text: text.as_bytes(), delimiter, quoted, width: N };
    let (first, _) = source.first_record()?;
    if first.len() != N {
        let names = names.join(", ");
        let why = format!(
            "expected {N} columns ({names}), found {}; keep these, with a comma, semicolon or tab between \
             them",
            first.len()
        );
        return Err(Error::at_line(source.line(0), why));
    }
    let mut wrong: Option<(usize, Flaw)> = None;
    let read = source.for_each_record(&(0..text.len()), |record, at| {
        if wrong.is_none() {
            let cells: [_; N] = std::array::from_fn(|j| String::from_utf8_lossy(record[j].trim_ascii()));
            wrong = visit(cells.each_ref().map(|cell| &**cell)).err().map(|flaw| (at.start, flaw));
        }
        0
    });
    match wrong {
        Some((at, Flaw { column, why })) => {
            let column = column.map(|j| format!(", column {}", j + 1)).unwrap_or_default();
            Err(Error::Parse { place: format!("line {}{column}: ", source.line(at)), why })
        }
        None => read,
    }
}

/// A comma, unless the first line has none outside quotes but has semicolons or tabs.
fn guess_delimiter(text: &str) -> u8 {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let unquoted = line.split('"').step_by(2);
    let (mut commas, mut semicolons, mut tabs) = (0, 0, 0);
    for byte in unquoted.flat_map(str::bytes) {
        match byte {
            b',' => commas += 1,
            b';' => semicolons += 1,
            b'\t' => tabs += 1,
            _ => {}
        }
    }
    match (commas, semicolons, tabs) {
        (0, 0, 0) | (1.., _, _) => b',',
        _ if semicolons >= tabs => b';',
        _ => b'\t',
    }
}

fn names(header: &ByteRecord) -> Vec<String> {
    let name = |(position, cell): (usize, &[u8])| match cell.trim_ascii() {
        b"" => format!("unnamed_{}", position + 1),
        name => String::from_utf8_lossy(name).into_owned(),
    };
    header.iter().enumerate().map(name).collect()
}

/// Cuts a text without quotes behind line ends, into parts of at least `size` bytes but for the last.
fn cut(text: &[u8], data: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut parts = vec![];
    let mut start = data.start;
    while data.end - start > size {
        let Some(line_end) = text[start + size..data.end].iter().position(|&byte| byte == b'\n') else {
            break;
        };
        let end = start + size + line_end + 1;
        parts.push(start..end);
        start = end;
    }
    parts.push(start..data.end);
    parts
}

/// A text, and how it is written.
pub(super) struct Source<'a> {
    pub(super) told: Option<&'a Tally<'a>>,
    pub(super) text: &'a [u8],
    pub(super) delimiter: u8,
    quoted: bool,
    /// Cells per record.
    pub(super) width: usize,
}

/// Columns as numbers; nothing where one holds text.
pub(super) type Numbers = Vec<Option<Vec<f64>>>;

impl Source<'_> {
    fn columns(&self, names: Vec<String>, parts: &[Range<usize>]) -> Result<Vec<Column>> {
        let plain = if self.quoted { None } else { self.plain_numbers(parts)? };
        let (numbers, rows) = match plain {
            Some(read) => read,
            None => self.careful_numbers(parts)?,
        };
        if rows == 0 {
            return Err(Error::parse("the file has a header but no rows"));
        }
        let with_text: Vec<usize> = (0..self.width).filter(|&j| numbers[j].is_none()).collect();
        let mut texts = self.texts(&with_text, parts)?.into_iter();
        Ok(names
            .into_iter()
            .zip(numbers)
            .map(|(name, cells)| match cells {
                Some(cells) => Column::numeric(name, cells),
                None => texts.next().unwrap_or_default().into_column(name),
            })
            .collect())
    }

    /// First pass, for texts with quotes and tables that may not fit.
    fn careful_numbers(&self, parts: &[Range<usize>]) -> Result<(Numbers, usize)> {
        let read: Vec<(Numbers, usize)> = parts
            .par_iter()
            .map(|part| self.numbers(part))
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_>>()?;
        let rows = read.iter().map(|(_, rows)| rows).sum();
        Ok((join(read.into_iter().map(|(columns, _)| columns).collect(), self.width), rows))
    }

    /// A part's cells as numbers, and how many rows it has.
    fn numbers(&self, part: &Range<usize>) -> Result<(Numbers, usize)> {
        let mut columns: Numbers = vec![Some(vec![]); self.width];
        let mut rows = 0;
        self.for_each_record(part, |record, at| {
            if rows == 0 {
                // As many more rows as this one suggests, unless the whole file would not fit; never more cells than
                // the part has bytes.
                let rows_in = |bytes: usize| bytes / at.end.max(1) + 1;
                let whole = size_of::<f64>() * self.width * rows_in(self.text.len());
                if self.told.is_none_or(|told| whole as u64 <= told.room) {
                    columns.iter_mut().flatten().for_each(|cells| cells.reserve(rows_in(part.len())));
                }
            }
            rows += 1;
            let mut held = 0;
            for (cell, column) in record.iter().zip(&mut columns) {
                let Some(cells) = column else { continue };
                match number::of_cell(cell.trim_ascii()) {
                    Some(value) => {
                        cells.push(value);
                        held += size_of::<f64>();
                    }
                    None => *column = None,
                }
            }
            held
        })?;
        Ok((columns, rows))
    }

    /// Second pass: the columns that hold text.
    fn texts(&self, columns: &[usize], parts: &[Range<usize>]) -> Result<Vec<Levels>> {
        if columns.is_empty() {
            return Ok(vec![]);
        }
        self.told.map_or(Ok(()), Tally::again)?;
        let read_part = |part| -> Result<Vec<Levels>> {
            let mut texts: Vec<Levels> = columns.iter().map(|_| Levels::default()).collect();
            self.for_each_record(part, |record, _| {
                let cells = columns.iter().map(|&j| record[j].trim_ascii());
                let push = |(levels, cell): (&mut Levels, &[u8])| match number::is_missing(cell) {
                    true => levels.push(None),
                    false => levels.push(Some(&String::from_utf8_lossy(cell))),
                };
                texts.iter_mut().zip(cells).map(push).sum()
            })?;
            Ok(texts)
        };
        let read: Vec<Vec<Levels>> = parts.par_iter().map(read_part).collect::<Result<_>>()?;
        let mut whole: Vec<Levels> = columns.iter().map(|_| Levels::default()).collect();
        for part in read {
            whole.iter_mut().zip(part).for_each(|(levels, more)| levels.append(more));
        }
        Ok(whole)
    }

    /// The first record, and where it ends.
    fn first_record(&self) -> Result<(ByteRecord, usize)> {
        let mut reader = self.reader(&(0..self.text.len()));
        let mut record = ByteRecord::new();
        reader.read_byte_record(&mut record).map_err(|e| Error::parse(e.to_string()))?;
        if swallowed_end(&record) {
            return Err(self.unclosed(0));
        }
        // At the end of a text with quotes, END lends its line end to the record.
        Ok((record, (reader.position().byte() as usize).min(self.text.len())))
    }

    /// Calls `visit` with each record of a part and its place in the part; it says how many bytes it keeps of it.
    fn for_each_record(
        &self,
        part: &Range<usize>,
        mut visit: impl FnMut(&ByteRecord, Range<usize>) -> usize,
    ) -> Result<()> {
        let mut reader = self.reader(part);
        let mut record = ByteRecord::new();
        let (mut start, mut last_start) = (0, 0);
        let (mut reported, mut held) = (0, 0);
        while reader.read_byte_record(&mut record).map_err(|e| Error::parse(e.to_string()))? {
            let end = reader.position().byte() as usize;
            if self.quoted && end > part.len() && record.as_slice() == &END[1..] {
                return Ok(());
            }
            if record.len() == self.width {
                held += visit(&record, start..end);
            } else if swallowed_end(&record) {
                return Err(self.unclosed(part.start + start));
            } else if !is_blank(&record) {
                return Err(self.wrong_width(part.start + start, record.len()));
            }
            (last_start, start) = (start, end);
            if let Some(told) = self.told.filter(|_| end - reported >= REPORT || held >= REPORT) {
                told.add(end - reported)?;
                told.hold(std::mem::take(&mut held))?;
                reported = end;
            }
        }
        // A text with quotes is left by way of its END, unless the last record has taken that in.
        if self.quoted { Err(self.unclosed(part.start + last_start)) } else { Ok(()) }
    }

    fn reader<'b>(&'b self, part: &Range<usize>) -> csv::Reader<std::io::Chain<&'b [u8], &'static [u8]>> {
        let end = if self.quoted { END } else { b"" };
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(self.text[part.clone()].chain(end))
    }

    pub(super) fn wrong_width(&self, at: usize, found: usize) -> Error {
        Error::at_line(self.line(at), format!("expected {} fields, found {found}", self.width))
    }

    fn unclosed(&self, at: usize) -> Error {
        Error::at_line(self.line(at), "a cell opens with a quote (\") that is never closed")
    }

    /// The line of the record that starts at a place, or behind the line ends at that place.
    fn line(&self, at: usize) -> u64 {
        let at = at.min(self.text.len());
        let start = at + line_ends(&self.text[at..]);
        let before = &self.text[..start];
        let lone_returns = before.windows(2).filter(|pair| pair[0] == b'\r' && pair[1] != b'\n').count();
        1 + super::newlines(before) + lone_returns as u64 + u64::from(before.last() == Some(&b'\r'))
    }
}

/// Puts the parts of each column together; text anywhere makes the whole column text.
fn join(parts: Vec<Numbers>, width: usize) -> Numbers {
    let mut pieces: Vec<Vec<Option<Vec<f64>>>> =
        (0..width).map(|_| Vec::with_capacity(parts.len())).collect();
    for part in parts {
        pieces.iter_mut().zip(part).for_each(|(column, piece)| column.push(piece));
    }
    pieces
        .into_par_iter()
        .map(|mut column| {
            if column.len() == 1 {
                return column.pop().flatten();
            }
            let column: Option<Vec<Vec<f64>>> = column.into_iter().collect();
            column.map(|pieces| pieces.concat())
        })
        .collect()
}

/// A line of spaces, as some editors leave at the end.
fn is_blank(record: &ByteRecord) -> bool {
    record.len() == 1 && record[0].trim_ascii().is_empty()
}

fn swallowed_end(record: &ByteRecord) -> bool {
    record.iter().next_back().is_some_and(|cell| cell.ends_with(END))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn try_csv(text: &str) -> Result<Table> {
        read("t.csv", text, None, &ReadOptions::default(), None, &mut vec![])
    }

    fn columns(text: &str) -> Vec<Column> {
        match try_csv(text).unwrap() {
            Table::Columns(columns) => columns,
            Table::Sparse { .. } => panic!("columns expected"),
        }
    }

    fn message(text: &str) -> String {
        try_csv(text).unwrap_err().to_string()
    }

    fn number(name: &str, cells: &[f64]) -> Column {
        Column::numeric(name, cells.to_vec())
    }

    fn words(name: &str, cells: &[&str]) -> Column {
        Column::text(name, cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)))
    }

    #[test]
    fn numbers_and_text() {
        let expected =
            [number("a", &[1.0, -2.5, 3e4]), words("b", &["red", "", "blue"]), number("c", &[1.0, 2.0, 3.0])];
        assert_eq!(columns("a,b,c\n1,red,1\n-2.5,NA,+2\n3e4,blue,3\n"), expected);
        assert_eq!(columns("a , b,c \r\n 1 , red ,1\r\n-2.5,?, +2\r\n3e4,blue,3"), expected);
        assert_eq!(columns("\n\na;b;c\n1;red;1\n\n-2.5;;+2\n3e4;blue;3\n\n  \n\n"), expected);
        assert_eq!(columns("a\tb\tc\n1\tred\t1\n-2.5\t\t+2\n3e4\tblue\t3\n"), expected);
        assert_eq!(columns("a,b,c\r1,red,1\r-2.5,,2\r3e4,blue,3\r"), expected);
    }

    #[test]
    fn missing_numbers_are_nan() {
        let columns = columns("a,b\n1,2\n,?\nNA,null\n");
        let missing: Vec<bool> =
            (0..3).map(|i| columns[0].is_missing(i) && columns[1].is_missing(i)).collect();
        assert_eq!(missing, [false, true, true]);
    }

    #[test]
    fn quotes_hold_delimiters_and_line_ends() {
        let expected = [words("a,b", &["x\ny", "say \"hi\""]), number("c", &[1.0, 2.0])];
        assert_eq!(columns("\"a,b\",c\n\"x\ny\",1\n\"say \"\"hi\"\"\",\"2\"\n"), expected);
    }

    #[test]
    fn one_column_may_have_missing_cells_in_quotes() {
        assert_eq!(columns("a\nx\n\"\"\ny\n"), [words("a", &["x", "", "y"])]);
    }

    #[test]
    fn names_are_made_up_where_there_are_none() {
        assert_eq!(columns("a,,c\n1,2,3\n")[1], number("unnamed_2", &[2.0]));
        let options = ReadOptions { header: false };
        let table = read("t.csv", "1,2\n3,4\n", None, &options, None, &mut vec![]).unwrap();
        assert_eq!(table, Table::new(vec![number("c1", &[1.0, 3.0]), number("c2", &[2.0, 4.0])]).unwrap());
    }

    #[test]
    fn a_header_of_numbers_is_mentioned() {
        let mut warnings = vec![];
        read("t.csv", "5.1,3.5\n4.9,3\n", None, &ReadOptions::default(), None, &mut warnings).unwrap();
        assert_eq!(
            warnings,
            ["the first line of t.csv looks like data, not column names; use --no-header if it is"]
        );
        warnings.clear();
        read("t.csv", "5.1,3.5\n4.9,3\n", None, &ReadOptions { header: false }, None, &mut warnings).unwrap();
        read("t.csv", "5.1,a\n4.9,3\n", None, &ReadOptions::default(), None, &mut warnings).unwrap();
        assert!(warnings.is_empty());
    }

    #[test]
    fn wrong_files_are_explained() {
        assert_eq!(message("a,b\n"), "the file has a header but no rows");
        assert_eq!(message("a,b"), "the file has a header but no rows");
        assert_eq!(message("a,a\n1,2\n"), "column 1 and column 2 are both named 'a'; rename one");
        assert_eq!(message("a,b\n1,2\n3\n"), "line 3: expected 2 fields, found 1");
        assert_eq!(message("a,b\r\n1,2\r\n\r\n3,4,5\r\n"), "line 4: expected 2 fields, found 3");
        assert_eq!(message("a,b\r1,2\r3,4,5\r"), "line 3: expected 2 fields, found 3");
        assert_eq!(message("a,b\n\"1\n2\",2\n3,4,5\n"), "line 4: expected 2 fields, found 3");
        let unclosed = "a cell opens with a quote (\") that is never closed";
        assert_eq!(message("a,b\n1,\"2\n3,4\n"), format!("line 2: {unclosed}"));
        assert_eq!(message("a,b\n1,2\n\"3,4\n5,6"), format!("line 3: {unclosed}"));
        assert_eq!(message("a,\"b\n1,2\n"), format!("line 1: {unclosed}"));
    }

    #[test]
    fn parts_give_the_whole_and_its_lines() {
        let mut text = String::from("a,b,c\n");
        for i in 0..100 {
            text.push_str(&format!("{i},level{},{}\n", i * 7 % 13, if i == 60 { "x" } else { "1" }));
        }
        let whole = try_csv(&text).unwrap();
        for part in [1, 5, 64, 500, 5000] {
            let read = read_in_parts("t.csv", &text, None, &ReadOptions::default(), None, &mut vec![], part)
                .unwrap();
            assert_eq!(read, whole);
        }
        text.push_str("\n1,2\n");
        for part in [1, 5, 64, 500, 5000] {
            let read = read_in_parts("t.csv", &text, None, &ReadOptions::default(), None, &mut vec![], part);
            assert_eq!(read.unwrap_err().to_string(), "line 103: expected 3 fields, found 2");
        }
    }

    /// Numbers long and short, gaps, now and then a word.
    fn cell() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => "[0-9]",
            4 => "[-+]?[0-9]{0,18}\\.?[0-9]{0,4}",
            2 => "-?[1-9]\\.[0-9]{1,17}e-?[0-9]{1,3}",
            1 => " ?(NA|nan|inf|\\?|x1|1x) ?",
        ]
    }

    fn same_both_ways(
        text: &str,
        delimiter: u8,
        width: usize,
        part: usize,
    ) -> std::result::Result<(), TestCaseError> {
        let source = Source { told: None, text: text.as_bytes(), delimiter, quoted: false, width };
        let parts = cut(source.text, 0..text.len(), part);
        let careful = source.careful_numbers(&parts);
        prop_assert_eq!(format!("{:?}", source.plain_numbers(&parts)), format!("{:?}", careful.map(Some)));
        Ok(())
    }

    #[test]
    fn empty_lines_take_no_room() {
        let width = 1000;
        let row = vec!["1"; width].join(",");
        let text = format!("{row}{}", "\n".repeat(1 << 20));
        let parts = cut(text.as_bytes(), 0..text.len(), 1 << 18);
        let source = Source { told: None, text: text.as_bytes(), delimiter: b',', quoted: false, width };
        let (columns, rows) = source.plain_numbers(&parts).unwrap().unwrap();
        assert_eq!((rows, columns), (1, vec![Some(vec![1.0]); width]));
    }

    proptest! {
        #[test]
        fn any_text_gives_the_same_in_parts(text in "[ab1\\-.,;\t\r\n ]{0,80}", part in 1usize..30) {
            let whole = read("t.csv", &text, Some(b','), &ReadOptions::default(), None, &mut vec![]);
            let parts = read_in_parts("t.csv", &text, Some(b','), &ReadOptions::default(), None, &mut vec![], part);
            prop_assert_eq!(format!("{whole:?}"), format!("{parts:?}"));
        }

        #[test]
        fn the_quick_way_reads_any_text_as_the_careful_one_does(
            text in "[a1\\-.,\t\r\n ]{0,60}", width in 1usize..4, part in 1usize..30
        ) {
            same_both_ways(&text, b',', width, part)?;
            same_both_ways(&text, b'\t', width, part)?;
        }

        #[test]
        fn and_any_table(
            rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..20),
            end in prop::sample::select(&["\n", "\r\n", "\r", "\n\n", "\n  \n"][..]),
            part in 1usize..60,
        ) {
            let lines: Vec<String> = rows.iter().map(|row| row.join(";")).collect();
            same_both_ways(&lines.join(end), b';', 3, part)?;
        }
    }
}
