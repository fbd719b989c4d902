//! Options that several commands have.

use super::reading::{ReadArgs, Source};
use super::values::{choice, column_type};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use kernsift::data::write::WriteOptions;
use kernsift::data::{ColumnOptions, ColumnType, Decimal, ImputeStrategy, Missing, TargetType};
use kernsift::parameters::parse_settings;
use std::path::{Path, PathBuf};

/// A table and how to read it.
#[derive(Args, Clone)]
pub struct TableArgs {
    /// A file (.csv .tsv .txt .arff .svm .libsvm, also with .gz or .zst; .parquet .arrow .feather .xlsx .npy .npz), - for
    /// standard input, or builtin:NAME
    pub data: String,
    /// The target column, or several columns of numbers as 'a,b' for methods that support them; 'none' for no target [default: target, class, label or y, else the last]
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub target: Option<String>,
    /// The type of the target
    #[arg(long, value_name = "TYPE", value_parser = choice::<TargetType>(), default_value = "auto", help_heading = "Data")]
    pub target_type: TargetType,
    /// How to handle missing values
    #[arg(long, value_name = "RULE", value_parser = choice::<Missing>(), default_value = "auto", help_heading = "Data")]
    pub missing: Missing,
    /// Which columns to use, and their types.
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadArgs,
}

impl TableArgs {
    /// How the table is read.
    pub fn source(&self) -> Source<'_> {
        Source { args: &self.reading, id: &self.columns.id, decimal: self.columns.decimal }
    }

    /// How to impute missing values in each fold.
    pub fn impute(&self) -> ImputeStrategy {
        self.missing.imputation().unwrap_or_default()
    }
}

/// Which columns to use, and their types.
#[derive(Args, Clone)]
pub struct ColumnArgs {
    /// Use these columns, also if they are constant, identifiers, free text or duplicates: names, patterns with * and ?,
    /// positions, or ranges FIRST:LAST; may be repeated
    #[arg(long, value_name = "COLS", help_heading = "Data")]
    pub include: Vec<String>,
    /// Do not use these columns, unless they are included; '*' to use only included ones
    #[arg(long, value_name = "COLS", help_heading = "Data")]
    pub exclude: Vec<String>,
    /// Columns that identify rows, which are not used; with --labels, the column by which they are joined
    #[arg(long, value_name = "COLS", help_heading = "Data")]
    pub id: Vec<String>,
    /// Set the type of columns: number, category, ordered, ordered:LOW<MIDDLE<HIGH, boolean, date, date+month+weekday+hour (periods), text
    /// or id; may be repeated [default: inferred from the values]
    #[arg(long = "type", value_name = "COLS=TYPE", value_parser = column_type, help_heading = "Data")]
    pub types: Vec<(String, ColumnType)>,
    /// The decimal separator of numbers [default: inferred from the values]
    #[arg(long, value_name = "CHAR", value_parser = choice::<Decimal>(), help_heading = "Data")]
    pub decimal: Option<Decimal>,
}

impl ColumnArgs {
    /// The library's options.
    pub fn options(&self) -> ColumnOptions {
        ColumnOptions {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            id: self.id.clone(),
            types: self.types.clone(),
            decimal: self.decimal,
        }
    }
}

/// What every split of the rows has to respect.
#[derive(Args, Default)]
pub struct SplitByArgs {
    /// Keep the rows of a group, such as a patient, together in every split: the column with the groups, which is not a feature
    #[arg(long, value_name = "COL", conflicts_with = "time", help_heading = "Splits")]
    pub groups: Option<String>,
    /// Train on earlier rows and test on later ones: the column with the times, numbers or dates, which is not a feature; rows
    /// with the same time stay together
    #[arg(long, value_name = "COL", help_heading = "Splits")]
    pub time: Option<String>,
}

impl SplitByArgs {
    /// The option and its column, if there is one.
    pub fn column(&self) -> Option<(&'static str, &str)> {
        let groups = self.groups.as_deref().map(|column| ("--groups", column));
        groups.or(self.time.as_deref().map(|column| ("--time", column)))
    }
}

