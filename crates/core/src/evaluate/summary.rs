//! A comparison in one table: means, spreads, and a paired test against the best.
//!
//! Splits of one data set share most of their training rows, so their scores vary less than those of
//! independent data would. The test corrects for it (Nadeau and Bengio 2003): with differences $d_1, \dots, d_J$
//! of two methods over $J$ splits,
//!
//! $$ t = \frac{\bar d}{\sqrt{\bigl(\tfrac1J + \tfrac{n_{test}}{n_{train}}\bigr) s_d^2}} $$
//!
//! is held against Student's distribution with $J - 1$ degrees of freedom, on both sides. The p-values are per
//! pair; who looks at many should ask for small ones.

use super::candidate::EVERYTHING;
use super::record::{Cost, Record, Run};
use super::results_log::ResultsLog;
use super::scores::Scores;
use crate::data::Target;
use crate::error::{Error, Result};
use crate::probability::f_upper_tail;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The score that a table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The share of rows with a wrong class; less is better.
    Error,
    /// The mean over classes of the share of right answers.
    BalancedAccuracy,
    /// The area under the curve of hits against false alarms.
    Auc,
    /// The share of variance explained.
    R2,
}

impl Measure {
    /// The usual score of a target.
    pub fn for_target(target: &Target) -> Self {
        if matches!(target, Target::Continuous(_)) { Self::R2 } else { Self::Error }
    }

    /// A measure by its name.
    pub fn by_name(name: &str) -> Result<Self> {
        let all = [Self::Error, Self::BalancedAccuracy, Self::Auc, Self::R2];
        match all.into_iter().find(|measure| measure.name() == name) {
            Some(measure) => Ok(measure),
            None => Err(Error::unknown_name("score", name, all.iter().map(|measure| measure.name()))),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::Auc => "auc",
            Self::R2 => "r2",
        }
    }

    /// Whether more is better.
    pub fn larger_is_better(self) -> bool {
        self != Self::Error
    }

    /// Its value among all scores.
    pub fn of(self, scores: &Scores) -> Option<f64> {
        match self {
            Self::Error => scores.error,
            Self::BalancedAccuracy => scores.balanced_accuracy,
            Self::Auc => scores.auc,
            Self::R2 => scores.r2,
        }
    }
}

/// A comparison in one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What the numbers are.
    pub measure: Measure,
    /// Numbers of features, the columns of the table.
    pub counts: Vec<usize>,
    /// A line per method, in the order asked for.
    pub methods: Vec<MethodSummary>,
    /// All columns together, if they were judged.
    pub all_columns: Option<Cell>,
    /// Why all columns together could not be judged in some split.
    pub all_columns_failure: Option<String>,
}

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodSummary {
    /// The method's label.
    pub label: String,
    /// A cell per number of features; none where there is nothing to show.
    pub cells: Vec<Option<Cell>>,
    /// Mean seconds of selecting in a split, if known.
    pub select_seconds: Option<f64>,
    /// Mean seconds of judging in a split, if known.
    pub evaluate_seconds: Option<f64>,
    /// The most memory that selecting took in a split, if known.
    pub peak_bytes: Option<u64>,
    /// Results without scores, and what the first of them says.
    pub failed: usize,
    /// Why the first of them has none.
    pub failure: Option<String>,
    /// Results of runs that stopped at their iteration limit.
    pub not_converged: usize,
}

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The mean over splits.
    pub mean: f64,
    /// The standard deviation over splits, with the divisor J - 1; 0 for one split.
    pub sd: f64,
    /// Splits that have a score.
    pub splits: usize,
    /// Splits that there were.
    pub of: usize,
    /// Whether no other method has a better mean with as many features. A method that failed in some split
    /// cannot be it: its mean is that of the others.
    pub best: bool,
    /// Two-sided p-value of the difference from the best one; none for that one itself, or for fewer
    /// than two splits in common.
    pub p: Option<f64>,
}

impl Summary {
    /// The table of these methods and numbers of features.
    pub fn of(log: &ResultsLog, labels: &[String], counts: &[usize], measure: Measure) -> Self {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        counts.dedup();
        let by_place = |label: &str, k: usize| -> BTreeMap<(usize, usize), f64> {
            let wanted = |r: &&Record| r.method == label && r.k == k;
            let value = |r: &Record| Some(((r.repeat, r.fold), measure.of(&r.scores)?));
            log.results().filter(wanted).filter_map(value).collect()
        };
        let splits = log.run().map_or(0, |run| run.folds.len());
        let ratio = log.run().map_or(0.0, test_over_train);
        let mut methods: Vec<MethodSummary> =
            labels.iter().map(|label| MethodSummary::without_cells(log, label, &counts)).collect();
        for &k in &counts {
            let values: Vec<_> = labels.iter().map(|label| by_place(label, k)).collect();
            let mut cells: Vec<Option<Cell>> = values.iter().map(|values| Cell::of(values, splits)).collect();
            let whole: Vec<Option<Cell>> = cells.iter().map(|cell| cell.filter(Cell::is_whole)).collect();
            let best = best_of(&whole, measure);
            for (place, cell) in cells.iter_mut().enumerate() {
                let (Some(cell), Some(best)) = (cell, best) else { continue };
                cell.best = cell.is_whole() && cell.mean == best.1;
                cell.p =
                    if place == best.0 { None } else { paired_p(&values[place], &values[best.0], ratio) };
            }
            methods.iter_mut().zip(cells).for_each(|(method, cell)| method.cells.push(cell));
        }
        let everything: BTreeMap<_, _> = log
            .results()
            .filter(|record| record.method == EVERYTHING)
            .filter_map(|r| Some(((r.repeat, r.fold), measure.of(&r.scores)?)))
            .collect();
        let failure =
            |record: &Record| if record.method == EVERYTHING { record.failed.clone() } else { None };
        Self {
            measure,
            counts,
            methods,
            all_columns: Cell::of(&everything, splits),
            all_columns_failure: log.results().find_map(failure),
        }
    }
}

