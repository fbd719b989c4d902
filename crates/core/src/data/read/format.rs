//! File formats by file name extension.

use crate::error::{Error, Result};

/// Options that the file name extension does not determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the first line of a CSV or TSV file holds the column names (default: true).
    pub header: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { header: true }
    }
}

/// A format, and whether it is compressed with gzip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Format {
    pub kind: Kind,
    pub gzip: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Csv,
    Tsv,
    Arff,
    Svmlight,
    Npy,
    Npz,
    Parquet,
}

impl Format {
    pub(super) fn of_name(name: &str) -> Result<Self> {
        let lower = name.to_lowercase();
        let (stem, gzip) = lower.strip_suffix(".gz").map_or((lower.as_str(), false), |stem| (stem, true));
        let kind = match stem.rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv") => Kind::Csv,
            Some("tsv") => Kind::Tsv,
            Some("arff") => Kind::Arff,
            Some("svm" | "libsvm" | "svmlight") => Kind::Svmlight,
            Some("npy") if !gzip => Kind::Npy,
            Some("npz") if !gzip => Kind::Npz,
            Some("parquet") if !gzip => Kind::Parquet,
            _ => {
                return Err(Error::parse(
                    "cannot read files with this extension; supported are .csv, .tsv, .arff, .svm, \
                     .libsvm and .svmlight (each also with .gz), .parquet, .npy and .npz",
                ));
            }
        };
        Ok(Self { kind, gzip })
    }
}
