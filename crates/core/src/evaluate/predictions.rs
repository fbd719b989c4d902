//! What a method with a number of features predicts for the test rows of all splits: confusion of classes, and calibration
//! of probabilities.
//!
//! A record has scores of predictions and not the predictions, so they are computed again, for one method and number of
//! features. Recorded features are not selected again.

use super::candidate::{Candidate, Method, Ranked, Ranking};
use super::compare::Compare;
use super::evaluator::{Evaluator, Predicted};
use super::fold::FoldRows;
use super::queue::Task;
use super::record::Record;
use super::results_log::ResultsLog;
use super::runner::{NAME, Work};
use super::summary::Simplest;
use crate::context::Context;
use crate::data::{Dataset, Weights};
use crate::error::{Error, Result};
use ndarray::{Array2, ArrayView2, concatenate};
use serde::{Deserialize, Serialize, Serializer};

/// Number of bins of the reliability curve.
const BINS: usize = 10;

/// The predictions of the test rows of all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    /// The method's label.
    pub method: String,
    /// The number of features.
    pub n_features: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// The number of test rows, or the sum of their weights, by class (rows) and predicted class (columns), over all splits.
    #[serde(serialize_with = "tables")]
    pub confusion: Vec<Vec<f64>>,
    /// The error rate of each class; `None` without test rows.
    pub class_errors: Vec<Option<f64>>,
    /// How far predicted probabilities are right, if the evaluator gives some.
    pub calibration: Option<Calibration>,
}

/// Predicted probabilities and observed frequencies: of the second of two classes, or with more classes of the predicted one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Brier score: the mean squared difference of probability and outcome; with more than two classes, the sum over classes.
    pub brier_score: f64,
    /// Expected calibration error: the mean over rows of the difference between mean probability and frequency of their bin.
    pub expected_error: f64,
    /// The reliability curve: bins of equal width that have rows.
    pub bins: Vec<ReliabilityBin>,
}

/// A point of the reliability curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Number of rows, or the sum of their weights.
    #[serde(serialize_with = "number")]
    pub rows: f64,
    /// Mean predicted probability.
    pub probability: f64,
    /// Fraction of rows for which the prediction is right.
    pub frequency: f64,
}

impl Predictions {
    /// From the class of each row and its weight, the predicted class, and probabilities with a column per class.
    pub fn of(
        chosen: (&str, usize),
        classes: Vec<String>,
        (truth, weights): (&[usize], Weights),
        predicted: &[usize],
        probabilities: Option<ArrayView2<f64>>,
    ) -> Self {
        let mut confusion = vec![vec![0.0; classes.len()]; classes.len()];
        let pairs = truth.iter().zip(predicted).enumerate();
        pairs.for_each(|(row, (&truth, &predicted))| confusion[truth][predicted] += weights.of(row));
        let error = |(class, row): (usize, &Vec<f64>)| {
            let n: f64 = row.iter().sum();
            (n > 0.0).then(|| (n - row[class]) / n)
        };
        let class_errors = confusion.iter().enumerate().map(error).collect();
        let calibration = probabilities.map(|p| Calibration::of((truth, weights), predicted, p));
        let (method, n_features) = (chosen.0.to_owned(), chosen.1);
        Self { method, n_features, classes, confusion, class_errors, calibration }
    }

    /// The fraction of test rows with a wrong prediction.
    pub fn error(&self) -> f64 {
        let right: f64 = self.confusion.iter().enumerate().map(|(class, row)| row[class]).sum();
        let n: f64 = self.confusion.iter().flatten().sum();
        1.0 - right / if n > 0.0 { n } else { 1.0 }
    }
}

impl Calibration {
    fn of(
        (truth, weights): (&[usize], Weights),
        predicted: &[usize],
        probabilities: ArrayView2<f64>,
    ) -> Self {
        let is_binary = probabilities.ncols() == 2;
        let total = weights.total(truth.len());
        let n = if total > 0.0 { total } else { 1.0 };
        let squares = |row: usize, class: usize| {
            (probabilities[[row, class]] - f64::from(u8::from(truth[row] == class))).powi(2)
        };
        let of_row = |row: usize| {
            let sum: f64 = match is_binary {
                true => squares(row, 1),
                false => (0..probabilities.ncols()).map(|class| squares(row, class)).sum(),
            };
            weights.of(row) * sum
        };
        let brier_score = (0..truth.len()).map(of_row).sum::<f64>() / n;
        let mut sums = [(0.0, 0.0, 0.0); BINS];
        for row in 0..truth.len() {
            let class = if is_binary { 1 } else { predicted[row] };
            let p = probabilities[[row, class]];
            // The upper end belongs to a bin, as in scikit-learn.
            let bin = (1..BINS).filter(|&edge| edge as f64 * 0.1 < p).count();
            let (w, (rows, total, right)) = (weights.of(row), &mut sums[bin]);
            let is_right = f64::from(u8::from(truth[row] == class));
            (*rows, *total, *right) = (*rows + w, *total + w * p, *right + w * is_right);
        }
        let bins: Vec<ReliabilityBin> = sums
            .iter()
            .filter(|(rows, ..)| *rows > 0.0)
            .map(|&(rows, total, right)| ReliabilityBin {
                rows,
                probability: total / rows,
                frequency: right / rows,
            })
            .collect();
        let gap = |bin: &ReliabilityBin| bin.rows * (bin.probability - bin.frequency).abs();
        Self { brier_score, expected_error: bins.iter().map(gap).sum::<f64>() / n, bins }
    }
}

