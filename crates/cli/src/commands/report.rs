//! Parts of HTML reports: run information and cross-validation.

use crate::args::TableArgs;
use crate::console::{Console, ProgressOnly};
use crate::failure::Failure;
use crate::input::Loaded;
use kernsift::Context;
use kernsift::data::write::write_atomic;
use kernsift::data::{Dataset, Splits, Target};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, Measure, Method, ResultsLog, SplitChoice, Summary, counts_around,
};
use kernsift::internals::Rng;
use kernsift::internals::metered;
use kernsift_report::{RunInfo, Validation};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Default number of folds.
const FOLDS: usize = 5;
/// Largest number of rows to cross-validate: the time of an evaluator grows with their square.
pub const MAX_ROWS: usize = 2000;
/// How rows are numbered.
pub const COUNTING: &str = "Row numbers start at 1, without the header.";

/// Time and memory of a computation.
pub struct Cost {
    pub seconds: f64,
    pub peak_bytes: Option<u64>,
}

/// Measures the time and memory of a computation.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let start = Instant::now();
    let (done, peak_bytes) = metered(work);
    (done, Cost { seconds: start.elapsed().as_secs_f64(), peak_bytes })
}

/// Returns an error if there are too few rows for the folds.
pub fn check_folds(folds: Option<usize>, data: &Dataset) -> Result<(), Failure> {
    match folds {
        None | Some(0) => Ok(()),
        Some(folds) => {
            let splits = Splits::Folds { folds, repeats: 1 };
            splits.check(data.n().min(MAX_ROWS)).and_then(|()| splits.check_data(data)).map_err(typed)
        }
    }
}

/// A failure with parameters named by their options.
fn typed(error: kernsift::Error) -> Failure {
    Failure::typed(error, &[("splits", "folds", "--folds")])
}

/// Data, method and cost of a run, for a report.
pub fn run_info(
    loaded: &Loaded,
    method: (&str, &impl Serialize),
    is_scaled: bool,
    cost: &Cost,
    ctx: &Context,
) -> Result<RunInfo, Failure> {
    let targets: Vec<&str> = loaded.prepared.recipe.targets().collect();
    Ok(RunInfo {
        data: loaded.name.clone(),
        target: (!targets.is_empty()).then(|| targets.join(", ")),
        account: Some(loaded.prepared.account.clone()),
        missing_values: loaded.missing_values(),
        scaling: if is_scaled { "standardized" } else { "none" }.into(),
        method: method.0.to_owned(),
        settings: serde_json::to_value(method.1)?,
        seed: Some(ctx.seed),
        seconds: Some(cost.seconds),
        peak_bytes: cost.peak_bytes,
        command: command(),
    })
}

/// The command line, quoted for a shell.
pub fn command() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("kernsift".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Writes a report and informs of its path.
pub fn write(path: &Path, page: &str, console: &Console) -> Result<(), Failure> {
    write_atomic(path, |out| out.write_all(page.as_bytes()))?;
    console.inform(&format!("report: {}", path.display()));
    Ok(())
}

/// Cross-validation of a selection.
pub struct CrossValidation<'a> {
    pub table: &'a TableArgs,
    pub loaded: &'a Loaded,
    pub method: Method,
    pub label: &'a str,
    pub n_selected: usize,
    /// Largest number of features to try.
    pub max_count: usize,
    pub scale: bool,
    /// Number of folds, if the user gave one.
    pub folds: Option<usize>,
}

impl CrossValidation<'_> {
    /// Fits the method in every fold, with several numbers of features.
    pub fn run(self, ctx: &Context, console: &Console) -> Result<Validation, Failure> {
        let folds = self.folds.unwrap_or(FOLDS);
        if folds == 0 {
            return Ok(Validation::Skipped("Cross-validation was disabled (--folds 0).".into()));
        }
        let data = &self.loaded.prepared.data;
        match data.target() {
            Target::None => return Ok(Validation::Skipped("Cross-validation needs a target.".into())),
            Target::Outputs(_) => {
                return Ok(Validation::Skipped("Cross-validation is for a single target column.".into()));
            }
            _ => {}
        }
        let sample = (data.n() > MAX_ROWS).then(|| {
            console.inform(&format!("the report cross-validates on {MAX_ROWS} random rows"));
            data.take_rows(&Rng::stream(ctx.seed, "report rows").sample(data.n(), MAX_ROWS))
        });
        let data = sample.as_ref().unwrap_or(data);
        let compare = Compare {
            candidates: vec![Candidate { label: self.label.to_owned(), method: self.method.by_number() }],
            counts: counts_around(self.n_selected, self.max_count),
            splits: SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }),
            stratify: true,
            evaluator: Evaluator::for_target(data.target()).into(),
            scale: self.scale,
            impute: self.table.impute(),
            baseline: true,
            train_sizes: vec![],
            latest: false,
        };
        let observer = ProgressOnly { console, purpose: "report" };
        let mut log = ResultsLog::in_memory();
        match compare.run(data, &self.loaded.name, &mut log, &Context { observer: &observer, ..*ctx }) {
            Ok(()) => {}
            Err(error) if error.is_interrupted() => return Err(Failure::Interrupted),
            // Without --folds, the report says why there is no cross-validation.
            Err(error) if self.folds.is_some() => return Err(typed(error)),
            Err(error) => return Ok(Validation::Skipped(format!("Cross-validation failed: {error}."))),
        }
        console.clear();
        let measure = Measure::for_target(data.target());
        let summary = Summary::of(&log, &[self.label.to_owned()], &compare.counts, measure);
        Ok(Validation::of(log, summary))
    }
}
