//! What `kernsift design` takes.

use super::shared::{ScaleArg, TableArgs, WritingArgs};
use super::values::{positive, share, zero_or_more};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `design`
#[derive(Args)]
#[command(
    after_help = "Triples are statements 'row i is more like row j than row k': three columns of a CSV file, by row numbers or \
                  by ids, or drawn from the target.\n\nExamples:\n  kernsift design builtin:iris\n  kernsift design builtin:wine -m xing-diagonal --beside all\n  kernsift design builtin:wine --gamma1 0.001 --gamma2 0.0001 --save wine.ks"
)]
pub struct DesignArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The learner: design; xing, xing-diagonal (metrics from pairs); average, gaussian, linear, polynomial
    /// (which learn nothing, as yardsticks)
    #[arg(short, long, default_value = "design")]
    pub method: String,
    /// Scale columns to mean 0 and variance 1 first, or not
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Write the columns that are kept (and the target) to a file (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Write how alike every two rows are, a square matrix (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub gram: Option<PathBuf>,
    /// With --gram: add the noise part, which makes the matrix positive semidefinite
    #[arg(long)]
    pub with_noise: bool,
    /// Save the kernel for `kernsift apply` and `kernsift basis --kernel-file`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write a page to look at: columns, kernels, margins of the triples
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
    /// Triples to learn from, three columns (.csv .tsv, also with .gz): the row, the row it is more like, the
    /// row it is less like; rows are counted from 1, the header left out. The last column of DATA is a feature
    /// then, unless it is called target, class, label or y [default: drawn from the target]
    #[arg(long, value_name = "FILE", help_heading = "Triples")]
    pub triplets: Option<PathBuf>,
    /// The column of DATA by which the triples name rows; it is not a feature then
    #[arg(long, value_name = "COL", help_heading = "Triples")]
    pub ids: Option<String>,
    /// The number by which triples call the first row of DATA [default: 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), help_heading = "Triples")]
    pub origin: Option<u8>,
    /// Triples to draw from the target: a row, one of its class (or with a near number), one of another (or
    /// with a far number) [default: 1500]
    #[arg(short, long, value_name = "N", help_heading = "Triples")]
    pub n_triplets: Option<usize>,
    /// The share of rows that is held out to judge by, or of triples where these are few; 0 for none
    /// [default: 0.15]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true, help_heading = "Judging")]
    pub hold_out: Option<f64>,
    /// Learners that are judged beside it, separated by commas; or 'all', or 'none' [default:
    /// gaussian,linear,polynomial,average]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Judging")]
    pub beside: Option<Vec<String>>,
    /// design, average: the kernels, separated by commas [default: gaussian,linear]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', help_heading = "Kernels")]
    pub kernels: Option<Vec<BaseArg>>,
    /// design, average: one of each kernel for every column, so that columns are selected (the default)
    #[arg(long, conflicts_with = "full", help_heading = "Kernels")]
    pub weak: bool,
    /// design, average: kernels that see all columns
    #[arg(long, help_heading = "Kernels")]
    pub full: bool,
    /// gaussian and laplacian kernels: widths by these quantiles of the distances [default: 0.1,0.5,0.9]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "gammas",
        allow_hyphen_values = true,
        help_heading = "Kernels"
    )]
    pub quantiles: Option<Vec<f64>>,
    /// gaussian and laplacian kernels: these widths, exp(-gamma d); -m gaussian: its width [default: by the
    /// median]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, allow_hyphen_values = true, help_heading = "Kernels")]
    pub gammas: Option<Vec<f64>>,
    /// polynomial kernels: degree [default: 2]
    #[arg(long, value_name = "N", help_heading = "Kernels")]
    pub degree: Option<u32>,
    /// polynomial kernels: constant [default: 1]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "Kernels")]
    pub coef0: Option<f64>,
    /// design: what makes the mixture positive semidefinite [default: auto]
    #[arg(long, value_name = "MODE", value_enum, help_heading = "Programme")]
    pub psd: Option<PsdArg>,
    /// design: what pays together [default: column]
    #[arg(long, value_enum, help_heading = "Programme")]
    pub group: Option<GroupArg>,
    /// design: the price of weights; of several the best is chosen [default: 1e-5,1e-4,1e-3,1e-2; larger ones for
    /// more than 512 kernels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, allow_hyphen_values = true, help_heading = "Programme")]
    pub gamma1: Option<Vec<f64>>,
    /// design: the price of the mean diagonal; of several the best is chosen [default: 0,1e-5,1e-4,1e-3; 1e-4 for
    /// more than 512 kernels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = zero_or_more, allow_hyphen_values = true, help_heading = "Programme")]
    pub gamma2: Option<Vec<f64>>,
    /// design: how often rows are halved anew to choose prices [default: 1]
    #[arg(long, value_name = "N", help_heading = "Programme")]
    pub repeats: Option<usize>,
    /// design: columns whose largest weight is at most this share of the largest of all leave [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Programme")]
    pub threshold: Option<f64>,
    /// design, xing: how near to the optimum, as a share [default: 1e-8; xing: 1e-6]
    #[arg(long, value_name = "TOL", allow_hyphen_values = true, help_heading = "Programme")]
    pub tolerance: Option<f64>,
    /// design: most rounds of cuts [default: 200]
    #[arg(long, value_name = "N", help_heading = "Programme")]
    pub max_rounds: Option<usize>,
    /// xing: most steps [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Programme")]
    pub max_iter: Option<usize>,
    /// xing: share of all squared distances that similar pairs bear [default: 0, or 0.01 where that has no answer]
    #[arg(long, value_name = "RHO", value_parser = zero_or_more, allow_hyphen_values = true, help_heading = "Programme")]
    pub ridge: Option<f64>,
}

/// Kernels that are mixed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BaseArg {
    /// exp(-gamma |x-y|^2), one for each width
    #[value(alias = "rbf")]
    Gaussian,
    /// <x, y>
    Linear,
    /// (<x, y> / columns + coef0)^degree
    #[value(alias = "poly")]
    Polynomial,
    /// exp(-gamma |x-y|_1), one for each width
    Laplacian,
}

/// What makes a mixture positive semidefinite.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PsdArg {
    /// nonnegative where every kernel is semidefinite, else dominance-with-noise
    Auto,
    /// No weight is negative; semidefinite on all rows
    #[value(alias = "non-negative")]
    Nonnegative,
    /// White noise makes the diagonal dominant; weights of both signs
    #[value(alias = "dominance_with_noise")]
    DominanceWithNoise,
    /// No negative eigenvalue on the rows that triples name; weights of both signs
    #[value(alias = "eigen_cuts")]
    EigenCuts,
    /// The diagonal is dominant without noise, as the paper has it; mostly leaves only zero
    #[value(alias = "strict_dominance")]
    StrictDominance,
}

/// What pays together.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GroupArg {
    /// All kernels of a column, by the largest of their weights
    Column,
    /// Each kernel by itself
    Kernel,
}
