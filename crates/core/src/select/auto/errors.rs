//! The error of the selection, its curve, and those of other methods.

use super::choice::{Choice, Errors, Mean, mean, mean_of_groups};
use super::predict::error;
use super::result::{Alternative, CurvePoint, Estimate};
use super::settings::Scoring;
use super::trials::{Plan, Trial};
use crate::data::{Dataset, SplitRule, Target};
use crate::probability::chi_squared_upper_tail;
use crate::random::Rng;
use std::collections::BTreeMap;

/// Number of permuted targets.
const PERMUTATIONS: usize = 999;

/// What follows from the errors of all trials.
pub(super) struct Results {
    /// Errors of searches that leave out one fold.
    pub errors: Errors,
    pub estimate: Estimate,
    /// The p-value that predictions do not depend on the target.
    pub p_value: f64,
    /// What errors are divided by.
    unit: f64,
    /// Methods without a result.
    failed: Vec<usize>,
}

impl Results {
    pub fn new(
        data: &Dataset,
        scoring: Scoring,
        points: &[usize],
        trials: &[Trial],
        seed: u64,
    ) -> Option<Self> {
        if trials.is_empty() {
            return None;
        }
        let weights = if scoring.is_balanced() { weights(data.target()) } else { vec![1.0; data.n()] };
        let single = || trials.iter().filter(|trial| trial.folds.len() == 1);
        let groups: &[usize] = if let SplitRule::Groups(groups) = data.split_rule() { groups } else { &[] };
        let of_all = (weights.as_slice(), groups);
        let errors = Errors::collect(single(), points, of_all, |_| true);
        let is_nested = trials.iter().any(|trial| !trial.inner_of.is_empty());
        let overall = errors.choose();
        let (mut of_rows, mut baseline, mut of_weights) = (vec![], vec![], vec![]);
        let (mut rows, mut predictions) = (vec![], vec![]);
        for trial in single() {
            let fold = trial.folds[0];
            let choice = match is_nested {
                true => {
                    let inner = || trials.iter().filter(|t| t.inner_of.contains(&fold));
                    // No rows are earlier than those on which the first of splits by time trains.
                    if inner().next().is_none() {
                        continue;
                    }
                    let left_out = &trial.rows;
                    Errors::collect(inner(), points, of_all, |row| left_out.binary_search(&row).is_err())
                        .choose()
                }
                false => overall,
            };
            let point = points[choice.point];
            of_rows.extend(trial.errors[choice.method].iter().map(|errors| errors[point]));
            baseline.extend(&trial.baseline);
            of_weights.extend(trial.rows.iter().map(|&row| weights[row]));
            rows.extend(&trial.rows);
            predictions.extend(trial.predictions[choice.method].iter().map(|predicted| predicted[point]));
        }
        let unit = match data.target() {
            Target::Continuous(_) => mean(&baseline, &of_weights).mean,
            _ => 1.0,
        };
        let of_groups: Vec<usize> = rows.iter().filter_map(|&row| groups.get(row).copied()).collect();
        let mean_error = mean_of_groups(&of_rows, &of_weights, &of_groups);
        // Without nested cross-validation the choice depends on these rows.
        let p_value = match is_nested || points.len() == 1 {
            true => p_value(data, &rows, &predictions, seed),
            false => 1.0,
        };
        let estimate = Estimate {
            error: mean_error.mean / unit,
            standard_error: mean_error.error / unit,
            baseline: mean(&baseline, &of_weights).mean / unit,
            is_nested,
        };
        let has_failed = |method: &usize| trials.iter().any(|trial| trial.orders[*method].is_empty());
        let failed = (1..errors.n_methods()).filter(has_failed).collect();
        Some(Self { errors, estimate, p_value, unit, failed })
    }

    /// The error of a method by number of features.
    pub fn curve(&self, plan: &Plan, points: &[usize], method: usize) -> Vec<CurvePoint> {
        let points = points.iter().zip(self.errors.curve(method));
        let point = |(&at, point): (&usize, Mean)| CurvePoint {
            n_features: plan.counts[at],
            error: point.mean / self.unit,
            standard_error: point.error / self.unit,
        };
        points.map(point).collect()
    }

