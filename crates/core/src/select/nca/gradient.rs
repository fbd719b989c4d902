//! The gradient form: a nonnegative weight per feature, whose sum is bounded, minimizes the loss.

use super::problem::{BANDWIDTHS, Problem};
use super::settings::NAME;
use crate::context::Context;
use crate::data::{Dataset, Groups};
use crate::error::Result;
use crate::linalg::{product_bytes, product_into};
use crate::optim::{Criterion, Minimum, Regularizer, Spectral};
use crate::simd::exp_scaled;
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;
use std::ops::Range;

/// Rows per task.
const ROWS: usize = 128;
/// Features with less than this fraction of the largest weight do not count.
const MIN_WEIGHT: f64 = 0.1;
/// The solver stops here; sets are compared by the loss without weights.
const SOLVER: Spectral = Spectral { tolerance: 1e-4, max_iterations: 100, memory: 10 };

/// The loss as a function of weights: $W_{ij} = \exp(-\sum_f w_f \lVert x_{if} - x_{jf} \rVert^2)$.
pub(super) struct Weighted<'a> {
    problem: &'a Problem,
    /// The columns of the problem's features, and those of the landmarks if they are not all rows.
    rows: Array2<f64>,
    landmarks: Option<Array2<f64>>,
    groups: Groups,
}

impl<'a> Weighted<'a> {
    /// `rows` are those of the problem.
    pub fn new(problem: &'a Problem, data: &Dataset, rows: &[usize], ctx: &Context) -> Result<Self> {
        let columns = data.groups().expand(&problem.features);
        let (n, m, c) = (problem.n() as f64, problem.n_landmarks() as f64, columns.len() as f64);
        // Two copies, and kernel values and products for a block of rows, per thread.
        let bytes =
            rayon::current_num_threads() as f64 * 8.0 * ROWS as f64 * (2.0 * m + 2.0 * c) + product_bytes();
        let bytes = 16.0 * (n + m) * c + bytes;
        ctx.need_memory(format!("{NAME}'s gradients"), bytes, "use fewer rows or columns")?;
        let rows = data.x().take_columns(&columns).take_rows(rows).into_dense();
        let at = |i: &usize| problem.landmark_of(*i).is_some();
        let landmarks = (!problem.is_symmetric())
            .then(|| rows.select(Axis(0), &(0..rows.nrows()).filter(at).collect::<Vec<_>>()));
        Ok(Self { problem, rows, landmarks, groups: data.groups().take(&problem.features) })
    }

    fn landmarks(&self) -> &Array2<f64> {
        self.landmarks.as_ref().unwrap_or(&self.rows)
    }

    /// The weights of the columns of features with weights.
    fn roots(&self, w: &Array2<f64>) -> (Vec<usize>, Array1<f64>) {
        let used: Vec<usize> = (0..w.nrows()).filter(|&f| w[[f, 0]] > 0.0).collect();
        let root = |&f: &usize| self.groups.columns(f).map(move |_| w[[f, 0]].sqrt());
        (self.groups.expand(&used), used.iter().flat_map(root).collect())
    }

    /// The loss of some rows, and the derivative with respect to the weight of each column.
    fn block(&self, scaled: &[Array2<f64>; 2], at: Range<usize>, gradient: bool) -> (f64, Array1<f64>) {
        let own = scaled[0].slice(s![at.clone(), ..]);
        let mut a = Array2::zeros((at.len(), scaled[1].nrows()));
        product_into(own, scaled[1].t(), a.view_mut());
        let norms: Vec<f64> = scaled[1].rows().into_iter().map(|row| row.dot(&row)).collect();
        let goal = &self.problem.goal;
        let mut total = 0.0;
        for ((mut row, own), i) in a.rows_mut().into_iter().zip(own.rows()).zip(at.clone()) {
            let norm = own.dot(&own);
            row.iter_mut()
                .zip(&norms)
                .for_each(|(cell, other)| *cell = (norm + other - 2.0 * *cell).max(0.0));
            let kernel = row.as_slice_mut().expect("row-major");
            exp_scaled(kernel, -1.0);
            if let Some(own) = self.problem.landmark_of(i) {
                kernel[own] = goal.own_kernel(own);
            }
            let sums = self.problem.sums(i, kernel);
            total += goal.shares()[i] * goal.loss(i, sums);
            if gradient {
                if let Some(own) = self.problem.landmark_of(i) {
                    // Its distance is always 0.
                    kernel[own] = 0.0;
                }
                self.weight(i, kernel, goal.derivatives(i, sums));
            }
        }
        let mut derivative = Array1::zeros(self.rows.ncols());
        if gradient {
            self.add_derivative(&a, at, &mut derivative);
        }
        (total, derivative)
    }

