//! Mean ranks of methods over several tables.
//!
//! In each table methods are ranked by their score, the mean over the numbers of features of the comparison; equal scores
//! share the mean of their ranks. No number of features is chosen on test rows: each method's best one would be optimistic,
//! and most so for the methods whose scores vary most.
//!
//! With $N$ tables, $k$ methods, ranks $r_{ij}$ and mean ranks $R_j$, the Friedman statistic with its correction for ties and
//! the F statistic of Iman and Davenport (1980) are
//!
//! $$ \chi^2_F = \frac{(k-1) N^2 \sum_j \bigl(R_j - \tfrac{k+1}2\bigr)^2}{\sum_{ij} r_{ij}^2 - N k (k+1)^2 / 4}, \quad
//! F = \frac{(N-1) \chi^2_F}{N (k-1) - \chi^2_F} $$
//!
//! with $k-1$ and $(k-1)(N-1)$ degrees of freedom. If the test rejects that all methods are equal, two methods differ
//! significantly if their mean ranks differ by at least the critical difference of Nemenyi, $q_{0.05} \sqrt{k (k+1) / (6 N)}$,
//! where $q_{0.05}$ is the upper quantile of the studentized range divided by $\sqrt 2$ (Demšar, *Statistical comparisons of
//! classifiers over multiple data sets*, 2006).

use super::measure::Metric;
use super::summary::{MethodSummary, Summary};
use crate::error::{Error, Result};
use crate::probability::{f_upper_tail, studentized_range_upper_quantile};
use serde::{Deserialize, Serialize};

/// Significance level of both tests.
const LEVEL: f64 = 0.05;

/// Mean ranks of methods over several tables, the test of Friedman, Iman and Davenport, and the critical difference of Nemenyi
/// (Demšar, *Statistical comparisons of classifiers over multiple data sets*, 2006).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeanRanks {
    /// The score.
    pub measure: Metric,
    /// The tables in which all methods have a score.
    pub tables: Vec<RankedTable>,
    /// The methods that have a score in all of these tables, best mean rank first.
    pub methods: Vec<RankedMethod>,
    /// Methods and tables without ranks.
    pub left_out: Vec<Unranked>,
    /// Friedman's statistic, corrected for ties.
    pub chi_squared: f64,
    /// The statistic of Iman and Davenport; `None` if it is infinite, because all tables rank the methods equally.
    pub f: Option<f64>,
    /// Its p-value.
    pub p_value: f64,
    /// Mean ranks that differ by at least this are significantly different, if the p-value is below 0.05.
    pub critical_difference: f64,
    /// The largest groups of methods that do not differ significantly.
    pub groups: Vec<Vec<String>>,
}

/// A table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedTable {
    /// Its name.
    pub name: String,
    /// The numbers of features over which scores are averaged.
    pub counts: Vec<usize>,
}

/// A method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankedMethod {
    /// Its label.
    pub label: String,
    /// The mean rank over tables; 1 is best.
    pub mean_rank: f64,
    /// The rank in each table.
    pub ranks: Vec<f64>,
    /// The score in each table.
    pub scores: Vec<f64>,
}

/// A method or a table that has no rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unranked {
    /// The label of the method; `None` for a table without any scores.
    pub method: Option<String>,
    /// The table in which scores are missing.
    pub table: String,
    /// Why.
    pub why: String,
}

