//! Arguments of `kernsift compare`.

use super::shared::{ScaleArg, SplitByArgs, TableArgs, WeightArgs};
use super::values::{Counts, choice, counts, duration};
use clap::{Args, ValueEnum};
use kernsift::evaluate::Measure;
use std::path::PathBuf;
use std::time::Duration;

/// On or off.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// Yes
    #[default]
    On,
    /// No
    Off,
}

/// `compare`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift compare builtin:wine -m fisher,relief -k 1..5 --report page.html\n  kernsift compare builtin:iris -m all -k 1..4 --record iris.jsonl\n  kernsift compare builtin:wine -m relief:n_neighbors=3 -k 2 --evaluator knn\n  kernsift compare builtin:wine builtin:iris -m fisher,relief,random -k 1..4"
)]
pub struct CompareArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Further tables: mean ranks of the methods over all tables, with a test and critical differences
    #[arg(value_name = "DATA")]
    pub more: Vec<String>,
    /// Methods, separated by commas: names (see `kernsift methods`), names with parameters such as
    /// relief:n_neighbors=5,metric=euclidean, 'random' for features chosen at random, or 'all' for every feature
    /// selector that supports the target [default: all; of more than 2000 features those that are fast]
    #[arg(short, long = "methods", value_name = "LIST")]
    pub methods: Option<String>,
    /// Leave out methods that would take longer than this in total, such as 90s, 10min or 2h: the first split of each method
    /// is timed, and may take a quarter of it; the choice depends on the computer
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Numbers of features: 3, or 1,2,5, or 1..10, or 10..100:10 [default: 1 to 10, or to the number of columns]
    #[arg(short, value_name = "LIST", value_parser = counts, allow_hyphen_values = true)]
    pub k: Option<Counts>,
    /// Learning curve: train on so many of the training rows of each split, such as 100,300,1000; smaller sets are random parts of
    /// larger ones with the same class proportions, groups stay whole, and with --time the last rows are used
    #[arg(long, value_name = "LIST", value_parser = counts, conflicts_with = "more", help_heading = "Splits")]
    pub rows: Option<Counts>,
    /// Whether to standardize features in each split
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Save results to this file, from which the same command resumes after an interruption; of several tables to a file
    /// each, FILE with the name of the table before its extension
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write an HTML report: table, plots, computing times and the selected features
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
    /// The score in the tables; all that the evaluator permits are recorded [default: error; for regression r2]
    #[arg(long, value_parser = choice::<Measure>())]
    pub metric: Option<Measure>,
    /// Predict the test rows again with the fewest features within one standard error of the best: confusion and errors of classes,
    /// and calibration if the evaluator gives probabilities
    #[arg(long)]
    pub predictions: bool,
    /// Number of cross-validation folds [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "test_size", help_heading = "Splits")]
    pub folds: Option<usize>,
    /// Instead of folds, hold out this fraction of the rows for testing
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true, help_heading = "Splits")]
    pub test_size: Option<f64>,
    /// Instead of folds, fit on DATA and test on this file, which has the same columns
    #[arg(long, value_name = "DATA", conflicts_with_all = ["more", "folds", "test_size", "repeats", "groups", "time", "stratify"], help_heading = "Splits")]
    pub test: Option<String>,
    /// Number of repetitions with other random splits
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Splits")]
    pub repeats: usize,
    /// What every split respects.
    #[command(flatten)]
    pub split_by: SplitByArgs,
    /// Weights of rows and classes.
    #[command(flatten)]
    pub weights: WeightArgs,
    /// Whether folds have the class proportions of the data, as far as groups permit
    #[arg(long, value_enum, default_value_t, conflicts_with = "time", help_heading = "Splits")]
    pub stratify: Switch,
    /// Estimator used for evaluation, with parameters if wanted: svm, linear-svm, knn or kernel-knn for classification,
    /// ridge or knn for regression; such as knn:n_neighbors=3 (`kernsift methods svm` lists its parameters) [default: svm,
    /// ridge]
    #[arg(long, value_name = "NAME")]
    pub evaluator: Option<String>,
}
