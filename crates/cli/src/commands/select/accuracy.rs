//! How often a model is right on rows whose classes are known.

use crate::args::{MissingArg, TableArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, column, read};
use kernsift::data::table::MISSING;
use kernsift::data::{Column, Rows, Values};
use kernsift::{Context, Error, Model, Observer};
use std::collections::BTreeSet;
use std::path::Path;

/// Rows to evaluate a model by.
pub struct TestRows {
    name: String,
    /// The rows that are evaluated, prepared like the training rows.
    x: Rows,
    /// Their classes by name.
    classes: Vec<String>,
}

/// How a model did on them.
pub struct Accuracy {
    /// What the user called the rows.
    pub name: String,
    /// Rows that were evaluated.
    pub rows: usize,
    /// The share that got its class.
    pub share: f64,
}

impl TestRows {
    /// Reads rows, and finds the target that the training rows had.
    pub fn read(
        name: &str,
        args: &TableArgs,
        loaded: &Loaded,
        ctx: &Context,
        console: &Console,
    ) -> Result<Self, Failure> {
        if name == args.data {
            console.warn("--test names the training rows, which are their own neighbors; use other rows");
        }
        let table = read(name, args.no_header, ctx, console)?;
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
                MissingArg::Error => return Err(in_file(Error::MissingValue { row, column }).into()),
                MissingArg::Mean | MissingArg::Median | MissingArg::Keep => {
                    let why = "targets are not imputed";
                    return Err(in_file(Error::CannotImpute { row, column, why }).into());
                }
            }
        }
        let (data, places) = loaded.prepared.recipe.apply(&table).map_err(in_file)?;
        let known = |(at, &place): (usize, &usize)| class_name(&target, place).map(|class| (at, class));
        let (rows, classes): (Vec<usize>, Vec<String>) = places.iter().enumerate().filter_map(known).unzip();
        if rows.is_empty() {
            return Err(in_file(Error::parse("no row has both its class and all its cells")).into());
        }
        let (left_out, total) = (table.n_rows() - rows.len(), table.n_rows());
        if left_out > 0 {
            console.inform(&format!("{name}: dropped {left_out} of {total} rows with missing values"));
        }
        Ok(Self { name: name.to_owned(), x: data.x().take_rows(&rows), classes })
    }

    /// Compares what the model says with what is known.
    pub fn evaluate(&self, model: &Model, ctx: &Context, console: &Console) -> Result<Accuracy, Failure> {
        let predicted = model.predict(&self.x, ctx)?;
        let names = model.class_names()?;
        let strange: BTreeSet<&String> = self.classes.iter().filter(|class| !names.contains(class)).collect();
        if let Some(class) = strange.first() {
            let classes = if strange.len() == 1 {
                "one class is".into()
            } else {
                format!("{} classes are", strange.len())
            };
            console.warn(&format!(
                "{}: {classes} not among the training rows, such as '{class}', and cannot be predicted",
                self.name
            ));
        }
        let right =
            predicted.iter().zip(&self.classes).filter(|(code, class)| names[**code] == **class).count();
        let rows = self.classes.len();
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
