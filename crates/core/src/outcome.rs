//! How a fit ended. Lack of convergence is an outcome, not an error.

use serde::{Deserialize, Serialize};

/// Why a method stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// Computed in closed form, without iterations.
    Direct,
    /// The adaptive threshold of KOBL was reached (eq. 21).
    Threshold,
    /// The convergence measure fell below the tolerance.
    Tolerance,
    /// Nothing more to add: all residuals are zero up to rounding.
    Exhausted,
    /// The requested number was reached.
    Requested,
    /// The criterion has its minimum there.
    Minimum,
    /// No step improves the objective.
    Stationary,
    /// All weights became zero before the requested number of features was reached.
    Collapsed,
    /// The iteration limit was reached before the tolerance.
    MaxIterations,
}

impl Stop {
    /// Whether the method reached its result before the iteration limit.
    pub fn converged(self) -> bool {
        self != Self::MaxIterations
    }

    /// A description for users.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Direct => "computed directly",
            Self::Threshold => "the adaptive threshold was reached",
            Self::Tolerance => "the tolerance was reached",
            Self::Exhausted => "nothing more to add",
            Self::Requested => "the requested number was reached",
            Self::Minimum => "the error has its minimum there",
            Self::Stationary => "no step improves the objective",
            Self::Collapsed => "all weights became zero before the requested number of features was reached",
            Self::MaxIterations => "the iteration limit was reached before the tolerance",
        }
    }
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why it stopped.
    pub stop: Stop,
    /// Number of iterations.
    pub iterations: usize,
}

impl Outcome {
    /// The outcome of a method without iterations.
    pub fn direct() -> Self {
        Self { stop: Stop::Direct, iterations: 1 }
    }
}
