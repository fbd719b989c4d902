//! Products of rows, or their transpose, with thin matrices.

use crate::data::{Rows, SparseRows};
use crate::optim::SparseColumns;
use crate::simd::{THIN, add_transposed_times_thin, rows_times_thin};
use ndarray::Array2;
use rayon::prelude::*;

/// Rows per task.
const ROWS: usize = 64;
/// Columns per task: with [`THIN`] numbers each they stay in the cache.
const COLUMNS: usize = 1024;

/// Products of fixed rows with thin matrices.
pub enum ThinProducts<'a> {
    /// Dense rows.
    Dense(&'a Array2<f64>),
    /// Stored values, by rows and by columns.
    Sparse(&'a SparseRows, SparseColumns),
}

type Lanes = [f64; THIN];

impl<'a> ThinProducts<'a> {
    /// Prepares products with these rows.
    pub fn new(x: &'a Rows) -> Self {
        match x {
            Rows::Dense(x) => Self::Dense(x),
            Rows::Sparse(cells) => Self::Sparse(cells, SparseColumns::gather(x.d(), || cells.cells())),
        }
    }

    fn rows(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x, _) => x.n_rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(_, columns) => columns.len(),
        }
    }

    /// The rows times `w`.
    pub fn times(&self, w: &Array2<f64>) -> Array2<f64> {
        let mut out = Array2::zeros((self.rows(), w.ncols()));
        for from in (0..w.ncols()).step_by(THIN) {
            let w = lanes(w, from);
            let mut part = vec![[0.0; THIN]; self.rows()];
            part.par_chunks_mut(ROWS).enumerate().for_each(|(task, part)| match self {
                Self::Dense(x) => {
                    let x = x.as_slice().expect("standard layout");
                    if !w.is_empty() {
                        rows_times_thin(&x[task * ROWS * w.len()..], w.len(), &w, part);
                    }
                }
                Self::Sparse(x, _) => {
                    for (r, part) in part.iter_mut().enumerate() {
                        let (columns, values) = x.row(task * ROWS + r);
                        for (&j, v) in columns.iter().zip(values) {
                            (0..THIN).for_each(|l| part[l] += v * w[j as usize][l]);
                        }
                    }
                }
            });
            store(&part, &mut out, from);
        }
        out
    }

    /// Writes the transpose of the rows times `b` into `out`.
    pub fn transposed_times(&self, b: &Array2<f64>, out: &mut Array2<f64>) {
        for from in (0..b.ncols()).step_by(THIN) {
            let b = lanes(b, from);
            let mut part = vec![[0.0; THIN]; self.columns()];
            part.par_chunks_mut(COLUMNS).enumerate().for_each(|(task, part)| match self {
                Self::Dense(x) => {
                    let stride = x.ncols();
                    let x = x.as_slice().expect("standard layout");
                    if !x.is_empty() {
                        add_transposed_times_thin(&x[task * COLUMNS..], stride, &b, part);
                    }
                }
                Self::Sparse(_, columns) => {
                    for (c, part) in part.iter_mut().enumerate() {
                        let cells = columns.start[task * COLUMNS + c]..columns.start[task * COLUMNS + c + 1];
                        for (&i, v) in columns.row[cells.clone()].iter().zip(&columns.value[cells]) {
                            (0..THIN).for_each(|l| part[l] += v * b[i as usize][l]);
                        }
                    }
                }
            });
            store(&part, out, from);
        }
    }
}

/// Columns of a thin matrix from `from` on, padded with zeros.
fn lanes(w: &Array2<f64>, from: usize) -> Vec<Lanes> {
    w.rows()
        .into_iter()
        .map(|row| std::array::from_fn(|l| row.get(from + l).copied().unwrap_or(0.0)))
        .collect()
}

fn store(part: &[Lanes], out: &mut Array2<f64>, from: usize) {
    let width = THIN.min(out.ncols() - from);
    for (mut row, part) in out.rows_mut().into_iter().zip(part) {
        (0..width).for_each(|l| row[from + l] = part[l]);
    }
}
