//! Nearest neighbors by kernel distance. The Python estimator stores the training samples.

use crate::convert::{
    ClassesArgument, RowsArgument, from_json, scaled, set_scaling, to_dataset, to_indices, to_json,
};
use crate::run::{Settings, run};
use kernsift::classify::Knnc;
use kernsift::kernel::KernelChoice;
use kernsift::{Context, Dataset, Kernel};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Checks samples and parameters, and resolves gamma.
#[pyfunction]
pub fn fit_knnc<'py>(
    py: Python<'py>,
    kernel: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    n_neighbors: usize,
    standardize: bool,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let choice: KernelChoice = from_json("kernel", kernel)?;
    let data = to_dataset(&x, Some(y))?;
    drop(x);
    let (kernel, encoder) = run(py, settings, move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let kernel = choice.resolve(data.x(), ctx)?;
        knnc(&kernel, &data, n_neighbors)?;
        Ok((kernel, encoder))
    })?;
    let dict = PyDict::new(py);
    dict.set_item("kernel", to_json(&kernel)?)?;
    set_scaling(&dict, encoder.as_ref())?;
    Ok(dict)
}

/// The class index of each new sample.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are a fitted estimator")]
pub fn predict_knnc<'py>(
    py: Python<'py>,
    kernel: &str,
    x: RowsArgument<'py>,
    y: ClassesArgument<'py>,
    n_neighbors: usize,
    standardize: bool,
    new: RowsArgument<'py>,
    settings: Settings,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let kernel: Kernel = from_json("kernel", kernel)?;
    let (data, new) = (to_dataset(&x, Some(y))?, new.to_rows()?);
    drop(x);
    let codes = run(py, settings, move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let new = match encoder {
            Some(encoder) => encoder.apply(&new)?,
            None => new,
        };
        knnc(&kernel, &data, n_neighbors)?.predict(&new, ctx)
    })?;
    Ok(to_indices(&codes).into_pyarray(py))
}

/// The classifier, without a context: a kernel with a given gamma sends no messages.
fn knnc(kernel: &Kernel, data: &Dataset, n_neighbors: usize) -> kernsift::Result<Knnc> {
    Knnc::fit(&kernel.clone().into(), data, n_neighbors, &Context::default())
}
