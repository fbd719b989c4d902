//! From the cells of a column to the values of a feature.

use super::dates::DateFormat;
use super::kind::ColumnType;
use super::number::{Decimal, NumberFormat};
use crate::data::features::FeatureType;
use crate::data::periods::Periods;
use crate::data::table::{Column, MISSING, Values};
use crate::error::{Error, Result, shorten};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// How the cells of a column become numbers, learned from the training table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum Parsing {
    /// Numbers; these texts are missing values.
    Number { format: NumberFormat, missing: Vec<String> },
    /// Days since 1970-01-01; these texts are missing values.
    Date {
        format: DateFormat,
        missing: Vec<String>,
        #[serde(default)]
        periods: Periods,
    },
    /// 0 for no and 1 for yes.
    Boolean,
    /// The index of the level.
    Category { levels: Vec<String> },
    /// The index of the level, as a number.
    Ordered { levels: Vec<String> },
}

/// What a text means.
enum Meaning {
    Value(f64),
    Missing,
    /// A category that the training table does not have.
    Other,
    Invalid,
}

/// The values of a feature.
pub(crate) struct Parsed<'a> {
    /// A value per row; NaN if it is missing.
    pub(crate) values: Cow<'a, [f64]>,
    /// Number of categories that the training table does not have.
    pub(crate) n_other: usize,
}

impl Parsing {
    /// Numbers as the reader parsed them.
    pub(crate) fn numbers() -> Self {
        Self::numbers_with(Decimal::default())
    }

    /// Numbers as the reader parsed them; those with these texts are missing.
    #[cfg(feature = "io")]
    pub(crate) fn numbers_without(missing: Vec<String>) -> Self {
        Self::Number { format: NumberFormat::default(), missing }
    }

    /// Numbers with a decimal separator.
    pub(crate) fn numbers_with(decimal: Decimal) -> Self {
        Self::Number { format: NumberFormat { decimal, ..NumberFormat::default() }, missing: vec![] }
    }

    /// The type of the column.
    pub(crate) fn column_type(&self) -> ColumnType {
        match self {
            Self::Number { .. } => ColumnType::Number,
            Self::Date { periods, .. } => ColumnType::Date(*periods),
            Self::Boolean => ColumnType::Boolean,
            Self::Category { .. } => ColumnType::Category,
            Self::Ordered { levels } => ColumnType::Ordered(levels.clone()),
        }
    }

    /// The type of the feature.
    pub(crate) fn feature_type(&self) -> FeatureType {
        match self {
            Self::Date { periods, .. } if !periods.is_empty() => FeatureType::Date(*periods),
            Self::Number { .. } | Self::Date { .. } | Self::Ordered { .. } => FeatureType::Number,
            Self::Boolean => FeatureType::Category { levels: 2 },
            Self::Category { levels } => FeatureType::Category { levels: levels.len() },
        }
    }

