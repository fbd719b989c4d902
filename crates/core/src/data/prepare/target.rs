//! Finding the target column and reading classes or numbers from it.

use super::options::{TargetChoice, TargetType};
use super::patterns::Choice;
use crate::data::periods::Periods;
use crate::data::table::{Column, Table, Values};
use crate::data::target::{Classes, Target};
use crate::data::types::{ColumnType, Decimal, Parsing, by_value, infer, of_type};
use crate::error::{Error, Result, shorten};
use std::collections::{BTreeSet, HashMap};

/// Column names that mark the target, by priority.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// Integers with at most this many distinct values are classes, if there are two rows per value on average: more are
/// usually counts, amounts or ratings.
const MAX_CLASSES: usize = 20;
/// Consecutive integers from 0 or 1 may have this many,
const MAX_NUMBERED_CLASSES: usize = 100;
/// ... if there are this many rows per value on average.
const MIN_NUMBERED_ROWS: usize = 10;

/// The name of the target column, if there is one. `choices` are those for each column.
pub(super) fn find(
    choice: &TargetChoice,
    table: &Table,
    choices: &[Choice],
    notes: &mut Vec<String>,
) -> Result<Option<String>> {
    let names = table.names();
    match (choice, table) {
        (TargetChoice::None, _) => Ok(None),
        (TargetChoice::Named(name), Table::Sparse { target, .. }) => match target {
            Some(target) if target.name == *name => Ok(Some(name.clone())),
            _ => Err(Error::param(
                "sparse data",
                "target",
                "'target' (the label of each row) or none",
                format!("'{name}'"),
            )),
        },
        (TargetChoice::Named(name), _) if names.contains(&name.as_str()) => Ok(Some(name.clone())),
        (TargetChoice::Named(name), _) => Err(Error::unknown_column(name, names.into_iter())),
        (_, Table::Sparse { target, .. }) => Ok(target.as_ref().map(|t| t.name.clone())),
        (TargetChoice::Auto | TargetChoice::AutoByName, Table::Columns(_)) => {
            let is_free = |at: &usize| choices.get(*at).is_none_or(|c| !c.exclude && !c.id && !c.reserved);
            let names: Vec<&str> = (0..names.len()).filter(is_free).map(|at| names[at]).collect();
            let known = TARGET_NAMES.iter().find_map(|t| names.iter().find(|n| n.eq_ignore_ascii_case(t)));
            let (name, why) = match (known, names.last()) {
                (Some(name), _) => (*name, "by its name"),
                (None, _) if *choice == TargetChoice::AutoByName => return Ok(None),
                (None, Some(name)) => (*name, "the last column; none is called target, class, label or y"),
                (None, None) => return Err(Error::NoFeatures),
            };
            notes.push(format!("target: '{}' ({why})", shorten(name)));
            Ok(Some(name.to_owned()))
        }
    }
}

/// Whether a column is a target for classification or regression, by its values in these rows.
///
/// Text, booleans and integers with few values are classes: at most 20 distinct integers with two rows per value on average,
/// or at most 100 integers 0, 1, 2, ... or 1, 2, 3, ... with ten rows per value. Integers with leading zeros or too many digits
/// are names, and so classes. Everything else is continuous.
pub fn target_type(column: &Column, rows: &[usize]) -> TargetType {
    target_type_with(column, rows, None)
}

/// Reads the classes or numbers of a column without missing values. With [`TargetType::Auto`] its values decide, see
/// [`target_type`].
pub fn read_target(column: &Column, target_type: TargetType) -> Result<Target> {
    let rows: Vec<usize> = (0..column.len()).collect();
    let parsing = Reading { target_type, kind: None, decimal: None }.parsing(column, &rows)?;
    read(column, parsing.as_ref(), &rows)
}

fn target_type_with(column: &Column, rows: &[usize], decimal: Option<Decimal>) -> TargetType {
    let inferred = infer(column, decimal);
    let is_name =
        |text: &String| text.len() > 1 && text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    let is_code = matches!(&column.values, Values::Text { levels, .. } if levels.iter().any(is_name));
    let is_class = match inferred.kind {
        ColumnType::Date(_) => false,
        ColumnType::Number if !is_code => match inferred.parsing.read(column) {
            Ok(parsed) => few_integers(&parsed.values, rows),
            Err(_) => true,
        },
        _ => true,
    };
    if is_class { TargetType::Classes } else { TargetType::Continuous }
}

fn few_integers(values: &[f64], rows: &[usize]) -> bool {
    let mut found = Integers::default();
    rows.iter().for_each(|&i| found.push(values[i]));
    found.are_classes()
}

/// The distinct values of a target of integers, as long as they may be classes.
#[derive(Debug, Clone, Default)]
pub(super) struct Integers {
    distinct: BTreeSet<i64>,
    n: usize,
    /// Whether a value is no integer, or there are too many.
    is_continuous: bool,
}

