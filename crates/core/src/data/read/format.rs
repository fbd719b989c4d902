//! File formats and compression, by file name extension or as the user says; options of reading.

use crate::data::types::Decimal;
use crate::error::{Error, Result};

crate::choices! {
    /// A format of tables.
    pub enum Format {
        /// Comma-separated values; semicolons, tabs and | are detected.
        Csv = "csv",
        /// Tab-separated values.
        Tsv = "tsv",
        /// ARFF, the format of Weka.
        Arff = "arff",
        /// svmlight and LIBSVM.
        Svmlight = "svm",
        /// Apache Parquet.
        Parquet = "parquet",
        /// Arrow IPC file, also known as Feather.
        Arrow = "arrow",
        /// Excel workbook.
        Xlsx = "xlsx",
        /// An array of NumPy.
        Npy = "npy",
        /// Several arrays of NumPy.
        Npz = "npz",
    }
}

impl Format {
    /// Whether cells are separated by a character.
    pub(super) fn is_delimited(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Whether it is text, which may be compressed.
    fn is_text(self) -> bool {
        self.is_delimited() || matches!(self, Self::Arff | Self::Svmlight)
    }
}

/// How to read a file, where its name does not say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Whether the first line of a delimited file or the first row of a sheet holds the column names (default: true).
    pub header: bool,
    /// The format (default: by the extension).
    pub format: Option<Format>,
    /// The character between the cells of a delimited file (default: detected among comma, semicolon, tab and |).
    pub separator: Option<u8>,
    /// Skip lines of a delimited file that start with this character (default: only `#` before the header).
    pub comment: Option<u8>,
    /// Further spellings of missing values, besides `NA`, `N/A`, `NaN`, `nan`, `null`, `NULL`, `None`, `?`, `-` and
    /// nothing.
    pub na_values: Vec<String>,
    /// The decimal separator of a delimited file, if it is known (default: a column whose cells are all numbers with decimal
    /// points is read as such). With a comma, cells with a point such as `1.234` stay text, for
    /// [`ColumnOptions::decimal`](crate::data::ColumnOptions::decimal).
    pub decimal: Option<Decimal>,
    /// Whether a delimited file or a sheet has features in rows: the first column holds their names, and the header
    /// holds the ids of the samples, which become the column `sample` (default: false).
    pub transpose: bool,
    /// The sheet of a workbook (default: the first).
    pub sheet: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            header: true,
            format: None,
            separator: None,
            comment: None,
            na_values: vec![],
            decimal: None,
            transpose: false,
            sheet: None,
        }
    }
}

impl ReadOptions {
    /// Returns an error for options without effect on a format.
    pub(super) fn check(&self, format: Format) -> Result<()> {
        let only = |given: bool, allowed: bool, what: &str, files: &str| match given && !allowed {
            true => Err(Error::parse(format!("{what} applies only to {files} files"))),
            false => Ok(()),
        };
        let delimited = format.is_delimited();
        let in_cells = delimited || format == Format::Xlsx;
        only(self.separator.is_some(), delimited, "a separator", "CSV and TSV")?;
        only(self.comment.is_some(), delimited, "a comment character", "CSV and TSV")?;
        only(self.transpose, in_cells, "transposing", "CSV, TSV and Excel")?;
        if self.transpose && !self.header {
            return Err(Error::parse("transposing needs a header with the ids of the samples"));
        }
        only(self.sheet.is_some(), format == Format::Xlsx, "a sheet", "Excel")?;
        let usable = |byte: u8| (byte == b'\t' || (b' '..=b'~').contains(&byte)) && byte != b'"';
        match [self.separator, self.comment].into_iter().flatten().find(|&byte| !usable(byte)) {
            Some(byte) => {
                let shown = (byte as char).escape_default();
                Err(Error::parse(format!("the character '{shown}' cannot separate cells or start a comment")))
            }
            None => Ok(()),
        }
    }
}

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Packing {
    None,
    Gzip,
    Zstd,
    /// As its first bytes say.
    Detect,
}

/// The format of a file, and how it is compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FileType {
    pub format: Format,
    pub packing: Packing,
}

/// The name that stands for standard input.
pub(super) const STDIN: &str = "-";

impl FileType {
    /// The type of a file with this name; `format` replaces that of the extension.
    pub(super) fn of(name: &str, format: Option<Format>) -> Result<Self> {
        let lower = name.to_lowercase();
        let (stem, packing) = match (lower.strip_suffix(".gz"), lower.strip_suffix(".zst")) {
            (Some(stem), _) => (stem, Packing::Gzip),
            (_, Some(stem)) => (stem, Packing::Zstd),
            _ if format.is_some() || name == STDIN => (lower.as_str(), Packing::Detect),
            _ => (lower.as_str(), Packing::None),
        };
        let by_name = || match stem.rsplit_once('.').map_or(stem, |(_, extension)| extension) {
            STDIN => Some(Format::Csv),
            extension if stem.contains('.') => by_extension(extension),
            _ => None,
        };
        let found = format.or_else(by_name);
        let found =
            found.filter(|found| found.is_text() || matches!(packing, Packing::None | Packing::Detect));
        let format = found.ok_or_else(|| {
            Error::parse(
                "cannot read files with this extension; supported are .csv, .tsv, .txt, .arff, .svm, .libsvm \
                 and .svmlight (each also with .gz or .zst), .parquet, .arrow, .feather, .xlsx, .npy and .npz; \
                 for other names, give the format",
            )
        })?;
        Ok(Self { format, packing })
    }
}

fn by_extension(extension: &str) -> Option<Format> {
    Some(match extension {
        "csv" | "txt" => Format::Csv,
        "tsv" => Format::Tsv,
        "arff" => Format::Arff,
        "svm" | "libsvm" | "svmlight" => Format::Svmlight,
        "parquet" => Format::Parquet,
        "arrow" | "feather" => Format::Arrow,
        "xlsx" | "xlsm" => Format::Xlsx,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        _ => return None,
    })
}
