//! The result of the automatic selector besides the selection, and its summary.

use super::settings::Scoring;
use crate::interactions::{Pair, ThreeWay};
use serde::{Deserialize, Serialize};

/// What the automatic selector found besides the order of features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Automatic {
    /// The method that selected the features: NCA unless another was decisively better.
    pub method: String,
    /// The p-value of the hypothesis that nothing predicts the target, adjusted for all tests.
    pub p_value: f64,
    /// Whether the target has classes, so that errors are balanced error rates unless there is a scoring; otherwise they are 1 - R².
    pub is_classification: bool,
    /// The score by which method and number of features were chosen, if it was given; errors are then its losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
    /// The cross-validated error of NCA by number of features; empty if there was no cross-validation.
    pub curve: Vec<CurvePoint>,
    /// The error on samples that took no part; `None` if there was no cross-validation.
    pub estimate: Option<Estimate>,
    /// Other methods on the same folds.
    pub alternatives: Vec<Alternative>,
    /// For each feature the fraction of searches on parts of the data that selected it.
    pub frequencies: Vec<f64>,
    /// For each feature the p-value of the hypothesis that the target does not depend on this feature alone.
    #[serde(default)]
    pub p_values: Vec<f64>,
    /// Whether the order is the average over searches on parts of the data.
    pub is_averaged: bool,
    /// Significant pairs of features, the best first.
    pub pairs: Vec<Pair>,
    /// Significant sets of three features, the best first.
    pub three_way: Vec<ThreeWay>,
    /// Number of samples used for screening and cross-validation, and of all.
    pub n_used: usize,
    /// Number of all samples.
    pub n: usize,
    /// What is missing for lack of time or samples.
    pub left_out: Vec<String>,
}

/// The cross-validated error of a number of features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Number of features.
    pub n_features: usize,
    /// Error.
    pub error: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// An error on samples that took no part in the selection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Error.
    pub error: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The error without features.
    pub baseline: f64,
    /// Whether the number of features was chosen without these samples, too.
    pub is_nested: bool,
}

/// Another method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative {
    /// Its name.
    pub method: String,
    /// Number of features by the same rule.
    pub n_features: usize,
    /// Its cross-validated error.
    pub error: f64,
    /// The standard error.
    pub standard_error: f64,
    /// Whether its error is within one standard error of the difference to the chosen method.
    pub is_close: bool,
}

/// Names listed in a sentence, at most.
const MAX_NAMES: usize = 10;

impl Automatic {
    /// What was done and found, in sentences. `selected` are the selected features, `names` the names of all.
    pub fn summary(&self, selected: &[usize], names: &[String]) -> Vec<String> {
        let mut out = vec![self.found(selected, names)];
        if !self.curve.is_empty() && self.curve.len() > 1 && !selected.is_empty() {
            out.push(self.number(selected.len()));
        }
        if let Some(estimate) = &self.estimate {
            out.push(self.how_good(estimate));
        }
        out.extend(self.joint(selected, names));
        if let Some(text) = self.steadiness(selected, names).filter(|_| self.estimate.is_some()) {
            out.push(text);
        }
        if let Some(text) = self.other_methods(selected) {
            out.push(text);
        }
        if self.n_used < self.n {
            out.push(format!(
                "Screening and cross-validation used a random sample of {} of {} samples.",
                self.n_used, self.n
            ));
        }
        out.extend(self.left_out.iter().map(|what| format!("Left out: {what}.")));
        out
    }

    fn found(&self, selected: &[usize], names: &[String]) -> String {
        let d = names.len();
        let chance = format!("(p {})", number(self.p_value));
        match selected.len() {
            0 => format!(
                "No feature, pair or set of three features predicts the target better than chance {chance}."
            ),
            count => {
                let verb = if count == 1 { "predicts" } else { "predict" };
                let list = listed(selected, names);
                let doubt = match self.p_value > ALPHA {
                    true => format!(
                        " Nothing predicts the target better than chance {chance}: expect no more of them."
                    ),
                    false => String::new(),
                };
                format!("{count} of {d} features {verb} the target: {list}.{doubt}")
            }
        }
    }

    fn number(&self, count: usize) -> String {
        let least = self.curve.iter().copied().reduce(|a, b| if b.error < a.error { b } else { a });
        let Some(least) = least else { return String::new() };
        let is_near = |point: &&CurvePoint| point.error <= least.error + least.standard_error;
        let smallest = self.curve.iter().find(is_near).map_or(count, |point| point.n_features).min(count);
        let rest = match count > smallest {
            true => format!(
                " {count} are selected to include the features of the strongest joint effect; the errors are those with {smallest}."
            ),
            false => String::new(),
        };
        format!(
            "{smallest} is the smallest number of features with an error within one standard error of the least ({} with {}).{rest}",
            self.error_text(least.error, least.standard_error),
            least.n_features
        )
    }

