//! JSON and indices, as the Python package exchanges them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// A method, kernel or setting from the JSON of the Python package.
pub fn from_json<T: DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|e| PyValueError::new_err(format!("{what}: {e}")))
}

/// The name of a value, as in result files.
pub fn name_of(value: &impl serde::Serialize) -> PyResult<String> {
    to_json(value).map(|json| json.trim_matches('"').to_owned())
}

/// JSON for the Python package.
pub fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Indices as a numpy array.
pub fn to_indices(places: &[usize]) -> Vec<i64> {
    places.iter().map(|&i| i as i64).collect()
}
