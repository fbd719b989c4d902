//! Preprocessing of tables: choose the target, handle missing values, encode text columns.
//!
//! [`Prepare::fit`] learns fill values and categories from the training table and keeps them in a [`Recipe`],
//! which encodes new tables in the same way.

mod encode;
mod options;
mod recipe;
mod target;
#[cfg(test)]
mod tests;

pub use options::{Categorical, Missing, TargetChoice, TargetType};
pub use recipe::Recipe;

use super::dataset::{Dataset, Target};
use super::rows::Rows;
use super::sparse::SparseRows;
use super::table::{Column, Table};
use crate::error::{Error, Result};
use encode::{ColumnRecipe, usable_rows};

/// How a table becomes a [`Dataset`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prepare {
    /// Which column is the target.
    pub target: TargetChoice,
    /// Whether the target is for classification or regression.
    pub target_type: TargetType,
    /// How to handle missing values.
    pub missing: Missing,
    /// How to encode text columns.
    pub categorical: Categorical,
}

/// The result of [`Prepare::fit`].
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The encoded data.
    pub data: Dataset,
    /// The fitted preprocessing.
    pub recipe: Recipe,
    /// The row of the table that each row of the data comes from.
    pub rows: Vec<usize>,
    /// Messages for the user: the chosen target, the number of dropped rows.
    pub notes: Vec<String>,
}

impl Prepare {
    /// Fits the preprocessing to a table and applies it.
    pub fn fit(&self, table: &Table) -> Result<Prepared> {
        let mut notes = vec![];
        let target_name = target::find(&self.target, table, &mut notes)?;
        let (data, recipe, rows) = match table {
            Table::Sparse { names, x, target } => {
                let target = target.as_ref().filter(|t| Some(&t.name) == target_name.as_ref());
                self.fit_sparse(names, x, target)?
            }
            Table::Columns(columns) => self.fit_columns(columns, target_name)?,
        };
        let (n, dropped) = (table.n_rows(), table.n_rows() - rows.len());
        if dropped > 0 {
            notes.push(format!("dropped {dropped} of {n} rows with missing values"));
        }
        Ok(Prepared { data, recipe, rows, notes })
    }

    fn fit_sparse(
        &self,
        names: &[String],
        x: &SparseRows,
        target: Option<&Column>,
    ) -> Result<(Dataset, Recipe, Vec<usize>)> {
        let rows = self.usable_sparse_rows(names, x)?;
        let dropped = rows.len() < x.n_rows();
        let x: Rows = x.clone().into();
        let x = if dropped { x.take_rows(&rows) } else { x };
        let recipe = Recipe {
            columns: names.iter().map(|name| ColumnRecipe::numeric(name)).collect(),
            missing: self.missing,
            target: target.map(|t| t.name.clone()),
            sparse: true,
        };
        let target = self.read_target(target, &rows)?;
        let data = recipe.dataset(names.to_vec(), x, target)?;
        Ok((data, recipe, rows))
    }

    /// Sparse data supports dropping and keeping missing values, but no imputation.
    fn usable_sparse_rows(&self, names: &[String], x: &SparseRows) -> Result<Vec<usize>> {
        let mut keep = vec![true; x.n_rows()];
        for (i, column, _) in x.cells().filter(|(_, _, v)| v.is_nan()) {
            let (row, column) = (i + 1, names[column].clone());
            match self.missing {
                Missing::Keep => {}
                Missing::Drop => keep[i] = false,
                Missing::Error => return Err(Error::MissingValue { row, column }),
                Missing::Mean | Missing::Median => {
                    let why = "sparse data is not imputed";
                    return Err(Error::CannotImpute { row, column, why });
                }
            }
        }
        Ok((0..x.n_rows()).filter(|&row| keep[row]).collect())
    }

    fn fit_columns(
        &self,
        columns: &[Column],
        target: Option<String>,
    ) -> Result<(Dataset, Recipe, Vec<usize>)> {
        let features: Vec<&Column> = columns.iter().filter(|c| Some(&c.name) != target.as_ref()).collect();
        let target_column = columns.iter().find(|c| Some(&c.name) == target.as_ref());
        if features.is_empty() {
            return Err(Error::NoFeatures);
        }
        let used: Vec<&Column> = features.iter().copied().chain(target_column).collect();
        let rows = usable_rows(&used, self.missing)?;
        let fit = |column: &&Column| ColumnRecipe::fit(column, &rows, self.missing, self.categorical);
        let recipe = Recipe {
            columns: features.iter().map(fit).collect::<Result<_>>()?,
            missing: self.missing,
            target,
            sparse: false,
        };
        let target = self.read_target(target_column, &rows)?;
        let data = recipe.encode(&features, &rows, target)?;
        Ok((data, recipe, rows))
    }

    fn read_target(&self, column: Option<&Column>, rows: &[usize]) -> Result<Target> {
        column.map_or(Ok(Target::None), |column| target::read(column, rows, self.target_type))
    }
}
