//! Weak classifiers: predictions from a single feature.
//!
//! Each turns the values of a feature into one vote per sample. Only the votes are kept: forward selection needs
//! nothing else. Stumps of a category are in `levels.rs`.

mod klms;
mod labels;
mod levels;
mod stump;

pub(super) use klms::Klms;
pub(super) use labels::Labels;

use super::columns::{distinct, places};
use crate::context::Context;
use crate::data::FeatureType;
use crate::error::Result;

crate::choices! {
    /// A weak classifier of one feature.
    pub enum WeakLearner {
        /// A decision stump: O(n log n).
        Stump = "stump",
        /// A decision stump that weights classes equally.
        BalancedStump = "balanced-stump",
        /// Kernel least mean squares: O(n²), or O(n) with quantized centers.
        Klms = "klms",
    }
}

/// A weak classifier with its parameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum Weak {
    Stump,
    BalancedStump,
    Klms(Klms),
}

impl Weak {
    /// One vote per sample, a class of `labels`. `order` is the order in which samples are learned from.
    pub(super) fn votes(
        &self,
        values: &[f64],
        kind: FeatureType,
        labels: &Labels,
        order: &[usize],
        ctx: &Context,
    ) -> Result<Vec<u8>> {
        ctx.check()?;
        if kind.is_category() {
            let codes = places(values, &distinct(values));
            return Ok(match self {
                Self::Klms(klms) => klms.category_votes(&codes, labels, order),
                _ => levels::votes(&codes, labels, &self.class_weights(labels)),
            });
        }
        if values.iter().any(|v| v.is_nan()) {
            return self.votes_with_missing(values, labels, order, ctx);
        }
        match self {
            Self::Stump | Self::BalancedStump => {
                Ok(stump::votes(values, labels, &self.class_weights(labels)))
            }
            Self::Klms(klms) => klms.votes(values, labels, order, ctx),
        }
    }

    /// Known values vote as if there were no others; missing values are a level of a category.
    fn votes_with_missing(
        &self,
        values: &[f64],
        labels: &Labels,
        order: &[usize],
        ctx: &Context,
    ) -> Result<Vec<u8>> {
        let missing: Vec<usize> = values.iter().map(|v| usize::from(v.is_nan())).collect();
        let mut votes = levels::votes(&missing, labels, &self.class_weights(labels));
        let rows: Vec<usize> = (0..values.len()).filter(|&i| missing[i] == 0).collect();
        let mut place = vec![0; values.len()];
        rows.iter().enumerate().for_each(|(at, &i)| place[i] = at);
        let known: Vec<f64> = rows.iter().map(|&i| values[i]).collect();
        let order: Vec<usize> = order.iter().filter(|&&i| missing[i] == 0).map(|&i| place[i]).collect();
        let known_labels = labels.take(&rows);
        // A stump always predicts several classes.
        let of_known = if known_labels.counts.iter().filter(|&&count| count > 0).count() < 2 {
            vec![known_labels.majority(); rows.len()]
        } else {
            self.votes(&known, FeatureType::Number, &known_labels, &order, ctx)?
        };
        rows.iter().zip(of_known).for_each(|(&i, vote)| votes[i] = vote);
        Ok(votes)
    }

    /// The weight of an error on a sample of each class.
    pub(super) fn class_weights(&self, labels: &Labels) -> Vec<u64> {
        labels.weights(matches!(self, Self::BalancedStump))
    }
}
