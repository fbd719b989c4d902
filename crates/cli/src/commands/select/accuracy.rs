//! Accuracy of a model on a test set.

use crate::args::TableArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, load_test};
use kernsift::data::{Classes, Rows, Target};
use kernsift::{Context, Model};

/// A test set.
pub struct TestRows {
    name: String,
    /// The features, prepared like the training rows.
    x: Rows,
    classes: Classes,
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
        let test = load_test(name, args, loaded, ctx, console)?;
        let Target::Classes(classes) = test.data.target().clone() else {
            return Err(Failure::Input("--test needs a class target; pass --target-type class".into()));
        };
        Ok(Self { name: name.to_owned(), x: test.data.into_x(), classes })
    }

    /// Measures the accuracy of a model.
    pub fn evaluate(&self, model: &Model, ctx: &Context) -> Result<Accuracy, Failure> {
        let predicted = model.predict(&self.x, ctx)?;
        let names = model.class_names()?;
        let is_correct = |(code, class): &(&usize, &usize)| names[**code] == self.classes.names[**class];
        let correct = predicted.iter().zip(&self.classes.codes).filter(is_correct).count();
        let rows = self.classes.codes.len();
        Ok(Accuracy { name: self.name.clone(), rows, fraction: correct as f64 / rows as f64 })
    }
}
