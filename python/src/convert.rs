//! Conversion between Python's arrays and the core's types.

use crate::array::{MatrixArgument, VectorArgument};
use crate::error::to_python;
use crate::frame::Prepared;
pub use crate::values::{from_json, name_of, to_indices, to_json};
use kernsift::data::{
    Classes, Dataset, Encoder, Encoding, Fold, Groups, Rows, SparseRows, SplitRule, Target, Triplet,
};
use kernsift::{Outcome, Stop};
use numpy::ToPyArray;
use numpy::ndarray::Array2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Samples: a 2-d array, or the parts of a compressed sparse row matrix.
#[derive(FromPyObject)]
pub enum RowsArgument<'py> {
    /// A dense array of any memory layout.
    Dense(MatrixArgument<'py, f64>),
    /// A prepared data frame.
    Prepared(PyRef<'py, Prepared>),
    /// Number of columns, row starts, columns, values.
    Sparse(usize, VectorArgument<'py, u64>, VectorArgument<'py, u32>, VectorArgument<'py, f64>),
}

impl RowsArgument<'_> {
    /// Features of these names, or x1, x2, ...; values may be missing. A prepared data frame has names and types of its own.
    pub fn to_data(&self, names: Option<Vec<String>>, target: Target) -> PyResult<Arc<Dataset>> {
        if let Self::Prepared(prepared) = self {
            return prepared.with_target(target);
        }
        let x = self.to_rows()?;
        let names = names.unwrap_or_else(|| (1..=x.d()).map(|j| format!("x{j}")).collect());
        Dataset::with_missing(names, x, target).map(Arc::new).map_err(to_python)
    }

    /// How to encode the features.
    pub fn encoding(&self, standardize: bool) -> Encoding {
        match self {
            Self::Prepared(prepared) => prepared.encoding(standardize),
            _ => Encoding { standardize, ..Encoding::default() },
        }
    }

    /// A copy: without the interpreter's lock, other threads may write to the array.
    pub fn to_rows(&self) -> PyResult<Rows> {
        match self {
            // In row-major order, as the core needs it.
            Self::Dense(x) => Ok(x.as_array().as_standard_layout().into_owned().into()),
            Self::Prepared(prepared) => Ok(prepared.data().x().clone()),
            Self::Sparse(n_columns, start, column, value) => {
                let start = start.as_array().iter().map(|&s| s as usize).collect();
                SparseRows::new(*n_columns, start, column.as_array().to_vec(), value.as_array().to_vec())
                    .map(Rows::from)
                    .map_err(to_python)
            }
        }
    }
}

/// Class labels: a class index per sample, and the names of the classes.
#[derive(FromPyObject)]
pub struct ClassesArgument<'py>(VectorArgument<'py, i64>, Vec<String>);

impl ClassesArgument<'_> {
    fn to_target(&self) -> PyResult<Target> {
        // A negative index wraps to one without a name, which is an error.
        let codes = self.0.as_array().iter().map(|&c| c as usize).collect();
        Ok(Target::Classes(Classes::new(codes, self.1.clone()).map_err(to_python)?))
    }
}

/// A target: classes, or one or several numbers per sample.
#[derive(FromPyObject)]
pub enum TargetArgument<'py> {
    Classes(ClassesArgument<'py>),
    Numbers(VectorArgument<'py, f64>),
    Outputs(MatrixArgument<'py, f64>),
}

impl TargetArgument<'_> {
    /// The target.
    pub fn to_target(&self) -> PyResult<Target> {
        match self {
            Self::Classes(classes) => classes.to_target(),
            Self::Numbers(values) => Ok(Target::Continuous(values.as_array().to_vec())),
            Self::Outputs(y) => Ok(Target::Outputs(y.as_array().to_owned())),
        }
    }
}

/// Training and test indices.
pub type SplitArgument<'py> = (VectorArgument<'py, i64>, VectorArgument<'py, i64>);

/// A split of the rows.
pub fn to_fold(split: &SplitArgument<'_>) -> PyResult<Fold> {
    let rows = |rows: &VectorArgument<'_, i64>| {
        let row = |&row: &i64| {
            usize::try_from(row)
                .map_err(|_| PyValueError::new_err(format!("cv: row numbers count from 0, got {row}")))
        };
        rows.as_array().iter().map(row).collect::<PyResult<Vec<usize>>>()
    };
    Ok(Fold { train: rows(&split.0)?, test: rows(&split.1)? })
}

/// What splits of the rows respect: the group of each row as a number from 0, or splits.
#[derive(FromPyObject)]
pub enum RuleArgument<'py> {
    Groups(VectorArgument<'py, i64>),
    Given(Vec<SplitArgument<'py>>),
}

impl RuleArgument<'_> {
    fn to_rule(&self) -> PyResult<SplitRule> {
        match self {
            Self::Groups(groups) => {
                let groups = groups.as_array().iter().map(|&group| group as usize).collect();
                SplitRule::groups(groups, "groups").map_err(to_python)
            }
            Self::Given(splits) => Ok(SplitRule::Given(splits.iter().map(to_fold).collect::<PyResult<_>>()?)),
        }
    }
}

