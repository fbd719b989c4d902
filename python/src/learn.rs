//! Kernel learners.

use crate::array::MatrixArgument;
use crate::convert::{
    RowsArgument, from_json, name_of, scaled, set_scaling, to_encoded_dataset, to_triplets,
};
use crate::run::{Settings, run};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::learn::{KernelLearner, XingMetric};
use kernsift::{Error, Kernel};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Learns a metric; `xing` is JSON, `sizes` are the numbers of columns of encoded features. The metric expects samples with `shift` subtracted and divided by `scale`, if
/// given.
#[pyfunction]
pub fn fit_xing<'py>(
    py: Python<'py>,
    xing: &str,
    x: RowsArgument<'py>,
    sizes: Option<Vec<usize>>,
    triplets: MatrixArgument<'py, i64>,
    standardize: bool,
    settings: Settings,
) -> PyResult<Bound<'py, PyDict>> {
    let xing: XingMetric = from_json("xing", xing)?;
    let (data, triplets) = (to_encoded_dataset(&x, sizes, None)?, to_triplets(&triplets));
    drop(x);
    let (learned, metric, encoder) = run(py, settings, move |ctx| {
        let (data, encoder) = scaled(data, standardize)?;
        let learned = xing.learn(&data, &triplets, ctx)?;
        match learned.kernel.clone() {
            Kernel::Mahalanobis { metric } => Ok((learned, metric, encoder)),
            other => Err(Error::Shape {
                what: "a learned kernel".into(),
                expected: "a metric".into(),
                got: other.describe(),
            }),
        }
    })?;
    let dict = PyDict::new(py);
    dict.set_item("metric", metric.into_pyarray(py))?;
    dict.set_item("scores", learned.scores.into_pyarray(py))?;
    dict.set_item("status", name_of(&learned.status)?)?;
    dict.set_item("stop", learned.status.explain())?;
    dict.set_item("converged", learned.status.converged())?;
    dict.set_item("iterations", learned.iterations)?;
    set_scaling(&dict, encoder.as_ref())?;
    Ok(dict)
}

/// The fraction of triplets that a kernel satisfies.
#[pyfunction]
pub fn kernel_triplet_accuracy<'py>(
    py: Python<'py>,
    kernel: &str,
    x: RowsArgument<'py>,
    triplets: MatrixArgument<'py, i64>,
    settings: Settings,
) -> PyResult<f64> {
    let kernel: Kernel = from_json("kernel", kernel)?;
    let (x, triplets) = (x.to_rows()?, to_triplets(&triplets));
    run(py, settings, move |_| triplet_accuracy_of(&kernel, &x, &triplets))
}
