//! Finding the target column and reading classes or numbers from it.

use super::encode::not_numeric;
use super::options::{TargetChoice, TargetType};
use crate::data::dataset::{Classes, Target};
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result, shorten};
use std::collections::{BTreeSet, HashMap};

/// Column names that mark the target, by priority.
const TARGET_NAMES: [&str; 4] = ["target", "class", "label", "y"];

/// By default, integers with more distinct values than this are a continuous target.
const MAX_CLASSES: usize = 100;

/// The name of the target column, if there is one.
pub(super) fn find(choice: &TargetChoice, table: &Table, notes: &mut Vec<String>) -> Result<Option<String>> {
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

/// The target of these rows.
pub(super) fn read(column: &Column, rows: &[usize], target_type: TargetType) -> Result<Target> {
    if let Some(&row) = rows.iter().find(|&&i| column.is_missing(i)) {
        let why = "targets are not imputed";
        return Err(Error::CannotImpute { row: row + 1, column: column.name.clone(), why });
    }
    let is_class = match target_type {
        TargetType::Classes => true,
        TargetType::Continuous => false,
        TargetType::Auto => is_categorical(column, rows),
    };
    match &column.values {
        Values::Text { .. } if !is_class => Err(not_numeric(column)),
        Values::Text { codes, levels } => Ok(text_classes(codes, levels, rows)),
        Values::Numeric(values) | Values::Date(values) if is_class => Ok(numeric_classes(values, rows)),
        Values::Numeric(values) | Values::Date(values) => {
            Ok(Target::Continuous(rows.iter().map(|&i| values[i]).collect()))
        }
    }
}

/// Whether a column is text, or integers with few distinct values: at most [`MAX_CLASSES`], and two rows per
/// value on average.
pub(super) fn is_categorical(column: &Column, rows: &[usize]) -> bool {
    let Values::Numeric(values) = &column.values else { return true };
    let mut distinct = BTreeSet::new();
    for &i in rows {
        if values[i].fract() != 0.0 {
            return false;
        }
        distinct.insert(values[i].to_bits());
        if distinct.len() > MAX_CLASSES {
            return false;
        }
    }
    2 * distinct.len() <= rows.len()
}

fn text_classes(codes: &[u32], levels: &[String], rows: &[usize]) -> Target {
    let used: BTreeSet<&str> = rows.iter().map(|&i| levels[codes[i] as usize].as_str()).collect();
    let class_of: HashMap<&str, usize> =
        used.iter().enumerate().map(|(class, name)| (*name, class)).collect();
    let codes = rows.iter().map(|&i| class_of[levels[codes[i] as usize].as_str()]).collect();
    Target::Classes(Classes { codes, names: used.into_iter().map(str::to_owned).collect() })
}

fn numeric_classes(values: &[f64], rows: &[usize]) -> Target {
    let mut used: Vec<f64> = rows.iter().map(|&i| values[i] + 0.0).collect(); // -0 becomes 0
    used.sort_by(f64::total_cmp);
    used.dedup();
    let class_of = |v: f64| used.partition_point(|u| *u < v);
    let codes = rows.iter().map(|&i| class_of(values[i])).collect();
    Target::Classes(Classes { codes, names: used.iter().map(f64::to_string).collect() })
}
