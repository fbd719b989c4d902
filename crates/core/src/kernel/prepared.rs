//! Rows as a term of a kernel reads them: some columns, transformed by a metric, with squared norms.

use super::formula::{Kernel, metric_factor};
use super::terms::{Form, SimpleKernel};
use crate::data::Rows;
use crate::error::Result;
use crate::linalg::multiply;
use ndarray::{Array1, Array2, Axis, s};
use rayon::prelude::*;
use std::borrow::Cow;

/// Up to this many columns distances are summed directly; beyond, a matrix product is faster.
pub(super) const MAX_DIRECT_COLUMNS: usize = 24;
/// Rows are shifted to their mean if its square exceeds this fraction of the mean squared norm.
const SHIFT_RATIO: f64 = 0.01;
/// Rows whose norms one task computes, at least.
const NORMS_PER_TASK: usize = 256;

/// The rows of a term.
pub(super) struct PreparedRows<'a> {
    pub rows: Cow<'a, Rows>,
    /// Squared norms of the shifted rows if distances come from products; otherwise empty.
    pub norms: Cow<'a, [f64]>,
}

impl PreparedRows<'_> {
    pub fn borrow(&self) -> PreparedRows<'_> {
        PreparedRows { rows: Cow::Borrowed(&self.rows), norms: Cow::Borrowed(&self.norms) }
    }

    pub fn take(&self, which: &[usize]) -> PreparedRows<'static> {
        let norms =
            if self.norms.is_empty() { vec![] } else { which.iter().map(|&i| self.norms[i]).collect() };
        PreparedRows { rows: Cow::Owned(self.rows.take_rows(which)), norms: norms.into() }
    }
}

/// The rows that a term is a function of.
pub(super) fn rows_of_term<'a>(term: &SimpleKernel, x: &'a Rows) -> Result<Cow<'a, Rows>> {
    let x = match &term.columns {
        None => Cow::Borrowed(x),
        Some(columns) => Cow::Owned(x.take_columns(&columns.clone().collect::<Vec<_>>()).into_dense().into()),
    };
    Ok(match term.kernel {
        Kernel::Mahalanobis { metric } => Cow::Owned(transformed(&x, &metric_factor(metric)?)),
        _ => x,
    })
}

/// Rows times a matrix.
fn transformed(x: &Rows, factor: &Array2<f64>) -> Rows {
    match x {
        Rows::Dense(x) => multiply(x.view(), factor.view()).into(),
        Rows::Sparse(x) => {
            let mut out = Array2::zeros((x.n_rows(), factor.ncols()));
            for (i, f, v) in x.cells() {
                out.row_mut(i).scaled_add(v, &factor.row(f));
            }
            out.into()
        }
    }
}

/// Whether distances come from products, which need squared norms.
pub(super) fn needs_norms(form: Form, x: &Rows, z: &Rows) -> bool {
    matches!(form, Form::SquaredDistance { .. })
        && (x.d() > MAX_DIRECT_COLUMNS || x.is_sparse() || z.is_sparse())
}

/// The mean of dense rows, or of a sample of them, if they lie far from zero.
pub(super) fn shift_of(rows: &Rows) -> Option<Array1<f64>> {
    const MAX_ROWS: usize = 1024;
    let Rows::Dense(rows) = rows else { return None };
    let rows = rows.slice(s![..;rows.nrows().div_ceil(MAX_ROWS).max(1), ..]);
    let mean = rows.mean_axis(Axis(0))?;
    let square = rows.iter().map(|v| v * v).sum::<f64>() / rows.nrows() as f64;
    (mean.dot(&mean) > SHIFT_RATIO * square).then_some(mean)
}

/// Squared norms of rows minus the shift. Sparse rows are not shifted.
pub(super) fn squared_norms(x: &Rows, shift: Option<&Array1<f64>>) -> Vec<f64> {
    let norm = |i: usize| match (x, shift) {
        (Rows::Dense(x), Some(shift)) => x.row(i).iter().zip(shift).map(|(v, s)| (v - s) * (v - s)).sum(),
        (Rows::Dense(x), None) => x.row(i).iter().map(|v| v * v).sum(),
        (Rows::Sparse(x), _) => x.row(i).1.iter().map(|v| v * v).sum(),
    };
    (0..x.n()).into_par_iter().with_min_len(NORMS_PER_TASK).map(norm).collect()
}
