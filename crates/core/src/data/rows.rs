//! The rows of a table as numbers: one type, dense or sparse.

use crate::error::{Error, Result};
use ndarray::{Array1, Array2, ArrayView1, Zip};
use serde::{Deserialize, Serialize};

/// The numbers of a data set, a row per sample and a column per feature.
///
/// Dense numbers are an [`ndarray::Array2`]; sparse ones keep only what is not zero. Methods that
/// can use sparse rows do; the others call [`Rows::to_dense`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Rows {
    /// Every cell is stored.
    Dense(Array2<f64>),
    /// Only cells that are not zero are stored.
    Sparse(SparseRows),
}

/// Compressed sparse rows: cells of row `i` are `start[i]..start[i + 1]` of `column` and `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct SparseRows {
    n_columns: usize,
    start: Vec<usize>,
    column: Vec<u32>,
    value: Vec<f64>,
}

/// What a file may claim; [`SparseRows::new`] decides whether to believe it.
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
    /// The cells that are not zero.
    pub(crate) fn of(x: &Array2<f64>) -> Self {
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for row in x.rows() {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(j as u32);
                value.push(v);
            }
            start.push(column.len());
        }
        Self::new(x.ncols(), start, column, value).expect("cells in order")
    }
}

impl SparseRows {
    /// Checks and takes the three arrays. Columns must rise strictly within a row.
    pub fn new(n_columns: usize, start: Vec<usize>, column: Vec<u32>, value: Vec<f64>) -> Result<Self> {
        let sound = start.first() == Some(&0)
            && start.last() == Some(&column.len())
            && start.windows(2).all(|w| w[0] <= w[1])
            && column.len() == value.len()
            && n_columns <= u32::MAX as usize
            && start.windows(2).all(|w| column[w[0]..w[1]].windows(2).all(|c| c[0] < c[1]))
            && column.iter().all(|&c| (c as usize) < n_columns);
        if !sound {
            return Err(Error::parse(
                "sparse rows are inconsistent: row starts must rise from 0 to the number of cells, \
                 and columns must rise strictly within each row and stay below the number of columns",
            ));
        }
        Ok(Self { n_columns, start, column, value })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.start.len() - 1
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

    /// All cells as (row, column, value).
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.n_rows()).flat_map(move |i| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).map(move |(&j, &v)| (i, j as usize, v))
        })
    }

    /// The rows and values of what each column stores.
    pub(crate) fn columns(&self) -> Vec<Vec<(u32, f64)>> {
        let mut columns = vec![vec![]; self.n_columns];
        self.cells().for_each(|(i, j, v)| columns[j].push((i as u32, v)));
        columns
    }

    /// Bytes that [`SparseRows::columns`] takes: lists grow by halves and more.
    pub(crate) fn columns_bytes(&self) -> f64 {
        24.0 * self.n_stored() as f64
    }

    /// Adds up `term` of the cells of row `i` and row `j` of `other`, over the columns that either of them
    /// stores.
    pub(crate) fn sum_over_cells(
        &self,
        i: usize,
        other: &Self,
        j: usize,
        term: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let (a, b) = (self.row(i), other.row(j));
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        // No row has the column u32::MAX, so it stands for the end.
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

    /// Every column divided by a number.
    pub(crate) fn scaled(&self, scale: &Array1<f64>) -> Self {
        let value = self.column.iter().zip(&self.value).map(|(&j, v)| v / scale[j as usize]).collect();
        Self { value, ..self.clone() }
    }

    /// Every gap (NaN) filled with its column's number.
    pub(crate) fn filled(&self, fill: &Array1<f64>) -> Self {
        let fill = |(&j, &v): (&u32, &f64)| if v.is_nan() { fill[j as usize] } else { v };
        Self { value: self.column.iter().zip(&self.value).map(fill).collect(), ..self.clone() }
    }

    /// Column `j` goes to `moves[j]`, or is left out; the result has `n_columns` columns.
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

    fn filter_columns(&self, keep: &[usize]) -> Self {
        let mut moves = vec![None; self.n_columns];
        keep.iter().zip(0..).for_each(|(&from, to)| moves[from] = Some(to));
        self.rearranged(keep.len(), &moves)
    }

    fn filter_rows(&self, keep: &[usize]) -> Self {
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

impl From<Array2<f64>> for Rows {
    fn from(x: Array2<f64>) -> Self {
        Self::Dense(x)
    }
}

impl From<SparseRows> for Rows {
    fn from(x: SparseRows) -> Self {
        Self::Sparse(x)
    }
}

impl Rows {
    /// Number of rows (samples).
    pub fn n(&self) -> usize {
        match self {
            Self::Dense(x) => x.nrows(),
            Self::Sparse(x) => x.n_rows(),
        }
    }

    /// Number of columns (features).
    pub fn d(&self) -> usize {
        match self {
            Self::Dense(x) => x.ncols(),
            Self::Sparse(x) => x.n_columns,
        }
    }

    /// One cell.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Dense(x) => x[[i, j]],
            Self::Sparse(x) => x.get(i, j),
        }
    }

    /// Bytes that a copy of some rows takes, about.
    pub fn bytes_of(&self, rows: usize) -> f64 {
        self.bytes() * rows as f64 / self.n().max(1) as f64
    }

    /// Bytes that a copy takes.
    pub fn bytes(&self) -> f64 {
        match self {
            Self::Dense(x) => 8.0 * x.len() as f64,
            Self::Sparse(x) => 12.0 * x.n_stored() as f64 + 8.0 * self.n() as f64,
        }
    }

    /// Whether zeros are left out.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// All cells, zeros too.
    pub fn to_dense(&self) -> Array2<f64> {
        match self {
            Self::Dense(x) => x.clone(),
            Self::Sparse(x) => {
                let mut out = Array2::zeros((x.n_rows(), x.n_columns));
                for (i, j, v) in x.cells() {
                    out[[i, j]] = v;
                }
                out
            }
        }
    }

    /// All cells, zeros too; what is dense already is not copied.
    pub fn into_dense(self) -> Array2<f64> {
        match self {
            Self::Dense(x) => x,
            Self::Sparse(_) => self.to_dense(),
        }
    }

    /// These rows, in this order; a row may be named more than once.
    pub fn take_rows(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.select(ndarray::Axis(0), keep)),
            Self::Sparse(x) => Self::Sparse(x.filter_rows(keep)),
        }
    }

    /// These columns, in this order, each named once.
    pub fn take_columns(&self, keep: &[usize]) -> Self {
        match self {
            Self::Dense(x) => Self::Dense(x.select(ndarray::Axis(1), keep)),
            Self::Sparse(x) => Self::Sparse(x.filter_columns(keep)),
        }
    }

    /// Adds up `size` of the differences between row `i` and row `j` of `other`, column by column. Between
    /// sparse rows, columns that neither stores add nothing, and there may be a million of them.
    pub fn sum_over_differences(&self, i: usize, other: &Self, j: usize, size: impl Fn(f64) -> f64) -> f64 {
        match (self, other) {
            (Self::Dense(a), Self::Dense(b)) => a.row(i).iter().zip(b.row(j)).map(|(a, b)| size(a - b)).sum(),
            (Self::Sparse(a), Self::Sparse(b)) => a.sum_over_cells(i, b, j, |a, b| size(a - b)),
            (Self::Dense(a), Self::Sparse(b)) => sum_over_mixed(a.row(i), b.row(j), size),
            (Self::Sparse(a), Self::Dense(b)) => sum_over_mixed(b.row(j), a.row(i), |e| size(-e)),
        }
    }

    /// The cells of one column.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match self {
            Self::Dense(x) => x.column(j).to_vec(),
            Self::Sparse(x) => (0..x.n_rows()).map(|i| x.get(i, j)).collect(),
        }
    }

    /// Mean and standard deviation (with the divisor n) of every column, in two passes. Gaps (NaN) are left
    /// out, and n is then the number of known cells; a column without any has mean and deviation 0.
    pub fn moments(&self) -> (Array1<f64>, Array1<f64>) {
        let d = self.d();
        let known = self.known().mapv(|n| n.max(1) as f64);
        // Squares of very large or small numbers would overflow or vanish: count in units of a
        // power of two near the largest, which rounds nothing.
        let unit = self
            .largest()
            .mapv(|v| if v > 0.0 { 2.0_f64.powi((v.log2().floor() as i32).clamp(-1022, 1023)) } else { 1.0 });
        let mut mean = Array1::<f64>::zeros(d);
        let mut spread = Array1::<f64>::zeros(d);
        match self {
            Self::Dense(x) => {
                let or_nothing = |v: f64| if v.is_nan() { 0.0 } else { v };
                // One over a power of two is one, so that products are the quotients.
                let shrink = unit.mapv(f64::recip);
                for row in x.rows() {
                    Zip::from(&mut mean).and(row).and(&shrink).for_each(|m, v, s| *m += or_nothing(v * s));
                }
                mean /= &known;
                for row in x.rows() {
                    Zip::from(&mut spread)
                        .and(row)
                        .and(&shrink)
                        .and(&mean)
                        .for_each(|sum, v, s, m| *sum += or_nothing((v * s - m).powi(2)));
                }
            }
            Self::Sparse(x) => {
                let mut stored = vec![0usize; d];
                let cells = || x.cells().filter(|(_, _, v)| !v.is_nan());
                for (_, j, v) in cells() {
                    mean[j] += v / unit[j];
                    stored[j] += 1;
                }
                mean /= &known;
                for (_, j, v) in cells() {
                    spread[j] += (v / unit[j] - mean[j]).powi(2);
                }
                // A column that is nothing but gaps has neither stored nor unstored numbers.
                (0..d).for_each(|j| spread[j] += (known[j] - stored[j] as f64) * mean[j] * mean[j]);
            }
        }
        // Of the largest numbers there are, the spread may come out a rounding larger.
        (mean * &unit, ((spread / known).mapv(f64::sqrt) * unit).mapv(|s| s.min(f64::MAX)))
    }

    /// How many cells of each column are known, that is, no gaps.
    pub fn known(&self) -> Array1<usize> {
        let mut known = Array1::from_elem(self.d(), self.n());
        match self {
            Self::Dense(x) => x
                .rows()
                .into_iter()
                .for_each(|row| known.zip_mut_with(&row, |k, v| *k -= usize::from(v.is_nan()))),
            Self::Sparse(x) => x.cells().filter(|(_, _, v)| v.is_nan()).for_each(|(_, j, _)| known[j] -= 1),
        }
        known
    }

    /// The largest size of a number in each column.
    fn largest(&self) -> Array1<f64> {
        let mut largest = Array1::<f64>::zeros(self.d());
        match self {
            Self::Dense(x) => {
                x.rows().into_iter().for_each(|row| largest.zip_mut_with(&row, |a, v| *a = a.max(v.abs())))
            }
            Self::Sparse(x) => x.cells().for_each(|(_, j, v)| largest[j] = largest[j].max(v.abs())),
        }
        largest
    }

    /// Position and value of the first cell that is NaN or infinite.
    pub fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        self.first(|v| !v.is_finite())
    }

    /// Position of the first gap (NaN).
    pub fn first_missing(&self) -> Option<(usize, usize)> {
        self.first(f64::is_nan).map(|(i, j, _)| (i, j))
    }

    /// Position and value of the first cell that is so.
    pub(crate) fn first(&self, is_so: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        match self {
            // Most often all is well, which is soonest seen in the order of memory.
            Self::Dense(x) if x.as_slice_memory_order().is_some_and(|s| !s.iter().any(|&v| is_so(v))) => None,
            Self::Dense(x) => x.indexed_iter().find(|(_, v)| is_so(**v)).map(|((i, j), v)| (i, j, *v)),
            Self::Sparse(x) => x.cells().find(|(_, _, v)| is_so(*v)),
        }
    }

    /// Refuses gaps on behalf of a method that needs every cell; `name` names columns.
    pub(crate) fn need_complete(&self, method: &str, name: impl Fn(usize) -> String) -> Result<()> {
        match self.first_missing() {
            None => Ok(()),
            Some((i, j)) => {
                Err(Error::MissingUnsupported { method: method.into(), row: i + 1, column: name(j) })
            }
        }
    }
}

