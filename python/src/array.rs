//! Arrays of NumPy as arguments.

use numpy::ndarray::{Dimension, Ix1, Ix2};
use numpy::{Element, PyReadonlyArray};
use pyo3::prelude::*;
use pyo3::{Borrowed, FromPyObject};
use std::ops::Deref;

/// A vector.
pub type VectorArgument<'py, T> = ArrayArgument<'py, T, Ix1>;
/// A matrix of any memory layout.
pub type MatrixArgument<'py, T> = ArrayArgument<'py, T, Ix2>;

/// An array to read. One that is not aligned is copied: a view of a buffer may begin at any byte.
pub struct ArrayArgument<'py, T: Element, D: Dimension>(PyReadonlyArray<'py, T, D>);

impl<'a, 'py, T: Element + 'a, D: Dimension + 'a> FromPyObject<'a, 'py> for ArrayArgument<'py, T, D> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let array: PyReadonlyArray<'py, T, D> = object.extract()?;
        if array.getattr("flags")?.getattr("aligned")?.extract()? {
            return Ok(Self(array));
        }
        Ok(Self(object.call_method0("copy")?.extract()?))
    }
}

impl<'py, T: Element, D: Dimension> Deref for ArrayArgument<'py, T, D> {
    type Target = PyReadonlyArray<'py, T, D>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
