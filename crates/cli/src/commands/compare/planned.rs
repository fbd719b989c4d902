//! The comparison of methods on one table.

use super::plan::{Informing, describe_left_out, describe_plan};
use crate::args::{CompareArgs, ScaleArg, Switch, TableArgs};
use crate::commands::options::no_such_method;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::input::{Also, Loaded};
use crate::roles::{Roles, load_rows, load_test};
use kernsift::data::{Dataset, Fold, Splits, Target, stack};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, EvaluatorChoice, Measure, Predictions, ResultsLog, SplitChoice, Summary,
    cost_path,
};
use kernsift::{Context, Error, Observer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A table, and the comparison of methods on it.
pub struct Planned {
    /// The table.
    pub loaded: Loaded,
    /// With a test file all rows; those of the file come after the training rows.
    stacked: Option<Dataset>,
    /// The comparison.
    pub compare: Compare,
    /// The score.
    pub measure: Measure,
    record: Option<PathBuf>,
}

impl Planned {
    /// Reads a table and plans the comparison.
    pub fn new(
        args: &CompareArgs,
        table: TableArgs,
        record: Option<PathBuf>,
        ctx: &Context,
        console: &Console,
    ) -> Result<Self, Failure> {
        let also = Also::report(args.report.is_some());
        let roles = Roles::of(&args.split_by, &args.weights);
        let loaded = load_rows(&table, roles, also, ctx, console)?;
        let (stacked, splits) = rows(args, &loaded, ctx, console)?;
        let data = stacked.as_ref().unwrap_or(&loaded.prepared.data);
        let compare = comparison(args, data, splits)?;
        let measure = args.metric.unwrap_or_else(|| Measure::for_target(data.target()));
        Ok(Self { loaded, stacked, compare, measure, record })
    }

    /// Checks the arguments against the table, before any work is done.
    pub fn check(&self, args: &CompareArgs, ctx: &Context) -> Result<(), Failure> {
        let data = self.data();
        self.compare.check(data, ctx).map_err(typed)?;
        if let EvaluatorChoice::BuiltIn(evaluator) = &self.compare.evaluator {
            self.measure.check(data.target(), evaluator).map_err(typed)?;
        }
        if args.predictions && !matches!(data.target(), Target::Classes(_)) {
            let text = "--predictions needs classes, but the target is continuous; leave it out";
            return Err(Failure::Input(text.into()));
        }
        Ok(())
    }

    fn data(&self) -> &Dataset {
        self.stacked.as_ref().unwrap_or(&self.loaded.prepared.data)
    }

    /// Returns an error for files that cannot be written; `others` are further inputs.
    pub fn check_outputs(&self, report: Option<&Path>, others: &[&Path]) -> Result<(), Failure> {
        let costs = self.record.as_ref().map(|record| cost_path(record));
        let outputs =
            [("--report", report), ("--record", self.record.as_deref()), ("--record", costs.as_deref())];
        check_outputs(&outputs, &[self.loaded.files().as_slice(), others].concat())
    }

    /// Compares the methods, or resumes that.
    pub fn run(&self, args: &CompareArgs, ctx: &Context, console: &Console) -> Result<Results, Failure> {
        let mut log = match &self.record {
            Some(path) => ResultsLog::open(path)?,
            None => ResultsLog::in_memory(),
        };
        let known = log.results().count();
        console.inform(&describe_plan(&self.compare));
        let observer = Informing(console);
        let run_ctx = Context { observer: &observer, ..*ctx };
        let name = &self.loaded.name;
        let left_out =
            self.compare.run_within(args.budget, self.data(), name, &mut log, &run_ctx).map_err(|error| {
                if let (true, Some(path)) = (error.is_interrupted(), &self.record) {
                    let path = path.display();
                    console.inform(&format!("results so far are in {path}; run the same command to resume"));
                }
                typed(error)
            })?;
        console.clear();
        left_out.iter().for_each(|method| console.warn(&describe_left_out(method)));
        if known > 0 {
            console.inform(&format!("resumed from {known} results in the record"));
        }
        let Compare { candidates, counts, train_sizes, .. } = &self.compare;
        let labels: Vec<String> = candidates.iter().map(|c| c.label.clone()).collect();
        let summaries = Summary::learning_curve(&log, &labels, counts, &self.measure.into(), train_sizes);
        warn_of_failures(&summaries, console)?;
        let chosen = summaries.last().and_then(|s| Some((s.simplest.as_ref()?, s.train_rows)));
        let predictions = match chosen.filter(|_| args.predictions) {
            Some(chosen) => {
                console.stage("predicting the test rows again");
                Some(self.compare.predictions(self.data(), &log, chosen, ctx).map_err(typed)?)
            }
            None => None,
        };
        Ok(Results { log, summaries, predictions })
    }

    /// The fields of the JSON record.
    pub fn fields(&self, results: &Results) -> Value {
        let Results { log, summaries, predictions } = results;
        let mut fields = json!({
            "evaluator": self.compare.evaluator,
            "splits": log.run().map(|run| run.folds.len()),
            "summary": results.last(),
            "results": log.results().collect::<Vec<_>>(),
            "costs": log.costs().collect::<Vec<_>>(),
        });
        if !self.compare.train_sizes.is_empty() {
            fields["learning_curve"] = json!(summaries);
        }
        if let Some(predictions) = predictions {
            fields["predictions"] = json!(predictions);
        }
        fields
    }
}

/// The results of a comparison.
pub struct Results {
    /// All of them.
    pub log: ResultsLog,
    /// One, or one for each number of training rows.
    pub summaries: Vec<Summary>,
    /// If they are requested.
    pub predictions: Option<Predictions>,
}

impl Results {
    /// With all training rows, or the largest number of them.
    pub fn last(&self) -> &Summary {
        self.summaries.last().expect("at least one")
    }
}

/// With a test file all rows, those of the file after the training rows; and how rows are split.
fn rows(
    args: &CompareArgs,
    loaded: &Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<(Option<Dataset>, SplitChoice), Failure> {
    let train = &loaded.prepared.data;
    let repeats = args.repeats;
    let Some(test) = &args.test else {
        let splits = match args.test_size {
            Some(test_size) => Splits::Holdout { test_size, repeats },
            None => Splits::Folds { folds: args.folds.unwrap_or(5), repeats },
        };
        return Ok((None, SplitChoice::Generated(splits)));
    };
    let test = load_test(test, (&args.table, &args.weights), loaded, ctx, console)?.data;
    let data = stack(train, &test)?;
    let fold = Fold { train: (0..train.n()).collect(), test: (train.n()..data.n()).collect() };
    Ok((Some(data), SplitChoice::Given(vec![fold])))
}

/// Splits a list of methods at commas. A part `key=value` without a name belongs to the method before it.
fn split_methods(list: &str) -> Vec<&str> {
    let continues = |part: &str| part.split('=').next().is_some_and(|key| key != part && !key.contains(':'));
    let mut methods: Vec<(usize, usize)> = vec![];
    let mut start = 0;
    for part in list.split(',') {
        let end = start + part.len();
        match methods.last_mut() {
            Some(last) if continues(part) => last.1 = end,
            _ => methods.push((start, end)),
        }
        start = end + 1;
    }
    methods.into_iter().map(|(start, end)| list[start..end].trim()).filter(|text| !text.is_empty()).collect()
}

/// The comparison that the arguments describe.
fn comparison(args: &CompareArgs, data: &Dataset, splits: SplitChoice) -> Result<Compare, Failure> {
    let mut candidates: Vec<Candidate> = match args.methods {
        Some(_) => vec![],
        None => Candidate::default_for(data),
    };
    for text in split_methods(args.methods.as_deref().unwrap_or_default()) {
        let new = match text {
            "all" => Candidate::all_supporting(data),
            text => vec![Candidate::parse(text).map_err(no_such_method)?],
        };
        for candidate in new {
            // 'fisher,all' has one twice.
            if candidates.iter().all(|known| known.label != candidate.label) {
                candidates.push(candidate);
            }
        }
    }
    let evaluator = match &args.evaluator {
        Some(text) => Evaluator::parse(text).map_err(no_such_method)?,
        None => Evaluator::for_target(data.target()),
    };
    Ok(Compare {
        candidates,
        counts: args.k.as_ref().map_or_else(|| (1..=data.d().min(10)).collect(), |k| k.0.clone()),
        splits,
        stratify: args.stratify == Switch::On,
        evaluator: evaluator.into(),
        scale: args.scale == ScaleArg::Standard,
        impute: args.table.impute(),
        baseline: true,
        train_sizes: args.rows.as_ref().map_or(vec![], |rows| rows.0.clone()),
        latest: false,
    })
}

/// Warns of methods that could not be evaluated; an error if there are no others.
fn warn_of_failures(summaries: &[Summary], console: &Console) -> Result<(), Failure> {
    let methods = || summaries.iter().flat_map(|summary| &summary.methods);
    if methods().all(|m| m.cells.iter().all(Option::is_none)) {
        let failure = methods().find_map(|m| m.failure.clone()).unwrap_or_else(|| {
            let score = summaries[0].measure.name();
            format!(
                "{score} is undefined for the test rows of every split; use fewer folds, or another --metric"
            )
        });
        return Err(Failure::Input(format!("no method could be evaluated: {failure}")));
    }
    if let Some(failure) = summaries.iter().find_map(|summary| summary.all_features_failure.as_ref()) {
        console.warn(&format!("all features: {failure}"));
    }
    for summary in summaries {
        let rows = summary.train_rows.map_or(String::new(), |rows| format!(" with {rows} training rows"));
        for method in &summary.methods {
            if let Some(failure) = &method.failure {
                console.warn(&format!("{}: {} results{rows} failed: {failure}", method.label, method.failed));
            }
            if method.not_converged > 0 {
                console.warn(&format!(
                    "{}: {} selections{rows} stopped at the maximum number of iterations",
                    method.label, method.not_converged
                ));
            }
        }
    }
    Ok(())
}

/// A failure with parameters named by their options.
fn typed(error: Error) -> Failure {
    let options = [
        ("compare", "number of features", "-k"),
        ("compare", "metric", "--metric"),
        ("compare", "training rows", "--rows"),
        ("splits", "folds", "--folds"),
        ("splits", "repeats", "--repeats"),
        ("splits", "test_size", "--test-size"),
        ("evaluator", "evaluator", "--evaluator"),
        ("evaluator", "target", "--target"),
    ];
    Failure::typed(error, &options)
}
