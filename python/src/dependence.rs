//! Dependence between two sets of variables.

use crate::convert::{RowsArgument, TargetArgument, from_json};
use crate::run::{Settings, run};
use kernsift::data::{Rows, Target};
use kernsift::dependence::{Hsic, TargetKernel, Variable};
use kernsift::kernel::KernelChoice;
use pyo3::prelude::*;

/// Samples, or a target.
#[derive(FromPyObject)]
pub enum VariableArgument<'py> {
    Rows(RowsArgument<'py>),
    Target(TargetArgument<'py>),
}

/// Owned samples, or an owned target.
enum Owned {
    Rows(Rows, KernelChoice),
    Target(Target, TargetKernel),
}

impl Owned {
    fn new(variable: &VariableArgument<'_>, kernel: &str) -> PyResult<Self> {
        match variable {
            VariableArgument::Rows(x) => Ok(Self::Rows(x.to_rows()?, from_json("kernel", kernel)?)),
            VariableArgument::Target(y) => Ok(Self::Target(y.to_target()?, from_json("kernel", kernel)?)),
        }
    }

    fn variable(&self) -> Variable<'_> {
        match self {
            Self::Rows(x, kernel) => Variable::Rows(x, kernel),
            Self::Target(y, kernel) => Variable::Target(y, *kernel),
        }
    }
}

/// HSIC of two sets of variables, and the p-value if permutations are requested. Kernels and `options` are JSON.
#[pyfunction]
pub fn hsic(
    py: Python<'_>,
    x: VariableArgument<'_>,
    x_kernel: &str,
    y: VariableArgument<'_>,
    y_kernel: &str,
    options: &str,
    settings: Settings,
) -> PyResult<(f64, Option<f64>)> {
    let options: Hsic = from_json("hsic", options)?;
    let (x, y) = (Owned::new(&x, x_kernel)?, Owned::new(&y, y_kernel)?);
    let found =
        run(py, settings, move |ctx| kernsift::dependence::hsic(x.variable(), y.variable(), &options, ctx))?;
    Ok((found.value, found.p_value))
}
