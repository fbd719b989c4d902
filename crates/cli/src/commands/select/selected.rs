//! The result of a fit.

use crate::commands::report::Cost;
use kernsift::Model;
use kernsift::significance::SelectionSignificance;
use serde_json::Value;

/// A fitted selection.
pub struct Selected {
    /// The selection with the preparation of its data.
    pub model: Model,
    /// Number of selected features or directions.
    pub n_selected: usize,
    /// Largest number to cross-validate.
    pub max_count: usize,
    /// Whether features were scaled for the fit.
    pub is_scaled: bool,
    /// The parameters that were used.
    pub settings: Value,
    /// The time and memory of the fit.
    pub cost: Cost,
    /// Fields of the JSON record.
    pub fields: Value,
    /// How sure each feature is; none for directions of kernel space.
    pub significance: Option<SelectionSignificance>,
    /// The printed text.
    pub text: String,
}
