//! Selectors.

use crate::convert::{RowsArgument, TargetArgument, from_json, scaled, to_gappy_dataset, to_indices};
use crate::run::{Settings, run};
use kernsift::Selector;
use kernsift::select::{SelectorMethod, Wanted};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Ranks the columns and keeps some; `wanted` is JSON as well.
#[pyfunction]
pub fn select<'py>(
    py: Python<'py>,
    method: &str,
    x: RowsArgument<'py>,
    y: Option<TargetArgument<'py>>,
    wanted: &str,
    standardize: bool,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let method: SelectorMethod = from_json("method", method)?;
    let wanted: Wanted = from_json("n_features_to_select", wanted)?;
    let data = to_gappy_dataset(&x, y)?;
    drop(x);
    let selection = run(py, settings, move |ctx| {
        let (data, _) = scaled(data, standardize && method.wants_scaling())?;
        method.select(&data, wanted, ctx)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("selected", to_indices(selection.selected()).into_pyarray(py))?;
    dict.set_item("order", to_indices(&selection.order).into_pyarray(py))?;
    dict.set_item("scores", selection.scores.into_pyarray(py))?;
    dict.set_item("curve", selection.curve.into_pyarray(py))?;
    dict.set_item("stop", selection.outcome.stop.explain())?;
    dict.set_item("iterations", selection.outcome.iterations)?;
    dict.set_item("converged", selection.outcome.stop.converged())?;
    Ok(dict)
}
