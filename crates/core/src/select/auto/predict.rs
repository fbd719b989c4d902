//! Predictions of the kernel classifier or regressor of NCA for rows that took no part in a search.

use super::settings::Scoring;
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Target};
use crate::error::Result;
use crate::select::nca::{BANDWIDTHS, PRIOR, predicted};
use crate::simd::{dot, exp_scaled};
use rayon::prelude::*;
use std::ops::Range;

/// The bandwidth is chosen on at most this many training rows.
const MAX_TUNING_ROWS: usize = 300;
/// Rows per thread between two checks for cancellation.
const ROWS_PER_CHECK: usize = 64;

/// What is known about the training rows.
enum Training {
    /// The rows of each class, which are consecutive.
    Classes(Vec<Range<usize>>),
    Numbers {
        y: Vec<f64>,
        mean: f64,
    },
}

/// A number of features and the bandwidth of each.
struct Point {
    count: usize,
    bandwidth: f64,
}

/// A classifier or regressor of nested sets of features.
pub(super) struct Predictor {
    training: Training,
    /// The columns of each feature, in the order of the search; rows are sorted by class.
    features: Vec<Vec<Vec<f64>>>,
    /// The columns of the data of each feature.
    columns: Vec<Vec<usize>>,
    n: usize,
    /// A one per training row: sums of weights are inner products, which are fast.
    ones: Vec<f64>,
    points: Vec<Point>,
    /// The number of counts; those beyond the last point are like it.
    n_points: usize,
}

impl Predictor {
    /// `train` is encoded; `order` are features, `counts` are numbers of them in ascending order.
    pub fn fit(train: &Dataset, order: &[usize], counts: &[usize], ctx: &Context) -> Result<Self> {
        let mut rows: Vec<usize> = (0..train.n()).collect();
        let training = match train.target() {
            Target::Classes(classes) => {
                rows.sort_by_key(|&row| classes.codes[row]);
                let mut end = 0;
                let range = |count: usize| {
                    end += count;
                    end - count..end
                };
                Training::Classes(classes.counts().into_iter().map(range).collect())
            }
            Target::Continuous(y) => {
                Training::Numbers { y: y.clone(), mean: y.iter().sum::<f64>() / y.len() as f64 }
            }
            Target::None | Target::Outputs(_) => Training::Numbers { y: vec![], mean: 0.0 },
        };
        let groups = train.groups();
        let columns: Vec<Vec<usize>> = order.iter().map(|&f| groups.columns(f).collect()).collect();
        let column = |j: &usize| rows.iter().map(|&i| train.x().get(i, *j)).collect();
        let features = columns.iter().map(|columns| columns.iter().map(column).collect()).collect();
        let n = train.n();
        let mut fitted =
            Self { training, features, columns, n, ones: vec![1.0; n], points: vec![], n_points: 0 };
        // Where the search found fewer features, larger numbers are the same set.
        let mut distinct: Vec<usize> = counts.iter().map(|&count| count.min(order.len())).collect();
        distinct.dedup();
        let candidates =
            distinct.iter().flat_map(|&count| BANDWIDTHS.map(|bandwidth| Point { count, bandwidth }));
        fitted.points = candidates.collect();
        let step = train.n().div_ceil(MAX_TUNING_ROWS);
        let tuning: Vec<usize> = (0..train.n()).step_by(step).collect();
        let losses = fitted.of_rows(&tuning, ctx, |at, space| {
            fitted.row(train.x(), rows[at], Some(at), space, |sums| fitted.loss(at, sums))
        })?;
        let mut total = vec![0.0; fitted.points.len()];
        for (&at, losses) in tuning.iter().zip(&losses) {
            let share = fitted.share(at);
            total.iter_mut().zip(losses).for_each(|(total, loss)| *total += share * loss);
        }
        let best = |at: usize| {
            let totals = &total[at..at + BANDWIDTHS.len()];
            (0..totals.len()).rev().min_by(|&a, &b| totals[a].total_cmp(&totals[b])).expect("bandwidths")
        };
        let tuned = distinct.iter().enumerate();
        fitted.points = tuned
            .map(|(at, &count)| Point { count, bandwidth: BANDWIDTHS[best(at * BANDWIDTHS.len())] })
            .collect();
        fitted.n_points = counts.len();
        Ok(fitted)
    }

    /// The weight of a training row, by its position: all classes have the same weight.
    fn share(&self, at: usize) -> f64 {
        match &self.training {
            Training::Classes(classes) => 1.0 / classes[class_of(classes, at)].len() as f64,
            Training::Numbers { .. } => 1.0,
        }
    }

    /// The prediction for each row by number of features: the code of a class, or a number.
    pub fn predictions(&self, test: &Rows, ctx: &Context) -> Result<Vec<Vec<f64>>> {
        let rows: Vec<usize> = (0..test.n()).collect();
        self.of_rows(&rows, ctx, |i, space| {
            let mut predictions = self.row(test, i, None, space, |weights| self.prediction(weights));
            let last = predictions.last().copied().unwrap_or(0.0);
            predictions.resize(self.n_points, last);
            predictions
        })
    }

