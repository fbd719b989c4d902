//! The parts of a workbook, which is a zip archive of XML files, and how much memory they may take.

use crate::data::read::unpack;
use crate::error::{Error, Result, shorten};
use std::io::{self, Cursor, Read};
use zip::ZipArchive;

/// Memory of a parsed part in relation to its size. Sheets are not held in memory; a style is a large struct.
const STYLE_FACTOR: u64 = 32;
const OTHER_FACTOR: u64 = 8;

/// Returns an error if a part decompresses to more than the limit allows. The reader of workbooks has no limits.
pub(super) fn check(bytes: &[u8], limit: u64) -> Result<()> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    for place in 0..archive.len() {
        let mut part = archive.by_index(place).map_err(damaged)?;
        let name = part.name().map_err(damaged)?.to_lowercase();
        if !name.ends_with(".xml") && !name.ends_with(".rels") {
            continue;
        }
        let factor = match name.as_str() {
            sheet if sheet.contains("worksheets/") && !sheet.ends_with(".rels") => 1,
            style if style.ends_with("styles.xml") || style.ends_with(".rels") => STYLE_FACTOR,
            _ => OTHER_FACTOR,
        };
        if name.ends_with("sharedstrings.xml") {
            let mut text = vec![];
            unpack::read_limited(&mut part, limit / factor, &mut text).map_err(part_error)?;
            check_string_count(&text)?;
        } else {
            let mut rest = (&mut part).take(limit / factor + 1);
            if io::copy(&mut rest, &mut io::sink()).map_err(part_error)? > limit / factor {
                return Err(Error::parse(unpack::too_large(limit / factor)));
            }
        }
    }
    Ok(())
}

pub(super) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::parse(format!("not an Excel file (.xlsx), or a damaged one ({})", shorten(&why.to_string())))
}

fn part_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Error::parse(error.to_string()),
        _ => damaged(error),
    }
}

/// The stated number of strings is allocated at once; it cannot exceed the number of bytes.
fn check_string_count(text: &[u8]) -> Result<()> {
    const NAME: &[u8] = b"uniqueCount";
    let end = text.windows(3).position(|bytes| bytes == b"<si").unwrap_or(text.len());
    for start in text[..end].windows(NAME.len()).enumerate().filter(|(_, bytes)| *bytes == NAME) {
        let after = text[start.0 + NAME.len()..end].iter().skip_while(|byte| !byte.is_ascii_digit());
        let digits: Vec<u8> = after.take_while(|byte| byte.is_ascii_digit()).copied().collect();
        let count = String::from_utf8_lossy(&digits).parse::<u64>();
        if !digits.is_empty() && count.map_or(true, |count| count > text.len() as u64) {
            return Err(damaged("it claims more strings than it has"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_strings() {
        let checked = |count: &str| {
            check_string_count(format!("<sst uniqueCount = \"{count}\"><si/></sst>").as_bytes())
        };
        assert!(checked("2").is_ok() && checked("").is_ok());
        assert!(checked("999").is_err() && checked("99999999999999999999999").is_err());
    }
}
