//! Selectors.

use crate::convert::{
    RowsArgument, RuleArgument, TargetArgument, WeightsArgument, from_json, name_of, set_outcome,
    to_dataset_with_missing, to_indices, to_json, with_rule, with_weights,
};
use crate::error::to_python;
use crate::run::{Settings, run};
use kernsift::catalog::{self, FAMILIES};
use kernsift::classify::Svm;
use kernsift::method::Info;
use kernsift::parameters::{Parameter, Parameters};
use kernsift::select::{Automatic, FeatureCount, PathPoint, SelectorMethod};
use kernsift::{Selection, Selector};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;

/// Ranks the features and selects some; `method` and `n_features` are JSON.
#[pyfunction]
#[pyo3(signature = (method, x, y, n_features, standardize, rule, weights, settings))]
#[expect(clippy::too_many_arguments, reason = "they are the parameters of a function of the package")]
pub fn select<'py>(
    py: Python<'py>,
    method: &str,
    x: RowsArgument<'py>,
    y: Option<TargetArgument<'py>>,
    n_features: &str,
    standardize: bool,
    rule: Option<RuleArgument<'py>>,
    weights: WeightsArgument<'py>,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let method: SelectorMethod = from_json("method", method)?;
    let n_features: FeatureCount = from_json("n_features_to_select", n_features)?;
    let data = with_rule(to_dataset_with_missing(&x, y)?, rule)?;
    let data = with_weights(data, weights).map_err(to_python)?;
    let encoding = x.encoding(standardize);
    drop(x);
    let n = data.n();
    let selection = run(py, settings, move |ctx| method.select_typed(&data, n_features, encoding, ctx))?;
    selection_dict(py, selection, n)
}

/// The parts of a selection from `n` samples.
pub fn selection_dict(py: Python<'_>, selection: Selection, n: usize) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("selected", to_indices(selection.selected()).into_pyarray(py))?;
    dict.set_item("order", to_indices(&selection.order).into_pyarray(py))?;
    dict.set_item("scores", selection.scores.into_pyarray(py))?;
    dict.set_item("curve", selection.curve.into_pyarray(py))?;
    dict.set_item("coef", selection.coef.map(|coef| coef.into_pyarray(py)))?;
    dict.set_item("path", path(py, selection.path)?)?;
    dict.set_item("n_used", selection.sample.map_or(n, |sample| sample.n_used))?;
    dict.set_item("automatic", selection.automatic.map(|found| to_json(&found)).transpose()?)?;
    set_outcome(&dict, &selection.outcome)?;
    Ok(dict)
}

/// What the automatic selector found, in sentences; `found` is JSON.
#[pyfunction]
pub fn automatic_summary(found: &str, selected: Vec<usize>, names: Vec<String>) -> PyResult<Vec<String>> {
    let found: Automatic = from_json("automatic", found)?;
    Ok(found.summary(&selected, &names))
}

/// The parts of a regularization path, each with an entry per step.
fn path(py: Python<'_>, points: Vec<PathPoint>) -> PyResult<Bound<'_, PyDict>> {
    let numbers = |of: fn(&PathPoint) -> f64| points.iter().map(of).collect::<Vec<_>>().into_pyarray(py);
    let counts =
        |of: fn(&PathPoint) -> usize| to_indices(&points.iter().map(of).collect::<Vec<_>>()).into_pyarray(py);
    let dict = PyDict::new(py);
    dict.set_item("strength", numbers(|point| point.strength))?;
    dict.set_item("objective", numbers(|point| point.objective))?;
    dict.set_item("optimality", numbers(|point| point.optimality))?;
    dict.set_item("n_iter", counts(|point| point.iterations))?;
    dict.set_item("n_features", counts(|point| point.features.len()))?;
    let stops = points.iter().map(|point| name_of(&point.stop));
    dict.set_item("stop", stops.collect::<PyResult<Vec<_>>>()?)?;
    let features = points.iter().map(|point| to_indices(&point.features).into_pyarray(py));
    dict.set_item("features", PyList::new(py, features.collect::<Vec<_>>())?)?;
    let weights = points.iter().map(|point| point.weights.clone().into_pyarray(py));
    dict.set_item("weights", PyList::new(py, weights.collect::<Vec<_>>())?)?;
    Ok(dict)
}

/// The methods of all families as JSON.
#[pyfunction]
pub fn methods() -> PyResult<String> {
    let all = FAMILIES.iter().flat_map(|family| family.methods.iter().map(|info| (family.name, info)));
    to_json(&all.map(|(family, info)| Listed { family, info }).collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Listed {
    family: &'static str,
    #[serde(flatten)]
    info: &'static Info,
}

/// The parameters of a method as JSON, with types, ranges, defaults and descriptions.
#[pyfunction]
pub fn method_parameters(name: &str) -> PyResult<String> {
    // The SVM of the Python package, which is not in the catalog.
    let all = if name == "svc" {
        Svm::default().parameters()
    } else {
        catalog::parameters(name).map_err(to_python)?
    };
    let described = all.iter().map(|parameter| Described {
        parameter,
        expected: parameter.expected(),
        default_text: parameter.default_text(),
    });
    to_json(&described.collect::<Vec<_>>())
}

#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    parameter: &'a Parameter,
    expected: String,
    default_text: String,
}
