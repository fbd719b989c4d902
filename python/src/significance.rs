//! p-values of features, and knockoffs.

use crate::convert::{RowsArgument, TargetArgument, from_json, to_dataset_with_missing, to_json};
use crate::report::FitArgument;
use crate::run::{Settings, run};
use kernsift::Context;
use kernsift::internals::Rng;
use kernsift::significance::{
    CopyModel, Correction, FeatureTest, FeatureTests, e_values, near_copies, select_by_e_values,
};
use numpy::{PyArray2, ToPyArray};
use pyo3::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// A result with the account of covariates in words.
#[derive(Serialize)]
struct Tests {
    #[serde(flatten)]
    found: FeatureTests,
    adjusted_by: Option<String>,
}

/// Tests all features but the covariates; `test` and the result are JSON.
#[pyfunction]
pub fn test_features(
    py: Python<'_>,
    test: &str,
    x: RowsArgument<'_>,
    y: TargetArgument<'_>,
    covariates: Vec<usize>,
    settings: Settings,
) -> PyResult<String> {
    let test: FeatureTest = from_json("test", test)?;
    let data = to_dataset_with_missing(&x, Some(y))?;
    drop(x);
    let found = run(py, settings, move |ctx| test.run(&data, &covariates, ctx))?;
    let adjusted_by = found.adjustment.describe();
    to_json(&Tests { found, adjusted_by })
}

/// The report of tests; `test` and `found`, their result, are JSON.
#[pyfunction]
pub fn test_page(fit: FitArgument<'_>, found: &str, test: &str) -> PyResult<String> {
    let (found, test): (FeatureTests, FeatureTest) = (from_json("test", found)?, from_json("test", test)?);
    let (info, data) = fit.read()?;
    Ok(kernsift_report::test_page(&info, &data, &found, &test))
}

/// Adjusted p-values; `method` is the name of the correction.
#[pyfunction]
pub fn adjusted(p_values: Vec<f64>, method: &str) -> PyResult<Vec<f64>> {
    let correction: Correction = from_json("method", &format!("\"{method}\""))?;
    Ok(correction.adjust(&p_values))
}

/// For each of some features its near copies and their similarities.
#[pyfunction]
pub fn near_copies_of(
    py: Python<'_>,
    x: RowsArgument<'_>,
    features: Vec<usize>,
    similarity: f64,
    settings: Settings,
) -> PyResult<Vec<Vec<(usize, f64)>>> {
    let data = to_dataset_with_missing(&x, None)?;
    drop(x);
    let found = run(py, settings, move |ctx| near_copies(&data, &features, similarity, ctx))?;
    let pair = |copies: Vec<_>| {
        copies.into_iter().map(|c: kernsift::significance::NearCopy| (c.feature, c.similarity))
    };
    Ok(found.into_iter().map(|copies| pair(copies).collect()).collect())
}

/// A model that draws knockoff copies of features.
#[pyclass(frozen)]
pub struct KnockoffModel(Arc<CopyModel>);

#[pymethods]
impl KnockoffModel {
    /// Fits the model to numbers.
    #[new]
    fn new(py: Python<'_>, x: RowsArgument<'_>, normal_scores: bool, settings: Settings) -> PyResult<Self> {
        let data = to_dataset_with_missing(&x, None)?;
        drop(x);
        let fit = move |ctx: &Context| CopyModel::fit(&data, normal_scores, "knockoffs", ctx);
        Ok(Self(Arc::new(run(py, settings, fit)?)))
    }

    /// The features, standardized.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.0.x.to_pyarray(py)
    }

    /// A copy of all features.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let model = self.0.clone();
        let copies = run(py, settings, move |_| Ok(model.sample(&mut Rng::new(seed))))?;
        Ok(copies.to_pyarray(py))
    }
}

/// The features that differ from their copies with a false discovery rate of at most `q`, and all e-values; `copies` are the
/// differences with each copy.
#[pyfunction]
pub fn knockoff_filter(copies: Vec<Vec<f64>>, q: f64) -> (Vec<usize>, Vec<f64>) {
    let e_values = e_values(&copies, q);
    (select_by_e_values(&e_values, q), e_values)
}
