//! The error of the selection, its curve, and those of other methods.

use super::choice::{Choice, Errors, Mean, mean};
use super::result::{Alternative, CurvePoint, Estimate};
use super::trials::{Plan, Trial};
use crate::data::{Dataset, Target};
use crate::probability::chi_squared_upper_tail;

/// What follows from the errors of all trials.
pub(super) struct Results {
    /// Errors of searches that leave out one fold.
    pub errors: Errors,
    pub estimate: Estimate,
    /// The p-value that the error is not below that without features.
    pub p_value: f64,
    /// What errors are divided by.
    unit: f64,
}

impl Results {
    pub fn new(data: &Dataset, points: &[usize], trials: &[Trial]) -> Option<Self> {
        if trials.is_empty() {
            return None;
        }
        let weights = weights(data.target());
        let single = || trials.iter().filter(|trial| trial.folds.len() == 1);
        let errors = Errors::collect(single(), points, &weights, |_| true);
        let is_nested = trials.iter().any(|trial| trial.folds.len() == 2);
        let overall = errors.choose();
        let (mut of_rows, mut baseline, mut of_weights) = (vec![], vec![], vec![]);
        for trial in single() {
            let fold = trial.folds[0];
            let choice = match is_nested {
                true => {
                    let inner = trials.iter().filter(|t| t.folds.len() == 2 && t.folds.contains(&fold));
                    let left_out = &trial.rows;
                    Errors::collect(inner, points, &weights, |row| left_out.binary_search(&row).is_err())
                        .choose()
                }
                false => overall,
            };
            let point = points[choice.point];
            of_rows.extend(trial.errors[choice.method].iter().map(|errors| errors[point]));
            baseline.extend(&trial.baseline);
            of_weights.extend(trial.rows.iter().map(|&row| weights[row]));
        }
        let unit = match data.target() {
            Target::Continuous(_) => mean(&baseline, &of_weights).mean,
            _ => 1.0,
        };
        let error = mean(&of_rows, &of_weights);
        let gains: Vec<f64> = baseline.iter().zip(&of_rows).map(|(without, with)| without - with).collect();
        let gain = mean(&gains, &of_weights);
        // One-sided, by the normal distribution.
        let p_value = match gain.mean > 0.0 {
            true => 0.5 * chi_squared_upper_tail((gain.mean / gain.error).powi(2), 1.0),
            false => 1.0,
        };
        let estimate = Estimate {
            error: error.mean / unit,
            standard_error: error.error / unit,
            baseline: mean(&baseline, &of_weights).mean / unit,
            is_nested,
        };
        Some(Self { errors, estimate, p_value, unit })
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
        (0..self.errors.n_methods()).filter(|&method| method != chosen.method).map(one).collect()
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
        Target::None => vec![],
    }
}