    /// All methods but the chosen one.
    pub fn alternatives(&self, plan: &Plan, points: &[usize], chosen: Choice) -> Vec<Alternative> {
        let methods = plan.methods();
        let one = |method: usize| {
            let other = Choice { method, point: self.errors.one_standard_error(method) };
            let point = self.errors.curve(method)[other.point];
            let difference = self.errors.difference(chosen, other);
            Alternative {
                method: methods[method].into(),
                n_features: plan.counts[points[other.point]],
                error: point.mean / self.unit,
                standard_error: point.error / self.unit,
                is_close: difference.mean >= -difference.error,
            }
        };
        let is_other = |&method: &usize| method != chosen.method && !self.failed.contains(&method);
        (0..self.errors.n_methods()).filter(is_other).map(one).collect()
    }
}

/// The p-value that predictions of rows that took no part do not depend on the target, by errors for permuted targets.
fn p_value(data: &Dataset, rows: &[usize], predictions: &[f64], seed: u64) -> f64 {
    let target = data.target();
    let weights = weights(target);
    let mut rng = Rng::stream(seed, "permuted targets of the automatic selector");
    let mut shuffled = Shuffled::new(data, rows);
    let total = |order: &[usize]| -> f64 {
        order.iter().zip(predictions).map(|(&row, &p)| weights[row] * error(target, row, p)).sum()
    };
    let observed = total(rows);
    let permuted: Vec<f64> = (0..PERMUTATIONS).map(|_| total(shuffled.next(&mut rng))).collect();
    // Equal sums may differ by rounding.
    let as_small = permuted.iter().filter(|sum| **sum <= observed * (1.0 + 1e-12)).count();
    let permuted = mean(&permuted, &[1.0; PERMUTATIONS]);
    let deviations = (permuted.mean - observed) / (permuted.error * (PERMUTATIONS as f64).sqrt());
    // Two neighbors predict each other, so that their errors are equal: the variance is up to twice that of permuted targets.
    let normal =
        if deviations > 0.0 { 0.5 * chi_squared_upper_tail(deviations.powi(2) / 2.0, 1.0) } else { 1.0 };
    normal.max((1 + as_small) as f64 / (1 + PERMUTATIONS) as f64)
}

/// Permutations of rows that are equally likely if the target depends on no feature.
struct Shuffled {
    /// The row from which each row gets its target.
    order: Vec<usize>,
    /// For each group, a row and the places of its rows in the order; a single group without groups.
    groups: Vec<(usize, Vec<usize>)>,
    /// Whether groups exchange their targets, which are the same in all of their rows.
    between: bool,
}

impl Shuffled {
    fn new(data: &Dataset, rows: &[usize]) -> Self {
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, &row) in rows.iter().enumerate() {
            let group = if let SplitRule::Groups(groups) = data.split_rule() { groups[row] } else { 0 };
            places.entry(group).or_default().push(place);
        }
        let groups: Vec<_> = places.into_values().map(|places| (rows[places[0]], places)).collect();
        let is_same = |a: usize, b: usize| match data.target() {
            Target::Classes(classes) => classes.codes[a] == classes.codes[b],
            Target::Continuous(y) => y[a] == y[b],
            Target::None | Target::Outputs(_) => true,
        };
        let is_constant =
            |(row, places): &(usize, Vec<usize>)| places.iter().all(|&place| is_same(*row, rows[place]));
        let between = groups.len() > 1 && groups.iter().all(is_constant);
        Self { order: rows.to_vec(), groups, between }
    }

    /// Targets are exchanged between groups if they are constant in each, else within groups.
    fn next(&mut self, rng: &mut Rng) -> &[usize] {
        if self.between {
            let mut sources: Vec<usize> = self.groups.iter().map(|(row, _)| *row).collect();
            rng.shuffle(&mut sources);
            for ((_, places), source) in self.groups.iter().zip(sources) {
                places.iter().for_each(|&place| self.order[place] = source);
            }
        } else {
            for (_, places) in &self.groups {
                let mut rows: Vec<usize> = places.iter().map(|&place| self.order[place]).collect();
                rng.shuffle(&mut rows);
                places.iter().zip(rows).for_each(|(&place, row)| self.order[place] = row);
            }
        }
        &self.order
    }
}

/// The weight of each row in an error: all classes have the same weight.
fn weights(target: &Target) -> Vec<f64> {
    match target {
        Target::Classes(classes) => {
            let counts = classes.counts();
            classes.codes.iter().map(|&code| 1.0 / counts[code] as f64).collect()
        }
        Target::Continuous(y) => vec![1.0; y.len()],
        Target::None | Target::Outputs(_) => vec![],
    }
}
