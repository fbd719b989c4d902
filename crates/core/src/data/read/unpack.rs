//! Unpacking gzip, with a limit: a small file must not be able to fill the memory.

use crate::error::{Error, Result, bytes};
use flate2::bufread::GzDecoder;
use std::io::{self, ErrorKind, Read};

/// Unpacked sizes up to this are always taken: it fits the memory of the machines this runs on.
const ALWAYS: u64 = 1 << 28;

/// Beyond [`ALWAYS`], a file may unpack to this many times its own size. Tables of numbers pack to a
/// fifth or a tenth, very sparse ones to a fiftieth; deflate can reach a thousandth, on a bomb.
const TIMES: u64 = 100;

/// How many bytes a packed file of this size may unpack to.
pub(super) fn limit(packed: usize) -> u64 {
    ALWAYS.max(TIMES.saturating_mul(packed as u64))
}

/// Reads to the end and adds to `out`, which may not grow beyond `limit`.
pub(super) fn read_limited(from: &mut dyn Read, limit: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let room = limit.saturating_sub(out.len() as u64);
    from.take(room.saturating_add(1)).read_to_end(out)?;
    if out.len() as u64 > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, too_large(limit)));
    }
    Ok(())
}

/// The text of a gzip file; several members in a row are one text, as `cat a.gz b.gz` makes them.
pub(super) fn gunzip(packed: &[u8], limit: u64) -> Result<Vec<u8>> {
    if !is_gzip(packed) {
        return Err(Error::parse("the name ends in .gz, but the file is not gzip; rename it"));
    }
    let mut out = vec![];
    let mut rest = packed;
    // Some tools pad the end with zeros; gzip itself takes no offence at that.
    while !rest.iter().all(|&byte| byte == 0) {
        let mut member = GzDecoder::new(rest);
        read_limited(&mut member, limit, &mut out).map_err(gzip_error)?;
        rest = member.into_inner();
    }
    Ok(out)
}

/// Whether the bytes begin as gzip files do.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn gzip_error(error: io::Error) -> Error {
    Error::parse(match error.kind() {
        ErrorKind::FileTooLarge => error.to_string(),
        ErrorKind::UnexpectedEof => "the gzip file is cut short; copy or fetch it again".into(),
        _ => format!("the gzip file is damaged ({error}); copy or fetch it again"),
    })
}

fn too_large(limit: u64) -> String {
    format!(
        "unpacks to more than {}; unpack it yourself if you trust it, or raise --memory-limit",
        bytes(limit)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(vec![], Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn message(result: Result<Vec<u8>>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn members_and_padding() {
        let mut packed = gzip(b"a,b\n");
        packed.extend(gzip(b"1,2\n"));
        packed.extend([0; 7]);
        assert_eq!(gunzip(&packed, 99).unwrap(), b"a,b\n1,2\n");
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let packed = gzip(b"a,b\n1,2\n");
        for end in 2..packed.len() {
            assert_eq!(
                message(gunzip(&packed[..end], 99)),
                "the gzip file is cut short; copy or fetch it again",
                "{end}"
            );
        }
        let mut wrong = packed.clone();
        let at = wrong.len() - 8;
        wrong[at] ^= 1;
        assert!(message(gunzip(&wrong, 99)).starts_with("the gzip file is damaged ("));
        let mut tail = packed;
        tail.extend(b"tail");
        assert!(message(gunzip(&tail, 99)).starts_with("the gzip file is"));
        assert_eq!(
            message(gunzip(b"a,b\n", 99)),
            "the name ends in .gz, but the file is not gzip; rename it"
        );
    }

    #[test]
    fn a_bomb_is_not_set_off() {
        let packed = gzip(&vec![b'0'; 100_000]);
        assert_eq!(
            message(gunzip(&packed, 2048)),
            "unpacks to more than 2.0 KiB; unpack it yourself if you trust it, or raise --memory-limit"
        );
        assert_eq!(gunzip(&packed, 100_000).unwrap().len(), 100_000);
        assert_eq!(limit(1000), 1 << 28);
        assert_eq!(limit(1 << 30), 100 << 30);
    }
}
