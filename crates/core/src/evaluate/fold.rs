//! The rows of one fold, with the encoding fitted to its training rows.

use crate::data::{Dataset, Encoder, Encoding, Fold, Rows, standardized_numbers};
use crate::error::Result;
use crate::select::{Selector, SelectorMethod};

/// Training and test rows of a fold, encoded.
pub(super) struct FoldRows {
    /// Index among all splits.
    pub split: usize,
    /// Training rows.
    pub train: Dataset,
    /// Test rows, encoded like the training rows.
    pub test: Rows,
    /// Training rows without scaling; `None` if `train` is not scaled.
    unscaled: Option<Dataset>,
    /// Training rows before encoding, as they are and with standardized numbers; `None` if they are complete numbers.
    typed: Option<(Dataset, Dataset)>,
}

impl FoldRows {
    /// Encodes the rows of a fold.
    pub fn new(data: &Dataset, fold: &Fold, split: usize, encoding: Encoding) -> Result<Self> {
        let train = data.take_rows(&fold.train);
        let test = data.x().take_rows(&fold.test);
        let is_typed = data.has_missing() || data.has_categories();
        // Fill values are not needed for complete numbers.
        let encoding = Encoding { impute: encoding.impute.filter(|_| is_typed), ..encoding };
        let encoder = Encoder::fit(&train, encoding)?;
        let test = encoder.apply(&test)?;
        let encoded = encoder.encode(&train)?;
        let unscaled = match encoding.standardize {
            false => None,
            true if !is_typed => Some(train.clone()),
            true => Some(Encoder::fit(&train, Encoding { standardize: false, ..encoding })?.encode(&train)?),
        };
        let typed = match (is_typed, encoding.standardize) {
            (false, _) => None,
            (true, false) => Some((train.clone(), train)),
            (true, true) => Some((train.clone(), standardized_numbers(&train)?)),
        };
        Ok(Self { split, train: encoded, test, unscaled, typed })
    }

    /// The training rows for a selector: typed if it supports that, unscaled if scaling would change what it measures.
    pub fn for_selector(&self, selector: &SelectorMethod) -> &Dataset {
        match (&self.typed, &self.unscaled) {
            (Some((_, scaled)), _) if selector.supports_types() && selector.wants_scaling() => scaled,
            (Some((typed, _)), _) if selector.supports_types() => typed,
            (_, Some(unscaled)) if !selector.wants_scaling() => unscaled,
            _ => &self.train,
        }
    }
}
