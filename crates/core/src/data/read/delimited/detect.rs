//! Detect the delimiter and the comments at the start of a text.

use super::source::is_line_end;
use std::ops::Range;

/// Delimiters that are detected. If two fit equally well, the later one is used.
const DELIMITERS: [u8; 4] = [b',', b'|', b';', b'\t'];

/// Lines that are looked at, and the bytes they may have.
const SAMPLE_LINES: usize = 50;
const SAMPLE_BYTES: usize = 1 << 18;

/// How often each delimiter occurs in a line outside quotes.
type Counts = [usize; DELIMITERS.len()];

/// The delimiter that occurs in the first line and equally often in most other lines.
///
/// A comma and another delimiter may fit equally well. Then a comma between digits is a decimal comma, as in
/// `1,5;2,5`, unless another comma is not.
pub(super) fn guess_delimiter(text: &[u8], comment: Option<u8>) -> u8 {
    let (lines, decimal_commas) = sample(text, comment);
    let Some(first) = lines.first() else { return b',' };
    let agreeing = |d: usize| lines.iter().filter(|line| line[d] == first[d]).count();
    let candidates = (0..DELIMITERS.len()).filter(|&d| first[d] > 0);
    let best = candidates.max_by_key(|&d| agreeing(d)).unwrap_or(0);
    if first[0] > 0 && agreeing(0) == agreeing(best) && !decimal_commas { b',' } else { DELIMITERS[best] }
}

/// The delimiters in the first lines, and whether all commas are between digits.
fn sample(text: &[u8], comment: Option<u8>) -> (Vec<Counts>, bool) {
    let mut lines: Vec<Counts> = vec![];
    let mut decimal_commas = true;
    let mut start = 0;
    while start < text.len().min(SAMPLE_BYTES) && lines.len() < SAMPLE_LINES {
        let line = next_line(text, start);
        let content = &text[line.clone()];
        start = line.end + 1;
        if content.trim_ascii().is_empty() || (comment.is_some() && content.first() == comment.as_ref()) {
            continue;
        }
        let mut counts = Counts::default();
        for_each_unquoted(content, |place| {
            if let Some(d) = DELIMITERS.iter().position(|&delimiter| delimiter == content[place]) {
                counts[d] += 1;
                let digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
                let before = place.checked_sub(1).and_then(|before| content.get(before));
                decimal_commas &= d != 0 || (digit(before) && digit(content.get(place + 1)));
            }
        });
        lines.push(counts);
    }
    (lines, decimal_commas)
}

/// The line that starts at a position, without its end; it does not end inside quotes.
fn next_line(text: &[u8], start: usize) -> Range<usize> {
    let mut end = text.len();
    scan(&text[start..], |place| {
        let stop = is_line_end(text[start + place]);
        if stop {
            end = start + place;
        }
        !stop
    });
    start..end
}

/// Calls `visit` with the position of every byte outside quotes.
fn for_each_unquoted(text: &[u8], mut visit: impl FnMut(usize)) {
    scan(text, |place| {
        visit(place);
        true
    });
}

/// Calls `visit` with the position of each byte outside quotes, until it returns false. A quote opens only at the start of
/// a cell; a doubled one inside quotes does not close them.
fn scan(text: &[u8], mut visit: impl FnMut(usize) -> bool) {
    let (mut quoted, mut cell_start, mut place) = (false, true, 0);
    while let Some(&byte) = text.get(place) {
        if quoted {
            let doubled = byte == b'"' && text.get(place + 1) == Some(&b'"');
            quoted = byte != b'"' || doubled;
            place += usize::from(doubled);
        } else if byte == b'"' && cell_start {
            quoted = true;
        } else if !visit(place) {
            return;
        }
        cell_start =
            !quoted && (DELIMITERS.contains(&byte) || is_line_end(byte) || (cell_start && byte == b' '));
        place += 1;
    }
}

/// Where the header starts: after the lines at the start that begin with `#`. The last of them is the header if its name
/// follows the `#` directly and it has as many cells as the next line, such as `#chrom,start,end`.
pub(super) fn after_comments(text: &[u8], delimiter: Option<u8>) -> usize {
    let (mut start, mut last) = (0, None);
    loop {
        start += text[start..].iter().take_while(|&&byte| is_line_end(byte)).count();
        if text.get(start) != Some(&b'#') {
            break;
        }
        let length = text[start..].iter().position(|&byte| is_line_end(byte)).unwrap_or(text.len() - start);
        last = Some(start..start + length);
        start += length;
    }
    let Some(last) = last else { return 0 };
    let next = next_line(text, start);
    let delimiter = delimiter.unwrap_or_else(|| guess_delimiter(&text[start..], None));
    let cells = |line: &Range<usize>| {
        let mut count = 1;
        for_each_unquoted(&text[line.clone()], |place| {
            count += usize::from(text[line.start + place] == delimiter)
        });
        count
    };
    let named = text.get(last.start + 1).is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b'#');
    if named && cells(&last) > 1 && cells(&last) == cells(&next) { last.start } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(text: &str) -> char {
        guess_delimiter(text.as_bytes(), None) as char
    }

    #[test]
    fn delimiters_are_consistent_over_lines() {
        assert_eq!((guess("a,b\n1,2\n"), guess("a;b\n1;2\n"), guess("a\tb\n1\t2\n")), (',', ';', '\t'));
        assert_eq!((guess("a|b\n1|2\n"), guess("a\n1\n"), guess("")), ('|', ',', ','));
        // Decimal commas, with and without a header.
        assert_eq!((guess("a;b\n1,5;2,5\n3;4,25\n"), guess("1,5;2,5\n3,5;4,25\n")), (';', ';'));
        assert_eq!((guess("a\tb\n1,5\t2\n"), guess("1,5|2,5\n3,5|4,25\n")), ('\t', '|'));
        // Lists inside cells.
        assert_eq!((guess("a,b\n1,x;y;z\n2,x;y\n"), guess("1,x|y\n2,z|y\n")), (',', ','));
        // Names with commas in a file with semicolons.
        assert_eq!(guess("id;length, cm;mass, g;kind\n1;2;3;x\n2;3;4;y\n"), ';');
        // A single odd line does not change the delimiter.
        assert_eq!(guess("a;b\n1;2\n3;4;5\n6;7\n"), ';');
    }

    #[test]
    fn delimiters_in_quotes_do_not_count() {
        assert_eq!(guess("\"a;b;c\",d\n1,\"x\n;;;y\"\n"), ',');
        assert_eq!(guess("\"say \"\",;\"\"\";b\n1;2\n"), ';');
        assert_eq!(guess("5\" pipe,a;b\n1,2\n"), ',');
    }

    #[test]
    fn comments_are_skipped() {
        let header = |text: &str| text[after_comments(text.as_bytes(), None)..].to_owned();
        assert_eq!(header("a,b\n1,2\n"), "a,b\n1,2\n");
        assert_eq!(header("# made, by hand\n\n# in 2020\r\na,b\n1,2\n"), "a,b\n1,2\n");
        assert_eq!(header("##x\n#id;b\n1;2\n"), "#id;b\n1;2\n");
        assert_eq!((header("#only"), header("#a,b\nx\n")), (String::new(), "x\n".to_owned()));
        assert_eq!(guess_delimiter(b"%a;b;c\na,b\n%;;\n1,2\n", Some(b'%')), b',');
    }
}
