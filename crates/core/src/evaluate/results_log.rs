//! The file that a comparison keeps, so that it can go on where it was stopped.
//!
//! While work goes on, the lines of each finished piece are added at the end in one write, in whatever order the
//! pieces finish. A run that is killed leaves at most one torn line, which the next run cuts off. When
//! all is done the file is replaced by one in a fixed order. A lock keeps a second run out.

use super::candidate::{Candidate, Method};
use super::json_lines::{JsonLinesFile, json, parse_lines};
use super::record::{Cost, Entry, FORMAT, Key, Record, Run};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything a comparison has found, kept in a file or only in memory.
pub struct ResultsLog {
    run: Option<Run>,
    methods: BTreeMap<String, Method>,
    results: BTreeMap<Key, Record>,
    costs: BTreeMap<CostKey, Cost>,
    files: Option<Files>,
}

/// Method, repeat, fold and the numbers of features that were judged together.
type CostKey = (String, usize, usize, Vec<usize>);

struct Files {
    results: JsonLinesFile,
    costs: JsonLinesFile,
}

impl ResultsLog {
    /// A log that is kept in memory only.
    pub fn in_memory() -> Self {
        Self {
            run: None,
            methods: BTreeMap::new(),
            results: BTreeMap::new(),
            costs: BTreeMap::new(),
            files: None,
        }
    }

    /// Opens a file, or starts it. What an earlier run wrote is read.
    pub fn open(path: &Path) -> Result<Self> {
        let mut results = JsonLinesFile::open_alone(path)?;
        let mut costs = JsonLinesFile::open(&cost_path(path))?;
        let mut log = Self::in_memory();
        for (number, line) in results.read::<Entry>("{\"kind\":\"run\"")? {
            log.take(line, path, number)?;
        }
        let lines = costs.read::<Cost>("{\"method\":")?;
        lines.into_iter().for_each(|(_, cost)| log.add_cost(cost));
        // Not before all was read as a record: a file of another kind must stay as it is.
        results.heal()?;
        costs.heal()?;
        // A run that was killed between the two writes has left a cost whose work will be done again, and one
        // whose record was removed has left many.
        let known = &log.results;
        log.costs.retain(|(method, repeat, fold, counts), _| {
            counts.iter().all(|&k| known.contains_key(&(method.clone(), *repeat, *fold, k)))
        });
        log.files = Some(Files { results, costs });
        Ok(log)
    }

    /// A log in memory that holds what [`ResultsLog::text`] and [`ResultsLog::cost_text`] wrote.
    pub fn from_text(results: &str, costs: &str) -> Result<Self> {
        let place = Path::new("record");
        let mut log = Self::in_memory();
        for (number, line) in parse_lines::<Entry>(results.as_bytes(), place)? {
            log.take(line, place, number)?;
        }
        for (_, cost) in parse_lines::<Cost>(costs.as_bytes(), Path::new("costs"))? {
            log.add_cost(cost);
        }
        Ok(log)
    }

    fn take(&mut self, line: Entry, path: &Path, number: usize) -> Result<()> {
        let wrong = |why: String| Error::parse(why).in_file(path);
        match line {
            Entry::Run(run) if run.format != FORMAT => Err(wrong(format!(
                "the record has format {}, and this program writes {FORMAT}; use another file",
                run.format
            ))),
            Entry::Run(run) if self.run.is_none() => {
                self.run = Some(run);
                Ok(())
            }
            Entry::Method { label, settings } if self.run.is_some() => {
                self.methods.insert(label, settings);
                Ok(())
            }
            Entry::Result(record) if self.methods.contains_key(&record.method) => {
                self.results.insert(record.key(), record);
                Ok(())
            }
            _ => Err(wrong(format!(
                "line {number}: this does not belong here; the file was altered, use another one"
            ))),
        }
    }

    /// Says what is compared; refuses to mix it with something else that the file holds.
    pub(super) fn begin(&mut self, run: Run, candidates: &[Candidate]) -> Result<()> {
        if let Some(difference) = self.run.as_ref().and_then(|old| difference(old, &run)) {
            return Err(self.refuse(&difference));
        }
        let differs =
            |c: &&Candidate| self.methods.get(&c.label).is_some_and(|old| json(old) != json(&c.method));
        if let Some(other) = candidates.iter().find(differs) {
            return Err(self.refuse(&format!("{} with other settings", other.label)));
        }
        if self.run.is_none() {
            self.append(&Entry::Run(run.clone()))?;
            self.run = Some(run);
        }
        for Candidate { label, method } in candidates {
            if !self.methods.contains_key(label) {
                self.append(&Entry::Method { label: label.clone(), settings: method.clone() })?;
                self.methods.insert(label.clone(), method.clone());
            }
        }
        Ok(())
    }

