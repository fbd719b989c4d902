//! A basis, then a selector among its directions, then nearest neighbors.
//!
//! 1. The basis maps the training samples into kernel space: $F = (\phi_i(x_j))$.
//! 2. The selector ranks the columns of $F$ and selects some, with weights.
//! 3. New samples are mapped, restricted to the selected directions, weighted, and classified by nearest neighbors.
//!
//! The kernel's gamma can be given, set by the median heuristic, set to the value at which KOBL finds a given
//! dimension, or chosen by cross-validation. Departures from the paper: it does not specify gamma, nor the details
//! of the nearest-neighbor classifier.

use crate::basis::{BasisMethod, Kobl};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::select::{FeatureCount, Ffs, Selection, Selector, SelectorMethod, WeakLearner};

crate::parameters! {
    /// Selection in kernel space.
    pub struct KernelSpaceSelector as "kernel-space selection" {
        /// Power of the selector's scores by which distances are weighted; 0 weights all directions equally.
        pub weight_power: f64 = 1.0, between(0, MAX_WEIGHT_POWER);
        /// Number of neighbors that vote on the class.
        pub n_neighbors: usize = 1, at_least(1);
        /// Choose gamma of the rbf kernel so that KOBL finds this many components; none uses the kernel as given.
        pub gamma_for_n_components: Option<usize> = None, at_least(1);
        /// What to tune by cross-validation on the training samples.
        pub tune: Tune = Tune::Nothing;
        /// The basis of kernel space.
        pub basis: BasisMethod = BasisMethod::Kobl(Kobl::default());
        /// The selector of directions; none keeps all, unweighted.
        pub selector: Option<SelectorMethod> = Some(kffs());
    }
}

crate::choices! {
    /// What to tune by cross-validation on the training samples.
    pub enum Tune {
        /// Nothing.
        Nothing = "nothing",
        /// Gamma of the kernel.
        Gamma = "gamma",
        /// Gamma, weak classifier, weighting, number of directions and number of neighbors.
        Everything = "everything",
    }
}

pub(super) const NAME: &str = "kernel-space selection";

/// With higher powers one direction masks the others.
const MAX_WEIGHT_POWER: f64 = 16.0;

impl KernelSpaceSelector {
    /// The name of the combination: `takes`, `fskgs`, ..., or the names of basis and selector.
    pub fn name(&self) -> String {
        let basis = self.basis.name();
        match (&self.basis, &self.selector) {
            (BasisMethod::Kobl(_), Some(SelectorMethod::Ffs(_))) => "takes".into(),
            (BasisMethod::Kgs(_), Some(SelectorMethod::Relief(_))) => "fskgs".into(),
            (BasisMethod::Kpca(_), Some(SelectorMethod::Relief(_))) => "fskpca".into(),
            (_, Some(SelectorMethod::Ffs(_))) => format!("{basis}-kffs"),
            (_, Some(selector)) => format!("{basis}-{}", selector.name()),
            (_, None) => basis.into(),
        }
    }

    /// Ranks the directions.
    pub(super) fn select(
        &self,
        features: &Dataset,
        wanted: FeatureCount,
        ctx: &Context,
    ) -> Result<Selection> {
        match &self.selector {
            Some(selector) => {
                let mut selection = selector.select(features, wanted, ctx).map_err(of_directions)?;
                // The space needs a direction.
                selection.n_selected = selection.n_selected.max(1);
                Ok(selection)
            }
            None => {
                let d = features.d();
                Ok(Selection::by_score("all", vec![1.0; d], wanted.resolve(NAME, d)?.unwrap_or(d)))
            }
        }
    }
}

/// Forward selection as published for kernel space.
pub(super) fn kffs() -> SelectorMethod {
    SelectorMethod::Ffs(Ffs { weak_learner: WeakLearner::Klms, ..Ffs::default() })
}

/// Rewords a selector's error: its features are directions here.
pub(super) fn of_directions(error: Error) -> Error {
    match error {
        Error::Param { name, expected, got, .. } if name == "number of features" => {
            Error::Param { method: NAME, name, expected: expected.replace("columns", "directions"), got }
        }
        other => other,
    }
}

/// Weights of the best `count` directions; all equal if none is above 0.
pub(super) fn weights(selection: &Selection, count: usize, power: f64) -> Vec<f64> {
    let scores: Vec<f64> = selection.order[..count].iter().map(|&i| selection.scores[i]).collect();
    if power == 0.0 || scores.iter().all(|&score| score <= 0.0) {
        return vec![1.0; count];
    }
    scores.iter().map(|&score| if power == 1.0 { score } else { score.powf(power) }).collect()
}
