//! What a target is, from its values piece by piece.

use super::options::{Prepare, TargetType};
use super::target::Integers;
use crate::data::table::{Column, Values};
use crate::data::types::{ColumnType, Parsing, by_value, infer};
use crate::error::{Error, Result, shorten};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// Classes, at most.
const MAX_CLASSES: usize = 10_000;

/// The values of a target so far.
#[derive(Debug, Default)]
pub(super) struct TargetSurvey {
    integers: Integers,
    /// The bits of the distinct numbers, as long as they may be classes.
    numbers: BTreeSet<u64>,
    texts: BTreeSet<String>,
    too_many: bool,
    has_numbers: bool,
    pub(super) n_missing: usize,
    pub(super) first_missing: Option<usize>,
    problem: Option<String>,
}

/// How to read the target of a piece.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum TargetReading {
    /// The names of the classes.
    Classes(Vec<String>),
    Continuous,
}

impl TargetSurvey {
    /// Adds the next rows; `first_row` is the number of the first.
    pub(super) fn add(&mut self, column: &Column, first_row: usize) {
        let infinite = |row: usize| matches!(&column.values, Values::Numeric(v) if v[row].is_infinite());
        for row in 0..column.len() {
            if column.is_missing(row) || infinite(row) {
                self.n_missing += 1;
                self.first_missing.get_or_insert(first_row + row);
            }
        }
        match &column.values {
            Values::Numeric(values) => {
                for &v in values.iter().filter(|v| v.is_finite()) {
                    self.has_numbers = true;
                    self.integers.push(v);
                    if self.numbers.len() <= MAX_CLASSES {
                        self.numbers.insert((v + 0.0).to_bits());
                    }
                }
            }
            Values::Text { .. } if self.texts.len() > MAX_CLASSES => {}
            Values::Text { levels, .. } => {
                let new = levels.iter().filter(|text| !self.texts.contains(*text)).cloned();
                self.texts.extend(new.take(MAX_CLASSES + 1).collect::<Vec<_>>());
            }
            Values::Date(_) => self.problem = Some("it holds dates".into()),
            Values::Unsupported { why, .. } => self.problem = Some(why.clone()),
        }
        self.too_many = self.numbers.len().max(self.texts.len()) > MAX_CLASSES;
        if self.has_numbers && !self.texts.is_empty() {
            self.problem = Some("it holds numbers and text".into());
        }
    }

    /// Whether it is classes or numbers. `kind` is the type that the user chose for the column.
    pub(super) fn decide(
        &self,
        name: &str,
        prepare: &Prepare,
        kind: Option<&ColumnType>,
    ) -> Result<TargetReading> {
        let refused = |why: &str| Err(Error::parse(format!("the target '{}': {why}", shorten(name))));
        if let Some(problem) = &self.problem {
            return refused(&format!("{problem}, which passes over a table do not support"));
        }
        if !self.has_numbers && self.texts.is_empty() {
            return Err(Error::parse(format!("every value of the target '{}' is missing", shorten(name))));
        }
        let is_class = match (prepare.target_type, kind) {
            (TargetType::Classes, _) => true,
            (TargetType::Continuous, _) | (_, Some(ColumnType::Number)) => false,
            (_, Some(ColumnType::Date(_))) => {
                return refused("dates are not supported in passes over a table");
            }
            (_, Some(_)) => true,
            (TargetType::Auto, None) if self.has_numbers => self.integers.are_classes(),
            (TargetType::Auto, None) => self.texts_are_classes(name, prepare)?,
        };
        match (is_class, self.has_numbers) {
            (false, true) => Ok(TargetReading::Continuous),
            (false, false) => refused("it holds text, and passes over a table need numbers"),
            (true, _) if self.too_many => refused("it has more than 10,000 classes"),
            (true, true) => Ok(TargetReading::Classes(self.names_of_numbers())),
            (true, false) => {
                let mut names: Vec<String> = self.texts.iter().cloned().collect();
                by_value(&mut names);
                Ok(TargetReading::Classes(names))
            }
        }
    }

    fn texts_are_classes(&self, name: &str, prepare: &Prepare) -> Result<bool> {
        let column = Column::text(name, self.texts.iter().map(|text| Some(text.as_str())));
        match infer(&column, prepare.columns.decimal).kind {
            ColumnType::Category | ColumnType::Boolean => Ok(true),
            kind => Err(Error::parse(format!(
                "the target '{}' holds text that may be a {}; say whether it is classes or numbers, or convert it",
                shorten(name),
                kind.name()
            ))),
        }
    }

    fn names_of_numbers(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.numbers.iter().map(|bits| f64::from_bits(*bits).to_string()).collect();
        by_value(&mut names);
        names
    }
}

impl TargetReading {
    /// How a table is read later, as classes or as numbers.
    pub(super) fn parsing(&self) -> Option<Parsing> {
        matches!(self, Self::Continuous).then(Parsing::numbers)
    }

    /// The codes or the numbers of a column; `None` where a value is missing.
    pub(super) fn read(&self, column: &Column) -> Vec<Option<f64>> {
        let rows = 0..column.len();
        match (self, &column.values) {
            (_, Values::Numeric(values)) if matches!(self, Self::Continuous) => {
                values.iter().map(|v| v.is_finite().then_some(*v)).collect()
            }
            (Self::Classes(names), Values::Numeric(values)) => {
                let code = |name: &String| name.parse::<f64>().ok().map(|v| (v + 0.0).to_bits());
                let codes: HashMap<u64, f64> = names
                    .iter()
                    .enumerate()
                    .filter_map(|(at, name)| Some((code(name)?, at as f64)))
                    .collect();
                values.iter().map(|v| codes.get(&(v + 0.0).to_bits()).copied()).collect()
            }
            (Self::Classes(names), _) => {
                let codes: HashMap<&str, f64> =
                    names.iter().enumerate().map(|(at, name)| (name.as_str(), at as f64)).collect();
                rows.map(|row| codes.get(&*column.cell(row)?).copied()).collect()
            }
            (Self::Continuous, _) => rows.map(|_| None).collect(),
        }
    }
}
