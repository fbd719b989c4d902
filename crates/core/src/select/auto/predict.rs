//! Predictions of the kernel classifier or regressor of NCA for rows that took no part in a search.

use crate::context::Context;
use crate::data::{Dataset, Rows, Target};
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
            Target::None => Training::Numbers { y: vec![], mean: 0.0 },
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

    /// The error of each row if nothing is known about it: a class at random, or the mean.
    pub fn baseline(&self, truth: &Target) -> Vec<f64> {
        match (truth, &self.training) {
            (Target::Continuous(y), Training::Numbers { mean, .. }) => {
                y.iter().map(|y| (y - mean).powi(2)).collect()
            }
            (Target::Classes(truth), Training::Classes(classes)) => {
                let present = classes.iter().filter(|rows| !rows.is_empty()).count();
                vec![1.0 - 1.0 / present.max(1) as f64; truth.codes.len()]
            }
            _ => vec![],
        }
    }

    fn of_rows(
        &self,
        rows: &[usize],
        ctx: &Context,
        one: impl Fn(usize, &mut [Vec<f64>; 2]) -> Vec<f64> + Sync,
    ) -> Result<Vec<Vec<f64>>> {
        let mut out = Vec::with_capacity(rows.len());
        for batch in rows.chunks(ROWS_PER_CHECK * rayon::current_num_threads()) {
            ctx.check()?;
            let space = || [vec![0.0; self.n], vec![0.0; self.n]];
            let part: Vec<Vec<f64>> = batch.par_iter().map_init(space, |space, &i| one(i, space)).collect();
            out.extend(part);
        }
        Ok(out)
    }

    /// The value of each point for a row; `itself` is its position among the training rows.
    fn row(
        &self,
        x: &Rows,
        i: usize,
        itself: Option<usize>,
        [distances, weights]: &mut [Vec<f64>; 2],
        value: impl Fn(&[f64]) -> f64,
    ) -> Vec<f64> {
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

/// The error of a prediction for row `i`: 1 for a wrong class, or the squared error.
pub(super) fn error(truth: &Target, i: usize, prediction: f64) -> f64 {
    match truth {
        Target::Classes(truth) => f64::from(u8::from(truth.codes[i] != prediction as usize)),
        Target::Continuous(truth) => (prediction - truth[i]).powi(2),
        Target::None => 0.0,
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
