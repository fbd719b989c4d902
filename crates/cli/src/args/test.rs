//! Arguments of `kernsift test`.

use super::shared::{TableArgs, WritingArgs};
use super::values::choice;
use clap::Args;
use kernsift::significance::{Correction, DependenceStatistic};
use std::path::PathBuf;

/// `test`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift test builtin:wine\n  kernsift test builtin:heart --permutations 999 --correction holm\n  kernsift test builtin:heart --adjust age,sex --report tests.html"
)]
pub struct TestArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Covariates, separated by commas or by repeating the option: test whether the target depends on a feature given these
    /// columns
    #[arg(long, value_name = "COLS")]
    pub adjust: Vec<String>,
    /// The measure of dependence [default: cosine]
    #[arg(long, value_name = "NAME", value_parser = choice::<DependenceStatistic>())]
    pub statistic: Option<DependenceStatistic>,
    /// Number of permutations of the target; 0 for asymptotic p-values [default: 0]
    #[arg(long, value_name = "N")]
    pub permutations: Option<usize>,
    /// How p-values are adjusted for the number of features [default: bh]
    #[arg(long, value_name = "NAME", value_parser = choice::<Correction>())]
    pub correction: Option<Correction>,
    /// Significance level for adjusted p-values [default: 0.05]
    #[arg(long, value_name = "ALPHA", allow_hyphen_values = true)]
    pub alpha: Option<f64>,
    /// Set a parameter (`kernsift methods test` lists them); may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Write all features to a table (.csv .tsv, also with .gz or .zst; .parquet)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Write an HTML report with plots
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
