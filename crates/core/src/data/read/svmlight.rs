//! The svmlight format: `label index:value index:value ... # comment`, a row per line.
//!
//! Indices start at 1, as the format says, or at 0 if the index 0 occurs, as some programs write them. Features are named
//! by their index: f1, f2, ... or f0, f1, ... `qid:` is used in ranking and ignored.

use super::levels::Levels;
use super::number::{Number, Spelling, number, parse};
use super::progress::{LineCounter, Progress};
use crate::context::need_room;
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result, shorten};

/// The largest index that LIBSVM accepts.
const MAX_INDEX: u64 = 1 << 31;

/// Memory for the name of a feature: a short string and its allocation.
const BYTES_PER_NAME: f64 = 56.0;

/// Reads sparse rows with a target of numbers, or of text if these are integers in an unusual spelling, such as `+1`.
pub(super) fn read(text: &str, limit: u64, progress: Option<&Progress>) -> Result<Table> {
    let mut rows = RawRows { start: vec![0], ..RawRows::default() };
    let mut counter = LineCounter::new(progress);
    for (number, line) in (1..).zip(text.lines()) {
        counter.line(line)?;
        let mut tokens = tokens(line);
        if let Some(label) = tokens.next() {
            rows.push(label, tokens).map_err(|why| Error::at_line(number, why))?;
        }
    }
    if rows.labels.is_empty() {
        return Err(Error::parse("the file has comments but no rows"));
    }
    let target = match rows.spelling.is_text() {
        true => {
            let mut labels = Levels::default();
            for label in text.lines().filter_map(|line| tokens(line).next()) {
                labels.push(Some(label));
            }
            labels.into_column("target".into())
        }
        false => Column::numeric("target", std::mem::take(&mut rows.labels)),
    };
    rows.into_table(target, limit)
}

/// The label and the cells of a line, without its comment.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    line.split('#').next().unwrap_or_default().split_ascii_whitespace()
}

#[derive(Default)]
struct RawRows {
    labels: Vec<f64>,
    spelling: Spelling,
    start: Vec<usize>,
    /// Indices as in the file.
    index: Vec<u32>,
    value: Vec<f64>,
    /// The largest index, also of zero values.
    largest: u32,
    from_zero: bool,
}

impl RawRows {
    fn push<'a>(
        &mut self,
        label: &str,
        tokens: impl Iterator<Item = &'a str>,
    ) -> std::result::Result<(), String> {
        let number = parse_label(label)?;
        self.labels.push(number.value);
        self.spelling.note(number);
        let mut last = None;
        for token in tokens.filter(|token| !token.starts_with("qid:")) {
            let (index, value) = parse_cell(token)?;
            if last.is_some_and(|last| last >= index) {
                return Err(format!("'{}': indices must increase within a line", shorten(token)));
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

    fn into_table(mut self, target: Column, limit: u64) -> Result<Table> {
        let d = if self.from_zero { self.largest as usize + 1 } else { self.largest as usize };
        let what = format!("a table of {d} features (the largest index)");
        need_room(what, d as f64 * BYTES_PER_NAME, limit, "number the features consecutively")?;
        if !self.from_zero {
            self.index.iter_mut().for_each(|index| *index -= 1);
        }
        Ok(Table::Sparse {
            // Named by the index in the file, so that files that start at 0 and at 1 cannot be confused.
            names: (0..d).map(|j| format!("f{}", j + usize::from(!self.from_zero))).collect(),
            x: SparseRows::new(d, self.start, self.index, self.value)?,
            target: Some(target),
        })
    }
}

fn parse_label(label: &str) -> std::result::Result<Number, String> {
    let shown = shorten(label);
    if label.contains(':') {
        return Err(format!("expected a label, found '{shown}'"));
    }
    if label.contains(',') {
        return Err(format!("'{shown}' is a list of labels; each row needs exactly one"));
    }
    number(label.as_bytes()).ok_or_else(|| format!("cannot parse the label '{shown}' as a number"))
}

fn parse_cell(token: &str) -> std::result::Result<(u32, f64), String> {
    let bad = |why: &str| format!("'{}': {why}", shorten(token));
    let (index, value) = token.split_once(':').ok_or_else(|| bad("expected index:value"))?;
    if index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(bad("the index is not a nonnegative integer"));
    }
    // Digits that do not parse overflow a u64.
    let index = index.parse::<u64>().unwrap_or(u64::MAX);
    if index > MAX_INDEX {
        return Err(bad("the index is too large; the maximum is 2147483648"));
    }
    let value = parse(value.as_bytes()).ok_or_else(|| bad("cannot parse the value as a number"))?;
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
    fn example_rows() {
        let text = "# made by hand\n1 1:0.5 3:2 # first\r\n\n-1 qid:4 2:-1 4:0\n0\n";
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
    fn labels_keep_their_spelling() {
        let target = |text: &str| match read(text, 1 << 30, None).unwrap() {
            Table::Sparse { target: Some(target), .. } => target,
            _ => panic!("a sparse table with a target expected"),
        };
        let text = Column::text("target", [Some("+1"), Some("-1"), Some("+1")].into_iter());
        assert_eq!(target("+1 1:2\n# none\n-1 # x\n+1 2:1\n"), text);
        assert_eq!(target("+1 1:2\n2.5 1:3\n"), Column::numeric("target", vec![1.0, 2.5]));
    }

    #[test]
    fn an_index_0_means_that_indices_start_at_0() {
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
    fn messages_for_malformed_lines() {
        assert_eq!(
            message("1 1:1\n1,2 1:1\n"),
            "line 2: '1,2' is a list of labels; each row needs exactly one"
        );
        assert_eq!(message("1:2 2:3\n"), "line 1: expected a label, found '1:2'");
        assert_eq!(message("yes 1:1\n"), "line 1: cannot parse the label 'yes' as a number");
        assert_eq!(message("1 2:1 2:1\n"), "line 1: '2:1': indices must increase within a line");
        assert_eq!(message("1 3\n"), "line 1: '3': expected index:value");
        assert_eq!(message("1 x:3\n"), "line 1: 'x:3': the index is not a nonnegative integer");
        assert_eq!(message("1 -1:3\n"), "line 1: '-1:3': the index is not a nonnegative integer");
        assert_eq!(message("1 1:\n"), "line 1: '1:': cannot parse the value as a number");
        let too_large = "the index is too large; the maximum is 2147483648";
        assert_eq!(message("1 2147483649:3\n"), format!("line 1: '2147483649:3': {too_large}"));
        assert_eq!(
            message("1 99999999999999999999:3\n"),
            format!("line 1: '99999999999999999999:3': {too_large}")
        );
        assert_eq!(
            message("1 2147483648:3\n"),
            "a table of 2147483648 features (the largest index) needs about 112.0 GiB of memory, \
             the limit is 1.0 GiB; number the features consecutively"
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
