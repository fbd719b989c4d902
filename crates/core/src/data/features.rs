//! What the columns of a data set hold: the type of each feature, and the columns that encode it.

use super::periods::Periods;
use crate::error::{Error, Result};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The type of a feature. Ordered categories, and dates and times without periods, are numbers here; booleans are categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureType {
    /// A number.
    Number,
    /// A date with periods, stored as days since 1970-01-01. Methods that do not use periods take it for a number.
    Date(Periods),
    /// An unordered category, stored as a code: 0, 1, ... for the levels, and the number of levels for any other
    /// category.
    Category {
        /// Number of levels.
        levels: usize,
    },
}

impl FeatureType {
    /// Whether it is a category.
    pub fn is_category(self) -> bool {
        matches!(self, Self::Category { .. })
    }

    fn check(self, column: usize, name: &str, x: ArrayView2<f64>) -> Result<()> {
        let Self::Category { levels } = self else { return Ok(()) };
        let valid = |v: f64| v.is_nan() || v.fract() == 0.0 && v >= 0.0 && v <= levels as f64;
        match x.column(column).iter().position(|&v| !valid(v)) {
            None => Ok(()),
            Some(row) => Err(Error::Shape {
                what: format!("category of row {}, column '{name}'", row + 1),
                expected: format!("a code from 0 to {levels}"),
                got: x[[row, column]].to_string(),
            }),
        }
    }
}

/// Checks that there is a type per column and that categories are codes.
pub(super) fn check_types(types: &[FeatureType], names: &[String], x: ArrayView2<f64>) -> Result<()> {
    if types.len() != x.ncols() {
        return Err(Error::Shape {
            what: "feature types".into(),
            expected: x.ncols().to_string(),
            got: types.len().to_string(),
        });
    }
    types.iter().enumerate().try_for_each(|(j, kind)| kind.check(j, &names[j], x))
}

/// The columns that encode each feature. Features follow each other: the first takes the first columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Groups {
    /// The first column of each feature, and the number of columns.
    starts: Vec<usize>,
}

impl Groups {
    /// A column per feature.
    pub fn single(n_features: usize) -> Self {
        Self { starts: (0..=n_features).collect() }
    }

    /// Features with these numbers of columns.
    pub fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        for size in sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        Self { starts }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.starts[self.n_features()]
    }

    /// Whether every feature is a single column.
    pub fn is_single(&self) -> bool {
        // No feature is without columns, see `Dataset::encoded`.
        self.n_columns() == self.n_features()
    }

    /// The columns of a feature.
    pub fn columns(&self, feature: usize) -> Range<usize> {
        self.starts[feature]..self.starts[feature + 1]
    }

    /// The columns of all features, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The columns of these features, in their order.
    pub fn expand(&self, features: &[usize]) -> Vec<usize> {
        features.iter().flat_map(|&j| self.columns(j)).collect()
    }

    /// The feature of each column.
    pub fn feature_of_columns(&self) -> Vec<usize> {
        self.iter().enumerate().flat_map(|(j, columns)| columns.map(move |_| j)).collect()
    }

    /// The sum over the columns of each feature.
    pub fn sums(&self, values: &[f64]) -> Vec<f64> {
        self.iter().map(|columns| values[columns].iter().sum()).collect()
    }

    /// The groups of these features alone.
    pub fn take(&self, features: &[usize]) -> Self {
        Self::of_sizes(features.iter().map(|&j| self.columns(j).len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn groups_by_hand() {
        let groups = Groups::of_sizes([1, 3, 2]);
        assert_eq!((groups.n_features(), groups.n_columns(), groups.is_single()), (3, 6, false));
        assert_eq!(groups.columns(1), 1..4);
        assert_eq!(groups.expand(&[2, 0]), [4, 5, 0]);
        assert_eq!(groups.feature_of_columns(), [0, 1, 1, 1, 2, 2]);
        assert_eq!(groups.sums(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [1.0, 9.0, 11.0]);
        assert_eq!(groups.take(&[2, 0]), Groups::of_sizes([2, 1]));
        assert!(Groups::single(4).is_single() && Groups::single(4) == Groups::of_sizes([1; 4]));
    }

    #[test]
    fn categories_are_codes() {
        let names = ["a".to_string(), "b".to_string()];
        let types = [FeatureType::Number, FeatureType::Category { levels: 2 }];
        assert!(check_types(&types, &names, array![[0.5, 0.0], [7.5, 2.0], [0.0, f64::NAN]].view()).is_ok());
        for wrong in [0.5, -1.0, 3.0] {
            let error = check_types(&types, &names, array![[0.5, wrong]].view()).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("category of row 1, column 'b': expected a code from 0 to 2, got {wrong}")
            );
        }
        assert!(check_types(&types[..1], &names, array![[0.5, 0.0]].view()).is_err());
    }
}
