//! Selection in kernel space.

use crate::basis::{FeatureMap, or_raised, set_threshold_function};
use crate::convert::{
    ClassesArgument, RowsArgument, from_json, scaled, set_scaling, set_stop, to_dataset, to_indices, to_json,
};
use crate::error::to_python;
use crate::run::{Settings, run, run_with_callbacks};
use kernsift::basis::{BasisMethod, Kobl, Threshold};
use kernsift::model::{Content, Model};
use kernsift::select::FeatureCount;
use kernsift::space::KernelSpaceSelector;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// Selected directions of kernel space, with the scaling of features and the classes of the training samples.
#[pyclass(frozen, module = "kernsift._native")]
pub struct KernelSpace(pub Arc<Model>);

impl KernelSpace {
    fn new(model: Model) -> PyResult<Self> {
        let space = Self(Arc::new(model));
        space.space()?;
        Ok(space)
    }

    /// The fitted model.
    pub fn space(&self) -> PyResult<&kernsift::space::KernelSpace> {
        match &self.0.content {
            Content::Space(space) => Ok(space),
            _ => Err(PyValueError::new_err("the model is not a selection in kernel space")),
        }
    }
}

#[pymethods]
impl KernelSpace {
    /// Weighted coordinates of samples in the selected directions, best first.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, x) = (self.0.clone(), x.to_rows()?);
        Ok(run(py, settings, move |ctx| model.apply(&x, ctx))?.into_pyarray(py))
    }

    /// The class index of each sample.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (model, x) = (self.0.clone(), x.to_rows()?);
        let codes = run(py, settings, move |ctx| model.predict(&x, ctx))?;
        Ok(to_indices(&codes).into_pyarray(py))
    }

    /// Summary of the fit.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let space = self.space()?;
        let (selection, basis) = (space.selection(), space.map().summary());
        // Report the first that did not converge.
        let stop = if basis.outcome.stop.converged() { selection.outcome.stop } else { basis.outcome.stop };
        let dict = PyDict::new(py);
        dict.set_item("method", space.method())?;
        dict.set_item("selected", to_indices(selection.selected()).into_pyarray(py))?;
        dict.set_item("order", to_indices(&selection.order).into_pyarray(py))?;
        dict.set_item("weights", space.weights().into_pyarray(py))?;
        dict.set_item("n_selected", selection.n_selected)?;
        dict.set_item("error_curve", selection.curve.clone().into_pyarray(py))?;
        dict.set_item("n_components", space.map().n_components())?;
        dict.set_item("reconstruction_cost", basis.reconstruction_cost)?;
        dict.set_item("kernel", to_json(space.map().kernel())?)?;
        dict.set_item("n_neighbors", space.n_neighbors())?;
        dict.set_item("iterations", selection.outcome.iterations)?;
        set_stop(&dict, stop)?;
        set_scaling(&dict, self.0.encoder.as_ref())?;
        Ok(dict)
    }

    /// The basis, which expects scaled samples.
    fn map(&self) -> PyResult<FeatureMap> {
        Ok(FeatureMap(Arc::new(self.space()?.map().clone())))
    }

    /// The bytes of a saved model.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(to_python)?))
    }

    /// Reads the output of [`KernelSpace::to_bytes`].
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Self::new(Model::from_bytes(bytes).map_err(to_python)?)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py())?,)))
    }
}

/// Fits a basis and selects directions; `method` and `n_features` (the number of directions) are JSON. `threshold` is a
/// callable threshold of KOBL, which JSON cannot represent. Also returns the settings used, with all automatic choices
/// made.
#[pyfunction]
#[pyo3(signature = (method, x, y, n_features, standardize, settings, threshold=None))]
#[expect(clippy::too_many_arguments, reason = "they are the parameters of an estimator")]
pub fn fit_space<'py>(
    py: Python<'py>,
    method: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    n_features: &str,
    standardize: bool,
    settings: Settings,
    threshold: Option<Py<PyAny>>,
) -> PyResult<(KernelSpace, String)> {
    let mut method: KernelSpaceSelector = from_json("method", method)?;
    let n_features: FeatureCount = from_json("n_features_to_select", n_features)?;
    let raised = set_threshold_function(&mut method.basis, threshold)?;
    let data = to_dataset(&x, Some(y))?;
    drop(x);
    let fitted = run_with_callbacks(py, settings, raised.is_some(), move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let (space, used) = method.fit_with_settings(&data, n_features, ctx)?;
        let names = (1..=data.d()).map(|j| format!("x{j}")).collect();
        Ok((Model { names, recipe: None, encoder, content: Content::Space(space) }, used))
    });
    let (model, mut used) = or_raised(raised, fitted)?;
    if let BasisMethod::Kobl(Kobl { threshold: threshold @ Threshold::Function(_), .. }) = &mut used.basis {
        // The caller has the callable.
        *threshold = Threshold::Linear;
    }
    Ok((KernelSpace::new(model)?, to_json(&used)?))
}
