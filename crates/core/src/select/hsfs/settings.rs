//! Parameters of HSFS.

use crate::dependence::TargetKernel;

pub(super) const NAME: &str = "HSFS";

/// Default number of directions, unless there are fewer features.
pub(super) const DEFAULT_DIRECTIONS: usize = 8;
/// Maximum number of products per gradient for which one weight per feature is chosen automatically.
const MAX_DIAGONAL_WORK: f64 = 1e10;
/// Up to this many samples all pairs are used by default.
pub(super) const MAX_EXACT_SAMPLES: usize = 5000;

crate::choices! {
    /// How the weights are kept sparse.
    pub enum Form {
        /// The sum of the largest entries of the rows of W is bounded.
        Constrained = "constrained",
        /// A multiple of that sum is added to the objective, as published.
        Penalized = "penalized",
    }
}

crate::choices! {
    /// How to compute HSIC.
    pub enum Approximation {
        /// Exact up to 5000 samples, random Fourier features beyond.
        Auto = "auto",
        /// All pairs of samples.
        Exact = "exact",
        /// Random Fourier features.
        Fourier = "fourier",
        /// Nyström approximation on the pivots of KOBL.
        Nystrom = "nystrom",
    }
}

crate::parameters! {
    /// Hilbert-Schmidt feature selection.
    #[derive(PartialEq)]
    pub struct Hsfs as "HSFS" {
        /// How the weights are kept sparse.
        pub form: Form = Form::Constrained;
        /// Number of directions (columns of W); none is 8, or the number of features if that is less. Not used with
        /// `diagonal`.
        pub directions: Option<usize> = None, at_least(1);
        /// Use one weight per feature instead of directions; the squares of the weights are bounded or penalized.
        /// None decides by the data: in the constrained form, one weight per feature if directions would have more
        /// weights than there are samples and the cost allows it.
        pub diagonal: Option<bool> = None;
        /// The kernel of the target.
        pub target_kernel: TargetKernel = TargetKernel::Auto;
        /// Bandwidth of the Gaussian kernel in units of a feature; none is the median difference within a typical
        /// feature, without ties.
        pub bandwidth: Option<f64> = None, above(0);
        /// Radius of the constrained form. Leave it out if the number of features is given.
        pub radius: Option<f64> = None, above(0);
        /// Penalty of the penalized form. Leave it out if the number of features is given.
        pub penalty: Option<f64> = None, above(0);
        /// Number of random starts in addition to the others.
        pub random_starts: usize = 1, between(0, 10_000);
        /// How to compute HSIC.
        pub approximation: Approximation = Approximation::Auto;
        /// Number of random Fourier features, or of landmarks of the Nyström approximation.
        pub features: usize = 512, at_least(1);
        /// Tolerance of the stationarity conditions.
        pub tol: f64 = 1e-5, above(0);
        /// Maximum number of steps of each solution; beyond 2048 features, of each round in which features are
        /// added.
        pub max_iter: usize = 300, at_least(1);
    }
}

impl Hsfs {
    /// Whether to use one weight per feature for this number of samples and features.
    pub(super) fn is_diagonal(&self, n: usize, d: usize) -> bool {
        let automatic = self.form == Form::Constrained
            && self.directions.is_none()
            && matches!(self.approximation, Approximation::Auto | Approximation::Exact);
        let work = n as f64 * n as f64 * d as f64;
        self.diagonal.unwrap_or(automatic && d * DEFAULT_DIRECTIONS > n && work <= MAX_DIAGONAL_WORK)
    }

    /// The approximation for this number of samples.
    pub(super) fn approximation_of(&self, n: usize) -> Approximation {
        match self.approximation {
            Approximation::Auto if n <= MAX_EXACT_SAMPLES => Approximation::Exact,
            Approximation::Auto => Approximation::Fourier,
            other => other,
        }
    }
}
