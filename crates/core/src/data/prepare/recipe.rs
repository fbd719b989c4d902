//! The fitted preprocessing, which encodes new tables like the training table.

use super::encode::{ColumnRecipe, usable_rows};
use super::options::Missing;
use crate::data::dataset::{Dataset, Target};
use crate::data::rows::Rows;
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result};
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Fitted preprocessing: the columns to use, their encodings, and how to handle missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    pub(super) columns: Vec<ColumnRecipe>,
    pub(super) missing: Missing,
    pub(super) target: Option<String>,
    /// Whether the training table was sparse. Then columns beyond the last one of a new file are zero.
    pub(super) sparse: bool,
}

impl Recipe {
    /// Names of the table columns in use.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// Number of features after encoding.
    pub fn n_features(&self) -> usize {
        self.columns.iter().map(ColumnRecipe::n_features).sum()
    }

    /// Name of the target column, if there was one.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// A recipe with only the columns needed for these features, and the index of each feature in it.
    pub fn restricted(&self, keep: &[usize]) -> (Self, Vec<usize>) {
        let mut columns = vec![];
        let mut new_index = HashMap::new();
        let (mut old_start, mut new_start) = (0, 0);
        for column in &self.columns {
            let features = column.n_features();
            if keep.iter().any(|k| (old_start..old_start + features).contains(k)) {
                new_index.extend((0..features).map(|i| (old_start + i, new_start + i)));
                new_start += features;
                columns.push(column.clone());
            }
            old_start += features;
        }
        (Self { columns, ..self.clone() }, keep.iter().map(|k| new_index[k]).collect())
    }

    /// The features of a new table, without a target, and the rows they come from.
    pub fn apply(&self, table: &Table) -> Result<(Dataset, Vec<usize>)> {
        match table {
            Table::Columns(columns) => self.apply_columns(columns),
            Table::Sparse { names, x, .. } => self.apply_sparse(names, x),
        }
    }

    fn apply_columns(&self, columns: &[Column]) -> Result<(Dataset, Vec<usize>)> {
        let by_name: HashMap<&str, &Column> = columns.iter().map(|c| (c.name.as_str(), c)).collect();
        let find = |name: &str| {
            let found = by_name.get(name).copied();
            found.ok_or_else(|| Error::unknown_column(name, columns.iter().map(|c| c.name.as_str())))
        };
        let used = self.columns().map(find).collect::<Result<Vec<&Column>>>()?;
        let rows = usable_rows(&used, self.missing)?;
        Ok((self.encode(&used, &rows, Target::None)?, rows))
    }

    fn apply_sparse(&self, names: &[String], x: &SparseRows) -> Result<(Dataset, Vec<usize>)> {
        self.check_sparse_names(names)?;
        let index: HashMap<&str, u32> = self.columns().zip(0..).collect();
        let moves: Vec<Option<u32>> = names.iter().map(|n| index.get(n.as_str()).copied()).collect();
        let x = x.rearranged(self.columns.len(), &moves);
        let rows = (0..x.n_rows()).collect();
        let names = self.columns().map(str::to_owned).collect();
        Ok((self.dataset(names, x, Target::None)?, rows))
    }

    /// A sparse file numbers its columns and ends with the last one it uses. For a recipe fitted to such a
    /// file, absent columns are zero; any other absent column is an error.
    fn check_sparse_names(&self, names: &[String]) -> Result<()> {
        let numbered = |name: &str| name.strip_prefix('f').is_some_and(|n| n.parse::<u32>().is_ok());
        let present: HashSet<&str> = names.iter().map(String::as_str).collect();
        let by_number = self.sparse && names.iter().all(|name| numbered(name));
        match self.columns().find(|name| !(present.contains(name) || by_number && numbered(name))) {
            Some(absent) => Err(Error::unknown_column(absent, names.iter().map(String::as_str))),
            None => Ok(()),
        }
    }

    /// Encodes feature columns, which are in the order of the recipe.
    pub(super) fn encode(&self, columns: &[&Column], rows: &[usize], target: Target) -> Result<Dataset> {
        let names: Vec<String> = self.columns.iter().flat_map(ColumnRecipe::feature_names).collect();
        let mut x = Array2::zeros((rows.len(), names.len()));
        let mut start = 0;
        for (recipe, column) in self.columns.iter().zip(columns) {
            let end = start + recipe.n_features();
            for (to, &from) in rows.iter().enumerate() {
                if self.missing == Missing::Keep && column.is_missing(from) {
                    x.slice_mut(s![to, start..end]).fill(f64::NAN);
                    continue;
                }
                recipe.encode(column, from, |feature, value| x[[to, start + feature]] = value)?;
            }
            start = end;
        }
        self.dataset(names, x, target)
    }

    pub(super) fn dataset(&self, names: Vec<String>, x: impl Into<Rows>, target: Target) -> Result<Dataset> {
        if self.missing == Missing::Keep {
            Dataset::with_missing(names, x, target)
        } else {
            Dataset::new(names, x, target)
        }
    }
}