    /// Turns kernel values of row `i` into derivatives of the loss with respect to squared distances.
    fn weight(&self, i: usize, kernel: &mut [f64], derivatives: [f64; 2]) {
        let goal = &self.problem.goal;
        let mut factors = vec![0.0; kernel.len()];
        for segment in goal.segments(i, kernel.len()) {
            let weights = &goal.weights(segment.slot)[segment.at.clone()];
            let factor = goal.shares()[i] * derivatives[segment.slot];
            factors[segment.at].iter_mut().zip(weights).for_each(|(to, weight)| *to += factor * weight);
        }
        kernel.iter_mut().zip(factors).for_each(|(k, factor)| *k *= -factor);
    }

    /// Adds the sum over pairs of `a` times the squared difference of each column.
    fn add_derivative(&self, a: &Array2<f64>, at: Range<usize>, out: &mut Array1<f64>) {
        let (own, other) = (self.rows.slice(s![at, ..]), self.landmarks());
        let mut mixed = Array2::zeros(own.raw_dim());
        product_into(a.view(), other.view(), mixed.view_mut());
        for ((x, mixed), sum) in own.rows().into_iter().zip(mixed.rows()).zip(a.sum_axis(Axis(1))) {
            for ((out, x), mixed) in out.iter_mut().zip(x).zip(mixed) {
                *out += x * (sum * x - 2.0 * mixed);
            }
        }
        for (x, sum) in other.rows().into_iter().zip(a.sum_axis(Axis(0))) {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += sum * x * x);
        }
    }

    fn evaluate(&self, w: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let (columns, roots) = self.roots(w);
        let scale = |x: &Array2<f64>| x.select(Axis(1), &columns) * &roots;
        let own = scale(&self.rows);
        let other = self.landmarks.as_ref().map_or_else(|| own.clone(), scale);
        let (n, scaled) = (self.problem.n(), [own, other]);
        let starts: Vec<usize> = (0..n).step_by(ROWS).collect();
        let one = |&from: &usize| self.block(&scaled, from..n.min(from + ROWS), gradient.is_some());
        let parts: Vec<(f64, Array1<f64>)> = starts.par_iter().map(one).collect();
        if let Some(gradient) = gradient {
            let mut sum = Array1::zeros(self.rows.ncols());
            parts.iter().for_each(|(_, part)| sum += part);
            let of_features = self.groups.sums(sum.as_slice().expect("contiguous"));
            gradient.column_mut(0).iter_mut().zip(of_features).for_each(|(to, g)| *to = g);
        }
        parts.iter().map(|(loss, _)| loss).sum()
    }

    /// Minimizes the loss over nonnegative weights whose sum is at most `radius`, from starting weights.
    pub fn minimize(&self, start: Array2<f64>, radius: f64, ctx: &Context) -> Result<Minimum> {
        SOLVER.minimize(self, Regularizer::NonNegativeBall(radius), start, ctx)
    }

    /// The minima from equal weights of all features and of each set of features. A radius is the inverse of a bandwidth:
    /// equal weights of a set then give its loss.
    pub fn minima(&self, sets: &[Vec<usize>], ctx: &Context) -> Result<Vec<Minimum>> {
        let all: Vec<usize> = (0..self.groups.n_features()).collect();
        let mut found: Vec<Minimum> = vec![];
        let total = BANDWIDTHS.len() * (sets.len() + 1);
        for h in BANDWIDTHS.iter().rev() {
            for set in sets.iter().chain([&all]).filter(|set| !set.is_empty()) {
                ctx.step("NCA gradient", found.len(), total)?;
                let mut start = Array2::zeros((all.len(), 1));
                set.iter().for_each(|&f| start[[f, 0]] = 1.0 / (h * set.len() as f64));
                found.push(self.minimize(start, 1.0 / h, ctx)?);
            }
        }
        Ok(found)
    }
}

impl Criterion for Weighted<'_> {
    fn shape(&self) -> (usize, usize) {
        (self.groups.n_features(), 1)
    }

    fn value_and_gradient(&self, w: &Array2<f64>, gradient: &mut Array2<f64>) -> f64 {
        self.evaluate(w, Some(gradient))
    }

    fn value(&self, w: &Array2<f64>) -> f64 {
        self.evaluate(w, None)
    }
}

/// Features by weight, largest first, and how many of them count.
pub(super) fn by_weight(w: &Array2<f64>) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..w.nrows()).filter(|&f| w[[f, 0]] > 0.0).collect();
    order.sort_by(|&a, &b| w[[b, 0]].total_cmp(&w[[a, 0]]));
    let least = order.first().map_or(0.0, |&f| MIN_WEIGHT * w[[f, 0]]);
    let count = order.iter().filter(|&&f| w[[f, 0]] >= least).count();
    (order, count)
}
