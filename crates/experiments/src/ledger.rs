//! Numbers that were measured, each under a name, kept so that a run can go on where it was stopped.
//!
//! A ledger is a file of lines: first what was run, then a line per measurement. Nothing in it depends on the clock, the
//! machine or the order of work. Times are kept in a file of their own beside it.

use crate::paper::{Paper, Settings};
use kernsift::context::Quiet;
use kernsift::evaluate::cost_path;
use kernsift::evaluate::json_lines::{JsonLinesFile, json};
use kernsift::{Context, Error, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Named numbers.
pub type Numbers = BTreeMap<String, f64>;

/// The version of the lines' meaning.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Line {
    Run(Run),
    Measured { name: String, numbers: Numbers },
}

/// What was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Run {
    format: u32,
    version: String,
    paper: String,
    quick: bool,
    seed: u64,
}

/// A ledger; see the module's text.
pub struct Ledger {
    run: Run,
    numbers: Kept,
    times: Kept,
}

#[derive(Default)]
struct Kept {
    known: BTreeMap<String, Numbers>,
    file: Option<JsonLinesFile>,
}

impl Ledger {
    /// Opens the ledger of a paper, or starts it.
    pub fn open(paper: Paper, settings: &Settings, ctx: &Context) -> Result<Self> {
        let run = Run {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            paper: paper.name().to_owned(),
            quick: settings.quick,
            seed: ctx.seed,
        };
        let Some(path) = settings.record(paper.name()) else {
            return Ok(Self { run, numbers: Kept::default(), times: Kept::default() });
        };
        let numbers = Kept::open(JsonLinesFile::open_alone(&path)?, &run)?;
        let times = Kept::open(JsonLinesFile::open(&cost_path(&path))?, &run)?;
        Ok(Self { run, numbers, times })
    }

    /// The numbers under these names. What is not known is measured, on all threads, and kept. `work` is given places among
    /// the names, and a context that passes on nothing but the wish to stop.
    pub fn measure(
        &mut self,
        stage: &str,
        names: &[String],
        ctx: &Context,
        work: impl Fn(usize, &Context) -> Result<Numbers> + Sync,
    ) -> Result<Vec<Numbers>> {
        let missing = self.numbers.missing(names);
        let (done, quiet) = (AtomicUsize::new(0), Quiet(ctx.observer));
        let inner = Context { observer: &quiet, ..*ctx };
        ctx.step(stage, 0, missing.len())?;
        let kept = Mutex::new(&mut self.numbers);
        missing.par_iter().try_for_each(|&i| {
            inner.check()?;
            let numbers = work(i, &inner)?;
            let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            kept.add(&names[i], numbers)?;
            ctx.step(stage, done.fetch_add(1, Ordering::Relaxed) + 1, missing.len())
        })?;
        Ok(names.iter().map(|name| self.numbers.known[name].clone()).collect())
    }

    /// The times under these names. What is not known is measured, one after the other, and kept beside the record.
    pub fn time(
        &mut self,
        stage: &str,
        names: &[String],
        ctx: &Context,
        work: impl Fn(usize, &Context) -> Result<Numbers>,
    ) -> Result<Vec<Numbers>> {
        let quiet = Quiet(ctx.observer);
        let inner = Context { observer: &quiet, ..*ctx };
        let missing = self.times.missing(names);
        for (done, &i) in missing.iter().enumerate() {
            ctx.step(stage, done, missing.len())?;
            self.times.add(&names[i], work(i, &inner)?)?;
        }
        ctx.step(stage, missing.len(), missing.len())?;
        Ok(names.iter().map(|name| self.times.known[name].clone()).collect())
    }

    /// Puts the files in order.
    pub fn finish(&self) -> Result<()> {
        self.numbers.finish(&self.run)?;
        self.times.finish(&self.run)
    }
}

impl Kept {
    fn open(mut file: JsonLinesFile, run: &Run) -> Result<Self> {
        let mut known = BTreeMap::new();
        let lines = file.read::<Line>("{\"kind\":\"run\"")?;
        let empty = lines.is_empty();
        let wrong_at = |at: usize| format!("line {at}: this does not belong here; use another folder");
        for (at, line) in lines {
            match line {
                Line::Run(old) if at == 1 && old == *run => {}
                Line::Run(old) if at == 1 => {
                    return Err(Error::parse(format!(
                        "the record is of {}, seed {}, version {}{}; use another folder, or remove this file",
                        old.paper,
                        old.seed,
                        old.version,
                        if old.quick { ", quick" } else { "" }
                    ))
                    .in_file(file.path()));
                }
                Line::Measured { name, numbers } if at > 1 => {
                    known.insert(name, numbers);
                }
                _ => return Err(Error::parse(wrong_at(at)).in_file(file.path())),
            }
        }
        file.heal()?;
        if empty {
            file.add([Line::Run(run.clone())])?;
        }
        Ok(Self { known, file: Some(file) })
    }

