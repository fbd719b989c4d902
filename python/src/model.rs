//! Saved models.

use crate::convert::{RowsArgument, to_indices};
use crate::data::set_column;
use crate::error::to_python;
use crate::frame::{Others, Prepared, to_table};
use crate::run::{Settings, run};
use kernsift::Selection;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
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

    /// A model from the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        kernsift::Model::from_bytes(bytes).map(Self).map_err(to_python)
    }

    /// A selection among the features of a frame, with their scores; `selected` are columns of the frame, best first.
    #[staticmethod]
    fn of_selection(
        py: Python<'_>,
        prepared: &Prepared,
        method: String,
        selected: Vec<(usize, f64)>,
        standardize: bool,
        settings: Settings,
    ) -> PyResult<Self> {
        let (data, recipe, encoding) =
            (prepared.data(), prepared.recipe.clone(), prepared.encoding(standardize));
        let mut scores = vec![0.0; data.d()];
        let mut order = vec![];
        for (column, score) in selected {
            let feature = prepared.positions.iter().position(|&position| position == column);
            let feature = feature.ok_or_else(|| PyValueError::new_err(format!(
                "column {column} (from 0) is selected, but not a feature of X. Pass the samples of the fit."
            )))?;
            scores[feature] = score;
            order.push(feature);
        }
        let n_selected = order.len();
        let selection = Selection { order, ..Selection::by_score(&method, scores, n_selected) };
        run(py, settings, move |_| kernsift::Model::of_selection(&data, recipe, selection, encoding))
            .map(Self)
    }

    /// Writes a file.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.0.save(&path).map_err(to_python)
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

    /// The positions of the selected features among the input columns, best first; an error for other models.
    fn selected<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(to_indices(self.0.selection().map_err(to_python)?.selected()).into_pyarray(py))
    }

    /// The names of the columns of `encode_table`.
    fn encoded_names(&self) -> PyResult<Vec<String>> {
        self.0.encoded_names().map_err(to_python)
    }

    /// Prepares named columns as in training, and encodes the selected features as numbers; also returns the number of dropped
    /// rows, and the number of cells with other categories, by column.
    fn encode_table<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyAny>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize, Others)> {
        let (table, model) = (to_table(columns)?, self.0.clone());
        let n_rows = table.n_rows();
        let output = run(py, settings, move |_| model.encode_table(&table))?;
        Ok((output.values.into_pyarray(py), n_rows - output.rows.len(), output.other))
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
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().0.to_bytes().map_err(to_python)?;
        Ok((slf.get_type().getattr("from_bytes")?, (PyBytes::new(slf.py(), &bytes),)))
    }
}
