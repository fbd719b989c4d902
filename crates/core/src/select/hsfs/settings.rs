//! Parameters of HSFS.

use crate::dependence::TargetKernel;

pub(super) const NAME: &str = "HSFS";

/// Default number of directions, unless there are fewer features.
pub(super) const DEFAULT_DIRECTIONS: usize = 8;
/// Maximum number of products per gradient for which one weight per feature is chosen automatically.
const MAX_DIAGONAL_WORK: f64 = 1e10;
/// Larger data are sampled.
pub(super) const MAX_ROWS: usize = 50_000;
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
    ///
    /// $$ \max_W \mathrm{HSIC}(XW, y) \quad\text{where}\quad \sum_j \lVert w_j \rVert_\infty \le \tau, $$
    ///
    /// where $w_j$ is the row of $W$ for feature $j$, and HSIC uses a Gaussian kernel of the projected samples and the
    /// target's kernel, see [`crate::dependence::projection`]. Rows are exactly zero for features that are not needed. A
    /// feature of several columns, such as a category, has a row of $W$ for each of them, and its norm is the largest
    /// absolute entry of all of them: they enter and leave together.
    ///
    /// The problem as published, $\min_W -\mathrm{HSIC} + \lambda \sum_j \lVert w_j \rVert_\infty$, is available as
    /// [`Form::Penalized`]: $W = 0$ is a strict local minimum of it for every $\lambda > 0$, and its path jumps from
    /// several features to none, which the method reports. The constrained form has neither problem.
    ///
    /// Neither form is convex, so the result depends on the start. Along increasing radii each problem is solved from
    /// the last solution, from sets of features selected individually, in pairs, by their interaction or jointly (see
    /// `starts`), and from random weights; the best value wins. For a given number of features every solution along the
    /// path nominates the features with the largest rows. The set with the largest HSIC under equal weights is selected:
    /// a noise feature with a small weight would hardly change HSIC. Its weights are those with the largest HSIC within a
    /// ball of one unit per feature. The score of a feature is the norm of its row,
    /// which is invariant to rotations of the directions; with several columns, the largest norm of their rows.
    ///
    /// Without a requested number or radius (`auto`), the penalized form selects the last set before all weights
    /// vanish. The constrained form uses a hold-out set: sets of increasing size are selected on two thirds of the
    /// samples, and the smallest size is chosen whose HSIC under equal weights on the other third is at least 95 % of the largest.
    ///
    /// If the weights of all directions would outnumber the samples, there is one weight per feature instead, see
    /// [`Hsfs::diagonal`].
    ///
    /// HSIC of a set can miss a relevant feature next to stronger ones (Liu and Ruan 2024): it measures dependence, not
    /// prediction.
    ///
    /// Cost: hundreds to thousands of evaluations with gradients at $O(n^2 (q + c) + n d q)$ each; beyond 5000 samples
    /// $O(n m (q + c) + n d q)$ with $m$ random Fourier features or landmarks. Beyond 20,000 samples with Fourier
    /// features the path is computed on 10,000 of them. Sets are compared on at most 1000 samples; all are used to fit
    /// the weights. Beyond 2048 columns a problem is solved on an active set and checked against all features.
    ///
    /// Reference: Masaeli, Fung and Dy, *From transformation-based dimensionality reduction to feature selection*, 2010.
    #[derive(PartialEq)]
    pub struct Hsfs as "HSFS" {
        /// How the weights are kept sparse.
        pub form: Form = Form::Constrained;
        /// Number of directions (columns of W); none is 8, or the number of columns if that is less. Not used with
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
        /// Whether to use all rows. Otherwise a random sample of 50,000 rows, by class, represents larger data.
        pub exact: bool = false;
    }
}

impl Hsfs {
    /// Whether to use one weight per column for this number of samples and columns.
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
