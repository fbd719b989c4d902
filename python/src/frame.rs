//! Data frames, prepared like files.

use crate::array::VectorArgument;
use crate::error::to_python;
use crate::run::{Settings, run};
use crate::values::{from_json, to_indices, to_json};
use kernsift::Error;
use kernsift::data::{
    Account, Column, ColumnOptions, ColumnType, Dataset, Encoder, Encoding, Missing, Prepare, Recipe, Table,
    Target, TargetChoice, TargetType, Values, read_target as read_target_of, table::MISSING,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// An array of NumPy.
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Columns with categories that the training table does not have, and their numbers of rows.
pub type Others = Vec<(String, usize)>;

/// All integers up to this size are exact in an f64.
const MAX_EXACT: u64 = 1 << 53;

/// A column of a frame.
#[derive(FromPyObject)]
enum ColumnArgument<'py> {
    /// Numbers; NaN where a value is missing.
    Numbers(VectorArgument<'py, f64>),
    /// Integers, of which none is missing.
    Integers(VectorArgument<'py, i64>),
    /// Text; None where a value is missing.
    Text(Vec<Option<String>>),
    /// The code of each cell, negative where a value is missing; the texts; and the type: text, category or ordered.
    Coded(VectorArgument<'py, i64>, Vec<String>, String),
    /// A list of an array: days since 1970-01-01; NaN where a value is missing.
    Dates([VectorArgument<'py, f64>; 1]),
}

impl ColumnArgument<'_> {
    fn to_column(&self, name: String) -> Column {
        let values = match self {
            Self::Numbers(values) => Values::Numeric(values.as_array().to_vec()),
            Self::Integers(values) => return integers(name, values),
            Self::Text(cells) => return Column::text(name, cells.iter().map(Option::as_deref)),
            Self::Coded(codes, levels, _) => {
                let code = |&code: &i64| u32::try_from(code).ok().filter(|&c| (c as usize) < levels.len());
                let codes = codes.as_array().iter().map(|c| code(c).unwrap_or(MISSING)).collect();
                Values::Text { codes, levels: levels.clone() }
            }
            Self::Dates([days]) => Values::Date(days.as_array().to_vec()),
        };
        Column { name, values }
    }

    /// The type of the column, if the frame decides it.
    fn column_type(&self) -> Option<ColumnType> {
        match self {
            Self::Coded(_, levels, kind) if kind == "ordered" => Some(ColumnType::Ordered(levels.clone())),
            Self::Coded(_, _, kind) if kind == "category" => Some(ColumnType::Category),
            _ => None,
        }
    }
}

/// Numbers, or text if one of them would be rounded.
fn integers(name: String, values: &VectorArgument<'_, i64>) -> Column {
    let values = values.as_array();
    if values.iter().all(|v| v.unsigned_abs() <= MAX_EXACT) {
        return Column::numeric(name, values.iter().map(|&v| v as f64).collect());
    }
    let cells: Vec<String> = values.iter().map(i64::to_string).collect();
    Column::text(name, cells.iter().map(|cell| Some(cell.as_str())))
}

/// A table and the types that the frame decides, from an iterable of names and columns. Columns are converted one after
/// the other, so that temporary arrays of an iterator do not add up.
fn read_columns(columns: &Bound<'_, PyAny>) -> PyResult<(Table, Vec<(String, ColumnType)>)> {
    let (mut all, mut types) = (vec![], vec![]);
    for item in columns.try_iter()? {
        let item = item?;
        let (name, cells): (String, ColumnArgument<'_>) = item.extract()?;
        types.extend(cells.column_type().map(|kind| (name.clone(), kind)));
        all.push(cells.to_column(name));
    }
    Ok((Table::new(all).map_err(to_python)?, types))
}

/// A table from an iterable of names and columns.
pub fn to_table(columns: &Bound<'_, PyAny>) -> PyResult<Table> {
    Ok(read_columns(columns)?.0)
}

/// How to prepare a frame, in the JSON of the Python package.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The target column, if the frame has it.
    target: Option<String>,
    target_type: TargetType,
    missing: Missing,
    include: Vec<String>,
    exclude: Vec<String>,
    id: Vec<String>,
    /// Patterns of columns and their types.
    types: Vec<(String, ColumnType)>,
}

/// Returns an error for types that do not exist; `options` is JSON.
#[pyfunction]
pub fn check_column_options(options: &str) -> PyResult<()> {
    from_json::<Options>("set_columns", options).map(drop)
}

fn read_frame(columns: &Bound<'_, PyAny>, options: &str) -> PyResult<(Table, Prepare)> {
    let options: Options = from_json("options", options)?;
    let (table, mut types) = read_columns(columns)?;
    types.extend(options.types);
    let prepare = Prepare {
        target: options.target.map_or(TargetChoice::None, TargetChoice::Named),
        target_type: options.target_type,
        missing: options.missing,
        columns: ColumnOptions {
            include: options.include,
            exclude: options.exclude,
            id: options.id,
            types,
            decimal: None,
        },
        ..Prepare::default()
    };
    Ok((table, prepare))
}

/// The account of a frame as JSON, and in a few lines.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    columns: &Bound<'_, PyAny>,
    options: &str,
    settings: Settings,
) -> PyResult<(String, Vec<String>)> {
    let (table, prepare) = read_frame(columns, options)?;
    let (account, notes) = run(py, settings, move |_| prepare.inspect(&table))?;
    Ok((to_json(&account)?, notes.into_iter().chain(account.lines()).collect()))
}

/// The classes or numbers of a column without missing values.
#[pyfunction]
pub fn read_target<'py>(
    py: Python<'py>,
    column: &Bound<'py, PyAny>,
    target_type: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let target_type: TargetType = from_json("target_type", &format!("\"{target_type}\""))?;
    let column = column.extract::<ColumnArgument<'_>>()?.to_column("y".into());
    let target = read_target_of(&column, target_type).map_err(|error| match error {
        Error::NotNumeric { row, text, .. } => PyValueError::new_err(format!(
            "y has '{text}' in sample {}, which is not a number. Pass numbers, or target_type=\"class\" for class labels.",
            row - 1
        )),
        other => to_python(other),
    })?;
    target_to_python(py, &target)
}

/// A class index per row and the class names; numbers; or None.
fn target_to_python<'py>(py: Python<'py>, target: &Target) -> PyResult<Bound<'py, PyAny>> {
    match target {
        Target::None => Ok(py.None().into_bound(py)),
        Target::Continuous(values) => Ok(values.to_pyarray(py).into_any()),
        Target::Outputs(y) => Ok(y.to_pyarray(py).into_any()),
        Target::Classes(classes) => {
            let codes = to_indices(&classes.codes).into_pyarray(py);
            Ok((codes, classes.names.clone()).into_pyobject(py)?.into_any())
        }
    }
}

