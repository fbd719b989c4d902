//! Bytes as UTF-8 text.

use super::unpack::is_gzip;
use crate::error::{Error, Result};

/// The bytes as text, without a byte order mark.
pub(super) fn text(bytes: &[u8]) -> Result<&str> {
    if is_gzip(bytes) {
        return Err(Error::parse("the file is gzip, but its name does not end in .gz; rename it"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::parse("the text is UTF-16; save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err(Error::parse("the file contains zero bytes, so it is not text; check its extension"));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + newlines(&bytes[..e.valid_up_to()]);
        Error::at_line(line, "the text is not UTF-8; save it as UTF-8")
    })?;
    if text.trim_ascii().is_empty() { Err(empty()) } else { Ok(text) }
}

pub(super) fn empty() -> Error {
    Error::parse("the file is empty")
}

/// Number of newline characters.
pub(super) fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}
