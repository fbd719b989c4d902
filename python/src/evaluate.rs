//! Comparison of methods. Results are returned as the text of the results log.

use crate::convert::{
    RowsArgument, RuleArgument, SplitArgument, TargetArgument, WeightsArgument, from_json, to_fold,
    to_indices, to_json, to_triplets, with_rule, with_weights,
};
use crate::error::to_python;
use crate::run::{Settings, run};
use kernsift::data::write::write_atomic;
use kernsift::data::{Dataset, ImputeStrategy, Rows, Splits, Weights};
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, EvaluatorChoice, External, ExternalComparison, FoldSelection, Metric,
    ResultsLog, Scores, SplitChoice, Summary, scores,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A comparison in the JSON of the Python package.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    methods: Vec<RequestedMethod>,
    counts: Vec<usize>,
    splits: Splits,
    /// As on the command line: `knn:n_neighbors=3`; null is the default evaluator.
    evaluator: Option<String>,
    /// An estimator of another library in place of it.
    external: Option<External>,
    stratify: bool,
    /// The score of the table.
    scoring: String,
    standardize: bool,
    /// Imputation; with null, missing values are an error.
    fill: Option<ImputeStrategy>,
    baseline: bool,
    /// Name of the data.
    name: String,
    /// Seconds of the comparison.
    time_budget: Option<f64>,
}

/// A requested method.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RequestedMethod {
    /// Those that are compared by default.
    Default,
    /// All that support the target.
    All,
    /// By name, with or without parameters.
    Named { label: Option<String>, text: String },
    /// With all its parameters.
    Method(Candidate),
}

/// The parts of a comparison that both ways of evaluation have.
type Parts = (Compare, Arc<Dataset>, String);

impl Plan {
    /// The comparison, its data and their name.
    fn parts(
        self,
        x: RowsArgument<'_>,
        names: Vec<String>,
        y: &TargetArgument<'_>,
        (splits, groups, weights): Respected<'_>,
    ) -> PyResult<Parts> {
        let data = x.to_data(Some(names), y.to_target()?)?;
        if self.fill.is_none() {
            data.need_complete("compare").map_err(to_python)?;
        }
        drop(x);
        let data = with_weights(with_rule(data, groups)?, weights).map_err(to_python)?;
        let evaluator = match (self.external, self.evaluator) {
            (Some(external), _) => EvaluatorChoice::External(external),
            (None, Some(text)) => Evaluator::parse(&text).map_err(to_python)?.into(),
            (None, None) => Evaluator::for_target(data.target()).into(),
        };
        if let (EvaluatorChoice::BuiltIn(evaluator), Metric::BuiltIn(measure)) =
            (&evaluator, Metric::by_name(&self.scoring))
        {
            evaluator
                .check(&data)
                .and_then(|()| measure.check(data.target(), evaluator))
                .map_err(to_python)?;
        }
        let compare = Compare {
            candidates: candidates(self.methods, &data).map_err(to_python)?,
            counts: self.counts,
            splits: match splits {
                None => SplitChoice::Generated(self.splits),
                Some(splits) => SplitChoice::Given(splits.iter().map(to_fold).collect::<PyResult<_>>()?),
            },
            stratify: self.stratify,
            evaluator,
            scale: self.standardize,
            impute: self.fill.unwrap_or_default(),
            baseline: self.baseline,
        };
        Ok((compare, data, self.name))
    }
}

/// Given splits, groups and weights.
type Respected<'py> = (Option<Vec<SplitArgument<'py>>>, Option<RuleArgument<'py>>, WeightsArgument<'py>);

fn open(record: Option<PathBuf>) -> kernsift::Result<ResultsLog> {
    record.map_or_else(|| Ok(ResultsLog::in_memory()), |path| ResultsLog::open(&path))
}

/// Runs or resumes a comparison. Returns the results log, the costs, and the labels of the methods in the given order.
#[pyfunction]
#[pyo3(signature = (plan, x, names, y, respected, record, settings))]
#[expect(clippy::too_many_arguments, reason = "they are the parameters of a function of the package")]
pub fn compare<'py>(
    py: Python<'py>,
    plan: &str,
    x: RowsArgument<'py>,
    names: Vec<String>,
    y: TargetArgument<'py>,
    respected: Respected<'py>,
    record: Option<PathBuf>,
    settings: Settings,
) -> PyResult<(String, String, Vec<String>)> {
    let plan: Plan = from_json("compare", plan)?;
    // Seconds beyond the range of durations are no limit.
    let budget = plan.time_budget.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let (compare, data, name) = plan.parts(x, names, &y, respected)?;
    let labels = compare.candidates.iter().map(|c| c.label.clone()).collect();
    let (text, costs) = run(py, settings, move |ctx| {
        let mut log = open(record)?;
        for method in compare.run_within(budget, &data, &name, &mut log, ctx)? {
            ctx.warn(format!(
                "{} is left out of {} splits, which do not fit into the time budget",
                method.label, method.splits
            ));
        }
        Ok((log.text(), log.cost_text()))
    })?;
    Ok((text, costs, labels))
}

/// A comparison whose selections the Python package evaluates.
#[pyclass(module = "kernsift._native", frozen)]
pub struct Comparison {
    shared: Arc<Mutex<ExternalComparison>>,
    labels: Vec<String>,
}

/// For each number of features: the record as JSON, training and test rows of the selected features, and the name of the
/// feature of each column; without rows if the method failed.
type Selections<'py> =
    Vec<(String, Option<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Vec<String>)>)>;

