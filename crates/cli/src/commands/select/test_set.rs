//! A test set: how well a selection predicts rows that it was not fitted to.

use crate::args::{TableArgs, WeightArgs};
use crate::commands::report::MAX_ROWS;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{number, percent};
use crate::roles::load_test;
use kernsift::data::{Dataset, Encoding, Fold, Target, stack};
use kernsift::evaluate::{Evaluator, Scores};
use kernsift::internals::Rng;
use kernsift::{Context, Model};
use serde_json::{Value, json};

/// Test rows, prepared like the training rows.
pub struct TestSet {
    name: String,
    data: Dataset,
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

/// The scores of an evaluator that is fitted to the training rows.
pub struct TestScores {
    name: String,
    rows: usize,
    evaluator: &'static str,
    n_selected: usize,
    n_features: usize,
    /// With the selected features; `None` if none is selected.
    selected: Option<Scores>,
    all: Scores,
}

impl TestSet {
    /// Reads and prepares a test set, which must have the target column of the training rows.
    pub fn read(
        name: &str,
        args: (&TableArgs, &WeightArgs),
        loaded: &Loaded,
        ctx: &Context,
        console: &Console,
    ) -> Result<Self, Failure> {
        let data = load_test(name, args, loaded, ctx, console)?.data;
        Evaluator::for_target(data.target()).check(&loaded.prepared.data)?;
        Ok(Self { name: name.to_owned(), data })
    }

    /// Measures the accuracy of a model that predicts classes.
    pub fn accuracy(&self, model: &Model, ctx: &Context) -> Result<Accuracy, Failure> {
        let Target::Classes(classes) = self.data.target() else {
            return Err(Failure::Input("--test needs a class target; pass --target-type class".into()));
        };
        let predicted = model.predict(self.data.x(), ctx)?;
        let names = model.class_names()?;
        let is_correct = |(code, class): &(&usize, &usize)| names[**code] == classes.names[**class];
        let correct = predicted.iter().zip(&classes.codes).filter(is_correct).count();
        let rows = self.data.n();
        Ok(Accuracy { name: self.name.clone(), rows, fraction: correct as f64 / rows as f64 })
    }

    /// Fits an evaluator to the training rows with the selected features, and with all, and scores its predictions.
    pub fn scores(
        &self,
        train: &Dataset,
        selected: &[usize],
        encoding: Encoding,
        ctx: &Context,
    ) -> kernsift::Result<TestScores> {
        let evaluator = Evaluator::for_target(train.target());
        let both = stack(train, &self.data)?;
        let train_rows = match train.n() > MAX_ROWS {
            true => Rng::stream(ctx.seed, "test set").sample(train.n(), MAX_ROWS),
            false => (0..train.n()).collect(),
        };
        if train_rows.len() < train.n() {
            ctx.note(format!("the evaluator of --test is fitted to {MAX_ROWS} random rows"));
        }
        let fold = Fold { train: train_rows, test: (train.n()..both.n()).collect() };
        let score =
            |features: &[usize]| evaluator.evaluate_fold(&both.take_columns(features), &fold, encoding, ctx);
        Ok(TestScores {
            name: self.name.clone(),
            rows: fold.test.len(),
            evaluator: evaluator.name(),
            n_selected: selected.len(),
            n_features: train.d(),
            selected: if selected.is_empty() { None } else { Some(score(selected)?) },
            all: score(&(0..train.d()).collect::<Vec<_>>())?,
        })
    }
}

impl TestScores {
    /// The field of the JSON record.
    pub fn record(&self) -> Value {
        json!({
            "name": self.name,
            "rows": self.rows,
            "evaluator": self.evaluator,
            "selected": self.selected,
            "all_features": self.all,
        })
    }

    /// The scores in a sentence.
    pub fn text(&self) -> String {
        let is_class = self.all.error.is_some();
        let value = |scores: &Scores| match (scores.error, scores.r2) {
            (Some(error), _) => percent(error),
            (None, Some(r2)) => number(r2),
            (None, None) => "undefined".into(),
        };
        let selected = match &self.selected {
            Some(scores) => format!("{} with the {} selected, ", value(scores), self.n_selected),
            None => String::new(),
        };
        let (what, all) = (if is_class { "error" } else { "R²" }, value(&self.all));
        let Self { evaluator, n_features, rows, name, .. } = self;
        format!(
            "\ntest {what} of {evaluator}: {selected}{all} with all {n_features} features; {rows} rows of {name}\n"
        )
    }
}
