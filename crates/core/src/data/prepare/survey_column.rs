//! What a column holds, from its values piece by piece.

use super::options::Missing;
use super::patterns::Choice;
use crate::data::inspect::{Action, ColumnAccount, MIN_ID_ROWS, Order, examples, integers_identify};
use crate::data::table::{Column, Values};
use crate::data::types::ColumnType;
use crate::error::{Error, Result, shorten};

/// What the values of a column show so far.
#[derive(Debug, Default)]
pub(super) struct ColumnSurvey {
    pub(super) n: usize,
    pub(super) n_missing: usize,
    /// The first row without a value.
    first_missing: Option<usize>,
    /// Infinite values, which count as missing.
    infinite: Vec<String>,
    /// Why the values are no numbers.
    not_numbers: Option<String>,
    first_present: Option<f64>,
    /// The first value and the last one of the piece before, which may be missing.
    first: f64,
    last: f64,
    is_varying: bool,
    has_fraction: bool,
    /// Whether a value is not its predecessor plus 1, ... minus 1, ... plus 1 or the first value, ... or a smaller, ... a larger value.
    not_up: bool,
    not_down: bool,
    not_repeated: bool,
    not_increasing: bool,
    not_decreasing: bool,
    examples: Vec<String>,
}

impl ColumnSurvey {
    /// Adds the next rows; `first_row` is the number of the first.
    pub(super) fn add(&mut self, column: &Column, first_row: usize) {
        if self.n == 0 {
            self.examples = examples(column);
        }
        match &column.values {
            Values::Numeric(values) => self.add_numbers(values, first_row),
            // A column without values is text for some readers.
            Values::Text { codes, .. } if (0..codes.len()).all(|row| column.is_missing(row)) => {
                self.add_numbers(&vec![f64::NAN; codes.len()], first_row);
            }
            other => {
                self.n += column.len();
                let is_text =
                    |row: &usize| column.cell(*row).is_some_and(|cell| cell.parse::<f64>().is_err());
                let present = || (0..column.len()).find(|&row| !column.is_missing(row));
                let row = (0..column.len()).find(is_text).or_else(present);
                let what = || match (other, row) {
                    (Values::Unsupported { why, .. }, _) => why.clone(),
                    (Values::Date(_), _) => "it holds dates".into(),
                    (_, Some(row)) => {
                        let text = shorten(&column.cell(row).unwrap_or_default());
                        format!("row {}: '{text}' is no number", first_row + row + 1)
                    }
                    (_, None) => "it holds text".into(),
                };
                self.not_numbers.get_or_insert_with(what);
            }
        }
    }

    fn add_numbers(&mut self, values: &[f64], first_row: usize) {
        for (i, &value) in values.iter().enumerate() {
            let v = if value.is_infinite() { f64::NAN } else { value };
            if value.is_infinite() && !self.infinite.contains(&value.to_string()) {
                self.infinite.push(value.to_string());
            }
            if v.is_nan() {
                self.n_missing += 1;
                self.first_missing.get_or_insert(first_row + i);
            } else {
                let first = *self.first_present.get_or_insert(v);
                self.is_varying |= v != first;
                self.has_fraction |= v.fract() != 0.0;
            }
            if self.n + i == 0 {
                self.first = v;
            } else {
                let before = self.last;
                self.not_up |= v - before != 1.0;
                self.not_down |= v - before != -1.0;
                self.not_repeated |= v - before != 1.0 && v != self.first;
                // Also if one is missing.
                self.not_increasing |= before.partial_cmp(&v) != Some(std::cmp::Ordering::Less);
                self.not_decreasing |= before.partial_cmp(&v) != Some(std::cmp::Ordering::Greater);
            }
            self.last = v;
        }
        self.n += values.len();
    }

    fn n_present(&self) -> usize {
        self.n - self.n_missing
    }

