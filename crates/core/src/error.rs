//! The one error type. Variants carry facts; the sentence a user reads is made here and nowhere else.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// What every fallible function of the crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, each with what is needed to mend it.
///
/// Rows are counted from 1 and leave the header out; lines are lines of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{method}: parameter '{name}' must be {expected}, got {got}")]
    Param {
        /// The method whose parameter it is.
        method: &'static str,
        /// The parameter's name.
        name: Cow<'static, str>,
        /// The values that are allowed.
        expected: String,
        /// The value given.
        got: String,
    },
    /// Two things that must agree in size do not.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What was measured.
        what: String,
        /// The size it should have.
        expected: String,
        /// The size it has.
        got: String,
    },
    /// NaN or an infinity where a number is needed.
    #[error(
        "row {row}, column '{column}': {value} is not a finite number; remove the row or replace the value"
    )]
    NonFinite {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The offending value.
        value: f64,
    },
    /// An empty cell where the user asked for none.
    #[error(
        "row {row}, column '{column}': missing value; choose what to do with it: --missing drop, mean, median or keep"
    )]
    MissingValue {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
    },
    /// A gap in data for a method that needs every cell.
    #[error(
        "row {row}, column '{column}': missing value, and {method} needs every cell; fill gaps with --missing mean or median, leave rows out with --missing drop, or use a method that bears gaps"
    )]
    MissingUnsupported {
        /// The method.
        method: String,
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
    },
    /// A missing value in a column that has no mean.
    #[error(
        "row {row}, column '{column}': missing value, and {why}; use --missing drop to leave such rows out"
    )]
    CannotImpute {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// Why it cannot be filled in.
        why: &'static str,
    },
    /// Text where numbers are expected.
    #[error(
        "row {row}, column '{column}': '{text}' is not a number; mend the cell, or encode text columns with --categorical onehot or ordinal"
    )]
    NotNumeric {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The text found (shortened).
        text: String,
    },
    /// A category that was not there when the model was made.
    #[error("row {row}, column '{column}': category '{text}' was not in the data the model was made from")]
    UnknownCategory {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The category (shortened).
        text: String,
    },
    /// A column that is asked for is not there.
    #[error("no column '{name}'{}", did_you_mean(.similar, .available))]
    UnknownColumn {
        /// The name asked for.
        name: String,
        /// The nearest existing name, if one is near.
        similar: Option<String>,
        /// The names there are.
        available: Vec<String>,
    },
    /// A name that is not in a list of names (methods, data sets, kernels).
    #[error("no {what} '{name}'{}", did_you_mean(.similar, .available))]
    UnknownName {
        /// What kind of thing was asked for.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The nearest existing name, if one is near.
        similar: Option<String>,
        /// The names there are.
        available: Vec<String>,
    },
    /// Two columns with one name.
    #[error("column name '{name}' stands for both column {first} and column {second}; rename one")]
    DuplicateColumn {
        /// The name.
        name: String,
        /// First position, from 1.
        first: usize,
        /// Second position, from 1.
        second: usize,
    },
    /// Two rows with one id.
    #[error("the id '{id}' stands for both row {first} and row {second}; ids must differ")]
    DuplicateId {
        /// The id (shortened).
        id: String,
        /// First row, from 1.
        first: usize,
        /// Second row, from 1.
        second: usize,
    },
    /// Too little data for the method.
    #[error("{method}: needs at least {need} rows, got {got}")]
    TooFewRows {
        /// The method.
        method: &'static str,
        /// Rows it needs.
        need: usize,
        /// Rows there are.
        got: usize,
    },
    /// No column is left to work on.
    #[error("no feature columns: the table has nothing besides the target")]
    NoFeatures,
    /// All rows belong to one class.
    #[error(
        "{method}: all rows have the class '{class}'; two or more classes are needed (is the target column right?)"
    )]
    OneClass {
        /// The method.
        method: &'static str,
        /// The only class.
        class: String,
    },
    /// No class has two rows.
    #[error(
        "{method}: every row is alone in its class, {rows} rows in {rows} classes; is the target column right?"
    )]
    SingletonClasses {
        /// The method.
        method: &'static str,
        /// Rows, and classes.
        rows: usize,
    },
    /// A method that needs classes met something else.
    #[error(
        "{method}: needs a class target, but {found}; name one with --target, or use --target-type class"
    )]
    NeedsClasses {
        /// The method.
        method: &'static str,
        /// What the target is instead.
        found: &'static str,
    },
    /// A method that needs a target met none.
    #[error("{method}: needs a target, of classes or numbers, but there is none; name one with --target")]
    NeedsTarget {
        /// The method.
        method: &'static str,
    },
    /// The target is the same number in every row.
    #[error(
        "{method}: the target is {value} in every row, so there is nothing to explain (is the target column right?)"
    )]
    ConstantTarget {
        /// The method.
        method: &'static str,
        /// The number.
        value: f64,
    },
    /// The mathematics broke down on this data.
    #[error("{step}: {why}")]
    Breakdown {
        /// The step that failed.
        step: &'static str,
        /// What was seen, and what to try.
        why: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The work would not fit in memory.
    #[error("{what} needs about {} of memory, the limit is {}; {advice}", bytes(*.needed), bytes(*.limit))]
    Memory {
        /// What is to be computed.
        what: String,
        /// Estimated bytes.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
        /// What to do about it.
        advice: &'static str,
    },
    /// Files that cannot be opened, read or written.
    #[error("{}: {}", .path.display(), io_sentence(.source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file's text is not what its format says.
    #[error("{place}{why}")]
    Parse {
        /// Where, such as `line 7: `; may be empty.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// A saved model that cannot be used.
    #[error("not a usable kernsift model: {why}")]
    Model {
        /// What is wrong.
        why: String,
    },
    /// Another error, with the file it happened in.
    #[error("{}: {source}", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The error itself; its text is part of this one's.
        #[source]
        source: Box<Error>,
    },
}