    fn how_good(&self, estimate: &Estimate) -> String {
        let what = match self.scoring {
            Some(Scoring::Error) => "Error",
            Some(Scoring::Auc) => "Error (1 - AUC)",
            Some(Scoring::LogLoss) => "Log loss",
            Some(Scoring::Mae) => "Error (mean absolute, relative to that of the mean)",
            _ if self.is_classification => "Balanced error",
            _ => "Error (1 - R²)",
        };
        let how = match estimate.is_nested {
            true => "by nested cross-validation",
            false => "by cross-validation, but the number of features was chosen on them",
        };
        format!(
            "{what} on samples that took no part: {} {how}; without features: {}.",
            self.error_text(estimate.error, estimate.standard_error),
            self.percent(estimate.baseline)
        )
    }

    fn joint(&self, selected: &[usize], names: &[String]) -> Vec<String> {
        let mut out = vec![];
        let pair = |pair: &Pair| {
            let (a, b) = pair.features;
            format!("{} with {} (p {})", names[a], names[b], number(pair.q_value))
        };
        if let Some(first) = self.pairs.first() {
            let more = match self.pairs.len() - 1 {
                0 => String::new(),
                1 => "; 1 more pair".into(),
                more => format!("; {more} more pairs"),
            };
            out.push(format!("Features that matter jointly: {}{more}.", pair(first)));
        }
        // A set of three says more than its pairs only if none of them matters.
        let has_pair = |three: &ThreeWay| {
            let [a, b, c] = three.features;
            self.pairs.iter().any(|pair| [(a, b), (a, c), (b, c)].contains(&pair.features))
        };
        let three =
            self.three_way.iter().find(|t| !has_pair(t) && t.features.iter().all(|f| selected.contains(f)));
        if let Some(three) = three {
            let [a, b, c] = three.features.map(|f| &names[f]);
            out.push(format!(
                "Three features that matter jointly: {a}, {b} and {c} (p {}).",
                number(three.q_value)
            ));
        }
        out
    }

    fn steadiness(&self, selected: &[usize], names: &[String]) -> Option<String> {
        let doubtful: Vec<usize> =
            selected.iter().copied().filter(|&f| self.frequencies.get(f).is_some_and(|v| *v < 0.5)).collect();
        (!doubtful.is_empty()).then(|| {
            format!(
                "Doubtful: {} {} found by fewer than half of the searches on parts of the data.",
                listed(&doubtful, names),
                if doubtful.len() == 1 { "is" } else { "are" }
            )
        })
    }

    fn other_methods(&self, selected: &[usize]) -> Option<String> {
        if self.alternatives.is_empty() || selected.is_empty() {
            return None;
        }
        let one = |other: &Alternative| {
            let features = if other.n_features == 1 { "feature" } else { "features" };
            format!(
                "{} {} with {} {features}{}",
                other.method,
                self.error_text(other.error, other.standard_error),
                other.n_features,
                if other.is_close { " (close)" } else { "" }
            )
        };
        let list: Vec<String> = self.alternatives.iter().map(one).collect();
        Some(format!("Selected by {}; other methods: {}.", self.method, list.join(", ")))
    }

    fn error_text(&self, error: f64, standard_error: f64) -> String {
        format!("{} ± {}", self.percent(error), self.percent(standard_error))
    }

    fn percent(&self, value: f64) -> String {
        let is_fraction = self.is_classification && self.scoring != Some(Scoring::LogLoss);
        if is_fraction { format!("{:.1} %", 100.0 * value) } else { format!("{value:.3}") }
    }
}

/// The level above which nothing is said to predict the target.
pub(super) const ALPHA: f64 = 0.05;

fn listed(features: &[usize], names: &[String]) -> String {
    let mut list: Vec<String> = features.iter().take(MAX_NAMES).map(|&f| names[f].clone()).collect();
    if features.len() > MAX_NAMES {
        list.push(format!("and {} more", features.len() - MAX_NAMES));
    }
    list.join(", ")
}

fn number(p: f64) -> String {
    match p {
        p if p < 1e-300 => "< 1e-300".into(),
        p if p < 0.001 => format!("= {p:.1e}"),
        p => format!("= {p:.3}"),
    }
}
