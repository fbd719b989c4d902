//! Which papers there are, and how one is run again.

use crate::study::{Study, Verdict};
use crate::{lp, takes, transform};
use kernsift::{Context, Observer, Result};
use serde::Serialize;
use std::path::PathBuf;

/// A paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// TAKES: a fast method to select features in the kernel space.
    Takes,
    /// From transformation-based dimensionality reduction to feature selection.
    Transform,
    /// Feature selection and kernel design via linear programming.
    Lp,
}

impl Paper {
    /// All of them, in the order of this program's pages.
    pub const ALL: [Self; 3] = [Self::Takes, Self::Transform, Self::Lp];

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Takes => "takes",
            Self::Transform => "transform",
            Self::Lp => "lp",
        }
    }

    /// Authors, title and place.
    pub fn reference(self) -> &'static str {
        match self {
            Self::Takes => takes::REFERENCE,
            Self::Transform => transform::REFERENCE,
            Self::Lp => lp::REFERENCE,
        }
    }
}

/// How much is run, on what, and where it is kept.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Two splits of small sets only.
    pub quick: bool,
    /// Where sets are that are not built in.
    pub data_dir: Option<PathBuf>,
    /// A folder for records, so that a run that was stopped goes on; none keeps nothing.
    pub records: Option<PathBuf>,
}

impl Settings {
    /// A seed for each split of a set.
    pub fn seeds(&self, ctx: &Context) -> Vec<u64> {
        let splits = if self.quick { 2 } else { 10 };
        (0..splits).map(|split| ctx.seed.wrapping_add(split)).collect()
    }

    /// How many splits a set has, in words.
    pub fn splits_in_words(&self) -> &'static str {
        if self.quick { "two seeded splits" } else { "ten seeded splits" }
    }

    /// Where a record is kept. A quick run has files of its own.
    pub fn record(&self, name: &str) -> Option<PathBuf> {
        let quick = if self.quick { "-quick" } else { "" };
        self.records.as_ref().map(|folder| folder.join(format!("{name}{quick}.jsonl")))
    }
}

/// Runs a paper again.
pub fn reproduce(paper: Paper, settings: &Settings, ctx: &Context) -> Result<Study> {
    let mut sections = match paper {
        Paper::Takes => takes::run(settings, ctx),
        Paper::Transform => transform::run(settings, ctx),
        Paper::Lp => lp::run(settings, ctx),
    }?;
    if settings.quick {
        // Two splits decide nothing.
        sections.iter_mut().filter(|s| s.verdict != Verdict::NotRun).for_each(|s| s.verdict = Verdict::Shown);
    }
    Ok(Study { paper, quick: settings.quick, seed: ctx.seed, sections })
}

/// Says what the work is a part of, whoever does it.
pub(crate) struct Part<'a> {
    pub name: String,
    pub observer: &'a dyn Observer,
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