    fn refuse(&self, what: &str) -> Error {
        let path = self.files.as_ref().map_or(Path::new(""), |files| files.results.path());
        Error::parse(format!("the record is of {what}; use another file, or remove this one")).in_file(path)
    }

    /// Whether a result is there already.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.results.contains_key(key)
    }

    /// Adds the results of a piece of work.
    pub(super) fn add(&mut self, records: Vec<Record>, cost: Cost) -> Result<()> {
        if let Some(files) = &mut self.files {
            // The cost goes first: a result without its cost could not be given one later.
            files.costs.add([&cost])?;
            files.results.add(records.iter().map(|record| Entry::Result(record.clone())))?;
        }
        self.add_cost(cost);
        self.results.extend(records.into_iter().map(|record| (record.key(), record)));
        Ok(())
    }

    /// What was done again, after a kill in the middle of a write, counts once: the last time.
    fn add_cost(&mut self, cost: Cost) {
        let again = |key: &CostKey| {
            (&key.0, key.1, key.2) == (&cost.method, cost.repeat, cost.fold)
                && key.3.iter().any(|k| cost.counts.contains(k))
        };
        self.costs.retain(|key, _| !again(key));
        let key = (cost.method.clone(), cost.repeat, cost.fold, cost.counts.clone());
        self.costs.insert(key, cost);
    }

    fn append(&mut self, line: &Entry) -> Result<()> {
        match &mut self.files {
            Some(files) => files.results.add([line]),
            None => Ok(()),
        }
    }

    /// Puts the files in order; the lock ends with the log.
    pub(super) fn finish(&mut self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.results.replace(&self.text())?;
        files.costs.replace(&self.cost_text())
    }

    /// The record as text, in its fixed order.
    pub fn text(&self) -> String {
        let run = self.run.iter().map(|run| Entry::Run(run.clone()));
        let methods = self
            .methods
            .iter()
            .map(|(label, settings)| Entry::Method { label: label.clone(), settings: settings.clone() });
        let results = self.results.values().map(|record| Entry::Result(record.clone()));
        run.chain(methods).chain(results).map(|line| json(&line) + "\n").collect()
    }

    /// What the methods cost, as text.
    pub fn cost_text(&self) -> String {
        self.costs.values().map(|cost| json(cost) + "\n").collect()
    }

    /// What was compared on what, once something was.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// The methods by their labels, with their settings.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &Method)> {
        self.methods.iter().map(|(label, method)| (label.as_str(), method))
    }

    /// All results, in their fixed order.
    pub fn results(&self) -> impl Iterator<Item = &Record> {
        self.results.values()
    }

    /// What each method cost in each split.
    pub fn costs(&self) -> impl Iterator<Item = &Cost> {
        self.costs.values()
    }
}

/// Where times and memory of a record are kept: `runs.jsonl` has `runs.cost.jsonl`.
pub fn cost_path(path: &Path) -> PathBuf {
    path.with_extension(match path.extension() {
        Some(extension) => format!("cost.{}", extension.to_string_lossy()),
        None => "cost".to_owned(),
    })
}

/// What differs between what a record holds and what is asked for; the name of the data may.
fn difference(old: &Run, new: &Run) -> Option<String> {
    let differences = [
        (old.fingerprint != new.fingerprint, "other data".to_owned()),
        (old.version != new.version, format!("version {} of kernsift", old.version)),
        (old.seed != new.seed, format!("seed {}", old.seed)),
        (
            json(&old.evaluator) != json(&new.evaluator),
            "another evaluator, or one with other settings".to_owned(),
        ),
        (old.scaled != new.scaled, "another scaling".to_owned()),
        (old.filled != new.filled, "another way to fill empty cells".to_owned()),
        (old.splits != new.splits || old.folds != new.folds, "other splits".to_owned()),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_kept_beside() {
        assert_eq!(cost_path(Path::new("a/runs.jsonl")), Path::new("a/runs.cost.jsonl"));
        assert_eq!(cost_path(Path::new("a/runs")), Path::new("a/runs.cost"));
    }
}
