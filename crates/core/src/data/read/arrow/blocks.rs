//! The blocks of an Arrow file, with all places and sizes checked before anything is decoded.

use crate::error::{Error, Result, shorten};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, Message, MetadataVersion, RecordBatch, root_as_footer, root_as_message};
use arrow_schema::Schema;
use std::fmt::Display;
use std::ops::Range;

/// The length of the footer's length and the magic number at the end.
const TRAILER: usize = 10;

/// The schema of a file and where its parts are.
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    pub schema: Schema,
    pub version: MetadataVersion,
    pub dictionaries: Vec<Block>,
    pub batches: Vec<Block>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self> {
        let before_trailer = bytes.len().checked_sub(TRAILER).ok_or_else(|| damaged("it is too short"))?;
        if !bytes.starts_with(b"ARROW1") {
            return Err(damaged("it does not start with ARROW1"));
        }
        let trailer = bytes[before_trailer..].try_into().map_err(damaged)?;
        let length =
            read_footer_length(trailer).map_err(|_| damaged("it has no end; it may be truncated"))?;
        let start = before_trailer.checked_sub(length).ok_or_else(|| damaged("its footer is too long"))?;
        let footer = root_as_footer(&bytes[start..before_trailer]).map_err(damaged)?;
        let schema = footer.schema().ok_or_else(|| damaged("it has no schema"))?;
        Ok(Self {
            bytes,
            schema: try_fb_to_schema(schema).map_err(damaged)?,
            version: footer.version(),
            dictionaries: footer.dictionaries().iter().flatten().copied().collect(),
            batches: footer.recordBatches().iter().flatten().copied().collect(),
        })
    }

    /// The bytes of a block: its metadata and its body.
    pub(super) fn bytes_of(&self, block: &Block) -> Result<&'a [u8]> {
        let range = metadata(block).zip(body(block)).map(|(metadata, body)| metadata.start..body.end);
        range.and_then(|range| self.bytes.get(range)).ok_or_else(|| damaged("a block is outside the file"))
    }

    /// The number of rows, and the number of bytes that compressed buffers claim to have.
    pub(super) fn sizes(&self) -> Result<(u64, u64)> {
        let (mut rows, mut unpacked) = (0u64, 0u64);
        for block in self.dictionaries.iter().chain(&self.batches) {
            self.bytes_of(block)?;
            let message = metadata(block).and_then(|range| self.message(range));
            let message = message.ok_or_else(|| damaged("a block has no valid metadata"))?;
            let dictionary = message.header_as_dictionary_batch();
            let batch = message.header_as_record_batch();
            if let Some(batch) = batch {
                rows = rows.saturating_add(u64::try_from(batch.length()).map_err(damaged)?);
            }
            if let Some(batch) = batch.or_else(|| dictionary.and_then(|dictionary| dictionary.data())) {
                unpacked = unpacked.saturating_add(self.unpacked(&batch, block)?);
            }
        }
        Ok((rows, unpacked))
    }

    fn message(&self, range: Range<usize>) -> Option<Message<'a>> {
        let bytes = self.bytes.get(range)?;
        // A marker, which old files lack, and the length of the metadata.
        let bytes = bytes.strip_prefix(&[0xff; 4]).unwrap_or(bytes).get(4..)?;
        root_as_message(bytes).ok()
    }

    /// Each compressed buffer starts with its decompressed length.
    fn unpacked(&self, batch: &RecordBatch, block: &Block) -> Result<u64> {
        let mut total = 0u64;
        if batch.compression().is_none() {
            return Ok(total);
        }
        for buffer in batch.buffers().into_iter().flatten() {
            let stated = || {
                let start = body(block)?.start.checked_add(usize::try_from(buffer.offset()).ok()?)?;
                let bytes = self.bytes.get(start..start.checked_add(8)?)?;
                Some(i64::from_le_bytes(bytes.try_into().ok()?))
            };
            if buffer.length() > 0 {
                let stated = stated().ok_or_else(|| damaged("a buffer is outside its block"))?;
                // -1 marks a buffer that is not compressed.
                total = total.saturating_add(u64::try_from(stated).unwrap_or(0));
            }
        }
        Ok(total)
    }
}

pub(super) fn damaged(why: impl Display) -> Error {
    Error::parse(format!("not an Arrow file, or a damaged one ({})", shorten(&why.to_string())))
}

fn metadata(block: &Block) -> Option<Range<usize>> {
    let start = usize::try_from(block.offset()).ok()?;
    Some(start..start.checked_add(usize::try_from(block.metaDataLength()).ok()?)?)
}

fn body(block: &Block) -> Option<Range<usize>> {
    let start = metadata(block)?.end;
    Some(start..start.checked_add(usize::try_from(block.bodyLength()).ok()?)?)
}
