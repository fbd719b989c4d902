//! One term of a kernel on a tile: some rows against some rows.

use super::prepared::{PreparedRows, needs_norms, rows_of_term, shift_of, squared_norms};
use super::terms::{Form, SimpleKernel};
use crate::data::{Rows, SparseRows};
use crate::error::Result;
use crate::linalg::product_into;
use crate::simd::{
    absolute_distances, add_scaled, is_accurate, products_to_squared_distances, squared_distances,
};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, ShapeBuilder, s};
use std::borrow::Cow;
use std::ops::Range;

/// A term over two sets of rows.
pub(super) struct Term<'a> {
    pub weight: f64,
    pub form: Form,
    /// Subtracted from all rows if distances come from products.
    pub shift: Option<Cow<'a, Array1<f64>>>,
    pub x: PreparedRows<'a>,
    pub z: PreparedRows<'a>,
}

impl<'a> Term<'a> {
    pub fn new(weight: f64, term: &SimpleKernel, x: &'a Rows, z: &'a Rows) -> Result<Self> {
        let form = Form::of(term.kernel);
        let (x, z) = (rows_of_term(term, x)?, rows_of_term(term, z)?);
        if !needs_norms(form, &x, &z) {
            let prepared = |rows| PreparedRows { rows, norms: Cow::default() };
            return Ok(Self { weight, form, shift: None, x: prepared(x), z: prepared(z) });
        }
        // Shifted sparse rows would be dense.
        let shift = if x.is_sparse() { None } else { shift_of(&z) };
        let prepared = |rows: Cow<'a, Rows>| {
            let norms = squared_norms(&rows, shift.as_ref()).into();
            PreparedRows { rows, norms }
        };
        let (x, z) = (prepared(x), prepared(z));
        Ok(Self { weight, form, shift: shift.map(Cow::Owned), x, z })
    }

    /// The term's values on a tile, laid out by columns.
    pub fn values(&self, at_x: Range<usize>, at_z: Range<usize>, out: &mut [f64], buffer: &mut Vec<f64>) {
        match (&*self.x.rows, &*self.z.rows) {
            (Rows::Dense(x), Rows::Dense(z)) => {
                self.dense(x, at_x.clone(), z.slice(s![at_z.clone(), ..]), out, buffer);
            }
            (Rows::Sparse(x), z) => {
                self.sparse((x, at_x.clone()), (z, at_z.clone()), false, out, buffer);
            }
            (x, Rows::Sparse(z)) => {
                self.sparse((z, at_z.clone()), (x, at_x.clone()), true, out, buffer);
            }
        }
        if self.needs_norms() {
            self.products_to_distances(at_x, at_z, out);
        }
        self.form.apply(out);
    }

    fn products_to_distances(&self, at_x: Range<usize>, at_z: Range<usize>, out: &mut [f64]) {
        for (column, j) in out.chunks_exact_mut(at_x.len()).zip(at_z) {
            let (x, z) = (&self.x.norms[at_x.clone()], self.z.norms[j]);
            if !products_to_squared_distances(column, x, z) {
                continue;
            }
            // Cancellation on equal and nearly equal rows: sum the differences instead.
            for (r, distance) in column.iter_mut().enumerate() {
                if !is_accurate(*distance, x[r] + z) {
                    let row = at_x.start + r;
                    *distance = self.x.rows.sum_over_differences(row, &self.z.rows, j, |e| e * e);
                }
            }
        }
    }

    fn dense(
        &self,
        all: &Array2<f64>,
        at: Range<usize>,
        z: ArrayView2<f64>,
        out: &mut [f64],
        buffer: &mut Vec<f64>,
    ) {
        let x = all.slice(s![at.clone(), ..]);
        let rows = x.nrows();
        let view = |out| ArrayViewMut2::from_shape((rows, z.nrows()).f(), out).expect("a value per cell");
        match self.form {
            Form::Product | Form::Polynomial { .. } => product_into(x, z.t(), view(out)),
            Form::Equal => {
                for (column, z) in out.chunks_exact_mut(rows).zip(z.rows()) {
                    for (cell, x) in column.iter_mut().zip(x.rows()) {
                        *cell = f64::from(u8::from(x == z));
                    }
                }
            }
            Form::SquaredDistance { .. } if self.needs_norms() => match self.shift.as_deref() {
                Some(shift) => product_into((&x - shift).view(), (&z - shift).t(), view(out)),
                None => product_into(x, z.t(), view(out)),
            },
            Form::SquaredDistance { .. } | Form::AbsoluteDistance { .. } => {
                let distances = match self.form {
                    Form::SquaredDistance { .. } => squared_distances,
                    _ => absolute_distances,
                };
                // By columns of x, so that the inner loop runs over rows for any number of columns.
                let (columns, stride) = match all.t().to_slice() {
                    Some(by_columns) => (&by_columns[at.start..], all.nrows()),
                    None => {
                        buffer.clear();
                        x.columns().into_iter().for_each(|column| buffer.extend(column));
                        (&buffer[..], rows)
                    }
                };
                let mut point = vec![0.0; x.ncols()];
                for (column, z) in out.chunks_exact_mut(rows).zip(z.rows()) {
                    point.iter_mut().zip(z).for_each(|(p, z)| *p = *z);
                    distances(column, columns, stride, &point);
                }
            }
        }
    }

    /// Sparse rows against other rows, which are made dense a few at a time. `transposed`: the sparse rows are the
    /// columns of the tile.
    fn sparse(
        &self,
        (sparse, at_sparse): (&SparseRows, Range<usize>),
        (other, at_other): (&Rows, Range<usize>),
        transposed: bool,
        out: &mut [f64],
        buffer: &mut Vec<f64>,
    ) {
        // 16 dense rows of 20,000 columns take 2.5 MiB.
        const BATCH: usize = 16;
        let (n_sparse, n_other) = (at_sparse.len(), at_other.len());
        for from in (0..n_other).step_by(BATCH) {
            let width = BATCH.min(n_other - from);
            make_dense(other, at_other.start + from..at_other.start + from + width, buffer);
            let base = self.value_at_zero(buffer, width);
            let mut row = vec![0.0; width];
            for i in 0..n_sparse {
                row.copy_from_slice(&base);
                let (columns, values) = sparse.row(at_sparse.start + i);
                for (&f, &v) in columns.iter().zip(values) {
                    self.add_cell(&mut row, v, &buffer[f as usize * width..(f as usize + 1) * width]);
                }
                for (j, &value) in row.iter().enumerate() {
                    let value = match self.form {
                        Form::Equal => f64::from(u8::from(value == 0.0)),
                        // Rounding can make a sum of differences negative.
                        Form::AbsoluteDistance { .. } => value.max(0.0),
                        _ => value.max(f64::NEG_INFINITY),
                    };
                    let (r, c) = if transposed { (from + j, i) } else { (i, from + j) };
                    let height = if transposed { n_other } else { n_sparse };
                    out[c * height + r] = value;
                }
            }
        }
    }

    /// What a row of zeros gives with each of `width` dense rows.
    fn value_at_zero(&self, dense: &[f64], width: usize) -> Vec<f64> {
        let column = |j: usize| dense[j..].iter().step_by(width);
        match self.form {
            Form::AbsoluteDistance { .. } => (0..width).map(|j| column(j).map(|v| v.abs()).sum()).collect(),
            Form::Equal => (0..width).map(|j| column(j).filter(|v| **v != 0.0).count() as f64).collect(),
            _ => vec![0.0; width],
        }
    }

    /// Adds what a stored cell changes, given the cells `z` of the dense rows in the same column.
    fn add_cell(&self, row: &mut [f64], v: f64, z: &[f64]) {
        match self.form {
            Form::AbsoluteDistance { .. } => {
                row.iter_mut().zip(z).for_each(|(r, z)| *r += (v - z).abs() - z.abs());
            }
            // A count of nonzero cells of the dense row that are not matched yet; a difference makes it infinite.
            Form::Equal => row.iter_mut().zip(z).for_each(|(r, z)| {
                *r += if v == *z { -f64::from(u8::from(v != 0.0)) } else { f64::INFINITY };
            }),
            _ => add_scaled(row, v, z),
        }
    }

    fn needs_norms(&self) -> bool {
        needs_norms(self.form, &self.x.rows, &self.z.rows)
    }
}

/// Some rows with all their zeros, column by column.
fn make_dense(rows: &Rows, which: Range<usize>, out: &mut Vec<f64>) {
    let width = which.len();
    out.clear();
    out.resize(rows.d() * width, 0.0);
    for (j, i) in which.enumerate() {
        match rows {
            Rows::Dense(x) => x.row(i).iter().enumerate().for_each(|(f, &v)| out[f * width + j] = v),
            Rows::Sparse(x) => {
                let (columns, values) = x.row(i);
                columns.iter().zip(values).for_each(|(&f, &v)| out[f as usize * width + j] = v);
            }
        }
    }
}
