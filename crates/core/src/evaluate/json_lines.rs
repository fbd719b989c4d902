//! JSON Lines files that are appended to during a run.
//!
//! Related lines are appended in one write, so a killed run leaves at most one incomplete line. The next run checks
//! that the file is valid and truncates it there. At the end of a run the file is replaced by one in a fixed order.
//! A lock excludes a second run.

use crate::data::write::{check_place, write_atomic};
use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Minimum pause between two syncs to disk, as a multiple of the duration of the last one, which bounds the time spent
/// on them by 1/40. A sync takes milliseconds to tens of milliseconds and protects against power loss only: a killed
/// process loses nothing that it wrote.
const SYNC_PAUSE_FACTOR: u32 = 39;

/// A JSON Lines file.
pub struct JsonLinesFile {
    path: PathBuf,
    file: File,
    /// Bytes of complete lines, once they are read.
    complete: Option<u64>,
    /// Time and duration of the last sync.
    last_sync: (Instant, Duration),
}

impl JsonLinesFile {
    /// Opens or creates a file and locks it against other runs.
    pub fn open_locked(path: &Path) -> Result<Self> {
        check_place(path)?;
        Ok(Self::of(path, open_locked(path)?))
    }

    /// Opens or creates a file without a lock, for a companion of a locked file.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::of(path, open(path)?))
    }

    fn of(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, complete: None, last_sync: (Instant::now(), Duration::ZERO) }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads all complete lines with their line numbers. The first line of a valid file begins with `start`.
    pub fn read<T: DeserializeOwned>(&mut self, start: &str) -> Result<Vec<(usize, T)>> {
        let mut bytes = vec![];
        self.file.read_to_end(&mut bytes).map_err(|e| Error::io(&self.path, e))?;
        let complete = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        // A file without a line break is a truncated record only if it begins like one.
        if complete == 0 && !start.as_bytes().starts_with(&bytes[..bytes.len().min(start.len())]) {
            return Err(not_a_record(1).in_file(&self.path));
        }
        self.complete = Some(complete as u64);
        parse_lines(&bytes[..complete], &self.path)
    }

    /// Removes an incomplete last line, left by a killed run.
    pub fn truncate_incomplete(&mut self) -> Result<()> {
        match self.complete {
            Some(complete) => self.file.set_len(complete).map_err(|e| Error::io(&self.path, e)),
            None => Ok(()),
        }
    }

    /// Appends lines in one write: all or none of them.
    pub fn append<T: Serialize>(&mut self, lines: impl IntoIterator<Item = T>) -> Result<()> {
        let text: String = lines.into_iter().map(|line| json(&line) + "\n").collect();
        self.write(text.as_bytes()).map_err(|e| Error::io(&self.path, e))
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(text).and_then(|()| self.sync_if_due());
        if written.is_err() {
            // A full disk may take a part of a line; later lines must not be appended to it.
            let _ = self.file.set_len(before);
        }
        written
    }

    fn sync_if_due(&mut self) -> io::Result<()> {
        let (last, duration) = self.last_sync;
        if last.elapsed() < SYNC_PAUSE_FACTOR * duration {
            return Ok(());
        }
        let start = Instant::now();
        self.file.sync_data()?;
        self.last_sync = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Replaces the file atomically.
    pub fn replace(&self, text: &str) -> Result<()> {
        write_atomic(&self.path, |out| out.write_all(text.as_bytes()))
    }
}

/// A value as one line, without the line break.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("records have string keys and finite numbers")
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
            // Not all file systems support locks.
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(Error::io(path, error)),
        }
        // Another run may have finished in between and replaced the file.
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

/// Parses lines; returns them with their line numbers.
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
    Error::parse(format!("line {line}: not a record; use another file"))
}
