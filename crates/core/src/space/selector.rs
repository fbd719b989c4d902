//! A basis, then a selector among its directions, then nearest neighbours.
//!
//! 1. The basis maps the training rows into kernel space: $F = (\phi_i(x_j))$.
//! 2. The selector ranks the columns of $F$ and keeps some, with weights.
//! 3. New rows are mapped, restricted, weighted, and get the class of their nearest training row.
//!
//! The kernel's width may be given, or by the median rule, or be the one at which KOBL finds a wanted
//! dimension, or be chosen inside the training rows. Departures from the paper: it says nothing of the
//! width, and only that neighbours decide.

use super::fitted::KernelSpace;
use super::tune::tuned;
use crate::basis::{Basis, BasisMethod, Kobl, width_for_dim};
use crate::classify::check_neighbors;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::select::{Selection, Selector, SelectorMethod, Wanted};
use serde::{Deserialize, Serialize};

/// Selection in kernel space; see the module's text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "snake_case")]
pub struct KernelSpaceSelector {
    /// The basis. Default: KOBL.
    pub basis: BasisMethod,
    /// The selector; none keeps all directions, unweighted. Default: forward selection over KLMS.
    pub selector: Option<SelectorMethod>,
    /// Distances are weighted by the selector's scores to this power; 0 weighs all alike. Default: 1.
    pub weight_power: f64,
    /// Neighbours that vote. Default: 1.
    pub n_neighbors: usize,
    /// Set the RBF width so that KOBL finds this many dimensions. Default: keep the kernel as it is.
    pub width_for_dim: Option<usize>,
    /// What is chosen inside the training rows. Default: nothing.
    pub tune: Tune,
}

/// What is chosen by cross-validation inside the training rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tune {
    /// Nothing.
    #[default]
    Nothing,
    /// The kernel's width.
    Width,
    /// Width, weak classifier, weighting, number kept and number of neighbours.
    Everything,
}

impl Default for KernelSpaceSelector {
    fn default() -> Self {
        Self {
            basis: BasisMethod::Kobl(Kobl::default()),
            selector: Some(super::catalog::kffs()),
            weight_power: 1.0,
            n_neighbors: 1,
            width_for_dim: None,
            tune: Tune::Nothing,
        }
    }
}

pub(super) const NAME: &str = "kernel-space selection";

impl KernelSpaceSelector {
    /// The pair's name: `takes`, `fskgs`, ..., or its two halves.
    pub fn name(&self) -> String {
        let basis = self.basis.name();
        match (&self.basis, &self.selector) {
            (BasisMethod::Kobl(_), Some(SelectorMethod::Ffs(_))) => "takes".into(),
            (BasisMethod::Kgs(_), Some(SelectorMethod::Relief(_))) => "fskgs".into(),
            (BasisMethod::Kpca(_), Some(SelectorMethod::Relief(_))) => "fskpca".into(),
            (_, Some(SelectorMethod::Ffs(_))) => format!("{basis}-kffs"),
            (_, Some(SelectorMethod::Relief(_))) => format!("{basis}-relief"),
            (_, Some(SelectorMethod::Fisher(_))) => format!("{basis}-fisher"),
            (_, None) => basis.into(),
        }
    }

    /// Learns basis, selection and classes.
    pub fn fit(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<KernelSpace> {
        let classes = data.classes(NAME)?;
        if classes.counts().iter().all(|&count| count < 2) {
            return Err(Error::AllAlone { method: NAME, rows: data.n() });
        }
        check_neighbors(NAME, self.n_neighbors, data.n())?;
        if !(self.weight_power >= 0.0 && self.weight_power.is_finite()) {
            return Err(Error::param(NAME, "weight_power", "0 or more", self.weight_power));
        }
        if let Some(selector) = &self.selector {
            selector.check(classes)?;
        }
        if let (true, Some(wanted)) = (self.tune != Tune::Nothing, self.width_for_dim) {
            return Err(Error::param(NAME, "width_for_dim", "left out where the width is chosen", wanted));
        }
        if self.tune != Tune::Nothing {
            let (chosen, wanted) = tuned(self, data, wanted, ctx)?;
            return chosen.fit_as_set(data, wanted, ctx);
        }
        self.fit_as_set(data, wanted, ctx)
    }

    /// Fits with settings as they are.
    fn fit_as_set(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<KernelSpace> {
        let classes = data.classes(NAME)?;
        let basis = self.basis_for(data, ctx)?;
        let fitted = basis.fit(data, ctx)?;
        let features = Dataset::with_target(fitted.features, data.target().clone())?;
        let selection = self.select(&features, wanted, ctx)?;
        let weights = self.weights(&selection, ctx);
        let features = features.x().to_dense();
        KernelSpace::new(self.name(), fitted.map, selection, &weights, &features, classes, self.n_neighbors)
    }

    /// Ranks the directions.
    pub(super) fn select(&self, features: &Dataset, wanted: Wanted, ctx: &Context) -> Result<Selection> {
        match &self.selector {
            Some(selector) => selector.select(features, wanted, ctx),
            None => {
                let d = features.d();
                Ok(Selection::by_score("all", vec![1.0; d], wanted.resolve(NAME, d)?.unwrap_or(d)))
            }
        }
    }

    fn basis_for(&self, data: &Dataset, ctx: &Context) -> Result<BasisMethod> {
        let mut basis = self.basis.clone();
        let Some(wanted) = self.width_for_dim else { return Ok(basis) };
        let BasisMethod::Kobl(kobl) = &mut basis else {
            return Err(Error::param(NAME, "width_for_dim", "left out unless the basis is KOBL", wanted));
        };
        let width = width_for_dim(kobl, data.x(), wanted, ctx)?;
        if !width.is_exact(wanted) {
            ctx.warn(format!(
                "no width gives {wanted} dimensions; the nearest found gives {}",
                width.dimension
            ));
        }
        kobl.kernel = Kernel::Rbf { gamma: width.gamma }.into();
        Ok(basis)
    }

    /// Weights of the kept directions, best first.
    fn weights(&self, selection: &Selection, ctx: &Context) -> Vec<f64> {
        let ones = vec![1.0; selection.n_selected];
        if self.weight_power == 0.0 {
            return ones;
        }
        let weights: Vec<f64> =
            selection.selected().iter().map(|&i| selection.scores[i].powf(self.weight_power)).collect();
        if weights.iter().any(|&w| w > 0.0) {
            return weights;
        }
        ctx.warn("no direction has a weight above 0; all that are kept count alike");
        ones
    }
}
