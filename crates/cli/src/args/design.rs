//! Arguments of `kernsift design`.

use super::shared::{MethodArgs, ScaleArg, TableArgs, WritingArgs};
use super::values::fraction;
use clap::Args;
use std::path::PathBuf;

/// `design`
#[derive(Args)]
#[command(
    after_help = "A triplet says that row i is closer to row j than to row k: three columns of a CSV file, by row numbers or \
                  by ids, or drawn from the target.\n\nExamples:\n  kernsift design builtin:iris\n  kernsift design builtin:wine -m xing-diagonal --baselines all\n  kernsift design builtin:wine --set gamma1=0.001 --save wine.ks"
)]
pub struct DesignArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The learner and its parameters [default: design]
    #[command(flatten)]
    pub method: MethodArgs,
    /// Whether to standardize features first (mean 0, variance 1)
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Write the selected features and the target to a file (.csv .tsv, also with .gz or .zst; .parquet .npy)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Write the Gram matrix: the similarity of every two rows (.csv .tsv, also with .gz or .zst; .parquet .npy)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub gram: Option<PathBuf>,
    /// With --gram: add the white noise that makes the matrix positive semidefinite
    #[arg(long, help_heading = "Output")]
    pub with_noise: bool,
    /// Save the kernel for `kernsift apply` and `kernsift basis --kernel-file`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Write an HTML report: features, kernels, margins of the triplets
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Triplets to learn from, three columns (.csv .tsv, also with .gz or .zst): a row, a closer row, a farther row; rows are
    /// numbered from 1 without the header. The last column of DATA is then a feature, unless it is called target,
    /// class, label or y [default: drawn from the target]
    #[arg(long, value_name = "FILE", help_heading = "Triplets")]
    pub triplets: Option<PathBuf>,
    /// The column of DATA by which the triplets name rows; it is then not a feature
    #[arg(long, value_name = "COL", help_heading = "Triplets")]
    pub ids: Option<String>,
    /// Number of the first row of DATA in the triplets [default: 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), help_heading = "Triplets")]
    pub origin: Option<u8>,
    /// Number of triplets to draw from the target: a row, one of the same class (or with a close target), one of
    /// another class (or with a distant target) [default: 1500]
    #[arg(short, long, value_name = "N", help_heading = "Triplets")]
    pub n_triplets: Option<usize>,
    /// Fraction of the rows to hold out for evaluation, or of the triplets where these are few; 0 for none
    /// [default: 0.15]
    #[arg(long, value_name = "FRACTION", value_parser = fraction, allow_hyphen_values = true, help_heading = "Evaluation")]
    pub hold_out: Option<f64>,
    /// Baselines to compare with, names separated by commas; or 'all', or 'none' [default:
    /// gaussian,linear,polynomial,average]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Evaluation")]
    pub baselines: Option<Vec<String>>,
}
