//! The rows of one fold, with the encoding fitted to its training rows.

use super::evaluator::Evaluator;
use super::scores::Scores;
use crate::context::Context;
use crate::data::{Dataset, Encoder, Encoding, Fold, Rows, Weights};
use crate::error::Result;
use crate::select::{Selector, SelectorMethod};
use std::sync::OnceLock;

/// Training and test rows of a fold, encoded.
pub(super) struct FoldRows {
    /// Index among all splits.
    pub split: usize,
    /// Training rows.
    pub train: Dataset,
    /// Test rows, encoded like the training rows.
    pub test: Rows,
    /// Training rows before encoding.
    typed: Dataset,
    /// Whether some rows have categories or missing values.
    is_typed: bool,
    encoding: Encoding,
    /// Training rows that are encoded but not scaled, and scaled but not encoded, for selectors that need them.
    unscaled: OnceLock<Dataset>,
    scaled: OnceLock<Dataset>,
}

impl Evaluator {
    /// Encodes the rows of a fold as its training rows demand, fits to these, and scores the predictions of its test rows.
    pub fn evaluate_fold(
        &self,
        data: &Dataset,
        fold: &Fold,
        encoding: Encoding,
        ctx: &Context,
    ) -> Result<Scores> {
        let rows = FoldRows::new(data, fold, 0, encoding)?;
        let (truth, weights) = (data.target_of(&fold.test), data.weights().of_rows(&fold.test));
        Ok(self.evaluate(&rows.train, &rows.test, &truth, Weights::new(weights.as_deref()), ctx)?.scores)
    }
}

impl FoldRows {
    /// Encodes the rows of a fold.
    pub fn new(data: &Dataset, fold: &Fold, split: usize, encoding: Encoding) -> Result<Self> {
        let typed = data.take_rows(&fold.train).for_fit().into_owned();
        let is_typed = data.has_missing() || data.is_typed();
        // Fill values are not needed for complete numbers.
        let impute = encoding.impute.filter(|_| is_typed);
        let encoding = Encoding { impute, ..encoding };
        let encoder = Encoder::fit(&typed, encoding)?;
        let test = encoder.apply(&data.x().take_rows(&fold.test))?;
        let train = encoder.encode(&typed)?;
        let (unscaled, scaled) = (OnceLock::new(), OnceLock::new());
        Ok(Self { split, train, test, typed, is_typed, encoding, unscaled, scaled })
    }

    /// The training rows for a selector: typed if it supports that, unscaled if scaling would change what it measures.
    pub fn for_selector(&self, selector: &SelectorMethod) -> Result<&Dataset> {
        let is_scaled = self.encoding.standardize && selector.wants_scaling();
        let is_encoded = !self.is_typed || !selector.supports_types();
        let cache = match (is_encoded, is_scaled) {
            (true, scaled) if scaled == self.encoding.standardize => return Ok(&self.train),
            (true, _) => &self.unscaled,
            (false, true) => &self.scaled,
            (false, false) => return Ok(&self.typed),
        };
        if cache.get().is_none() {
            // Another thread may have set the same value.
            let _ = cache.set(selector.prepared(&self.typed, self.encoding)?.into_owned());
        }
        Ok(cache.get().expect("set above"))
    }
}
