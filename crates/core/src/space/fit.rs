//! Fitting: the basis, the selector among its directions, then nearest neighbors.

use super::fitted::KernelSpace;
use super::selector::{KernelSpaceSelector, NAME, Tune, of_directions, weights};
use super::tune::tuned;
use crate::basis::{Basis, BasisMethod, set_gamma_for_n_components};
use crate::classify::check_neighbors;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::select::{FeatureCount, Selector, SelectorMethod};

impl KernelSpaceSelector {
    /// Learns basis, selection and classes.
    pub fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<KernelSpace> {
        Ok(self.fit_with_settings(data, wanted, ctx)?.0)
    }

    /// Like [`Self::fit`], but also returns the settings after tuning.
    pub fn fit_with_settings(
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
            format!("{m} coordinates of {} rows, and the selected ones", data.n()),
            8.0 * m as f64 * (copies * data.n() as f64 + m as f64),
            "use fewer components",
        )?;
        let features = Dataset::with_target(fitted.features, data.target().clone())?;
        let selection = chosen.select(&features, wanted, ctx)?;
        if chosen.weight_power > 0.0 && selection.selected().iter().all(|&i| selection.scores[i] <= 0.0) {
            ctx.warn("no direction has a weight above 0, so all selected directions are weighted equally; another gamma may separate the classes");
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
        data.need_unweighted(NAME, Vec::new)?;
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