impl Compare {
    /// The predictions of a method with a number of features, such as the choice of a [`Summary`](super::Summary), whose results
    /// are in the log; in a learning curve, with this number of training rows. The target has classes.
    pub fn predictions(
        &self,
        data: &Dataset,
        log: &ResultsLog,
        (chosen, train_rows): (&Simplest, Option<usize>),
        ctx: &Context,
    ) -> Result<Predictions> {
        let evaluator = self.built_in()?;
        let classes = data.classes(NAME)?;
        let work = self.work(data, ctx)?;
        let (mut tested, mut predicted, mut probabilities) = (vec![], vec![], vec![]);
        for task in work.tasks_of(&chosen.label, chosen.n_features, train_rows) {
            ctx.check()?;
            let (codes, scores) = predict(&work, &task, (data, log), evaluator, ctx)?;
            tested.extend_from_slice(&work.folds[task.split].test);
            predicted.extend(codes);
            probabilities.push(scores);
        }
        let views: Vec<ArrayView2<f64>> = probabilities.iter().map(|p| p.view()).collect();
        let stacked = match evaluator.gives_probabilities() {
            true => concatenate(ndarray::Axis(0), &views).ok(),
            false => None,
        };
        let probabilities = stacked.as_ref().map(|p| p.view());
        let chosen = (chosen.label.as_str(), chosen.n_features);
        let truth: Vec<usize> = tested.iter().map(|&row| classes.codes[row]).collect();
        let weights = data.weights().of_rows(&tested);
        let truth = (truth.as_slice(), Weights::new(weights.as_deref()));
        Ok(Predictions::of(chosen, classes.names.clone(), truth, &predicted, probabilities))
    }
}

impl Work {
    /// The tasks of a method with one number of features, in all splits.
    pub fn tasks_of(&self, label: &str, k: usize, train_rows: Option<usize>) -> Vec<Task> {
        let candidate = self.candidates.iter().position(|candidate| candidate.label == label);
        let splits = (0..self.folds.len()).filter(|&split| self.place(split).train_rows == train_rows);
        let task = |split| Some(Task { candidate: candidate?, split, counts: vec![k] });
        splits.filter_map(task).collect()
    }

    /// What a method selects in a task with one number of features; features of a record are not selected again.
    pub fn ranking(&self, task: &Task, rows: &FoldRows, log: &ResultsLog, ctx: &Context) -> Result<Ranking> {
        let Candidate { label, method } = &self.candidates[task.candidate];
        let place = self.place(task.split);
        let key = (label.clone(), place.repeat, place.fold, place.train_rows, task.counts[0]);
        let names = log.result(&key).map_or(&[][..], |record: &Record| &record.features);
        let column = |name: &String| rows.train.names().iter().position(|known| known == name);
        match names.iter().map(column).collect::<Option<Vec<usize>>>() {
            Some(order) if !order.is_empty() && !matches!(method, Method::External(_)) => {
                Ok(Ranking::Once(Ranked::exact(order)))
            }
            _ => method.rank(rows, &task.counts, ctx),
        }
    }
}

/// Writes a number of rows without a decimal point, unless weights have a fraction.
fn number<S: Serializer>(value: &f64, to: S) -> std::result::Result<S::Ok, S::Error> {
    counts(std::slice::from_ref(value))[0].serialize(to)
}

fn tables<S: Serializer>(rows: &[Vec<f64>], to: S) -> std::result::Result<S::Ok, S::Error> {
    rows.iter().map(|row| counts(row)).collect::<Vec<_>>().serialize(to)
}

fn counts(values: &[f64]) -> Vec<serde_json::Number> {
    let exact = |value: f64| value.fract() == 0.0 && value < 2.0_f64.powi(53);
    let number = |value: f64| serde_json::Number::from_f64(value).unwrap_or_else(|| 0.into());
    values.iter().map(|&value| if exact(value) { (value as u64).into() } else { number(value) }).collect()
}

