//! How tables are read.

use super::values::{character, choice};
use clap::Args;
use kernsift::data::read::{Format, ReadOptions};
use kernsift::data::{Decimal, Recipe};
use std::path::{Path, PathBuf};

/// How tables are read.
#[derive(Args, Clone)]
pub struct ReadArgs {
    /// Treat the first line of a CSV or TSV file, or the first row of a sheet, as data; columns are named c1, c2, ...
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
    /// The format of the file [default: by its extension; csv for standard input]
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>(), help_heading = "Data")]
    pub format: Option<Format>,
    /// The character between cells, tab or space [default: a comma, semicolon, tab or |, as detected]
    #[arg(long, value_name = "CHAR", value_parser = character, help_heading = "Data")]
    pub sep: Option<u8>,
    /// Skip lines that start with this character [default: # before the header]
    #[arg(long, value_name = "CHAR", value_parser = character, help_heading = "Data")]
    pub comment: Option<u8>,
    /// Further spellings of missing values, such as unknown,-999
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Data"
    )]
    pub na_values: Vec<String>,
    /// The file has features in rows and samples in columns; the first column holds the names
    #[arg(long, help_heading = "Data")]
    pub transpose: bool,
    /// Take the target from a second file with two columns, id and target; --id names the id column of both
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub labels: Option<PathBuf>,
    /// The sheet of an Excel file [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub sheet: Option<String>,
}

/// How a table is read: the options of reading, and what is known about its columns.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The options of reading.
    pub args: &'a ReadArgs,
    /// The id column of the table and of the labels, if the user names one.
    pub id: &'a [String],
    /// The decimal separator, if it is known.
    pub decimal: Option<Decimal>,
}

impl Source<'_> {
    /// Reads numbers as in training.
    pub fn like(self, recipe: &Recipe) -> Self {
        Self { decimal: recipe.decimal(), ..self }
    }
}

impl ReadArgs {
    /// The library's options.
    pub fn options(&self, decimal: Option<Decimal>) -> ReadOptions {
        ReadOptions {
            header: !self.no_header,
            format: self.format,
            separator: self.sep,
            comment: self.comment,
            na_values: self.na_values.clone(),
            decimal,
            transpose: self.transpose,
            sheet: self.sheet.clone(),
        }
    }

    /// The library's options for the file of labels.
    pub fn label_options(&self, decimal: Option<Decimal>) -> ReadOptions {
        ReadOptions { na_values: self.na_values.clone(), decimal, ..ReadOptions::default() }
    }

    /// The files that are read for a table, which no output may overwrite.
    pub fn files<'a>(&'a self, data: &'a str) -> Vec<&'a Path> {
        std::iter::once(Path::new(data)).chain(self.labels.as_deref()).collect()
    }

    /// An option that is given and has an effect on files only.
    pub fn for_files(&self) -> Option<&'static str> {
        let given = [
            ("--no-header", self.no_header),
            ("--format", self.format.is_some()),
            ("--sep", self.sep.is_some()),
            ("--comment", self.comment.is_some()),
            ("--na-values", !self.na_values.is_empty()),
            ("--transpose", self.transpose),
            ("--labels", self.labels.is_some()),
            ("--sheet", self.sheet.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}
