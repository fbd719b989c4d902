//! Bases of kernel space.

use crate::convert::{
    ClassesArgument, RowsArgument, from_json, set_outcome, to_dataset, to_indices, to_json,
};
use crate::error::to_python;
use crate::run::{Settings, run, run_with_callbacks};
use kernsift::basis::{Basis, BasisMethod, Kobl, Threshold, ThresholdFunction};
use kernsift::model::{Content, Model};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Arc, Mutex, PoisonError};

/// A fitted map from samples to coordinates in kernel space.
#[pyclass(frozen, module = "kernsift._native")]
pub struct FeatureMap(pub Arc<kernsift::FeatureMap>);

#[pymethods]
impl FeatureMap {
    /// Coordinates of samples.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (map, x) = (self.0.clone(), x.to_rows()?);
        Ok(run(py, settings, move |ctx| map.transform(&x, ctx))?.into_pyarray(py))
    }

    /// Distances of samples from the span of the basis.
    fn residual_norms<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (map, x) = (self.0.clone(), x.to_rows()?);
        Ok(run(py, settings, move |ctx| map.residual_norms(&x, ctx))?.into_pyarray(py))
    }

    /// Summary of the fit.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let summary = self.0.summary();
        let dict = PyDict::new(py);
        dict.set_item("method", &summary.method)?;
        dict.set_item("n_rows", summary.n_rows)?;
        dict.set_item("n_components", self.0.n_components())?;
        dict.set_item("pivots", to_indices(&summary.pivots).into_pyarray(py))?;
        dict.set_item("residual_norms", summary.residual_norms.clone().into_pyarray(py))?;
        dict.set_item("reconstruction_cost", summary.reconstruction_cost)?;
        dict.set_item("bound", summary.bound)?;
        dict.set_item("explained", summary.explained)?;
        set_outcome(&dict, &summary.outcome)?;
        dict.set_item("kernel", to_json(self.0.kernel())?)?;
        Ok(dict)
    }

    /// A row per pivot, a column per basis vector.
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.coefficients().clone().into_pyarray(py)
    }

    /// The bytes of a saved model with only this map.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let names = (1..=self.0.n_inputs()).map(|j| format!("x{j}")).collect();
        let model = Model { names, recipe: None, encoder: None, content: Content::Map((*self.0).clone()) };
        Ok(PyBytes::new(py, &model.to_bytes().map_err(to_python)?))
    }

    /// Reads the output of [`FeatureMap::to_bytes`].
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        match Model::from_bytes(bytes).map_err(to_python)?.content {
            Content::Map(map) => Ok(Self(Arc::new(map))),
            _ => Err(PyValueError::new_err("the model is not a basis")),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py())?,)))
    }
}

/// Fits a basis. `threshold` is a callable threshold of KOBL, which JSON cannot represent.
#[pyfunction]
#[pyo3(signature = (method, x, y, settings, threshold=None, features=false))]
pub fn fit_basis<'py>(
    py: Python<'py>,
    method: &str,
    x: RowsArgument<'py>,
    y: Option<ClassesArgument<'py>>,
    settings: Settings,
    threshold: Option<Py<PyAny>>,
    features: bool,
) -> PyResult<(FeatureMap, Option<Bound<'py, PyArray2<f64>>>)> {
    let mut method: BasisMethod = from_json("method", method)?;
    let raised = set_threshold_function(&mut method, threshold)?;
    let data = to_dataset(&x, y)?;
    // The data are a copy, so the caller may free the original.
    drop(x);
    let fitted = run_with_callbacks(py, settings, raised.is_some(), move |ctx| method.fit(&data, ctx));
    let fitted = or_raised(raised, fitted)?;
    // Returned without a copy, in the memory layout of the method.
    let made = features.then(|| fitted.features.into_pyarray(py));
    Ok((FeatureMap(Arc::new(fitted.map)), made))
}

/// Gamma of the RBF kernel at which KOBL finds a number of components, and the number found.
#[pyfunction]
#[pyo3(signature = (method, x, n_components, settings, threshold=None))]
pub fn gamma_for_n_components<'py>(
    py: Python<'py>,
    method: &str,
    x: RowsArgument<'py>,
    n_components: usize,
    settings: Settings,
    threshold: Option<Py<PyAny>>,
) -> PyResult<(f64, usize)> {
    let BasisMethod::Kobl(mut kobl) = from_json("method", method)? else {
        return Err(PyValueError::new_err("gamma_for_n_components supports KOBL only"));
    };
    let raised = threshold.map(|function| call_back(&mut kobl, function));
    let x = x.to_rows()?;
    let found = run_with_callbacks(py, settings, raised.is_some(), move |ctx| {
        kernsift::basis::gamma_for_n_components(&kobl, &x, n_components, ctx)
    });
    let found = or_raised(raised, found)?;
    Ok((found.gamma, found.n_components))
}

/// The first exception raised by a user's function.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// Sets the threshold function of a basis, if there is one.
pub fn set_threshold_function(
    method: &mut BasisMethod,
    threshold: Option<Py<PyAny>>,
) -> PyResult<Option<Raised>> {
    match (method, threshold) {
        (BasisMethod::Kobl(kobl), Some(function)) => Ok(Some(call_back(kobl, function))),
        (_, None) => Ok(None),
        _ => Err(PyValueError::new_err("only KOBL takes a threshold function")),
    }
}

/// Wraps a Python function as threshold of KOBL. If it raises, its value is NaN, which the check of the threshold
/// rejects; the exception is stored for [`or_raised`].
fn call_back(kobl: &mut Kobl, function: Py<PyAny>) -> Raised {
    let raised = Raised::default();
    let keep = raised.clone();
    kobl.threshold = Threshold::Function(ThresholdFunction(Arc::new(move |t| {
        let value = Python::attach(|py| function.call1(py, (t,))?.extract::<f64>(py));
        value.unwrap_or_else(|exception| {
            keep.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
            f64::NAN
        })
    })));
    raised
}

/// The result, or the exception of a user's function.
pub fn or_raised<T>(raised: Option<Raised>, result: PyResult<T>) -> PyResult<T> {
    match raised.and_then(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        Some(exception) => Err(exception),
        None => result,
    }
}
