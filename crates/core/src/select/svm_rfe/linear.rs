//! Kernel rows computed on demand, for linear SVMs with fewer features than samples. Few rows are requested,
//! because the SVM of a round is warm-started from the previous round, and there are hardly more free coefficients
//! than features.

use crate::linalg::multiply;
use crate::optim::{KernelColumns, Products};
use crate::simd::{add_combination, add_scaled, add_squared_differences, dot};
use ndarray::Array2;
use rayon::prelude::*;

/// Rows whose sums are computed together.
const RUN: usize = 512;
/// Number of products above which several threads are used.
const WORTH_THREADS: usize = 1 << 17;

/// The samples of one task over the remaining features, in row-major and column-major order.
pub(super) struct LinearRows {
    n: usize,
    /// The initial number of features, which is the distance between rows.
    stride: usize,
    by_rows: Vec<f64>,
    by_columns: Vec<f64>,
    /// The remaining features, in storage order.
    columns: Vec<usize>,
    /// Squared norm of every row.
    own: Vec<f64>,
    /// Cached products of a row with all rows, for rows requested since the last feature was removed.
    known: Vec<Option<Box<[f64]>>>,
    /// Rows that are not shrunk, and their squared norms, if some rows are shrunk.
    kept: Option<(Vec<usize>, Vec<f64>)>,
    /// The products of one row with those.
    part: Vec<f64>,
}

impl LinearRows {
    /// `values[j]` is feature `j` of all samples.
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
            own: vec![],
            known: vec![],
            kept: None,
            part: vec![],
        };
        new.begin();
        new
    }

    /// Clears the cached products after features were removed.
    fn begin(&mut self) {
        self.own.clear();
        self.own.resize(self.n, 0.0);
        for column in self.by_columns.chunks_exact(self.n.max(1)) {
            add_squared_differences(&mut self.own, column, 0.0);
        }
        self.known.clear();
        self.known.resize(self.n, None);
        self.kept = None;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.by_rows[i * self.stride..i * self.stride + self.columns.len()]
    }

    /// Removes features.
    pub(super) fn remove(&mut self, columns: &[usize]) {
        let places = |j: &usize| self.columns.iter().position(|c| c == j);
        let mut places: Vec<usize> = columns.iter().filter_map(places).collect();
        // From the back, so that none moves before it is removed.
        places.sort_unstable_by(|a, b| b.cmp(a));
        places.into_iter().for_each(|at| self.remove_at(at));
        self.begin();
    }

    /// Moves the last feature to this position.
    fn remove_at(&mut self, at: usize) {
        self.columns.swap_remove(at);
        let last = self.columns.len();
        for i in 0..self.n {
            self.by_rows[i * self.stride + at] = self.by_rows[i * self.stride + last];
        }
        self.by_columns.copy_within(last * self.n..(last + 1) * self.n, at * self.n);
        self.by_columns.truncate(last * self.n);
    }

    /// $w = \sum_i \beta_i x_i$ over some rows, in storage order of the features.
    fn weights(&self, rows: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut w = vec![0.0; self.columns.len()];
        rows.for_each(|(i, b)| add_scaled(&mut w, b, self.row(i)));
        w
    }

    /// `out += X w`
    fn add_values(&self, out: &mut [f64], w: &[f64]) {
        let run = |(at, out): (usize, &mut [f64])| {
            add_combination(out, &self.by_columns[at * RUN..], self.n, w);
        };
        if w.is_empty() {
            return;
        }
        if self.n * w.len() < WORTH_THREADS {
            out.chunks_mut(RUN).enumerate().for_each(run);
        } else {
            out.par_chunks_mut(RUN).enumerate().for_each(run);
        }
    }

    /// $w_j$ of every feature, by its index among all, for the coefficients of an SVM.
    pub(super) fn weights_by_column(&self, coefficients: &[f64], w: &mut [f64]) {
        let own = self.weights(coefficients.iter().copied().enumerate().filter(|(_, b)| *b != 0.0));
        self.columns.iter().zip(own).for_each(|(&j, v)| w[j] = v);
    }
}

impl KernelColumns for LinearRows {
    fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.n, |(rows, _)| rows.len())
    }

    fn diagonal(&self) -> &[f64] {
        self.kept.as_ref().map_or(&self.own, |(_, own)| own)
    }

    fn with_column<T>(&mut self, i: usize, use_it: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        let row = self.kept.as_ref().map_or(i, |(rows, _)| rows[i]);
        if self.known[row].is_none() {
            let mut column = vec![0.0; self.n];
            self.add_values(&mut column, self.row(row));
            self.known[row] = Some(column.into());
        }
        let column = self.known[row].as_deref().expect("just made");
        let Some((rows, own)) = &self.kept else { return use_it(&self.own, column) };
        self.part.clear();
        self.part.extend(rows.iter().map(|&r| column[r]));
        use_it(own, &self.part)
    }

    fn shrink(&mut self, keep: &[usize]) {
        let rows: Vec<usize> = match &self.kept {
            Some((rows, _)) => keep.iter().map(|&at| rows[at]).collect(),
            None => keep.to_vec(),
        };
        let own = rows.iter().map(|&i| self.own[i]).collect();
        self.kept = Some((rows, own));
    }

    fn unshrink(&mut self) {
        self.kept = None;
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
            out.as_slice_mut().expect("laid out by rows").copy_from_slice(self.row(i));
        }
        multiply(part.view(), part.t())
    }

    fn entries(&self, row: usize, rows: &[usize]) -> Vec<f64> {
        let own = self.row(row);
        rows.iter().map(|&i| dot(own, self.row(i))).collect()
    }

    fn diagonal_entry(&self, row: usize) -> f64 {
        self.own[row]
    }

    fn subtract_from(&self, left: &mut [f64], rows: &[usize], weights: &[f64]) {
        let w = self.weights(rows.iter().zip(weights).map(|(&i, w)| (i, -w)));
        self.add_values(left, &w);
    }
}
