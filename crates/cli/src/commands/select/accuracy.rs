//! How often a model is right on rows whose classes are known.

use crate::args::{MissingArg, TableArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, column, read};
use kernsift::data::table::MISSING;
use kernsift::data::{Column, Table, Values};
use kernsift::{Context, Error, Model, Observer};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows to judge a model by.
pub struct TestRows {
    name: String,
    table: Table,
    target: Column,
}

/// How a model did on them.
pub struct Accuracy {
    /// What the user called the rows.
    pub name: String,
    /// Rows that were judged.
    pub rows: usize,
    /// The share that got its class.
    pub share: f64,
}

impl TestRows {
    /// Reads rows, and finds the target that the training rows had.
    pub fn read(name: &str, args: &TableArgs, loaded: &Loaded, console: &Console) -> Result<Self, Failure> {
        let table = read(name, args.no_header, console)?;
        let in_file = |error: Error| error.in_file(Path::new(name));
        let Some(wanted) = loaded.prepared.recipe.target() else {
            return Err(Failure::Input("--test needs a class target; name one with --target".into()));
        };
        let target = column(&table, wanted)
            .ok_or_else(|| in_file(Error::unknown_column(wanted, table.names().into_iter())))?;
        if let Some(row) = (0..target.len()).find(|&row| target.is_missing(row)) {
            let (row, column) = (row + 1, target.name.clone());
            match args.missing {
                MissingArg::Drop => {}
                MissingArg::Error => return Err(in_file(Error::Missing { row, column }).into()),
                MissingArg::Mean | MissingArg::Median => {
                    let why = "the target is not made up";
                    return Err(in_file(Error::CannotFill { row, column, why }).into());
                }
            }
        }
        Ok(Self { name: name.to_owned(), table, target })
    }

    /// Compares what the model says with what is known.
    pub fn judge(&self, model: &Model, ctx: &Context, console: &Console) -> Result<Accuracy, Failure> {
        let in_file = |error: Error| error.in_file(Path::new(&self.name));
        let (predicted, places) = model.predict_table(&self.table, ctx).map_err(in_file)?;
        let classes = model.class_names()?;
        let mut strange = BTreeSet::new();
        let (mut right, mut rows) = (0, 0);
        for (&class, &place) in predicted.iter().zip(&places) {
            let Some(truth) = class_name(&self.target, place) else { continue };
            rows += 1;
            right += usize::from(classes[class] == truth);
            if !classes.contains(&truth) {
                strange.insert(truth);
            }
        }
        let total = self.table.n_rows();
        if rows == 0 {
            return Err(in_file(Error::parse("no row has both its class and all its cells")).into());
        }
        if rows < total {
            let name = &self.name;
            console.inform(&format!(
                "{name}: {} of {total} rows have empty cells and were left out",
                total - rows
            ));
        }
        if let Some(class) = strange.first() {
            console.warn(&format!(
                "{}: {} not among the training rows, such as '{class}', and cannot be predicted",
                self.name,
                if strange.len() == 1 {
                    "one class is".into()
                } else {
                    format!("{} classes are", strange.len())
                },
            ));
        }
        Ok(Accuracy { name: self.name.clone(), rows, share: right as f64 / rows as f64 })
    }
}

/// The class of a row as training rows of that class name it.
fn class_name(target: &Column, row: usize) -> Option<String> {
    match &target.values {
        Values::Numeric(values) if values[row].is_nan() => None,
        // -0 becomes 0.
        Values::Numeric(values) => Some((values[row] + 0.0).to_string()),
        Values::Text { codes, .. } if codes[row] == MISSING => None,
        Values::Text { codes, levels } => Some(levels[codes[row] as usize].clone()),
    }
}
