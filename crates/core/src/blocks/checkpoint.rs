//! A file from which an interrupted fit in rounds continues.

use super::rounds::Rounds;
use crate::data::write::write_atomic;
use crate::error::{Error, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A file with the next round of a fit, written after every pass.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    /// The file.
    pub path: &'a Path,
    /// What the fit depends on: data, method, parameters and seed. A file with another key is an error.
    pub key: String,
}

impl Checkpoint<'_> {
    /// The round of the file with the number of its pass, if there is a file.
    pub(super) fn load<R: Rounds>(&self) -> Result<Option<(R, usize)>> {
        let bytes = match fs::read(self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(self.path, error)),
        };
        let refuse =
            |why: &str| Error::parse(format!("{why}; remove it, or choose another file")).in_file(self.path);
        let Some((sum, content)) = bytes.split_first_chunk::<4>() else {
            return Err(refuse("the file is no checkpoint"));
        };
        if crc32fast::hash(content).to_le_bytes() != *sum {
            return Err(refuse("the file is no checkpoint, or it is damaged"));
        }
        let decoded = |_| refuse("the file is the checkpoint of another run");
        let (key, pass, round): (String, usize, Vec<u8>) = rmp_serde::from_slice(content).map_err(decoded)?;
        if key != self.key {
            return Err(refuse("the file is the checkpoint of another run"));
        }
        Ok(Some((rmp_serde::from_slice(&round).map_err(decoded)?, pass)))
    }

    /// Writes the round of a pass.
    pub(super) fn save<R: Rounds>(&self, rounds: &R, pass: usize) -> Result<()> {
        let failed = |e: rmp_serde::encode::Error| Error::parse(e.to_string()).in_file(self.path);
        let round = rmp_serde::to_vec_named(rounds).map_err(failed)?;
        let content = rmp_serde::to_vec(&(&self.key, pass, round)).map_err(failed)?;
        write_atomic(self.path, |out| {
            out.write_all(&crc32fast::hash(&content).to_le_bytes())?;
            out.write_all(&content)
        })
    }

    /// Removes the file, after the result is stored.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io(self.path, error)),
            _ => Ok(()),
        }
    }
}