impl Summary {
    /// A method's best cell and the number of features it has there; of equals the one with fewer. Cells that
    /// lack some splits are left out.
    pub fn best_of(&self, method: &MethodSummary) -> Option<(Cell, usize)> {
        let whole: Vec<Option<Cell>> = method.cells.iter().map(|cell| cell.filter(Cell::is_whole)).collect();
        let (place, _) = best_of(&whole, self.measure)?;
        Some((whole[place]?, self.counts[place]))
    }
}

impl MethodSummary {
    fn without_cells(log: &ResultsLog, label: &str, counts: &[usize]) -> Self {
        let costs: Vec<&Cost> = log.costs().filter(|cost| cost.method == label).collect();
        // Numbers of features that were asked for later cost selecting again, so it counts once.
        let mut by_split: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
        for cost in &costs {
            let split = by_split.entry((cost.repeat, cost.fold)).or_default();
            *split = (split.0.max(cost.select_seconds), split.1 + cost.evaluate_seconds);
        }
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| {
            let n = by_split.len() as f64;
            (n > 0.0).then(|| by_split.values().map(value).sum::<f64>() / n)
        };
        let results: Vec<&Record> =
            log.results().filter(|r| r.method == label && counts.contains(&r.k)).collect();
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
    /// Whether there is a score of every split.
    pub fn is_whole(&self) -> bool {
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

/// Place and mean of the best cell; of equals the first.
fn best_of(cells: &[Option<Cell>], measure: Measure) -> Option<(usize, f64)> {
    let badness = |mean: f64| if measure.larger_is_better() { -mean } else { mean };
    let means = cells.iter().enumerate().filter_map(|(place, cell)| Some((place, cell.as_ref()?.mean)));
    means.min_by(|a, b| badness(a.1).total_cmp(&badness(b.1)))
}

/// Rows to evaluator by over rows to learn from, on average.
fn test_over_train(run: &Run) -> f64 {
    let n = run.fingerprint.rows;
    let ratio = |rows: &super::record::SplitRows| {
        let train = rows.train.as_ref().map_or(n - rows.test.len().min(n), Vec::len);
        rows.test.len() as f64 / train.max(1) as f64
    };
    run.folds.iter().map(ratio).sum::<f64>() / run.folds.len().max(1) as f64
}

/// The corrected paired test; see the module's text.
fn paired_p(
    a: &BTreeMap<(usize, usize), f64>,
    b: &BTreeMap<(usize, usize), f64>,
    test_over_train: f64,
) -> Option<f64> {
    let differences: Vec<f64> = a.iter().filter_map(|(place, a)| Some(a - b.get(place)?)).collect();
    let n = differences.len() as f64;
    if n < 2.0 {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance <= 0.0 {
        // Equal differences in few splits happen by chance; how often cannot be told.
        return (mean == 0.0).then_some(1.0);
    }
    let t_squared = mean * mean / ((1.0 / n + test_over_train) * variance);
    Some(f_upper_tail(t_squared, 1.0, n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(numbers: &[f64]) -> BTreeMap<(usize, usize), f64> {
        numbers.iter().enumerate().map(|(fold, &v)| ((0, fold), v)).collect()
    }

    #[test]
    fn a_cell_by_hand() {
        let cell = Cell::of(&values(&[1.0, 2.0, 3.0]), 3).unwrap();
        assert_eq!((cell.mean, cell.sd, cell.splits), (2.0, 1.0, 3));
        assert_eq!(Cell::of(&values(&[0.5]), 1).unwrap().sd, 0.0);
        assert!(Cell::of(&values(&[]), 3).is_none());
    }

    #[test]
    fn the_paired_test_by_hand() {
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
    fn the_best_is_the_least_error_or_the_largest_other_score() {
        let cells: Vec<_> = [0.3, 0.1, 0.1].iter().map(|&v| Cell::of(&values(&[v]), 1)).collect();
        assert_eq!(best_of(&cells, Measure::Error), Some((1, 0.1)));
        assert_eq!(best_of(&cells, Measure::Auc), Some((0, 0.3)));
    }
}
