//! The fitted preparation, which reads new tables like the training table.

use super::options::Missing;
use crate::data::dataset::Dataset;
use crate::data::features::FeatureType;
use crate::data::rows::Rows;
use crate::data::sparse::SparseRows;
use crate::data::table::{Column, Table};
use crate::data::target::Target;
use crate::data::types::{Decimal, Parsed, Parsing};
use crate::error::{Error, Result};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Fitted preparation: the columns to use, how to read them, and how to handle missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    pub(super) columns: Vec<ColumnRecipe>,
    pub(super) missing: Missing,
    pub(super) target: Option<String>,
    /// Further target columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) other_targets: Vec<String>,
    /// How to read a continuous target; `None` for classes.
    #[serde(default)]
    pub(super) target_parsing: Option<Parsing>,
    /// Whether the training table was sparse. Then columns beyond the last one of a new file are zero.
    pub(super) sparse: bool,
}

/// A used column and how to read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ColumnRecipe {
    pub(super) name: String,
    pub(super) parsing: Parsing,
}

/// A table that was read like the training table.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The typed features, without a target.
    pub data: Dataset,
    /// The row of the table that each row of the data comes from.
    pub rows: Vec<usize>,
    /// Columns with categories that the training table does not have, and their numbers of rows.
    pub other: Vec<(String, usize)>,
}

impl Recipe {
    /// Names of the table columns in use.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// Number of features: one for each column in use.
    pub fn n_features(&self) -> usize {
        self.columns.len()
    }

    /// The types of the features.
    pub fn feature_types(&self) -> Vec<FeatureType> {
        self.columns.iter().map(|column| column.parsing.feature_type()).collect()
    }

