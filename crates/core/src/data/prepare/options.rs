//! The choices a user makes about the target, missing values and text columns.

use serde::{Deserialize, Serialize};

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

/// Whether the target is for classification or regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetType {
    /// Classes for text and for integers with few distinct values; otherwise continuous.
    #[default]
    Auto,
    /// Classes.
    Classes,
    /// A continuous target.
    Continuous,
}

/// How to handle missing values (empty cells).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Raise an error.
    #[default]
    Error,
    /// Drop rows with missing values.
    Drop,
    /// Impute the mean of the column.
    Mean,
    /// Impute the median of the column.
    Median,
    /// Keep them as NaN, for methods that support missing values. All columns that encode a missing
    /// category are NaN.
    Keep,
}

/// How to encode text columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Categorical {
    /// Raise an error.
    #[default]
    Error,
    /// One-hot: a column of 0 and 1 per category.
    OneHot,
    /// The index of the category in alphabetical order.
    Ordinal,
}
