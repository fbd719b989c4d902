//! Saved models.

use crate::convert::{RowsArgument, to_indices};
use crate::error::to_python;
use crate::frame::{ColumnArgument, to_table};
use crate::run::{Settings, run};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
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

    /// Preprocesses named columns as in training, and applies the model; also returns the number of dropped rows.
    fn apply_table<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, ColumnArgument<'py>)>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let table = to_table(columns)?;
        let (model, n_rows) = (self.0.clone(), table.n_rows());
        let (out, rows) = run(py, settings, move |ctx| model.apply_table(&table, ctx))?;
        Ok((out.into_pyarray(py), n_rows - rows.len()))
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
        columns: Vec<(String, ColumnArgument<'py>)>,
        others: Option<Vec<(String, ColumnArgument<'py>)>>,
        with_noise: bool,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let (table, others) = (to_table(columns)?, others.map(to_table).transpose()?);
        let model = self.0.clone();
        let (out, left_out) = run(py, settings, move |ctx| {
            let (x, rows) = model.kernel_rows(&table, with_noise)?;
            let mut left_out = table.n_rows() - rows.len();
            let z = match &others {
                None => None,
                Some(others) => {
                    let (z, rows) = model.kernel_rows(others, with_noise)?;
                    left_out += others.n_rows() - rows.len();
                    Some(z)
                }
            };
            Ok((model.gram(&x, z.as_ref(), with_noise, ctx)?, left_out))
        })?;
        Ok((out.into_pyarray(py), left_out))
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

    /// Preprocesses named columns as in training, and predicts; also returns the number of dropped rows.
    fn predict_table<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, ColumnArgument<'py>)>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, usize)> {
        let table = to_table(columns)?;
        let (model, n_rows) = (self.0.clone(), table.n_rows());
        let (codes, rows) = run(py, settings, move |ctx| model.predict_table(&table, ctx))?;
        Ok((to_indices(&codes).into_pyarray(py), n_rows - rows.len()))
    }
}