    /// The error of each row by number of features. `folds` are the folds of the rows, which are ranked among those of their fold.
    pub fn errors(
        &self,
        scoring: Scoring,
        test: &Rows,
        predictions: &[Vec<f64>],
        (truth, folds): (&Target, &[usize]),
        ctx: &Context,
    ) -> Result<Vec<Vec<f64>>> {
        match (scoring, truth) {
            (Scoring::Auc | Scoring::LogLoss, Target::Classes(truth)) => {
                let probabilities = self.probabilities(test, ctx)?;
                Ok(match scoring {
                    Scoring::Auc => rank_errors(&probabilities, (truth, folds), self.n_points),
                    _ => {
                        let loss = |row: usize, p: &Vec<f64>| {
                            -p[truth.codes[row]].clamp(f64::EPSILON, 1.0 - f64::EPSILON).ln()
                        };
                        let of_row =
                            |(i, row): (usize, &Vec<Vec<f64>>)| row.iter().map(|p| loss(i, p)).collect();
                        probabilities.iter().enumerate().map(of_row).collect()
                    }
                })
            }
            _ => {
                let one = |i: usize, prediction: f64| match scoring {
                    Scoring::Mae => error(truth, i, prediction).sqrt(),
                    _ => error(truth, i, prediction),
                };
                let of_row = |(i, row): (usize, &Vec<f64>)| row.iter().map(|p| one(i, *p)).collect();
                Ok(predictions.iter().enumerate().map(of_row).collect())
            }
        }
    }

    /// The probabilities of the classes of each row by number of features.
    fn probabilities(&self, test: &Rows, ctx: &Context) -> Result<Vec<Vec<Vec<f64>>>> {
        let Training::Classes(classes) = &self.training else { return Ok(vec![]) };
        let prior = PRIOR / self.n as f64;
        let of_weights = |weights: &[f64]| {
            let mut sums = class_sums(classes, weights, &self.ones);
            sums.iter_mut().for_each(|sum| *sum += prior);
            let total: f64 = sums.iter().sum();
            sums.iter_mut().for_each(|sum| *sum /= total);
            sums
        };
        let rows: Vec<usize> = (0..test.n()).collect();
        self.of_rows(&rows, ctx, |i, space| {
            let mut found = self.row(test, i, None, space, of_weights);
            let last = found.last().cloned().unwrap_or_default();
            found.resize(self.n_points, last);
            found
        })
    }

    /// The error of each row if nothing is known about it: a class at random, the most frequent one, or the mean.
    pub fn baseline(&self, scoring: Scoring, truth: &Target) -> Vec<f64> {
        match (truth, &self.training) {
            (Target::Continuous(y), Training::Numbers { mean, .. }) => {
                let power = if scoring == Scoring::Mae { 1 } else { 2 };
                y.iter().map(|y| (y - mean).abs().powi(power)).collect()
            }
            (Target::Classes(truth), Training::Classes(classes)) => {
                let sizes: Vec<usize> = classes.iter().map(Range::len).collect();
                let present = sizes.iter().filter(|&&n| n > 0).count();
                let most = (0..sizes.len()).rev().max_by_key(|&class| sizes[class]).unwrap_or(0);
                let of_class = |&class: &usize| match scoring {
                    Scoring::Auc => 0.5,
                    Scoring::Error => f64::from(u8::from(class != most)),
                    Scoring::LogLoss => -(sizes[class] as f64 / self.n as f64).max(f64::EPSILON).ln(),
                    _ => 1.0 - 1.0 / present.max(1) as f64,
                };
                truth.codes.iter().map(of_class).collect()
            }
            _ => vec![],
        }
    }

    fn of_rows<T: Send>(
        &self,
        rows: &[usize],
        ctx: &Context,
        one: impl Fn(usize, &mut [Vec<f64>; 2]) -> Vec<T> + Sync,
    ) -> Result<Vec<Vec<T>>> {
        let mut out = Vec::with_capacity(rows.len());
        for batch in rows.chunks(ROWS_PER_CHECK * rayon::current_num_threads()) {
            ctx.check()?;
            let space = || [vec![0.0; self.n], vec![0.0; self.n]];
            let part: Vec<Vec<T>> = batch.par_iter().map_init(space, |space, &i| one(i, space)).collect();
            out.extend(part);
        }
        Ok(out)
    }

    /// The value of each point for a row; `itself` is its position among the training rows.
    fn row<T>(
        &self,
        x: &Rows,
        i: usize,
        itself: Option<usize>,
        [distances, weights]: &mut [Vec<f64>; 2],
        value: impl Fn(&[f64]) -> T,
    ) -> Vec<T> {
        distances.fill(0.0);
        let mut out = Vec::with_capacity(self.points.len());
        let mut added = 0;
        for point in &self.points {
            while added < point.count {
                for (values, &j) in self.features[added].iter().zip(&self.columns[added]) {
                    let own = x.get(i, j);
                    distances.iter_mut().zip(values).for_each(|(sum, v)| *sum += (v - own) * (v - own));
                }
                added += 1;
            }
            weights.copy_from_slice(distances);
            exp_scaled(weights, -1.0 / (point.bandwidth * point.count.max(1) as f64));
            if let Some(itself) = itself {
                weights[itself] = 0.0;
            }
            out.push(value(weights));
        }
        out
    }

