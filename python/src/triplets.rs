//! Triplets.

use crate::convert::{TargetArgument, from_triplets};
use crate::run::{Settings, run};
use kernsift::data::Target;
use kernsift::data::triplets::from_target;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;

/// Triplets of sample indices drawn from a target, in three columns.
#[pyfunction]
pub fn triplets_from_target<'py>(
    py: Python<'py>,
    y: TargetArgument<'py>,
    n: usize,
    settings: Settings,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let target = y.to_target()?;
    let triplets = run(py, settings, move |ctx| {
        let rows = match &target {
            Target::None => 0,
            Target::Classes(classes) => classes.codes.len(),
            Target::Continuous(values) => values.len(),
            Target::Outputs(y) => y.nrows(),
        };
        from_target(&target, &(0..rows).collect::<Vec<_>>(), n, ctx)
    })?;
    Ok(from_triplets(&triplets).into_pyarray(py))
}