impl MeanRanks {
    /// Ranks the methods that all summaries have; the summaries are those of named tables with the same score.
    pub fn of(tables: &[(String, &Summary)]) -> Result<Self> {
        let wrong = |expected: &str, got: String| Err(Error::param("ranks", "tables", expected, got));
        let Some((_, first)) = tables.first() else { return wrong("at least two", "none".into()) };
        if let Some((name, other)) = tables.iter().find(|(_, other)| other.measure != first.measure) {
            let (one, two) = (first.measure.name(), other.measure.name());
            return wrong("with the same score", format!("{one} of {} and {two} of {name}", tables[0].0));
        }
        let mut left_out = vec![];
        let has_scores = |summary: &Summary| summary.methods.iter().any(|m| score(m).is_some());
        let (kept, without): (Vec<_>, Vec<_>) = tables.iter().partition(|(_, summary)| has_scores(summary));
        left_out.extend(without.into_iter().map(|(table, summary)| Unranked {
            method: None,
            table: table.clone(),
            why: summary.methods.iter().find_map(failure).unwrap_or_else(|| "no scores".into()),
        }));
        if kept.len() < 2 {
            return wrong("at least two with scores", kept.len().to_string());
        }
        let mut labels = vec![];
        let mut scores = vec![];
        for label in all_labels(&kept) {
            let of_tables = kept.iter().map(|(table, summary)| {
                let method = summary.methods.iter().find(|method| method.label == label);
                let reason = || method.and_then(failure).unwrap_or_else(|| "it was not compared".into());
                method.and_then(score).ok_or_else(|| Unranked {
                    method: Some(label.clone()),
                    table: table.clone(),
                    why: reason(),
                })
            });
            match of_tables.collect::<std::result::Result<Vec<f64>, Unranked>>() {
                Ok(found) => {
                    labels.push(label.clone());
                    scores.push(found);
                }
                Err(missing) => left_out.push(missing),
            }
        }
        if labels.len() < 2 {
            let got =
                left_out.iter().find_map(|one| Some(format!("; {}: {}", one.method.as_ref()?, one.why)));
            return Err(Error::param(
                "ranks",
                "methods",
                "at least two with scores in all tables",
                format!("{}{}", labels.len(), got.unwrap_or_default()),
            ));
        }
        let names = kept
            .iter()
            .map(|(name, summary)| RankedTable { name: name.clone(), counts: summary.counts.clone() });
        Ok(Self { left_out, ..Self::tested(first.measure.clone(), names.collect(), labels, scores) })
    }

    /// Ranks and tests of `scores[method][table]`.
    fn tested(measure: Metric, tables: Vec<RankedTable>, labels: Vec<String>, scores: Vec<Vec<f64>>) -> Self {
        let (n, k) = (tables.len() as f64, labels.len() as f64);
        let sign = if measure.larger_is_better() { -1.0 } else { 1.0 };
        let by_table: Vec<Vec<f64>> = (0..tables.len())
            .map(|table| ranks(&scores.iter().map(|scores| sign * scores[table]).collect::<Vec<f64>>()))
            .collect();
        let mut methods: Vec<RankedMethod> = labels
            .into_iter()
            .zip(scores)
            .enumerate()
            .map(|(method, (label, scores))| {
                let ranks: Vec<f64> = by_table.iter().map(|ranks| ranks[method]).collect();
                RankedMethod { label, mean_rank: ranks.iter().sum::<f64>() / n, ranks, scores }
            })
            .collect();
        methods.sort_by(|a, b| a.mean_rank.total_cmp(&b.mean_rank));
        // All terms are multiples of a quarter, so that the differences are exact.
        let between: f64 =
            methods.iter().map(|m| (m.ranks.iter().sum::<f64>() - n * (k + 1.0) / 2.0).powi(2)).sum();
        let squares: f64 = by_table.iter().flatten().map(|rank| rank * rank).sum();
        let within = squares - n * k * (k + 1.0).powi(2) / 4.0;
        // Without differences in any table nothing is rejected.
        let chi_squared = if within > 0.0 { (k - 1.0) * between / within } else { 0.0 };
        let rest = n * (k - 1.0) - chi_squared;
        let f = (rest > 1e-12 * n * k).then(|| (n - 1.0) * chi_squared / rest);
        let p_value = match f {
            Some(f) => f_upper_tail(f, k - 1.0, (k - 1.0) * (n - 1.0)),
            None => same_order(&by_table[0]).powi(tables.len() as i32 - 1),
        };
        let quantile = studentized_range_upper_quantile(LEVEL, methods.len()) / std::f64::consts::SQRT_2;
        let critical_difference = quantile * (k * (k + 1.0) / (6.0 * n)).sqrt();
        let limit = if p_value < LEVEL { critical_difference } else { f64::INFINITY };
        let groups = groups(&methods, limit);
        Self {
            measure,
            tables,
            methods,
            left_out: vec![],
            chi_squared,
            f,
            p_value,
            critical_difference,
            groups,
        }
    }

