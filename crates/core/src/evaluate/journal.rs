//! The file that a comparison keeps, so that it can go on where it was stopped.
//!
//! While work goes on, the lines of each finished piece are added at the end in one write, in whatever order the
//! pieces finish. A run that is killed leaves at most one torn line, which the next run cuts off. When
//! all is done the file is replaced by one in a fixed order. A lock keeps a second run out.

use super::contestant::{Contestant, Method};
use super::record::{Cost, FORMAT, Key, Line, Record, Run};
use crate::data::write::{check_place, write_atomic};
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Everything a comparison has found, kept in a file or only in memory.
pub struct Journal {
    run: Option<Run>,
    methods: BTreeMap<String, Method>,
    results: BTreeMap<Key, Record>,
    costs: BTreeMap<CostKey, Cost>,
    files: Option<Files>,
}

/// Method, repeat, fold and the numbers of features that were judged together.
type CostKey = (String, usize, usize, Vec<usize>);

struct Files {
    path: PathBuf,
    results: File,
    cost_path: PathBuf,
    costs: File,
}

impl Journal {
    /// A journal that is kept in memory only.
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
        check_place(path)?;
        let cost_path = costs_beside(path);
        let mut results = open_locked(path)?;
        let mut costs = open(&cost_path)?;
        let mut journal = Self::in_memory();
        let (lines, whole) = read_lines::<Line>(&mut results, path, "{\"kind\":\"run\"")?;
        for (number, line) in lines {
            journal.take(line, path, number)?;
        }
        let (lines, whole_costs) = read_lines::<Cost>(&mut costs, &cost_path, "{\"method\":")?;
        lines.into_iter().for_each(|(_, cost)| journal.add_cost(cost));
        // Not before all was read as a record: a file of another kind must stay as it is.
        results.set_len(whole).map_err(|e| Error::io(path, e))?;
        costs.set_len(whole_costs).map_err(|e| Error::io(&cost_path, e))?;
        // A run that was killed between the two writes has left a cost whose work will be done again, and one
        // whose record was removed has left many.
        let known = &journal.results;
        journal.costs.retain(|(method, repeat, fold, counts), _| {
            counts.iter().all(|&k| known.contains_key(&(method.clone(), *repeat, *fold, k)))
        });
        journal.files = Some(Files { path: path.to_owned(), results, cost_path, costs });
        Ok(journal)
    }

    /// A journal in memory that holds what [`Journal::text`] and [`Journal::cost_text`] wrote.
    pub fn from_text(results: &str, costs: &str) -> Result<Self> {
        let place = Path::new("record");
        let mut journal = Self::in_memory();
        for (number, line) in parse_lines::<Line>(results.as_bytes(), place)? {
            journal.take(line, place, number)?;
        }
        for (_, cost) in parse_lines::<Cost>(costs.as_bytes(), Path::new("costs"))? {
            journal.add_cost(cost);
        }
        Ok(journal)
    }

    fn take(&mut self, line: Line, path: &Path, number: usize) -> Result<()> {
        let wrong = |why: String| Error::parse(why).in_file(path);
        match line {
            Line::Run(run) if run.format != FORMAT => Err(wrong(format!(
                "the record has format {}, and this program writes {FORMAT}; use another file",
                run.format
            ))),
            Line::Run(run) if self.run.is_none() => {
                self.run = Some(run);
                Ok(())
            }
            Line::Method { label, settings } if self.run.is_some() => {
                self.methods.insert(label, settings);
                Ok(())
            }
            Line::Result(record) if self.methods.contains_key(&record.method) => {
                self.results.insert(record.key(), record);
                Ok(())
            }
            _ => Err(wrong(format!(
                "line {number}: this does not belong here; the file was altered, use another one"
            ))),
        }
    }

    /// Says what is compared; refuses to mix it with something else that the file holds.
    pub(super) fn begin(&mut self, run: Run, contestants: &[Contestant]) -> Result<()> {
        if let Some(difference) = self.run.as_ref().and_then(|old| difference(old, &run)) {
            return Err(self.refuse(&difference));
        }
        let differs =
            |c: &&Contestant| self.methods.get(&c.label).is_some_and(|old| json(old) != json(&c.method));
        if let Some(other) = contestants.iter().find(differs) {
            return Err(self.refuse(&format!("{} with other settings", other.label)));
        }
        if self.run.is_none() {
            self.append(&Line::Run(run.clone()))?;
            self.run = Some(run);
        }
        for Contestant { label, method } in contestants {
            if !self.methods.contains_key(label) {
                self.append(&Line::Method { label: label.clone(), settings: method.clone() })?;
                self.methods.insert(label.clone(), method.clone());
            }
        }
        Ok(())
    }

    fn refuse(&self, what: &str) -> Error {
        let path = self.files.as_ref().map_or_else(PathBuf::new, |files| files.path.clone());
        Error::parse(format!("the record is of {what}; use another file, or remove this one")).in_file(&path)
    }

    /// Whether a result is there already.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.results.contains_key(key)
    }

    /// Adds the results of a piece of work.
    pub(super) fn add(&mut self, records: Vec<Record>, cost: Cost) -> Result<()> {
        if let Some(files) = &mut self.files {
            // The cost goes first: a result without its cost could not be given one later.
            let text = json(&cost) + "\n";
            files.costs.write_all(text.as_bytes()).map_err(|e| Error::io(&files.cost_path, e))?;
            let text: String = records.iter().map(|r| json(&Line::Result(r.clone())) + "\n").collect();
            files.results.write_all(text.as_bytes()).map_err(|e| Error::io(&files.path, e))?;
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

    fn append(&mut self, line: &Line) -> Result<()> {
        match &mut self.files {
            Some(files) => {
                let text = json(line) + "\n";
                files.results.write_all(text.as_bytes()).map_err(|e| Error::io(&files.path, e))
            }
            None => Ok(()),
        }
    }

    /// Puts the files in order; the lock ends with the journal.
    pub(super) fn finish(&mut self) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        let text = self.text();
        write_atomic(&files.path, |out| out.write_all(text.as_bytes()))?;
        let costs = self.cost_text();
        write_atomic(&files.cost_path, |out| out.write_all(costs.as_bytes()))
    }

    /// The record as text, in its fixed order.
    pub fn text(&self) -> String {
        let run = self.run.iter().map(|run| Line::Run(run.clone()));
        let methods = self
            .methods
            .iter()
            .map(|(label, settings)| Line::Method { label: label.clone(), settings: settings.clone() });
        let results = self.results.values().map(|record| Line::Result(record.clone()));
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
pub fn costs_beside(path: &Path) -> PathBuf {
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
        (json(&old.judge) != json(&new.judge), "another judge, or one with other settings".to_owned()),
        (old.scaled != new.scaled, "another scaling".to_owned()),
        (old.filled != new.filled, "another way to fill empty cells".to_owned()),
        (old.splits != new.splits || old.folds != new.folds, "other splits".to_owned()),
    ];
    differences.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("records have text keys and finite numbers")
}

fn open(path: &Path) -> Result<File> {
    let options = OpenOptions::new().read(true).append(true).create(true).clone();
    options.open(path).map_err(|e| Error::io(path, e))
}

fn open_locked(path: &Path) -> Result<File> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::parse("another run is writing to it; wait for it, or use another file")
                    .in_file(path));
            }
            // Some file systems know no locks; then the user has to see to it.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
        }
        // A run that finished in between has put another file in this one's place.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// Whether this open file is still the one at that path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// All whole lines with their numbers, and how many bytes they take: what a killed run left of a last line
