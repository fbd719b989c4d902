//! What selection in kernel space ends as.

use crate::basis::FeatureMap;
use crate::classify::KnnClassifier;
use crate::context::Context;
use crate::data::{Classes, Rows};
use crate::error::{Error, Result};
use crate::select::Selection;
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

/// Directions of kernel space that were kept, each stretched by the root of its weight, so that the plain
/// distance between transformed rows is the weighted one,
///
/// $$ d(x, z) = \sum_i w_i (\phi_i(x) - \phi_i(z))^2 $$
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelSpace {
    method: String,
    map: FeatureMap,
    selection: Selection,
    /// $\sqrt{w}$ of the kept directions, in the order of the selection.
    stretch: Vec<f64>,
    nearest: KnnClassifier,
}

impl KernelSpace {
    /// `features` are the training rows in all coordinates of `map`.
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
                why: "they are too large for a number; scale the columns, or lower weight_power".into(),
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

    /// The selection among its directions.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The weight of every direction; 0 for those that were not kept.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.map.n_components()];
        for (&i, stretch) in self.selection.selected().iter().zip(&self.stretch) {
            weights[i] = stretch * stretch;
        }
        weights
    }

    /// The classes of the training rows.
    pub fn classes(&self) -> &Classes {
        self.nearest.classes()
    }

    /// Neighbours that vote.
    pub fn n_neighbors(&self) -> usize {
        self.nearest.n_neighbors()
    }

    /// The names of the columns that [`KernelSpace::transform`] gives: the basis and the direction's number.
    pub fn output_names(&self) -> Vec<String> {
        let basis = &self.map.summary().method;
        self.selection.selected().iter().map(|i| format!("{basis}{}", i + 1)).collect()
    }

    /// The kept coordinates of rows, stretched, best first.
    pub fn transform(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        let mut out = self.map.transform_kept(x, self.selection.selected(), ctx)?;
        out *= &ArrayView1::from(&self.stretch);
        Ok(out)
    }

    /// The class of each row by its nearest training rows, a place in the classes' names.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        self.nearest.predict(self.transform(x, ctx)?.view(), ctx)
    }

    /// Checks what a file may have made inconsistent.
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
