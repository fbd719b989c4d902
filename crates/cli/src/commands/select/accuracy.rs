//! Accuracy of a model on a test set.

use crate::args::TableArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, column, inform_of_dropped, read};
use kernsift::data::{Missing, Rows};
use kernsift::{Context, Error, Model, Observer};
use std::collections::BTreeSet;
use std::path::Path;

/// A test set.
pub struct TestRows {
    name: String,
    /// The features, prepared like the training rows.
    x: Rows,
    /// The names of the true classes.
    classes: Vec<String>,
}

/// The accuracy on a test set.
pub struct Accuracy {
    /// The path or name of the test set.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// The fraction of correctly classified rows.
    pub fraction: f64,
}

impl TestRows {
    /// Reads and prepares a test set, which must have the target column of the training rows.
    pub fn read(
        name: &str,
        args: &TableArgs,
        loaded: &Loaded,
        ctx: &Context,
        console: &Console,
    ) -> Result<Self, Failure> {
        if name == args.data {
            console.warn(
                "--test names the training rows, each of which is its own nearest neighbor; use other rows",
            );
        }
        let table = read(name, &args.reading, ctx, console)?;
        let in_file = |error: Error| error.in_file(Path::new(name));
        let Some(wanted) = loaded.prepared.recipe.target() else {
            return Err(Failure::Input("--test needs a class target; name one with --target".into()));
        };
        let target = column(&table, wanted)
            .ok_or_else(|| in_file(Error::unknown_column(wanted, table.names().into_iter())))?;
        let missing = (0..target.len()).find(|&row| target.is_missing(row));
        if let (Some(row), Missing::Error) = (missing, args.missing) {
            return Err(in_file(Error::MissingValue { row: row + 1, column: target.name.clone() }).into());
        }
        let applied = loaded.prepared.recipe.apply(&table).map_err(in_file)?;
        let known = |(at, &row): (usize, &usize)| Some((at, target.cell(row)?.into_owned()));
        let (rows, classes): (Vec<usize>, Vec<String>) =
            applied.rows.iter().enumerate().filter_map(known).unzip();
        if rows.is_empty() {
            return Err(in_file(Error::parse("every row has missing values")).into());
        }
        inform_of_dropped(name, table.n_rows(), rows.len(), console);
        Ok(Self { name: name.to_owned(), x: applied.data.x().take_rows(&rows), classes })
    }

    /// Measures the accuracy of a model.
    pub fn evaluate(&self, model: &Model, ctx: &Context, console: &Console) -> Result<Accuracy, Failure> {
        let predicted = model.predict(&self.x, ctx)?;
        let names = model.class_names()?;
        let unknown: BTreeSet<&String> = self.classes.iter().filter(|class| !names.contains(class)).collect();
        if let Some(class) = unknown.first() {
            let classes = if unknown.len() == 1 {
                "one class is".into()
            } else {
                format!("{} classes are", unknown.len())
            };
            console.warn(&format!(
                "{}: {classes} not among the training rows, such as '{class}', and cannot be predicted",
                self.name
            ));
        }
        let correct =
            predicted.iter().zip(&self.classes).filter(|(code, class)| names[**code] == **class).count();
        let rows = self.classes.len();
        Ok(Accuracy { name: self.name.clone(), rows, fraction: correct as f64 / rows as f64 })
    }
}