    /// Places of the names that nothing is known of.
    fn missing(&self, names: &[String]) -> Vec<usize> {
        (0..names.len()).filter(|&i| !self.known.contains_key(&names[i])).collect()
    }

    fn add(&mut self, name: &str, numbers: Numbers) -> Result<()> {
        if let Some((what, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::Breakdown { step: "measuring", why: format!("{name}: {what} is {value}") });
        }
        if let Some(file) = &mut self.file {
            file.add([Line::Measured { name: name.to_owned(), numbers: numbers.clone() }])?;
        }
        self.known.insert(name.to_owned(), numbers);
        Ok(())
    }

    fn finish(&self, run: &Run) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let measured = self
            .known
            .iter()
            .map(|(name, numbers)| Line::Measured { name: name.clone(), numbers: numbers.clone() });
        let lines = std::iter::once(Line::Run(run.clone())).chain(measured);
        file.replace(&lines.map(|line| json(&line) + "\n").collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(folder: &std::path::Path) -> Settings {
        Settings { records: Some(folder.to_owned()), ..Settings::default() }
    }

    fn squares(ledger: &mut Ledger, n: usize, work: &(dyn Fn(usize) + Sync)) -> Vec<f64> {
        let names: Vec<String> = (0..n).map(|i| format!("square of {i}")).collect();
        let measured = ledger.measure("squares", &names, &Context::default(), |i, _| {
            work(i);
            Ok([("value".to_owned(), (i * i) as f64)].into())
        });
        measured.unwrap().iter().map(|numbers| numbers["value"]).collect()
    }

    #[test]
    fn what_is_known_is_not_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let ctx = Context::default();
        let mut ledger = Ledger::open(Paper::Lp, &settings, &ctx).unwrap();
        assert_eq!(squares(&mut ledger, 3, &|_| {}), [0.0, 1.0, 4.0]);
        // Killed here: nothing was put in order, and a line is torn.
        drop(ledger);
        let path = settings.record("lp").unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"kind\":\"measured\",\"na";
        std::fs::write(&path, text).unwrap();
        let mut ledger = Ledger::open(Paper::Lp, &settings, &ctx).unwrap();
        let values = squares(&mut ledger, 4, &|i| assert_eq!(i, 3, "known already"));
        assert_eq!(values, [0.0, 1.0, 4.0, 9.0]);
        ledger.finish().unwrap();
        let in_two_runs = std::fs::read_to_string(&path).unwrap();
        let other = tempfile::tempdir().unwrap();
        let settings = Settings { records: Some(other.path().to_owned()), ..settings };
        let mut ledger = Ledger::open(Paper::Lp, &settings, &ctx).unwrap();
        squares(&mut ledger, 4, &|_| {});
        ledger.finish().unwrap();
        assert_eq!(std::fs::read_to_string(settings.record("lp").unwrap()).unwrap(), in_two_runs);
    }

    #[test]
    fn another_run_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        Ledger::open(Paper::Lp, &settings, &Context::default()).unwrap().finish().unwrap();
        let other = Context { seed: 7, ..Context::default() };
        let message = Ledger::open(Paper::Lp, &settings, &other).err().unwrap().to_string();
        assert!(message.contains("the record is of lp, seed 0"), "{message}");
        std::fs::write(settings.record("takes").unwrap(), "a,b\n1,2\n").unwrap();
        let message = Ledger::open(Paper::Takes, &settings, &other).err().unwrap().to_string();
        assert!(message.contains("line 1"), "{message}");
    }

    #[test]
    fn numbers_that_are_none_end_the_run() {
        let mut ledger = Ledger::open(Paper::Lp, &Settings::default(), &Context::default()).unwrap();
        let work = |_: usize, _: &Context| Ok([("share".to_owned(), f64::NAN)].into());
        let message =
            ledger.measure("x", &["wine".to_owned()], &Context::default(), work).unwrap_err().to_string();
        assert!(message.contains("wine: share is NaN"), "{message}");
    }
}
