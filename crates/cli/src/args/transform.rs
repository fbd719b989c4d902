//! Options of selectors that weigh columns by a criterion: hsfs, ldfs, pfs, fohsic, bahsic and hsic-lasso.

use clap::{Args, ValueEnum};

/// Options of hsfs, ldfs, pfs, fohsic, bahsic and hsic-lasso.
#[derive(Args)]
pub struct TransformOptions {
    /// hsfs: constrained or penalised; ldfs: least-squares, normalised or constrained; bahsic: exact or fast
    /// [default: the first]
    #[arg(long, value_enum, hide_possible_values = true, help_heading = "Selector")]
    pub form: Option<FormArg>,
    /// hsfs, fohsic, bahsic, hsic-lasso: how alike two rows are by the target [default: auto]
    #[arg(long, value_name = "KERNEL", value_enum, help_heading = "Selector")]
    pub target_kernel: Option<TargetKernelArg>,
    /// hsfs: directions that rows are projected onto [default: 8, or as many as there are columns; see --diagonal]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub directions: Option<usize>,
    /// hsfs: one weight per column instead of directions [default: where directions would have more weights than there are rows]
    #[arg(long, help_heading = "Selector")]
    pub diagonal: bool,
    /// hsfs: a typical difference within a column, which sets the scale of weights [default: the median one]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true, help_heading = "Selector")]
    pub width: Option<f64>,
    /// hsfs: what the largest weights of all columns may add up to, instead of -k
    #[arg(long, value_name = "TAU", allow_hyphen_values = true, help_heading = "Selector")]
    pub radius: Option<f64>,
    /// hsfs --form penalized, ldfs, pfs: the price of weights, instead of -k
    #[arg(long, value_name = "LAMBDA", allow_hyphen_values = true, help_heading = "Selector")]
    pub penalty: Option<f64>,
    /// ldfs, pfs: penalties on the path [default: 61]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub penalties: Option<usize>,
    /// ldfs, pfs: the last penalty of the path as a share of the first [default: 0.001; pfs: 0.01]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, help_heading = "Selector")]
    pub penalty_ratio: Option<f64>,
    /// ldfs, not least squares: what is added to the scatter within classes [default: 0.1]
    #[arg(long, value_name = "RHO", allow_hyphen_values = true, help_heading = "Selector")]
    pub ridge: Option<f64>,
    /// ldfs, not least squares: all classes count alike, however many rows they have
    #[arg(long, help_heading = "Selector")]
    pub unweighted_scatter: bool,
    /// hsfs: random starts beside the others [default: 1]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub random_starts: Option<usize>,
    /// hsfs: how dependence is computed [default: auto]
    #[arg(long, value_name = "HOW", value_enum, help_heading = "Selector")]
    pub approximation: Option<ApproximationArg>,
    /// hsfs: random Fourier features, or landmarks [default: 512]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub features: Option<usize>,
    /// fohsic, bahsic: which estimate of dependence [default: biased]
    #[arg(long, value_enum, help_heading = "Selector")]
    pub estimator: Option<EstimatorArg>,
    /// hsic-lasso: rows of a block [default: all rows are one]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub block_size: Option<usize>,
    /// hsic-lasso with --block-size: how often rows are shuffled into blocks [default: 3]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub permutations: Option<usize>,
    /// hsfs, ldfs, pfs: how near to a solution [default: 1e-5; ldfs, pfs: 1e-6]
    #[arg(long, value_name = "TOL", allow_hyphen_values = true, help_heading = "Selector")]
    pub tolerance: Option<f64>,
    /// hsfs, ldfs, pfs: most steps of each solution [default: 300; ldfs, pfs: 10000]
    #[arg(long, value_name = "N", help_heading = "Selector")]
    pub max_iter: Option<usize>,
}

/// Which form of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    /// hsfs: weights within a ball; ldfs: a scatter within classes of one
    Constrained,
    /// Weights have a price, as printed
    Penalized,
    /// Least squares on class indicators
    LeastSquares,
    /// Weights of length one
    Normalized,
    /// Dependence without each column in turn
    Exact,
    /// The derivative of dependence by each column's weight
    Fast,
}

/// How alike two rows are by the target.
#[derive(Clone, Copy, ValueEnum)]
pub enum TargetKernelArg {
    /// class-balanced for classes, gaussian for numbers
    Auto,
    /// Rows of one class, all classes counting alike
    ClassBalanced,
    /// Rows of one class, large classes counting more
    Delta,
    /// The product of two numbers, or of the signs of two classes
    Linear,
    /// Numbers that are near
    Gaussian,
}

/// How dependence is computed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ApproximationArg {
    /// All pairs up to 5000 rows, fourier beyond
    Auto,
    /// All pairs
    Exact,
    /// Random Fourier features
    Fourier,
    /// Landmarks
    Nystrom,
}

/// Which estimate of dependence.
#[derive(Clone, Copy, ValueEnum)]
pub enum EstimatorArg {
    /// Never negative
    Biased,
    /// Zero on average for columns that have nothing to do with the target
    Unbiased,
}
