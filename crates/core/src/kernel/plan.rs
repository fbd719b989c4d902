//! A kernel over two sets of rows, evaluated tile by tile on all threads.

use super::formula::Kernel;
use super::terms::flatten;
use super::tile::Term;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::simd::add_scaled;
use ndarray::{ArrayViewMut2, Axis};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a tile.
pub(super) const TILE_ROWS: usize = 256;
/// Columns of a tile: with [`TILE_ROWS`] it takes 512 KiB.
const TILE_COLUMNS: usize = 256;

/// The terms of a kernel over two sets of rows.
pub(super) struct Plan<'a> {
    pub terms: Vec<Term<'a>>,
}

impl<'a> Plan<'a> {
    pub fn new(kernel: &Kernel, x: &'a Rows, z: &'a Rows) -> Result<Self> {
        if x.d() != z.d() {
            return Err(Error::Shape {
                what: "columns of the second set of rows".into(),
                expected: x.d().to_string(),
                got: z.d().to_string(),
            });
        }
        kernel.validate(x.d())?;
        let terms = flatten(kernel)
            .into_iter()
            .map(|(weight, term)| Term::new(weight, &term, x, z))
            .collect::<Result<_>>()?;
        Ok(Self { terms })
    }

    /// Fills `out`, fastest if it is laid out by columns.
    pub fn fill(&self, out: ArrayViewMut2<f64>) {
        let tiles = tiles(out, TILE_ROWS, TILE_COLUMNS);
        tiles.into_par_iter().for_each_init(Scratch::default, |scratch, tile| {
            self.evaluate(&tile, scratch);
            store(&scratch.sum, tile.out);
        });
    }

    /// Fills a square over the same rows: computes the lower half and mirrors it.
    pub fn fill_symmetric(&self, out: ArrayViewMut2<f64>) {
        let per_side = out.nrows().div_ceil(TILE_ROWS);
        let mut all: Vec<Option<Tile>> = tiles(out, TILE_ROWS, TILE_ROWS).into_iter().map(Some).collect();
        let mut pairs = vec![];
        for i in 0..per_side {
            for j in 0..=i {
                pairs.push((all[i * per_side + j].take(), all[j * per_side + i].take()));
            }
        }
        pairs.into_par_iter().for_each_init(Scratch::default, |scratch, (lower, upper)| {
            let Some(mut lower) = lower else { return };
            self.evaluate(&lower, scratch);
            if upper.is_none() {
                mirror(&mut scratch.sum, lower.out.nrows());
            }
            store(&scratch.sum, lower.out.view_mut());
            if let Some(upper) = upper {
                store(&scratch.sum, upper.out.reversed_axes());
            }
        });
    }

    /// Fills `out` on the calling thread, with rows of x from `row` on.
    pub fn write(&self, row: usize, mut out: ArrayViewMut2<f64>) {
        let (at_x, at_z) = (row..row + out.nrows(), 0..out.ncols());
        let mut scratch = Scratch::default();
        match out.view_mut().reversed_axes().as_slice_mut() {
            Some(by_columns) => {
                self.values(at_x, at_z, by_columns, &mut scratch.term, &mut scratch.buffer);
            }
            None => {
                self.evaluate(&Tile { row, column: 0, out: out.view_mut() }, &mut scratch);
                store(&scratch.sum, out);
            }
        }
    }

    /// Puts the values of a tile, by columns, into `scratch.sum`.
    fn evaluate(&self, tile: &Tile, scratch: &mut Scratch) {
        let (rows, columns) = tile.out.dim();
        let (at_x, at_z) = (tile.row..tile.row + rows, tile.column..tile.column + columns);
        scratch.sum.resize(rows * columns, 0.0);
        self.values(at_x, at_z, &mut scratch.sum, &mut scratch.term, &mut scratch.buffer);
    }

    /// Kernel values of some rows with some rows, by columns.
    fn values(
        &self,
        at_x: Range<usize>,
        at_z: Range<usize>,
        sum: &mut [f64],
        values: &mut Vec<f64>,
        buffer: &mut Vec<f64>,
    ) {
        for (i, term) in self.terms.iter().enumerate() {
            if i == 0 && term.weight == 1.0 {
                term.values(at_x.clone(), at_z.clone(), sum, buffer);
                continue;
            }
            if i == 0 {
                sum.fill(0.0);
            }
            values.resize(sum.len(), 0.0);
            term.values(at_x.clone(), at_z.clone(), values, buffer);
            add_scaled(sum, term.weight, values);
        }
    }
}

/// Memory that a thread reuses for every tile.
#[derive(Default)]
struct Scratch {
    sum: Vec<f64>,
    /// Values of one term.
    term: Vec<f64>,
    /// For the term's own use.
    buffer: Vec<f64>,
}

struct Tile<'a> {
    row: usize,
    column: usize,
    out: ArrayViewMut2<'a, f64>,
}

/// Splits a view into tiles.
fn tiles(out: ArrayViewMut2<'_, f64>, rows: usize, columns: usize) -> Vec<Tile<'_>> {
    let mut all = vec![];
    let mut below = out;
    let mut row = 0;
    while below.nrows() > 0 {
        let height = rows.min(below.nrows());
        let (mut right, rest) = below.split_at(Axis(0), height);
        below = rest;
        let mut column = 0;
        while right.ncols() > 0 {
            let width = columns.min(right.ncols());
            let (out, rest) = right.split_at(Axis(1), width);
            right = rest;
            all.push(Tile { row, column, out });
            column += width;
        }
        row += height;
    }
    all
}

/// Copies values by columns into a view of any layout.
fn store(values: &[f64], mut out: ArrayViewMut2<f64>) {
    let rows = out.nrows();
    if out.strides()[0] == 1 {
        for (mut column, values) in out.columns_mut().into_iter().zip(values.chunks_exact(rows)) {
            column.as_slice_mut().expect("columns are contiguous").copy_from_slice(values);
        }
    } else {
        // Along the rows of the view, in strips that stay in the cache.
        const STRIP: usize = 16;
        for from in (0..rows).step_by(STRIP) {
            for (j, values) in values.chunks_exact(rows).enumerate() {
                for r in from..rows.min(from + STRIP) {
                    out[[r, j]] = values[r];
                }
            }
        }
    }
}

/// Copies the lower half of a square, laid out by columns, to the upper half.
fn mirror(values: &mut [f64], n: usize) {
    for j in 0..n {
        for i in j + 1..n {
            values[i * n + j] = values[j * n + i];
        }
    }
}