/// The typed features of a data frame.
#[pyclass(frozen, module = "kernsift._native")]
pub struct Prepared {
    /// Computations share it; a new target replaces it.
    data: Mutex<Arc<Dataset>>,
    /// How the frame is read.
    pub recipe: Recipe,
    /// The column of the frame that each feature comes from.
    pub positions: Vec<usize>,
    /// What each column of the frame holds, and what is done with it.
    account: Arc<Account>,
    /// The row of the frame that each sample comes from.
    rows: Vec<usize>,
    /// Messages and warnings.
    notes: Vec<String>,
}

impl Prepared {
    /// The features, and the target if there is one.
    pub fn data(&self) -> Arc<Dataset> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How to encode the features.
    pub fn encoding(&self, standardize: bool) -> Encoding {
        Encoding { impute: self.account.missing.imputation(), standardize }
    }

    /// The features with a target; they are not copied unless a computation still uses them.
    pub fn with_target(&self, target: Target) -> PyResult<Arc<Dataset>> {
        let mut data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut data).set_target(target).map_err(to_python)?;
        Ok(data.clone())
    }
}

#[pymethods]
impl Prepared {
    /// Infers the types of columns; `options` is JSON.
    #[new]
    fn new(py: Python<'_>, columns: &Bound<'_, PyAny>, options: &str, settings: Settings) -> PyResult<Self> {
        let (table, prepare) = read_frame(columns, options)?;
        let names: Vec<String> = table.names().into_iter().map(str::to_owned).collect();
        let prepared = run(py, settings, move |_| prepare.fit(&table))?;
        let position = |name: &str| names.iter().position(|n| n == name).expect("a column of the table");
        Ok(Self {
            positions: prepared.recipe.columns().map(position).collect(),
            notes: prepared.notes.into_iter().chain(prepared.account.warnings.clone()).collect(),
            account: Arc::new(prepared.account),
            data: Mutex::new(Arc::new(prepared.data)),
            rows: prepared.rows,
            recipe: prepared.recipe,
        })
    }

