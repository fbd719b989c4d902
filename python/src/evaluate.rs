//! Comparison of methods. Results are returned as the text of the results log.

use crate::array::MatrixArgument;
use crate::convert::{
    RowsArgument, RuleArgument, SplitArgument, TargetArgument, WeightsArgument, from_json, to_fold,
    to_indices, to_json, to_triplets, with_rule, with_weights,
};
use crate::error::to_python;
use crate::run::{Settings, run};
use kernsift::Context;
use kernsift::data::write::write_atomic;
use kernsift::data::{Dataset, ImputeStrategy, Rows, Splits};
use kernsift::evaluate::json_lines::json;
use kernsift::evaluate::{
    Candidate, Compare, Evaluator, EvaluatorChoice, External, ExternalComparison, FoldSelection, Metric,
    ResultsLog, SplitChoice, Summary, scores,
};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use serde::Deserialize;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    /// The numbers of training rows of a learning curve.
    train_sizes: Vec<usize>,
    /// Whether the splits are in the order of time.
    latest: bool,
    /// Whether to predict the test rows again with the choice of the one-standard-error rule.
    predictions: bool,
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

/// A requested comparison: the plan as JSON, samples, names of the features, target, splits, groups, weights and the record.
#[derive(FromPyObject)]
pub struct Request<'py>(
    String,
    RowsArgument<'py>,
    Vec<String>,
    TargetArgument<'py>,
    Option<Vec<SplitArgument<'py>>>,
    Option<RuleArgument<'py>>,
    WeightsArgument<'py>,
    Option<PathBuf>,
);

/// A comparison that is ready to begin.
struct Parts {
    compare: Compare,
    data: Arc<Dataset>,
    name: String,
    budget: Option<Duration>,
    /// The score by which predictions are chosen, if they are requested.
    predictions: Option<Metric>,
    record: Option<PathBuf>,
}

impl Parts {
    /// The predictions of the chosen method and number of features as JSON, if requested.
    fn predictions(&self, log: &ResultsLog, ctx: &Context) -> kernsift::Result<Option<String>> {
        let Self { compare, data, predictions: Some(measure), .. } = self else { return Ok(None) };
        let Compare { counts, train_sizes, .. } = compare;
        let summary = Summary::learning_curve(log, &self.labels(), counts, measure, train_sizes).pop();
        let Some((chosen, rows)) = summary.as_ref().and_then(|s| Some((s.simplest.as_ref()?, s.train_rows)))
        else {
            return Ok(None);
        };
        Ok(Some(json(&compare.predictions(data, log, (chosen, rows), ctx)?)))
    }

    fn labels(&self) -> Vec<String> {
        self.compare.candidates.iter().map(|c| c.label.clone()).collect()
    }

    fn open(&self) -> kernsift::Result<ResultsLog> {
        self.record.as_ref().map_or_else(|| Ok(ResultsLog::in_memory()), |path| ResultsLog::open(path))
    }
}

impl Request<'_> {
    fn parts(self) -> PyResult<Parts> {
        let Self(plan, x, names, y, splits, groups, weights, record) = self;
        let plan: Plan = from_json("compare", &plan)?;
        let data = x.to_data(Some(names), y.to_target()?)?;
        if plan.fill.is_none() {
            data.need_complete("compare").map_err(to_python)?;
        }
        drop(x);
        let data = with_weights(with_rule(data, groups)?, weights).map_err(to_python)?;
        // The splits are those of the rows of positive weight.
        let data = match data.of_positive_weight().0 {
            Cow::Owned(rows) => Arc::new(rows),
            Cow::Borrowed(_) => data,
        };
        let splits = match splits {
            None => SplitChoice::Generated(plan.splits),
            Some(splits) => SplitChoice::Given(splits.iter().map(to_fold).collect::<PyResult<_>>()?),
        };
        // Seconds beyond the range of durations are no limit.
        let budget = plan.time_budget.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let name = plan.name.clone();
        let predictions = plan.predictions.then(|| Metric::by_name(&plan.scoring));
        Ok(Parts { compare: plan.compare(&data, splits)?, data, name, budget, predictions, record })
    }
}

