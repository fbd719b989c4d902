//! The error type. Variants and their messages state facts and advice that holds everywhere; the command line and
//! Python add advice in terms of their own options.

use super::text::{bytes, did_you_mean, io_message, listed, nearest, number, others, short_number};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// All errors.
///
/// Rows are counted from 1, without the header; lines are lines of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{method}: parameter '{name}' must be {expected}, got {got}")]
    Param {
        /// The method.
        method: &'static str,
        /// The parameter.
        name: Cow<'static, str>,
        /// The allowed values.
        expected: String,
        /// The given value.
        got: String,
    },
    /// A parameter is set but has no effect.
    #[error("{method}: parameter '{name}' has no effect because {why}; leave it at its default")]
    NoEffect {
        /// The method.
        method: &'static str,
        /// The parameter.
        name: &'static str,
        /// The reason.
        why: String,
    },
    /// Sizes do not match.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// What has the size.
        what: String,
        /// The expected size.
        expected: String,
        /// The actual size.
        got: String,
    },
    /// NaN or an infinity where a finite number is needed.
    #[error(
        "row {row}, column '{column}': {value} is not a finite number. Correct the value or remove the row."
    )]
    NonFinite {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The value.
        value: f64,
    },
    /// A missing value, with [`Missing::Error`](crate::data::Missing::Error).
    #[error("row {row}, column '{column}': missing value")]
    MissingValue {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
    },
    /// A missing value, for a method that does not support missing values.
    #[error("row {row}, column '{column}': missing value, and {method} does not support missing values")]
    MissingUnsupported {
        /// The method.
        method: String,
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
    },
    /// A feature with categories, for a method that supports numbers only.
    #[error("column '{column}' holds categories, and {method} supports numbers only")]
    CategoryUnsupported {
        /// The method.
        method: String,
        /// Column name.
        column: String,
    },
    /// Weights of rows or classes, for a method that does not support them.
    #[error("{method} does not support weights of rows or classes{}", others(.supported))]
    WeightsUnsupported {
        /// The method.
        method: String,
        /// The names of the methods that do, if there are any of its kind.
        supported: Vec<&'static str>,
    },
    /// Several target columns, for a method that supports only one.
    #[error("{method} does not support several target columns{}", others(.supported))]
    OutputsUnsupported {
        /// The method.
        method: String,
        /// The names of the methods that do, if there are any of its kind.
        supported: Vec<&'static str>,
    },
    /// A table that is read in passes, for a method that needs all rows at once.
    #[error("{method} does not read a table in passes{}", others(.supported))]
    RoundsUnsupported {
        /// The method.
        method: String,
        /// The names of the methods that do, if there are any of its kind.
        supported: Vec<&'static str>,
    },
    /// No rows remain after dropping those with missing values.
    #[error("every row has a missing value")]
    NoCompleteRows,
    /// Text where numbers are expected.
    #[error("row {row}, column '{column}': cannot parse '{text}' as a number")]
    NotNumeric {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The text found (shortened).
        text: String,
    },
    /// Text that is not a value of the type of its column.
    #[error("row {row}, column '{column}': cannot parse '{text}' as {expected}")]
    NotOfType {
        /// Row, from 1.
        row: usize,
        /// Column name.
        column: String,
        /// The text found (shortened).
        text: String,
        /// The type, with an article.
        expected: &'static str,
    },
    /// A column does not exist.
    #[error("no column '{name}'{}", did_you_mean(.similar, .available))]
    UnknownColumn {
        /// The requested name.
        name: String,
        /// A similar existing name, if there is one.
        similar: Option<String>,
        /// The existing names.
        available: Vec<String>,
    },
    /// An unknown name of a method, data set, kernel and so on.
    #[error("no {what} '{name}'{}", did_you_mean(.similar, .available))]
    UnknownName {
        /// The kind of name.
        what: &'static str,
        /// The requested name.
        name: String,
        /// A similar existing name, if there is one.
        similar: Option<String>,
        /// The existing names.
        available: Vec<String>,
    },
    /// Two columns with the same name.
    #[error("column {first} and column {second} are both named '{name}'; rename one")]
    DuplicateColumn {
        /// The name.
        name: String,
        /// First position, from 1.
        first: usize,
        /// Second position, from 1.
        second: usize,
    },
    /// Two rows with the same id.
    #[error("row {first} and row {second} have the same id '{id}'; ids must be unique")]
    DuplicateId {
        /// The id (shortened).
        id: String,
        /// First row, from 1.
        first: usize,
        /// Second row, from 1.
        second: usize,
    },
    /// Too few rows for the method.
    #[error("{method}: needs at least {need} rows, got {got}")]
    TooFewRows {
        /// The method.
        method: &'static str,
        /// Required number of rows.
        need: usize,
        /// Actual number of rows.
        got: usize,
    },
    /// The table has no feature columns.
    #[error("no features: the table has no column besides the target")]
    NoFeatures,
    /// No column of the table is a feature.
    #[error("no features; {skipped}")]
    AllSkipped {
        /// The columns and why they are not features.
        skipped: String,
    },
    /// All rows are of the same class.
    #[error(
        "{method}: all rows have the class '{class}'; at least two classes are required (is the target column \
         correct?)"
    )]
    OneClass {
        /// The method.
        method: &'static str,
        /// The only class.
        class: String,
    },
    /// Every class has a single row.
    #[error("{method}: each of the {rows} classes has a single row (is the target column correct?)")]
    SingletonClasses {
        /// The method.
        method: &'static str,
        /// Number of rows, and of classes.
        rows: usize,
    },
    /// A method for classification got no classes.
    #[error("{method}: needs a classification target, but {found}")]
    NeedsClasses {
        /// The method.
        method: &'static str,
        /// The target found instead.
        found: &'static str,
    },
    /// A supervised method got no target.
    #[error("{method}: needs a target, but there is none")]
    NeedsTarget {
        /// The method.
        method: &'static str,
    },
    /// The target is constant.
    #[error("{method}: the target is {} in every row (is the target column correct?)", number(*.value))]
    ConstantTarget {
        /// The method.
        method: &'static str,
        /// The value.
        value: f64,
    },
    /// A numerical failure.
    #[error("{step}: {why}")]
    Breakdown {
        /// The step that failed.
        step: &'static str,
        /// What happened, and what to try.
        why: String,
    },
    /// The user interrupted the computation.
    #[error("interrupted")]
    Interrupted,
    /// The computation would exceed the memory limit.
    #[error("{what} needs about {} of memory, the limit is {}; {advice}", bytes(*.needed), bytes(*.limit))]
    Memory {
        /// What needs the memory.
        what: String,
        /// Estimated memory in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
        /// How to use less memory.
        advice: &'static str,
    },
    /// A file cannot be opened, read or written.
    #[error("{}: {}", .path.display(), io_message(.source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Invalid content of a file.
    #[error("{place}{why}")]
    Parse {
        /// Where, such as `line 7: `; may be empty.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// An invalid saved model.
    #[error("not a usable kernsift model: {why}")]
    Model {
        /// What is wrong.
        why: String,
    },
    /// Several errors of the same input.
    #[error("{} problems:{}", .0.len(), listed(.0))]
    Several(Vec<Error>),
    /// Another error, with the file in which it occurred.
    #[error("{}: {source}", .path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The error. Its message is part of this one.
        #[source]
        source: Box<Error>,
    },
}

