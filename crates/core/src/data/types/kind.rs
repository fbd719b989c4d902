//! The type of a column.

use crate::data::periods::Periods;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The type of a column. As text: `number`, `category`, `ordered`, `ordered:small<medium<large`, `boolean`, `date`,
/// `date+month+weekday+hour`, `text` or `id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum ColumnType {
    /// A number.
    Number,
    /// An unordered category.
    Category,
    /// A category with an order: these levels, or the natural order of the values if there are none.
    Ordered(Vec<String>),
    /// Two values that mean yes and no.
    Boolean,
    /// A date, a time or both, and periods to encode besides.
    Date(Periods),
    /// Free text, which is not used.
    Text,
    /// An identifier of rows, which is not used.
    Id,
}

impl ColumnType {
    /// The names of all types.
    pub const NAMES: [&'static str; 7] = ["number", "category", "ordered", "boolean", "date", "text", "id"];

    /// The name, without the levels of an order.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Category => "category",
            Self::Ordered(_) => "ordered",
            Self::Boolean => "boolean",
            Self::Date(_) => "date",
            Self::Text => "text",
            Self::Id => "id",
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Ordered(levels) if !levels.is_empty() => write!(f, ":{}", levels.join("<")),
            Self::Date(periods) if !periods.is_empty() => write!(f, "+{}", periods.names()),
            _ => Ok(()),
        }
    }
}

impl FromStr for ColumnType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Ok(match text {
            "number" => Self::Number,
            "category" => Self::Category,
            "ordered" => Self::Ordered(vec![]),
            "boolean" => Self::Boolean,
            "date" => Self::Date(Periods::default()),
            "text" => Self::Text,
            "id" => Self::Id,
            _ => match (text.strip_prefix("ordered:"), text.strip_prefix("date+")) {
                (Some(levels), _) => {
                    Self::Ordered(levels.split('<').map(|level| level.trim().to_owned()).collect())
                }
                (_, Some(periods)) => Self::Date(Periods::parse(periods)?),
                _ => return Err(Error::unknown_name("type", text, Self::NAMES.into_iter())),
            },
        })
    }
}

impl From<ColumnType> for String {
    fn from(kind: ColumnType) -> Self {
        kind.to_string()
    }
}

impl TryFrom<String> for ColumnType {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}
