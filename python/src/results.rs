//! Scores, tables and reports of comparisons.

use crate::array::MatrixArgument;
use crate::convert::{from_json, to_json};
use crate::error::to_python;
use kernsift::data::Weights;
use kernsift::evaluate::{MeanRanks, Metric, Predictions, ResultsLog, Scores, Summary};
use pyo3::prelude::*;

/// The scores of predicted classes as JSON; `class_scores` has a column per class, or one for the second of two.
#[pyfunction]
pub fn classification_scores(
    truth: Vec<usize>,
    predicted: Vec<usize>,
    class_scores: MatrixArgument<'_, f64>,
    probabilities: Option<MatrixArgument<'_, f64>>,
    weights: Option<Vec<f64>>,
) -> PyResult<String> {
    let weights = Weights::new(weights.as_deref());
    let scores = Scores::classification(&truth, &predicted, &class_scores.as_array().to_owned(), weights);
    to_json(&match probabilities {
        Some(values) => scores.with_probabilities(&truth, &values.as_array().to_owned(), weights),
        None => scores,
    })
}

/// Confusion of classes and calibration as JSON, of a method with a number of features.
#[pyfunction]
pub fn predictions(
    chosen: (String, usize),
    classes: Vec<String>,
    truth: (Vec<usize>, Option<Vec<f64>>),
    predicted: Vec<usize>,
    probabilities: Option<MatrixArgument<'_, f64>>,
) -> PyResult<String> {
    let probabilities = probabilities.as_ref().map(|p| p.as_array());
    let truth = (truth.0.as_slice(), Weights::new(truth.1.as_deref()));
    to_json(&Predictions::of((&chosen.0, chosen.1), classes, truth, &predicted, probabilities))
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

/// What to show of a results log: its text and that of the costs, labels, numbers of features, score, and numbers of training
/// rows of a learning curve.
#[derive(FromPyObject)]
pub struct Shown(String, String, Vec<String>, Vec<usize>, String, Vec<usize>);

impl Shown {
    fn read(&self) -> PyResult<(ResultsLog, Vec<Summary>)> {
        let Self(record, costs, labels, counts, measure, train_sizes) = self;
        let log = ResultsLog::from_text(record, costs).map_err(to_python)?;
        let summaries = Summary::learning_curve(&log, labels, counts, &Metric::by_name(measure), train_sizes);
        Ok((log, summaries))
    }
}

/// The tables of a results log, one or one per number of training rows, as JSON.
#[pyfunction]
pub fn summarize(shown: Shown) -> PyResult<String> {
    to_json(&shown.read()?.1)
}

/// The report of a results log.
#[pyfunction]
pub fn compare_page(shown: Shown, predictions: Option<&str>, title: &str, code: &str) -> PyResult<String> {
    let (log, summaries) = shown.read()?;
    let predictions: Option<Predictions> =
        predictions.map(|found| from_json("predictions", found)).transpose()?;
    Ok(kernsift_report::compare_page(&log, &summaries, predictions.as_ref(), None, (title, code)))
}

/// Mean ranks over several tables, from their names and the JSON of their summaries.
#[pyfunction]
pub fn rank_methods(summaries: Vec<(String, String)>) -> PyResult<String> {
    let read = |(name, summary): (String, String)| Ok((name, from_json("summary", &summary)?));
    let summaries: Vec<(String, Summary)> = summaries.into_iter().map(read).collect::<PyResult<_>>()?;
    let tables: Vec<(String, &Summary)> = summaries.iter().map(|(name, s)| (name.clone(), s)).collect();
    to_json(&MeanRanks::of(&tables).map_err(to_python)?)
}

/// The report of mean ranks.
#[pyfunction]
pub fn ranks_page(ranks: &str, title: &str) -> PyResult<String> {
    let ranks: MeanRanks = from_json("ranks", ranks)?;
    Ok(kernsift_report::ranks_page(&ranks, title, ""))
}