impl Integers {
    /// Adds a value; a missing one has no effect.
    pub(super) fn push(&mut self, value: f64) {
        if value.is_nan() || self.is_continuous {
            return;
        }
        if value.fract() != 0.0 || !value.is_finite() {
            self.is_continuous = true;
            return;
        }
        self.distinct.insert(value as i64);
        self.n += 1;
        self.is_continuous = self.distinct.len() > MAX_NUMBERED_CLASSES;
    }

    /// Whether they are classes.
    pub(super) fn are_classes(&self) -> bool {
        if self.is_continuous {
            return false;
        }
        let (n, distinct) = (self.n, &self.distinct);
        let (Some(&low), Some(&high)) = (distinct.first(), distinct.last()) else { return true };
        let is_numbered = (low == 0 || low == 1) && high - low == distinct.len() as i64 - 1;
        (distinct.len() <= MAX_CLASSES && 2 * distinct.len() <= n)
            || is_numbered && MIN_NUMBERED_ROWS * distinct.len() <= n
    }
}

/// How to read a target: the type that the user chose for it or for its column.
pub(super) struct Reading<'a> {
    pub(super) target_type: TargetType,
    pub(super) kind: Option<&'a ColumnType>,
    pub(super) decimal: Option<Decimal>,
}

impl Reading<'_> {
    /// Whether the target is classes, by its values in these rows.
    pub(super) fn is_class(&self, column: &Column, rows: &[usize]) -> bool {
        let by_kind = self.kind.map(|kind| match kind {
            ColumnType::Number | ColumnType::Date(_) => TargetType::Continuous,
            _ => TargetType::Classes,
        });
        let decided = match (self.target_type, by_kind) {
            (TargetType::Auto, None) => target_type_with(column, rows, self.decimal),
            (TargetType::Auto, Some(kind)) => kind,
            (chosen, _) => chosen,
        };
        decided == TargetType::Classes
    }

    /// How to read a continuous target; `None` for classes.
    pub(super) fn parsing(&self, column: &Column, rows: &[usize]) -> Result<Option<Parsing>> {
        if self.is_class(column, rows) {
            return Ok(None);
        }
        let is_date =
            matches!(column.values, Values::Date(_)) || matches!(self.kind, Some(ColumnType::Date(_)));
        let kind = match infer(column, self.decimal).kind {
            date @ ColumnType::Date(_) => date,
            _ if is_date => ColumnType::Date(Periods::default()),
            _ => ColumnType::Number,
        };
        Ok(Some(of_type(column, &kind, self.decimal)?.parsing))
    }
}

/// The rows in which a target is neither missing nor infinite. With a parsing, text that counts as missing is missing.
pub(super) fn rows_present(column: &Column, parsing: Option<&Parsing>) -> Result<Vec<usize>> {
    let infinite =
        |row: usize| matches!(&column.values, Values::Numeric(values) if values[row].is_infinite());
    let mut rows: Vec<usize> =
        (0..column.len()).filter(|&row| !column.is_missing(row) && !infinite(row)).collect();
    if let Some(parsing) = parsing {
        let values = parsing.read(column)?.values;
        rows.retain(|&row| !values[row].is_nan());
    }
    Ok(rows)
}

/// The target of these rows, in which it is not missing; classes without a parsing.
pub(super) fn read(column: &Column, parsing: Option<&Parsing>, rows: &[usize]) -> Result<Target> {
    let Some(parsing) = parsing else { return Ok(Target::Classes(classes(column, rows))) };
    let values = parsing.read(column)?.values;
    if let Some(&row) = rows.iter().find(|&&row| values[row].is_nan()) {
        let text = shorten(&column.cell(row).unwrap_or_default());
        return Err(Error::NotNumeric { row: row + 1, column: column.name.clone(), text });
    }
    Ok(Target::Continuous(rows.iter().map(|&i| values[i]).collect()))
}

/// The classes of these rows, with names as they are written.
fn classes(column: &Column, rows: &[usize]) -> Classes {
    // Equal values have equal texts, which take longer to make.
    let key = |row: usize| match &column.values {
        Values::Numeric(values) | Values::Date(values) => (values[row] + 0.0).to_bits(),
        Values::Text { codes, .. } => u64::from(codes[row]),
        Values::Unsupported { .. } => 0,
    };
    let mut first_rows: HashMap<u64, usize> = HashMap::new();
    for &row in rows {
        first_rows.entry(key(row)).or_insert(row);
    }
    let text = |row: usize| column.cell(row).unwrap_or_default().into_owned();
    let texts: HashMap<u64, String> = first_rows.into_iter().map(|(key, row)| (key, text(row))).collect();
    let mut names: Vec<String> = texts.values().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    by_value(&mut names);
    let places: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
    let codes_of: HashMap<u64, usize> =
        texts.iter().map(|(key, text)| (*key, places[text.as_str()])).collect();
    let codes = rows.iter().map(|&row| codes_of[&key(row)]).collect();
    Classes { codes, names }
}
