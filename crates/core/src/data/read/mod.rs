//! Read tables from files. The file name extension selects the format.
//!
//! | file | contents |
//! |---|---|
//! | `file` | find the format, read and decompress the bytes, reject infinities, add the file name to errors |
//! | `format`, `text`, `unpack` | extensions and options, text encoding, gzip and zstd |
//! | `progress` | progress reports and the memory limit |
//! | `arff`, `arrow`, `delimited`, `numpy`, `parquet`, `svmlight`, `xlsx` | the formats |
//! | `pieces` | files that do not fit into memory, in pieces |
//! | `number`, `levels` | cells that are numbers, cells that are text |

mod arff;
#[cfg(feature = "arrow")]
mod arrow;
mod delimited;
mod file;
mod format;
mod levels;
mod names;
mod number;
mod numpy;
#[cfg(feature = "parquet")]
mod parquet;
mod pieces;
mod progress;
mod svmlight;
#[cfg(test)]
mod tests;
mod text;
mod unpack;
#[cfg(feature = "xlsx")]
mod xlsx;

pub(crate) use delimited::CellError;
pub(crate) use file::read_records;
pub use file::{read_bytes, read_table};
pub use format::{Format, ReadOptions};
pub(crate) use number::MISSING_VALUES;
pub use pieces::{PieceFile, SampledRows};