/// The data with what splits of its rows respect.
pub fn with_rule(data: Arc<Dataset>, rule: Option<RuleArgument<'_>>) -> PyResult<Arc<Dataset>> {
    match rule {
        None => Ok(data),
        Some(rule) => {
            let data = Arc::unwrap_or_clone(data).with_split_rule(rule.to_rule()?);
            data.map(Arc::new).map_err(to_python)
        }
    }
}

/// A weight per sample, and whether classes are weighted equally.
pub type WeightsArgument<'py> = (Option<VectorArgument<'py, f64>>, bool);

/// The data with weights of samples and classes.
pub fn with_weights(
    data: Arc<Dataset>,
    (weights, balanced): WeightsArgument<'_>,
) -> kernsift::Result<Arc<Dataset>> {
    if weights.is_none() && !balanced {
        return Ok(data);
    }
    let mut data = Arc::unwrap_or_clone(data);
    if let Some(weights) = weights {
        data = data.with_weights(weights.as_array().to_vec(), "sample_weight")?;
    }
    Ok(Arc::new(if balanced { data.with_balanced_classes()? } else { data }))
}

/// Samples and, if given, their classes.
pub fn to_dataset(x: &RowsArgument<'_>, y: Option<ClassesArgument<'_>>) -> PyResult<Dataset> {
    let target = y.map_or(Ok(Target::None), |classes| classes.to_target())?;
    Dataset::with_target(x.to_rows()?, target).map_err(to_python)
}

/// Samples, which may have missing values, and a target of any kind.
pub fn to_dataset_with_missing(
    x: &RowsArgument<'_>,
    y: Option<TargetArgument<'_>>,
) -> PyResult<Arc<Dataset>> {
    let target = y.map_or(Ok(Target::None), |target| target.to_target())?;
    x.to_data(None, target)
}

/// Encoded samples and a target of any kind. `sizes` are the numbers of columns of each feature; without it every column
/// is a feature.
pub fn to_encoded_dataset(
    x: &RowsArgument<'_>,
    sizes: Option<Vec<usize>>,
    y: Option<TargetArgument<'_>>,
) -> PyResult<Dataset> {
    let target = y.map_or(Ok(Target::None), |target| target.to_target())?;
    let x = x.to_rows()?;
    let data = match sizes {
        None => Dataset::with_target(x, target),
        Some(sizes) => {
            let names = (1..=sizes.len()).map(|j| format!("x{j}")).collect();
            Dataset::encoded(names, x.into_dense(), Groups::of_sizes(sizes), target)
        }
    };
    data.map_err(to_python)
}

/// The data, standardized if requested, and the scaling.
pub fn scaled(data: Dataset, standardize: bool) -> kernsift::Result<(Dataset, Option<Encoder>)> {
    if !standardize {
        return Ok((data, None));
    }
    let encoder = Encoder::fit(&data, Encoding { impute: None, standardize })?;
    Ok((encoder.encode(&data)?, Some(encoder)))
}

/// Triplets of sample indices; `triplets` has three columns.
pub fn to_triplets(triplets: &MatrixArgument<'_, i64>) -> Vec<Triplet> {
    // The Python package has checked that indices are not negative.
    triplets.as_array().rows().into_iter().map(|t| [t[0] as usize, t[1] as usize, t[2] as usize]).collect()
}

/// Triplets as an array with three columns.
pub fn from_triplets(triplets: &[Triplet]) -> Array2<i64> {
    Array2::from_shape_fn((triplets.len(), 3), |(t, place)| triplets[t][place] as i64)
}

/// Sets `iterations`, `converged` and `stop`, the reason in words.
pub fn set_outcome(dict: &Bound<'_, PyDict>, outcome: &Outcome) -> PyResult<()> {
    dict.set_item("iterations", outcome.iterations)?;
    set_stop(dict, outcome.stop)
}

/// Sets `converged` and `stop`.
pub fn set_stop(dict: &Bound<'_, PyDict>, stop: Stop) -> PyResult<()> {
    dict.set_item("stop", stop.explain())?;
    dict.set_item("converged", stop.converged())
}

/// Sets `shift` and `scale`; both are None without scaling.
pub fn set_scaling(dict: &Bound<'_, PyDict>, encoder: Option<&Encoder>) -> PyResult<()> {
    let py = dict.py();
    dict.set_item("shift", encoder.and_then(Encoder::shift).map(|shift| shift.to_pyarray(py)))?;
    dict.set_item("scale", encoder.and_then(Encoder::scale).map(|scale| scale.to_pyarray(py)))
}