/// Weights of rows and classes.
#[derive(Args, Default)]
pub struct WeightArgs {
    /// Weights of the rows: the column with the weights, numbers of 0 or more, which is not a feature; weight 2 means that the row is
    /// there twice
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub weights: Option<String>,
    /// Give all classes the same total weight in every fit
    #[arg(long, value_name = "RULE", value_enum, help_heading = "Data")]
    pub class_weight: Option<ClassWeight>,
}

/// Weights of the classes.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClassWeight {
    /// n / (C n_c) for a class with the weight n_c, of C classes with the weight n
    Balanced,
}

/// A method and its parameters.
#[derive(Args)]
pub struct MethodArgs {
    /// The method, optionally with parameters: NAME or NAME:KEY=VALUE,KEY=VALUE (`kernsift methods` lists the methods,
    /// `kernsift methods NAME` the parameters of one) [default: auto for select, kobl for basis, design
    /// for design]
    #[arg(short, long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Set a parameter of the method; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

/// The name of a method, and its settings: keys and values.
type NamedSettings<'a> = (&'a str, Vec<(&'a str, &'a str)>);

impl MethodArgs {
    /// The name, or the default, and all settings in the order given.
    pub fn split<'a>(&'a self, default: &'a str) -> Result<NamedSettings<'a>, Failure> {
        let (name, mut settings) = parse_settings(self.method.as_deref().unwrap_or(default))?;
        for text in &self.settings {
            let pair = text.split_once('=').ok_or_else(|| {
                Failure::Input(format!("--set {text}: write --set KEY=VALUE, such as --set n_neighbors=20"))
            })?;
            settings.push((pair.0.trim(), pair.1.trim()));
        }
        Ok((name, settings))
    }

    /// The method as the user typed it.
    pub fn label(&self, default: &str) -> String {
        let name = self.method.as_deref().unwrap_or(default);
        if self.settings.is_empty() {
            return name.to_owned();
        }
        let separator = if name.contains(':') { "," } else { ":" };
        format!("{name}{separator}{}", self.settings.join(","))
    }
}

/// Scaling of the features.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// Mean 0 and variance 1 (sparse data: variance 1)
    #[default]
    Standard,
    /// No scaling
    None,
}

/// Files that a command writes, and the format of what it prints.
#[derive(Args)]
pub struct OutputArgs {
    /// Write the resulting features and the target to a file (.csv .tsv, also with .gz or .zst; .parquet .npy)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Save the fitted model for `kernsift apply`; features selected to FILE.json can also be applied by other programs
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Write an HTML report with plots
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl OutputArgs {
    /// The files to write, with the options that name them.
    pub fn files(&self) -> [(&'static str, Option<&Path>); 3] {
        [
            ("--report", self.report.as_deref()),
            ("--out", self.out.as_deref()),
            ("--save", self.save.as_deref()),
        ]
    }
}

/// A table that is read in passes.
#[derive(Args, Clone)]
pub struct PassArgs {
    /// Of a table that is read in passes: store the state after each pass in a file, and continue from it if it exists
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
}

impl PassArgs {
    /// The file, with the option that names it.
    pub fn file(&self) -> (&'static str, Option<&Path>) {
        ("--checkpoint", self.checkpoint.as_deref())
    }
}

/// How tables are written.
#[derive(Args, Clone, Copy)]
pub struct WritingArgs {
    /// In written tables, put an apostrophe before text that a spreadsheet would run as a formula
    #[arg(long, help_heading = "Output")]
    pub guard_formulas: bool,
}

impl WritingArgs {
    /// The library's options.
    pub fn options(self) -> WriteOptions {
        WriteOptions { guard_formulas: self.guard_formulas }
    }

    /// Returns an error for an option without effect: `written` says whether a table is written.
    pub fn check(self, written: bool) -> Result<(), Failure> {
        match self.guard_formulas && !written {
            true => Err(Failure::Input("--guard-formulas needs a table to write; add --out FILE".into())),
            false => Ok(()),
        }
    }
}
