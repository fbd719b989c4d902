//! Penalties on the weights.

use super::bases::NAME;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Penalties on the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Penalties {
    /// $\gamma_1 > 0$, on the largest weight of each group.
    pub kernels: f64,
    /// $\gamma_2 \ge 0$, on the mean of the mixture's diagonal.
    pub diagonal: f64,
}

/// How to choose the penalties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Fixed values.
    Given(Penalties),
    /// Hold-out validation over a grid: learn from the triplets of one half of the rows, validate on those of the other half.
    Halves {
        /// Values of $\gamma_1$. `None`: up to 512 kernels 1e-5, 1e-4, 1e-3 and 1e-2; with more kernels 0.5, 0.2, 0.1 and 0.05
        /// times the smallest value at which all weights are zero, since much smaller penalties would overfit.
        kernels: Option<Vec<f64>>,
        /// Values of $\gamma_2$. `None`: up to 512 kernels 0, 1e-5, 1e-4 and 1e-3; with more 1e-4.
        diagonal: Option<Vec<f64>>,
        /// Number of random splits; accuracies are means over them.
        repeats: usize,
    },
}

/// The largest number of repeats.
const MAX_REPEATS: usize = 10_000;

impl Choice {
    pub(super) fn check(&self) -> Result<()> {
        let (kernels, diagonal): (&[f64], &[f64]) = match self {
            Self::Given(penalties) => (&[penalties.kernels], &[penalties.diagonal]),
            Self::Halves { repeats, .. } if !(1..=MAX_REPEATS).contains(repeats) => {
                return Err(Error::param(NAME, "repeats", format!("from 1 to {MAX_REPEATS}"), repeats));
            }
            Self::Halves { kernels, diagonal, .. } => {
                if [kernels, diagonal].into_iter().flatten().any(|values| values.is_empty()) {
                    return Err(Error::param(NAME, "penalties", "one value or more of each", "none"));
                }
                (kernels.as_deref().unwrap_or_default(), diagonal.as_deref().unwrap_or_default())
            }
        };
        if let Some(invalid) = kernels.iter().find(|v| !(**v > 0.0 && v.is_finite())) {
            return Err(Error::param(NAME, "gamma1", "a positive finite number", invalid));
        }
        if let Some(invalid) = diagonal.iter().find(|v| !(**v >= 0.0 && v.is_finite())) {
            return Err(Error::param(NAME, "gamma2", "a finite number of 0 or more", invalid));
        }
        Ok(())
    }
}

impl Default for Choice {
    /// One split, over the default grid.
    fn default() -> Self {
        Self::Halves { kernels: None, diagonal: None, repeats: 1 }
    }
}

/// The validation result of a pair of penalties.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The penalties.
    pub penalties: Penalties,
    /// The fraction of validation triplets that are satisfied; ties count half.
    pub accuracy: f64,
}
