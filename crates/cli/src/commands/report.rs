//! What the page of `--report` needs beside the answer itself.

use crate::args::{MissingArg, TableArgs};
use crate::console::{Console, ProgressOnly};
use crate::failure::Failure;
use crate::input::{Loaded, load_for_folds};
use kernsift::Context;
use kernsift::data::write::write_atomic;
use kernsift::data::{Dataset, ImputeStrategy, Splits, Target};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, Measure, Method, ResultsLog, SplitChoice, Summary, counts_around,
};
use kernsift::memory::metered;
use kernsift::random::Rng;
use kernsift_report::{RunInfo, Validation};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;

/// Folds of the check unless the user says otherwise.
const FOLDS: usize = 5;
/// Rows that the check looks at, at most: an evaluator's time grows with their square.
const ROWS: usize = 2000;
/// How rows are counted here.
pub const COUNTING: &str = "Row numbers start at 1, without the header.";

/// Work with the time and memory it took.
pub struct Took {
    pub seconds: f64,
    pub peak_bytes: Option<u64>,
}

/// Does work and says what it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Took) {
    let start = Instant::now();
    let (done, peak_bytes) = metered(work);
    (done, Took { seconds: start.elapsed().as_secs_f64(), peak_bytes })
}

/// Refuses a number of folds that so many rows do not have.
pub fn check_folds(folds: Option<usize>, rows: usize) -> Result<(), Failure> {
    match folds {
        None | Some(0) => Ok(()),
        Some(folds) => Splits::Folds { folds, repeats: 1 }.check(rows.min(ROWS)).map_err(typed),
    }
}

/// A failure with parameters named as the user typed them.
fn typed(error: kernsift::Error) -> Failure {
    Failure::typed(error, &[("splits", "folds", "--folds")])
}

/// What was asked, in the words of a page.
pub fn asked(
    loaded: &Loaded,
    method: (&str, &impl Serialize),
    is_scaled: bool,
    took: &Took,
    ctx: &Context,
) -> Result<RunInfo, Failure> {
    Ok(RunInfo {
        data: loaded.name.clone(),
        target: loaded.prepared.recipe.target().map(str::to_owned),
        missing_values: loaded.empty_cells(),
        scaling: if is_scaled { "standardized" } else { "none" }.into(),
        method: method.0.to_owned(),
        settings: serde_json::to_value(method.1)?,
        seed: Some(ctx.seed),
        seconds: Some(took.seconds),
        peak_bytes: took.peak_bytes,
        command: command(),
    })
}

/// The command as it was typed, such that a shell reads it the same.
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

/// Writes a page and says where it is.
pub fn write(path: &Path, page: &str, console: &Console) -> Result<(), Failure> {
    write_atomic(path, |out| out.write_all(page.as_bytes()))?;
    console.inform(&format!("the page is {}", path.display()));
    Ok(())
}

/// A selection that is checked on rows it has not seen.
pub struct ToCheck<'a> {
    pub table: &'a TableArgs,
    pub loaded: &'a Loaded,
    pub method: Method,
    pub label: &'a str,
    /// How many features were kept, and how many there are to try.
    pub kept: usize,
    pub most: usize,
    pub scale: bool,
    /// What the user said of folds.
    pub folds: Option<usize>,
}

impl ToCheck<'_> {
    /// Runs the method again in every fold, with several numbers of features.
    pub fn run(self, ctx: &Context, console: &Console) -> Result<Validation, Failure> {
        let folds = self.folds.unwrap_or(FOLDS);
        if folds == 0 {
            return Ok(Validation::Skipped("Cross-validation was disabled (--folds 0).".into()));
        }
        let data = &self.loaded.prepared.data;
        if matches!(data.target(), Target::None) {
            return Ok(Validation::Skipped("Cross-validation needs a target.".into()));
        }
        if data.has_missing() {
            return Ok(Validation::Skipped("Cross-validation does not support missing values.".into()));
        }
        // What was filled from all rows must be filled anew in every fold.
        let filled = matches!(self.table.missing, MissingArg::Mean | MissingArg::Median);
        let unfilled = (filled && self.loaded.gaps > 0)
            .then(|| load_for_folds(self.table, ctx, &Console::silent()))
            .transpose()?;
        let data = unfilled.as_ref().map_or(data, |loaded| &loaded.prepared.data);
        let sample = (data.n() > ROWS).then(|| some_rows(data, ctx));
        let data = sample.as_ref().unwrap_or(data);
        if sample.is_some() {
            console.inform(&format!("the page checks the choice on {ROWS} random rows"));
        }
        let compare = Compare {
            candidates: vec![Candidate { label: self.label.to_owned(), method: self.method.by_number() }],
            counts: counts_around(self.kept, self.most),
            splits: SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }),
            evaluator: Evaluator::for_target(data.target()),
            scale: self.scale,
            impute: if matches!(self.table.missing, MissingArg::Median) {
                ImputeStrategy::Median
            } else {
                ImputeStrategy::Mean
            },
            baseline: true,
        };
        let observer = ProgressOnly { console, purpose: "report" };
        let mut log = ResultsLog::in_memory();
        match compare.run(data, &self.loaded.name, &mut log, &Context { observer: &observer, ..*ctx }) {
            Ok(()) => {}
            Err(error) if error.is_interrupted() => return Err(Failure::Interrupted),
            // Asked for, it must be possible; otherwise the page says why it was not.
            Err(error) if self.folds.is_some() => return Err(typed(error)),
            Err(error) => return Ok(Validation::Skipped(format!("Cross-validation failed: {error}."))),
        }
        console.clear();
        let measure = Measure::for_target(data.target());
        let summary = Summary::of(&log, &[self.label.to_owned()], &compare.counts, measure);
        Ok(Validation::of(log, summary))
    }
}

fn some_rows(data: &Dataset, ctx: &Context) -> Dataset {
    data.take_rows(&Rng::stream(ctx.seed, "report rows").sample(data.n(), ROWS))
}
