//! Comparison of methods. Results are returned as the text of the results log.

use crate::convert::{RowsArgument, TargetArgument, from_json, to_json, to_triplets};
use crate::error::to_python;
use crate::run::{Settings, run};
use kernsift::data::write::write_atomic;
use kernsift::data::{Fold, ImputeStrategy, Splits, Target};
use kernsift::evaluate::{Candidate, Compare, Evaluator, Measure, ResultsLog, SplitChoice, Summary, scores};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;
use std::path::PathBuf;

/// Training and test indices.
type SplitArgument<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>);

/// A comparison in the JSON of the Python package.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    methods: Vec<RequestedMethod>,
    counts: Vec<usize>,
    splits: Splits,
    /// As on the command line: `knn:n_neighbors=3`; null is the default evaluator.
    evaluator: Option<String>,
    standardize: bool,
    /// Imputation; with null, missing values are an error.
    fill: Option<ImputeStrategy>,
    baseline: bool,
    /// Name of the data.
    name: String,
}

/// A requested method.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RequestedMethod {
    /// All that support the target.
    All,
    /// By name, with or without parameters.
    Named { label: Option<String>, text: String },
    /// With all its parameters.
    Method(Candidate),
}

/// Runs or resumes a comparison. Returns the results log, the costs, and the labels of the methods in the given order.
#[pyfunction]
#[pyo3(signature = (plan, x, names, y, splits, record, settings))]
#[expect(clippy::too_many_arguments, reason = "they are the parameters of a function of the package")]
pub fn compare<'py>(
    py: Python<'py>,
    plan: &str,
    x: RowsArgument<'py>,
    names: Vec<String>,
    y: TargetArgument<'py>,
    splits: Option<Vec<SplitArgument<'py>>>,
    record: Option<PathBuf>,
    settings: Settings,
) -> PyResult<(String, String, Vec<String>)> {
    let plan: Plan = from_json("compare", plan)?;
    let target = y.to_target()?;
    let data = x.to_data(Some(names), target)?;
    if plan.fill.is_none() {
        data.need_complete("compare").map_err(to_python)?;
    }
    drop(x);
    let splits = match splits {
        None => SplitChoice::Generated(plan.splits),
        Some(splits) => SplitChoice::Given(splits.iter().map(to_fold).collect::<PyResult<_>>()?),
    };
    let compare = Compare {
        candidates: candidates(plan.methods, data.target()).map_err(to_python)?,
        counts: plan.counts,
        splits,
        evaluator: plan
            .evaluator
            .map_or_else(|| Ok(Evaluator::for_target(data.target())), |text| Evaluator::parse(&text))
            .map_err(to_python)?,
        scale: plan.standardize,
        impute: plan.fill.unwrap_or_default(),
        baseline: plan.baseline,
    };
    let labels = compare.candidates.iter().map(|c| c.label.clone()).collect();
    let (text, costs) = run(py, settings, move |ctx| {
        let mut log = match record {
            Some(path) => ResultsLog::open(&path)?,
            None => ResultsLog::in_memory(),
        };
        compare.run(&data, &plan.name, &mut log, ctx)?;
        Ok((log.text(), log.cost_text()))
    })?;
    Ok((text, costs, labels))
}

/// The table of a results log, as JSON.
#[pyfunction]
pub fn summarize(
    record: &str,
    costs: &str,
    labels: Vec<String>,
    counts: Vec<usize>,
    measure: &str,
) -> PyResult<String> {
    let log = ResultsLog::from_text(record, costs).map_err(to_python)?;
    let measure = Measure::by_name(measure).map_err(to_python)?;
    to_json(&Summary::of(&log, &labels, &counts, measure))
}

/// The report of a results log.
#[pyfunction]
pub fn compare_page(
    record: &str,
    costs: &str,
    labels: Vec<String>,
    counts: Vec<usize>,
    measure: &str,
    title: &str,
    code: &str,
) -> PyResult<String> {
    let log = ResultsLog::from_text(record, costs).map_err(to_python)?;
    let measure = Measure::by_name(measure).map_err(to_python)?;
    let summary = Summary::of(&log, &labels, &counts, measure);
    Ok(kernsift_report::compare_page(&log, &summary, None, title, code))
}

/// Writes text to a file atomically.
#[pyfunction]
pub fn write_text(path: PathBuf, text: &str) -> PyResult<()> {
    write_atomic(&path, |out| out.write_all(text.as_bytes())).map_err(to_python)
}

/// The fraction of triplets that a Gram matrix satisfies.
#[pyfunction]
pub fn triplet_accuracy(
    gram: PyReadonlyArray2<'_, f64>,
    triplets: PyReadonlyArray2<'_, i64>,
) -> PyResult<f64> {
    scores::triplet_accuracy(gram.as_array(), &to_triplets(&triplets)).map_err(to_python)
}

fn to_fold(split: &SplitArgument<'_>) -> PyResult<Fold> {
    let rows = |rows: &PyReadonlyArray1<'_, i64>| {
        let row = |&row: &i64| {
            usize::try_from(row)
                .map_err(|_| PyValueError::new_err(format!("cv: row numbers count from 0, got {row}")))
        };
        rows.as_array().iter().map(row).collect::<PyResult<Vec<usize>>>()
    };
    Ok(Fold { train: rows(&split.0)?, test: rows(&split.1)? })
}

fn candidates(requested: Vec<RequestedMethod>, target: &Target) -> kernsift::Result<Vec<Candidate>> {
    let mut all: Vec<Candidate> = vec![];
    for method in requested {
        match method {
            // Methods named before 'all' are not added again.
            RequestedMethod::All => {
                let known: Vec<String> = all.iter().map(|c| c.label.clone()).collect();
                all.extend(Candidate::all_for(target).into_iter().filter(|c| !known.contains(&c.label)));
            }
            RequestedMethod::Named { label, text } => {
                let method = Candidate::parse(&text)?;
                all.push(Candidate { label: label.unwrap_or(method.label), method: method.method });
            }
            RequestedMethod::Method(candidate) => all.push(candidate),
        }
    }
    Ok(all)
}