    /// Name of the target column, if there was one.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Names of all target columns.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.target().into_iter().chain(self.other_targets.iter().map(String::as_str))
    }

    /// The decimal separator of text, if it matters for reading files: a comma if numbers of a column have one.
    pub fn decimal(&self) -> Option<Decimal> {
        let mut all = self.columns.iter().map(|column| &column.parsing).chain(&self.target_parsing);
        all.any(Parsing::has_decimal_comma).then_some(Decimal::Comma)
    }

    /// The names of the levels of a category, by their codes; none for numbers.
    pub fn levels(&self, feature: usize) -> Vec<&str> {
        let parsing = &self.columns[feature].parsing;
        match parsing.feature_type() {
            FeatureType::Number | FeatureType::Date(_) => vec![],
            FeatureType::Category { levels } => (0..levels).filter_map(|code| parsing.level(code)).collect(),
        }
    }

    /// The names of the levels of each feature; `None` for numbers.
    fn level_names(&self) -> Vec<Option<Arc<[String]>>> {
        let names = |j| -> Arc<[String]> { self.levels(j).into_iter().map(str::to_owned).collect() };
        (0..self.n_features())
            .map(|j| self.columns[j].parsing.feature_type().is_category().then(|| names(j)))
            .collect()
    }

    /// A recipe with these columns.
    #[cfg(feature = "io")]
    pub(crate) fn of_columns(
        columns: Vec<(String, Parsing)>,
        missing: Missing,
        targets: Vec<String>,
        sparse: bool,
    ) -> Self {
        let columns = columns.into_iter().map(|(name, parsing)| ColumnRecipe { name, parsing }).collect();
        let mut targets = targets.into_iter();
        let (target, other_targets) = (targets.next(), targets.collect());
        Self { columns, missing, target, other_targets, target_parsing: None, sparse }
    }

    /// How a column is read.
    #[cfg(feature = "io")]
    pub(crate) fn parsing(&self, feature: usize) -> &Parsing {
        &self.columns[feature].parsing
    }

    /// How missing values are handled.
    #[cfg(feature = "io")]
    pub(crate) fn missing(&self) -> Missing {
        self.missing
    }

    /// Whether the training table was sparse.
    #[cfg(feature = "io")]
    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// A recipe with only these features, in this order.
    pub fn restricted(&self, keep: &[usize]) -> Self {
        let columns = keep.iter().map(|&j| self.columns[j].clone()).collect();
        Self { columns, ..self.clone() }
    }

    /// The features of a new table. Every column that is absent or cannot be read is reported.
    pub fn apply(&self, table: &Table) -> Result<Applied> {
        self.apply_rows(table, (0..table.n_rows()).collect(), |_| Ok(Target::None))
    }

    /// The features of some rows of a new table; `target` gives the target of those that remain.
    pub(super) fn apply_rows(
        &self,
        table: &Table,
        rows: Vec<usize>,
        target: impl FnOnce(&[usize]) -> Result<Target>,
    ) -> Result<Applied> {
        match table {
            Table::Columns(columns) => self.read(&self.find(columns)?, rows, target),
            Table::Sparse { names, x, .. } => self.sparse_data(&self.rearranged(names, x)?, rows, target),
        }
    }

    /// The columns of the recipe in a table.
    fn find<'a>(&self, columns: &'a [Column]) -> Result<Vec<&'a Column>> {
        let by_name: HashMap<&str, &Column> = columns.iter().map(|c| (c.name.as_str(), c)).collect();
        let (mut used, mut problems) = (vec![], vec![]);
        for name in self.columns() {
            match by_name.get(name) {
                Some(column) => used.push(*column),
                None => problems.push(Error::unknown_column(name, columns.iter().map(|c| c.name.as_str()))),
            }
        }
        Error::all(problems)?;
        Ok(used)
    }

    fn rearranged(&self, names: &[String], x: &SparseRows) -> Result<SparseRows> {
        self.check_sparse_names(names)?;
        let index: HashMap<&str, u32> = self.columns().zip(0..).collect();
        let moves: Vec<Option<u32>> = names.iter().map(|n| index.get(n.as_str()).copied()).collect();
        Ok(x.rearranged(self.columns.len(), &moves))
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

    /// Reads feature columns, which are in the order of the recipe, and drops rows with missing values if the recipe says so.
    /// `target` gives the target of the remaining rows.
    pub(super) fn read(
        &self,
        columns: &[&Column],
        rows: Vec<usize>,
        target: impl FnOnce(&[usize]) -> Result<Target>,
    ) -> Result<Applied> {
        let work: Vec<(&ColumnRecipe, &&Column)> = self.columns.iter().zip(columns).collect();
        let results: Vec<Result<Parsed>> =
            work.into_par_iter().map(|(recipe, column)| recipe.parsing.read(column)).collect();
        let (mut parsed, mut other, mut problems) = (vec![], vec![], vec![]);
        for (column, result) in self.columns.iter().zip(results) {
            match result {
                Ok(found) => {
                    if found.n_other > 0 {
                        other.push((column.name.clone(), found.n_other));
                    }
                    parsed.push(found.values);
                }
                Err(problem) => problems.push(problem),
            }
        }
        Error::all(problems)?;
        let names: Vec<String> = self.columns().map(str::to_owned).collect();
        let rows = self.rows_to_keep(rows, &names, |row, j| parsed[j][row].is_nan())?;
        let mut x = Array2::zeros((rows.len(), parsed.len()));
        x.axis_iter_mut(Axis(0)).into_par_iter().zip(&rows).for_each(|(mut out, &row)| {
            out.iter_mut().zip(&parsed).for_each(|(to, values)| *to = values[row]);
        });
        let data = Dataset::typed(names, x, self.feature_types(), target(&rows)?)?;
        Ok(Applied { data: data.with_level_names(self.level_names())?, rows, other })
    }

    /// The data of a sparse table with the columns of the recipe.
    pub(super) fn sparse_data(
        &self,
        x: &SparseRows,
        rows: Vec<usize>,
        target: impl FnOnce(&[usize]) -> Result<Target>,
    ) -> Result<Applied> {
        let names: Vec<String> = self.columns().map(str::to_owned).collect();
        let missing: HashSet<(usize, usize)> =
            x.cells().filter(|(_, _, v)| v.is_nan()).map(|(i, j, _)| (i, j)).collect();
        let rows = match missing.is_empty() {
            true => rows,
            false => self.rows_to_keep(rows, &names, |row, j| missing.contains(&(row, j)))?,
        };
        let x: Rows = x.clone().into();
        let x = if rows.len() == x.n() { x } else { x.take_rows(&rows) };
        let data = Dataset::with_missing(names, x, target(&rows)?)?;
        Ok(Applied { data, rows, other: vec![] })
    }

    /// The rows to use; if missing values are errors, an error for each column that has some.
    fn rows_to_keep(
        &self,
        rows: Vec<usize>,
        names: &[String],
        is_missing: impl Fn(usize, usize) -> bool,
    ) -> Result<Vec<usize>> {
        match self.missing {
            Missing::Auto | Missing::Mean | Missing::Median => Ok(rows),
            Missing::Drop => {
                let is_complete = |&row: &usize| !(0..names.len()).any(|j| is_missing(row, j));
                let complete: Vec<usize> = rows.into_iter().filter(is_complete).collect();
                if complete.is_empty() { Err(Error::NoCompleteRows) } else { Ok(complete) }
            }
            Missing::Error => {
                let first = |j: usize| rows.iter().find(|&&row| is_missing(row, j));
                let problem =
                    |j: usize| Some(Error::MissingValue { row: first(j)? + 1, column: names[j].clone() });
                Error::all((0..names.len()).filter_map(problem).collect())?;
                Ok(rows)
            }
        }
    }
}
