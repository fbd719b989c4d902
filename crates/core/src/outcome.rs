//! How a run ended. Not converging is an outcome, never an error.

use serde::{Deserialize, Serialize};

/// Why a method stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// A formula was evaluated; there was nothing to iterate.
    Direct,
    /// The adaptive threshold of KOBL was reached (eq. 21).
    Threshold,
    /// The share of kernel variance left over fell below the tolerance.
    Tolerance,
    /// Nothing is left to add: all residuals are zero to rounding.
    Exhausted,
    /// The number asked for was reached.
    Wanted,
    /// What is minimised was least here.
    Minimum,
    /// No step improves what is minimised any more.
    Stationary,
    /// All weights became zero on the way to fewer columns.
    Collapsed,
    /// The iteration limit was reached before the tolerance.
    MaxIterations,
}

impl Stop {
    /// Whether the result is the one the method defines, rather than the last of a cut-off run.
    pub fn converged(self) -> bool {
        self != Self::MaxIterations
    }

    /// The reason in words.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Direct => "computed directly",
            Self::Threshold => "the adaptive threshold was reached",
            Self::Tolerance => "the tolerance was reached",
            Self::Exhausted => "nothing is left to add",
            Self::Wanted => "the wanted number was reached",
            Self::Minimum => "the error was least there",
            Self::Stationary => "no step improves it any more",
            Self::Collapsed => "all weights became zero before so few columns were left",
            Self::MaxIterations => "the iteration limit was reached before the tolerance",
        }
    }
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why it stopped.
    pub stop: Stop,
    /// Iterations it took.
    pub iterations: usize,
}

impl Outcome {
    /// The outcome of a method that evaluates a formula.
    pub fn direct() -> Self {
        Self { stop: Stop::Direct, iterations: 1 }
    }
}
