//! A comparison in one table: means, standard deviations, and a paired test against the best.
//!
//! Splits of one data set share most of their training rows, so their scores vary less than scores on independent
//! data. The corrected resampled t-test (Nadeau and Bengio, 2003) accounts for it: with differences $d_1, \dots, d_J$
//! of two methods over $J$ splits,
//!
//! $$ t = \frac{\bar d}{\sqrt{\bigl(\tfrac1J + \tfrac{n_{test}}{n_{train}}\bigr) s_d^2}} $$
//!
//! is compared with Student's t distribution with $J - 1$ degrees of freedom, two-sided. The p-values are not corrected
//! for multiple comparisons.

use super::candidate::ALL_FEATURES;
use super::measure::Metric;
use super::record::{Cost, Record, Run};
use super::results_log::ResultsLog;
use crate::probability::f_upper_tail;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A comparison in one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The score in the cells.
    pub measure: Metric,
    /// Numbers of features, the columns of the table.
    pub counts: Vec<usize>,
    /// The number of training rows of a learning curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<usize>,
    /// A line per method, in the requested order.
    pub methods: Vec<MethodSummary>,
    /// All features together, if evaluated.
    pub all_features: Option<Cell>,
    /// The first error message for all features together.
    pub all_features_failure: Option<String>,
    /// The fewest features whose mean is within one standard error of the best mean of the table.
    pub simplest: Option<Simplest>,
}

/// The choice by the one-standard-error rule (Breiman et al., 1984): of all cells whose mean differs from the best one by at
/// most its standard error, sd / √J, the one with the fewest features; of several, the one with the better mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simplest {
    /// The method's label.
    pub label: String,
    /// The number of features.
    pub n_features: usize,
    /// Its scores.
    pub cell: Cell,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodSummary {
    /// The method's label.
    pub label: String,
    /// A cell per number of features; `None` without scores.
    pub cells: Vec<Option<Cell>>,
    /// Mean seconds of selection per split, if known.
    pub select_seconds: Option<f64>,
    /// Mean seconds of evaluation per split, if known.
    pub evaluate_seconds: Option<f64>,
    /// Peak memory of selection over all splits, if known.
    pub peak_bytes: Option<u64>,
    /// Number of results without scores.
    pub failed: usize,
    /// The first error message.
    pub failure: Option<String>,
    /// Number of results at the iteration limit.
    pub not_converged: usize,
}

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The mean over splits.
    pub mean: f64,
    /// The standard deviation over splits, with the divisor J - 1; 0 for one split.
    pub sd: f64,
    /// Number of splits with a score.
    pub splits: usize,
    /// Number of all splits.
    pub of: usize,
    /// Whether no other method has a better mean with the same number of features. Methods that failed in some split
    /// are excluded.
    pub best: bool,
    /// Two-sided p-value of the difference from the best method; `None` for the best method, or with fewer than two
    /// common splits.
    pub p: Option<f64>,
}

impl Summary {
    /// Summarizes the results of these methods and numbers of features, with all training rows.
    pub fn of(log: &ResultsLog, labels: &[String], counts: &[usize], measure: impl Into<Metric>) -> Self {
        Self::of_rows(log, labels, counts, measure, None)
    }

    /// The points of a learning curve, in ascending order of the numbers of training rows; without any, [`Summary::of`] alone.
    pub fn learning_curve(
        log: &ResultsLog,
        labels: &[String],
        counts: &[usize],
        measure: &Metric,
        train_sizes: &[usize],
    ) -> Vec<Self> {
        let mut sizes: Vec<Option<usize>> = train_sizes.iter().copied().map(Some).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.is_empty() {
            sizes.push(None);
        }
        sizes.into_iter().map(|rows| Self::of_rows(log, labels, counts, measure.clone(), rows)).collect()
    }

    fn of_rows(
        log: &ResultsLog,
        labels: &[String],
        counts: &[usize],
        measure: impl Into<Metric>,
        train_rows: Option<usize>,
    ) -> Self {
        let measure = measure.into();
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        counts.dedup();
        let by_split = |label: &str, k: usize| -> BTreeMap<(usize, usize), f64> {
            let wanted = |r: &&Record| r.method == label && r.k == k && r.train_rows == train_rows;
            let value = |r: &Record| Some(((r.repeat, r.fold), measure.of(r)?));
            log.results().filter(wanted).filter_map(value).collect()
        };
        let splits = log.run().map_or(0, |run| run.folds.len());
        let ratio = log.run().map_or(0.0, |run| test_over_train(run, train_rows));
        let mut methods: Vec<MethodSummary> = labels
            .iter()
            .map(|label| MethodSummary::without_cells(log, label, &counts, train_rows))
            .collect();
        for &k in &counts {
            let values: Vec<_> = labels.iter().map(|label| by_split(label, k)).collect();
            let mut cells: Vec<Option<Cell>> = values.iter().map(|values| Cell::of(values, splits)).collect();
            let complete: Vec<Option<Cell>> =
                cells.iter().map(|cell| cell.filter(Cell::is_complete)).collect();
            let best = best_of(&complete, &measure);
            for (index, cell) in cells.iter_mut().enumerate() {
                let (Some(cell), Some(best)) = (cell, best) else { continue };
                cell.best = cell.is_complete() && cell.mean == best.1;
                cell.p =
                    if index == best.0 { None } else { paired_p(&values[index], &values[best.0], ratio) };
            }
            methods.iter_mut().zip(cells).for_each(|(method, cell)| method.cells.push(cell));
        }
        let all_features: BTreeMap<_, _> = log
            .results()
            .filter(|record| record.method == ALL_FEATURES && record.train_rows == train_rows)
            .filter_map(|r| Some(((r.repeat, r.fold), measure.of(r)?)))
            .collect();
        let failure =
            |record: &Record| if record.method == ALL_FEATURES { record.failed.clone() } else { None };
        let simplest = Simplest::of(&counts, &methods, &measure);
        Self {
            simplest,
            measure,
            counts,
            train_rows,
            methods,
            all_features: Cell::of(&all_features, splits),
            all_features_failure: log.results().find_map(failure),
        }
    }
}