impl Plan {
    /// The comparison.
    fn compare(self, data: &Dataset, splits: SplitChoice) -> PyResult<Compare> {
        let evaluator = match (self.external, self.evaluator) {
            (Some(external), _) => EvaluatorChoice::External(external),
            (None, Some(text)) => Evaluator::parse(&text).map_err(to_python)?.into(),
            (None, None) => Evaluator::for_target(data.target()).into(),
        };
        if let (EvaluatorChoice::BuiltIn(evaluator), Metric::BuiltIn(measure)) =
            (&evaluator, Metric::by_name(&self.scoring))
        {
            evaluator
                .check(data)
                .and_then(|()| measure.check(data.target(), evaluator))
                .map_err(to_python)?;
        }
        Ok(Compare {
            candidates: candidates(self.methods, data).map_err(to_python)?,
            counts: self.counts,
            splits,
            stratify: self.stratify,
            evaluator,
            scale: self.standardize,
            impute: self.fill.unwrap_or_default(),
            baseline: self.baseline,
            train_sizes: self.train_sizes,
            latest: self.latest,
        })
    }
}

/// The results log, the costs, the labels of the methods in the given order, and predictions if they were requested.
type Compared = (String, String, Vec<String>, Option<String>);

/// Runs or resumes a comparison.
#[pyfunction]
pub fn compare(py: Python<'_>, request: Request<'_>, settings: Settings) -> PyResult<Compared> {
    let parts = request.parts()?;
    let labels = parts.labels();
    let (text, costs, predictions) = run(py, settings, move |ctx| {
        parts.compare.check(&parts.data, ctx)?;
        let mut log = parts.open()?;
        let Parts { compare, data, name, budget, .. } = &parts;
        for method in compare.run_within(*budget, data, name, &mut log, ctx)? {
            ctx.warn(format!(
                "{} is left out of {} splits, which do not fit into the time budget",
                method.label, method.splits
            ));
        }
        Ok((log.text(), log.cost_text(), parts.predictions(&log, ctx)?))
    })?;
    Ok((text, costs, labels, predictions))
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
    fn new(py: Python<'_>, request: Request<'_>, settings: Settings) -> PyResult<Self> {
        let parts = request.parts()?;
        let labels = parts.labels();
        let begun = run(py, settings, move |ctx| {
            parts.compare.check(&parts.data, ctx)?;
            let log = parts.open()?;
            ExternalComparison::begin(&parts.compare, parts.data, &parts.name, log, ctx)
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

    /// The selections of a task, and its cost as JSON; None if the selection takes longer than these seconds.
    #[pyo3(signature = (task, seconds, settings))]
    fn select<'py>(
        &self,
        py: Python<'py>,
        task: usize,
        seconds: Option<f64>,
        settings: Settings,
    ) -> PyResult<Option<(Selections<'py>, String)>> {
        let shared = self.shared.clone();
        // Seconds beyond the range of times are no limit.
        let end = seconds.and_then(|seconds| {
            Instant::now().checked_add(Duration::try_from_secs_f64(seconds.max(0.0)).ok()?)
        });
        let done = run(py, settings, move |ctx| lock(&shared).select(task, end, ctx))?;
        let Some((selections, cost)) = done else { return Ok(None) };
        let selection = |FoldSelection { record, rows }| {
            let array = |rows: Rows| rows.into_dense().into_pyarray(py);
            let rows = rows.map(|(train, test, columns)| (array(train), array(test), columns));
            Ok((to_json(&record)?, rows))
        };
        Ok(Some((selections.into_iter().map(selection).collect::<PyResult<_>>()?, to_json(&cost)?)))
    }

    /// Adds the records of a task and its cost, as JSON.
    fn add(&self, py: Python<'_>, records: Vec<String>, cost: &str) -> PyResult<()> {
        let records = records.iter().map(|record| from_json("record", record)).collect::<PyResult<_>>()?;
        let cost = from_json("cost", cost)?;
        py.detach(|| lock(&self.shared).add(records, cost)).map_err(to_python)
    }

    /// Replaces the tasks by those of a method with one number of features, whose predictions are computed again.
    fn begin_predictions(&self, py: Python<'_>, label: &str, k: usize, train_rows: Option<usize>) {
        py.detach(|| lock(&self.shared).begin_predictions(label, k, train_rows));
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

/// Writes text to a file atomically.
#[pyfunction]
pub fn write_text(path: PathBuf, text: &str) -> PyResult<()> {
    write_atomic(&path, |out| out.write_all(text.as_bytes())).map_err(to_python)
}

/// The fraction of triplets that a Gram matrix satisfies.
#[pyfunction]
pub fn triplet_accuracy(gram: MatrixArgument<'_, f64>, triplets: MatrixArgument<'_, i64>) -> PyResult<f64> {
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
