//! Decompress gzip and zstd with a limit on the size, so that a small file cannot exhaust the memory.

use super::format::Packing;
use crate::error::{Error, Result, bytes};
use flate2::bufread::GzDecoder;
use std::io::{self, ErrorKind, Read};

/// Decompressed sizes up to this many bytes are always accepted.
const ALWAYS_ACCEPTED: u64 = 1 << 28;

/// Largest compression ratio beyond [`ALWAYS_ACCEPTED`]. Tables of numbers have ratios of 5 to 10, very sparse ones
/// up to 50; a zip bomb reaches 1000.
const MAX_RATIO: u64 = 100;

/// The most bytes that a file of this size may decompress to.
pub(super) fn limit(compressed: usize) -> u64 {
    ALWAYS_ACCEPTED.max(MAX_RATIO.saturating_mul(compressed as u64))
}

/// Reads to the end and appends to `out`, which may not grow beyond `limit`.
pub(super) fn read_limited(from: &mut dyn Read, limit: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let room = limit.saturating_sub(out.len() as u64);
    from.take(room.saturating_add(1)).read_to_end(out)?;
    if out.len() as u64 > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, too_large(limit)));
    }
    Ok(())
}

/// The contents of a file, or `None` if it is not compressed.
pub(super) fn unpack(packing: Packing, bytes: &[u8], limit: u64) -> Result<Option<Vec<u8>>> {
    match packing {
        Packing::Gzip => gunzip(bytes, limit).map(Some),
        Packing::Detect if is_gzip(bytes) => gunzip(bytes, limit).map(Some),
        Packing::Zstd => unzstd(bytes, limit).map(Some),
        Packing::Detect if is_zstd(bytes) => unzstd(bytes, limit).map(Some),
        Packing::None | Packing::Detect => Ok(None),
    }
}

/// Decompresses a gzip file; several members are concatenated, as in `cat a.gz b.gz`.
pub(super) fn gunzip(compressed: &[u8], limit: u64) -> Result<Vec<u8>> {
    if !is_gzip(compressed) {
        return Err(Error::parse("the name ends in .gz, but the file is not gzip; rename it"));
    }
    let mut out = vec![];
    let mut rest = compressed;
    // Some tools pad the end with zeros, which gzip ignores.
    while !rest.iter().all(|&byte| byte == 0) {
        let mut member = GzDecoder::new(rest);
        read_limited(&mut member, limit, &mut out).map_err(|error| unpack_error("gzip", error))?;
        rest = member.into_inner();
    }
    Ok(out)
}

/// Whether the bytes start with the magic number of gzip.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Decompresses a zstd file; several frames are concatenated.
#[cfg(feature = "zstd")]
fn unzstd(compressed: &[u8], limit: u64) -> Result<Vec<u8>> {
    if !is_zstd(compressed) {
        return Err(Error::parse("the name ends in .zst, but the file is not zstd; rename it"));
    }
    let mut out = vec![];
    let unpacked = zstd::Decoder::with_buffer(compressed).and_then(|mut decoder| {
        // By default, windows of up to 128 MiB are accepted. 8 MiB is what all decoders should accept.
        decoder.window_log_max(limit.max(1).ilog2().clamp(23, 27))?;
        read_limited(&mut decoder, limit, &mut out)
    });
    unpacked.map_err(|error| unpack_error("zstd", error))?;
    Ok(out)
}

#[cfg(not(feature = "zstd"))]
fn unzstd(_: &[u8], _: u64) -> Result<Vec<u8>> {
    Err(Error::parse("kernsift was built without the Cargo feature `zstd`"))
}

/// Whether the bytes start with the magic number of zstd.
pub(super) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

fn unpack_error(kind: &str, error: io::Error) -> Error {
    Error::parse(match error.kind() {
        ErrorKind::FileTooLarge => error.to_string(),
        ErrorKind::UnexpectedEof => format!("the {kind} file is truncated; copy or download it again"),
        _ => format!("the {kind} file is damaged ({error}); copy or download it again"),
    })
}

pub(super) fn too_large(limit: u64) -> String {
    format!("decompresses to more than {}; decompress it first if you trust it{OR_RAISE}", bytes(limit))
}

/// Advice that helps only where the memory limit is smaller than [`limit`].
pub(super) const OR_RAISE: &str = ", or raise the memory limit";

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
    fn incomplete_files_are_refused() {
        let packed = gzip(b"a,b\n1,2\n");
        for end in 2..packed.len() {
            assert_eq!(
                message(gunzip(&packed[..end], 99)),
                "the gzip file is truncated; copy or download it again",
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

    #[cfg(feature = "zstd")]
    #[test]
    fn zstd_files() {
        let mut packed = zstd::encode_all(&b"a,b\n"[..], 3).unwrap();
        packed.extend(zstd::encode_all(&b"1,2\n"[..], 3).unwrap());
        assert_eq!(unzstd(&packed, 99).unwrap(), b"a,b\n1,2\n");
        let detected = |bytes: &[u8]| unpack(Packing::Detect, bytes, 99).unwrap();
        assert_eq!(detected(&packed).unwrap(), b"a,b\n1,2\n");
        assert_eq!((detected(&gzip(b"a")), detected(b"a,b\n")), (Some(b"a".to_vec()), None));
        assert_eq!(
            message(unzstd(&packed[..packed.len() - 1], 99)),
            "the zstd file is truncated; copy or download it again"
        );
        assert!(message(unzstd(&packed, 5)).starts_with("decompresses to more than 5 B"));
        assert_eq!(
            message(unzstd(b"a,b\n", 99)),
            "the name ends in .zst, but the file is not zstd; rename it"
        );
    }

    #[test]
    fn a_zip_bomb_is_refused() {
        let packed = gzip(&vec![b'0'; 100_000]);
        assert_eq!(
            message(gunzip(&packed, 2048)),
            "decompresses to more than 2.0 KiB; decompress it first if you trust it, or raise the memory limit"
        );
        assert_eq!(gunzip(&packed, 100_000).unwrap().len(), 100_000);
        assert_eq!(limit(1000), 1 << 28);
        assert_eq!(limit(1 << 30), 100 << 30);
    }
}