    /// Whether the test rejects that all methods are equal.
    pub fn is_significant(&self) -> bool {
        self.p_value < LEVEL
    }
}

/// The labels of the methods of all tables, in order of appearance.
fn all_labels(tables: &[&(String, &Summary)]) -> Vec<String> {
    let mut labels: Vec<String> = vec![];
    for method in tables.iter().flat_map(|(_, summary)| &summary.methods) {
        if !labels.contains(&method.label) {
            labels.push(method.label.clone());
        }
    }
    labels
}

/// The mean score of a method over all numbers of features; `None` if it lacks one in some split.
fn score(method: &MethodSummary) -> Option<f64> {
    let means = method.cells.iter().map(|cell| cell.filter(|cell| cell.is_complete()).map(|cell| cell.mean));
    let means = means.collect::<Option<Vec<f64>>>().filter(|means| !means.is_empty())?;
    Some(means.iter().sum::<f64>() / means.len() as f64)
}

/// Why a method lacks scores.
fn failure(method: &MethodSummary) -> Option<String> {
    method.failure.clone().or_else(|| {
        let lacks = method.cells.iter().any(|cell| cell.is_none_or(|cell| !cell.is_complete()));
        lacks.then(|| "the score is undefined in some splits, or was not computed".into())
    })
}

/// The probability that a random order of methods is that of these ranks.
fn same_order(ranks: &[f64]) -> f64 {
    let place = |&at: &usize| {
        let tied = ranks[..=at].iter().filter(|rank| **rank == ranks[at]).count();
        tied as f64 / (at + 1) as f64
    };
    (0..ranks.len()).collect::<Vec<_>>().iter().map(place).product()
}

/// Ranks from 1 for the smallest value; values that are equal up to rounding share their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let is_equal = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    let rank = |&value: &f64| {
        let equal = values.iter().filter(|other| is_equal(**other, value)).count();
        let smaller = values.iter().filter(|other| **other < value && !is_equal(**other, value)).count();
        smaller as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// The largest groups of methods, sorted by mean rank, whose mean ranks differ by less than `limit`.