/// Indices of rows, and their weights if there are any.
type WeightedRows<'py> = (Bound<'py, PyArray1<i64>>, Option<Bound<'py, PyArray1<f64>>>);

/// Label, training rows and test rows of a task.
type TaskOf<'py> = (String, WeightedRows<'py>, WeightedRows<'py>);

#[pymethods]
impl Comparison {
    /// Checks everything and makes the splits.
    #[new]
    #[pyo3(signature = (plan, x, names, y, respected, record, settings))]
    #[expect(clippy::too_many_arguments, reason = "they are the parameters of a function of the package")]
    fn new<'py>(
        py: Python<'py>,
        plan: &str,
        x: RowsArgument<'py>,
        names: Vec<String>,
        y: TargetArgument<'py>,
        respected: Respected<'py>,
        record: Option<PathBuf>,
        settings: Settings,
    ) -> PyResult<Self> {
        let plan: Plan = from_json("compare", plan)?;
        let (compare, data, name) = plan.parts(x, names, &y, respected)?;
        let labels = compare.candidates.iter().map(|c| c.label.clone()).collect();
        let begun = run(py, settings, move |ctx| {
            compare.check(&data)?;
            ExternalComparison::begin(&compare, data, &name, open(record)?, ctx)
        })?;
        Ok(Self { shared: Arc::new(Mutex::new(begun)), labels })
    }

    /// The labels of the methods, in the given order.
    #[getter]
    fn labels(&self) -> Vec<String> {
        self.labels.clone()
    }

    /// The number of tasks, each a method in a split, whose results are missing.
    #[getter]
    fn n_tasks(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.shared).n_tasks())
    }

    /// Label, training rows and test rows of a task.
    fn task<'py>(&self, py: Python<'py>, task: usize) -> TaskOf<'py> {
        let (label, fold, [of_train, of_test]) = py.detach(|| {
            let comparison = lock(&self.shared);
            let (label, fold) = comparison.task(task);
            let weights = comparison.weights(&fold);
            (label.to_owned(), fold, weights)
        });
        let side = |rows: &[usize], weights: Option<Vec<f64>>| {
            (to_indices(rows).into_pyarray(py), weights.map(|weights| weights.into_pyarray(py)))
        };
        (label, side(&fold.train, of_train), side(&fold.test, of_test))
    }

    /// The selections of a task, and its cost as JSON.
    fn select<'py>(
        &self,
        py: Python<'py>,
        task: usize,
        settings: Settings,
    ) -> PyResult<(Selections<'py>, String)> {
        let shared = self.shared.clone();
        let (selections, cost) = run(py, settings, move |ctx| lock(&shared).select(task, ctx))?;
        let selection = |FoldSelection { record, rows }| {
            let array = |rows: Rows| rows.into_dense().into_pyarray(py);
            let rows = rows.map(|(train, test, columns)| (array(train), array(test), columns));
            Ok((to_json(&record)?, rows))
        };
        Ok((selections.into_iter().map(selection).collect::<PyResult<_>>()?, to_json(&cost)?))
    }

    /// Adds the records of a task and its cost, as JSON.
    fn add(&self, py: Python<'_>, records: Vec<String>, cost: &str) -> PyResult<()> {
        let records = records.iter().map(|record| from_json("record", record)).collect::<PyResult<_>>()?;
        let cost = from_json("cost", cost)?;
        py.detach(|| lock(&self.shared).add(records, cost)).map_err(to_python)
    }

    /// Writes the results log in its fixed order; returns it and the costs.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| {
            let mut comparison = lock(&self.shared);
            comparison.finish()?;
            Ok((comparison.log().text(), comparison.log().cost_text()))
        })
        .map_err(to_python)
    }
}

/// Ignores poisoning, so that a panic of the work is reported.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The scores of predicted classes as JSON; `class_scores` has a column per class, or one for the second of two.
#[pyfunction]
pub fn classification_scores(
    truth: Vec<usize>,
    predicted: Vec<usize>,
    class_scores: PyReadonlyArray2<'_, f64>,
    probabilities: Option<PyReadonlyArray2<'_, f64>>,
    weights: Option<Vec<f64>>,
) -> PyResult<String> {
    let weights = Weights::new(weights.as_deref());
    let scores = Scores::classification(&truth, &predicted, &class_scores.as_array().to_owned(), weights);
    to_json(&match probabilities {
        Some(values) => scores.with_probabilities(&truth, &values.as_array().to_owned(), weights),
        None => scores,
    })
}

/// The scores of predicted numbers as JSON.
#[pyfunction]
pub fn regression_scores(
    truth: Vec<f64>,
    predicted: Vec<f64>,
    weights: Option<Vec<f64>>,
) -> PyResult<String> {
    to_json(&Scores::regression(&truth, &predicted, Weights::new(weights.as_deref())))
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
    to_json(&Summary::of(&log, &labels, &counts, Metric::by_name(measure)))
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
    let summary = Summary::of(&log, &labels, &counts, Metric::by_name(measure));
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

fn candidates(requested: Vec<RequestedMethod>, data: &Dataset) -> kernsift::Result<Vec<Candidate>> {
    let mut all: Vec<Candidate> = vec![];
    for method in requested {
        match method {
            RequestedMethod::Default => all.extend(Candidate::default_for(data)),
            // Methods named before 'all' are not added again.
            RequestedMethod::All => {
                let known: Vec<String> = all.iter().map(|c| c.label.clone()).collect();
                all.extend(Candidate::all_supporting(data).into_iter().filter(|c| !known.contains(&c.label)));
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
