//! Tables as read from files: named columns of numbers or text, possibly with missing values.

use super::date;
use super::sparse::SparseRows;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// A table before preprocessing.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// A dense table.
    Columns(Vec<Column>),
    /// A sparse table of numeric features, with a separate target.
    Sparse {
        /// The feature names.
        names: Vec<String>,
        /// The features.
        x: SparseRows,
        /// The target column, if the file has one.
        target: Option<Column>,
    },
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name, unique within a table.
    pub name: String,
    /// The values.
    pub values: Values,
}

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; NaN where a value is missing.
    Numeric(Vec<f64>),
    /// Text: `codes[i]` is an index into `levels`, or [`MISSING`].
    Text {
        /// One code per row.
        codes: Vec<u32>,
        /// The distinct texts, in order of first appearance.
        levels: Vec<String>,
    },
    /// Dates and times: days since 1970-01-01, with a fraction for the time of day; NaN where a value is missing.
    Date(Vec<f64>),
    /// Cells of a type that is not supported, such as lists; the column cannot be used.
    Unsupported {
        /// Number of rows.
        rows: usize,
        /// Why, such as `cells of the type list<int64> are not supported`.
        why: String,
    },
}

/// The code of a missing value in a text column.
pub const MISSING: u32 = u32::MAX;

impl Column {
    /// A column of numbers.
    pub fn numeric(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), values: Values::Numeric(values) }
    }

    /// A column of text; `None` is a missing value.
    pub fn text<'a>(name: impl Into<String>, cells: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut codes_of: HashMap<&'a str, u32> = HashMap::new();
        let mut levels = vec![];
        let codes = cells
            .map(|cell| match cell {
                None => MISSING,
                Some(text) => *codes_of.entry(text).or_insert_with(|| {
                    levels.push(text.to_owned());
                    levels.len() as u32 - 1
                }),
            })
            .collect();
        Self { name: name.into(), values: Values::Text { codes, levels } }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Numeric(v) | Values::Date(v) => v.len(),
            Values::Text { codes, .. } => codes.len(),
            Values::Unsupported { rows, .. } => *rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the value in a row is missing.
    pub fn is_missing(&self, row: usize) -> bool {
        match &self.values {
            Values::Numeric(v) | Values::Date(v) => v[row].is_nan(),
            Values::Text { codes, .. } => codes[row] == MISSING,
            Values::Unsupported { .. } => true,
        }
    }

    /// The text of a cell; `None` if it is missing. A number has its shortest form, a date the ISO 8601 form.
    pub fn cell(&self, row: usize) -> Option<Cow<'_, str>> {
        match &self.values {
            Values::Numeric(v) if v[row].is_nan() => None,
            // -0 becomes 0.
            Values::Numeric(v) => Some(Cow::Owned((v[row] + 0.0).to_string())),
            Values::Text { codes, .. } if codes[row] == MISSING => None,
            Values::Text { codes, levels } => Some(Cow::Borrowed(&levels[codes[row] as usize])),
            Values::Unsupported { .. } => None,
            Values::Date(v) if v[row].is_nan() => None,
            Values::Date(v) => Some(Cow::Owned(date::text(v[row]))),
        }
    }

    /// The numbers of a numeric column, or of a text column whose texts are all numbers, such as `00501` and `1.0`;
    /// NaN where a value is missing.
    pub fn numbers(&self) -> Option<Cow<'_, [f64]>> {
        match &self.values {
            Values::Numeric(v) => Some(Cow::Borrowed(v)),
            Values::Date(_) | Values::Unsupported { .. } => None,
            Values::Text { codes, levels } => {
                let numbers: Vec<f64> = levels.iter().map(|text| text.parse().ok()).collect::<Option<_>>()?;
                let number = |&code: &u32| if code == MISSING { f64::NAN } else { numbers[code as usize] };
                Some(Cow::Owned(codes.iter().map(number).collect()))
            }
        }
    }

    /// The column with these texts, and numbers equal to one of them, as missing values.
    #[cfg(feature = "io")]
    fn with_missing(self, texts: &[String]) -> Self {
        let values = match self.values {
            Values::Numeric(mut cells) => {
                let missing: Vec<f64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
                cells.iter_mut().filter(|cell| missing.contains(cell)).for_each(|cell| *cell = f64::NAN);
                Values::Numeric(cells)
            }
            Values::Text { codes, levels } => {
                let cell = |&code: &u32| levels.get(code as usize).filter(|text| !texts.contains(text));
                return Self::text(self.name, codes.iter().map(|code| cell(code).map(String::as_str)));
            }
            other @ (Values::Date(_) | Values::Unsupported { .. }) => other,
        };
        Self { name: self.name, values }
    }

    /// These rows, in this order.
    pub fn take_rows(&self, keep: &[usize]) -> Self {
        let values = match &self.values {
            Values::Numeric(v) => Values::Numeric(keep.iter().map(|&i| v[i]).collect()),
            Values::Date(v) => Values::Date(keep.iter().map(|&i| v[i]).collect()),
            Values::Unsupported { why, .. } => Values::Unsupported { rows: keep.len(), why: why.clone() },
            Values::Text { codes, levels } => {
                Values::Text { codes: keep.iter().map(|&i| codes[i]).collect(), levels: levels.clone() }
            }
        };
        Self { name: self.name.clone(), values }
    }
}

