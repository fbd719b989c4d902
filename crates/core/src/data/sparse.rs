//! Sparse matrices in compressed row storage.

use crate::error::{Error, Result};
use ndarray::Array1;
#[cfg(test)]
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A matrix in compressed sparse row (CSR) format: row `i` has the cells `start[i]..start[i + 1]` of `column` and
/// `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SparseRows {
    n_columns: usize,
    start: Vec<usize>,
    column: Vec<u32>,
    value: Vec<f64>,
}

/// The arrays before the checks of [`SparseRows::new`].
#[derive(Deserialize)]
struct Unchecked {
    n_columns: usize,
    start: Vec<usize>,
    column: Vec<u32>,
    value: Vec<f64>,
}

impl TryFrom<Unchecked> for SparseRows {
    type Error = Error;

    fn try_from(raw: Unchecked) -> Result<Self> {
        Self::new(raw.n_columns, raw.start, raw.column, raw.value)
    }
}

#[cfg(test)]
impl SparseRows {
    /// The nonzero cells of a dense matrix.
    pub(crate) fn of(x: &Array2<f64>) -> Self {
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for row in x.rows() {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(j as u32);
                value.push(v);
            }
            start.push(column.len());
        }
        Self::new(x.ncols(), start, column, value).expect("columns are sorted")
    }
}

impl SparseRows {
    /// Checks the three arrays. Columns must be strictly increasing within a row.
    pub fn new(n_columns: usize, start: Vec<usize>, column: Vec<u32>, value: Vec<f64>) -> Result<Self> {
        let valid = start.first() == Some(&0)
            && start.last() == Some(&column.len())
            && start.windows(2).all(|w| w[0] <= w[1])
            && column.len() == value.len()
            && n_columns <= u32::MAX as usize
            && start.windows(2).all(|w| column[w[0]..w[1]].windows(2).all(|c| c[0] < c[1]))
            && column.iter().all(|&c| (c as usize) < n_columns);
        if !valid {
            return Err(Error::parse(
                "invalid sparse rows: row starts must increase from 0 to the number of cells, and columns must \
                 increase strictly within each row and be less than the number of columns",
            ));
        }
        Ok(Self { n_columns, start, column, value })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of stored cells.
    pub fn n_stored(&self) -> usize {
        self.value.len()
    }

    /// Columns and values of one row.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let cells = self.start[i]..self.start[i + 1];
        (&self.column[cells.clone()], &self.value[cells])
    }

    /// One cell.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
    }

    /// The stored cells as (row, column, value).
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.n_rows()).flat_map(move |i| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).map(move |(&j, &v)| (i, j as usize, v))
        })
    }

    /// The rows and values of the stored cells of each column.
    pub(crate) fn columns(&self) -> Vec<Vec<(u32, f64)>> {
        let mut columns = vec![vec![]; self.n_columns];
        self.cells().for_each(|(i, j, v)| columns[j].push((i as u32, v)));
        columns
    }

    /// Memory of [`SparseRows::columns`] in bytes, including the excess capacity of growing vectors.
    pub(crate) fn columns_bytes(&self) -> f64 {
        24.0 * self.n_stored() as f64
    }

    /// Sums `term` over the columns stored in row `i` or in row `j` of `other`.
    pub(crate) fn sum_over_cells(
        &self,
        i: usize,
        other: &Self,
        j: usize,
        term: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let (a, b) = (self.row(i), other.row(j));
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        // No column is u32::MAX, so it marks the end of a row.
        let column = |row: &[u32], at: usize| row.get(at).copied().unwrap_or(u32::MAX);
        while i < a.0.len() || j < b.0.len() {
            let (p, q) = (column(a.0, i), column(b.0, j));
            let left = if p <= q { a.1[i] } else { 0.0 };
            let right = if q <= p { b.1[j] } else { 0.0 };
            sum += term(left, right);
            i += usize::from(p <= q);
            j += usize::from(q <= p);
        }
        sum
    }

    /// Divides each column by its scale.
    pub(crate) fn scaled(&self, scale: &Array1<f64>) -> Self {
        let value = self.column.iter().zip(&self.value).map(|(&j, v)| v / scale[j as usize]).collect();
        Self { value, ..self.clone() }
    }

    /// Replaces each missing value (NaN) by the fill value of its column.
    pub(crate) fn imputed(&self, fill: &Array1<f64>) -> Self {
        let fill = |(&j, &v): (&u32, &f64)| if v.is_nan() { fill[j as usize] } else { v };
        Self { value: self.column.iter().zip(&self.value).map(fill).collect(), ..self.clone() }
    }

    /// Moves column `j` to `moves[j]`, or drops it; the result has `n_columns` columns.
    pub(crate) fn rearranged(&self, n_columns: usize, moves: &[Option<u32>]) -> Self {
        let mut out = Self { n_columns, start: vec![0], column: vec![], value: vec![] };
        let mut cells: Vec<(u32, f64)> = vec![];
        for i in 0..self.n_rows() {
            let (columns, values) = self.row(i);
            cells.clear();
            cells.extend(columns.iter().zip(values).filter_map(|(&j, &v)| Some((moves[j as usize]?, v))));
            cells.sort_unstable_by_key(|(j, _)| *j);
            out.column.extend(cells.iter().map(|(j, _)| *j));
            out.value.extend(cells.iter().map(|(_, v)| *v));
            out.start.push(out.column.len());
        }
        out
    }

    pub(super) fn take_columns(&self, keep: &[usize]) -> Self {
        let mut moves = vec![None; self.n_columns];
        keep.iter().zip(0..).for_each(|(&from, to)| moves[from] = Some(to));
        self.rearranged(keep.len(), &moves)
    }

    pub(super) fn take_rows(&self, keep: &[usize]) -> Self {
        let mut out = Self { n_columns: self.n_columns, start: vec![0], column: vec![], value: vec![] };
        for &i in keep {
            let (columns, values) = self.row(i);
            out.column.extend_from_slice(columns);
            out.value.extend_from_slice(values);
            out.start.push(out.column.len());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_arrays_are_rejected() {
        assert!(SparseRows::new(3, vec![0, 2], vec![1, 1], vec![1.0, 2.0]).is_err());
        assert!(SparseRows::new(3, vec![0, 1], vec![3], vec![1.0]).is_err());
        assert!(SparseRows::new(3, vec![0, 2], vec![0], vec![1.0]).is_err());
        assert!(SparseRows::new(3, vec![], vec![], vec![]).is_err());
    }
}