    /// Reads a column. A text that cannot be parsed is an error.
    pub(crate) fn read<'a>(&self, column: &'a Column) -> Result<Parsed<'a>> {
        match (self, &column.values) {
            (Self::Number { missing, .. }, Values::Numeric(values)) => {
                Ok(Parsed { values: finite(column, values, missing)?, n_other: 0 })
            }
            (Self::Date { .. }, Values::Date(values)) => {
                Ok(Parsed { values: Cow::Borrowed(values), n_other: 0 })
            }
            (_, Values::Text { codes, levels }) => self.read_text(column, codes, levels),
            _ => {
                let cells: Vec<Option<Cow<str>>> = (0..column.len()).map(|row| column.cell(row)).collect();
                let text = Column::text(column.name.clone(), cells.iter().map(|cell| cell.as_deref()));
                let Values::Text { codes, levels } = &text.values else { unreachable!("a text column") };
                let parsed = self.read_text(&text, codes, levels)?;
                Ok(Parsed { values: Cow::Owned(parsed.values.into_owned()), n_other: parsed.n_other })
            }
        }
    }

    fn read_text(&self, column: &Column, codes: &[u32], levels: &[String]) -> Result<Parsed<'static>> {
        let places = match self {
            Self::Category { levels } | Self::Ordered { levels } => {
                levels.iter().map(String::as_str).zip(0..).collect::<HashMap<&str, usize>>()
            }
            _ => HashMap::new(),
        };
        let meanings: Vec<Meaning> = levels.iter().map(|text| self.meaning(text, &places)).collect();
        let mut n_other = 0;
        let mut values = Vec::with_capacity(codes.len());
        for (row, &code) in codes.iter().enumerate() {
            values.push(match (code, meanings.get(code as usize)) {
                (MISSING, _) | (_, Some(Meaning::Missing)) => f64::NAN,
                (_, Some(Meaning::Value(value))) => *value,
                (_, Some(Meaning::Other)) => {
                    n_other += 1;
                    // An order has no place for another level.
                    if matches!(self, Self::Ordered { .. }) { f64::NAN } else { self.n_levels() as f64 }
                }
                (_, Some(Meaning::Invalid) | None) => {
                    return Err(self.invalid(&column.name, row, &levels[code as usize]));
                }
            });
        }
        Ok(Parsed { values: Cow::Owned(values), n_other })
    }

    fn meaning(&self, text: &str, places: &HashMap<&str, usize>) -> Meaning {
        let parsed = match self {
            Self::Number { missing, .. } | Self::Date { missing, .. }
                if missing.iter().any(|m| m == text) =>
            {
                return Meaning::Missing;
            }
            Self::Number { format, .. } => format.parse(text),
            Self::Date { format, .. } => format.parse(text),
            Self::Boolean => {
                return boolean(text).map_or(Meaning::Other, |yes| Meaning::Value(f64::from(u8::from(yes))));
            }
            Self::Category { .. } | Self::Ordered { .. } => {
                return places.get(text).map_or(Meaning::Other, |&place| Meaning::Value(place as f64));
            }
        };
        parsed.map_or(Meaning::Invalid, Meaning::Value)
    }

    fn n_levels(&self) -> usize {
        match self.feature_type() {
            FeatureType::Category { levels } => levels,
            FeatureType::Number | FeatureType::Date(_) => 0,
        }
    }

    /// Whether it reads numbers with a decimal comma.
    pub(crate) fn has_decimal_comma(&self) -> bool {
        matches!(self, Self::Number { format, .. } if format.decimal == Decimal::Comma)
    }

    /// The text of a category.
    pub(crate) fn level(&self, code: usize) -> Option<&str> {
        match self {
            Self::Boolean => ["no", "yes"].get(code).copied(),
            Self::Category { levels } | Self::Ordered { levels } => levels.get(code).map(String::as_str),
            Self::Number { .. } | Self::Date { .. } => None,
        }
    }

    fn invalid(&self, column: &str, row: usize, text: &str) -> Error {
        let (row, column, text) = (row + 1, column.to_owned(), shorten(text));
        match self {
            Self::Date { .. } => Error::NotOfType { row, column, text, expected: "a date" },
            _ => Error::NotNumeric { row, column, text },
        }
    }
}

/// Numbers with infinite ones as missing values, if these are among the texts that count as missing.
fn finite<'a>(column: &Column, values: &'a [f64], missing: &[String]) -> Result<Cow<'a, [f64]>> {
    if values.iter().all(|v| !v.is_infinite()) {
        return Ok(Cow::Borrowed(values));
    }
    let is_unknown = |v: &f64| v.is_infinite() && !missing.contains(&v.to_string());
    if let Some(row) = values.iter().position(is_unknown) {
        return Err(Error::NonFinite { row: row + 1, column: column.name.clone(), value: values[row] });
    }
    Ok(values.iter().map(|&v| if v.is_infinite() { f64::NAN } else { v }).collect())
}

/// Whether a word means yes or no.
pub(super) fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "true" | "t" | "y" | "on" | "1" => Some(true),
        "no" | "false" | "f" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}
