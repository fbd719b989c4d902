//! Options that several commands have.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use kernsift::data::write::WriteOptions;
use kernsift::kernel::Family;
use kernsift::parameters::parse_settings;

/// A table and how to read it.
#[derive(Args)]
pub struct TableArgs {
    /// A file (.csv .tsv .arff .svm .libsvm, also with .gz; .parquet .npy .npz) or builtin:NAME
    pub data: String,
    /// The target column; 'none' for no target [default: target, class, label or y, else the last]
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub target: Option<String>,
    /// The type of the target
    #[arg(long, value_name = "TYPE", value_enum, default_value_t, help_heading = "Data")]
    pub target_type: TargetTypeArg,
    /// How to handle missing values
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub missing: MissingArg,
    /// How to encode text columns
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub categorical: CategoricalArg,
    /// The first line of a CSV or TSV file is data; columns are called c1, c2, ...
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
}

/// The type of the target.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum TargetTypeArg {
    /// Text and integers with few values are classes
    #[default]
    Auto,
    /// Classes
    Class,
    /// A continuous target
    Number,
}

/// How to handle missing values.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum MissingArg {
    /// Stop and name the cell
    #[default]
    Error,
    /// Drop the row
    Drop,
    /// Impute the mean of the column
    Mean,
    /// Impute the median of the column
    Median,
    /// Keep them, for methods that support missing values
    Keep,
}

/// How to encode text columns.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum CategoricalArg {
    /// Stop and name the cell
    #[default]
    Error,
    /// A column of 0 and 1 per category
    Onehot,
    /// The category's place in alphabetical order
    Ordinal,
}

/// A method and its parameters.
#[derive(Args)]
pub struct MethodArgs {
    /// The method, with parameters if wanted: NAME or NAME:KEY=VALUE,KEY=VALUE (`kernsift methods` lists them, `kernsift
    /// methods NAME` their parameters)
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

    /// As the user typed it, for pages and records.
    pub fn label(&self, default: &str) -> String {
        let name = self.method.as_deref().unwrap_or(default);
        if self.settings.is_empty() {
            return name.to_owned();
        }
        let separator = if name.contains(':') { "," } else { ":" };
        format!("{name}{separator}{}", self.settings.join(","))
    }
}

/// Scaling before anything is learned.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// Mean 0 and variance 1 (sparse data: variance 1)
    #[default]
    Standard,
    /// As they are
    None,
}

/// Kernels by name.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KernelArg {
    /// exp(-gamma |x-y|^2)
    #[default]
    Rbf,
    /// <x, y>
    Linear,
    /// (gamma <x, y> + coef0)^degree
    Poly,
    /// exp(-gamma |x-y|_1)
    Laplacian,
}

impl KernelArg {
    /// What the library calls it.
    pub fn family(self) -> Family {
        match self {
            Self::Rbf => Family::Rbf,
            Self::Linear => Family::Linear,
            Self::Poly => Family::Poly,
            Self::Laplacian => Family::Laplacian,
        }
    }
}

/// How files of rows are written.
#[derive(Args, Clone, Copy)]
pub struct WritingArgs {
    /// In files of rows, put an apostrophe before text that a spreadsheet would run as a formula
    #[arg(long)]
    pub guard_formulas: bool,
}

impl WritingArgs {
    /// As the library spells it.
    pub fn options(self) -> WriteOptions {
        WriteOptions { guard_formulas: self.guard_formulas }
    }

    /// Refuses an option without effect: `written` says whether a file of rows is asked for.
    pub fn check(self, written: bool) -> Result<(), Failure> {
        match self.guard_formulas && !written {
            true => {
                Err(Failure::Input("--guard-formulas is about the file that --out writes; give one".into()))
            }
            false => Ok(()),
        }
    }
}
