//! One fold of the hyperparameter search.

use super::selector::{KernelSpaceSelector, NAME, weights};
use crate::basis::{Basis, BasisMethod};
use crate::classify::most_voted;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::neighbors::{Neighbor, nearest};
use crate::select::{FeatureCount, Selection, Selector, SelectorMethod, first_minimum};
use ndarray::{Array2, ArrayView1, Axis};

/// A basis and a selection fitted on the training samples of a fold.
pub(super) struct Fold<'a> {
    train: Array2<f64>,
    test: Array2<f64>,
    /// How many directions are selected.
    pub count: usize,
    /// How many directions the selector chooses automatically.
    pub auto_count: usize,
    /// Whether there are as many directions as requested.
    pub has_enough: bool,
    selection: Selection,
    train_codes: Vec<usize>,
    test_codes: Vec<usize>,
    ctx: &'a Context<'a>,
}

impl<'a> Fold<'a> {
    /// Fits on `train`; `test` are samples of `data`.
    pub fn new(
        space: &KernelSpaceSelector,
        train: &Dataset,
        (data, test): (&Dataset, &[usize]),
        wanted: FeatureCount,
        ctx: &'a Context,
    ) -> Result<Self> {
        let space = reduced(space, train)?;
        let fitted = space.basis.fit(train, ctx)?;
        let features = Dataset::with_target(fitted.features, train.target().clone())?;
        let (wanted, has_enough) = match wanted {
            FeatureCount::Count(k) => (FeatureCount::Count(k.min(features.d())), k <= features.d()),
            other => (other, true),
        };
        let selection = space.select(&features, wanted, ctx)?;
        let auto_count = match &space.selector {
            None => features.d(),
            Some(SelectorMethod::Ffs(_)) => first_minimum(&selection.curve),
            Some(SelectorMethod::Relief(_)) => selection.scores.iter().filter(|&&s| s > 0.0).count().max(1),
            Some(selector) => selector.select(&features, FeatureCount::Auto, ctx)?.n_selected.max(1),
        };
        let codes = &data.classes(NAME)?.codes;
        Ok(Self {
            train: features.into_x().into_dense(),
            test: fitted.map.transform(&data.x().take_rows(test), ctx)?,
            count: selection.n_selected,
            auto_count,
            has_enough,
            selection,
            train_codes: train.classes(NAME)?.codes.clone(),
            test_codes: test.iter().map(|&row| codes[row]).collect(),
            ctx,
        })
    }

    /// For each number of neighbors, which test samples the best `count` directions predict correctly.
    pub fn correct(&self, count: usize, power: f64, neighbors: &[usize]) -> Result<Vec<Vec<bool>>> {
        let selected = &self.selection.order[..count];
        let weights = weights(&self.selection, count, power);
        let scale: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let scaled = |x: &Array2<f64>| x.select(Axis(1), selected) * ArrayView1::from(&scale);
        let most = neighbors.iter().copied().max().unwrap_or(1);
        let (train, test) = (scaled(&self.train), scaled(&self.test));
        let found = nearest(train.view(), test.view(), most, None, self.ctx)?;
        let n_classes = self.train_codes.iter().max().map_or(0, |&most| most + 1);
        let predict = |near: &[Neighbor], k: usize| {
            most_voted(near.iter().take(k).map(|n| self.train_codes[n.row]), n_classes)
        };
        let correct = |k: usize| {
            found.iter().zip(&self.test_codes).map(|(near, &code)| predict(near, k) == code).collect()
        };
        Ok(neighbors.iter().map(|&k| correct(k)).collect())
    }
}

/// Reduces settings that are valid for all samples but too large for a fold.
fn reduced(space: &KernelSpaceSelector, train: &Dataset) -> Result<KernelSpaceSelector> {
    let mut space = space.clone();
    let classes = train.classes(NAME)?;
    let most = match space.basis {
        BasisMethod::Discriminant(_) => classes.n_present() - 1,
        _ => train.n(),
    };
    let limit = space.basis.n_components_mut();
    *limit = limit.map(|m| m.min(most));
    if let Some(SelectorMethod::Relief(relief)) = &mut space.selector {
        // Each class has at least two samples, of which one may be missing in this fold.
        match classes.counts().into_iter().filter(|&count| count > 1).min() {
            Some(smallest) => relief.n_neighbors = relief.n_neighbors.min(smallest - 1),
            None => space.selector = None,
        }
    }
    Ok(space)
}
