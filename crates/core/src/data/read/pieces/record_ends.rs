//! Where the records of a delimited text end, by the rule of the reader: a quote opens only at the start of a cell.

/// Records of the first piece, at least: a header and two rows, by which the columns are decided.
const MIN_RECORDS: usize = 3;

/// What the next byte continues.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    RecordStart,
    CellStart,
    Cell,
    Quoted,
    /// A quote inside quotes: it closes them, or it is the first of two.
    AfterQuote,
    Comment,
}

/// The last record end of a text that grows. Each byte is scanned once.
pub(super) struct RecordEnds {
    pub(super) delimiter: u8,
    comment: Option<u8>,
    state: State,
    /// Bytes scanned.
    scanned: usize,
    /// Where the last complete record ends.
    end: Option<usize>,
    /// The last quote that opened.
    quote: usize,
    /// Records so far; not all are counted above `MIN_RECORDS`.
    n_records: usize,
}

impl RecordEnds {
    /// A text whose first record starts at `start`.
    pub(super) fn new(delimiter: u8, comment: Option<u8>, start: usize) -> Self {
        let state = State::RecordStart;
        Self { delimiter, comment, state, scanned: start, end: None, quote: 0, n_records: 0 }
    }

    /// Scans what was added to the text.
    pub(super) fn scan(&mut self, text: &[u8]) {
        let added = &text[self.scanned.min(text.len())..];
        let is_quoted = matches!(self.state, State::Quoted | State::AfterQuote);
        let has_quotes = is_quoted || added.contains(&b'"');
        if self.n_records >= MIN_RECORDS && self.comment.is_none() && !has_quotes {
            if let Some(at) = added.iter().rposition(|&byte| byte == b'\n') {
                self.end = Some(self.scanned + at + 1);
            }
            self.state = added.last().map_or(self.state, |&byte| self.after(State::Cell, byte));
        } else {
            for (at, &byte) in (self.scanned..).zip(added) {
                let state = self.after(self.state, byte);
                let was_record = !matches!(self.state, State::RecordStart | State::Comment);
                self.n_records += usize::from(was_record && state == State::RecordStart);
                if state == State::Quoted && matches!(self.state, State::RecordStart | State::CellStart) {
                    self.quote = at;
                }
                if byte == b'\n' && state == State::RecordStart {
                    self.end = Some(at + 1);
                }
                self.state = state;
            }
        }
        self.scanned = self.scanned.max(text.len());
    }

    fn after(&self, state: State, byte: u8) -> State {
        let in_cell = match byte {
            b'\n' | b'\r' => State::RecordStart,
            byte if byte == self.delimiter => State::CellStart,
            _ => State::Cell,
        };
        match (state, byte) {
            (State::Quoted, b'"') => State::AfterQuote,
            (State::Quoted, _) | (State::AfterQuote, b'"') => State::Quoted,
            (State::Comment, b'\n') => State::RecordStart,
            (State::Comment, _) => State::Comment,
            (State::RecordStart, byte) if Some(byte) == self.comment => State::Comment,
            (State::RecordStart | State::CellStart, b'"') => State::Quoted,
            _ => in_cell,
        }
    }

    /// Where the last complete record ends, once there are enough for the first piece.
    pub(super) fn last(&self) -> Option<usize> {
        self.end.filter(|_| self.n_records >= MIN_RECORDS)
    }

    /// The quote that opens the cell at the end of the text, if that is quoted.
    pub(super) fn open_quote(&self) -> Option<usize> {
        (self.state == State::Quoted).then_some(self.quote)
    }

    /// Forgets the first `n` bytes of the text, which end with its last record end.
    pub(super) fn remove(&mut self, n: usize) {
        (self.scanned, self.quote) = (self.scanned.saturating_sub(n), self.quote.saturating_sub(n));
        self.end = None;
    }
}

