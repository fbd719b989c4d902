//! What can be typed. Help texts are written here and end with examples that the tests run.

mod compare;
mod design;
mod parse;
mod reproduce;
mod scores;
mod select;
mod shared;
mod transform;
mod values;

pub use compare::{CompareArgs, ScoreArg};
pub use design::{BaseArg, DesignArgs, GroupArg, PsdArg};
pub use parse::parse;
pub use reproduce::ReproduceArgs;
pub use scores::{
    ClassWeightsArg, DiscreteArg, DiscretizerArg, GraphArg, GraphWeightsArg, MeasureArg, MetricArg,
    ScoreOptions, StatisticArg, UnitsArg,
};
pub use select::{DifferenceArg, SelectArgs, TuneArg, WeakArg, WeightsArg};
pub use shared::{
    BasisOptions, CategoricalArg, FirstPivotArg, KernelArg, KernelArgs, MissingArg, PivotingArg, ScaleArg,
    TableArgs, TargetTypeArg, WritingArgs,
};
pub use transform::{ApproximationArg, EstimatorArg, FormArg, TargetKernelArg, TransformOptions};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use values::{size, threads};

/// Finds the few features that matter in a table of data, when what matters is nonlinear.
#[derive(Parser)]
#[command(name = "kernsift", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine -m fisher -k 3\n  kernsift compare builtin:wine -m fisher,relief -k 1..5\n  kernsift methods"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub general: General,
}

/// Options of every command.
#[derive(Args)]
pub struct General {
    /// Where all randomness starts; the same seed gives the same result
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "General")]
    pub seed: u64,
    /// Threads to use; the result does not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = threads, help_heading = "General")]
    pub threads: Option<usize>,
    /// Refuse work that is planned to need more, such as 6GiB [default: the memory that is free]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, help_heading = "General")]
    pub memory_limit: Option<u64>,
    /// Exit with 1 if there was a warning
    #[arg(long, global = true, help_heading = "General")]
    pub strict: bool,
    /// Say nothing but results, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "General")]
    pub quiet: bool,
    /// Say what is going on
    #[arg(short, long, global = true, help_heading = "General")]
    pub verbose: bool,
    /// Colours: on a terminal unless NO_COLOR is set, or always, or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = "General")]
    pub color: ColorArg,
}

/// When there are colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    #[default]
    Auto,
    /// Also in files and pipes
    Always,
    /// Nowhere
    Never,
}

impl ColorArg {
    /// What the streams call it.
    pub fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Rank columns, or directions of kernel space, and keep the best
    Select(Box<SelectArgs>),
    /// Hold methods against each other: error against number of features, inside folds
    Compare(Box<CompareArgs>),
    /// Learn a basis of kernel space: its dimension, residuals and cost
    Basis(Box<BasisArgs>),
    /// Learn a kernel from triples, 'this row is more like that one than the other', and which columns it needs
    Design(Box<DesignArgs>),
    /// Apply a saved selection, basis or kernel to new data
    Apply(ApplyArgs),
    /// Run the tables and figures of the papers again: ours beside what is printed
    Reproduce(ReproduceArgs),
    /// List, export or make data sets
    Data(DataArgs),
    /// List the methods
    Methods(MethodsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// `basis`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift basis builtin:wine\n  kernsift basis builtin:ionosphere -m kobl --gamma-for-n-components 69\n  kernsift basis builtin:wine -m kpca -k 5 --out mapped.csv --save map.ks"
)]
pub struct BasisArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The method: kobl, kgs, kpca, kda or gda
    #[arg(short, long, default_value = "kobl")]
    pub method: String,
    /// Components: at most (kobl, kgs) or exactly this many [default: the method's own rule]
    #[arg(short = 'k', long, value_name = "N")]
    pub components: Option<usize>,
    /// Scale columns to mean 0 and variance 1 first, or not
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// The kernel.
    #[command(flatten)]
    pub kernel: KernelArgs,
    /// A kernel that `kernsift design --save` wrote, with its columns and their scale
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["kernel", "gamma", "degree", "coef0", "gamma_for_n_components", "scale"],
        help_heading = "Kernel"
    )]
    pub kernel_file: Option<PathBuf>,
    /// What some bases have.
    #[command(flatten)]
    pub options: BasisOptions,
    /// kda, gda: guard against fitting every row [default: 0.001]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Basis")]
    pub ridge: Option<f64>,
    /// Also measure the reconstruction cost on these rows
    #[arg(long, value_name = "DATA")]
    pub test: Option<String>,
    /// Write the mapped rows (and the target) to a file (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
    /// Save the map for `kernsift apply`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write a page to look at: residual curve, a map of the rows
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print a JSON record instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `apply`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine -m takes --save wine.ks\n  kernsift apply wine.ks builtin:wine --out features.csv\n  kernsift apply wine.ks builtin:wine --predict --out classes.csv\n  kernsift design builtin:wine --save kernel.ks\n  kernsift apply kernel.ks builtin:wine --out alike.csv"
)]
pub struct ApplyArgs {
    /// A file made by --save
    pub model: PathBuf,
    /// A file or builtin:NAME, with the columns the model was made from
    pub data: String,
    /// The first line of a CSV or TSV file is data; columns are called c1, c2, ...
    #[arg(long)]
    pub no_header: bool,
    /// Write the classes that the model predicts instead of its features
    #[arg(long)]
    pub predict: bool,
    /// A saved kernel: compare with these rows instead of the rows of DATA among themselves
    #[arg(long, value_name = "DATA2")]
    pub against: Option<String>,
    /// A saved kernel: add its noise part, which makes the matrix positive semidefinite on the rows it was
    /// learned from
    #[arg(long)]
    pub with_noise: bool,
    /// Write here instead of to standard output (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// How it is written.
    #[command(flatten)]
    pub writing: WritingArgs,
}

/// `data`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift data\n  kernsift data export wine --out wine.csv\n  kernsift data make xor --rows 500 --columns 100 --out xor.csv"
)]
pub struct DataArgs {
    /// What to do; nothing lists the built-in data sets.
    #[command(subcommand)]
    pub command: Option<DataCommand>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What can be done with data sets.
#[derive(Subcommand)]
pub enum DataCommand {
    /// Write a built-in data set to a file or standard output
    #[command(after_help = "Examples:\n  kernsift data export wine --out wine.csv")]
    Export {
        /// Its name
        name: String,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Make data whose relevant columns are known
    #[command(after_help = "Examples:\n  kernsift data make xor --rows 500 --columns 100 --out xor.csv")]
    Make {
        /// The pattern: linear, ring, xor, xor-ring, redundant or noise
        pattern: String,
        /// Rows
        #[arg(long, default_value_t = 500)]
        rows: usize,
        /// Columns, relevant ones included
        #[arg(long, default_value_t = 20)]
        columns: usize,
        /// Standard deviation of noise on the score that decides
        #[arg(long, default_value_t = 0.0)]
        noise: f64,
        /// Make the score itself the target instead of its sign
        #[arg(long)]
        continuous: bool,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// `methods`
#[derive(Args)]
#[command(after_help = "Examples:\n  kernsift methods\n  kernsift methods --json")]
pub struct MethodsArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `completions`
#[derive(Args)]
#[command(after_help = "Examples:\n  kernsift completions bash > kernsift.bash")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}
