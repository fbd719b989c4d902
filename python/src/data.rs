//! Data sets and files.

use crate::convert::to_indices;
use crate::error::to_python;
use crate::run::{Settings, run};
use kernsift::data::read::ReadOptions;
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::{BUILT_IN, BuiltIn, Column, Rows, Table, Target, Values};
use numpy::{IntoPyArray, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::path::PathBuf;

/// The built-in data sets.
#[pyfunction]
pub fn list_datasets(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    BUILT_IN.iter().map(|set| describe(py, set)).collect()
}

/// A built-in data set with its data.
#[pyfunction]
pub fn load_dataset<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let set = BuiltIn::by_name(name).map_err(to_python)?;
    let data = set.data().map_err(to_python)?;
    let dict = describe(py, set)?;
    dict.set_item("feature_names", data.names())?;
    set_numbers(&dict, data.x(), data.target())?;
    Ok(dict)
}

/// Synthetic data with known relevant features.
#[pyfunction]
pub fn make_synthetic<'py>(
    py: Python<'py>,
    pattern: &str,
    n_samples: usize,
    n_features: usize,
    noise: f64,
    continuous: bool,
    seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let pattern = Pattern::by_name(pattern).map_err(to_python)?;
    let recipe = Synthetic { pattern, rows: n_samples, columns: n_features, noise, continuous, seed };
    let planted = recipe.make().map_err(to_python)?;
    let dict = PyDict::new(py);
    set_numbers(&dict, planted.data.x(), planted.data.target())?;
    dict.set_item("relevant", to_indices(&planted.relevant).into_pyarray(py))?;
    Ok(dict)
}

/// Reads a file as the command line does: a dict of columns, and notes.
#[pyfunction]
pub fn read_table(
    py: Python<'_>,
    path: PathBuf,
    settings: Settings,
) -> PyResult<(Bound<'_, PyDict>, Vec<String>)> {
    let options = ReadOptions::default();
    let (table, warnings) =
        run(py, settings, move |ctx| kernsift::data::read::read_table(&path, &options, ctx))?;
    let dict = PyDict::new(py);
    match table {
        Table::Columns(columns) => columns.into_iter().try_for_each(|column| set_column(&dict, column))?,
        Table::Sparse { names, x, target } => {
            let x = Rows::from(x);
            for (j, name) in names.into_iter().enumerate() {
                set_column(&dict, Column::numeric(name, x.column(j)))?;
            }
            target.into_iter().try_for_each(|column| set_column(&dict, column))?;
        }
    }
    Ok((dict, warnings))
}

fn describe<'py>(py: Python<'py>, set: &BuiltIn) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", set.name)?;
    dict.set_item("about", set.about)?;
    dict.set_item("n_samples", set.rows)?;
    dict.set_item("n_features", set.columns)?;
    dict.set_item("target_type", set.target)?;
    dict.set_item("source", set.source)?;
    dict.set_item("license", set.license)?;
    Ok(dict)
}

fn set_numbers(dict: &Bound<'_, PyDict>, x: &Rows, target: &Target) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("data", x.to_dense().into_pyarray(py))?;
    match target {
        Target::None | Target::Outputs(_) => {}
        Target::Continuous(values) => dict.set_item("target", values.clone().into_pyarray(py))?,
        Target::Classes(classes) => {
            dict.set_item("target", to_indices(&classes.codes).into_pyarray(py))?;
            dict.set_item("target_names", &classes.names)?;
        }
    }
    Ok(())
}

/// Numbers become an array, text a list with None for missing values.
pub fn set_column(dict: &Bound<'_, PyDict>, column: Column) -> PyResult<()> {
    match &column.values {
        Values::Numeric(values) => dict.set_item(&column.name, values.to_pyarray(dict.py())),
        Values::Text { .. } | Values::Date(_) | Values::Unsupported { .. } => {
            let cells: Vec<Option<Cow<'_, str>>> = (0..column.len()).map(|row| column.cell(row)).collect();
            dict.set_item(&column.name, cells)
        }
    }
}