/// A dense row less a sparse one.
fn sum_over_mixed(dense: ArrayView1<f64>, sparse: (&[u32], &[f64]), size: impl Fn(f64) -> f64) -> f64 {
    let mut stored = sparse.0.iter().zip(sparse.1).peekable();
    let mut sum = 0.0;
    for (column, value) in dense.iter().enumerate() {
        let other = stored.next_if(|(c, _)| **c as usize == column).map_or(0.0, |(_, v)| *v);
        sum += size(value - other);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn example() -> (Rows, Rows) {
        let dense = array![[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]];
        let sparse = SparseRows::new(3, vec![0, 1, 3, 3], vec![1, 0, 2], vec![2.0, 1.0, 3.0]).unwrap();
        (dense.into(), sparse.into())
    }

    #[test]
    fn sparse_and_dense_say_the_same() {
        let (dense, sparse) = example();
        assert_eq!(sparse.to_dense(), dense.to_dense());
        let (a, b) = (dense.moments(), sparse.moments());
        assert!((&a.0 - &b.0).iter().chain((&a.1 - &b.1).iter()).all(|e| e.abs() < 1e-15));
        assert_eq!(sparse.take_rows(&[1, 1, 0]).to_dense(), dense.take_rows(&[1, 1, 0]).to_dense());
        assert_eq!(sparse.take_columns(&[2, 0]).to_dense(), dense.take_columns(&[2, 0]).to_dense());
        assert_eq!(sparse.column(2), dense.column(2));
        for (a, b) in [(&dense, &dense), (&dense, &sparse), (&sparse, &dense), (&sparse, &sparse)] {
            // (0, 2, 0) less (1, 0, 3): cubes tell the sign.
            assert_eq!(a.sum_over_differences(0, b, 1, |e| e * e * e), -1.0 + 8.0 - 27.0);
        }
    }

    #[test]
    fn moments_survive_the_ends_of_the_number_range() {
        let tiny: Rows = array![[1e-310], [3e-310]].into();
        assert!((tiny.moments().1[0] / 1e-310 - 1.0).abs() < 1e-10, "subnormal numbers have fewer digits");
        let rows: Rows = array![[1e300, 1e-300, 2.0], [3e300, 3e-300, 6.0]].into();
        let (mean, spread) = rows.moments();
        // Decimal constants and a handful of operations: a few ulps.
        for (got, expected) in mean.iter().chain(&spread).zip([2e300, 2e-300, 4.0, 1e300, 1e-300, 2.0]) {
            assert!((got / expected - 1.0).abs() < 1e-15, "{got} {expected}");
        }
    }

    #[test]
    fn moments_are_those_of_the_known_cells() {
        let gap = f64::NAN;
        let dense: Rows = array![[1.0, 0.0, gap], [gap, gap, gap], [5.0, 4.0, gap], [0.0, 2.0, gap]].into();
        let sparse: Rows = SparseRows::new(
            3,
            vec![0, 2, 5, 8, 10],
            vec![0, 2, 0, 1, 2, 0, 1, 2, 1, 2],
            vec![1.0, gap, gap, gap, gap, 5.0, 4.0, gap, 2.0, gap],
        )
        .unwrap()
        .into();
        for rows in [&dense, &sparse] {
            let (mean, spread) = rows.moments();
            // 1, 5, 0: mean 2, squares 1 + 9 + 4 over 3; 0, 4, 2: mean 2, squares 8 over 3; nothing.
            assert_eq!(mean, array![2.0, 2.0, 0.0]);
            assert!((spread[0] - (14.0_f64 / 3.0).sqrt()).abs() < 1e-15, "{spread}");
            assert!((spread[1] - (8.0_f64 / 3.0).sqrt()).abs() < 1e-15 && spread[2] == 0.0, "{spread}");
            assert_eq!(rows.known().to_vec(), [3, 3, 0]);
            assert_eq!(rows.first_missing(), Some((0, 2)));
        }
    }

    #[test]
    fn unsound_arrays_are_refused() {
        assert!(SparseRows::new(3, vec![0, 2], vec![1, 1], vec![1.0, 2.0]).is_err());
        assert!(SparseRows::new(3, vec![0, 1], vec![3], vec![1.0]).is_err());
        assert!(SparseRows::new(3, vec![0, 2], vec![0], vec![1.0]).is_err());
        assert!(SparseRows::new(3, vec![], vec![], vec![]).is_err());
    }

    #[test]
    fn the_first_bad_cell_is_found() {
        let rows: Rows = array![[0.0, 1.0], [f64::NAN, 2.0]].into();
        let (i, j, v) = rows.first_not_finite().unwrap();
        assert!((i, j) == (1, 0) && v.is_nan());
        assert_eq!(example().1.first_not_finite(), None);
    }
}