/// The predicted class of each test row of a task, and the scores of the classes.
fn predict(
    work: &Work,
    task: &Task,
    (data, log): (&Dataset, &ResultsLog),
    evaluator: &Evaluator,
    ctx: &Context,
) -> Result<(Vec<usize>, Array2<f64>)> {
    let rows = work.rows(data, task)?;
    let selected = work.ranking(task, &rows, log, ctx)?.select(&rows, task.counts[0])?;
    match evaluator.predict(&selected.train, &selected.test, ctx)?.predicted {
        Predicted::Classes { codes, scores } => Ok((codes, scores)),
        Predicted::Numbers(_) => Err(Error::param(NAME, "target", "classes", "numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Axis, array};

    #[test]
    fn confusion_and_errors_of_classes() {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let truth = (&[0, 0, 0, 0, 1, 1][..], Weights::ONE);
        let found = Predictions::of(("m", 2), names, truth, &[0, 0, 0, 1, 1, 2], None);
        assert_eq!(found.confusion, [[3.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]);
        let json = serde_json::to_string(&found).unwrap();
        assert!(json.contains("\"confusion\":[[3,1,0],[0,1,1],[0,0,0]]"), "{json}");
        assert_eq!(found.class_errors, [Some(0.25), Some(0.5), None]);
        assert!((found.error() - 1.0 / 3.0).abs() < 1e-15 && found.calibration.is_none());
    }

    #[test]
    fn a_weight_is_a_row_given_so_often() {
        let p = array![[0.1, 0.9], [0.45, 0.55], [0.8, 0.2]];
        let names = || ["a", "b"].map(String::from).to_vec();
        let weights = [2.0, 0.0, 3.0];
        let truth = (&[1, 0, 1][..], Weights::new(Some(&weights)));
        let weighted = Predictions::of(("m", 2), names(), truth, &[1, 1, 0], Some(p.view()));
        let repeated = p.select(Axis(0), &[0, 0, 2, 2, 2]);
        let truth = (&[1; 5][..], Weights::ONE);
        let expected = Predictions::of(("m", 2), names(), truth, &[1, 1, 0, 0, 0], Some(repeated.view()));
        assert_eq!((&weighted.confusion, weighted.error()), (&expected.confusion, 0.6));
        assert_eq!(weighted.class_errors, [None, Some(0.6)]);
        let (a, b) = (weighted.calibration.unwrap(), expected.calibration.unwrap());
        // Sums in another order.
        assert!(
            (a.brier_score - b.brier_score).abs() < 1e-15
                && (a.expected_error - b.expected_error).abs() < 1e-15
        );
        assert_eq!(a.bins.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [3.0, 2.0]);
        let half = [0.5; 3];
        let truth = (&[1, 0, 1][..], Weights::new(Some(&half)));
        let found = Predictions::of(("m", 2), names(), truth, &[1, 1, 0], None);
        assert!(serde_json::to_string(&found).unwrap().contains("\"confusion\":[[0,0.5],[0.5,0.5]]"));
    }

    #[test]
    fn calibration_by_hand() {
        // Probabilities of the second class 0.9, 0.85, 0.2, 0.2 with outcomes 1, 0, 0, 1.
        let p = array![[0.1, 0.9], [0.15, 0.85], [0.8, 0.2], [0.8, 0.2]];
        let found = Calibration::of((&[1, 0, 0, 1], Weights::ONE), &[1, 1, 0, 0], p.view());
        let squares: f64 = [0.1_f64, 0.85, 0.2, 0.8].map(|e| e * e).iter().sum();
        assert!((found.brier_score - squares / 4.0).abs() < 1e-15);
        // The bins end at 0.2 and 0.9: (0.1, 0.2] has frequency 1/2, (0.8, 0.9] mean 0.875 and frequency 1/2.
        let bins: Vec<(f64, f64)> = found.bins.iter().map(|bin| (bin.rows, bin.frequency)).collect();
        assert_eq!(bins, [(2.0, 0.5), (2.0, 0.5)]);
        assert!((found.expected_error - (0.3 + 0.375) / 2.0).abs() < 1e-15);
        // Three classes: the probability of the predicted class, and squares of all.
        let p = array![[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]];
        let found = Calibration::of((&[1, 2], Weights::ONE), &[0, 2], p.view());
        assert!((found.brier_score - (0.25 + 0.49 + 0.04 + 0.01 + 0.01 + 0.04) / 2.0).abs() < 1e-15);
        assert!((found.expected_error - (0.5 + 0.2) / 2.0).abs() < 1e-15);
    }
}
