//! What `kernsift reproduce` takes.

use clap::{Args, ValueEnum};
use kernsift_experiments::Paper;
use std::path::PathBuf;

/// `reproduce`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift reproduce lp --quick --records runs --page page.md\n  kernsift reproduce takes transform lp --data-dir sets --records runs"
)]
pub struct ReproduceArgs {
    /// The papers
    #[arg(required = true, value_enum, value_name = "PAPER")]
    pub papers: Vec<PaperArg>,
    /// Two splits of small sets only, some minutes each
    #[arg(long)]
    pub quick: bool,
    /// Where sets are that are not built in: arcene_train.csv.gz, dexter_train.svm.gz, mnist5k.csv.gz, ...
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Keep what is measured in this folder; the same command goes on where it was stopped
    #[arg(long, value_name = "FOLDER")]
    pub records: Option<PathBuf>,
    /// Write a page, with pictures in a folder of the same name
    #[arg(long, value_name = "FILE.md")]
    pub page: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
}

/// The papers by their short names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PaperArg {
    /// TAKES: features in kernel space (CIKM 2010)
    Takes,
    /// From transformation to selection (ICML 2010)
    Transform,
    /// Kernel design by linear programming (IJCAI 2007)
    Lp,
}

impl PaperArg {
    /// The paper.
    pub fn paper(self) -> Paper {
        match self {
            Self::Takes => Paper::Takes,
            Self::Transform => Paper::Transform,
            Self::Lp => Paper::Lp,
        }
    }
}
