//! Named measurements, saved so that an interrupted run can resume.
//!
//! A checkpoint is a JSON Lines file: the first line describes the run, each further line is a measurement. Its contents do
//! not depend on the clock, the computer or the order of execution. Times are saved in a separate file.

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

/// Version of the file format.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Line {
    Run(Run),
    Measured { name: String, numbers: Numbers },
}

/// Description of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Run {
    format: u32,
    version: String,
    paper: String,
    quick: bool,
    seed: u64,
}

/// The saved measurements of a paper; see the module documentation.
pub struct Checkpoint {
    run: Run,
    numbers: Store,
    times: Store,
}

#[derive(Default)]
struct Store {
    known: BTreeMap<String, Numbers>,
    file: Option<JsonLinesFile>,
}

impl Checkpoint {
    /// Opens the checkpoint of a paper, or creates it.
    pub fn open(paper: Paper, settings: &Settings, ctx: &Context) -> Result<Self> {
        let run = Run {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            paper: paper.name().to_owned(),
            quick: settings.quick,
            seed: ctx.seed,
        };
        let Some(path) = settings.record(paper.name()) else {
            return Ok(Self { run, numbers: Store::default(), times: Store::default() });
        };
        let numbers = Store::open(JsonLinesFile::open_locked(&path)?, &run)?;
        let times = Store::open(JsonLinesFile::open(&cost_path(&path))?, &run)?;
        Ok(Self { run, numbers, times })
    }

    /// The measurements with these names. Missing ones are measured on all threads and saved. `work` receives an index into
    /// `names` and a context that forwards only interruption.
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
        let store = Mutex::new(&mut self.numbers);
        missing.par_iter().try_for_each(|&i| {
            inner.check()?;
            let numbers = work(i, &inner)?;
            let mut store = store.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            store.add(&names[i], numbers)?;
            ctx.step(stage, done.fetch_add(1, Ordering::Relaxed) + 1, missing.len())
        })?;
        Ok(self.numbers(names))
    }

    /// The numbers under these names, all of which are known.
    pub fn numbers(&self, names: &[String]) -> Vec<Numbers> {
        names.iter().map(|name| self.numbers.known[name].clone()).collect()
    }

    /// Whether all these names have numbers.
    pub fn knows(&self, names: &[String]) -> bool {
        self.numbers.missing(names).is_empty()
    }

    /// The times with these names. Missing ones are measured sequentially and saved in the file of times.
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

    /// Rewrites the files in a fixed order.
    pub fn finish(&self) -> Result<()> {
        self.numbers.finish(&self.run)?;
        self.times.finish(&self.run)
    }
}

impl Store {
    fn open(mut file: JsonLinesFile, run: &Run) -> Result<Self> {
        let mut known = BTreeMap::new();
        let lines = file.read::<Line>("{\"kind\":\"run\"")?;
        let empty = lines.is_empty();
        let unexpected =
            |at: usize| format!("line {at}: not a line of a checkpoint; use another folder for records");
        for (at, line) in lines {
            match line {
                Line::Run(old) if at == 1 && old == *run => {}
                Line::Run(old) if at == 1 => {
                    return Err(Error::parse(format!(
                        "this checkpoint belongs to another run (paper {}, seed {}, version {}{}); use another \
                         folder for records, or delete this file",
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
                _ => return Err(Error::parse(unexpected(at)).in_file(file.path())),
            }
        }
        file.truncate_incomplete()?;
        if empty {
            file.append([Line::Run(run.clone())])?;
        }
        Ok(Self { known, file: Some(file) })
    }

    /// Indices of the names without a measurement.
    fn missing(&self, names: &[String]) -> Vec<usize> {
        (0..names.len()).filter(|&i| !self.known.contains_key(&names[i])).collect()
    }

    fn add(&mut self, name: &str, numbers: Numbers) -> Result<()> {
        if let Some((what, value)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::Breakdown { step: "measuring", why: format!("{name}: {what} is {value}") });
        }
        if let Some(file) = &mut self.file {
            file.append([Line::Measured { name: name.to_owned(), numbers: numbers.clone() }])?;
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

    fn squares(checkpoint: &mut Checkpoint, n: usize, work: &(dyn Fn(usize) + Sync)) -> Vec<f64> {
        let names: Vec<String> = (0..n).map(|i| format!("square of {i}")).collect();
        let measured = checkpoint.measure("squares", &names, &Context::default(), |i, _| {
            work(i);
            Ok([("value".to_owned(), (i * i) as f64)].into())
        });
        measured.unwrap().iter().map(|numbers| numbers["value"]).collect()
    }

    #[test]
    fn saved_measurements_are_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let ctx = Context::default();
        let mut checkpoint = Checkpoint::open(Paper::Lp, &settings, &ctx).unwrap();
        assert_eq!(squares(&mut checkpoint, 3, &|_| {}), [0.0, 1.0, 4.0]);
        // Simulate a killed run: the file is not sorted, and its last line is incomplete.
        drop(checkpoint);
        let path = settings.record("lp").unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"kind\":\"measured\",\"na";
        std::fs::write(&path, text).unwrap();
        let mut checkpoint = Checkpoint::open(Paper::Lp, &settings, &ctx).unwrap();
        let values = squares(&mut checkpoint, 4, &|i| assert_eq!(i, 3, "known already"));
        assert_eq!(values, [0.0, 1.0, 4.0, 9.0]);
        checkpoint.finish().unwrap();
        let in_two_runs = std::fs::read_to_string(&path).unwrap();
        let other = tempfile::tempdir().unwrap();
        let settings = Settings { records: Some(other.path().to_owned()), ..settings };
        let mut checkpoint = Checkpoint::open(Paper::Lp, &settings, &ctx).unwrap();
        squares(&mut checkpoint, 4, &|_| {});
        checkpoint.finish().unwrap();
        assert_eq!(std::fs::read_to_string(settings.record("lp").unwrap()).unwrap(), in_two_runs);
    }

    #[test]
    fn checkpoint_of_another_run_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        Checkpoint::open(Paper::Lp, &settings, &Context::default()).unwrap().finish().unwrap();
        let other = Context { seed: 7, ..Context::default() };
        let message = Checkpoint::open(Paper::Lp, &settings, &other).err().unwrap().to_string();
        assert!(message.contains("another run (paper lp, seed 0"), "{message}");
        std::fs::write(settings.record("takes").unwrap(), "a,b\n1,2\n").unwrap();
        let message = Checkpoint::open(Paper::Takes, &settings, &other).err().unwrap().to_string();
        assert!(message.contains("line 1"), "{message}");
    }

    #[test]
    fn nan_measurement_is_an_error() {
        let mut checkpoint = Checkpoint::open(Paper::Lp, &Settings::default(), &Context::default()).unwrap();
        let work = |_: usize, _: &Context| Ok([("fraction".to_owned(), f64::NAN)].into());
        let message =
            checkpoint.measure("x", &["wine".to_owned()], &Context::default(), work).unwrap_err().to_string();
        assert!(message.contains("wine: fraction is NaN"), "{message}");
    }
}
