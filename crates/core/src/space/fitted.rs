//! The fitted model of selection in kernel space.

use crate::basis::FeatureMap;
use crate::classify::KnnClassifier;
use crate::context::Context;
use crate::data::{Classes, Rows};
use crate::error::{Error, Result};
use crate::select::Selection;
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

/// The selected directions of kernel space, each scaled by the square root of its weight, so that the Euclidean
/// distance between transformed samples is the weighted one,
///
/// $$ d(x, z) = \sum_i w_i (\phi_i(x) - \phi_i(z))^2 $$
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelSpace {
    method: String,
    map: FeatureMap,
    selection: Selection,
    /// $\sqrt{w}$ of the selected directions, in the order of the selection.
    stretch: Vec<f64>,
    nearest: KnnClassifier,
}

impl KernelSpace {
    /// `features` are the training samples in all coordinates of `map`.
    pub(super) fn new(
        method: String,
        map: FeatureMap,
        selection: Selection,
        weights: &[f64],
        features: &Array2<f64>,
        classes: &Classes,
        n_neighbors: usize,
    ) -> Result<Self> {
        let stretch: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        if !stretch.iter().all(|s| s.is_finite()) {
            return Err(Error::Breakdown {
                step: "weights",
                why: "they are not finite; scale the features, or lower weight_power, or lower weight_power"
                    .into(),
            });
        }
        let mut kept = features.select(ndarray::Axis(1), selection.selected());
        kept *= &ArrayView1::from(&stretch);
        let nearest = KnnClassifier::new(kept, classes.clone(), n_neighbors)?;
        Ok(Self { method, map, selection, stretch, nearest })
    }

    /// The method's name.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The basis.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// The selection among the directions of the basis.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The weight of every direction; 0 for directions not selected.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.map.n_components()];
        for (&i, stretch) in self.selection.selected().iter().zip(&self.stretch) {
            weights[i] = stretch * stretch;
        }
        weights
    }

    /// The classes of the training samples.
    pub fn classes(&self) -> &Classes {
        self.nearest.classes()
    }

    /// Number of neighbors that vote.
    pub fn n_neighbors(&self) -> usize {
        self.nearest.n_neighbors()
    }

    /// Names of the features that [`KernelSpace::transform`] returns: the basis and the index of the direction.
    pub fn output_names(&self) -> Vec<String> {
        let basis = &self.map.summary().method;
        self.selection.selected().iter().map(|i| format!("{basis}{}", i + 1)).collect()
    }

    /// The selected coordinates of samples, scaled by the root of their weights, best first.
    pub fn transform(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        let mut out = self.map.transform_kept(x, self.selection.selected(), ctx)?;
        out *= &ArrayView1::from(&self.stretch);
        Ok(out)
    }

    /// Predicts the class of each sample from its nearest training samples, as an index into the class names.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        self.nearest.predict(self.transform(x, ctx)?.view(), ctx)
    }

    /// Validates a model read from a file.
    pub(crate) fn check(&self) -> Result<()> {
        self.map.check()?;
        let sound = self.selection.is_sound(self.map.n_components())
            && self.selection.n_selected == self.stretch.len()
            && self.nearest.n_inputs() == self.stretch.len()
            && self.stretch.iter().all(|s| s.is_finite())
            && self.nearest.is_sound();
        if sound { Ok(()) } else { Err(Error::Model { why: "its parts are inconsistent".into() }) }
    }
}