impl Summary {
    /// A method's best cell and its number of features; ties go to fewer features. Cells that lack some splits are
    /// excluded.
    pub fn best_of(&self, method: &MethodSummary) -> Option<(Cell, usize)> {
        let complete: Vec<Option<Cell>> =
            method.cells.iter().map(|cell| cell.filter(Cell::is_complete)).collect();
        let (index, _) = best_of(&complete, &self.measure)?;
        Some((complete[index]?, self.counts[index]))
    }
}

impl Simplest {
    fn of(counts: &[usize], methods: &[MethodSummary], measure: &Metric) -> Option<Self> {
        let sign = if measure.larger_is_better() { -1.0 } else { 1.0 };
        let complete = |(&k, cell): (&usize, &Option<Cell>)| Some((k, cell.filter(Cell::is_complete)?));
        let cells: Vec<(&str, usize, Cell)> = methods
            .iter()
            .flat_map(|method| {
                let cells = counts.iter().zip(&method.cells).filter_map(complete);
                cells.map(|(k, cell)| (method.label.as_str(), k, cell))
            })
            .collect();
        let loss = |cell: &Cell| sign * cell.mean;
        let best = cells.iter().map(|(.., cell)| cell).min_by(|a, b| loss(a).total_cmp(&loss(b)))?;
        let limit = loss(best) + best.sd / (best.splits as f64).sqrt();
        let near = cells.iter().filter(|(.., cell)| loss(cell) <= limit);
        let (label, n_features, cell) =
            near.min_by(|a, b| a.1.cmp(&b.1).then(loss(&a.2).total_cmp(&loss(&b.2))))?;
        Some(Self { label: (*label).to_owned(), n_features: *n_features, cell: *cell })
    }
}

impl MethodSummary {
    fn without_cells(log: &ResultsLog, label: &str, counts: &[usize], rows: Option<usize>) -> Self {
        let of_method = |cost: &&Cost| cost.method == label && cost.train_rows == rows;
        let costs: Vec<&Cost> = log.costs().filter(of_method).collect();
        // A later run with more numbers of features repeats the selection, so take the maximum instead of the sum.
        let mut by_split: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for cost in &costs {
            let split = by_split.entry((cost.repeat, cost.fold)).or_default();
            *split = (split.0.max(cost.select_seconds), split.1 + cost.evaluate_seconds);
        }
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| {
            let n = by_split.len() as f64;
            (n > 0.0).then(|| by_split.values().map(value).sum::<f64>() / n)
        };
        let results: Vec<&Record> = log
            .results()
            .filter(|r| r.method == label && counts.contains(&r.k) && r.train_rows == rows)
            .collect();
        let failures: Vec<&String> = results.iter().filter_map(|r| r.failed.as_ref()).collect();
        Self {
            label: label.to_owned(),
            cells: vec![],
            select_seconds: mean(&|cost| cost.0),
            evaluate_seconds: mean(&|cost| cost.1),
            peak_bytes: costs.iter().filter_map(|cost| cost.peak_bytes).max(),
            failed: failures.len(),
            failure: failures.first().map(|text| (*text).clone()),
            not_converged: results.iter().filter(|r| r.not_converged).count(),
        }
    }
}

impl Cell {
    /// Whether every split has a score.
    pub fn is_complete(&self) -> bool {
        self.splits == self.of
    }

    fn of(values: &BTreeMap<(usize, usize), f64>, of: usize) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.values().sum::<f64>() / n as f64;
        let squares: f64 = values.values().map(|v| (v - mean).powi(2)).sum();
        let sd = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        Some(Self { mean, sd, splits: n, of, best: false, p: None })
    }
}

/// Index and mean of the best cell; ties go to the first.
fn best_of(cells: &[Option<Cell>], measure: &Metric) -> Option<(usize, f64)> {
    let loss = |mean: f64| if measure.larger_is_better() { -mean } else { mean };
    let means = cells.iter().enumerate().filter_map(|(index, cell)| Some((index, cell.as_ref()?.mean)));
    means.min_by(|a, b| loss(a.1).total_cmp(&loss(b.1)))
}

