//! The choices a user makes about the target, missing values and columns.

use crate::data::impute::ImputeStrategy;
use crate::data::types::{ColumnType, Decimal};

/// How a table becomes a [`Dataset`](crate::data::Dataset).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepare {
    /// Which column is the target.
    pub target: TargetChoice,
    /// Further target columns, which are numbers like the first.
    pub other_targets: Vec<String>,
    /// Columns that are neither features nor targets, such as groups, times and weights. Positions in [`ColumnOptions`] count them.
    pub reserved: Vec<String>,
    /// Whether the target is for classification or regression.
    pub target_type: TargetType,
    /// How to handle missing values.
    pub missing: Missing,
    /// Which columns are features, and their types.
    pub columns: ColumnOptions,
    /// Whether the account has distinct values, ranges and histograms of all columns. They take longer than reading a table
    /// of numbers.
    pub details: bool,
}

/// Which column is the target.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TargetChoice {
    /// A column called target, class, label or y; the last column if there is none.
    #[default]
    Auto,
    /// A column called target, class, label or y; no target if there is none.
    AutoByName,
    /// The column with this name.
    Named(String),
    /// No target.
    None,
}

crate::choices! {
    /// Whether the target is for classification or regression.
    pub enum TargetType {
        /// Classes for text, booleans and integers with few distinct values; otherwise continuous.
        Auto = "auto",
        /// Classes.
        Classes = "class",
        /// A continuous target.
        Continuous = "number",
    }
}

crate::choices! {
    /// How to handle missing values.
    pub enum Missing {
        /// Impute the median of numbers, and indicate missing values if there are many; in categories they are a level.
        Auto = "auto",
        /// Raise an error.
        Error = "error",
        /// Drop rows with missing values.
        Drop = "drop",
        /// Impute the mean of numbers; in categories missing values are a level.
        Mean = "mean",
        /// Impute the median of numbers; in categories missing values are a level.
        Median = "median",
    }
}

impl Missing {
    /// How missing values are imputed; `None` if data has none after preparation.
    pub fn imputation(self) -> Option<ImputeStrategy> {
        match self {
            Self::Auto => Some(ImputeStrategy::Auto),
            Self::Mean => Some(ImputeStrategy::Mean),
            Self::Median => Some(ImputeStrategy::Median),
            Self::Error | Self::Drop => None,
        }
    }
}

/// Which columns are features, and their types.
///
/// Columns are given by patterns: a name, a name with `*` and `?`, a position from 1, a range `first:last` of names or
/// positions, or several of these with commas in between. A name counts more than a pattern; otherwise `include` counts more
/// than `exclude`, so that excluding `*` and including some columns uses only these.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnOptions {
    /// Columns to use, also if they are constant, identifiers, free text or duplicates.
    pub include: Vec<String>,
    /// Columns not to use.
    pub exclude: Vec<String>,
    /// Columns that identify rows, which are not used.
    pub id: Vec<String>,
    /// Types of columns; the last pattern that matches counts.
    pub types: Vec<(String, ColumnType)>,
    /// The decimal separator of numbers in text. To read a file, set also that of
    /// `ReadOptions`: the reader would take `1.234` for a number with a decimal point.
    pub decimal: Option<Decimal>,
}

impl ColumnOptions {
    /// Every column is a feature, whatever it holds.
    pub fn all() -> Self {
        Self { include: vec!["*".into()], ..Self::default() }
    }
}
