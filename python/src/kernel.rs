//! Kernels.

use crate::convert::{RowsArgument, from_json, to_json};
use crate::run::{Settings, run};
use kernsift::Kernel;
use kernsift::kernel::KernelChoice;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

/// The Gram matrix of two sets of samples, or of one.
#[pyfunction]
pub fn gram<'py>(
    py: Python<'py>,
    kernel: &str,
    x: RowsArgument<'py>,
    z: Option<RowsArgument<'py>>,
    settings: Settings,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let kernel: Kernel = from_json("kernel", kernel)?;
    let (x, z) = (x.to_rows()?, z.map(|z| z.to_rows()).transpose()?);
    let k = run(py, settings, move |ctx| {
        let bytes = 8.0 * x.n() as f64 * z.as_ref().unwrap_or(&x).n() as f64;
        ctx.need_memory("a Gram matrix", bytes, "use fewer rows, or KOBL, which needs no square matrix")?;
        match &z {
            Some(z) => kernsift::kernel::gram(&kernel, &x, z),
            None => kernsift::kernel::gram_symmetric(&kernel, &x),
        }
    })?;
    Ok(k.into_pyarray(py))
}

/// Resolves a choice of kernel on these samples, with gamma as a number.
#[pyfunction]
pub fn resolve_kernel(
    py: Python<'_>,
    choice: &str,
    x: RowsArgument<'_>,
    settings: Settings,
) -> PyResult<String> {
    let choice: KernelChoice = from_json("kernel", choice)?;
    let x = x.to_rows()?;
    to_json(&run(py, settings, move |ctx| choice.resolve(&x, ctx))?)
}
