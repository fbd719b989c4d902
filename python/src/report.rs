//! HTML reports about fitted estimators.

use crate::basis::FeatureMap;
use crate::convert::{RowsArgument, TargetArgument, from_json, to_dataset_with_missing};
use crate::error::to_python;
use crate::run::{Settings, run};
use crate::space::KernelSpace;
use kernsift::Outcome;
use kernsift::basis::BasisMethod;
use kernsift::data::{Dataset, Target};
use kernsift::evaluate::{self, Metric, ResultsLog, Summary};
use kernsift::select::Selection;
use kernsift::significance::SelectionSignificance;
use kernsift_report::{Design, MappedRows, RunInfo, Validation};
use numpy::{IntoPyArray, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// How rows are numbered.
const NUMBERING: &str = "Row numbers start at 0.";

/// Result of cross-validation: results log, costs, numbers of features, measure; or why there is none.
#[derive(FromPyObject)]
pub enum CheckArgument {
    Done(String, String, Vec<usize>, String),
    Not(String),
}

impl CheckArgument {
    fn read(self, label: &str) -> PyResult<Validation> {
        match self {
            Self::Not(why) => Ok(Validation::Skipped(why)),
            Self::Done(record, costs, counts, measure) => {
                let log = ResultsLog::from_text(&record, &costs).map_err(to_python)?;
                let summary = Summary::of(&log, &[label.to_owned()], &counts, Metric::by_name(&measure));
                Ok(Validation::of(log, summary))
            }
        }
    }
}

/// A fit and its data: facts as JSON, samples, which may have missing values, feature names, and a target if there is
/// one.
#[derive(FromPyObject)]
pub struct FitArgument<'py>(String, RowsArgument<'py>, Vec<String>, Option<TargetArgument<'py>>);

impl FitArgument<'_> {
    pub fn read(self) -> PyResult<(RunInfo, Arc<Dataset>)> {
        let Self(facts, x, names, y) = self;
        let target = y.map_or(Ok(Target::None), |target| target.to_target())?;
        let data = x.to_data(Some(names), target)?;
        Ok((from_json("page", &facts)?, data))
    }
}

/// The report of a feature selection.
#[pyfunction]
pub fn selection_page(
    py: Python<'_>,
    fit: FitArgument<'_>,
    order: Vec<usize>,
    scores: Vec<f64>,
    selected: (usize, Option<String>),
    check: CheckArgument,
    settings: Settings,
) -> PyResult<String> {
    let (info, data) = fit.read()?;
    let (n_selected, automatic) = selected;
    let method = info.method.clone();
    let validation = check.read(&method)?;
    let selection = Selection {
        order,
        n_selected,
        outcome: Outcome::direct(),
        automatic: automatic.map(|found| from_json("automatic", &found)).transpose()?,
        ..Selection::by_score(&method, scores, n_selected)
    };
    run(py, settings, move |ctx| {
        let mut significance = SelectionSignificance::new(&data, &selection, None, ctx)?;
        significance.complete(&data, ctx)?;
        kernsift_report::selection_page(&info, &data, (&selection, &significance), &validation, ctx)
    })
}

/// The report of a selection in kernel space.
#[pyfunction]
pub fn space_page(
    py: Python<'_>,
    fit: FitArgument<'_>,
    space: &KernelSpace,
    check: CheckArgument,
    settings: Settings,
) -> PyResult<String> {
    let (info, data) = fit.read()?;
    need_training_rows(space.space()?.map(), &data)?;
    let validation = check.read(&info.method)?;
    let model = space.0.clone();
    run(py, settings, move |ctx| {
        let kernsift::model::Content::Space(space) = &model.content else { unreachable!("checked before") };
        let features = model.apply(data.x(), ctx)?;
        let rows: Vec<usize> = (0..data.n()).collect();
        let mapped = MappedRows { coordinates: features.view(), row_numbers: &rows, numbering: NUMBERING };
        kernsift_report::space_page(&info, &data, space, &mapped, &validation, ctx)
    })
}

/// The report of a basis; `method` has the threshold of KOBL, unless it is a callable.
#[pyfunction]
pub fn basis_page(
    py: Python<'_>,
    fit: FitArgument<'_>,
    map: &FeatureMap,
    method: Option<&str>,
    settings: Settings,
) -> PyResult<String> {
    let (info, data) = fit.read()?;
    need_training_rows(&map.0, &data)?;
    let threshold = match method.map(|method| from_json("basis", method)).transpose()? {
        Some(BasisMethod::Kobl(kobl)) => kobl.threshold_curve(map.0.summary()),
        _ => None,
    };
    let map = map.0.clone();
    run(py, settings, move |ctx| {
        let features = map.transform(data.x(), ctx)?;
        let rows: Vec<usize> = (0..data.n()).collect();
        let mapped = MappedRows { coordinates: features.view(), row_numbers: &rows, numbering: NUMBERING };
        kernsift_report::basis_page(&info, &data, &map, &mapped, threshold.as_deref(), ctx)
    })
}

/// Pivots are named by their indices.
fn need_training_rows(map: &kernsift::FeatureMap, data: &Dataset) -> PyResult<()> {
    let (fitted, given) = (map.summary().n_rows, data.n());
    if fitted == given {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("X must have the {fitted} training samples, got {given} samples.")))
}

/// The report of a learned kernel.
#[pyfunction]
pub fn design_page(
    py: Python<'_>,
    fit: FitArgument<'_>,
    design: &str,
    settings: Settings,
) -> PyResult<String> {
    let (info, data) = fit.read()?;
    let design: Design = from_json("page", design)?;
    run(py, settings, move |ctx| kernsift_report::design_page(&info, &data, &design, ctx))
}

/// Numbers of features around the selected one.
#[pyfunction]
pub fn counts_around(kept: usize, most: usize) -> Vec<usize> {
    evaluate::counts_around(kept, most)
}

/// Kernel alignment between features.
#[pyfunction]
pub fn alignment<'py>(
    py: Python<'py>,
    x: RowsArgument<'py>,
    columns: Vec<usize>,
    settings: Settings,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let data = to_dataset_with_missing(&x, None)?;
    drop(x);
    let values = run(py, settings, move |ctx| kernsift::dependence::alignment(&data, &columns, ctx))?;
    Ok(values.into_pyarray(py))
}
