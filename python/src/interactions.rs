//! Screening of pairs of features.

use crate::convert::{RowsArgument, TargetArgument, from_json, to_dataset_with_missing, to_json};
use crate::report::FitArgument;
use crate::run::{Settings, run};
use kernsift::interactions::{InteractionScreen, Interactions};
use pyo3::prelude::*;

/// Scores all pairs of features and tests the best; `screen` and the result are JSON.
#[pyfunction]
pub fn interactions(
    py: Python<'_>,
    screen: &str,
    x: RowsArgument<'_>,
    y: TargetArgument<'_>,
    settings: Settings,
) -> PyResult<String> {
    let screen: InteractionScreen = from_json("interactions", screen)?;
    let data = to_dataset_with_missing(&x, Some(y))?;
    drop(x);
    to_json(&run(py, settings, move |ctx| screen.run(&data, ctx))?)
}

/// The report of a screen; `found` is its result as JSON.
#[pyfunction]
pub fn interactions_page(fit: FitArgument<'_>, found: &str, alpha: f64) -> PyResult<String> {
    let found: Interactions = from_json("interactions", found)?;
    let (info, data) = fit.read()?;
    Ok(kernsift_report::interactions_page(&info, &data, &found, alpha))
}