impl Table {
    /// A dense table. Names must be unique and columns must have the same length.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        check_names(columns.iter().map(|c| c.name.as_str()))?;
        if let Some(odd) = columns.iter().find(|c| c.len() != columns[0].len()) {
            return Err(Error::Shape {
                what: format!("column '{}'", odd.name),
                expected: format!("{} rows", columns[0].len()),
                got: odd.len().to_string(),
            });
        }
        Ok(Self::Columns(columns))
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Columns(columns) => columns.first().map_or(0, Column::len),
            Self::Sparse { x, .. } => x.n_rows(),
        }
    }

    /// The table with these texts, and numbers equal to one of them, as missing values.
    #[cfg(feature = "io")]
    pub(crate) fn with_missing(self, texts: &[String]) -> Self {
        match self {
            _ if texts.is_empty() => self,
            Self::Columns(columns) => {
                Self::Columns(columns.into_iter().map(|column| column.with_missing(texts)).collect())
            }
            Self::Sparse { names, x, target } => {
                Self::Sparse { names, x, target: target.map(|target| target.with_missing(texts)) }
            }
        }
    }

    /// A column of a dense table.
    pub fn column(&self, name: &str) -> Result<&Column> {
        match self {
            Self::Columns(columns) => {
                let names = columns.iter().map(|column| column.name.as_str());
                let found = columns.iter().find(|column| column.name == name);
                found.ok_or_else(|| Error::unknown_column(name, names))
            }
            Self::Sparse { .. } => Err(Error::parse(format!(
                "groups, times, weights and several targets need a dense table; column '{name}' of a sparse one cannot be used"
            ))),
        }
    }

    /// The names of all columns; a separate target comes last.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Columns(columns) => columns.iter().map(|c| c.name.as_str()).collect(),
            Self::Sparse { names, target, .. } => {
                names.iter().map(String::as_str).chain(target.iter().map(|t| t.name.as_str())).collect()
            }
        }
    }
}

/// Returns an error if a name occurs twice.
pub(crate) fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (position, name) in names.enumerate() {
        if let Some(first) = seen.insert(name, position) {
            return Err(Error::DuplicateColumn {
                name: name.to_owned(),
                first: first + 1,
                second: position + 1,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_coded_in_order_of_appearance() {
        let column = Column::text("color", [Some("red"), None, Some("blue"), Some("red")].into_iter());
        let Values::Text { codes, levels } = &column.values else { panic!("text expected") };
        assert_eq!(codes, &[0, MISSING, 1, 0]);
        assert_eq!(levels, &["red", "blue"]);
        assert!(column.is_missing(1) && !column.is_missing(0));
        assert_eq!((column.cell(2).as_deref(), column.cell(1)), (Some("blue"), None));
        assert_eq!(Column::numeric("a", vec![-0.0]).cell(0).as_deref(), Some("0"));
    }

    #[test]
    fn texts_that_are_numbers() {
        let column = Column::text("zip", [Some("00501"), None, Some("1.0")].into_iter());
        let numbers = column.numbers().unwrap();
        assert!(numbers[0] == 501.0 && numbers[1].is_nan() && numbers[2] == 1.0);
        assert_eq!(Column::text("a", [Some("1"), Some("x")].into_iter()).numbers(), None);
        assert_eq!(Column::numeric("a", vec![2.5]).numbers().as_deref(), Some(&[2.5][..]));
    }

    #[test]
    fn further_missing_values() {
        let table = Table::new(vec![
            Column::numeric("a", vec![1.0, -999.0]),
            Column::text("b", [Some("none"), Some("x")].into_iter()),
        ]);
        let Table::Columns(columns) = table.unwrap().with_missing(&["-999".into(), "none".into()]) else {
            panic!("columns expected")
        };
        assert!(!columns[0].is_missing(0) && columns[0].is_missing(1));
        assert_eq!(columns[1], Column::text("b", [None, Some("x")].into_iter()));
    }

    #[test]
    fn columns_have_names() {
        let columns = ["a", "b"].map(|name| Column::numeric(name, vec![1.0]));
        let table = Table::new(columns.to_vec()).unwrap();
        assert_eq!(table.column("b").unwrap(), &columns[1]);
        assert!(table.column("c").unwrap_err().to_string().contains("no column 'c'"));
    }

    #[test]
    fn names_must_be_unique() {
        let columns = vec![
            Column::numeric("a", vec![1.0]),
            Column::numeric("b", vec![1.0]),
            Column::numeric("a", vec![2.0]),
        ];
        let message = Table::new(columns).unwrap_err().to_string();
        assert_eq!(message, "column 1 and column 3 are both named 'a'; rename one");
    }

    #[test]
    fn columns_must_have_the_same_length() {
        let columns = vec![Column::numeric("a", vec![1.0]), Column::numeric("b", vec![])];
        assert!(Table::new(columns).unwrap_err().to_string().contains("column 'b': expected 1 rows, got 0"));
    }
}
