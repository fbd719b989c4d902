//! The rows of one fold, with all that is learned from rows learned from the training rows alone.

use crate::data::{Dataset, Fold, ImputeStrategy, Imputer, Rows, Standardizer};
use crate::error::Result;
use crate::select::{Selector, SelectorMethod};

/// Rows to learn from and to evaluator by, filled in and scaled.
pub(super) struct FoldRows {
    /// Which of all splits it is.
    pub split: usize,
    /// Rows to learn from, on one scale.
    pub train: Dataset,
    /// Rows to evaluator by, on the same scale.
    pub test: Rows,
    /// Rows to learn from as they are, where a scale was put on `train`.
    unscaled: Option<Dataset>,
}

impl FoldRows {
    /// Takes the rows of a fold.
    pub fn new(data: &Dataset, fold: &Fold, split: usize, scale: bool, fill: ImputeStrategy) -> Result<Self> {
        let mut train = data.take_rows(&fold.train);
        let mut test = data.x().take_rows(&fold.test);
        if data.has_missing() {
            let imputer = Imputer::fit(train.x(), fill);
            train = train.with_x(imputer.apply(train.x())?)?;
            test = imputer.apply(&test)?;
        }
        if !scale {
            return Ok(Self { split, train, test, unscaled: None });
        }
        let scaler = Standardizer::fit(train.x());
        Ok(Self {
            split,
            test: scaler.apply(&test)?,
            train: train.with_x(scaler.apply(train.x())?)?,
            unscaled: Some(train),
        })
    }

    /// The rows that a selector is given: some would lose what they look at on another scale.
    pub fn for_selector(&self, selector: &SelectorMethod) -> &Dataset {
        match &self.unscaled {
            Some(unscaled) if !selector.wants_scaling() => unscaled,
            _ => &self.train,
        }
    }
}
