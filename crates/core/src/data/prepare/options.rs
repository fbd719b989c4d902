//! The choices a user makes about the target, missing values and text columns.

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
        /// Classes for text and for integers with few distinct values; otherwise continuous.
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
        /// Raise an error.
        Error = "error",
        /// Drop rows with missing values.
        Drop = "drop",
        /// Impute the mean of the column.
        Mean = "mean",
        /// Impute the median of the column.
        Median = "median",
        /// Keep them as NaN, for methods that support missing values. All columns that encode a missing
        /// category are NaN.
        Keep = "keep",
    }
}

crate::choices! {
    /// How to encode text columns.
    pub enum Categorical {
        /// Raise an error.
        Error = "error",
        /// One-hot: a column of 0 and 1 per category.
        OneHot = "onehot",
        /// The index of the category in alphabetical order.
        Ordinal = "ordinal",
    }
}
