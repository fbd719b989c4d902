//! Options that several commands have.

use super::values::{gamma, threshold};
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use kernsift::data::write::WriteOptions;
use kernsift::kernel::Family;

/// A table and how to read it.
#[derive(Args)]
pub struct TableArgs {
    /// A file (.csv .tsv .arff .svm .libsvm, also with .gz; .parquet .npy .npz) or builtin:NAME
    pub data: String,
    /// The target column; 'none' for no target [default: target, class, label or y, else the last]
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub target: Option<String>,
    /// What the target is
    #[arg(long, value_name = "TYPE", value_enum, default_value_t, help_heading = "Data")]
    pub target_type: TargetTypeArg,
    /// What becomes of empty cells
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub missing: MissingArg,
    /// What becomes of text columns
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub categorical: CategoricalArg,
    /// The first line of a CSV or TSV file is data; columns are called c1, c2, ...
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
}

/// What the target is.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum TargetTypeArg {
    /// Text and few different whole numbers are classes
    #[default]
    Auto,
    /// Classes
    Class,
    /// A number
    Number,
}

/// What becomes of empty cells.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum MissingArg {
    /// Stop and name the cell
    #[default]
    Error,
    /// Leave the row out
    Drop,
    /// Fill with the column's mean
    Mean,
    /// Fill with the column's median
    Median,
    /// Leave them empty, for methods that bear gaps
    Keep,
}

/// What becomes of text columns.
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

/// The kernel.
#[derive(Args)]
pub struct KernelArgs {
    /// The kernel [default: rbf]
    #[arg(long, value_enum, help_heading = "Kernel")]
    pub kernel: Option<KernelArg>,
    /// Its width: median, scale or a number [default: median]
    #[arg(long, value_parser = gamma, allow_hyphen_values = true, help_heading = "Kernel")]
    pub gamma: Option<kernsift::kernel::Gamma>,
    /// Degree of a polynomial [default: 3]
    #[arg(long, help_heading = "Kernel")]
    pub degree: Option<u32>,
    /// Constant of a polynomial [default: 1]
    #[arg(long, allow_hyphen_values = true, help_heading = "Kernel")]
    pub coef0: Option<f64>,
}

/// Bases that have options of their own: KOBL and kernel principal components.
#[derive(Args)]
pub struct BasisOptions {
    /// KOBL: set gamma of the RBF kernel so that KOBL finds this many components
    #[arg(long, value_name = "N", conflicts_with_all = ["gamma", "components"], help_heading = "Basis")]
    pub gamma_for_n_components: Option<usize>,
    /// KOBL: the threshold function f(t): linear, a power such as 0.5, or none [default: linear]
    #[arg(long, value_name = "F", value_parser = threshold, allow_hyphen_values = true, help_heading = "Basis")]
    pub threshold: Option<kernsift::basis::Threshold>,
    /// KOBL: how pivots are chosen [default: greedy]
    #[arg(long, value_enum, help_heading = "Basis")]
    pub pivoting: Option<PivotingArg>,
    /// KOBL: the first pivot [default: first]
    #[arg(long, value_enum, help_heading = "Basis")]
    pub first_pivot: Option<FirstPivotArg>,
    /// KOBL: stop when this share of the kernel's trace is left [default: 0]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Basis")]
    pub tol: Option<f64>,
    /// Kernel principal components: do not centre in kernel space
    #[arg(long, help_heading = "Basis")]
    pub no_center: bool,
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

/// How pivots are chosen.
#[derive(Clone, Copy, ValueEnum)]
pub enum PivotingArg {
    /// The row explained worst (the paper)
    Greedy,
    /// At random, in proportion to the squared residual
    Random,
    /// The row that explains most of what is left of some rows drawn at random
    Gain,
}

/// The first pivot.
#[derive(Clone, Copy, ValueEnum)]
pub enum FirstPivotArg {
    /// What the pivoting says; of equals the first row
    First,
    /// The row most like all others
    Medoid,
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
