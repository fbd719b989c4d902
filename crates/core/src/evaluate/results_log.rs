//! The results of a comparison, kept in a file from which an interrupted comparison resumes.
//!
//! The records of each finished task are appended in one write, in the order in which tasks finish. The complete
//! comparison is then written in a fixed order; see [`json_lines`](super::json_lines).

use super::candidate::{Candidate, Method};
use super::json_lines::{JsonLinesFile, json, parse_lines};
use super::record::{Cost, Entry, FORMAT, Key, Record, Run};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The results of a comparison, in memory and optionally in a file.
pub struct ResultsLog {
    run: Option<Run>,
    methods: BTreeMap<String, Method>,
    results: BTreeMap<Key, Record>,
    costs: BTreeMap<CostKey, Cost>,
    files: Option<Files>,
}

/// Method, repeat, fold, number of training rows, and numbers of features of a task.
type CostKey = (String, usize, usize, Option<usize>, Vec<usize>);

struct Files {
    results: JsonLinesFile,
    costs: JsonLinesFile,
}

impl ResultsLog {
    /// An empty log without a file.
    pub fn in_memory() -> Self {
        Self {
            run: None,
            methods: BTreeMap::new(),
            results: BTreeMap::new(),
            costs: BTreeMap::new(),
            files: None,
        }
    }

    /// Opens or creates a file and reads the results of earlier runs.
    pub fn open(path: &Path) -> Result<Self> {
        let mut results = JsonLinesFile::open_locked(path)?;
        let mut costs = JsonLinesFile::open(&cost_path(path))?;
        let mut log = Self::in_memory();
        for (number, line) in results.read::<Entry>("{\"kind\":\"run\"")? {
            log.read_entry(line, path, number)?;
        }
        let lines = costs.read::<Cost>("{\"method\":")?;
        lines.into_iter().for_each(|(_, cost)| log.add_cost(cost));
        // Only after all lines are read: a file of another kind must stay unchanged.
        results.truncate_incomplete()?;
        costs.truncate_incomplete()?;
        // Drop costs without results: of a run killed between the two writes, or of a deleted results file.
        let known = &log.results;
        log.costs.retain(|(method, repeat, fold, rows, counts), _| {
            counts.iter().all(|&k| known.contains_key(&(method.clone(), *repeat, *fold, *rows, k)))
        });
        log.files = Some(Files { results, costs });
        Ok(log)
    }

    /// Reads the output of [`ResultsLog::text`] and [`ResultsLog::cost_text`].
    pub fn from_text(results: &str, costs: &str) -> Result<Self> {
        let place = Path::new("record");
        let mut log = Self::in_memory();
        for (number, line) in parse_lines::<Entry>(results.as_bytes(), place)? {
            log.read_entry(line, place, number)?;
        }
        for (_, cost) in parse_lines::<Cost>(costs.as_bytes(), Path::new("costs"))? {
            log.add_cost(cost);
        }
        Ok(log)
    }

