//! The encoding of one column: numbers stay, text becomes one-hot or ordinal numbers.

use super::options::{Categorical, Missing};
use crate::data::table::{Column, MISSING, Values};
use crate::error::{Error, Result, shorten};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The encoding of a named column, learned from the training table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ColumnRecipe {
    pub(super) name: String,
    pub(super) encoding: Encoding,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Encoding {
    /// A number, and the value to impute, if any.
    Number { fill: Option<f64> },
    /// A column per category.
    OneHot { levels: Vec<String> },
    /// The index of the category.
    Ordinal { levels: Vec<String> },
}

impl ColumnRecipe {
    /// Learns the encoding of a column from these rows.
    pub(super) fn fit(
        column: &Column,
        rows: &[usize],
        missing: Missing,
        categorical: Categorical,
    ) -> Result<Self> {
        let encoding = match &column.values {
            Values::Numeric(values) | Values::Date(values) => {
                Encoding::Number { fill: imputed_value(values, rows, missing) }
            }
            Values::Text { codes, levels } => {
                let used: BTreeSet<&str> = rows
                    .iter()
                    .filter(|&&i| codes[i] != MISSING)
                    .map(|&i| levels[codes[i] as usize].as_str())
                    .collect();
                let levels = used.into_iter().map(str::to_owned).collect();
                match categorical {
                    Categorical::Error => return Err(not_numeric(column)),
                    Categorical::OneHot => Encoding::OneHot { levels },
                    Categorical::Ordinal => Encoding::Ordinal { levels },
                }
            }
        };
        Ok(Self { name: column.name.clone(), encoding })
    }

    /// A numeric column without imputation.
    pub(super) fn numeric(name: &str) -> Self {
        Self { name: name.to_owned(), encoding: Encoding::Number { fill: None } }
    }

    /// Number of features that the column becomes.
    pub(super) fn n_features(&self) -> usize {
        match &self.encoding {
            Encoding::OneHot { levels } => levels.len(),
            _ => 1,
        }
    }

    /// Names of the features that the column becomes.
    pub(super) fn feature_names(&self) -> Vec<String> {
        match &self.encoding {
            Encoding::OneHot { levels } => {
                levels.iter().map(|level| format!("{}={level}", self.name)).collect()
            }
            _ => vec![self.name.clone()],
        }
    }

    /// Calls `write` with the feature (its index among those of the column) and value of each nonzero number.
    pub(super) fn encode(
        &self,
        column: &Column,
        row: usize,
        mut write: impl FnMut(usize, f64),
    ) -> Result<()> {
        let missing = |why| Error::CannotImpute { row: row + 1, column: self.name.clone(), why };
        let levels = match (&self.encoding, &column.values) {
            (Encoding::Number { fill }, Values::Numeric(values) | Values::Date(values)) => {
                let value = Some(values[row]).filter(|value| !value.is_nan()).or(*fill);
                write(0, value.ok_or_else(|| missing("all values of the column are missing"))?);
                return Ok(());
            }
            (Encoding::Number { .. }, Values::Text { .. }) => return Err(not_numeric(column)),
            (Encoding::OneHot { levels } | Encoding::Ordinal { levels }, _) => levels,
        };
        if column.is_missing(row) {
            return Err(missing("the column holds categories"));
        }
        let text = column.cell(row).unwrap_or_default();
        let level = levels.binary_search_by(|level| level.as_str().cmp(&text)).map_err(|_| {
            Error::UnknownCategory { row: row + 1, column: self.name.clone(), text: shorten(&text) }
        })?;
        match self.encoding {
            Encoding::OneHot { .. } => write(level, 1.0),
            _ => write(0, level as f64),
        }
        Ok(())
    }
}

/// The value to impute, if values are imputed and the column has any.
fn imputed_value(values: &[f64], rows: &[usize], missing: Missing) -> Option<f64> {
    let mut present: Vec<f64> = rows.iter().map(|&i| values[i]).filter(|v| !v.is_nan()).collect();
    if present.is_empty() {
        return None;
    }
    match missing {
        Missing::Error | Missing::Drop | Missing::Keep => None,
        Missing::Mean => Some(present.iter().sum::<f64>() / present.len() as f64),
        Missing::Median => {
            present.sort_by(f64::total_cmp);
            let half = present.len() / 2;
            Some(if present.len() % 2 == 1 {
                present[half]
            } else {
                (present[half - 1] + present[half]) / 2.0
            })
        }
    }
}

/// The rows to use, or an error at the first missing value if these are not allowed.
pub(super) fn usable_rows(columns: &[&Column], missing: Missing) -> Result<Vec<usize>> {
    let n = columns[0].len();
    let missing_in = |row: usize| columns.iter().find(|column| column.is_missing(row));
    let rows: Vec<usize> = match missing {
        Missing::Mean | Missing::Median | Missing::Keep => (0..n).collect(),
        Missing::Drop => (0..n).filter(|&row| missing_in(row).is_none()).collect(),
        Missing::Error => match (0..n).find_map(|row| Some((row, missing_in(row)?))) {
            None => (0..n).collect(),
            Some((row, column)) => {
                return Err(Error::MissingValue { row: row + 1, column: column.name.clone() });
            }
        },
    };
    if rows.is_empty() { Err(Error::NoCompleteRows) } else { Ok(rows) }
}

/// The error for a text column where numbers are needed, at its first cell that is not a number.
pub(super) fn not_numeric(column: &Column) -> Error {
    let Values::Text { codes, levels } = &column.values else { unreachable!("only for text columns") };
    let row = codes.iter().position(|&c| c != MISSING && levels[c as usize].trim().parse::<f64>().is_err());
    let row = row.or_else(|| codes.iter().position(|&c| c != MISSING)).unwrap_or(0);
    let text = if codes.is_empty() || codes[row] == MISSING { "" } else { &levels[codes[row] as usize] };
    Error::NotNumeric { row: row + 1, column: column.name.clone(), text: shorten(text) }
}