fn groups(methods: &[RankedMethod], limit: f64) -> Vec<Vec<String>> {
    let mut groups = vec![];
    let mut end = 0;
    for (first, method) in methods.iter().enumerate() {
        let last =
            methods.iter().rposition(|other| other.mean_rank - method.mean_rank < limit).unwrap_or(first);
        if last > first.max(end) {
            groups.push(methods[first..=last].iter().map(|method| method.label.clone()).collect());
            end = last;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{Cell, Measure};

    fn tested(scores: &[&[f64]]) -> MeanRanks {
        let table = |at: usize| RankedTable { name: format!("t{at}"), counts: vec![1] };
        let labels = (0..scores.len()).map(|method| format!("m{method}")).collect();
        let scores: Vec<Vec<f64>> = scores.iter().map(|scores| scores.to_vec()).collect();
        MeanRanks::tested(Measure::Error.into(), (0..scores[0].len()).map(table).collect(), labels, scores)
    }

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(ranks(&[0.1 + 0.2, 0.1, 0.3, 0.2]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn statistics_by_hand() {
        // Three methods in four tables with ranks 1 2 3, 1 2 3, 1 3 2, 2 1 3: sums 5, 8, 11.
        let found = tested(&[&[0.1, 0.1, 0.1, 0.2], &[0.2, 0.2, 0.3, 0.1], &[0.3, 0.3, 0.2, 0.3]]);
        let means: Vec<f64> = found.methods.iter().map(|method| method.mean_rank).collect();
        assert_eq!(means, [1.25, 2.0, 2.75]);
        // 12 / (N k (k + 1)) (25 + 64 + 121) - 3 N (k + 1) = 52.5 - 48; F = 3 · 4.5 / (8 - 4.5) with 2 and 6 degrees of
        // freedom: P(F > f) = (1 + f / 3)^-3.
        assert!((found.chi_squared - 4.5).abs() < 1e-12);
        let f = 13.5 / 3.5;
        assert!(
            (found.f.unwrap() - f).abs() < 1e-12
                && (found.p_value - (1.0_f64 + f / 3.0).powi(-3)).abs() < 1e-12
        );
        // q of three methods is 2.343 (table 5 of Demšar), and sqrt(12 / 24).
        assert!((found.critical_difference - 2.343 * 0.5_f64.sqrt()).abs() < 5e-4);
        // Not significant: one group.
        assert_eq!(found.groups, [["m0", "m1", "m2"]]);
    }

    #[test]
    fn equal_orders_and_no_differences() {
        let all: Vec<Vec<f64>> = (0..4).map(|method| vec![f64::from(method); 12]).collect();
        let found = tested(&all.iter().map(Vec::as_slice).collect::<Vec<_>>());
        // The 11 other tables have one of 4! orders each.
        assert!(found.f.is_none() && (found.p_value * 24_f64.powi(11) - 1.0).abs() < 1e-12);
        // The critical difference is 2.569 sqrt(20 / 72) = 1.354: neighbors do not differ.
        assert_eq!(found.groups, [["m0", "m1"], ["m1", "m2"], ["m2", "m3"]]);
        // The same winner of two methods in two tables is chance in half of the cases.
        let found = tested(&[&[0.1; 2], &[0.2; 2]]);
        assert_eq!((found.p_value, found.groups.len()), (0.5, 1));
        // One of three orders of three methods, of which two are tied.
        assert!((same_order(&[1.5, 3.0, 1.5]) - 1.0 / 3.0).abs() < 1e-15);
        let found = tested(&[&[0.5; 3], &[0.5; 3]]);
        assert_eq!((found.chi_squared, found.f, found.p_value), (0.0, Some(0.0), 1.0));
    }

    #[test]
    fn tables_and_methods_without_scores_are_named() {
        let cell = |mean| Some(Cell { mean, sd: 0.0, splits: 2, of: 2, best: false, p: None });
        let method = |label: &str, cells: Vec<Option<Cell>>| MethodSummary {
            label: label.into(),
            failed: usize::from(cells.iter().any(Option::is_none)),
            failure: cells.iter().any(Option::is_none).then(|| "too few rows".into()),
            cells,
            select_seconds: None,
            evaluate_seconds: None,
            peak_bytes: None,
            not_converged: 0,
        };
        let summary = |methods| Summary {
            measure: Measure::Auc.into(),
            counts: vec![1, 2],
            train_rows: None,
            methods,
            all_features: None,
            all_features_failure: None,
            simplest: None,
        };
        let whole = |a, b| {
            summary(vec![
                method("a", vec![cell(a), cell(a)]),
                method("b", vec![cell(b), cell(b + 0.1)]),
                method("c", vec![cell(0.0), cell(0.0)]),
            ])
        };
        let (one, two) = (whole(0.9, 0.5), whole(0.6, 0.8));
        let part = summary(vec![
            method("a", vec![cell(0.9); 2]),
            method("b", vec![cell(0.8); 2]),
            method("c", vec![None, cell(0.1)]),
        ]);
        let nothing = summary(vec![method("a", vec![None; 2])]);
        let tables = |all: &[&'static str], summaries: [&Summary; 4]| {
            MeanRanks::of(&all.iter().map(|name| (*name).to_owned()).zip(summaries).collect::<Vec<_>>())
        };
        let found = tables(&["u", "v", "w", "x"], [&one, &two, &part, &nothing]).unwrap();
        let unranked: Vec<_> =
            found.left_out.iter().map(|u| (u.method.as_deref(), &*u.table, &*u.why)).collect();
        assert_eq!(unranked, [(None, "x", "too few rows"), (Some("c"), "w", "too few rows")]);
        // The larger area is better, and scores are means over the numbers of features.
        assert_eq!((found.methods[0].label.as_str(), found.methods[0].mean_rank), ("a", 4.0 / 3.0));
        assert_eq!(found.methods[1].scores, [0.55, 0.8500000000000001, 0.8]);
        let error = tables(&["u", "v"], [&one, &nothing, &two, &part]).unwrap_err().to_string();
        assert!(error.contains("at least two with scores, got 1"), "{error}");
    }
}