    fn read_entry(&mut self, line: Entry, path: &Path, number: usize) -> Result<()> {
        let wrong = |why: String| Error::parse(why).in_file(path);
        match line {
            Entry::Run(run) if run.format != FORMAT => Err(wrong(format!(
                "the record has format {}, but this version supports {FORMAT}; use another file",
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
            _ => {
                Err(wrong(format!("line {number}: unexpected entry, the file was altered; use another file")))
            }
        }
    }

    /// Adds the description of the run and its methods. Fails if they differ from those in the file.
    pub(super) fn begin(&mut self, run: Run, candidates: &[Candidate]) -> Result<()> {
        if let Some(difference) = self.run.as_ref().and_then(|old| difference(old, &run)) {
            return Err(self.mismatch(&difference));
        }
        let differs =
            |c: &&Candidate| self.methods.get(&c.label).is_some_and(|old| json(old) != json(&c.method));
        if let Some(other) = candidates.iter().find(differs) {
            return Err(self.mismatch(&format!("{} with other parameters", other.label)));
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

    fn mismatch(&self, what: &str) -> Error {
        let path = self.files.as_ref().map_or(Path::new(""), |files| files.results.path());
        Error::parse(format!("the record is of {what}; use another file, or remove this one")).in_file(path)
    }

    /// Whether there is a result for this key.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.results.contains_key(key)
    }

    /// The result for this key.
    pub(super) fn result(&self, key: &Key) -> Option<&Record> {
        self.results.get(key)
    }

    /// Adds the results of a task.
    pub(super) fn add(&mut self, records: Vec<Record>, cost: Cost) -> Result<()> {
        if let Some(files) = &mut self.files {
            // The cost first: if the run is killed in between, the task is repeated and no result lacks its cost.
            files.costs.append([&cost])?;
            files.results.append(records.iter().map(|record| Entry::Result(record.clone())))?;
        }
        self.add_cost(cost);
        self.results.extend(records.into_iter().map(|record| (record.key(), record)));
        Ok(())
    }

    /// Adds a cost; it replaces the cost of an earlier, interrupted attempt.
    fn add_cost(&mut self, cost: Cost) {
        let again = |key: &CostKey| {
            (&key.0, key.1, key.2, key.3) == (&cost.method, cost.repeat, cost.fold, cost.train_rows)
                && key.4.iter().any(|k| cost.counts.contains(k))
        };
        self.costs.retain(|key, _| !again(key));
        let key = (cost.method.clone(), cost.repeat, cost.fold, cost.train_rows, cost.counts.clone());
        self.costs.insert(key, cost);
    }

    fn append(&mut self, line: &Entry) -> Result<()> {
        match &mut self.files {
            Some(files) => files.results.append([line]),
            None => Ok(()),
        }
    }

    /// Rewrites the files in their fixed order. Dropping the log releases the lock.
    pub(super) fn finish(&mut self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.results.replace(&self.text())?;
        files.costs.replace(&self.cost_text())
    }

    /// The results file as text, in its fixed order.
    pub fn text(&self) -> String {
        let run = self.run.iter().map(|run| Entry::Run(run.clone()));
        let methods = self
            .methods
            .iter()
            .map(|(label, settings)| Entry::Method { label: label.clone(), settings: settings.clone() });
        let results = self.results.values().map(|record| Entry::Result(record.clone()));
        run.chain(methods).chain(results).map(|line| json(&line) + "\n").collect()
    }

    /// The cost file as text.
    pub fn cost_text(&self) -> String {
        self.costs.values().map(|cost| json(cost) + "\n").collect()
    }

    /// The description of the run, once it has begun.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Labels and methods.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &Method)> {
        self.methods.iter().map(|(label, method)| (label.as_str(), method))
    }

    /// All results, in their fixed order.
    pub fn results(&self) -> impl Iterator<Item = &Record> {
        self.results.values()
    }

    /// Time and memory of each method in each split.
    pub fn costs(&self) -> impl Iterator<Item = &Cost> {
        self.costs.values()
    }
}

/// The path of the cost file: `runs.cost.jsonl` for `runs.jsonl`.
pub fn cost_path(path: &Path) -> PathBuf {
    path.with_extension(match path.extension() {
        Some(extension) => format!("cost.{}", extension.to_string_lossy()),
        None => "cost".to_owned(),
    })
}

/// The first difference between two runs; the name of the data is not compared.
fn difference(old: &Run, new: &Run) -> Option<String> {
    let differences = [
        (old.fingerprint != new.fingerprint, "other data".to_owned()),
        (old.version != new.version, format!("version {} of kernsift", old.version)),
        (old.seed != new.seed, format!("seed {}", old.seed)),
        (
            json(&old.evaluator) != json(&new.evaluator),
            "another evaluator, or one with other parameters".to_owned(),
        ),
        (old.scaled != new.scaled, "another scaling".to_owned()),
        ((old.weighted, old.balanced) != (new.weighted, new.balanced), "other weights".to_owned()),
        (old.impute != new.impute, "another imputation of missing values".to_owned()),
        (
            (old.splits, old.not_stratified, &old.split_by)
                != (new.splits, new.not_stratified, &new.split_by)
                || old.folds != new.folds,
            "other splits".to_owned(),
        ),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_path_inserts_cost_before_the_extension() {
        assert_eq!(cost_path(Path::new("a/runs.jsonl")), Path::new("a/runs.cost.jsonl"));
        assert_eq!(cost_path(Path::new("a/runs")), Path::new("a/runs.cost"));
    }
}
