//! Weak classifiers: predictions from a single feature.
//!
//! Each turns the values of a feature into one vote per sample. Only the votes are kept: forward selection needs
//! nothing else.

mod klms;
mod labels;
mod stump;

pub(super) use klms::Klms;
pub(super) use labels::Labels;

use crate::context::Context;
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
        labels: &Labels,
        order: &[usize],
        ctx: &Context,
    ) -> Result<Vec<u8>> {
        ctx.check()?;
        match self {
            Self::Stump | Self::BalancedStump => {
                Ok(stump::votes(values, labels, &self.class_weights(labels)))
            }
            Self::Klms(klms) => klms.votes(values, labels, order, ctx),
        }
    }

    /// The weight of an error on a sample of each class.
    pub(super) fn class_weights(&self, labels: &Labels) -> Vec<u64> {
        labels.weights(matches!(self, Self::BalancedStump))
    }
}
