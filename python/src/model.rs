//! Saved models.

use crate::convert::{RowsArgument, to_indices};
use crate::data::set_column;
use crate::error::to_python;
use crate::frame::{Others, to_table};
use crate::run::{Settings, run};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A saved basis, selection or kernel, with the preprocessing of its data.
#[pyclass(frozen, module = "kernsift._native")]
pub struct Model(kernsift::Model);

#[pymethods]
impl Model {
    /// Reads a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        kernsift::Model::load(&path).map(Self).map_err(to_python)
    }

    /// The method of the model.
    fn method(&self) -> &str {
        self.0.method()
    }

    /// The columns that a frame must have.
    fn input_names(&self) -> Vec<String> {
        match &self.0.recipe {
            Some(recipe) => recipe.columns().map(str::to_owned).collect(),
            None => self.0.names.clone(),
        }
    }

    /// The names of the output columns.
    fn output_names(&self) -> Vec<String> {
        self.0.output_names()
    }

    /// Whether frames need preprocessing: missing values, text, or other columns than the model uses.
    fn prepares(&self) -> bool {
        self.0.recipe.is_some()
    }

    /// Applies the model to samples of its columns.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, x) = (self.0.clone(), x.to_rows()?);
        Ok(run(py, settings, move |ctx| model.apply(&x, ctx))?.into_pyarray(py))
    }

    /// Prepares named columns as in training, and applies the model: columns by name, the number of dropped rows, and the
    /// number of cells with other categories, by column.
    fn apply_table<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyAny>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyDict>, usize, Others)> {
        let table = to_table(columns)?;
        let (model, n_rows) = (self.0.clone(), table.n_rows());
        let output = run(py, settings, move |ctx| model.apply_table(&table, ctx))?;
        let dict = PyDict::new(py);
        output.values.into_iter().try_for_each(|column| set_column(&dict, column))?;
        Ok((dict, n_rows - output.rows.len(), output.other))
    }

    /// The Gram matrix of samples of its columns, for models with a kernel.
    fn gram<'py>(
        &self,
        py: Python<'py>,
        x: RowsArgument<'py>,
        z: Option<RowsArgument<'py>>,
        with_noise: bool,
        settings: Settings,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, x) = (self.0.clone(), x.to_rows()?);
        let z = z.map(|z| z.to_rows()).transpose()?;
        Ok(run(py, settings, move |ctx| model.gram(&x, z.as_ref(), with_noise, ctx))?.into_pyarray(py))
    }

    /// Preprocesses named columns as in training, and computes the Gram matrix; also returns the number of dropped
    /// rows.
    fn gram_table<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyAny>,
        others: Option<&Bound<'py, PyAny>>,
        with_noise: bool,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize, Others)> {
        let (table, others) = (to_table(columns)?, others.map(to_table).transpose()?);
        let model = self.0.clone();
        let (out, dropped, other) = run(py, settings, move |ctx| {
            let x = model.kernel_rows(&table, with_noise)?;
            let (mut dropped, mut other) = (table.n_rows() - x.rows.len(), x.other);
            let z = match &others {
                None => None,
                Some(others) => {
                    let z = model.kernel_rows(others, with_noise)?;
                    dropped += others.n_rows() - z.rows.len();
                    other.extend(z.other);
                    Some(z.values)
                }
            };
            Ok((model.gram(&x.values, z.as_ref(), with_noise, ctx)?, dropped, other))
        })?;
        Ok((out.into_pyarray(py), dropped, other))
    }

    /// The names of the classes, for models that predict.
    fn class_names(&self) -> PyResult<Vec<String>> {
        self.0.class_names().map(<[String]>::to_vec).map_err(to_python)
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

    /// Prepares named columns as in training, and predicts; also returns the number of dropped rows, and the number of cells
    /// with other categories, by column.
    fn predict_table<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyAny>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, usize, Others)> {
        let table = to_table(columns)?;
        let (model, n_rows) = (self.0.clone(), table.n_rows());
        let output = run(py, settings, move |ctx| model.predict_table(&table, ctx))?;
        Ok((to_indices(&output.values).into_pyarray(py), n_rows - output.rows.len(), output.other))
    }
}
