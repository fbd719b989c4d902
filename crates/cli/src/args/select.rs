//! Arguments of `kernsift select`.

use super::shared::{MethodArgs, OutputArgs, PassArgs, ScaleArg, SplitByArgs, TableArgs, WeightArgs};
use super::values::feature_count;
use clap::Args;
use std::path::PathBuf;

/// `select`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine\n  kernsift select builtin:wine -m fisher -k 3\n  kernsift select builtin:wine -m relief:n_neighbors=20 -k 3 --report wine.html\n  kernsift select builtin:wine -m hsfs -k 3 --path path.csv\n  kernsift select builtin:wine -m fisher -k 3 --stability\n  kernsift select builtin:wdbc -m fisher --fdr 0.1\n  kernsift select builtin:ionosphere -m takes --save model.ks"
)]
pub struct SelectArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The method and its parameters [default: auto]
    #[command(flatten)]
    pub method: MethodArgs,
    /// Number of features, or of directions of kernel space, to select: a count, or a fraction such as 0.2
    /// [default: chosen by the method]
    #[arg(short, value_name = "N", value_parser = feature_count, allow_hyphen_values = true)]
    pub k: Option<kernsift::select::FeatureCount>,
    /// Select the features that add something to the others, with an expected fraction of false positives (false discovery
    /// rate) of at most Q, by knockoffs; at least 1/Q features can be selected, or none. --set knockoffs.KEY=VALUE sets a
    /// parameter (`kernsift methods knockoffs`)
    #[arg(long, value_name = "Q", conflicts_with = "stability", allow_hyphen_values = true)]
    pub fdr: Option<f64>,
    /// Select the features that most fits to random halves of the rows select, with a bound on the expected number of false
    /// selections; takes as long as 100 fits. --set stability.KEY=VALUE sets a parameter (`kernsift methods stability`)
    #[arg(long)]
    pub stability: bool,
    /// Add p-values and q-values of all features to the output, as `kernsift test` has them; without it the automatic selector
    /// shows those of its screen. --set test.KEY=VALUE sets a parameter (`kernsift methods test`)
    #[arg(long)]
    pub pvalues: bool,
    /// Whether to standardize features first
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// What the cross-validation of the method and of the report respects.
    #[command(flatten)]
    pub split_by: SplitByArgs,
    /// Weights of rows and classes.
    #[command(flatten)]
    pub weights: WeightArgs,
    /// Measure the error on a test set, which is prepared like DATA: of the evaluator of `compare` with the selected features and
    /// with all, or of a kernel-space method itself
    #[arg(long, value_name = "DATA")]
    pub test: Option<String>,
    /// What is written.
    #[command(flatten)]
    pub output: OutputArgs,
    /// A table that is read in passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// Write the regularization or search path, for methods that have one: a line per step and feature (.csv .tsv, also
    /// with .gz)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub path: Option<PathBuf>,
    /// Number of cross-validation folds in the report; 0 for no cross-validation [default: 5]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub folds: Option<usize>,
}
