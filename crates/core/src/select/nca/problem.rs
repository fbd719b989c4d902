//! Rows, landmarks and features of a search, and the exact loss of sets of features.

use super::cells::Cells;
use super::goal::Goal;
use super::rows::WeightedRows;
use super::settings::NAME;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::simd::{dot, exp_scaled};
use rayon::prelude::*;
use std::ops::Range;

/// The bandwidths $h$ from which the search chooses, each half of the next.
pub(in crate::select) const BANDWIDTHS: [f64; 4] = [0.25, 0.5, 1.0, 2.0];
/// The loss at each bandwidth.
pub(super) type Losses = [f64; BANDWIDTHS.len()];
/// The largest bandwidth.
pub(super) const LARGEST: usize = BANDWIDTHS.len() - 1;

/// Rows per task.
const ROWS: usize = 16;

/// Features with a loss for every set of them. Features are named by their position in `features`.
pub(super) struct Problem {
    /// The features of the data set.
    pub features: Vec<usize>,
    pub cells: Vec<Cells>,
    pub goal: Goal,
    /// The positions of the landmarks among the rows; `None` if all rows are landmarks.
    landmarks: Option<Vec<usize>>,
    n: usize,
}

impl Problem {
    /// `features` are features of the data.
    pub fn new(data: &Dataset, used: &WeightedRows, features: Vec<usize>) -> Self {
        Self::with_landmarks(data, used, features, used.n_landmarks())
    }

    fn with_landmarks(data: &Dataset, used: &WeightedRows, features: Vec<usize>, most: usize) -> Self {
        let landmarks = used.spread(data, most);
        let goal = Goal::new(data, used, &landmarks);
        let rows = &used.rows;
        let landmarks = (landmarks.len() < rows.len()).then_some(landmarks.rows);
        let groups = data.groups();
        let cells = |&feature: &usize| {
            let columns = groups.columns(feature).map(|j| rows.iter().map(|&i| data.x().get(i, j)).collect());
            Cells::new(columns.collect(), landmarks.as_deref())
        };
        let cells = features.iter().map(cells).collect();
        Self { features, cells, goal, landmarks, n: rows.len() }
    }

    /// Bytes of a problem with these rows.
    pub fn bytes(data: &Dataset, used: &WeightedRows, features: &[usize]) -> f64 {
        let (n, m) = (used.len(), used.n_landmarks());
        let m = if m < n { m } else { 0 };
        let groups = data.groups();
        let cells: f64 = features.iter().map(|&f| Cells::bytes(groups.columns(f).len(), n + m)).sum();
        // Weights and ranges of rows.
        cells + 64.0 * (n + m) as f64
    }

    /// Returns an error for features whose distances overflow.
    pub fn check(data: &Dataset) -> Result<()> {
        let (mean, std) = data.x().moments();
        if mean.iter().chain(&std).any(|v| v.is_nan() || v.abs() > 1e140) {
            let why = "distances between rows overflow; scale the features".into();
            return Err(Error::Breakdown { step: NAME, why });
        }
        Ok(())
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of landmarks.
    pub fn n_landmarks(&self) -> usize {
        self.landmarks.as_ref().map_or(self.n, Vec::len)
    }

    /// Whether all rows are landmarks.
    pub fn is_symmetric(&self) -> bool {
        self.landmarks.is_none()
    }

    /// The landmark that row `i` is.
    pub fn landmark_of(&self, i: usize) -> Option<usize> {
        match &self.landmarks {
            None => Some(i),
            Some(landmarks) => landmarks.binary_search(&i).ok(),
        }
    }

    /// The losses of `members` with each candidate added.
    pub fn with_each(&self, members: &[usize], candidates: &[usize], ctx: &Context) -> Result<Vec<Losses>> {
        let parts = self.over_rows(ctx, |at| {
            let mut sums = vec![Losses::default(); candidates.len()];
            let mut shared = vec![0.0; self.n_landmarks()];
            for i in at {
                shared.fill(0.0);
                members.iter().for_each(|&f| self.cells[f].add_distances(i, &mut shared));
                for (sum, &candidate) in sums.iter_mut().zip(candidates) {
                    let mut distances = shared.clone();
                    self.cells[candidate].add_distances(i, &mut distances);
                    let losses = self.row_losses(i, distances, members.len() + 1);
                    let share = self.goal.shares()[i];
                    sum.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += share * loss);
                }
            }
            sums
        })?;
        let mut total = vec![Losses::default(); candidates.len()];
        for part in parts {
            for (total, part) in total.iter_mut().zip(part) {
                total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
            }
        }
        Ok(total)
    }

    /// The losses of each row for a set of features.
    pub fn of_rows(&self, members: &[usize], ctx: &Context) -> Result<Vec<Losses>> {
        let parts = self.over_rows(ctx, |at| {
            let of_row = |i: usize| {
                let mut distances = vec![0.0; self.n_landmarks()];
                members.iter().for_each(|&f| self.cells[f].add_distances(i, &mut distances));
                self.row_losses(i, distances, members.len())
            };
            at.map(of_row).collect::<Vec<Losses>>()
        })?;
        Ok(parts.concat())
    }

    /// The mean of losses of rows.
    pub fn mean(&self, rows: &[Losses]) -> Losses {
        let mut sums = Losses::default();
        for (row, share) in rows.iter().zip(self.goal.shares()) {
            sums.iter_mut().zip(row).for_each(|(sum, loss)| *sum += share * loss);
        }
        sums
    }

    fn over_rows<T: Send>(&self, ctx: &Context, part: impl Fn(Range<usize>) -> T + Sync) -> Result<Vec<T>> {
        let starts: Vec<usize> = (0..self.n).step_by(ROWS).collect();
        let one = |&from: &usize| {
            ctx.check()?;
            Ok(part(from..self.n.min(from + ROWS)))
        };
        starts.par_iter().map(one).collect()
    }

    /// The losses of row `i` at squared distances over `n_features` features. The kernel of a bandwidth is the square of
    /// the kernel of the next.
    fn row_losses(&self, i: usize, mut distances: Vec<f64>, n_features: usize) -> Losses {
        exp_scaled(&mut distances, -1.0 / (BANDWIDTHS[LARGEST] * n_features as f64));
        let mut kernel = distances;
        let mut losses = Losses::default();
        for (at, loss) in losses.iter_mut().enumerate().rev() {
            if let Some(own) = self.landmark_of(i) {
                kernel[own] = self.goal.own_kernel(own);
            }
            *loss = self.goal.loss(i, self.sums(i, &kernel));
            if at > 0 {
                kernel.iter_mut().for_each(|k| *k *= *k);
            }
        }
        losses
    }

    /// The sums of row `i` from its kernel values.
    pub fn sums(&self, i: usize, kernel: &[f64]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for segment in self.goal.segments(i, kernel.len()) {
            let weights = &self.goal.weights(segment.slot)[segment.at.clone()];
            sums[segment.slot] += dot(weights, &kernel[segment.at]);
        }
        sums
    }
}

#[cfg(test)]
impl Problem {
    /// With at most this many landmarks.
    pub fn with_few_landmarks(data: &Dataset, most: usize) -> Self {
        Self::with_landmarks(data, &WeightedRows::new(data, false), (0..data.d()).collect(), most)
    }
}
