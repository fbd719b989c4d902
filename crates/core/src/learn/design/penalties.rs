//! What weights cost, and how the costs are chosen.

use super::NAME;
use super::rounds::{Problem, WIDE};
use crate::context::Context;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// What weights cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Penalties {
    /// $\gamma_1 > 0$, on the largest weight of each group.
    pub kernels: f64,
    /// $\gamma_2 \ge 0$, on the mean of the mixture's diagonal.
    pub diagonal: f64,
}

/// Where the penalties come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// These.
    Given(Penalties),
    /// The best of all combinations by the triples of one half of the rows, learned from the other half.
    Halves {
        /// Values of $\gamma_1$. None stands for values that suit the number of kernels: up to 512 of them 1e-5, 1e-4, 1e-3
        /// and 1e-2; with more, from a half to a twentieth of the smallest one at which all weights are zero, for far
        /// smaller ones would let hundreds of columns learn the triples by heart.
        kernels: Option<Vec<f64>>,
        /// Values of $\gamma_2$. None: up to 512 kernels 0, 1e-5, 1e-4 and 1e-3; with more 1e-4.
        diagonal: Option<Vec<f64>>,
        /// Halves that are drawn; accuracies are means over them.
        repeats: usize,
    },
}

impl Choice {
    /// Values of $\gamma_1$ that are tried for up to 512 kernels.
    const KERNELS: [f64; 4] = [1e-5, 1e-4, 1e-3, 1e-2];
    /// Values of $\gamma_2$ that are tried for up to 512 kernels.
    const DIAGONAL: [f64; 4] = [0.0, 1e-5, 1e-4, 1e-3];
    /// Shares of the smallest $\gamma_1$ that leaves nothing, tried for more kernels.
    const SHARES: [f64; 4] = [0.5, 0.2, 0.1, 0.05];

    /// The penalties to try on a problem.
    pub(super) fn grid(&self, problem: &Problem, ctx: &Context) -> Result<Vec<Penalties>> {
        let (kernels, diagonal) = match self {
            Self::Given(penalties) => return Ok(vec![*penalties]),
            Self::Halves { kernels, diagonal, .. } => (kernels, diagonal),
        };
        let many = problem.likeness.len() > WIDE;
        let diagonal = match diagonal {
            Some(values) => values.clone(),
            None if many => vec![1e-4],
            None => Self::DIAGONAL.to_vec(),
        };
        let kernels = match kernels {
            Some(values) => values.clone(),
            None if many => {
                let least = diagonal.iter().copied().fold(f64::INFINITY, f64::min);
                let most = problem.most_useful(least, ctx)?;
                // Of triples that no kernel gets right more often than wrong any penalty makes nothing.
                let most = if most > 0.0 { most } else { Self::KERNELS[0] };
                Self::SHARES.map(|share| share * most).to_vec()
            }
            None => Self::KERNELS.to_vec(),
        };
        let pair = |&kernels: &f64| diagonal.iter().map(move |&diagonal| Penalties { kernels, diagonal });
        Ok(kernels.iter().flat_map(pair).collect())
    }

    pub(super) fn check(&self) -> Result<()> {
        let (kernels, diagonal): (&[f64], &[f64]) = match self {
            Self::Given(penalties) => (&[penalties.kernels], &[penalties.diagonal]),
            Self::Halves { repeats: 0, .. } => return Err(Error::param(NAME, "repeats", "1 or more", 0)),
            Self::Halves { kernels, diagonal, .. } => {
                if [kernels, diagonal].into_iter().flatten().any(|values| values.is_empty()) {
                    return Err(Error::param(NAME, "penalties", "one value or more of each", "none"));
                }
                (kernels.as_deref().unwrap_or_default(), diagonal.as_deref().unwrap_or_default())
            }
        };
        if let Some(wrong) = kernels.iter().find(|v| !(**v > 0.0 && v.is_finite())) {
            return Err(Error::param(NAME, "gamma1", "a positive finite number", wrong));
        }
        if let Some(wrong) = diagonal.iter().find(|v| !(**v >= 0.0 && v.is_finite())) {
            return Err(Error::param(NAME, "gamma2", "a finite number of 0 or more", wrong));
        }
        Ok(())
    }
}

impl Default for Choice {
    /// Halves, once, with values that suit.
    fn default() -> Self {
        Self::Halves { kernels: None, diagonal: None, repeats: 1 }
    }
}

/// Penalties that were tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The penalties.
    pub penalties: Penalties,
    /// The share of triples to judge by that came out right.
    pub accuracy: f64,
}
