//! What `kernsift compare` takes.

use super::shared::{KernelArg, ScaleArg, TableArgs};
use super::values::{counts, gamma, positive};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `compare`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift compare builtin:wine -m fisher,relief -k 1..5 --report page.html\n  kernsift compare builtin:iris -m all -k 1..4 --record iris.jsonl\n  kernsift compare builtin:wine -m relief:n_neighbors=3 -k 2 --evaluator knn"
)]
pub struct CompareArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Methods, separated by commas: names (see `kernsift methods`), names with parameters such as
    /// relief:n_neighbors=5,metric=euclidean, 'random' for features chosen at random, or 'all' for every feature
    /// selector that supports the target
    #[arg(short, long = "methods", value_name = "LIST", default_value = "all")]
    pub methods: String,
    /// The numbers of features: 3, or 1,2,5, or 1..10, or 10..100:10 [default: 1 to 10, or all columns]
    #[arg(short, value_name = "LIST", value_parser = counts, allow_hyphen_values = true)]
    pub k: Option<Counts>,
    /// Scale columns to mean 0 and variance 1 in each split, or not
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Keep what is found in this file; the same command goes on where it was stopped
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write a page with the table, a chart, costs and the columns that were kept
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
    /// The score that is shown [default: error; for numbers r2]
    #[arg(long, value_enum)]
    pub score: Option<ScoreArg>,
    /// Folds: every row is evaluated once per repeat [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "test_size", help_heading = "Splits")]
    pub folds: Option<usize>,
    /// Instead of folds, keep back this share of the rows in each repeat
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Splits")]
    pub test_size: Option<f64>,
    /// Do it all again with other splits
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Splits")]
    pub repeats: usize,
    /// Estimator used for evaluation: svm, linear-svm, knn, kernel-knn; for numbers ridge or knn [default: svm; ridge]
    #[arg(long, value_name = "NAME", help_heading = "Evaluator")]
    pub evaluator: Option<String>,
    /// svm: costs C to choose from inside the training rows; linear-svm: its cost [default: 0.25 to 256 by
    /// factors of 4; 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, allow_hyphen_values = true, help_heading = "Evaluator")]
    pub cost: Option<Vec<f64>>,
    /// svm, kernel-knn, ridge: the kernel [default: rbf]
    #[arg(long, value_enum, help_heading = "Evaluator")]
    pub kernel: Option<KernelArg>,
    /// svm: widths to choose from; kernel-knn with poly, ridge: their width: scale, median or numbers
    /// [default: scale; kernel-knn: median]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = gamma, allow_hyphen_values = true, help_heading = "Evaluator")]
    pub gamma: Option<Vec<kernsift::kernel::Gamma>>,
    /// knn, kernel-knn: neighbors that answer [default: 5]
    #[arg(long, value_name = "N", help_heading = "Evaluator")]
    pub neighbors: Option<usize>,
    /// ridge: penalties to choose from inside the training rows [default: 0.001 to 100 by factors of 10]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, allow_hyphen_values = true, help_heading = "Evaluator")]
    pub penalty: Option<Vec<f64>>,
}

/// Numbers of features.
#[derive(Clone)]
pub struct Counts(pub Vec<usize>);

/// The score that is shown.
#[derive(Clone, Copy, ValueEnum)]
pub enum ScoreArg {
    /// The share of rows with a wrong class
    Error,
    /// The mean over classes of the share of right answers
    BalancedAccuracy,
    /// The area under the curve of hits against false alarms
    Auc,
    /// The share of variance explained
    R2,
}