    /// These samples.
    fn take(&self, rows: VectorArgument<'_, i64>) -> Self {
        let rows: Vec<usize> = rows.as_array().iter().map(|&row| row as usize).collect();
        Self {
            data: Mutex::new(Arc::new(self.data().take_rows(&rows))),
            recipe: self.recipe.clone(),
            positions: self.positions.clone(),
            account: self.account.clone(),
            rows: rows.iter().map(|&row| self.rows[row]).collect(),
            notes: self.notes.clone(),
        }
    }

    /// Number of samples.
    #[getter]
    fn n_samples(&self) -> usize {
        self.data().n()
    }

    /// Names of the features.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.data().names().to_vec()
    }

    /// The column of the frame that each feature comes from.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        to_indices(&self.positions).into_pyarray(py)
    }

    /// The row of the frame that each sample comes from.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        to_indices(&self.rows).into_pyarray(py)
    }

    /// The target, if the frame has it.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        target_to_python(py, self.data().target())
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

    /// Messages about the target and about values that cannot be read.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Number of missing values.
    #[getter]
    fn n_missing(&self) -> usize {
        let data = self.data();
        data.n() * data.d() - data.x().n_present().sum()
    }

    /// The encoded features, and how to encode other rows.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        standardize: bool,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, FrameEncoder)> {
        let (data, encoding) = (self.data(), self.encoding(standardize));
        let (x, encoder) = run(py, settings, move |_| {
            let encoder = Encoder::fit(&data, encoding)?;
            Ok((encoder.apply(data.x())?.into_dense(), encoder))
        })?;
        let (recipe, positions) = (self.recipe.clone(), self.positions.clone());
        Ok((x.into_pyarray(py), FrameEncoder { recipe, encoder, positions }))
    }
}

/// Encodes frames like the one it was fitted to.
#[pyclass(frozen, module = "kernsift._native")]
#[derive(Serialize, Deserialize)]
pub struct FrameEncoder {
    recipe: Recipe,
    encoder: Encoder,
    /// The column of the frame that each feature comes from.
    positions: Vec<usize>,
}

#[pymethods]
impl FrameEncoder {
    /// The encoded features of a frame, and the number of cells with other categories, by column.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: &Bound<'py, PyAny>,
        settings: Settings,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Others)> {
        let (table, recipe, encoder) = (to_table(columns)?, self.recipe.clone(), self.encoder.clone());
        let (x, other) = run(py, settings, move |_| {
            let applied = recipe.apply(&table)?;
            Ok((encoder.apply(applied.data.x())?.into_dense(), applied.other))
        })?;
        Ok((x.into_pyarray(py), other))
    }

    /// Names of the features.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.recipe.columns().map(str::to_owned).collect()
    }

    /// The column of the frame that each feature comes from.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        to_indices(&self.positions).into_pyarray(py)
    }

    /// Number of encoded columns of each feature.
    #[getter]
    fn sizes(&self) -> Vec<usize> {
        self.encoder.groups().iter().map(|columns| columns.len()).collect()
    }

    /// Means and standard deviations of the features, if the encoding only standardizes.
    #[getter]
    fn scaling<'py>(&self, py: Python<'py>) -> Option<(Numbers<'py>, Numbers<'py>)> {
        let encoder = Some(&self.encoder).filter(|encoder| encoder.keeps_columns())?;
        Some((encoder.shift()?.to_pyarray(py), encoder.scale()?.to_pyarray(py)))
    }

    /// The encoder as JSON.
    fn to_json(&self) -> PyResult<String> {
        to_json(self)
    }

    /// An encoder from JSON.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        from_json("encoder", json)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json()?,)))
    }
}
