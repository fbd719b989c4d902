//! Models with a learned kernel: Gram matrices of new samples.
//!
//! A kernel learned with a noise term is positive semidefinite on the training samples only with that term. The noise is 0
//! for samples that differ, so it does not matter for comparing them and is omitted by default; an SVM, which needs a
//! semidefinite matrix, asks for it.

use super::{Content, Model, TableOutput};
use crate::context::Context;
use crate::data::{Rows, Table};
use crate::error::{Error, Result};
use crate::kernel::{gram, gram_symmetric};
use crate::learn::Learned;
use ndarray::Array2;

impl Model {
    /// The learned kernel; an error for other models.
    pub fn kernel(&self) -> Result<&Learned> {
        match &self.content {
            Content::Kernel(learned) => Ok(learned),
            _ => Err(Error::Model {
                why: format!("a model fitted by {} has no learned kernel", self.method()),
            }),
        }
    }

    /// The Gram matrix between the samples of `x` and of `z`, or among those of `x`; an error for models without a learned
    /// kernel. The features are those of `names`; the noise term is added only on request.
    pub fn gram(&self, x: &Rows, z: Option<&Rows>, with_noise: bool, ctx: &Context) -> Result<Array2<f64>> {
        let learned = self.kernel()?;
        self.check_n_features(x)?;
        let columns = z.map_or(x.n(), Rows::n);
        ctx.need_memory(
            format!("the Gram matrix of {} x {columns} rows", x.n()),
            8.0 * x.n() as f64 * columns as f64,
            "apply it to fewer rows at a time",
        )?;
        let kernel = if with_noise { learned.with_noise() } else { learned.kernel.clone() };
        let x = self.encoded(x)?;
        match z {
            None => gram_symmetric(&kernel, &x),
            Some(z) => {
                self.check_n_features(z)?;
                gram(&kernel, &x, &*self.encoded(z)?)
            }
        }
    }

    /// Prepares a table like the training table for [`Model::gram`]. Columns that the kernel does not use may be absent and are
    /// set to zero.
    pub fn kernel_rows(&self, table: &Table, with_noise: bool) -> Result<TableOutput<Rows>> {
        let (learned, recipe) = (self.kernel()?, self.recipe()?);
        let d = self.names.len();
        let groups = self.groups();
        let feature_of = groups.feature_of_columns();
        let mut used: Vec<usize> =
            learned.kernel.columns(groups.n_columns()).into_iter().map(|column| feature_of[column]).collect();
        used.dedup();
        let everything = used.is_empty()
            || used.len() == d
            // The noise term compares all columns.
            || (with_noise && learned.noise > 0.0);
        if everything || matches!(table, Table::Sparse { .. }) {
            let applied = recipe.apply(table)?;
            return Ok(TableOutput {
                values: applied.data.into_x(),
                rows: applied.rows,
                other: applied.other,
            });
        }
        let applied = recipe.restricted(&used).apply(table)?;
        let part = applied.data.into_x().into_dense();
        let mut x = Array2::zeros((part.nrows(), d));
        for (&to, column) in used.iter().zip(part.columns()) {
            x.column_mut(to).assign(&column);
        }
        Ok(TableOutput { values: x.into(), rows: applied.rows, other: applied.other })
    }
}
