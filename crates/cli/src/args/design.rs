//! What `kernsift design` takes.

use super::shared::{ScaleArg, TableArgs, WritingArgs};
use super::values::{fraction, positive, zero_or_more};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `design`
#[derive(Args)]
#[command(
    after_help = "Triplets are statements 'row i is more like row j than row k': three columns of a CSV file, by row numbers or \
                  by ids, or drawn from the target.\n\nExamples:\n  kernsift design builtin:iris\n  kernsift design builtin:wine -m xing-diagonal --baselines all\n  kernsift design builtin:wine --gamma1 0.001 --gamma2 0.0001 --save wine.ks"
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
    /// Write an HTML report: features, kernels, margins of the triplets
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of tables
    #[arg(long)]
    pub json: bool,
    /// Triplets to learn from, three columns (.csv .tsv, also with .gz): a row, a closer row, a farther row; rows are
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
    /// Number of triplets to draw from the target: a row, one of its class (or with a close target), one of another
    /// class (or with a distant target) [default: 1500]
    #[arg(short, long, value_name = "N", help_heading = "Triplets")]
    pub n_triplets: Option<usize>,
    /// Fraction of the rows to hold out for evaluation, or of the triplets where these are few; 0 for none
    /// [default: 0.15]
    #[arg(long, value_name = "FRACTION", value_parser = fraction, allow_hyphen_values = true, help_heading = "Evaluation")]
    pub hold_out: Option<f64>,
    /// Baselines to compare with, separated by commas; or 'all', or 'none' [default:
    /// gaussian,linear,polynomial,average]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Evaluation")]
    pub baselines: Option<Vec<String>>,
    /// design, average: the kernels, separated by commas [default: gaussian,linear]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', help_heading = "Kernels")]
    pub kernels: Option<Vec<BaseArg>>,
    /// design, average: one of each kernel per feature, which selects features (the default)
    #[arg(long, conflicts_with = "full", help_heading = "Kernels")]
    pub weak: bool,
    /// design, average: kernels of all features
    #[arg(long, help_heading = "Kernels")]
    pub full: bool,
    /// gaussian and laplacian kernels: bandwidths at these quantiles of the distances [default: 0.1,0.5,0.9]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "gammas",
        allow_hyphen_values = true,
        help_heading = "Kernels"
    )]
    pub quantiles: Option<Vec<f64>>,
    /// gaussian and laplacian kernels: values of gamma in exp(-gamma d); -m gaussian: its gamma [default: by the
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
    #[arg(long, value_name = "MODE", value_enum, help_heading = "Linear program")]
    pub psd: Option<PsdArg>,
    /// design: the groups of weights that are penalized together [default: column]
    #[arg(long, value_enum, help_heading = "Linear program")]
    pub group: Option<GroupArg>,
    /// design: the penalty of the weights; of several the best is chosen [default: 1e-5,1e-4,1e-3,1e-2; larger ones for
    /// more than 512 kernels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = positive, allow_hyphen_values = true, help_heading = "Linear program")]
    pub gamma1: Option<Vec<f64>>,
    /// design: the penalty of the mean diagonal; of several the best is chosen [default: 0,1e-5,1e-4,1e-3; 1e-4 for
    /// more than 512 kernels]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = zero_or_more, allow_hyphen_values = true, help_heading = "Linear program")]
    pub gamma2: Option<Vec<f64>>,
    /// design: number of random halves for the choice of penalties [default: 1]
    #[arg(long, value_name = "N", help_heading = "Linear program")]
    pub repeats: Option<usize>,
    /// design: drop features whose largest weight is at most this fraction of the largest of all [default: 0.01]
    #[arg(long, value_name = "FRACTION", allow_hyphen_values = true, help_heading = "Linear program")]
    pub threshold: Option<f64>,
    /// design, xing: relative tolerance of the optimum [default: 1e-8; xing: 1e-6]
    #[arg(long, value_name = "TOL", allow_hyphen_values = true, help_heading = "Linear program")]
    pub tolerance: Option<f64>,
    /// design: maximum number of rounds of cuts [default: 200]
    #[arg(long, value_name = "N", help_heading = "Linear program")]
    pub max_rounds: Option<usize>,
    /// xing: maximum number of steps [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Linear program")]
    pub max_iter: Option<usize>,
    /// xing: ridge, as a fraction of all squared distances, added for similar pairs [default: 0, or 0.01 if there is no solution]
    #[arg(long, value_name = "RHO", value_parser = zero_or_more, allow_hyphen_values = true, help_heading = "Linear program")]
    pub ridge: Option<f64>,
}

/// Kernels that are mixed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BaseArg {
    /// exp(-gamma |x-y|^2), one for each gamma
    #[value(alias = "rbf")]
    Gaussian,
    /// <x, y>
    Linear,
    /// (<x, y> / features + coef0)^degree
    #[value(alias = "poly")]
    Polynomial,
    /// exp(-gamma |x-y|_1), one for each gamma
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
    /// No negative eigenvalue on the rows that triplets name; weights of both signs
    #[value(alias = "eigen_cuts")]
    EigenCuts,
    /// Diagonal dominance without noise, as published; mostly has only the zero solution
    #[value(alias = "strict_dominance")]
    StrictDominance,
}

/// The groups of weights that are penalized together.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GroupArg {
    /// All kernels of a feature, by their largest weight
    Column,
    /// Each kernel separately
    Kernel,
}
