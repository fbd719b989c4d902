//! Commands, options and help texts. The examples at the end of each help text are run by tests.

mod compare;
mod design;
mod inspect;
mod interactions;
mod parse;
mod reading;
mod reproduce;
mod select;
mod shared;
mod test;
mod values;

pub use compare::{CompareArgs, Switch};
pub use design::DesignArgs;
pub use inspect::InspectArgs;
pub use interactions::InteractionsArgs;
pub use parse::parse;
pub use reading::{ReadArgs, Source};
pub use reproduce::ReproduceArgs;
pub use select::SelectArgs;
pub use shared::{
    ClassWeight, MethodArgs, OutputArgs, PassArgs, ScaleArg, SplitByArgs, TableArgs, WeightArgs, WritingArgs,
};
pub use test::TestArgs;

use clap::{Args, ColorChoice, Parser, Subcommand};
use std::path::PathBuf;
use values::{size, threads};

/// Selects features of tabular data, including features that are predictive only nonlinearly or jointly.
#[derive(Parser)]
#[command(name = "kernsift", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine\n  kernsift compare builtin:wine -m fisher,relief -k 1..5\n  kernsift methods"
)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub general: General,
}

/// Options of every command.
#[derive(Args)]
pub struct General {
    /// Random seed; the same seed gives the same result
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = "General")]
    pub seed: u64,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = threads, help_heading = "General")]
    pub threads: Option<usize>,
    /// Refuse work that is estimated to need more memory than this, such as 6GiB [default: the free memory]
    #[arg(long, global = true, value_name = "SIZE", value_parser = size, help_heading = "General")]
    pub memory_limit: Option<u64>,
    /// Exit with code 1 if there was a warning
    #[arg(long, global = true, help_heading = "General")]
    pub strict: bool,
    /// Print only results, warnings and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "General")]
    pub quiet: bool,
    /// Print more messages and complete tables
    #[arg(short, long, global = true, help_heading = "General")]
    pub verbose: bool,
    /// Use colors: auto (on a terminal, unless NO_COLOR is set or TERM is dumb), always, or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = "General")]
    pub color: ColorChoice,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Select features, or directions of kernel space
    Select(Box<SelectArgs>),
    /// Show what is in a table, and what will be done with each column
    Inspect(Box<InspectArgs>),
    /// Find pairs of features on which the target depends jointly, among all pairs
    Interactions(Box<InteractionsArgs>),
    /// Test every feature: p-value and q-value of the dependence of the target on it
    Test(Box<TestArgs>),
    /// Compare methods: cross-validated error by number of features
    Compare(Box<CompareArgs>),
    /// Learn a basis of kernel space: its dimension, residuals and cost
    Basis(Box<BasisArgs>),
    /// Learn a kernel, and the features it needs, from triplets (row i is closer to row j than to row k)
    Design(Box<DesignArgs>),
    /// Apply a saved selection, basis or kernel to new data
    Apply(ApplyArgs),
    /// Reproduce the tables and figures of papers, next to the published numbers
    Reproduce(ReproduceArgs),
    /// List, export or generate data sets
    Data(DataArgs),
    /// List the methods, or the parameters of one
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
    /// The method and its parameters [default: kobl]
    #[command(flatten)]
    pub method: MethodArgs,
    /// Number of components, n_components: a maximum for kobl and kgs, exact for others [default: chosen by the method]
    #[arg(short = 'k', value_name = "N")]
    pub components: Option<usize>,
    /// Whether to standardize features first
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// Use a kernel saved by `kernsift design --save`, with its features and their scaling
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gamma_for_n_components", "scale"])]
    pub kernel_file: Option<PathBuf>,
    /// Choose gamma of the rbf kernel so that kobl finds this many components
    #[arg(long, value_name = "N", conflicts_with = "components")]
    pub gamma_for_n_components: Option<usize>,
    /// Measure the reconstruction cost on this test set
    #[arg(long, value_name = "DATA")]
    pub test: Option<String>,
    /// What is written.
    #[command(flatten)]
    pub output: OutputArgs,
    /// A table that is read in passes.
    #[command(flatten)]
    pub passes: PassArgs,
}

/// `apply`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift select builtin:wine -m takes --save wine.ks\n  kernsift apply wine.ks builtin:wine --out features.csv\n  kernsift apply wine.ks builtin:wine --predict --out classes.csv\n  kernsift select builtin:wine -k 3 --save wine.json\n  kernsift apply wine.json builtin:wine --encode --out numbers.csv\n  kernsift design builtin:wine --save kernel.ks\n  kernsift apply kernel.ks builtin:wine --out similarity.csv"
)]
pub struct ApplyArgs {
    /// A file written by --save
    pub model: PathBuf,
    /// A file, - for standard input, or builtin:NAME, with the columns that the model uses
    pub data: String,
    /// How it is read.
    #[command(flatten)]
    pub reading: ReadArgs,
    /// The id column of DATA and of the labels
    #[arg(long, value_name = "COL", requires = "labels", help_heading = "Data")]
    pub id: Option<String>,
    /// Write predicted classes instead of features
    #[arg(long)]
    pub predict: bool,
    /// Saved selection: write the selected features as numbers, without missing values, categories or other scales
    #[arg(long, conflicts_with_all = ["predict", "against", "with_noise"])]
    pub encode: bool,
    /// Saved kernel: write similarities to these rows, instead of those among the rows of DATA
    #[arg(long, value_name = "DATA2")]
    pub against: Option<String>,
    /// Saved kernel: add its noise part, which makes the matrix positive semidefinite on the training rows
    #[arg(long)]
    pub with_noise: bool,
    /// Write here instead of to standard output (.csv .tsv, also with .gz or .zst; .parquet .npy)
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
    /// The command; without one, the built-in data sets are listed.
    #[command(subcommand)]
    pub command: Option<DataCommand>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// The commands of `data`.
#[derive(Subcommand)]
pub enum DataCommand {
    /// Write a built-in data set to a file or standard output
    #[command(after_help = "Examples:\n  kernsift data export wine --out wine.csv")]
    Export {
        /// The data set (`kernsift data` lists them)
        name: String,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Generate synthetic data whose relevant columns are known
    #[command(after_help = "Examples:\n  kernsift data make xor --rows 500 --columns 100 --out xor.csv")]
    Make {
        /// The pattern: linear, ring, xor, xor-ring, redundant or noise
        pattern: String,
        /// Number of rows
        #[arg(long, default_value_t = 500)]
        rows: usize,
        /// Number of columns, including the relevant ones
        #[arg(long, default_value_t = 20)]
        columns: usize,
        /// Standard deviation of noise on the score, whose sign is the class
        #[arg(long, default_value_t = 0.0)]
        noise: f64,
        /// Use the score itself as the target, for regression
        #[arg(long)]
        continuous: bool,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// `methods`
#[derive(Args)]
#[command(after_help = "Examples:\n  kernsift methods\n  kernsift methods relief\n  kernsift methods --json")]
pub struct MethodsArgs {
    /// Print the parameters of this method, with types, ranges and defaults
    pub name: Option<String>,
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
