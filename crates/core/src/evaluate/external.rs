//! Estimators of other libraries, such as scikit-learn.

use super::evaluator::Evaluator;
use serde::{Deserialize, Serialize};

/// An estimator outside of this library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct External {
    /// The name of its class.
    pub name: String,
    /// It with its parameters; records with another description do not fit.
    pub description: String,
}

/// The estimator used for evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EvaluatorChoice {
    /// One of this library.
    BuiltIn(Evaluator),
    /// Another one, see [`ExternalComparison`](super::ExternalComparison).
    External(External),
}

impl From<Evaluator> for EvaluatorChoice {
    fn from(evaluator: Evaluator) -> Self {
        Self::BuiltIn(evaluator)
    }
}

impl EvaluatorChoice {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(evaluator) => evaluator.name(),
            Self::External(external) => &external.name,
        }
    }
}
