//! Arguments of `kernsift reproduce`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kernsift_experiments::Paper;
use std::path::PathBuf;

/// `reproduce`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift reproduce lp --quick --records runs --page page.md\n  kernsift reproduce takes transform lp --data-dir sets --records runs"
)]
pub struct ReproduceArgs {
    /// The papers: takes (TAKES, CIKM 2010), transform (From transformation to selection, ICML 2010), lp (Kernel design by
    /// linear programming, IJCAI 2007)
    #[arg(required = true, value_parser = paper(), value_name = "PAPER")]
    pub papers: Vec<Paper>,
    /// Run only two splits of small data sets, which takes some minutes per paper
    #[arg(long)]
    pub quick: bool,
    /// Folder of the data sets that are not built in: arcene_train.csv.gz, dexter_train.svm.gz, mnist5k.csv.gz, ...
    #[arg(long, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Save results in this folder, from which the same command resumes after an interruption
    #[arg(long, value_name = "FOLDER")]
    pub records: Option<PathBuf>,
    /// Write a Markdown page, with figures in a folder of the same name
    #[arg(long, value_name = "FILE.md")]
    pub page: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
}

fn paper() -> impl TypedValueParser<Value = Paper> {
    PossibleValuesParser::new(Paper::ALL.map(Paper::name)).map(|name| {
        let paper = Paper::ALL.into_iter().find(|paper| paper.name() == name);
        paper.expect("the parser accepts names of papers only")
    })
}
