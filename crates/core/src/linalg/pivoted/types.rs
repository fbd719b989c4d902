//! The matrix to factor, stopping rules and the factor.

use crate::outcome::Stop;
use ndarray::{Array2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// A symmetric matrix that provides its diagonal and selected columns.
pub trait Columns: Sync {
    /// The diagonal.
    fn diagonal(&self) -> Vec<f64>;
    /// A function that writes blocks of rows of the columns `which`.
    fn columns(&self, which: &[usize]) -> Writer<'_>;
    /// The submatrix of the rows and columns `which`.
    fn block(&self, which: &[usize]) -> Array2<f64>;
    /// Temporary memory of [`Columns::block`] for this many rows, in bytes.
    fn block_bytes(&self, rows: usize) -> f64;
}

/// Writes columns of a matrix, starting at the given row, to fill an array.
pub type Writer<'a> = Box<dyn Fn(usize, ArrayViewMut2<f64>) + Sync + 'a>;

/// Pivoting strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pivoting {
    /// The largest residual; ties are broken by row order.
    Greedy,
    /// With probability proportional to the squared residual (randomly pivoted Cholesky).
    Random,
    /// The row that most reduces the trace of the residual, estimated on a random sample of rows.
    Gain,
    /// Row order, skipping rows that depend linearly on earlier ones.
    InOrder,
}

/// Pivoting strategy and stopping criteria.
pub struct Rule<'a> {
    /// Pivoting strategy.
    pub pivoting: Pivoting,
    /// A row that must be the first pivot.
    pub first: Option<usize>,
    /// Maximum rank.
    pub max_rank: usize,
    /// Residual norms of at most this fraction of the largest initial one count as zero.
    pub zero: f64,
    /// Stop when the trace of the residual is at most this fraction of the initial trace.
    pub tolerance: f64,
    /// Stop when the largest residual norm, relative to the initial one, falls below this function of the rank.
    pub threshold: &'a dyn Fn(usize) -> f64,
}

/// An incomplete Cholesky factor.
#[derive(Debug, Clone)]
pub struct Factor {
    /// Pivots in order.
    pub pivots: Vec<usize>,
    /// $L$, column-major.
    pub l: Array2<f64>,
    /// $r_{kk}$: the residual norm of each pivot when it was chosen.
    pub norms: Vec<f64>,
    /// $\delta$: squared residual norms of all rows after the last step.
    pub residual: Vec<f64>,
    /// The largest residual norm before the first step, $r_{11}$ under greedy pivoting.
    pub largest: f64,
    /// The trace of the matrix.
    pub trace: f64,
    /// Why the factorization ended.
    pub stop: Stop,
}

impl Factor {
    /// The largest remaining residual norm, $r_{m+1,m+1}$ under greedy pivoting.
    pub fn next_norm(&self) -> f64 {
        self.residual.iter().copied().fold(0.0, f64::max).sqrt()
    }

    /// The rows of $L$ of the pivots: a lower triangular matrix.
    pub fn pivot_block(&self) -> Array2<f64> {
        let l = self.l.t();
        rows_of(l.as_slice().expect("column-major"), self.residual.len(), &self.pivots)
    }
}
/// An explicit matrix.
impl Columns for Array2<f64> {
    fn diagonal(&self) -> Vec<f64> {
        self.diag().to_vec()
    }

    fn columns(&self, which: &[usize]) -> Writer<'_> {
        let which = which.to_vec();
        Box::new(move |row, mut out| {
            let rows = s![row..row + out.nrows(), ..];
            out.assign(&self.slice(rows).select(Axis(1), &which));
        })
    }

    fn block(&self, which: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((which.len(), which.len()), |(i, j)| self[[which[i], which[j]]])
    }

    fn block_bytes(&self, _rows: usize) -> f64 {
        0.0
    }
}
/// Selected rows of a factor with `n` rows, both column-major.
pub(super) fn rows_of(l: &[f64], n: usize, which: &[usize]) -> Array2<f64> {
    let rank = l.len().checked_div(n).unwrap_or(0);
    let mut values = vec![0.0; which.len() * rank];
    if !values.is_empty() {
        let columns = values.par_chunks_exact_mut(which.len()).zip(l.par_chunks_exact(n));
        columns.with_min_len(16).for_each(|(to, column)| {
            to.iter_mut().zip(which).for_each(|(to, &row)| *to = column[row]);
        });
    }
    Array2::from_shape_vec((which.len(), rank).f(), values).expect("a value for every row and pivot")
}
