//! Columns of a Gram matrix that is too large for memory, in a least-recently-used cache.

use super::diagonal::diagonal;
use super::formula::Kernel;
use super::gram::gram;
use crate::data::Rows;
use crate::error::Result;
use crate::optim::KernelColumns;
use crate::simd::{add_combination, exp_scaled, squared_distances};
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;
use std::collections::HashMap;

/// Columns computed on demand, in a least-recently-used cache.
pub struct CachedColumns<'a> {
    kernel: &'a Kernel,
    x: Rows,
    /// The rows that are not shrunk, and their positions among all.
    active: Option<(Rows, Vec<usize>)>,
    full_diagonal: Vec<f64>,
    diagonal: Vec<f64>,
    /// Columns by position among all rows.
    cache: HashMap<usize, CachedColumn>,
    clock: u64,
    bytes: usize,
    limit: usize,
}

struct CachedColumn {
    values: Vec<f64>,
    last_used: u64,
}

/// Columns computed at a time when many are needed.
const BATCH: usize = 64;

impl<'a> CachedColumns<'a> {
    /// The Gram matrix of `x`, with a cache of `limit` bytes, but at least two columns.
    pub fn new(kernel: &'a Kernel, x: &Rows, limit: usize) -> Result<Self> {
        let diagonal = diagonal(kernel, x)?;
        Ok(Self {
            kernel,
            x: by_columns(x.clone()),
            active: None,
            full_diagonal: diagonal.clone(),
            diagonal,
            cache: HashMap::new(),
            clock: 0,
            bytes: 0,
            limit,
        })
    }

    /// The position among all rows of active row `i`.
    fn position(&self, i: usize) -> usize {
        self.active.as_ref().map_or(i, |(_, positions)| positions[i])
    }

    fn compute(&self, position: usize) -> Vec<f64> {
        let rows = self.active.as_ref().map_or(&self.x, |(rows, _)| rows);
        let one = self.x.take_rows(&[position]);
        if let (Kernel::Rbf { gamma }, Rows::Dense(rows), Rows::Dense(one)) = (self.kernel, rows, &one) {
            let columns = rows.t().to_slice().expect("laid out by columns");
            return rbf_column(columns, rows.nrows(), &one.row(0).to_vec(), *gamma);
        }
        gram(self.kernel, &one, rows).expect("validated in new").into_raw_vec_and_offset().0
    }

    /// Evicts the least recently used columns until `more` bytes fit.
    fn make_room(&mut self, more: usize) {
        while self.bytes + more > self.limit && self.cache.len() > 1 {
            let Some((&oldest, _)) = self.cache.iter().min_by_key(|(_, column)| column.last_used) else {
                return;
            };
            self.evict(oldest);
        }
    }

    fn evict(&mut self, position: usize) {
        if let Some(column) = self.cache.remove(&position) {
            self.bytes -= column.values.len() * size_of::<f64>();
        }
    }
}

/// Rows of a column per task.
const ROWS_PER_TASK: usize = 2048;

/// The RBF kernel of all rows with one. Direct distances read every cell once; a matrix product with norms and shifts
/// would read it several times.
fn rbf_column(columns: &[f64], n: usize, one: &[f64], gamma: f64) -> Vec<f64> {
    let mut out = vec![0.0; n];
    out.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, out)| {
        squared_distances(out, &columns[task * ROWS_PER_TASK..], n, one);
        exp_scaled(out, -gamma);
    });
    out
}

/// Dense rows laid out by columns, as direct distances read them.
fn by_columns(x: Rows) -> Rows {
    match x {
        Rows::Dense(dense) if dense.t().to_slice().is_none() => {
            let mut out = Array2::zeros(dense.raw_dim().f());
            out.assign(&dense);
            out.into()
        }
        other => other,
    }
}

impl KernelColumns for CachedColumns<'_> {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn with_column<T>(&mut self, i: usize, use_it: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        self.clock += 1;
        let position = self.position(i);
        if !self.cache.contains_key(&position) {
            let values = self.compute(position);
            let more = values.len() * size_of::<f64>();
            self.make_room(more);
            self.bytes += more;
            self.cache.insert(position, CachedColumn { values, last_used: 0 });
        }
        let column = self.cache.get_mut(&position).expect("inserted above");
        column.last_used = self.clock;
        use_it(&self.diagonal, &column.values)
    }

    fn shrink(&mut self, keep: &[usize]) {
        let positions: Vec<usize> = keep.iter().map(|&i| self.position(i)).collect();
        for column in self.cache.values_mut() {
            self.bytes -= (column.values.len() - keep.len()) * size_of::<f64>();
            column.values = keep.iter().map(|&i| column.values[i]).collect();
        }
        self.diagonal = positions.iter().map(|&i| self.full_diagonal[i]).collect();
        self.active = Some((by_columns(self.x.take_rows(&positions)), positions));
    }

    fn unshrink(&mut self) {
        if self.active.take().is_some() {
            // Cached columns lack the rows that return.
            self.cache.clear();
            self.bytes = 0;
            self.diagonal = self.full_diagonal.clone();
        }
    }

    fn check_interval(&self) -> usize {
        10
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let wanted = self.x.take_rows(rows);
        for weights in weights.chunks(BATCH) {
            let positions: Vec<usize> = weights.iter().map(|w| w.0).collect();
            let weights: Vec<f64> = weights.iter().map(|w| w.1).collect();
            let k = gram(self.kernel, &self.x.take_rows(&positions), &wanted).expect("validated in new");
            let cells = k.as_slice().expect("standard layout");
            add_combination(out, cells, rows.len(), &weights);
        }
    }
}
