//! Columns of a kernel matrix, for SMO.

use crate::linalg::prefer_large_pages;
use crate::simd::add_scaled;
use ndarray::ArrayView2;
use std::borrow::Cow;

/// A symmetric matrix that provides its columns; rows and columns can be removed temporarily (shrinking).
pub trait KernelColumns {
    /// Number of active rows.
    fn len(&self) -> usize;
    /// Whether there are no active rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The diagonal of the active rows.
    fn diagonal(&self) -> &[f64];
    /// Calls `f` with the diagonal and column `i`, both of the active rows; `i` is an index among the active rows.
    fn with_column<T>(&mut self, i: usize, f: impl FnOnce(&[f64], &[f64]) -> T) -> T;
    /// Keeps only the rows `keep` active, increasing indices among the active rows.
    fn shrink(&mut self, keep: &[usize]);
    /// Makes all rows active.
    fn unshrink(&mut self);
    /// `out[r] += sum of weight * K[row][rows[r]]` over all pairs `(row, weight)`. Rows are indices among all rows, active or
    /// not.
    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]);
    /// Number of columns between two checks for interruption; smaller if columns are expensive.
    fn check_interval(&self) -> usize {
        1000
    }
}

/// Complete columns are added if at least one in this many of their rows is needed, because contiguous access is faster.
const CONTIGUOUS_ACCESS_RATIO: usize = 4;

/// Selected rows and columns of an explicit matrix; copied unless all are selected.
pub struct BlockColumns<'a> {
    all: Square<'a>,
    /// The active rows and columns; `None` if all are active.
    active: Option<Square<'static>>,
    /// Memory for a copy of the active rows.
    spare: Vec<f64>,
}

/// Memory of a [`BlockColumns`] for reuse: writing to new memory costs more than computing what is written.
#[derive(Default)]
pub struct ColumnMemory {
    all: Vec<f64>,
    active: Vec<f64>,
}

/// A column-major matrix and its diagonal.
struct Square<'a> {
    n: usize,
    values: Cow<'a, [f64]>,
    diagonal: Vec<f64>,
}

impl<'a> Square<'a> {
    fn new(n: usize, values: Cow<'a, [f64]>) -> Self {
        let diagonal = (0..n).map(|i| values[i * n + i]).collect();
        Self { n, values, diagonal }
    }

    /// Selects rows and columns in place. Writes never overtake reads, because `keep` increases.
    fn shrunk(self, keep: &[usize]) -> Self {
        let (n, m) = (self.n, keep.len());
        let mut values = self.values.into_owned();
        let mut column = vec![0.0; m];
        for (i, &from) in keep.iter().enumerate() {
            let old = &values[from * n..(from + 1) * n];
            column.iter_mut().zip(keep).for_each(|(out, &j)| *out = old[j]);
            values[i * m..(i + 1) * m].copy_from_slice(&column);
        }
        values.truncate(m * m);
        Self::new(m, values.into())
    }

    fn column(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }
}

/// Copies selected rows and columns of a symmetric matrix, given its rows; reuses `memory` if it is large enough.
fn gather<'l>(mut memory: Vec<f64>, keep: &[usize], row: impl Fn(usize) -> &'l [f64]) -> Square<'static> {
    let size = keep.len() * keep.len();
    memory.clear();
    if memory.capacity() < size {
        drop(memory);
        memory = Vec::with_capacity(size);
        prefer_large_pages(&mut memory);
    }
    for &i in keep {
        let row = row(i);
        memory.extend(keep.iter().map(|&j| row[j]));
    }
    Square::new(keep.len(), memory.into())
}

impl<'a> BlockColumns<'a> {
    /// The rows and columns `rows` of the symmetric matrix `k`. Not copied if `rows` are all rows in order.
    pub fn new(k: ArrayView2<'a, f64>, rows: &[usize]) -> Self {
        Self::with_memory(ColumnMemory::default(), k, rows)
    }

    /// As [`BlockColumns::new`], reusing memory.
    pub fn with_memory(memory: ColumnMemory, k: ArrayView2<'a, f64>, rows: &[usize]) -> Self {
        let n = k.nrows();
        // A symmetric matrix equals its transpose.
        let k = if k.is_standard_layout() { k } else { k.reversed_axes() };
        let all = match k.to_slice() {
            Some(values) if rows.len() == n && rows.iter().enumerate().all(|(at, &i)| at == i) => {
                Square::new(n, values.into())
            }
            _ => {
                let k = k.as_standard_layout();
                let values = k.as_slice().expect("standard layout");
                gather(memory.all, rows, |i| &values[i * n..(i + 1) * n])
            }
        };
        Self { all, active: None, spare: memory.active }
    }

