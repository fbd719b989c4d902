//! Bytes as UTF-8 text.

use super::unpack::{is_gzip, is_zstd};
use crate::error::{Error, Result};

/// The bytes as text, without a byte order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    if is_gzip(bytes) {
        return Err(Error::parse("the file is gzip, but its name does not end in .gz; rename it"));
    }
    if is_zstd(bytes) {
        return Err(Error::parse("the file is zstd, but its name does not end in .zst; rename it"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::parse("the text is UTF-16; save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if let Some(kind) = other_kind(bytes) {
        return Err(Error::parse(format!(
            "this is {kind}, not text; correct the extension or give the format"
        )));
    }
    if let Some(place) = bytes.iter().position(|&byte| byte == 0) {
        let line = 1 + newlines(&bytes[..place]);
        let why = "there is a zero byte, so this is not text; check the extension or the end of the file";
        return Err(Error::at_line(line, why));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + newlines(&bytes[..e.valid_up_to()]);
        Error::at_line(line, "the text is not UTF-8; save it as UTF-8")
    })?;
    if text.trim_ascii().is_empty() { Err(empty()) } else { Ok(text) }
}

/// The kind of a binary file, by its first bytes.
fn other_kind(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 7] = [
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"PK\x03\x04", "a zip archive such as .xlsx or .npz"),
        (b"\x93NUMPY", "an array of NumPy"),
        (b"\xd0\xcf\x11\xe0", "an old Excel file (.xls); save it as .xlsx or .csv"),
        (b"%PDF-", "a PDF"),
        (b"\x89HDF", "an HDF5 file"),
    ];
    kinds.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind)
}

pub(super) fn empty() -> Error {
    Error::parse("the file is empty")
}

/// Number of newline characters.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
