//! Where a solver gets the columns of its matrix from.

use crate::simd::add_scaled;
use ndarray::ArrayView2;
use std::borrow::Cow;

/// A symmetric matrix that is asked for its columns; some rows and columns may be set aside.
pub trait KernelColumns {
    /// Number of rows that are not set aside.
    fn len(&self) -> usize;
    /// Whether no row is left.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The diagonal, of the rows that are not set aside.
    fn diagonal(&self) -> &[f64];
    /// Hands the diagonal and column `i` to `use_it`, both of the rows that are not set aside, among which `i`
    /// is a place.
    fn with_column<T>(&mut self, i: usize, use_it: impl FnOnce(&[f64], &[f64]) -> T) -> T;
    /// Sets aside all but `keep`, rising places among those that are not set aside.
    fn restrict(&mut self, keep: &[usize]);
    /// Sets nothing aside any more.
    fn release(&mut self);
    /// `out[r] += sum of weight * K[row][rows[r]]` over all pairs of a row and a weight. Rows are places among
    /// all, whatever is set aside.
    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]);
    /// How many columns are asked for between two looks at whether the user wants to stop: fewer where a column
    /// takes long.
    fn patience(&self) -> usize {
        1000
    }
}

/// Some rows and columns of a matrix that is there, copied together once unless they are all.
pub struct BlockColumns<'a> {
    whole: Square<'a>,
    /// What is not set aside; empty if that is everything.
    part: Option<Square<'static>>,
}

/// A matrix by columns, and its diagonal.
struct Square<'a> {
    n: usize,
    cells: Cow<'a, [f64]>,
    diagonal: Vec<f64>,
}

impl<'a> Square<'a> {
    fn new(n: usize, cells: Cow<'a, [f64]>) -> Self {
        let diagonal = (0..n).map(|i| cells[i * n + i]).collect();
        Self { n, cells, diagonal }
    }

    fn gather(n: usize, column: impl Fn(usize, &mut Vec<f64>)) -> Self {
        let mut cells = Vec::with_capacity(n * n);
        (0..n).for_each(|i| column(i, &mut cells));
        Self::new(n, cells.into())
    }

    fn column(&self, i: usize) -> &[f64] {
        &self.cells[i * self.n..(i + 1) * self.n]
    }
}

impl<'a> BlockColumns<'a> {
    /// The rows and columns `rows` of the symmetric matrix `k`. All of them in their order need no copy.
    pub fn new(k: ArrayView2<'a, f64>, rows: &[usize]) -> Self {
        if rows.len() == k.nrows() && rows.iter().enumerate().all(|(at, &i)| at == i) {
            // Symmetric: by rows is by columns.
            if let Some(cells) = k.to_slice().or_else(|| k.reversed_axes().to_slice()) {
                return Self { whole: Square::new(rows.len(), cells.into()), part: None };
            }
        }
        let whole = Square::gather(rows.len(), |i, cells| {
            let row = k.row(rows[i]);
            match row.to_slice() {
                Some(row) => cells.extend(rows.iter().map(|&j| row[j])),
                // Laid out by columns; the matrix is symmetric.
                None => {
                    let column = k.column(rows[i]);
                    cells.extend(rows.iter().map(|&j| column[j]));
                }
            }
        });
        Self { whole, part: None }
    }

    /// Column `i` of all rows, whatever is set aside.
    pub fn column(&self, i: usize) -> &[f64] {
        self.whole.column(i)
    }

    fn now(&self) -> &Square<'_> {
        match &self.part {
            Some(part) => part,
            None => &self.whole,
        }
    }
}

impl KernelColumns for BlockColumns<'_> {
    fn len(&self) -> usize {
        self.now().n
    }

    fn diagonal(&self) -> &[f64] {
        &self.now().diagonal
    }

    fn with_column<T>(&mut self, i: usize, use_it: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        let now = self.now();
        use_it(&now.diagonal, now.column(i))
    }

    fn restrict(&mut self, keep: &[usize]) {
        let now = self.now();
        let part = Square::gather(keep.len(), |i, cells| {
            let column = now.column(keep[i]);
            cells.extend(keep.iter().map(|&j| column[j]));
        });
        self.part = Some(part);
    }

    fn release(&mut self) {
        self.part = None;
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let whole = &self.whole;
        if rows.len() == whole.n {
            weights.iter().for_each(|&(i, weight)| add_scaled(out, weight, whole.column(i)));
            return;
        }
        for &(i, weight) in weights {
            let column = whole.column(i);
            out.iter_mut().zip(rows).for_each(|(out, &r)| *out += weight * column[r]);
        }
    }
}
