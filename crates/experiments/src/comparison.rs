//! Cross-validated comparisons on a data set, each saved in a record so that a run can resume.

use crate::paper::Settings;
use kernsift::evaluate::{Compare, Measure, Record, ResultsLog, Summary};
use kernsift::{Context, Dataset, Observer, Result};
use kernsift_report::{Figure, Series, XAxis};

/// The results of a comparison.
pub struct Comparison {
    /// All recorded results.
    pub log: ResultsLog,
    /// Errors by method and number of features.
    pub summary: Summary,
}

impl Comparison {
    /// Runs a comparison. `name` is the name of the record, `part` prefixes progress messages.
    pub fn run(
        compare: &Compare,
        data: &Dataset,
        name: &str,
        part: &str,
        settings: &Settings,
        ctx: &Context,
    ) -> Result<Self> {
        let mut log = match settings.record(name) {
            Some(path) => ResultsLog::open(&path)?,
            None => ResultsLog::in_memory(),
        };
        let part = Part { name: part.to_owned(), observer: ctx.observer };
        compare.run(data, name, &mut log, &Context { observer: &part, ..*ctx })?;
        let labels: Vec<String> = compare.candidates.iter().map(|c| c.label.clone()).collect();
        Ok(Self::of(log, &labels, &compare.counts))
    }

    /// Loads the results of an earlier run, for a data set that is not available now.
    pub fn load(name: &str, labels: &[&str], counts: &[usize], settings: &Settings) -> Result<Option<Self>> {
        let Some(path) = settings.record(name).filter(|path| path.is_file()) else { return Ok(None) };
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        Ok(Some(Self::of(ResultsLog::open(&path)?, &labels, counts)))
    }

    fn of(log: ResultsLog, labels: &[String], counts: &[usize]) -> Self {
        let summary = Summary::of(&log, labels, counts, Measure::Error);
        Self { log, summary }
    }

    /// The results of a method with `k` features, one per split.
    pub fn results<'a>(&'a self, label: &'a str, k: usize) -> impl Iterator<Item = &'a Record> {
        self.log.results().filter(move |record| record.method == label && record.k == k)
    }

    /// Mean and standard deviation of a method's error, in percent; `None` if it failed in any split.
    pub fn error(&self, label: &str, k: usize) -> Option<(f64, f64)> {
        let index = self.summary.counts.iter().position(|&count| count == k)?;
        let method = self.summary.methods.iter().find(|method| method.label == label)?;
        let cell = method.cells[index].filter(|cell| cell.is_complete())?;
        Some((100.0 * cell.mean, 100.0 * cell.sd))
    }

    /// Mean error with all features, in percent.
    pub fn error_with_all_features(&self) -> Option<f64> {
        self.summary.all_features.map(|cell| 100.0 * cell.mean)
    }

    /// Error, or accuracy, by number of features.
    pub fn figure(&self, name: &str, title: &str, names: impl Fn(&str) -> String, accuracy: bool) -> Figure {
        let value = |mean: f64| if accuracy { 100.0 - 100.0 * mean } else { 100.0 * mean };
        let mut series: Vec<Series> = self
            .summary
            .methods
            .iter()
            .map(|method| Series {
                label: names(&method.label),
                values: method
                    .cells
                    .iter()
                    .map(|cell| cell.filter(|c| c.is_complete()).map(|c| (value(c.mean), 100.0 * c.sd)))
                    .collect(),
            })
            .collect();
        if let Some(cell) = self.summary.all_features {
            let value = Some((value(cell.mean), 100.0 * cell.sd));
            let label = names("all-features");
            series.push(Series { label, values: vec![value; self.summary.counts.len()] });
        }
        Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            x_label: "number of features".to_owned(),
            y_label: if accuracy { "accuracy, %" } else { "error, %" }.to_owned(),
            x: XAxis::Linear(self.summary.counts.iter().map(|&k| k as f64).collect()),
            series,
        }
    }
}

/// Prefixes messages with the part of the run that they belong to.
struct Part<'a> {
    name: String,
    observer: &'a dyn Observer,
}

impl Observer for Part<'_> {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        self.observer.progress(&format!("{}: {stage}", self.name), done, total);
    }

    fn note(&self, text: &str) {
        self.observer.note(&format!("{}: {text}", self.name));
    }

    fn warn(&self, text: &str) {
        self.observer.warn(&format!("{}: {text}", self.name));
    }

    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }
}
