//! Columns of a Gram matrix that is too large to be kept, the latest of which are remembered.

use super::formula::Kernel;
use super::gram::{diagonal, gram};
use crate::data::Rows;
use crate::error::Result;
use crate::optim::KernelColumns;
use crate::simd::{add_combination, exp_scaled, squared_distances};
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;
use std::collections::HashMap;

/// Columns that are computed when they are asked for, the latest of which are remembered.
pub struct CachedColumns<'a> {
    kernel: &'a Kernel,
    x: Rows,
    /// The rows that are not set aside, and their places among all.
    part: Option<(Rows, Vec<usize>)>,
    whole_diagonal: Vec<f64>,
    diagonal: Vec<f64>,
    /// Columns by their place among all rows.
    known: HashMap<usize, Remembered>,
    clock: u64,
    bytes: usize,
    limit: usize,
}

struct Remembered {
    column: Vec<f64>,
    used: u64,
}

/// Columns computed at a time where many are needed.
const AT_ONCE: usize = 64;

impl<'a> CachedColumns<'a> {
    /// The Gram matrix of `x`, of which columns of up to `limit` bytes are remembered, and at least two.
    pub fn new(kernel: &'a Kernel, x: &Rows, limit: usize) -> Result<Self> {
        let diagonal = diagonal(kernel, x)?;
        Ok(Self {
            kernel,
            x: by_columns(x.clone()),
            part: None,
            whole_diagonal: diagonal.clone(),
            diagonal,
            known: HashMap::new(),
            clock: 0,
            bytes: 0,
            limit,
        })
    }

    /// The place among all rows of one that is not set aside.
    fn place(&self, i: usize) -> usize {
        self.part.as_ref().map_or(i, |(_, places)| places[i])
    }

    fn compute(&self, place: usize) -> Vec<f64> {
        let rows = self.part.as_ref().map_or(&self.x, |(rows, _)| rows);
        let one = self.x.take_rows(&[place]);
        if let (Kernel::Rbf { gamma }, Rows::Dense(rows), Rows::Dense(one)) = (self.kernel, rows, &one) {
            let columns = rows.t().to_slice().expect("laid out by columns");
            return radial_column(columns, rows.nrows(), &one.row(0).to_vec(), *gamma);
        }
        // Checked when this was made.
        gram(self.kernel, &one, rows).expect("the kernel suits the rows").into_raw_vec_and_offset().0
    }

    /// Forgets the columns that have not been used for longest until there is room for another.
    fn make_room(&mut self, more: usize) {
        while self.bytes + more > self.limit && self.known.len() > 1 {
            let Some((&oldest, _)) = self.known.iter().min_by_key(|(_, known)| known.used) else { return };
            self.forget(oldest);
        }
    }

    fn forget(&mut self, place: usize) {
        if let Some(known) = self.known.remove(&place) {
            self.bytes -= known.column.len() * size_of::<f64>();
        }
    }
}

/// Rows of a column that one task computes.
const TASK: usize = 2048;

/// The RBF kernel of all rows with one. For a single column summing up distances reads every cell once, which a
/// matrix product with its norms and shifts would do several times.
fn radial_column(columns: &[f64], n: usize, one: &[f64], gamma: f64) -> Vec<f64> {
    let mut out = vec![0.0; n];
    out.par_chunks_mut(TASK).enumerate().for_each(|(task, out)| {
        squared_distances(out, &columns[task * TASK..], n, one);
        exp_scaled(out, -gamma);
    });
    out
}

/// Distances run down the columns: lay dense rows out so.
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
        let place = self.place(i);
        if !self.known.contains_key(&place) {
            let column = self.compute(place);
            let more = column.len() * size_of::<f64>();
            self.make_room(more);
            self.bytes += more;
            self.known.insert(place, Remembered { column, used: 0 });
        }
        let known = self.known.get_mut(&place).expect("just made sure");
        known.used = self.clock;
        use_it(&self.diagonal, &known.column)
    }

    fn shrink(&mut self, keep: &[usize]) {
        let places: Vec<usize> = keep.iter().map(|&i| self.place(i)).collect();
        for known in self.known.values_mut() {
            self.bytes -= (known.column.len() - keep.len()) * size_of::<f64>();
            known.column = keep.iter().map(|&i| known.column[i]).collect();
        }
        self.diagonal = places.iter().map(|&i| self.whole_diagonal[i]).collect();
        self.part = Some((by_columns(self.x.take_rows(&places)), places));
    }

    fn unshrink(&mut self) {
        if self.part.take().is_some() {
            // What is remembered lacks the rows that come back.
            self.known.clear();
            self.bytes = 0;
            self.diagonal = self.whole_diagonal.clone();
        }
    }

    fn check_interval(&self) -> usize {
        10
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let wanted = self.x.take_rows(rows);
        for weights in weights.chunks(AT_ONCE) {
            let places: Vec<usize> = weights.iter().map(|w| w.0).collect();
            let weights: Vec<f64> = weights.iter().map(|w| w.1).collect();
            let k =
                gram(self.kernel, &self.x.take_rows(&places), &wanted).expect("the kernel suits the rows");
            let cells = k.as_slice().expect("a new matrix lies together by rows");
            add_combination(out, cells, rows.len(), &weights);
        }
    }
}
