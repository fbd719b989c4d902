//! The rows of one fold, with imputation and scaling fitted on its training rows.

use crate::data::{Dataset, Fold, ImputeStrategy, Imputer, Rows, Standardizer};
use crate::error::Result;
use crate::select::{Selector, SelectorMethod};

/// Training and test rows of a fold, imputed and scaled.
pub(super) struct FoldRows {
    /// Index among all splits.
    pub split: usize,
    /// Training rows, scaled.
    pub train: Dataset,
    /// Test rows, scaled like the training rows.
    pub test: Rows,
    /// Training rows before scaling; `None` if `train` is not scaled.
    unscaled: Option<Dataset>,
}

impl FoldRows {
    /// Imputes and scales the rows of a fold.
    pub fn new(
        data: &Dataset,
        fold: &Fold,
        split: usize,
        scale: bool,
        impute: ImputeStrategy,
    ) -> Result<Self> {
        let mut train = data.take_rows(&fold.train);
        let mut test = data.x().take_rows(&fold.test);
        if data.has_missing() {
            let imputer = Imputer::fit(train.x(), impute);
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

    /// The training rows for a selector, unscaled if scaling would change what it measures.
    pub fn for_selector(&self, selector: &SelectorMethod) -> &Dataset {
        match &self.unscaled {
            Some(unscaled) if !selector.wants_scaling() => unscaled,
            _ => &self.train,
        }
    }
}
