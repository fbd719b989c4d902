//! Kernel values for training, from a complete Gram matrix or from cached columns.

use crate::context::Context;
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, diagonal, gram, gram_symmetric};
use ndarray::{Array2, CowArray, Ix2};

pub(super) const NAME: &str = "SVM";

/// One fit stores its complete Gram matrix up to this many rows (128 MiB).
const MAX_FULL_ROWS: usize = 4096;

/// Maximum size of the column cache in bytes.
const MAX_CACHE_BYTES: u64 = 1 << 30;

/// Checks that kernel values are finite and that a sum of four does not overflow.
pub(crate) fn need_finite(step: &'static str, mut values: impl Iterator<Item = f64>) -> Result<()> {
    if values.all(|v| v.abs() <= f64::MAX / 4.0) {
        return Ok(());
    }
    Err(Error::Breakdown { step, why: "kernel values overflow; scale the features".into() })
}

/// The source of kernel values.
pub(super) enum KernelSource<'a> {
    /// The complete Gram matrix.
    Full(CowArray<'a, f64, Ix2>),
    /// Columns computed on demand and cached.
    Columns {
        /// The kernel.
        kernel: &'a Kernel,
        /// All rows.
        x: &'a Rows,
        /// Size of the cache in bytes.
        bytes: usize,
    },
}

impl<'a> KernelSource<'a> {
    pub(super) fn for_one_fit(kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<Self> {
        // The matrix, the part of a pair of classes, and that part after shrinking.
        if x.n() <= MAX_FULL_ROWS && Self::fits(x.n(), 3.0, ctx) {
            return Self::full(kernel, x);
        }
        Self::columns(kernel, x, ctx)
    }

    pub(super) fn full(kernel: &Kernel, x: &Rows) -> Result<Self> {
        // The diagonal bounds all kernel values.
        need_finite(NAME, diagonal(kernel, x)?.into_iter())?;
        Ok(Self::Full(gram_symmetric(kernel, x)?.into()))
    }

    /// Whether this many Gram matrices fit in half of the memory.
    pub(super) fn fits(n: usize, matrices: f64, ctx: &Context) -> bool {
        matrices * square_bytes(n) <= 0.5 * ctx.room() as f64
    }

    pub(super) fn columns(kernel: &'a Kernel, x: &'a Rows, ctx: &Context) -> Result<Self> {
        let bytes = (ctx.room() / 2).min(MAX_CACHE_BYTES);
        ctx.need_memory(
            format!("an SVM of {} rows", x.n()),
            // Two columns and about a dozen vectors of the solver.
            16.0 * 8.0 * x.n() as f64,
            "use fewer rows",
        )?;
        need_finite(NAME, diagonal(kernel, x)?.into_iter())?;
        Ok(Self::Columns { kernel, x, bytes: bytes as usize })
    }

    /// The kernel values of `rows` with `others`.
    pub(super) fn block(&self, rows: &[usize], others: &[usize]) -> Result<Array2<f64>> {
        match self {
            Self::Full(k) => {
                let mut out = Array2::zeros((rows.len(), others.len()));
                for (&i, mut out) in rows.iter().zip(out.rows_mut()) {
                    // The matrix is symmetric: use the contiguous one of row and column.
                    let line = if k.strides()[1] == 1 { k.row(i) } else { k.column(i) };
                    out.iter_mut().zip(others).for_each(|(out, &j)| *out = line[j]);
                }
                Ok(out)
            }
            Self::Columns { kernel, x, .. } => gram(kernel, &x.take_rows(rows), &x.take_rows(others)),
        }
    }
}

fn square_bytes(n: usize) -> f64 {
    8.0 * (n as f64) * (n as f64)
}
