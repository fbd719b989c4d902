//! What can be typed. Help texts are written here and end with an example that the tests run.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Finds the few features that matter in a table of data, when what matters is nonlinear.
#[derive(Parser)]
#[command(name = "kernsift", version, about, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Example:\n  kernsift select builtin:wine -m fisher -k 3")]
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
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Rank the columns of a table and keep the best
    Select(SelectArgs),
    /// Learn a basis of kernel space: its dimension, residuals and cost
    Basis(BasisArgs),
    /// Apply a saved selection or basis to new data
    Apply(ApplyArgs),
    /// List, export or make data sets
    Data(DataArgs),
    /// List the methods
    Methods(MethodsArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

/// A table and how to read it.
#[derive(Args)]
pub struct TableArgs {
    /// A file (.csv .tsv .arff .svm .libsvm, also with .gz; .parquet .npy .npz) or builtin:NAME
    pub data: String,
    /// The target column; 'none' for no target [default: target, class, label or y, else the last]
    #[arg(long, value_name = "COL", help_heading = "Data")]
    pub target: Option<String>,
    /// What the target is
    #[arg(long, value_name = "TYPE", value_enum, default_value_t, help_heading = "Data")]
    pub target_type: TargetTypeArg,
    /// What becomes of empty cells
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub missing: MissingArg,
    /// What becomes of text columns
    #[arg(long, value_name = "RULE", value_enum, default_value_t, help_heading = "Data")]
    pub categorical: CategoricalArg,
    /// The first line of a CSV or TSV file is data; columns are called c1, c2, ...
    #[arg(long, help_heading = "Data")]
    pub no_header: bool,
}

/// What the target is.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum TargetTypeArg {
    /// Text and few different whole numbers are classes
    #[default]
    Auto,
    /// Classes
    Class,
    /// A number
    Number,
}

/// What becomes of empty cells.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum MissingArg {
    /// Stop and name the cell
    #[default]
    Error,
    /// Leave the row out
    Drop,
    /// Fill with the column's mean
    Mean,
    /// Fill with the column's median
    Median,
}

/// What becomes of text columns.
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum CategoricalArg {
    /// Stop and name the cell
    #[default]
    Error,
    /// A column of 0 and 1 per category
    Onehot,
    /// The category's place in alphabetical order
    Ordinal,
}

/// `select`
#[derive(Args)]
#[command(after_help = "Example:\n  kernsift select builtin:wine -m fisher -k 3")]
pub struct SelectArgs {
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
    /// The method; `kernsift methods` lists them
    #[arg(short, long, default_value = "fisher")]
    pub method: String,
    /// How many columns to keep: a number, or a share such as 0.2 [default: the method's own rule]
    #[arg(short, value_name = "N", value_parser = wanted, allow_hyphen_values = true)]
    pub k: Option<kernsift::select::Wanted>,
    /// Write the kept columns (and the target) to a file (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Save the selection for `kernsift apply`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print a JSON record instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `basis`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  kernsift basis builtin:wine\n  kernsift basis builtin:ionosphere -m kobl --width-for-dim 69"
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
    /// The kernel
    #[arg(long, value_enum, default_value_t, help_heading = "Kernel")]
    pub kernel: KernelArg,
    /// Its width: median, scale or a number [default: median]
    #[arg(long, value_parser = gamma, allow_hyphen_values = true, help_heading = "Kernel")]
    pub gamma: Option<kernsift::kernel::Gamma>,
    /// Degree of a polynomial [default: 3]
    #[arg(long, help_heading = "Kernel")]
    pub degree: Option<u32>,
    /// Constant of a polynomial [default: 1]
    #[arg(long, allow_hyphen_values = true, help_heading = "Kernel")]
    pub coef0: Option<f64>,
    /// kobl: find the RBF width that gives this many dimensions
    #[arg(long, value_name = "N", conflicts_with_all = ["gamma", "components"], help_heading = "Method")]
    pub width_for_dim: Option<usize>,
    /// kobl: the threshold function f(t): linear, a power such as 0.5, or none [default: linear]
    #[arg(long, value_name = "F", value_parser = threshold, allow_hyphen_values = true, help_heading = "Method")]
    pub threshold: Option<kernsift::basis::Threshold>,
    /// kobl: how pivots are chosen [default: greedy]
    #[arg(long, value_enum, help_heading = "Method")]
    pub pivoting: Option<PivotingArg>,
    /// kobl: the first pivot [default: first]
    #[arg(long, value_enum, help_heading = "Method")]
    pub first_pivot: Option<FirstPivotArg>,
    /// kobl: stop when this share of the kernel's trace is left [default: 0]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Method")]
    pub tol: Option<f64>,
    /// kpca: do not centre in kernel space
    #[arg(long, help_heading = "Method")]
    pub no_center: bool,
    /// kda, gda: guard against fitting every row [default: 0.001]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Method")]
    pub ridge: Option<f64>,
    /// Also measure the reconstruction cost on these rows
    #[arg(long, value_name = "DATA")]
    pub test: Option<String>,
    /// Write the mapped rows (and the target) to a file (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Save the map for `kernsift apply`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print a JSON record instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Scaling before a basis is learned.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ScaleArg {
    /// Mean 0 and variance 1 (sparse data: variance 1)
    #[default]
    Standard,
    /// As they are
    None,
}

