//! What can be typed. Help texts are written here and end with examples that the tests run.

mod compare;
mod design;
mod parse;
mod reproduce;
mod select;
mod shared;
mod values;

pub use compare::{CompareArgs, ScoreArg};
pub use design::{BaseArg, DesignArgs, GroupArg, PsdArg};
pub use parse::parse;
pub use reproduce::ReproduceArgs;
pub use select::SelectArgs;
pub use shared::{
    CategoricalArg, KernelArg, MethodArgs, MissingArg, ScaleArg, TableArgs, TargetTypeArg, WritingArgs,
};

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
    /// Colors: on a terminal unless NO_COLOR is set, or always, or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t, help_heading = "General")]
    pub color: ColorArg,
}

/// When there are colors.
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
    /// Select features, or directions of kernel space
    Select(Box<SelectArgs>),
    /// Compare methods: cross-validated error by number of features
    Compare(Box<CompareArgs>),
    /// Learn a basis of kernel space: its dimension, residuals and cost
    Basis(Box<BasisArgs>),
    /// Learn a kernel from triplets, 'this row is more like that one than the other', and which columns it needs
    Design(Box<DesignArgs>),
    /// Apply a saved selection, basis or kernel to new data
    Apply(ApplyArgs),
    /// Reproduce the tables and figures of the papers: our results beside the published ones
    Reproduce(ReproduceArgs),
    /// List, export or make data sets
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
    /// Whether to standardize features first (mean 0, variance 1)
    #[arg(long, value_enum, default_value_t)]
    pub scale: ScaleArg,
    /// A kernel saved by `kernsift design --save`, with its features and their scale
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gamma_for_n_components", "scale"])]
    pub kernel_file: Option<PathBuf>,
    /// Choose gamma of the rbf kernel so that kobl finds this many components
    #[arg(long, value_name = "N", conflicts_with = "components")]
    pub gamma_for_n_components: Option<usize>,
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
