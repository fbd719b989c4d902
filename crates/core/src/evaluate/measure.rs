//! The score in a table.

use super::evaluator::Evaluator;
use super::record::Record;
use crate::data::Target;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

crate::choices! {
    /// A score of the library.
    pub enum Measure {
        /// Error rate; smaller is better.
        Error = "error",
        /// Mean error rate of the classes; smaller is better.
        BalancedError = "balanced-error",
        /// Balanced accuracy.
        BalancedAccuracy = "balanced-accuracy",
        /// Area under the ROC curve.
        Auc = "auc",
        /// Mean negative logarithm of the probability of the class; smaller is better.
        LogLoss = "log-loss",
        /// F1 score of the second of two classes, or the mean F1 score over classes.
        F1 = "f1",
        /// Coefficient of determination R².
        R2 = "r2",
        /// Root of the mean squared error; smaller is better.
        Rmse = "rmse",
        /// Mean absolute error; smaller is better.
        Mae = "mae",
    }
}

impl Measure {
    /// All scores.
    pub const ALL: [Self; 9] = [
        Self::Error,
        Self::BalancedError,
        Self::BalancedAccuracy,
        Self::Auc,
        Self::LogLoss,
        Self::F1,
        Self::R2,
        Self::Rmse,
        Self::Mae,
    ];

    /// The default score for a target.
    pub fn for_target(target: &Target) -> Self {
        if matches!(target, Target::Continuous(_)) { Self::R2 } else { Self::Error }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::BalancedError => "balanced-error",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::Auc => "auc",
            Self::LogLoss => "log-loss",
            Self::F1 => "f1",
            Self::R2 => "r2",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
        }
    }

    /// Whether it is for a continuous target.
    pub fn is_for_numbers(self) -> bool {
        matches!(self, Self::R2 | Self::Rmse | Self::Mae)
    }

    /// Whether larger values are better.
    pub fn larger_is_better(self) -> bool {
        matches!(self, Self::BalancedAccuracy | Self::Auc | Self::F1 | Self::R2)
    }

    /// Whether it is a fraction, shown in percent.
    pub fn is_fraction(self) -> bool {
        !matches!(self, Self::LogLoss | Self::Rmse | Self::Mae)
    }

    /// Its value in a record.
    pub fn of(self, record: &Record) -> Option<f64> {
        let scores = &record.scores;
        match self {
            Self::Error => scores.error,
            Self::BalancedError => scores.balanced_accuracy.map(|accuracy| 1.0 - accuracy),
            Self::BalancedAccuracy => scores.balanced_accuracy,
            Self::Auc => scores.auc,
            Self::LogLoss => scores.log_loss,
            Self::F1 => scores.f1,
            Self::R2 => scores.r2,
            Self::Rmse => scores.rmse,
            Self::Mae => scores.mae,
        }
    }

    /// Returns an error if it is not defined for the target, or if the evaluator does not give what it needs.
    pub fn check(self, target: &Target, evaluator: &Evaluator) -> Result<()> {
        let is_regression = matches!(target, Target::Continuous(_));
        if is_regression != self.is_for_numbers() {
            let all = Self::ALL.iter().filter(|measure| measure.is_for_numbers() == is_regression);
            let names: Vec<&str> = all.map(|measure| measure.name()).collect();
            let task = if is_regression { "regression" } else { "classification" };
            let expected = format!("one of {} for {task}", names.join(", "));
            return Err(Error::param("compare", "metric", expected, self.name()));
        }
        match self {
            Self::LogLoss if !evaluator.gives_probabilities() => {
                let name = evaluator.name();
                let expected = format!(
                    "a score that needs no probabilities with the evaluator {name}; for log-loss use the evaluator knn or kernel-knn"
                );
                Err(Error::param("compare", "metric", expected, self.name()))
            }
            _ => Ok(()),
        }
    }
}

/// The score in a table: one of the library's, or one that another library computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Metric {
    /// A score of the library.
    BuiltIn(Measure),
    /// A scikit-learn scorer, by the name in the records; larger is better.
    Scorer(String),
}

impl From<Measure> for Metric {
    fn from(measure: Measure) -> Self {
        Self::BuiltIn(measure)
    }
}

impl Metric {
    /// A score by name; a name that the library does not have is that of a scorer.
    pub fn by_name(name: &str) -> Self {
        let known = Measure::ALL.into_iter().find(|measure| measure.name() == name);
        known.map_or_else(|| Self::Scorer(name.to_owned()), Self::BuiltIn)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::BuiltIn(measure) => measure.name(),
            Self::Scorer(name) => name,
        }
    }

    /// Whether larger values are better.
    pub fn larger_is_better(&self) -> bool {
        match self {
            Self::BuiltIn(measure) => measure.larger_is_better(),
            Self::Scorer(_) => true,
        }
    }

    /// Whether it is a fraction, shown in percent.
    pub fn is_fraction(&self) -> bool {
        matches!(self, Self::BuiltIn(measure) if measure.is_fraction())
    }

    /// Its value in a record.
    pub fn of(&self, record: &Record) -> Option<f64> {
        match self {
            Self::BuiltIn(measure) => measure.of(record),
            Self::Scorer(name) => record.scorers.get(name).copied(),
        }
    }
}
