//! Arguments of `kernsift interactions`.

use super::shared::{PassArgs, TableArgs, WritingArgs};
use super::values::choice;
use clap::Args;
use kernsift::significance::Correction;
use std::path::PathBuf;

/// `interactions`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift interactions builtin:heart\n  kernsift interactions builtin:heart --correction bh --report pairs.html\n  kernsift interactions builtin:heart --set permutations=19 --out pairs.csv"
)]
pub struct InteractionsArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Number of pairs to report, n_pairs [default: 100]
    #[arg(short, value_name = "N")]
    pub k: Option<usize>,
    /// How p-values are adjusted for the number of pairs [default: bonferroni]
    #[arg(long, value_name = "NAME", value_parser = choice::<Correction>())]
    pub correction: Option<Correction>,
    /// Set a parameter (`kernsift methods interactions` lists them); may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Write the pairs to a table (.csv .tsv, also with .gz or .zst; .parquet)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// A table that is read in passes.
    #[command(flatten)]
    pub passes: PassArgs,
    /// Write an HTML report with plots of pairs
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