/// comes after them.
fn read_lines<T: DeserializeOwned>(
    file: &mut File,
    path: &Path,
    start: &str,
) -> Result<(Vec<(usize, T)>, u64)> {
    let mut bytes = vec![];
    file.read_to_end(&mut bytes).map_err(|e| Error::io(path, e))?;
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    // A file without a single line end is no record that was torn, unless it begins like one.
    if whole == 0 && !start.as_bytes().starts_with(&bytes[..bytes.len().min(start.len())]) {
        return Err(not_a_record(1).in_file(path));
    }
    Ok((parse_lines(&bytes[..whole], path)?, whole as u64))
}

/// Lines with their numbers.
fn parse_lines<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<Vec<(usize, T)>> {
    let lines = bytes.split(|&b| b == b'\n').enumerate();
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(at, line)| match serde_json::from_slice(line) {
            Ok(value) => Ok((at + 1, value)),
            Err(_) => Err(not_a_record(at + 1).in_file(path)),
        })
        .collect()
}

fn not_a_record(line: usize) -> Error {
    Error::parse(format!("line {line}: this is no line of a comparison's record; use another file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_kept_beside() {
        assert_eq!(costs_beside(Path::new("a/runs.jsonl")), Path::new("a/runs.cost.jsonl"));
        assert_eq!(costs_beside(Path::new("a/runs")), Path::new("a/runs.cost"));
    }
}