impl Error {
    /// Adds the file to the message, unless it names one already.
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Io { .. } | Self::InFile { .. } | Self::Interrupted => self,
            source => Self::InFile { path: path.to_owned(), source: Box::new(source) },
        }
    }

    /// All problems as one error, if there are any.
    pub(crate) fn all(mut problems: Vec<Self>) -> Result<()> {
        match problems.len() {
            0 => Ok(()),
            1 => Err(problems.remove(0)),
            _ => Err(Self::Several(problems)),
        }
    }

    /// A file system error.
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A parse error at a line of a file.
    pub fn at_line(line: u64, why: impl Into<String>) -> Self {
        Self::Parse { place: format!("line {line}: "), why: why.into() }
    }

    /// A parse error without a line.
    pub fn parse(why: impl Into<String>) -> Self {
        Self::Parse { place: String::new(), why: why.into() }
    }

    /// A parameter outside its range.
    pub fn param(
        method: &'static str,
        name: impl Into<Cow<'static, str>>,
        expected: impl Into<String>,
        got: impl std::fmt::Display,
    ) -> Self {
        Self::Param {
            method,
            name: name.into(),
            expected: expected.into(),
            got: short_number(got.to_string()),
        }
    }

    /// An unknown column, with a similar existing name.
    pub fn unknown_column<'a>(name: &str, available: impl Iterator<Item = &'a str>) -> Self {
        let available: Vec<String> = available.map(str::to_owned).collect();
        Self::UnknownColumn { name: name.to_owned(), similar: nearest(name, &available), available }
    }

    /// An unknown name, with a similar existing one.
    pub fn unknown_name<'a>(
        what: &'static str,
        name: &str,
        available: impl Iterator<Item = &'a str>,
    ) -> Self {
        let available: Vec<String> = available.map(str::to_owned).collect();
        Self::UnknownName { what, name: name.to_owned(), similar: nearest(name, &available), available }
    }

    /// Whether the user interrupted the computation.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Interrupted => true,
            Self::InFile { source, .. } => source.is_interrupted(),
            _ => false,
        }
    }
}

/// Returns an error unless the number of columns is as expected.
pub(crate) fn need_columns(what: &str, expected: usize, got: usize) -> Result<()> {
    if got == expected {
        return Ok(());
    }
    Err(Error::Shape { what: what.into(), expected: expected.to_string(), got: got.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_column_lists_or_suggests() {
        let error = Error::unknown_column("clas", ["class", "ash"].into_iter());
        assert_eq!(error.to_string(), "no column 'clas'; did you mean 'class'?");
        let error = Error::unknown_column("weight", ["a", "b"].into_iter());
        assert_eq!(error.to_string(), "no column 'weight'; there are a, b");
    }

    #[test]
    fn parameter_values_are_short() {
        let error = Error::param("SVM", "gamma", "positive", -1e-300);
        assert_eq!(error.to_string(), "SVM: parameter 'gamma' must be positive, got -1e-300");
    }
}
