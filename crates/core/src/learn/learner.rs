//! The trait of kernel learners, and their result.

use crate::context::Context;
use crate::data::{Dataset, Groups, Triplet};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};

/// Learns a kernel from triplets.
pub trait KernelLearner: Parameters + Send + Sync {
    /// The name, as on the command line.
    fn name(&self) -> &'static str;

    /// Learns from triplets of row indices of `data`; ignores the target of `data`.
    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned>;
}

/// A learned kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The name of the learner.
    pub method: String,
    /// The kernel.
    pub kernel: Kernel,
    /// The weight of white noise that makes the kernel positive semidefinite on the training rows; 0 if it already is. Not part
    /// of `kernel`.
    pub noise: f64,
    /// The importance of each feature relative to the largest; 0 for features that are not used.
    pub scores: Vec<f64>,
    /// How the solver ended.
    pub status: Status,
    /// Number of iterations.
    pub iterations: usize,
}

impl Learned {
    /// The features that are used, in ascending order.
    pub fn features(&self) -> Vec<usize> {
        (0..self.scores.len()).filter(|&j| self.scores[j] > 0.0).collect()
    }

    /// The kernel plus noise: positive semidefinite on the training rows.
    pub fn with_noise(&self) -> Kernel {
        if self.noise > 0.0 {
            Kernel::Sum(vec![(1.0, self.kernel.clone()), (self.noise, Kernel::WhiteNoise)])
        } else {
            self.kernel.clone()
        }
    }

    /// Whether the fields are consistent with each other and with the features; a model file may be corrupt.
    pub(crate) fn is_sound(&self, groups: &Groups) -> bool {
        let is_valid = |v: &f64| v.is_finite() && *v >= 0.0;
        self.kernel.validate(groups.n_columns()).is_ok()
            && is_valid(&self.noise)
            && self.scores.len() == groups.n_features()
            && self.scores.iter().all(is_valid)
    }
}

/// How the solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// Optimal within the tolerance.
    Optimal,
    /// Only the zero mixture satisfies the constraint on the kernel, for any penalties.
    TrivialCone,
    /// The penalties are so large that the optimal mixture is zero.
    OverRegularized,
    /// The limit on rounds or iterations was reached before the tolerance.
    MaxIterations,
    /// The solver stalled before it reached the tolerance.
    Stalled,
}

impl Status {
    /// Whether the result is optimal within the tolerance.
    pub fn converged(self) -> bool {
        matches!(self, Self::Optimal | Self::TrivialCone | Self::OverRegularized)
    }

    /// A description, with advice.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Optimal => "the optimum was reached",
            Self::TrivialCone => {
                "only the zero mixture of these kernels is diagonally dominant on these rows; use dominance with noise, \
                 nonnegative weights or eigenvector cuts, or much larger values of gamma"
            }
            Self::OverRegularized => {
                "the penalties are too large, so all weights are zero; use smaller penalties"
            }
            Self::MaxIterations => "the limit on rounds was reached before the tolerance; increase it",
            Self::Stalled => "the solver stalled before it reached the tolerance",
        }
    }
}
