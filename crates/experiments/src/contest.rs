//! Comparisons on a set, kept in a record each so that a run can go on.

use crate::paper::{Part, Settings};
use kernsift::evaluate::{Compare, Measure, Record, ResultsLog, Summary};
use kernsift::{Context, Dataset, Result};
use kernsift_report::{Line, Picture, Places};

/// A comparison that was run.
pub struct Contest {
    /// What was written down.
    pub log: ResultsLog,
    /// Its table of errors.
    pub summary: Summary,
}

impl Contest {
    /// Compares on a set; `name` is that of the record, `part` what the work is called while it goes on.
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

    /// What an earlier run has written down of a set that is not at hand now.
    pub fn known(name: &str, labels: &[&str], counts: &[usize], settings: &Settings) -> Result<Option<Self>> {
        let Some(path) = settings.record(name).filter(|path| path.is_file()) else { return Ok(None) };
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        Ok(Some(Self::of(ResultsLog::open(&path)?, &labels, counts)))
    }

    fn of(log: ResultsLog, labels: &[String], counts: &[usize]) -> Self {
        let summary = Summary::of(&log, labels, counts, Measure::Error);
        Self { log, summary }
    }

    /// The results of a method with a number of features, a split after the other.
    pub fn results<'a>(&'a self, label: &'a str, k: usize) -> impl Iterator<Item = &'a Record> {
        self.log.results().filter(move |record| record.method == label && record.k == k)
    }

    /// A method's mean error and its standard deviation in per cent; none if it failed in some split.
    pub fn error(&self, label: &str, k: usize) -> Option<(f64, f64)> {
        let place = self.summary.counts.iter().position(|&count| count == k)?;
        let method = self.summary.methods.iter().find(|method| method.label == label)?;
        let cell = method.cells[place].filter(|cell| cell.is_whole())?;
        Some((100.0 * cell.mean, 100.0 * cell.sd))
    }

    /// A method's mean error with all columns, in per cent.
    pub fn with_all_columns(&self) -> Option<f64> {
        self.summary.all_columns.map(|cell| 100.0 * cell.mean)
    }

    /// Curves against the number of features: errors, or what is not an error.
    pub fn picture(
        &self,
        name: &str,
        title: &str,
        names: impl Fn(&str) -> String,
        accuracy: bool,
    ) -> Picture {
        let value = |mean: f64| if accuracy { 100.0 - 100.0 * mean } else { 100.0 * mean };
        let mut lines: Vec<Line> = self
            .summary
            .methods
            .iter()
            .map(|method| Line {
                label: names(&method.label),
                values: method
                    .cells
                    .iter()
                    .map(|cell| cell.filter(|c| c.is_whole()).map(|c| (value(c.mean), 100.0 * c.sd)))
                    .collect(),
            })
            .collect();
        if let Some(cell) = self.summary.all_columns {
            let value = Some((value(cell.mean), 100.0 * cell.sd));
            lines.push(Line { label: names("all-columns"), values: vec![value; self.summary.counts.len()] });
        }
        Picture {
            name: name.to_owned(),
            title: title.to_owned(),
            across: "number of features".to_owned(),
            up: if accuracy { "accuracy, %" } else { "error, %" }.to_owned(),
            places: Places::Numbers(self.summary.counts.iter().map(|&k| k as f64).collect()),
            lines,
        }
    }
}
