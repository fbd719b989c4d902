//! The svmlight format: `label index:value index:value ... # comment`, a row per line.
//!
//! Indices count from 1, as the format says; if a 0 occurs anywhere, they count from 0, as some
//! programs write them. Features are called f1, f2, ... either way. `qid:` is for ranking and ignored.

use super::{Pace, Tally, need_room, number};
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result, shorten};

/// The largest index the format's own programs can hold.
const LARGEST_INDEX: u64 = 1 << 31;

/// Each feature needs a name, used or not: a short string and its place on the heap.
const BYTES_PER_NAME: f64 = 56.0;

/// Reads sparse rows with a numeric target.
pub(super) fn read(text: &str, room: u64, told: Option<&Tally>) -> Result<Table> {
    let mut rows = RawRows { start: vec![0], ..RawRows::default() };
    let mut pace = Pace::new(told);
    for (number, line) in (1..).zip(text.lines()) {
        pace.line(line)?;
        let line = line.split('#').next().unwrap_or_default();
        let mut tokens = line.split_ascii_whitespace();
        if let Some(label) = tokens.next() {
            rows.push(label, tokens).map_err(|why| Error::at_line(number, why))?;
        }
    }
    if rows.labels.is_empty() {
        return Err(Error::parse("the file has comments but no rows"));
    }
    rows.into_table(room)
}

#[derive(Default)]
struct RawRows {
    labels: Vec<f64>,
    start: Vec<usize>,
    /// Indices as written.
    index: Vec<u32>,
    value: Vec<f64>,
    /// The largest index seen, even where the value is zero.
    largest: u32,
    from_zero: bool,
}

impl RawRows {
    fn push<'a>(
        &mut self,
        label: &str,
        tokens: impl Iterator<Item = &'a str>,
    ) -> std::result::Result<(), String> {
        self.labels.push(parse_label(label)?);
        let mut last = None;
        for token in tokens.filter(|token| !token.starts_with("qid:")) {
            let (index, value) = parse_cell(token)?;
            if last.is_some_and(|last| last >= index) {
                return Err(format!("'{}': indices must rise within a line", shorten(token)));
            }
            last = Some(index);
            self.largest = self.largest.max(index);
            self.from_zero |= index == 0;
            if value != 0.0 {
                self.index.push(index);
                self.value.push(value);
            }
        }
        self.start.push(self.index.len());
        Ok(())
    }

    fn into_table(mut self, room: u64) -> Result<Table> {
        let d = if self.from_zero { self.largest as usize + 1 } else { self.largest as usize };
        let what = format!("a table of {d} features (the largest index)");
        need_room(what, d as f64 * BYTES_PER_NAME, room, "number the features without gaps")?;
        if !self.from_zero {
            self.index.iter_mut().for_each(|index| *index -= 1);
        }
        Ok(Table::Sparse {
            // Named by the index as written, so that files that start at 0 and at 1 are not mixed up.
            names: (0..d).map(|j| format!("f{}", j + usize::from(!self.from_zero))).collect(),
            x: SparseRows::new(d, self.start, self.index, self.value)?,
            target: Some(Column::numeric("target", self.labels)),
        })
    }
}

fn parse_label(label: &str) -> std::result::Result<f64, String> {
    let shown = shorten(label);
    if label.contains(':') {
        return Err(format!("'{shown}' comes first, where the label should be"));
    }
    if label.contains(',') {
        return Err(format!("'{shown}' is a list of labels; each row needs exactly one"));
    }
    number::parse(label.as_bytes()).ok_or_else(|| format!("the label '{shown}' is not a number"))
}

fn parse_cell(token: &str) -> std::result::Result<(u32, f64), String> {
    let bad = |why: &str| format!("'{}': {why}", shorten(token));
    let (index, value) = token.split_once(':').ok_or_else(|| bad("expected index:value"))?;
    if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad("the index is not a whole number"));
    }
    // All digits: what does not parse is too large for a u64.
    let index = index.parse::<u64>().unwrap_or(u64::MAX);
    if index > LARGEST_INDEX {
        return Err(bad("the index is too large; the most is 2147483648"));
    }
    let value = number::parse(value.as_bytes()).ok_or_else(|| bad("the value is not a number"))?;
    Ok((index as u32, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Rows;
    use ndarray::array;

    fn message(text: &str) -> String {
        read(text, 1 << 30, None).unwrap_err().to_string()
    }

    #[test]
    fn rows_by_hand() {
        let text = "# made by hand\n+1 1:0.5 3:2 # first\r\n\n-1 qid:4 2:-1 4:0\n0\n";
        let Table::Sparse { names, x, target } = read(text, 1 << 30, None).unwrap() else {
            panic!("sparse expected")
        };
        assert_eq!(names, ["f1", "f2", "f3", "f4"]);
        assert_eq!(target, Some(Column::numeric("target", vec![1.0, -1.0, 0.0])));
        assert_eq!(x.n_stored(), 3, "zeros are not stored");
        let dense = array![[0.5, 0.0, 2.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]];
        assert_eq!(Rows::Sparse(x).to_dense(), dense);
    }

    #[test]
    fn a_zero_anywhere_means_counting_from_zero() {
        let Table::Sparse { names, x, .. } = read("1 1:5\n2 0:7 2:9\n", 1 << 30, None).unwrap() else {
            panic!("sparse expected")
        };
        assert_eq!(names, ["f0", "f1", "f2"]);
        assert_eq!(Rows::Sparse(x).to_dense(), array![[0.0, 5.0, 0.0], [7.0, 0.0, 9.0]]);
    }

    #[test]
    fn rows_without_features() {
        let table = read("1\n-1\n", 1 << 30, None).unwrap();
        assert_eq!(table.names(), ["target"]);
        assert_eq!(table.n_rows(), 2);
    }

    #[test]
    fn wrong_lines_are_explained() {
        assert_eq!(
            message("1 1:1\n1,2 1:1\n"),
            "line 2: '1,2' is a list of labels; each row needs exactly one"
        );
        assert_eq!(message("1:2 2:3\n"), "line 1: '1:2' comes first, where the label should be");
        assert_eq!(message("yes 1:1\n"), "line 1: the label 'yes' is not a number");
        assert_eq!(message("1 2:1 2:1\n"), "line 1: '2:1': indices must rise within a line");
        assert_eq!(message("1 3\n"), "line 1: '3': expected index:value");
        assert_eq!(message("1 x:3\n"), "line 1: 'x:3': the index is not a whole number");
        assert_eq!(message("1 -1:3\n"), "line 1: '-1:3': the index is not a whole number");
        assert_eq!(message("1 1:\n"), "line 1: '1:': the value is not a number");
        let too_large = "the index is too large; the most is 2147483648";
        assert_eq!(message("1 2147483649:3\n"), format!("line 1: '2147483649:3': {too_large}"));
        assert_eq!(
            message("1 99999999999999999999:3\n"),
            format!("line 1: '99999999999999999999:3': {too_large}")
        );
        assert_eq!(
            message("1 2147483648:3\n"),
            "a table of 2147483648 features (the largest index) needs about 112.0 GiB of memory, \
             the limit is 1.0 GiB; number the features without gaps"
        );
        assert_eq!(message("# nothing\n"), "the file has comments but no rows");
    }

    #[test]
    fn long_tokens_are_shortened() {
        let long = "z".repeat(500);
        assert_eq!(
            message(&format!("1 {long}\n")),
            format!("line 1: '{}...': expected index:value", &long[..37])
        );
    }
}
