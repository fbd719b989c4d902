//! Arguments of `kernsift inspect`.

use super::shared::TableArgs;
use clap::Args;
use std::path::PathBuf;

/// `inspect`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift inspect builtin:ionosphere\n  kernsift inspect builtin:ionosphere --report columns.html"
)]
pub struct InspectArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// Write an HTML report with histograms
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}
