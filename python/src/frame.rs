//! Data frames, prepared like files.

use crate::error::to_python;
use kernsift::data::{
    Account, Column, ColumnOptions, ColumnType, Dataset, Encoder, Encoding, Prepare, Recipe, Table,
    TargetChoice, Values, table::MISSING,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Columns with categories that the training table does not have, and their numbers of rows.
pub type Others = Vec<(String, usize)>;

/// A column of a frame.
#[derive(FromPyObject)]
pub enum ColumnArgument<'py> {
    /// Numbers; NaN where a value is missing.
    Numbers(PyReadonlyArray1<'py, f64>),
    /// Text; None where a value is missing.
    Text(Vec<Option<String>>),
    /// The code of each cell, negative where a value is missing, and the texts.
    Coded(PyReadonlyArray1<'py, i64>, Vec<String>),
    /// A list of an array: days since 1970-01-01; NaN where a value is missing.
    Dates([PyReadonlyArray1<'py, f64>; 1]),
}

/// A table of named columns.
pub fn to_table(columns: Vec<(String, ColumnArgument<'_>)>) -> PyResult<Table> {
    let columns = columns.into_iter().map(|(name, cells)| match cells {
        ColumnArgument::Numbers(values) => Column::numeric(name, values.as_array().to_vec()),
        ColumnArgument::Text(cells) => Column::text(name, cells.iter().map(Option::as_deref)),
        ColumnArgument::Coded(codes, levels) => {
            let code = |&code: &i64| u32::try_from(code).ok().filter(|&c| (c as usize) < levels.len());
            let codes = codes.as_array().iter().map(|c| code(c).unwrap_or(MISSING)).collect();
            Column { name, values: Values::Text { codes, levels } }
        }
        ColumnArgument::Dates([days]) => Column { name, values: Values::Date(days.as_array().to_vec()) },
    });
    Table::new(columns.collect()).map_err(to_python)
}

/// The preparation of a frame; `ordered` has the levels of ordered categories.
fn prepare(ordered: Vec<(String, Vec<String>)>, target: TargetChoice) -> Prepare {
    let types = ordered.into_iter().map(|(name, levels)| (name, ColumnType::Ordered(levels))).collect();
    Prepare { target, columns: ColumnOptions { types, ..ColumnOptions::default() }, ..Prepare::default() }
}

/// The account of a frame as JSON, and in a few lines.
#[pyfunction]
pub fn inspect(
    columns: Vec<(String, ColumnArgument<'_>)>,
    ordered: Vec<(String, Vec<String>)>,
    target: Option<String>,
) -> PyResult<(String, Vec<String>)> {
    let target = target.map_or(TargetChoice::None, TargetChoice::Named);
    let (account, notes) = prepare(ordered, target).inspect(&to_table(columns)?).map_err(to_python)?;
    Ok((to_json(&account)?, notes.into_iter().chain(account.lines()).collect()))
}

/// The typed features of a data frame.
#[pyclass(frozen, module = "kernsift._native")]
pub struct Prepared {
    pub data: Dataset,
    recipe: Recipe,
    /// The column of the frame that each feature comes from.
    positions: Vec<usize>,
    /// What each column of the frame holds, and what is done with it.
    account: Arc<Account>,
}

#[pymethods]
impl Prepared {
    /// Infers the types of columns. `ordered` has the levels of ordered categories.
    #[new]
    fn new(
        columns: Vec<(String, ColumnArgument<'_>)>,
        ordered: Vec<(String, Vec<String>)>,
    ) -> PyResult<Self> {
        let table = to_table(columns)?;
        let prepared = prepare(ordered, TargetChoice::None).fit(&table).map_err(to_python)?;
        let names = table.names();
        let position = |name: &str| names.iter().position(|n| *n == name).expect("a column of the table");
        Ok(Self {
            positions: prepared.recipe.columns().map(position).collect(),
            account: Arc::new(prepared.account),
            data: prepared.data,
            recipe: prepared.recipe,
        })
    }

    /// These rows.
    fn take(&self, rows: PyReadonlyArray1<'_, i64>) -> Self {
        let rows: Vec<usize> = rows.as_array().iter().map(|&row| row as usize).collect();
        Self {
            data: self.data.take_rows(&rows),
            recipe: self.recipe.clone(),
            positions: self.positions.clone(),
            account: self.account.clone(),
        }
    }

    /// Number of rows.
    #[getter]
    fn n_samples(&self) -> usize {
        self.data.n()
    }

    /// Names of the features.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.data.names().to_vec()
    }

    /// The column of the frame that each feature comes from.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.positions.iter().map(|&place| place as i64).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The columns that are not used, with the reasons.
    #[getter]
    fn skipped(&self) -> Option<String> {
        self.account.skipped()
    }

    /// The account of the frame as JSON.
    #[getter]
    fn account(&self) -> PyResult<String> {
        to_json(&*self.account)
    }

    /// Number of missing values.
    #[getter]
    fn n_missing(&self) -> usize {
        self.data.n() * self.data.d() - self.data.x().n_present().sum()
    }

    /// The encoded features, and how to encode other rows.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        standardize: bool,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, FrameEncoder)> {
        let encoding = Encoding { standardize, ..Encoding::default() };
        let encoder = Encoder::fit(&self.data, encoding).map_err(to_python)?;
        let x = encoder.apply(self.data.x()).map_err(to_python)?.into_dense();
        Ok((x.into_pyarray(py), FrameEncoder { recipe: self.recipe.clone(), encoder }))
    }
}

/// Encodes frames like the one it was fitted to.
#[pyclass(frozen, module = "kernsift._native")]
#[derive(Serialize, Deserialize)]
pub struct FrameEncoder {
    recipe: Recipe,
    encoder: Encoder,
}

#[pymethods]
impl FrameEncoder {
    /// The encoded features of a frame, and the number of cells with other categories, by column.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, ColumnArgument<'py>)>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Others)> {
        let applied = self.recipe.apply(&to_table(columns)?).map_err(to_python)?;
        let x = self.encoder.apply(applied.data.x()).map_err(to_python)?;
        Ok((x.into_dense().into_pyarray(py), applied.other))
    }

    /// The encoder as JSON.
    fn to_json(&self) -> PyResult<String> {
        to_json(self)
    }

    /// An encoder from JSON.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        serde_json::from_str(json).map_err(|e| PyValueError::new_err(format!("encoder: {e}")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }
}

fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}
