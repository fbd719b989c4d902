//! The choice of a method and of a number of features from errors on rows that took no part in the search.

use super::trials::Trial;
use std::collections::BTreeMap;

/// Another method than the first is chosen if its error is smaller by more than this many standard errors of the
/// difference.
const DECISIVE: f64 = 2.0;

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mean {
    pub mean: f64,
    pub error: f64,
}

/// The weighted mean of values, and its standard error.
pub(super) fn mean(values: &[f64], weights: &[f64]) -> Mean {
    let total: f64 = weights.iter().sum();
    let mean = values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let squares: f64 = values.iter().zip(weights).map(|(v, w)| (w * (v - mean)).powi(2)).sum();
    Mean { mean, error: squares.sqrt() / total }
}

/// As [`mean`]; rows of one group are not independent, so the standard error is that of sums over groups, if there are any.
pub(super) fn mean_of_groups(values: &[f64], weights: &[f64], groups: &[usize]) -> Mean {
    let found = mean(values, weights);
    if groups.is_empty() {
        return found;
    }
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for ((value, weight), &group) in values.iter().zip(weights).zip(groups) {
        *sums.entry(group).or_default() += weight * (value - found.mean);
    }
    let squares: f64 = sums.values().map(|sum| sum * sum).sum();
    Mean { error: squares.sqrt() / weights.iter().sum::<f64>(), ..found }
}

/// The errors of some rows, by method and number of features.
pub(super) struct Errors {
    /// `errors[method][point][row]`.
    errors: Vec<Vec<Vec<f64>>>,
    weights: Vec<f64>,
    /// The group of each row; empty without groups.
    groups: Vec<usize>,
}

/// A chosen method and point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice {
    pub method: usize,
    pub point: usize,
}

impl Errors {
    /// Collects the errors of rows `wanted` of trials at some points; `weights` and `groups` are those of all rows.
    pub fn collect<'a>(
        trials: impl Iterator<Item = &'a Trial>,
        points: &[usize],
        (weights, groups): (&[f64], &[usize]),
        wanted: impl Fn(usize) -> bool,
    ) -> Self {
        let mut out = Self { errors: vec![], weights: vec![], groups: vec![] };
        for trial in trials {
            if out.errors.is_empty() {
                out.errors = vec![vec![vec![]; points.len()]; trial.errors.len()];
            }
            for (at, &row) in trial.rows.iter().enumerate().filter(|(_, row)| wanted(**row)) {
                out.weights.push(weights[row]);
                out.groups.extend(groups.get(row));
                for (to, from) in out.errors.iter_mut().zip(&trial.errors) {
                    to.iter_mut().zip(points).for_each(|(to, &point)| to.push(from[at][point]));
                }
            }
        }
        out
    }

    pub fn n_methods(&self) -> usize {
        self.errors.len()
    }

    /// The mean error of a method by number of features.
    pub fn curve(&self, method: usize) -> Vec<Mean> {
        self.errors[method].iter().map(|errors| mean_of_groups(errors, &self.weights, &self.groups)).collect()
    }

    /// The first number of features with the least error.
    pub fn least(&self, method: usize) -> usize {
        let curve = self.curve(method);
        (1..curve.len()).fold(0, |best, at| if curve[at].mean < curve[best].mean { at } else { best })
    }

    /// The smallest number of features whose error is within one standard error of the least.
    pub fn one_standard_error(&self, method: usize) -> usize {
        let curve = self.curve(method);
        let Some(least) = curve.get(self.least(method)) else { return 0 };
        curve.iter().position(|point| point.mean <= least.mean + least.error).unwrap_or(0)
    }

    /// By how much the second choice is better than the first, in paired rows.
    pub fn difference(&self, a: Choice, b: Choice) -> Mean {
        let rows = self.errors[a.method][a.point].iter().zip(&self.errors[b.method][b.point]);
        mean_of_groups(&rows.map(|(a, b)| a - b).collect::<Vec<f64>>(), &self.weights, &self.groups)
    }

    /// The first method, unless another is decisively better.
    pub fn choose(&self) -> Choice {
        let choice = |method: usize| Choice { method, point: self.one_standard_error(method) };
        let first = choice(0);
        let mut best = (first, 0.0);
        for method in 1..self.n_methods() {
            let other = choice(method);
            let by = self.difference(first, other);
            if by.mean > DECISIVE * by.error && by.mean > best.1 {
                best = (other, by.mean);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(errors: Vec<Vec<Vec<f64>>>) -> Trial {
        let n = errors[0].len();
        let (orders, predictions) = (vec![], vec![]);
        Trial {
            folds: vec![0],
            inner_of: vec![],
            orders,
            rows: (0..n).collect(),
            predictions,
            errors,
            baseline: vec![0.5; n],
        }
    }

    #[test]
    fn the_mean_and_its_standard_error() {
        // Deviations -1, 0, 1 of three rows with weight 1/3 each: sqrt(2) / 3.
        let found = mean(&[1.0, 2.0, 3.0], &[1.0; 3]);
        assert!((found.mean - 2.0).abs() < 1e-15 && (found.error - 2_f64.sqrt() / 3.0).abs() < 1e-15);
    }

    #[test]
    fn rows_of_a_group_count_once() {
        // Three groups of two equal rows: deviations -2, 0, 2 of sums, divided by 6.
        let values = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        let found = mean_of_groups(&values, &[1.0; 6], &[4, 4, 7, 7, 5, 5]);
        assert!((found.error - 8_f64.sqrt() / 6.0).abs() < 1e-15 && found.mean == 2.0);
        assert_eq!(found.error, mean(&[1.0, 2.0, 3.0], &[1.0; 3]).error);
        assert_eq!(mean_of_groups(&values, &[1.0; 6], &[]), mean(&values, &[1.0; 6]));
    }

    #[test]
    fn one_standard_error_prefers_fewer_features() {
        // 100 rows; errors 50 %, 12 %, 10 %: the standard error of the last is 3 %.
        let row = |i: usize| {
            vec![f64::from(i.is_multiple_of(2)), f64::from(i % 25 < 3), f64::from(i.is_multiple_of(10))]
        };
        let trial = trial(vec![(0..100).map(row).collect()]);
        let errors = Errors::collect([&trial].into_iter(), &[0, 1, 2], (&[1.0; 100], &[]), |_| true);
        assert_eq!(errors.one_standard_error(0), 1);
        assert_eq!(errors.choose(), Choice { method: 0, point: 1 });
    }

    #[test]
    fn another_method_must_be_decisively_better() {
        let rows = |every: usize| {
            (0..100_usize).map(|i| vec![f64::from(i.is_multiple_of(every))]).collect::<Vec<_>>()
        };
        let of = |a: usize, b: usize| {
            let trial = trial(vec![rows(a), rows(b)]);
            Errors::collect([&trial].into_iter(), &[0], (&[1.0; 100], &[]), |_| true).choose().method
        };
        // 50 % against 10 %, then 12 % against 10 %.
        assert_eq!((of(2, 10), of(8, 10)), (1, 0));
    }
}
