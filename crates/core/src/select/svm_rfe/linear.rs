//! Linear SVMs with fewer columns than samples, which compute kernel rows on demand. They need few rows, because
//! the SVM of a round is warm-started from the previous round, and there are hardly more free coefficients than
//! columns.

use super::features::Features;
use super::svms::Svms;
use crate::context::Context;
use crate::error::Result;
use crate::linalg::multiply;
use crate::optim::{KernelColumns, Products};
use crate::simd::{add_combination, add_scaled, add_squared_differences, dot};
use ndarray::Array2;
use rayon::prelude::*;

/// Rows whose sums are computed together.
const BLOCK_ROWS: usize = 512;
/// Number of products above which several threads are used.
const MIN_PARALLEL_PRODUCTS: usize = 1 << 17;

/// The samples of every task.
pub(super) struct Linear(Vec<LinearRows>);

impl Linear {
    pub fn new(svms: &Svms, features: &Features) -> Self {
        let of_task = |rows: &[usize]| LinearRows::new(&features.values, &features.columns, rows);
        Self(svms.tasks.iter().map(|task| of_task(&task.rows)).collect())
    }

    /// Trains the SVMs and returns their training error.
    pub fn train(&mut self, svms: &mut Svms, features: &Features, ctx: &Context) -> Result<f64> {
        svms.solutions = svms.train::<LinearRows>(self.0.par_iter_mut(), ctx)?;
        svms.training_error(ctx, |coefficients, values| {
            features.iter().for_each(|column| add_scaled(values, dot(column, coefficients), column));
        })
    }

    /// The importance of every remaining feature.
    pub fn importances(&self, svms: &Svms, features: &Features) -> Vec<f64> {
        let (mut sums, mut w) = (vec![0.0; features.remaining.len()], vec![0.0; features.values.len()]);
        for (rows, solution) in self.0.iter().zip(&svms.solutions) {
            rows.weights_by_column(&solution.coefficients, &mut w);
            for (sum, &j) in sums.iter_mut().zip(&features.remaining) {
                *sum += features.importance(j, &w[features.groups.columns(j)]);
            }
        }
        sums
    }

    /// Removes columns.
    pub fn remove(&mut self, removed: &[usize]) {
        self.0.iter_mut().for_each(|rows| rows.remove(removed));
    }
}

/// The samples of one task over the remaining columns, in row-major and column-major order.
pub(super) struct LinearRows {
    n: usize,
    /// The initial number of columns, which is the distance between rows.
    stride: usize,
    by_rows: Vec<f64>,
    by_columns: Vec<f64>,
    /// The remaining columns, in storage order.
    columns: Vec<usize>,
    /// Squared norm of every row.
    norms: Vec<f64>,
    /// Cached products of a row with all rows, for rows requested since the last column was removed.
    cache: Vec<Option<Box<[f64]>>>,
    /// The active rows and their squared norms; `None` if all are active.
    active: Option<(Vec<usize>, Vec<f64>)>,
    /// Memory for the products of one row with the active rows.
    buffer: Vec<f64>,
}

impl LinearRows {
    /// `values[j]` is column `j` of all samples.
    pub(super) fn new(values: &[Vec<f64>], columns: &[usize], rows: &[usize]) -> Self {
        let mut by_columns = Vec::with_capacity(rows.len() * columns.len());
        columns.iter().for_each(|&j| by_columns.extend(rows.iter().map(|&i| values[j][i])));
        let mut by_rows = Vec::with_capacity(rows.len() * columns.len());
        rows.iter().for_each(|&i| by_rows.extend(columns.iter().map(|&j| values[j][i])));
        let mut new = Self {
            n: rows.len(),
            stride: columns.len(),
            by_rows,
            by_columns,
            columns: columns.to_vec(),
            norms: vec![],
            cache: vec![],
            active: None,
            buffer: vec![],
        };
        new.reset();
        new
    }

    /// Clears the cached products after columns were removed.
    fn reset(&mut self) {
        self.norms.clear();
        self.norms.resize(self.n, 0.0);
        for column in self.by_columns.chunks_exact(self.n.max(1)) {
            add_squared_differences(&mut self.norms, column, 0.0);
        }
        self.cache.clear();
        self.cache.resize(self.n, None);
        self.active = None;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.by_rows[i * self.stride..i * self.stride + self.columns.len()]
    }

