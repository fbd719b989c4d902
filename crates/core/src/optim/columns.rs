//! Where a solver gets the columns of its matrix from.

use crate::linalg::prefer_large_pages;
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

/// Whole columns are added up where at least one over this share of their cells is asked for: cells that lie together are
/// so much faster.
const WORTH_ALL: usize = 4;

/// Some rows and columns of a matrix that is there, copied together once unless they are all.
pub struct BlockColumns<'a> {
    whole: Square<'a>,
    /// What is not set aside; empty if that is everything.
    part: Option<Square<'static>>,
    /// The memory of an earlier part.
    spare: Vec<f64>,
}

/// Memory of columns that are no longer needed, for others: where it is fresh, it costs more than what is written to it.
#[derive(Default)]
pub struct ColumnMemory {
    whole: Vec<f64>,
    part: Vec<f64>,
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

    /// Some rows and columns, in the same memory: nothing moves to where something is yet to be read.
    fn shrunk(self, keep: &[usize]) -> Self {
        let (n, m) = (self.n, keep.len());
        let mut cells = self.cells.into_owned();
        let mut column = vec![0.0; m];
        for (i, &from) in keep.iter().enumerate() {
            let old = &cells[from * n..(from + 1) * n];
            column.iter_mut().zip(keep).for_each(|(out, &j)| *out = old[j]);
            cells[i * m..(i + 1) * m].copy_from_slice(&column);
        }
        cells.truncate(m * m);
        Self::new(m, cells.into())
    }

    fn column(&self, i: usize) -> &[f64] {
        &self.cells[i * self.n..(i + 1) * self.n]
    }
}

/// Some rows and columns of a symmetric matrix, of which `line` gives each row, in memory that is large enough, or else in
/// new.
fn gathered<'l>(mut memory: Vec<f64>, keep: &[usize], line: impl Fn(usize) -> &'l [f64]) -> Square<'static> {
    let room = keep.len() * keep.len();
    memory.clear();
    if memory.capacity() < room {
        drop(memory);
        memory = Vec::with_capacity(room);
        prefer_large_pages(&mut memory);
    }
    for &i in keep {
        let line = line(i);
        memory.extend(keep.iter().map(|&j| line[j]));
    }
    Square::new(keep.len(), memory.into())
}

impl<'a> BlockColumns<'a> {
    /// The rows and columns `rows` of the symmetric matrix `k`. All of them in their order need no copy.
    pub fn new(k: ArrayView2<'a, f64>, rows: &[usize]) -> Self {
        Self::within(ColumnMemory::default(), k, rows)
    }

    /// The same in memory that may be there already.
    pub fn within(memory: ColumnMemory, k: ArrayView2<'a, f64>, rows: &[usize]) -> Self {
        let n = k.nrows();
        // Symmetric: by columns is by rows.
        let k = if k.is_standard_layout() { k } else { k.reversed_axes() };
        let whole = match k.to_slice() {
            Some(cells) if rows.len() == n && rows.iter().enumerate().all(|(at, &i)| at == i) => {
                Square::new(n, cells.into())
            }
            _ => {
                let k = k.as_standard_layout();
                let cells = k.as_slice().expect("standard layout");
                gathered(memory.whole, rows, |i| &cells[i * n..(i + 1) * n])
            }
        };
        Self { whole, part: None, spare: memory.part }
    }

    /// The memory for others.
    pub fn into_memory(mut self) -> ColumnMemory {
        self.release();
        let whole = match self.whole.cells {
            Cow::Owned(cells) => cells,
            Cow::Borrowed(_) => vec![],
        };
        ColumnMemory { whole, part: self.spare }
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
        self.part = Some(match self.part.take() {
            Some(part) => part.shrunk(keep),
            None => gathered(std::mem::take(&mut self.spare), keep, |i| self.whole.column(i)),
        });
    }

    fn release(&mut self) {
        if let Some(part) = self.part.take() {
            self.spare = part.cells.into_owned();
        }
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let whole = &self.whole;
        if rows.len() == whole.n {
            weights.iter().for_each(|&(i, weight)| add_scaled(out, weight, whole.column(i)));
        } else if WORTH_ALL * rows.len() >= whole.n {
            let mut all = vec![0.0; whole.n];
            weights.iter().for_each(|&(i, weight)| add_scaled(&mut all, weight, whole.column(i)));
            out.iter_mut().zip(rows).for_each(|(out, &r)| *out += all[r]);
        } else {
            for &(i, weight) in weights {
                let column = whole.column(i);
                out.iter_mut().zip(rows).for_each(|(out, &r)| *out += weight * column[r]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn matrix(n: usize, offset: f64) -> Array2<f64> {
        Array2::from_shape_fn((n, n), |(i, j)| (i * j) as f64 + (i + j) as f64 / 64.0 + offset)
    }

    fn assert_is(columns: &mut BlockColumns, k: &Array2<f64>, rows: &[usize]) {
        assert_eq!(columns.len(), rows.len());
        for (at, &i) in rows.iter().enumerate() {
            let expected: Vec<f64> = rows.iter().map(|&j| k[[i, j]]).collect();
            columns.with_column(at, |diagonal, column| {
                assert_eq!((column, diagonal[at]), (&expected[..], k[[i, i]]));
            });
        }
    }

    fn set_aside_and_bring_back(columns: &mut BlockColumns, k: &Array2<f64>, rows: &[usize]) {
        assert_is(columns, k, rows);
        columns.restrict(&[0, 2, 3, 4]);
        assert_is(columns, k, &[rows[0], rows[2], rows[3], rows[4]]);
        columns.restrict(&[1, 3]);
        assert_is(columns, k, &[rows[2], rows[4]]);
        columns.release();
        assert_is(columns, k, rows);
        columns.restrict(&[1, 2, 4]);
        assert_is(columns, k, &[rows[1], rows[2], rows[4]]);
    }

    #[test]
    fn rows_go_and_come_back_in_memory_that_others_had() {
        let mut memory = ColumnMemory::default();
        // Larger and smaller than the one before, never the same.
        for (n, offset, by_columns) in [(9, 0.0, false), (12, 0.5, true), (7, 3.0, false), (8, 2.0, true)] {
            let k = matrix(n, offset);
            let view = if by_columns { k.t() } else { k.view() };
            let all: Vec<usize> = (0..n).collect();
            set_aside_and_bring_back(&mut BlockColumns::new(view, &all), &k, &all);
            let some: Vec<usize> = all.iter().copied().filter(|i| i % 4 != 1).collect();
            let mut columns = BlockColumns::within(memory, view, &some);
            set_aside_and_bring_back(&mut columns, &k, &some);
            memory = columns.into_memory();
        }
    }

    #[test]
    fn combinations_are_of_the_rows_asked_for_few_or_many() {
        let k = matrix(16, 0.0);
        let mut columns = BlockColumns::new(k.view(), &(0..16).collect::<Vec<_>>());
        columns.restrict(&[3, 4]);
        let weights = [(2, 0.5), (7, -2.0), (15, 1.0)];
        for rows in [vec![5], vec![1, 4, 9, 15], (0..12).collect(), (0..16).collect()] {
            let mut out = vec![1.0; rows.len()];
            columns.combine(&weights, &rows, &mut out);
            let sum = |&r: &usize| 1.0 + weights.iter().map(|&(i, weight)| weight * k[[i, r]]).sum::<f64>();
            // Multiples of 1/128 far below 2^53 / 128: no sum of them rounds.
            assert_eq!(out, rows.iter().map(sum).collect::<Vec<_>>());
        }
    }
}