/// The mean ratio of test rows to training rows, all of each split or `train_rows` of them.
fn test_over_train(run: &Run, train_rows: Option<usize>) -> f64 {
    let n = run.fingerprint.rows;
    let ratio = |rows: &super::record::SplitRows| {
        let all = rows.train.as_ref().map_or(n - rows.test.len().min(n), Vec::len);
        let train = train_rows.unwrap_or(all);
        rows.test.len() as f64 / train.max(1) as f64
    };
    run.folds.iter().map(ratio).sum::<f64>() / run.folds.len().max(1) as f64
}

/// The corrected paired t-test; see the module documentation.
fn paired_p(
    a: &BTreeMap<(usize, usize), f64>,
    b: &BTreeMap<(usize, usize), f64>,
    test_over_train: f64,
) -> Option<f64> {
    let differences: Vec<f64> = a.iter().filter_map(|(split, a)| Some(a - b.get(split)?)).collect();
    let n = differences.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance <= 0.0 {
        // Without variance the test is undefined, unless there is no difference.
        return (mean == 0.0).then_some(1.0);
    }
    let t_squared = mean * mean / ((1.0 / n + test_over_train) * variance);
    Some(f_upper_tail(t_squared, 1.0, n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Measure;

    fn values(numbers: &[f64]) -> BTreeMap<(usize, usize), f64> {
        numbers.iter().enumerate().map(|(fold, &v)| ((0, fold), v)).collect()
    }

    #[test]
    fn cell_has_mean_and_standard_deviation() {
        let cell = Cell::of(&values(&[1.0, 2.0, 3.0]), 3).unwrap();
        assert_eq!((cell.mean, cell.sd, cell.splits), (2.0, 1.0, 3));
        assert_eq!(Cell::of(&values(&[0.5]), 1).unwrap().sd, 0.0);
        assert!(Cell::of(&values(&[]), 3).is_none());
    }

    #[test]
    fn paired_p_matches_closed_form() {
        // Differences 1, 2, 3: mean 2, variance 1. Without correction t = 2 / sqrt(1/3) = 2 sqrt(3); with two
        // degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t²) = 1 - sqrt(12 / 14).
        let (a, b) = (values(&[2.0, 4.0, 6.0]), values(&[1.0, 2.0, 3.0]));
        let expected = 1.0 - (12.0f64 / 14.0).sqrt();
        // The tail's continued fraction is good to about 1e-14.
        assert!((paired_p(&a, &b, 0.0).unwrap() - expected).abs() < 1e-12);
        // Five folds: 1/3 + 1/4 = 7/12, t² = 48/7 and P = 1 - sqrt(t² / (2 + t²)).
        let expected = 1.0 - (48.0f64 / 62.0).sqrt();
        assert!((paired_p(&a, &b, 0.25).unwrap() - expected).abs() < 1e-12);
        assert_eq!(paired_p(&a, &a, 0.25), Some(1.0));
        assert_eq!(paired_p(&values(&[1.0, 2.0]), &values(&[0.0, 1.0]), 0.25), None);
        assert_eq!(paired_p(&values(&[1.0]), &values(&[0.0]), 0.25), None);
    }

    #[test]
    fn the_simplest_is_within_one_standard_error() {
        let method = |label: &str, cells: &[(f64, f64)]| MethodSummary {
            label: label.into(),
            cells: cells
                .iter()
                .map(|&(mean, sd)| Some(Cell { mean, sd, splits: 4, of: 4, best: false, p: None }))
                .collect(),
            select_seconds: None,
            evaluate_seconds: None,
            peak_bytes: None,
            failed: 0,
            failure: None,
            not_converged: 0,
        };
        // The best is 0.1 with a standard error of 0.04 / 2, so that 0.12 is near and 0.13 is not.
        let methods = [
            method("a", &[(0.3, 0.0), (0.13, 0.0), (0.1, 0.04)]),
            method("b", &[(0.3, 0.0), (0.12, 0.5), (0.11, 0.0)]),
        ];
        let found = Simplest::of(&[1, 2, 8], &methods, &Measure::Error.into()).unwrap();
        assert_eq!((found.label.as_str(), found.n_features), ("b", 2));
        // For a score the largest is best: 0.3 with any method; ties go to the first.
        let found = Simplest::of(&[1, 2, 8], &methods, &Measure::Auc.into()).unwrap();
        assert_eq!((found.label.as_str(), found.n_features), ("a", 1));
    }

    #[test]
    fn best_is_the_smallest_error_or_the_largest_other_score() {
        let cells: Vec<_> = [0.3, 0.1, 0.1].iter().map(|&v| Cell::of(&values(&[v]), 1)).collect();
        assert_eq!(best_of(&cells, &Measure::Error.into()), Some((1, 0.1)));
        assert_eq!(best_of(&cells, &Measure::Auc.into()), Some((0, 0.3)));
    }
}