/// Kernels by name.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KernelArg {
    /// exp(-gamma |x-y|^2)
    #[default]
    Rbf,
    /// <x, y>
    Linear,
    /// (gamma <x, y> + coef0)^degree
    Poly,
    /// exp(-gamma |x-y|_1)
    Laplacian,
}

/// How pivots are chosen.
#[derive(Clone, Copy, ValueEnum)]
pub enum PivotingArg {
    /// The row explained worst (the paper)
    Greedy,
    /// At random, in proportion to the squared residual
    Random,
}

/// The first pivot.
#[derive(Clone, Copy, ValueEnum)]
pub enum FirstPivotArg {
    /// What the pivoting says; of equals the first row
    First,
    /// The row most like all others
    Medoid,
}

/// `apply`
#[derive(Args)]
#[command(
    after_help = "Example:\n  kernsift select builtin:wine -k 3 --save wine.ks\n  kernsift apply wine.ks builtin:wine --out reduced.csv"
)]
pub struct ApplyArgs {
    /// A file made by --save
    pub model: PathBuf,
    /// A file or builtin:NAME, with the columns the model was made from
    pub data: String,
    /// The first line of a CSV or TSV file is data; columns are called c1, c2, ...
    #[arg(long)]
    pub no_header: bool,
    /// Write here instead of to standard output (.csv .tsv, also with .gz; .npy)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
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
    #[command(after_help = "Example:\n  kernsift data export wine --out wine.csv")]
    Export {
        /// Its name
        name: String,
        /// Write here instead of to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Make data whose relevant columns are known
    #[command(after_help = "Example:\n  kernsift data make xor --rows 500 --columns 100 --out xor.csv")]
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
#[command(after_help = "Example:\n  kernsift methods")]
pub struct MethodsArgs {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// `completions`
#[derive(Args)]
#[command(after_help = "Example:\n  kernsift completions bash > kernsift.bash")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=1024).contains(&n) => Ok(n),
        _ => Err("a number from 1 to 1024 is expected".into()),
    }
}

/// Bytes with a unit: 800MB, 6GiB, 2g, or a plain number.
fn size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_lowercase();
    let split = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let factor = match unit.trim() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err("a size such as 6GiB or 800MB is expected".into()),
    };
    match number.parse::<f64>() {
        Ok(n) if n > 0.0 => Ok((n * factor) as u64),
        _ => Err("a size such as 6GiB or 800MB is expected".into()),
    }
}

fn wanted(text: &str) -> Result<kernsift::select::Wanted, String> {
    use kernsift::select::Wanted;
    if let Ok(count) = text.parse::<usize>() {
        return Ok(Wanted::Count(count));
    }
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(Wanted::Share(share)),
        _ => Err("a whole number, or a share above 0 and below 1, is expected".into()),
    }
}

fn gamma(text: &str) -> Result<kernsift::kernel::Gamma, String> {
    use kernsift::kernel::Gamma;
    match text {
        "median" => Ok(Gamma::Median),
        "scale" => Ok(Gamma::Scale),
        _ => match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(Gamma::Value(value)),
            _ => Err("median, scale or a positive number is expected".into()),
        },
    }
}

fn threshold(text: &str) -> Result<kernsift::basis::Threshold, String> {
    use kernsift::basis::Threshold;
    match text {
        "linear" => Ok(Threshold::Linear),
        "none" => Ok(Threshold::None),
        _ => match text.parse::<f64>() {
            Ok(power) if power > 0.0 && power.is_finite() => Ok(Threshold::Power(power)),
            _ => Err("linear, none or a positive power is expected".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use kernsift::select::Wanted;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(size("6GiB").unwrap(), 6 << 30);
        assert_eq!(size("1.5g").unwrap(), 3 << 29);
        assert_eq!(size("800MB").unwrap(), 800_000_000);
        assert_eq!(size("17").unwrap(), 17);
        assert!(size("much").is_err() && size("-1G").is_err() && size("1 apple").is_err());
    }

    #[test]
    fn numbers_and_shares() {
        assert_eq!(wanted("3").unwrap(), Wanted::Count(3));
        assert_eq!(wanted("0.25").unwrap(), Wanted::Share(0.25));
        assert!(wanted("1.5").is_err() && wanted("few").is_err());
        assert!(gamma("-1").is_err() && gamma("median").is_ok() && gamma("0.3").is_ok());
        assert!(threshold("0").is_err() && threshold("2").is_ok());
        assert!(threads("0").is_err() && threads("2").is_ok());
    }
}
