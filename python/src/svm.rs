//! Support vector machines.

use crate::convert::{
    ClassesArgument, RowsArgument, from_json, set_outcome, set_stop, to_dataset, to_indices, to_json,
};
use crate::run::{Settings, run};
use kernsift::classify::{self, BinarySvms, LinearSvm, Svm, SvmSearch};
use kernsift::data::Rows;
use kernsift::{Context, Error};
use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A trained SVM.
#[pyclass(frozen, module = "kernsift._native")]
pub struct SvmModel(Arc<Trained>);

#[derive(Serialize, Deserialize)]
enum Trained {
    /// Trained on samples; computes kernel values.
    Rows(Box<classify::SvmModel>),
    /// Trained on a Gram matrix with this number of rows; expects kernel values.
    Gram(BinarySvms, usize),
}

impl Trained {
    fn svms(&self) -> &BinarySvms {
        match self {
            Self::Rows(model) => model.svms(),
            Self::Gram(svms, _) => svms,
        }
    }

    fn values(&self, x: &Rows, ctx: &Context) -> kernsift::Result<Array2<f64>> {
        match (self, x) {
            (Self::Rows(model), x) => model.decision_values(x, ctx),
            (Self::Gram(svms, n), Rows::Dense(k)) if k.ncols() == *n => Ok(svms.decision_values(k.view())),
            (Self::Gram(_, n), x) => Err(Error::Shape {
                what: "columns of the kernel matrix".into(),
                expected: n.to_string(),
                got: x.d().to_string(),
            }),
        }
    }
}

#[pymethods]
impl SvmModel {
    /// The decision value of each pair of classes; positive for the first.
    fn decision_values<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (trained, x) = (self.0.clone(), x.to_rows()?);
        Ok(run(py, settings, move |ctx| trained.values(&x, ctx))?.into_pyarray(py))
    }

    /// A score per class, or one for two classes.
    fn class_scores<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (trained, x) = (self.0.clone(), x.to_rows()?);
        let scores =
            run(py, settings, move |ctx| Ok(trained.svms().class_scores(trained.values(&x, ctx)?.view())))?;
        Ok(scores.into_pyarray(py))
    }

    /// The class index of each sample.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (trained, x) = (self.0.clone(), x.to_rows()?);
        let codes = run(py, settings, move |ctx| {
            let values = trained.values(&x, ctx)?;
            Ok(values.rows().into_iter().map(|v| trained.svms().vote(v)).collect::<Vec<_>>())
        })?;
        Ok(to_indices(&codes).into_pyarray(py))
    }

    /// The fitted attributes of the estimator.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let svms = self.0.svms();
        let support = match &*self.0 {
            Trained::Rows(model) => model.support().to_vec(),
            Trained::Gram(svms, _) => svms.support(),
        };
        let mut coefficients = Array2::zeros((svms.svms.len(), support.len()));
        for (p, svm) in svms.svms.iter().enumerate() {
            for (&row, &b) in svm.rows.iter().zip(&svm.coefficients) {
                // Indices are among the support vectors for a model, among all rows for a Gram matrix.
                let position = match &*self.0 {
                    Trained::Rows(_) => Some(row),
                    Trained::Gram(..) => support.binary_search(&row).ok(),
                };
                if let Some(position) = position {
                    coefficients[[p, position]] = b;
                }
            }
        }
        let dict = PyDict::new(py);
        dict.set_item("support", to_indices(&support).into_pyarray(py))?;
        dict.set_item("coefficients", coefficients.into_pyarray(py))?;
        let bias: Vec<f64> = svms.svms.iter().map(|svm| svm.bias).collect();
        dict.set_item("bias", bias.into_pyarray(py))?;
        let objectives: Vec<f64> = svms.svms.iter().map(|svm| svm.objective).collect();
        dict.set_item("objectives", objectives.into_pyarray(py))?;
        let (kernel, weights) = match &*self.0 {
            Trained::Rows(model) => (Some(to_json(model.kernel())?), model.weights().cloned()),
            Trained::Gram(..) => (None, None),
        };
        dict.set_item("kernel", kernel)?;
        dict.set_item("weights", weights.map(|w| w.into_pyarray(py)))?;
        let iterations: Vec<usize> = svms.svms.iter().map(|svm| svm.iterations).collect();
        dict.set_item("iterations", to_indices(&iterations).into_pyarray(py))?;
        set_stop(&dict, svms.outcome().stop)?;
        Ok(dict)
    }

    /// The SVM as JSON; [`SvmModel::from_json`] restores it exactly.
    fn to_json(&self) -> PyResult<String> {
        to_json(&*self.0)
    }

    /// Reads the output of [`SvmModel::to_json`].
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        Ok(Self(Arc::new(from_json("SVM", json)?)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }
}

/// Trains an SVM; `precomputed`: `x` is a Gram matrix.
#[pyfunction]
pub fn fit_svm<'py>(
    py: Python<'py>,
    svm: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    precomputed: bool,
    settings: Settings,
) -> PyResult<SvmModel> {
    let svm: Svm = from_json("svm", svm)?;
    let data = to_dataset(&x, Some(y))?;
    drop(x);
    let trained = run(py, settings, move |ctx| {
        if !precomputed {
            return Ok(Trained::Rows(Box::new(svm.fit(&data, ctx)?)));
        }
        let (n, classes) = (data.n(), data.classes("SVM")?.clone());
        let k = data.into_x().into_dense();
        Ok(Trained::Gram(svm.fit_gram(k.view(), &classes, ctx)?, n))
    })?;
    Ok(SvmModel(Arc::new(trained)))
}

/// Chooses C and gamma by cross-validation, then trains an SVM; also returns the search results.
#[pyfunction]
pub fn search_svm<'py>(
    py: Python<'py>,
    search: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    settings: Settings,
) -> PyResult<(SvmModel, Bound<'py, PyDict>)> {
    let search: SvmSearch = from_json("search", search)?;
    let data = to_dataset(&x, Some(y))?;
    drop(x);
    let found = run(py, settings, move |ctx| search.fit(&data, ctx))?;
    let dict = PyDict::new(py);
    dict.set_item("c", found.c)?;
    dict.set_item("gamma", found.gamma)?;
    let points = PyList::empty(py);
    for point in &found.errors {
        points.append((point.gamma, point.c, point.error, point.folds.clone(), point.converged))?;
    }
    dict.set_item("errors", points)?;
    Ok((SvmModel(Arc::new(Trained::Rows(Box::new(found.model)))), dict))
}

/// Trains a linear SVM.
#[pyfunction]
pub fn fit_linear_svm<'py>(
    py: Python<'py>,
    svm: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let svm: LinearSvm = from_json("svm", svm)?;
    let data = to_dataset(&x, Some(y))?;
    drop(x);
    let model = run(py, settings, move |ctx| svm.fit(&data, ctx))?;
    let dict = PyDict::new(py);
    dict.set_item("weights", model.weights.into_pyarray(py))?;
    dict.set_item("bias", model.bias.into_pyarray(py))?;
    dict.set_item("objectives", model.objectives.into_pyarray(py))?;
    set_outcome(&dict, &model.outcome)?;
    Ok(dict)
}