    /// Infinite values, with a warning about them.
    pub(super) fn infinities(&self, name: &str) -> (Vec<String>, Option<String>) {
        let list = self.infinite.join(", ");
        let warning =
            format!("column '{}': {list} are no finite numbers and count as missing", shorten(name));
        (self.infinite.clone(), (!self.infinite.is_empty()).then_some(warning))
    }

    /// What is done with the column, and why if it is not a feature.
    pub(super) fn decide(
        &self,
        name: &str,
        place: usize,
        choice: &Choice,
        missing: Missing,
    ) -> Result<(Action, Option<String>)> {
        let skip = |reason: &str| Ok((Action::Skipped, Some(reason.to_owned())));
        let id = |reason: &str| Ok((Action::Id, Some(reason.to_owned())));
        match choice.kind {
            _ if choice.reserved => return skip("has another use"),
            _ if choice.id => return id("identifier, as chosen"),
            _ if choice.exclude => return skip("excluded"),
            Some(ColumnType::Id) if !choice.include => return id("identifier, as chosen"),
            Some(ColumnType::Text) if !choice.include => return skip("free text, as chosen"),
            Some(kind) if *kind != ColumnType::Number => {
                return Err(refused(name, &format!("it has the type {}", kind.name())));
            }
            _ => {}
        }
        if let Some(why) = &self.not_numbers {
            return Err(refused(name, why));
        }
        let is_complete = self.n_missing == 0 || missing != Missing::Auto;
        if !choice.include {
            if self.n_present() == 0 {
                return skip("all values are missing");
            }
            if !self.is_varying && self.n_present() > 1 && is_complete {
                return skip("constant");
            }
            let is_open = choice.kind.is_none() && !self.has_fraction;
            match if is_open { self.identifies(name, place) } else { Some(false) } {
                Some(true) => return id("identifier"),
                Some(false) => {}
                None => {
                    return Err(Error::parse(format!(
                        "column '{}' may identify rows, which passes over a table cannot tell; say whether it is an \
                         identifier or a feature",
                        shorten(name)
                    )));
                }
            }
        }
        match (missing, self.first_missing) {
            (Missing::Drop, _) | (_, None) => Ok((Action::Feature, None)),
            (Missing::Error, Some(row)) => Err(Error::MissingValue { row: row + 1, column: name.to_owned() }),
            (Missing::Auto | Missing::Mean | Missing::Median, Some(row)) => {
                let values = if self.n_missing == 1 { "value is" } else { "values are" };
                let why = format!("{} {values} missing, the first in row {}", self.n_missing, row + 1);
                Err(Error::parse(format!(
                    "column '{}': {why}; passes over a table do not impute, so drop rows with missing values or \
                     exclude the column",
                    shorten(name)
                )))
            }
        }
    }

    fn identifies(&self, name: &str, place: usize) -> Option<bool> {
        let n = self.n_present();
        let order = Order {
            counts_rows: !(self.not_up && self.not_down) && n >= MIN_ID_ROWS,
            counts_repeatedly: &|| !self.not_repeated,
            is_increasing: &|| !self.not_increasing,
            // Values that neither rise nor fall all the way may be distinct.
            is_unique: &|| (!(self.not_increasing && self.not_decreasing)).then_some(n > 1),
        };
        integers_identify(name, place, n, &order)
    }

    /// The account of the column.
    pub(super) fn account(&self, name: &str, action: Action, reason: Option<String>) -> ColumnAccount {
        ColumnAccount {
            name: name.to_owned(),
            kind: match action {
                Action::Id => ColumnType::Id,
                _ if self.not_numbers.is_some() => ColumnType::Text,
                _ => ColumnType::Number,
            },
            action,
            reason,
            examples: self.examples.clone(),
            n_missing: self.n_missing,
            n_distinct: None,
            range: None,
            histogram: vec![],
            levels: vec![],
        }
    }
}

fn refused(name: &str, why: &str) -> Error {
    Error::parse(format!(
        "column '{}': {why}; a table that is read in passes needs numbers, so exclude the column or encode it",
        shorten(name)
    ))
}
