//! Penalties on the weights.

use crate::parameters::{Kind, ParameterValue};
use serde::{Deserialize, Serialize};

/// Penalties on the weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Penalties {
    /// $\gamma_1 > 0$, on the largest weight of each group.
    pub kernels: f64,
    /// $\gamma_2 \ge 0$, on the mean of the mixture's diagonal.
    pub diagonal: f64,
}

/// A penalty, or several to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Penalty {
    /// A fixed value.
    Value(f64),
    /// Values to choose from by validation.
    Values(Vec<f64>),
}

impl Penalty {
    /// The values.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Value(value) => std::slice::from_ref(value),
            Self::Values(values) => values,
        }
    }
}

impl ParameterValue for Penalty {
    fn kinds() -> Vec<Kind> {
        vec![Kind::Real, Kind::Reals]
    }

    fn numbers(&self) -> Vec<f64> {
        self.values().to_vec()
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
