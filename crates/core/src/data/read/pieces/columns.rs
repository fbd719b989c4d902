//! A sample of a file whose columns have one type in all pieces.

use super::sample::{Draw, STAGE, SampledRows};
use crate::context::Context;
use crate::data::read::levels::Levels;
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result};

/// A sample under construction.
#[derive(Default)]
pub(super) struct Sampling {
    columns: Vec<(String, Growing)>,
    rows: Vec<usize>,
    n: usize,
}

impl Sampling {
    /// Adds the drawn rows of a piece.
    pub(super) fn add(&mut self, piece: &Table, first: usize, draw: &Draw, ctx: &Context) -> Result<()> {
        let Table::Columns(piece) = piece else {
            return Err(Error::parse("sparse tables have no pieces"));
        };
        if self.columns.is_empty() {
            self.columns = piece.iter().map(|column| (column.name.clone(), Growing::of(column))).collect();
        }
        let in_piece = piece.first().map_or(0, Column::len);
        let drawn: Vec<usize> = (0..in_piece).filter(|row| draw.has(first + row)).collect();
        self.columns.iter_mut().zip(piece).for_each(|((_, all), column)| all.push(column, &drawn));
        self.rows.extend(drawn.iter().map(|row| first + row));
        self.n = first + in_piece;
        ctx.step(STAGE, self.n, 0)
    }

    /// The sample, with the warnings of the reader.
    pub(super) fn finish(self, warnings: Vec<String>) -> Result<SampledRows> {
        let columns = self.columns.into_iter().map(|(name, all)| all.into_column(name)).collect();
        Ok(SampledRows { table: Table::new(columns)?, rows: self.rows, n: self.n, warnings })
    }
}

/// A column to which rows are added.
enum Growing {
    Numeric(Vec<f64>),
    Date(Vec<f64>),
    Text(Levels),
    Unsupported(usize, String),
}

impl Growing {
    /// An empty column of the same type.
    fn of(column: &Column) -> Self {
        match &column.values {
            Values::Numeric(_) => Self::Numeric(vec![]),
            Values::Date(_) => Self::Date(vec![]),
            Values::Text { .. } => Self::Text(Levels::default()),
            Values::Unsupported { why, .. } => Self::Unsupported(0, why.clone()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Numeric(values) | Self::Date(values) => values.len(),
            Self::Text(levels) => levels.len(),
            Self::Unsupported(rows, _) => *rows,
        }
    }

    /// Adds these rows of a column.
    fn push(&mut self, column: &Column, rows: &[usize]) {
        match (&mut *self, &column.values) {
            (Self::Numeric(all), Values::Numeric(values)) | (Self::Date(all), Values::Date(values)) => {
                all.extend(rows.iter().map(|&row| values[row]));
            }
            (Self::Text(all), Values::Text { .. }) => {
                rows.iter().for_each(|&row| _ = all.push(column.cell(row).as_deref()));
            }
            (Self::Unsupported(n, _), _) => *n += rows.len(),
            (_, Values::Unsupported { why, .. }) => {
                *self = Self::Unsupported(self.len() + rows.len(), why.clone());
            }
            _ => *self = Self::Unsupported(self.len() + rows.len(), "its type changes".into()),
        }
    }

    fn into_column(self, name: String) -> Column {
        let values = match self {
            Self::Numeric(values) => Values::Numeric(values),
            Self::Date(values) => Values::Date(values),
            Self::Text(levels) => return levels.into_column(name),
            Self::Unsupported(rows, why) => Values::Unsupported { rows, why },
        };
        Column { name, values }
    }
}