    /// Removes columns.
    pub(super) fn remove(&mut self, columns: &[usize]) {
        let places = |j: &usize| self.columns.iter().position(|c| c == j);
        let mut places: Vec<usize> = columns.iter().filter_map(places).collect();
        // From the back, so that none moves before it is removed.
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.into_iter().for_each(|at| self.remove_at(at));
        self.reset();
    }

    /// Moves the last column to this position.
    fn remove_at(&mut self, at: usize) {
        self.columns.swap_remove(at);
        let last = self.columns.len();
        for i in 0..self.n {
            self.by_rows[i * self.stride + at] = self.by_rows[i * self.stride + last];
        }
        self.by_columns.copy_within(last * self.n..(last + 1) * self.n, at * self.n);
        self.by_columns.truncate(last * self.n);
    }

    /// $w = \sum_i \beta_i x_i$ over some rows, in storage order of the columns.
    fn weights(&self, rows: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut w = vec![0.0; self.columns.len()];
        rows.for_each(|(i, b)| add_scaled(&mut w, b, self.row(i)));
        w
    }

    /// `out += X w`
    fn add_values(&self, out: &mut [f64], w: &[f64]) {
        let run = |(at, out): (usize, &mut [f64])| {
            add_combination(out, &self.by_columns[at * BLOCK_ROWS..], self.n, w);
        };
        if w.is_empty() {
            return;
        }
        if self.n * w.len() < MIN_PARALLEL_PRODUCTS {
            out.chunks_mut(BLOCK_ROWS).enumerate().for_each(run);
        } else {
            out.par_chunks_mut(BLOCK_ROWS).enumerate().for_each(run);
        }
    }

    /// $w_j$ of every column, by its index among all, for the coefficients of an SVM.
    pub(super) fn weights_by_column(&self, coefficients: &[f64], w: &mut [f64]) {
        let weights = self.weights(coefficients.iter().copied().enumerate().filter(|(_, b)| *b != 0.0));
        self.columns.iter().zip(weights).for_each(|(&j, v)| w[j] = v);
    }
}

impl KernelColumns for LinearRows {
    fn len(&self) -> usize {
        self.active.as_ref().map_or(self.n, |(rows, _)| rows.len())
    }

    fn diagonal(&self) -> &[f64] {
        self.active.as_ref().map_or(&self.norms, |(_, norms)| norms)
    }

    fn with_column<T>(&mut self, i: usize, f: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        let row = self.active.as_ref().map_or(i, |(rows, _)| rows[i]);
        if self.cache[row].is_none() {
            let mut column = vec![0.0; self.n];
            self.add_values(&mut column, self.row(row));
            self.cache[row] = Some(column.into());
        }
        let column = self.cache[row].as_deref().expect("just computed");
        let Some((rows, norms)) = &self.active else { return f(&self.norms, column) };
        self.buffer.clear();
        self.buffer.extend(rows.iter().map(|&r| column[r]));
        f(norms, &self.buffer)
    }

    fn shrink(&mut self, keep: &[usize]) {
        let rows: Vec<usize> = match &self.active {
            Some((rows, _)) => keep.iter().map(|&at| rows[at]).collect(),
            None => keep.to_vec(),
        };
        let norms = rows.iter().map(|&i| self.norms[i]).collect();
        self.active = Some((rows, norms));
    }

    fn unshrink(&mut self) {
        self.active = None;
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let w = self.weights(weights.iter().copied());
        if rows.len() == self.n {
            return self.add_values(out, &w);
        }
        rows.iter().zip(out).for_each(|(&i, out)| *out += dot(self.row(i), &w));
    }
}

impl Products for LinearRows {
    fn block(&self, rows: &[usize]) -> Array2<f64> {
        let mut part = Array2::zeros((rows.len(), self.columns.len()));
        for (mut out, &i) in part.rows_mut().into_iter().zip(rows) {
            out.as_slice_mut().expect("row-major").copy_from_slice(self.row(i));
        }
        multiply(part.view(), part.t())
    }

    fn entries(&self, row: usize, rows: &[usize]) -> Vec<f64> {
        rows.iter().map(|&i| dot(self.row(row), self.row(i))).collect()
    }

    fn diagonal_entry(&self, row: usize) -> f64 {
        self.norms[row]
    }

    fn subtract_from(&self, residual: &mut [f64], rows: &[usize], weights: &[f64]) {
        let w = self.weights(rows.iter().zip(weights).map(|(&i, w)| (i, -w)));
        self.add_values(residual, &w);
    }
}
