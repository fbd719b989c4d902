//! The result of a selector.

use super::auto::Automatic;
use crate::context::Context;
use crate::outcome::{Outcome, Stop};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// The result of a selector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The method's name.
    pub method: String,
    /// All features, best first: by score, or for stepwise methods in the order of selection.
    pub order: Vec<usize>,
    /// One score per feature, larger is better; 0 for features that were dropped.
    pub scores: Vec<f64>,
    /// Number of features selected, the first of `order`.
    pub n_selected: usize,
    /// The training error after each step, for stepwise methods; empty for others.
    #[serde(default)]
    pub curve: Vec<f64>,
    /// The weights $W$ for methods that have them: one row per feature, one column per direction or class. A feature
    /// with several columns (a category, or a number with an indicator of missing values) has the row of the column with the
    /// largest absolute weight.
    #[serde(default)]
    pub coef: Option<Array2<f64>>,
    /// The solutions from few features to many, for methods with a path; empty for others.
    #[serde(default)]
    pub path: Vec<PathPoint>,
    /// Why and when the method stopped.
    pub outcome: Outcome,
    /// What the automatic selector found besides; `None` for other methods.
    #[serde(default)]
    pub automatic: Option<Box<Automatic>>,
    /// The rows that the method used; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

/// A sample of the rows, which a method uses instead of all; see [`Selector::max_rows`](super::Selector::max_rows).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Number of rows in the sample.
    pub n_used: usize,
    /// Number of all rows.
    pub n: usize,
}

impl Sample {
    /// In words.
    pub fn describe(&self) -> String {
        format!("used a sample of {} of {} rows", self.n_used, self.n)
    }

    /// Sends a note about the sample of a method.
    pub(super) fn noted(self, title: &str, ctx: &Context) -> Self {
        ctx.note(format!("{title}: {}", self.describe()));
        self
    }
}

/// One point of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PathPoint {
    /// The strength of the penalty, or the radius of the ball of weights.
    pub strength: f64,
    /// The value of the minimized objective.
    pub objective: f64,
    /// A bound on or measure of suboptimality; the method documents which.
    pub optimality: f64,
    /// Iterations from the previous point.
    pub iterations: usize,
    /// Why the solver stopped.
    pub stop: Stop,
    /// Features with nonzero weights, largest weight first.
    pub features: Vec<usize>,
    /// Their absolute weights or norms.
    pub weights: Vec<f64>,
}

impl Selection {
    /// The selection from a sample of the rows, if there is one.
    pub(super) fn with_sample(self, sample: Option<Sample>) -> Self {
        Self { sample: sample.or(self.sample), ..self }
    }

    /// Selects only features with a nonzero score; the others come after them.
    pub(super) fn drop_zero_scores(&mut self) {
        let (kept, dropped): (Vec<usize>, Vec<usize>) =
            self.selected().iter().partition(|&&j| self.scores[j] != 0.0);
        self.n_selected = kept.len();
        self.order.splice(..kept.len() + dropped.len(), kept.into_iter().chain(dropped));
    }

    /// Ranks features by score; ties are broken by column order.
    pub fn by_score(method: &str, scores: Vec<f64>, n_selected: usize) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        Self {
            method: method.into(),
            order,
            scores,
            n_selected,
            curve: vec![],
            coef: None,
            path: vec![],
            outcome: Outcome::direct(),
            automatic: None,
            sample: None,
        }
    }

    /// The selected features, best first.
    pub fn selected(&self) -> &[usize] {
        &self.order[..self.n_selected]
    }

    /// Whether this is a valid selection among `d` features; a file may be corrupt.
    pub(crate) fn is_sound(&self, d: usize) -> bool {
        let mut seen = vec![false; d];
        self.n_selected <= self.order.len()
            && self.scores.len() == d
            && self.order.iter().all(|&j| j < d && !std::mem::replace(&mut seen[j], true))
            && self.coef.as_ref().is_none_or(|coef| coef.nrows() == d)
            && self.path.iter().all(|point| {
                point.features.len() == point.weights.len() && point.features.iter().all(|&j| j < d)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::FeatureCount;

    #[test]
    fn ties_go_to_the_first_column() {
        let selection = Selection::by_score("m", vec![1.0, 3.0, 1.0, 3.0], 2);
        assert_eq!(selection.order, [1, 3, 0, 2]);
        assert_eq!(selection.selected(), [1, 3]);
    }

    #[test]
    fn wanted_numbers() {
        assert_eq!(FeatureCount::Fraction(0.5).resolve("m", 5).unwrap(), Some(3));
        assert_eq!(FeatureCount::Fraction(0.01).resolve("m", 5).unwrap(), Some(1));
        assert_eq!(FeatureCount::Count(5).resolve("m", 5).unwrap(), Some(5));
        assert_eq!(FeatureCount::Auto.resolve("m", 5).unwrap(), None);
        let message = FeatureCount::Count(6).resolve("m", 5).unwrap_err().to_string();
        assert_eq!(
            message,
            "m: parameter 'number of features' must be from 1 to the number of columns, 5, got 6"
        );
        assert!(FeatureCount::Fraction(1.5).resolve("m", 5).is_err());
        assert!(FeatureCount::Count(0).resolve("m", 5).is_err());
    }
}