    /// The loss of a training row.
    fn loss(&self, at: usize, weights: &[f64]) -> f64 {
        match &self.training {
            Training::Classes(classes) => {
                let sums = class_sums(classes, weights, &self.ones);
                let prior = PRIOR / self.n as f64;
                let total = sums.iter().sum::<f64>() + classes.len() as f64 * prior;
                -((sums[class_of(classes, at)] + prior) / total).ln()
            }
            Training::Numbers { y, mean } => (self.number(y, *mean, weights) - y[at]).powi(2),
        }
    }

    fn prediction(&self, weights: &[f64]) -> f64 {
        match &self.training {
            Training::Classes(classes) => {
                let sums = class_sums(classes, weights, &self.ones);
                // Ties go to the first class.
                (0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0) as f64
            }
            Training::Numbers { y, mean } => self.number(y, *mean, weights),
        }
    }

    /// The predicted number of a row.
    fn number(&self, y: &[f64], mean: f64, weights: &[f64]) -> f64 {
        predicted([dot(weights, y), dot(weights, &self.ones)], mean)
    }
}

/// For each row and number of features the fraction of rows of other classes in its fold with a larger probability of its class,
/// where equal ones count one half. Their mean over the rows of a class is one minus its AUC.
fn rank_errors(
    probabilities: &[Vec<Vec<f64>>],
    (truth, folds): (&Classes, &[usize]),
    n_points: usize,
) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.5; n_points]; probabilities.len()];
    let n_folds = folds.iter().max().map_or(0, |last| last + 1);
    let of_fold = |fold| (0..truth.names.len()).map(move |class| (fold, class));
    let all = (0..n_folds).flat_map(of_fold);
    for ((fold, class), point) in all.flat_map(|at| (0..n_points).map(move |point| (at, point))) {
        let value = |row: usize| probabilities[row][point][class];
        let (of_class, others): (Vec<usize>, Vec<usize>) = (0..probabilities.len())
            .filter(|&row| folds[row] == fold)
            .partition(|&row| truth.codes[row] == class);
        let mut sorted: Vec<f64> = others.into_iter().map(value).collect();
        sorted.sort_by(f64::total_cmp);
        for row in of_class.into_iter().filter(|_| !sorted.is_empty()) {
            let own = value(row);
            let (smaller, at_most) =
                (sorted.partition_point(|v| *v < own), sorted.partition_point(|v| *v <= own));
            let larger = sorted.len() - at_most;
            out[row][point] = (larger as f64 + 0.5 * (at_most - smaller) as f64) / sorted.len() as f64;
        }
    }
    out
}

/// The error of a prediction for row `i`: 1 for a wrong class, or the squared error.
pub(super) fn error(truth: &Target, i: usize, prediction: f64) -> f64 {
    match truth {
        Target::Classes(truth) => f64::from(u8::from(truth.codes[i] != prediction as usize)),
        Target::Continuous(truth) => (prediction - truth[i]).powi(2),
        Target::None | Target::Outputs(_) => 0.0,
    }
}

/// The class of a training row, by its position.
fn class_of(classes: &[Range<usize>], at: usize) -> usize {
    classes.iter().position(|rows| rows.contains(&at)).unwrap_or(0)
}

/// The sums of weights of each class, divided by its size.
fn class_sums(classes: &[Range<usize>], weights: &[f64], ones: &[f64]) -> Vec<f64> {
    let sum =
        |rows: &Range<usize>| dot(&weights[rows.clone()], &ones[rows.clone()]) / rows.len().max(1) as f64;
    classes.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_ranks_are_one_minus_the_area() {
        // Probabilities of the second class 0.1 and 0.6 of the first class, 0.6 and 0.9 of the second: pairs 1, 1/2, 1, 1.
        let p = |second: f64| vec![vec![1.0 - second, second]];
        let truth = Classes::from_codes(vec![0, 1, 0, 1]);
        let found = rank_errors(&[p(0.1), p(0.6), p(0.6), p(0.9)], (&truth, &[0; 4]), 1);
        assert_eq!(found, [[0.0], [0.25], [0.25], [0.0]]);
        // The mean over the rows of either class is one minus 3.5 / 4. Without another class nothing is known.
        assert_eq!(rank_errors(&[p(0.3)], (&Classes::from_codes(vec![0]), &[0]), 1), [[0.5]]);
        // Rows are ranked in their fold only: the labels of one do not matter for another.
        let rows = [p(0.1), p(0.6), p(0.6), p(0.9)];
        let of = |codes: Vec<usize>| rank_errors(&rows, (&Classes::from_codes(codes), &[0, 0, 1, 1]), 1);
        assert_eq!(of(vec![0, 1, 0, 1])[..2], of(vec![0, 1, 1, 0])[..2]);
    }
}
