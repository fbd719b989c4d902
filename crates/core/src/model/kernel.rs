//! Models that hold a learned kernel: Gram matrices of new rows.
//!
//! A kernel that was learned with noise is positive semidefinite with it, on the rows it was learned from. To
//! compare rows the noise says nothing, as it is 0 for any two rows that differ, so it is left out unless
//! asked for; a machine that needs a semidefinite matrix asks for it.

use super::{Content, Model};
use crate::context::Context;
use crate::data::{Rows, Table};
use crate::error::{Error, Result};
use crate::kernel::{gram, gram_symmetric};
use crate::learn::Learned;
use ndarray::Array2;

impl Model {
    /// The learned kernel, for models that hold one.
    pub fn kernel(&self) -> Result<&Learned> {
        match &self.content {
            Content::Kernel(learned) => Ok(learned),
            _ => Err(Error::Model {
                why: format!("a model made by {} holds no learned kernel", self.method()),
            }),
        }
    }

    /// How alike rows of `x` and rows of `z` are, or rows of `x` among themselves, for models that hold a
    /// kernel. Columns are those of `names`; the noise part of the kernel is added only if asked for.
    pub fn gram(&self, x: &Rows, z: Option<&Rows>, with_noise: bool, ctx: &Context) -> Result<Array2<f64>> {
        let learned = self.kernel()?;
        self.check_width(x)?;
        let columns = z.map_or(x.n(), Rows::n);
        ctx.need_memory(
            format!("the Gram matrix of {} x {columns} rows", x.n()),
            8.0 * x.n() as f64 * columns as f64,
            "apply it to fewer rows at a time",
        )?;
        let kernel = if with_noise { learned.with_noise() } else { learned.kernel.clone() };
        let x = self.scaled(x)?;
        match z {
            None => gram_symmetric(&kernel, &x),
            Some(z) => {
                self.check_width(z)?;
                gram(&kernel, &x, &*self.scaled(z)?)
            }
        }
    }

    /// A table as rows for [`Model::gram`], prepared as the training table was, and which rows of the table
    /// they are. Columns that the kernel does not look at need not be there, and are zero.
    pub fn kernel_rows(&self, table: &Table, with_noise: bool) -> Result<(Rows, Vec<usize>)> {
        let (learned, recipe) = (self.kernel()?, self.recipe()?);
        let d = self.names.len();
        let looks_at = learned.kernel.columns(d);
        let everything = looks_at.is_empty()
            || looks_at.len() == d
            // Noise asks whether two rows are equal in every column.
            || (with_noise && learned.noise > 0.0);
        if everything || matches!(table, Table::Sparse { .. }) {
            let (data, rows) = recipe.apply(table)?;
            return Ok((data.into_x(), rows));
        }
        let (recipe, places) = recipe.restricted(&looks_at);
        let (data, rows) = recipe.apply(table)?;
        let part = data.into_x().into_dense();
        let mut x = Array2::zeros((part.nrows(), d));
        for (&to, &from) in looks_at.iter().zip(&places) {
            x.column_mut(to).assign(&part.column(from));
        }
        Ok((x.into(), rows))
    }
}
