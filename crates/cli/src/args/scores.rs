//! Options of selectors that score columns without a model.

use clap::{Args, ValueEnum};

/// Options of relief, information-gain, mutual-information, chi-squared and laplacian.
#[derive(Args)]
pub struct ScoreOptions {
    /// relief, fskgs, fskpca: the distance by which rows are near [default: manhattan; kernel space: euclidean]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub metric: Option<MetricArg>,
    /// relief, fskgs, fskpca: what columns are measured in [default: range; kernel space: given]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub units: Option<UnitsArg>,
    /// relief, fskgs, fskpca: rows that look for neighbours, drawn at random [default: all]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub samples: Option<usize>,
    /// relief, fskgs, fskpca: how much each other class counts, of more than one [default: equal; kernel space: share]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub class_weights: Option<ClassWeightsArg>,
    /// information-gain, chi-squared: how numbers are put in bins [default: mdl; chi-squared: frequency]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub discretizer: Option<DiscretizerArg>,
    /// information-gain, chi-squared: how many bins, unless mdl [default: 10]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub bins: Option<usize>,
    /// information-gain: what is measured [default: gain]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub measure: Option<MeasureArg>,
    /// chi-squared: what is counted [default: auto]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub statistic: Option<StatisticArg>,
    /// mutual-information: neighbours that tell how dense rows lie [default: 3]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub mi_neighbors: Option<usize>,
    /// mutual-information: which columns are categories [default: auto]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub discrete: Option<DiscreteArg>,
    /// laplacian: which rows are joined [default: knn]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub graph: Option<GraphArg>,
    /// laplacian: near rows of each that are joined [default: 5]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub graph_neighbors: Option<usize>,
    /// laplacian: what a pair of near rows counts [default: heat]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub graph_weights: Option<GraphWeightsArg>,
    /// laplacian: width of heat [default: the mean squared distance of joined rows]
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Selector")]
    pub graph_width: Option<f64>,
}

/// Distances.
#[derive(Clone, Copy, ValueEnum)]
pub enum MetricArg {
    /// By squares of differences
    Euclidean,
    /// By sizes of differences
    Manhattan,
}

/// What columns are measured in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UnitsArg {
    /// What --scale says
    Given,
    /// Their range
    Range,
}

/// How much each other class counts.
#[derive(Clone, Copy, ValueEnum)]
pub enum ClassWeightsArg {
    /// By its share of the rows
    Share,
    /// All alike
    Equal,
}

/// How numbers are put in bins.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiscretizerArg {
    /// Cuts that pay for their description (Fayyad and Irani)
    Mdl,
    /// As many rows in each
    Frequency,
    /// Equal parts of the range
    Width,
}

/// What information gain measures.
#[derive(Clone, Copy, ValueEnum)]
pub enum MeasureArg {
    /// The gain in nats
    Gain,
    /// The gain over the entropy of the bins
    Ratio,
    /// Twice the gain over the entropies of bins and classes
    Uncertainty,
}

/// What chi-squared counts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatisticArg {
    /// Counts unless a number is negative
    Auto,
    /// The numbers are counts
    Counts,
    /// Rows by bins
    Bins,
}

/// Which columns are categories.
#[derive(Clone, Copy, ValueEnum)]
pub enum DiscreteArg {
    /// Those of few different whole numbers
    Auto,
    /// All
    All,
    /// None
    None,
}

/// Which rows are joined.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphArg {
    /// Near ones
    Knn,
    /// Those of one class
    Classes,
}

/// What a pair of near rows counts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphWeightsArg {
    /// The nearer the more
    Heat,
    /// All alike
    Binary,
}
