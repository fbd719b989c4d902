//! What `kernsift select` takes.

use super::scores::ScoreOptions;
use super::shared::{BasisOptions, KernelArgs, ScaleArg, TableArgs, WritingArgs};
use super::transform::TransformOptions;
use super::values::{step, wanted};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `select`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine -m fisher -k 3\n  kernsift select builtin:wine -m relief -k 3 --report wine.html\n  kernsift select builtin:wine -m hsfs -k 3 --path path.csv\n  kernsift select builtin:ionosphere -m takes --save model.ks"
)]
pub struct SelectArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The method. Among columns: fisher, ffs, relief, svm-rfe, l1-svm, information-gain,
    /// mutual-information, chi-squared, laplacian, hsfs, ldfs, pfs, fohsic, bahsic, hsic-lasso. In kernel
    /// space: takes (KOBL, then forward selection), kgs-kffs, fskgs, fskpca
    #[arg(short, long, default_value = "fisher")]
    pub method: String,
    /// How many columns, or directions of kernel space, to keep: a number, or a share such as 0.2
    /// [default: the method's own rule]
    #[arg(short, value_name = "N", value_parser = wanted, allow_hyphen_values = true)]
    pub k: Option<kernsift::select::FeatureCount>,
    /// Scale columns to mean 0 and variance 1 first, or not
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Kernel space: also measure the accuracy on these rows
    #[arg(long, value_name = "DATA")]
    pub test: Option<String>,
    /// Write what is kept (and the target) to a file (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Save the selection for `kernsift apply`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// hsfs, ldfs, pfs, fohsic, bahsic, hsic-lasso: write the whole path, a line per place and column (.csv
    /// .tsv, also with .gz)
    #[arg(long, value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// Write a page to look at: columns, scores, error against number of columns, plots
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// --report: folds in which the choice is made anew and judged; 0 for none [default: 5]
    #[arg(long, value_name = "N")]
    pub folds: Option<usize>,
    /// Print a JSON record instead of a table
    #[arg(long)]
    pub json: bool,
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// Kernel space: dimensions of the basis, at most or (fskpca) exactly [default: its own rule]; pfs: principal
    /// components that stand for the columns [default: the columns themselves, or 20 for more than 200]
    #[arg(long, value_name = "N", help_heading = "Basis")]
    pub components: Option<usize>,
    /// What some bases have.
    #[command(flatten)]
    pub options: BasisOptions,
    /// takes, kgs-kffs, ffs: the weak classifiers that vote [default: klms; ffs: stump]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub weak: Option<WeakArg>,
    /// klms: step size, up to 1 [default: 0.5]
    #[arg(long, allow_hyphen_values = true, help_heading = "Selector")]
    pub eta: Option<f64>,
    /// klms: width of its Gaussian, in standard deviations of a feature [default: 1]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true, help_heading = "Selector")]
    pub learner_width: Option<f64>,
    /// klms: spacing of quantised centres, in widths; 0 is exact [default: exact up to 4096 rows]
    #[arg(long, value_name = "SPACING", allow_hyphen_values = true, help_heading = "Selector")]
    pub quantum: Option<f64>,
    /// Kernel space, ffs: what weights are made from [default: ensemble; after relief: its scores]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub weights: Option<WeightsArg>,
    /// Kernel space: power to which weights are raised [default: 1]
    #[arg(long, value_name = "POWER", allow_hyphen_values = true, help_heading = "Selector")]
    pub weight_power: Option<f64>,
    /// relief, fskgs, fskpca: near rows of each class that are looked at [default: 10, or all it has; kernel
    /// space: 1]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub relief_neighbors: Option<usize>,
    /// relief, fskgs, fskpca: how differences count [default: absolute]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub difference: Option<DifferenceArg>,
    /// svm-rfe, l1-svm: price of a row that the margin does not clear [default: 1; l1-svm with -k finds it]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "Selector")]
    pub svm_c: Option<f64>,
    /// svm-rfe, bahsic: columns that leave in a round, a number (svm-rfe) or a share [default: 1; bahsic: 0.1 of
    /// those left]
    #[arg(long, value_name = "N", value_parser = step, allow_hyphen_values = true, help_heading = "Selector")]
    pub step: Option<kernsift::select::Step>,
    /// Selectors without a model.
    #[command(flatten)]
    pub scores: ScoreOptions,
    /// Selectors by a criterion.
    #[command(flatten)]
    pub transform: TransformOptions,
    /// Kernel space: neighbours that decide a row's class [default: 1]
    #[arg(long, value_name = "N", help_heading = "Classifier")]
    pub neighbors: Option<usize>,
    /// Kernel space: choose settings by cross-validation inside the training rows
    #[arg(long, value_enum, help_heading = "Classifier")]
    pub tune: Option<TuneArg>,
}

/// Weak classifiers of one feature.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeakArg {
    /// Kernel least mean squares
    Klms,
    /// A cut in two
    Stump,
    /// A cut in two for which all classes count alike
    BalancedStump,
}

/// What the weight of a feature is made from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeightsArg {
    /// The error of the vote when it joined (the paper)
    Ensemble,
    /// The error of its own weak classifier
    Individual,
    /// Nothing: all that are kept count alike
    None,
}

/// How differences count in Relief.
#[derive(Clone, Copy, ValueEnum)]
pub enum DifferenceArg {
    /// By their size
    Absolute,
    /// By their square
    Squared,
}

/// What is chosen inside the training rows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TuneArg {
    /// The kernel's width
    Width,
    /// Width, weighting, number kept (unless -k is given) and number of neighbours
    Everything,
}