    /// Returns the memory for reuse.
    pub fn into_memory(mut self) -> ColumnMemory {
        self.unshrink();
        let all = match self.all.values {
            Cow::Owned(values) => values,
            Cow::Borrowed(_) => vec![],
        };
        ColumnMemory { all, active: self.spare }
    }

    /// Column `i` of all rows, active or not.
    pub fn column(&self, i: usize) -> &[f64] {
        self.all.column(i)
    }

    fn active(&self) -> &Square<'_> {
        match &self.active {
            Some(active) => active,
            None => &self.all,
        }
    }
}

impl KernelColumns for BlockColumns<'_> {
    fn len(&self) -> usize {
        self.active().n
    }

    fn diagonal(&self) -> &[f64] {
        &self.active().diagonal
    }

    fn with_column<T>(&mut self, i: usize, f: impl FnOnce(&[f64], &[f64]) -> T) -> T {
        let active = self.active();
        f(&active.diagonal, active.column(i))
    }

    fn shrink(&mut self, keep: &[usize]) {
        self.active = Some(match self.active.take() {
            Some(active) => active.shrunk(keep),
            None => gather(std::mem::take(&mut self.spare), keep, |i| self.all.column(i)),
        });
    }

    fn unshrink(&mut self) {
        if let Some(active) = self.active.take() {
            self.spare = active.values.into_owned();
        }
    }

    fn combine(&mut self, weights: &[(usize, f64)], rows: &[usize], out: &mut [f64]) {
        let all = &self.all;
        if rows.len() == all.n {
            weights.iter().for_each(|&(i, weight)| add_scaled(out, weight, all.column(i)));
        } else if CONTIGUOUS_ACCESS_RATIO * rows.len() >= all.n {
            let mut sums = vec![0.0; all.n];
            weights.iter().for_each(|&(i, weight)| add_scaled(&mut sums, weight, all.column(i)));
            out.iter_mut().zip(rows).for_each(|(out, &r)| *out += sums[r]);
        } else {
            for &(i, weight) in weights {
                let column = all.column(i);
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

    fn shrink_and_unshrink(columns: &mut BlockColumns, k: &Array2<f64>, rows: &[usize]) {
        assert_is(columns, k, rows);
        columns.shrink(&[0, 2, 3, 4]);
        assert_is(columns, k, &[rows[0], rows[2], rows[3], rows[4]]);
        columns.shrink(&[1, 3]);
        assert_is(columns, k, &[rows[2], rows[4]]);
        columns.unshrink();
        assert_is(columns, k, rows);
        columns.shrink(&[1, 2, 4]);
        assert_is(columns, k, &[rows[1], rows[2], rows[4]]);
    }

    #[test]
    fn shrinking_works_in_reused_memory() {
        let mut memory = ColumnMemory::default();
        // Sizes that grow and decrease.
        for (n, offset, by_columns) in [(9, 0.0, false), (12, 0.5, true), (7, 3.0, false), (8, 2.0, true)] {
            let k = matrix(n, offset);
            let view = if by_columns { k.t() } else { k.view() };
            let all: Vec<usize> = (0..n).collect();
            shrink_and_unshrink(&mut BlockColumns::new(view, &all), &k, &all);
            let some: Vec<usize> = all.iter().copied().filter(|i| i % 4 != 1).collect();
            let mut columns = BlockColumns::with_memory(memory, view, &some);
            shrink_and_unshrink(&mut columns, &k, &some);
            memory = columns.into_memory();
        }
    }

    #[test]
    fn combine_adds_few_or_many_rows() {
        let k = matrix(16, 0.0);
        let mut columns = BlockColumns::new(k.view(), &(0..16).collect::<Vec<_>>());
        columns.shrink(&[3, 4]);
        let weights = [(2, 0.5), (7, -2.0), (15, 1.0)];
        for rows in [vec![5], vec![1, 4, 9, 15], (0..12).collect(), (0..16).collect()] {
            let mut out = vec![1.0; rows.len()];
            columns.combine(&weights, &rows, &mut out);
            let sum = |&r: &usize| 1.0 + weights.iter().map(|&(i, weight)| weight * k[[i, r]]).sum::<f64>();
            // Multiples of 1/128 far below 2^53 / 128: their sums are exact.
            assert_eq!(out, rows.iter().map(sum).collect::<Vec<_>>());
        }
    }
}
