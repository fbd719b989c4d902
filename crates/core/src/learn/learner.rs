//! What every kernel learner gives.

use crate::context::Context;
use crate::data::{Dataset, Triplet};
use crate::error::Result;
use crate::kernel::Kernel;
use serde::{Deserialize, Serialize};

/// Learns a kernel from statements of likeness.
pub trait KernelLearner: Send + Sync {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// Learns from triples of row numbers of `data`; the target of `data` is not looked at.
    fn learn(&self, data: &Dataset, triplets: &[Triplet], ctx: &Context) -> Result<Learned>;
}

/// A learned kernel, and what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// The learner's name.
    pub method: String,
    /// The kernel to rank and retrieve by.
    pub kernel: Kernel,
    /// The weight of white noise that makes the kernel positive semidefinite on the rows it was learned from; 0 where
    /// it is so without. It is not part of `kernel`.
    pub noise: f64,
    /// How much each column counts, against the one that counts most; 0 for columns that play no part.
    pub scores: Vec<f64>,
    /// How the run ended.
    pub status: Status,
    /// Steps it took.
    pub iterations: usize,
}

impl Learned {
    /// The columns that play a part, in rising order.
    pub fn features(&self) -> Vec<usize> {
        (0..self.scores.len()).filter(|&j| self.scores[j] > 0.0).collect()
    }

    /// The kernel with its noise part: positive semidefinite on the rows it was learned from.
    pub fn with_noise(&self) -> Kernel {
        if self.noise > 0.0 {
            Kernel::Sum(vec![(1.0, self.kernel.clone()), (self.noise, Kernel::WhiteNoise)])
        } else {
            self.kernel.clone()
        }
    }

    /// Whether the parts fit together and to `d` columns, which a file may have broken.
    pub(crate) fn is_sound(&self, d: usize) -> bool {
        let right = |v: &f64| v.is_finite() && *v >= 0.0;
        self.kernel.validate(d).is_ok()
            && right(&self.noise)
            && self.scores.len() == d
            && self.scores.iter().all(right)
    }
}

/// How the search for a kernel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Status {
    /// The optimum was reached to the tolerance.
    Optimal,
    /// No mixture but zero meets the condition on the kernel, whatever the penalties.
    TrivialCone,
    /// The penalties outweigh every statement: the best mixture is zero.
    OverRegularised,
    /// The limit on rounds or iterations was reached before the tolerance.
    MaxIterations,
    /// Steps became too small to go on before the tolerance was reached.
    Stalled,
}

impl Status {
    /// Whether the result is the one the method defines.
    pub fn converged(self) -> bool {
        matches!(self, Self::Optimal | Self::TrivialCone | Self::OverRegularised)
    }

    /// The ending in words, with what to do about it.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Optimal => "the optimum was reached",
            Self::TrivialCone => {
                "no mixture of these kernels but zero is diagonally dominant on these rows; use dominance with noise, \
                 non-negative weights or eigenvector cuts, or far narrower kernels"
            }
            Self::OverRegularised => {
                "the penalties outweigh every triple, so all weights are zero; make them smaller"
            }
            Self::MaxIterations => "the limit on rounds was reached before the tolerance; allow more",
            Self::Stalled => "the solver could make no further progress before the tolerance was reached",
        }
    }
}
