//! Access to rows and columns for the solvers of linear SVMs.

use super::svm::need_finite;
use crate::data::Rows;
use crate::error::Result;
use crate::optim::{RowProducts, SparseColumns};
use crate::simd::{add_scaled, dot};

/// Rows, optionally with an additional last column of ones for the intercept.
pub(super) struct RowsWithIntercept<'a> {
    pub x: &'a Rows,
    pub intercept: bool,
}

impl RowProducts for RowsWithIntercept<'_> {
    fn n(&self) -> usize {
        self.x.n()
    }

    fn square(&self, i: usize) -> f64 {
        let square: f64 = match self.x {
            Rows::Dense(x) => x.row(i).iter().map(|v| v * v).sum(),
            Rows::Sparse(x) => x.row(i).1.iter().map(|v| v * v).sum(),
        };
        square + f64::from(u8::from(self.intercept))
    }

    fn product(&self, i: usize, w: &[f64]) -> f64 {
        let product = match self.x {
            Rows::Dense(x) => match x.row(i).to_slice() {
                Some(row) => dot(row, &w[..row.len()]),
                None => x.row(i).iter().zip(w).map(|(v, w)| v * w).sum(),
            },
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).map(|(&j, v)| v * w[j as usize]).sum()
            }
        };
        if self.intercept { product + w[self.x.d()] } else { product }
    }

    fn add(&self, i: usize, s: f64, w: &mut [f64]) {
        match self.x {
            Rows::Dense(x) => match x.row(i).to_slice() {
                Some(row) => add_scaled(&mut w[..row.len()], s, row),
                None => x.row(i).iter().zip(w.iter_mut()).for_each(|(v, w)| *w += s * v),
            },
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(&j, v)| w[j as usize] += s * v);
            }
        }
        if self.intercept {
            w[self.x.d()] += s;
        }
    }
}

/// Checks that the sum of squares does not overflow.
pub(crate) fn need_finite_rows(step: &'static str, x: &Rows) -> Result<()> {
    let mut sum = 0.0;
    each_cell(x, |_, _, v| sum += v * v);
    need_finite(step, std::iter::once(sum))
}

/// Number of stored values.
pub(super) fn stored_cells(x: &Rows) -> f64 {
    match x {
        Rows::Dense(x) => x.len() as f64,
        Rows::Sparse(x) => x.n_stored() as f64,
    }
}

/// Bytes of [`signed_columns`]: a row index and a value for each stored value and each row of the intercept.
pub(crate) fn signed_bytes(x: &Rows) -> f64 {
    12.0 * (stored_cells(x) + x.n() as f64)
}

/// Columns multiplied by the signs of the rows, optionally with a last column for the intercept.
pub(crate) fn signed_columns(x: &Rows, signs: &[f64], intercept: bool) -> SparseColumns {
    let mut count = vec![0usize; x.d()];
    each_cell(x, |_, j, _| count[j] += 1);
    let mut start = vec![0];
    count.iter().for_each(|c| start.push(start[start.len() - 1] + c));
    let cells = start[x.d()];
    let capacity = cells + if intercept { x.n() } else { 0 };
    let (mut row, mut value) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
    row.resize(cells, 0u32);
    value.resize(cells, 0.0);
    let mut next = start.clone();
    each_cell(x, |i, j, v| {
        row[next[j]] = i as u32;
        value[next[j]] = signs[i] * v;
        next[j] += 1;
    });
    if intercept {
        row.extend(0..x.n() as u32);
        value.extend(signs);
        start.push(row.len());
    }
    SparseColumns { start, row, value }
}

/// Visits all nonzero values.
fn each_cell(x: &Rows, mut visit: impl FnMut(usize, usize, f64)) {
    match x {
        Rows::Dense(x) => {
            x.indexed_iter().filter(|(_, v)| **v != 0.0).for_each(|((i, j), &v)| visit(i, j, v));
        }
        Rows::Sparse(x) => x.cells().filter(|c| c.2 != 0.0).for_each(|(i, j, v)| visit(i, j, v)),
    }
}
