//! Files of saved models.
//!
//! Layout: the magic bytes `kernsift`, the version of the format (u32), the length of the content (u64), its CRC-32 (u32), then
//! the content as MessagePack; integers are little-endian. The file holds data only, never code. Length and checksum are
//! checked before anything is decoded. A file with the extension `.json` is JSON instead, which starts with a brace.

use super::{Model, is_json};
use crate::data::write::write_atomic;
use crate::error::{Error, Result};
use std::path::Path;

const MAGIC: &[u8; 8] = b"kernsift";
/// The version that is written and read; the format of earlier ones was never released.
const VERSION: u32 = 5;
const HEADER: usize = 24;

impl Model {
    /// Serializes the model.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let content = rmp_serde::to_vec_named(self)
            .map_err(|e| Error::Model { why: format!("it cannot be written: {e}") })?;
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
        bytes.extend_from_slice(&content);
        Ok(bytes)
    }

    /// Deserializes a model and checks it; the bytes may come from an untrusted source.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refuse = |why: String| Error::Model { why };
        if bytes.trim_ascii_start().starts_with(b"{") {
            return Self::from_json(bytes);
        }
        if bytes.len() < HEADER || &bytes[..8] != MAGIC {
            return Err(refuse("it does not start with the magic bytes".into()));
        }
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let version = number(8..12);
        if version != u64::from(VERSION) {
            let advice = if version > u64::from(VERSION) { "update kernsift" } else { "fit the model again" };
            return Err(refuse(format!(
                "its format is version {version}, this program reads version {VERSION}; {advice}"
            )));
        }
        let content = &bytes[HEADER..];
        if number(12..20) != content.len() as u64 {
            return Err(refuse(format!(
                "it is truncated: {} bytes instead of {}",
                content.len(),
                number(12..20)
            )));
        }
        if number(20..24) != u64::from(crc32fast::hash(content)) {
            return Err(refuse("its checksum is wrong: the file is damaged".into()));
        }
        let model: Self = rmp_serde::from_slice(content)
            .map_err(|e| refuse(format!("its content cannot be decoded: {e}")))?;
        model.check()?;
        Ok(model)
    }

    /// Writes the model to a file atomically; as JSON if the extension is `.json`.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = if is_json(path) { self.to_json().map(String::into_bytes) } else { self.to_bytes() };
        let bytes = bytes.map_err(|e| e.in_file(path))?;
        write_atomic(path, |out| out.write_all(&bytes))
    }

    /// Reads a model from a file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(&bytes).map_err(|e| e.in_file(path))
    }
}
