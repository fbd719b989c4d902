//! A basis, then a selector among its directions, then nearest neighbors.
//!
//! 1. The basis maps the training samples into kernel space: $F = (\phi_i(x_j))$.
//! 2. The selector ranks the columns of $F$ and selects some, with weights.
//! 3. New samples are mapped, restricted to the selected directions, weighted, and classified by nearest neighbors.
//!
//! The kernel's gamma can be given, set by the median heuristic, set to the value at which KOBL finds a given
//! dimension, or chosen by cross-validation. Departures from the paper: it does not specify gamma, nor the details
//! of the nearest-neighbor classifier.

use super::fitted::KernelSpace;
use super::tune::tuned;
use crate::basis::{Basis, BasisMethod, Kobl, set_gamma_for_n_components};
use crate::classify::check_neighbors;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::select::{FeatureCount, Selection, Selector, SelectorMethod};

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
        pub selector: Option<SelectorMethod> = Some(super::catalog::kffs());
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

    /// Learns basis, selection and classes.
    pub fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<KernelSpace> {
        Ok(self.fit_and_tell(data, wanted, ctx)?.0)
    }

    /// Like [`Self::fit`], but also returns the settings chosen.
    pub fn fit_and_tell(
        &self,
        data: &Dataset,
        wanted: FeatureCount,
        ctx: &Context,
    ) -> Result<(KernelSpace, Self)> {
        self.check(data, wanted)?;
        let (mut chosen, wanted) = match self.tune {
            Tune::Nothing => (self.clone(), wanted),
            _ => tuned(self, data, wanted, ctx)?,
        };
        chosen.set_gamma(data, ctx)?;
        let fitted = chosen.basis.fit(data, ctx)?;
        let m = fitted.map.n_components();
        // The map and the coordinates; plus the selected coordinates, or the copies that Relief makes.
        let copies = if let Some(SelectorMethod::Relief(_)) = chosen.selector { 5.0 } else { 2.0 };
        ctx.need_memory(
            format!("{m} coordinates of {} rows, and those that are kept", data.n()),
            8.0 * m as f64 * (copies * data.n() as f64 + m as f64),
            "ask for fewer components",
        )?;
        let features = Dataset::with_target(fitted.features, data.target().clone())?;
        let selection = chosen.select(&features, wanted, ctx)?;
        if chosen.weight_power > 0.0 && selection.selected().iter().all(|&i| selection.scores[i] <= 0.0) {
            ctx.warn("no direction has a weight above 0; all that are kept count alike; another kernel width may tell the classes apart");
        }
        let weights = weights(&selection, selection.n_selected, chosen.weight_power);
        let features = features.into_x().into_dense();
        let classes = data.classes(NAME)?;
        let space = KernelSpace::new(
            self.name(),
            fitted.map,
            selection,
            &weights,
            &features,
            classes,
            chosen.n_neighbors,
        )?;
        Ok((space, chosen))
    }

    /// Returns an error for invalid settings, before any work is done.
    fn check(&self, data: &Dataset, wanted: FeatureCount) -> Result<()> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        // There are at most as many directions as samples.
        wanted
            .resolve(NAME, self.basis.n_components().unwrap_or(data.n()).min(data.n()))
            .map_err(of_directions)?;
        classes.need_pair(NAME)?;
        self.check_ranges()?;
        check_neighbors(NAME, self.n_neighbors, data.n())?;
        if let (true, Some(wanted)) = (self.tune != Tune::Nothing, self.gamma_for_n_components) {
            return Err(Error::param(
                NAME,
                "gamma_for_n_components",
                "left out where gamma is tuned",
                wanted,
            ));
        }
        self.selector.as_ref().map_or(Ok(()), |selector| selector.check_classes(classes))
    }

    /// Ranks the directions.
    pub(super) fn select(
        &self,
        features: &Dataset,
        wanted: FeatureCount,
        ctx: &Context,
    ) -> Result<Selection> {
        match &self.selector {
            Some(selector) => selector.select(features, wanted, ctx).map_err(of_directions),
            None => {
                let d = features.d();
                Ok(Selection::by_score("all", vec![1.0; d], wanted.resolve(NAME, d)?.unwrap_or(d)))
            }
        }
    }

    /// Sets gamma to the value that gives the requested number of components.
    fn set_gamma(&mut self, data: &Dataset, ctx: &Context) -> Result<()> {
        let Some(wanted) = self.gamma_for_n_components else { return Ok(()) };
        let BasisMethod::Kobl(kobl) = &mut self.basis else {
            return Err(Error::param(
                NAME,
                "gamma_for_n_components",
                "left out unless the basis is KOBL",
                wanted,
            ));
        };
        set_gamma_for_n_components(kobl, data.x(), wanted, ctx)
    }
}

/// Rewords a selector's error: its features are directions here.
fn of_directions(error: Error) -> Error {
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
