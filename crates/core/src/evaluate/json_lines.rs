//! Files of lines, one JSON value each, that are added to while work goes on.
//!
//! What belongs together is added in one write, so a run that is killed leaves at most one torn line. It is cut off
//! by the next run, once that has seen that the file is what it should be. At the end the file is
//! replaced by one in a fixed order. A lock keeps a second run out.

use crate::data::write::{check_place, write_atomic};
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Lines are sent to the disk itself, where they are safe if power goes; a kill loses nothing that was written. This takes
/// milliseconds, on some disks tens of them: much beside a piece of work that takes one, nothing beside a second. So the next
/// time comes only after so many times what the last one took, and a fortieth of the time is spent on it at most.
const SYNC_PAUSE: u32 = 39;

/// A file of lines; see the module's text.
pub struct JsonLinesFile {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines, once they were read.
    whole: Option<u64>,
    /// When lines were last sent to the disk, and how long that took.
    synced: (Instant, Duration),
}

impl JsonLinesFile {
    /// Opens a file, or starts it, and keeps other runs out.
    pub fn open_alone(path: &Path) -> Result<Self> {
        check_place(path)?;
        Ok(Self::of(path, open_locked(path)?))
    }

    /// Opens a file, or starts it, that stands beside one that others are kept out of.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::of(path, open(path)?))
    }

    fn of(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, whole: None, synced: (Instant::now(), Duration::ZERO) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All whole lines with their numbers. `start` is how the first line of such a file begins.
    pub fn read<T: DeserializeOwned>(&mut self, start: &str) -> Result<Vec<(usize, T)>> {
        let mut bytes = vec![];
        self.file.read_to_end(&mut bytes).map_err(|e| Error::io(&self.path, e))?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        // A file without a single line end is no record that was torn, unless it begins like one.
        if whole == 0 && !start.as_bytes().starts_with(&bytes[..bytes.len().min(start.len())]) {
            return Err(not_a_record(1).in_file(&self.path));
        }
        self.whole = Some(whole as u64);
        parse_lines(&bytes[..whole], &self.path)
    }

    /// Cuts off what a killed run left of a last line.
    pub fn heal(&mut self) -> Result<()> {
        match self.whole {
            Some(whole) => self.file.set_len(whole).map_err(|e| Error::io(&self.path, e)),
            None => Ok(()),
        }
    }

    /// Adds lines in one write, all or none of them.
    pub fn add<T: Serialize>(&mut self, lines: impl IntoIterator<Item = T>) -> Result<()> {
        let text: String = lines.into_iter().map(|line| json(&line) + "\n").collect();
        self.append(text.as_bytes()).map_err(|e| Error::io(&self.path, e))
    }

    fn append(&mut self, text: &[u8]) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let added = self.file.write_all(text).and_then(|()| self.sync_in_time());
        if added.is_err() {
            // A full disk takes a part. Another thread may still add its lines, which must not follow on half a line.
            let _ = self.file.set_len(before);
        }
        added
    }

    fn sync_in_time(&mut self) -> io::Result<()> {
        let (last, took) = self.synced;
        if last.elapsed() < SYNC_PAUSE * took {
            return Ok(());
        }
        let begin = Instant::now();
        self.file.sync_data()?;
        self.synced = (Instant::now(), begin.elapsed());
        Ok(())
    }

    /// Puts a file with this text in its place.
    pub fn replace(&self, text: &str) -> Result<()> {
        write_atomic(&self.path, |out| out.write_all(text.as_bytes()))
    }
}

/// A value as a line without its end.
pub fn json(value: &impl Serialize) -> String {
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

/// Lines with their numbers.
pub fn parse_lines<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<Vec<(usize, T)>> {
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
    Error::parse(format!("line {line}: this is no line of such a record; use another file"))
}