impl Error {
    /// The same error with the file it belongs to in front. Keeps a file that is named already.
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Io { .. } | Self::InFile { .. } | Self::Interrupted => self,
            source => Self::InFile { path: path.to_owned(), source: Box::new(source) },
        }
    }

    /// An error of the file system.
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A parse error at a line of a file.
    pub fn at_line(line: u64, why: impl Into<String>) -> Self {
        Self::Parse { place: format!("line {line}: "), why: why.into() }
    }

    /// A parse error of a file as a whole.
    pub fn parse(why: impl Into<String>) -> Self {
        Self::Parse { place: String::new(), why: why.into() }
    }

    /// A parameter out of range.
    pub fn param(
        method: &'static str,
        name: impl Into<Cow<'static, str>>,
        expected: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> Self {
        Self::Param { method, name: name.into(), expected: expected.into(), got: got.to_string() }
    }

    /// An unknown column, with the nearest name that exists.
    pub fn unknown_column<'a>(name: &str, available: impl Iterator<Item = &'a str>) -> Self {
        let available: Vec<String> = available.map(str::to_owned).collect();
        Self::UnknownColumn { name: name.to_owned(), similar: nearest(name, &available), available }
    }

    /// An unknown name of some kind, with the nearest one that exists.
    pub fn unknown_name<'a>(
        what: &'static str,
        name: &str,
        available: impl Iterator<Item = &'a str>,
    ) -> Self {
        let available: Vec<String> = available.map(str::to_owned).collect();
        Self::UnknownName { what, name: name.to_owned(), similar: nearest(name, &available), available }
    }

    /// Whether the user stopped the work.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::InFile { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }
}

/// Refuses rows of another width.
pub(crate) fn need_columns(what: &str, expected: usize, got: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Shape { what: what.into(), expected: expected.to_string(), got: got.to_string() })
}

/// A cell's text, short enough for a message.
pub fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    if text.chars().count() <= MOST {
        text.to_owned()
    } else {
        text.chars().take(MOST - 3).chain("...".chars()).collect()
    }
}

/// Bytes as a person would write them.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", units[unit]) }
}

fn did_you_mean(similar: &Option<String>, available: &[String]) -> String {
    if let Some(name) = similar {
        return format!("; did you mean '{}'?", shorten(name));
    }
    const MOST: usize = 8;
    let names: Vec<String> = available.iter().take(MOST).map(|s| shorten(s)).collect();
    match available.len() {
        0 => String::new(),
        n if n > MOST => format!("; there are {} and {} more", names.join(", "), n - MOST),
        _ => format!("; there are {}", names.join(", ")),
    }
}

fn io_sentence(source: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::NotFound => "no such file".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "is a directory, not a file".into(),
        _ => source.to_string(),
    }
}

/// The name that was probably meant: nearest by edits, if that may be a slip of the finger, or one that `name` is
/// a part of.
pub fn nearest(name: &str, available: &[String]) -> Option<String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = 1 + length / 4;
    let slip = available
        .iter()
        .map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase(), allowed), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance);
    if let Some((0 | 1, candidate)) = slip {
        return Some(candidate.clone());
    }
    // Of those that it is a part of, one that begins with it; short parts are in too many.
    let part = available
        .iter()
        .filter_map(|candidate| Some((candidate.to_lowercase().find(&wanted)?, candidate)))
        .min_by_key(|(place, candidate)| (*place > 0, candidate.len()))
        .filter(|_| length >= 3);
    part.map(|(_, candidate)| candidate).or(slip.map(|(_, candidate)| candidate)).cloned()
}

/// Levenshtein distance; anything above `limit` may come back as `limit + 1`.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_a_stranger_is_not() {
        let names = ["class", "alcohol", "ash"].map(String::from);
        assert_eq!(nearest("clas", &names).as_deref(), Some("class"));
        assert_eq!(nearest("Alcohl", &names).as_deref(), Some("alcohol"));
        assert_eq!(nearest("temperature", &names), None);
        let methods = ["fisher", "svm-rfe", "l1-svm", "hsfs", "hsic-lasso"].map(String::from);
        assert_eq!(nearest("svm", &methods).as_deref(), Some("svm-rfe"));
        assert_eq!(nearest("lasso", &methods).as_deref(), Some("hsic-lasso"));
        assert_eq!(nearest("hsic", &methods).as_deref(), Some("hsic-lasso"), "rather than two edits away");
        assert_eq!(nearest("fi", &methods), None);
    }

    #[test]
    fn edit_distance_by_hand() {
        assert_eq!(edit_distance("kitten", "sitting", 5), 3);
        assert_eq!(edit_distance("", "abc", 5), 3);
        assert_eq!(edit_distance("same", "same", 5), 0);
    }

    #[test]
    fn unknown_column_lists_or_suggests() {
        let error = Error::unknown_column("clas", ["class", "ash"].into_iter());
        assert_eq!(error.to_string(), "no column 'clas'; did you mean 'class'?");
        let error = Error::unknown_column("weight", ["a", "b"].into_iter());
        assert_eq!(error.to_string(), "no column 'weight'; there are a, b");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(6 << 30), "6.0 GiB");
    }
}