/// Calls `visit` with the records of a text that starts with one, without comments and blank lines: where each starts, its text, and
/// whether the text ends in a quote of it that is not closed.
pub(super) fn for_each_record<'a>(
    text: &'a str,
    delimiter: u8,
    comment: Option<u8>,
    visit: &mut dyn FnMut(usize, &'a str, bool),
) {
    let ends = RecordEnds::new(delimiter, comment, 0);
    let is_between = |state: State| matches!(state, State::RecordStart | State::Comment);
    let mut visit = |start: usize, end: usize, is_open: bool| {
        let record = &text[start..end];
        let is_blank = !record.as_bytes().contains(&delimiter) && is_blank(record);
        if !is_blank || is_open {
            visit(start, record, is_open);
        }
    };
    let (mut state, mut start) = (State::RecordStart, 0);
    for (at, byte) in text.bytes().enumerate() {
        let before = state;
        state = ends.after(state, byte);
        if is_between(before) && !is_between(state) {
            start = at;
        } else if is_between(state) && !is_between(before) {
            visit(start, at + 1, false);
        }
    }
    if !is_between(state) {
        visit(start, text.len(), state == State::Quoted);
    }
}

/// Whether a record of one cell is a line of spaces, which the reader skips.
fn is_blank(record: &str) -> bool {
    match record.strip_prefix('"') {
        None => record.trim_ascii().is_empty(),
        Some(rest) => {
            let is_empty =
                |(cell, after): (&str, &str)| cell.trim_ascii().is_empty() && after.trim_ascii().is_empty();
            rest.split_once('"').is_some_and(is_empty)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &[u8]) -> Vec<csv::ByteRecord> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true).comment(Some(b'#')).buffer_capacity(64);
        reader.from_reader(text).into_byte_records().map(Result::unwrap).collect()
    }

    #[test]
    fn no_record_is_split() {
        // All texts of five of these characters, in two parts.
        let letters = *b"a\",\n\r #";
        for number in 0..letters.len().pow(5) {
            let letter = |k: u32| letters[number / letters.len().pow(k) % letters.len()];
            let text: Vec<u8> = (0..5).map(letter).collect();
            let mut ends = RecordEnds::new(b',', Some(b'#'), 0);
            ends.scan(&text[..3]);
            ends.scan(&text);
            let end = ends.end.unwrap_or(0);
            let parts = [parsed(&text[..end]), parsed(&text[end..])].concat();
            assert_eq!(parts, parsed(&text), "{:?}", String::from_utf8_lossy(&text));
            // Each record by itself. To the parser a comment without a line end is an empty record.
            let text = String::from_utf8(text).unwrap() + "\n";
            // The reader skips lines of spaces.
            let is_blank = |record: &csv::ByteRecord| record.len() == 1 && record[0].trim_ascii().is_empty();
            let mut found = vec![];
            for_each_record(&text, b',', Some(b'#'), &mut |at, record, is_open| {
                assert!(text[at..].starts_with(record));
                let alone = parsed(record.as_bytes());
                assert!(alone.len() == 1 && (is_open || !is_blank(&alone[0])), "{text:?} {record:?}");
                found.extend(alone);
            });
            let mut expected = parsed(text.as_bytes());
            expected.retain(|record| !is_blank(record));
            found.retain(|record| !is_blank(record));
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn the_last_record_end_is_found() {
        let rows = "a,b\n1,2\n3,4\n";
        for (added, expected) in [
            ("5,6\n7", "5,6\n"),
            ("5\" pipe,6\n7", "5\" pipe,6\n"),
            ("\"5\n\"\"6\n", ""),
            ("\"5\n\",\"\n\"\n6", "\"5\n\",\"\n\"\n"),
            ("\"5\"x\"\n6", "\"5\"x\"\n"),
        ] {
            let mut ends = RecordEnds::new(b',', None, 0);
            ends.scan(rows.as_bytes());
            assert_eq!(ends.last(), Some(rows.len()));
            ends.remove(rows.len());
            assert_eq!(ends.last(), None);
            for length in 0..=added.len() {
                ends.scan(&added.as_bytes()[..length]);
            }
            let found = ends.last().map_or("", |end| &added[..end]);
            assert_eq!(found, expected, "{added:?}");
        }
        let mut ends = RecordEnds::new(b',', None, 0);
        ends.scan(b"a,b\n\n1,2\n3,");
        assert_eq!((ends.last(), ends.open_quote()), (None, None));
        ends.scan(b"a,b\n\n1,2\n3,\"4\n");
        assert_eq!((ends.end, ends.open_quote()), (Some(9), Some(11)));
    }
}
