//! How sure each feature of a selection is: what tables and reports show beside scores.

use super::feature_test::{FeatureTest, FeatureTests};
use super::near_copies::{NearCopy, copies_of_selected};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Target};
use crate::error::Result;
use crate::interactions::Correction;
use crate::select::Selection;

/// How sure each feature of a selection is.
pub struct SelectionSignificance {
    /// The p-value of each feature alone; empty if there are none.
    pub p_values: Vec<f64>,
    /// The same, adjusted for the number of features.
    pub q_values: Vec<f64>,
    /// The near copies of each selected feature (the first 100).
    pub near_copies: Vec<Vec<NearCopy>>,
    /// For repeated fits, what the scores of the selection are, and the result in sentences.
    pub resampling: Option<(&'static str, String)>,
}

impl SelectionSignificance {
    /// From `tests` of all features or, without them, from those of the automatic selector.
    pub fn new(
        data: &Dataset,
        selection: &Selection,
        tests: Option<FeatureTests>,
        ctx: &Context,
    ) -> Result<Self> {
        let near_copies = copies_of_selected(data, selection.selected(), ctx)?;
        let mut out = Self { p_values: vec![], q_values: vec![], near_copies, resampling: None };
        if let Some(tests) = tests {
            out.take(tests);
        } else if let Some(found) = &selection.automatic {
            out.p_values.clone_from(&found.p_values);
            out.q_values = Correction::BenjaminiHochberg.adjust(&found.p_values);
        }
        Ok(out)
    }

    /// Tests all features if there are no p-values. Without a target and with few rows there are none.
    pub fn complete(&mut self, data: &Dataset, ctx: &Context) -> Result<()> {
        if !self.p_values.is_empty() || matches!(data.target(), Target::None) {
            return Ok(());
        }
        // Its warnings are those of a test that nobody asked for.
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        match FeatureTest::default().run(data, &[], &quiet) {
            Ok(tests) => self.take(tests),
            Err(error) if error.is_interrupted() => return Err(error),
            Err(error) => ctx.note(format!("the report has no q-values: {error}")),
        }
        Ok(())
    }

    fn take(&mut self, mut tests: FeatureTests) {
        tests.features.sort_by_key(|tested| tested.feature);
        (self.p_values, self.q_values) =
            tests.features.iter().map(|tested| (tested.p_value, tested.q_value)).unzip();
    }
}
