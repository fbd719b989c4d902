//! Fitted models that apply to new data, and their files.

mod encoded;
#[cfg(feature = "io")]
mod file;
#[cfg(feature = "io")]
mod json;
mod kernel;
#[cfg(all(test, feature = "io"))]
mod tests;

#[cfg(feature = "io")]
pub use json::is_json;

use crate::basis::FeatureMap;
use crate::context::Context;
use crate::data::{Column, Encoder, Groups, Recipe, Rows, Table};
use crate::error::{Error, Result, need_columns};
use crate::learn::Learned;
use crate::select::Selection;
use crate::space::KernelSpace;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A fitted method together with the preparation of its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Names of the input features, in the order that the encoder expects.
    pub names: Vec<String>,
    /// How a table is turned into these features; `None` if the model was fitted to an array.
    pub recipe: Option<Recipe>,
    /// How features are encoded before the content is applied; `None` if they are numbers that stay as they are. Of a
    /// selection, the encoding of the selected features, best first, for [`Model::encode_table`].
    pub encoder: Option<Encoder>,
    /// The fitted method.
    pub content: Content,
}

/// What a model gives for a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOutput<T> {
    /// The result.
    pub values: T,
    /// The row of the table that each row of the result comes from; others were dropped for missing values.
    pub rows: Vec<usize>,
    /// Columns with categories that the training table does not have, and their numbers of rows.
    pub other: Vec<(String, usize)>,
}

/// A fitted method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a program holds one model, not thousands")]
pub enum Content {
    /// A basis of kernel space.
    Map(FeatureMap),
    /// A selection of features.
    Selection(Selection),
    /// A selection of components of kernel space, with the classes of the training samples.
    Space(KernelSpace),
    /// A kernel learned from triplets.
    Kernel(Learned),
}

impl Model {
    /// Names of the output columns of [`Model::apply`]; empty for a learned kernel, whose output has a column per row.
    pub fn output_names(&self) -> Vec<String> {
        match &self.content {
            Content::Map(map) => {
                (1..=map.n_components()).map(|i| format!("{}{i}", map.summary().method)).collect()
            }
            Content::Selection(selection) => {
                selection.selected().iter().map(|&j| self.names[j].clone()).collect()
            }
            Content::Space(space) => space.output_names(),
            Content::Kernel(_) => vec![],
        }
    }

    /// Name of the fitted method.
    pub fn method(&self) -> &str {
        match &self.content {
            Content::Map(map) => &map.summary().method,
            Content::Selection(selection) => &selection.method,
            Content::Space(space) => space.method(),
            Content::Kernel(learned) => &learned.method,
        }
    }

    /// Transforms samples with the features `names`: maps them, or keeps the selected features. A learned kernel gives the
    /// Gram matrix of the samples without the noise term; see also [`Model::gram`].
    pub fn apply(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        self.check_n_features(x)?;
        match &self.content {
            Content::Selection(selection) => Ok(x.take_columns(selection.selected()).to_dense()),
            Content::Map(map) => map.transform(&*self.encoded(x)?, ctx),
            Content::Space(space) => space.transform(&*self.encoded(x)?, ctx),
            Content::Kernel(_) => self.gram(x, None, false, ctx),
        }
    }

    /// Predicts the class of each sample, an index into [`Model::class_names`]; an error for models without classes.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        self.check_n_features(x)?;
        self.space()?.predict(&*self.encoded(x)?, ctx)
    }

    /// Names of the classes; an error for models without classes.
    pub fn class_names(&self) -> Result<&[String]> {
        Ok(&self.space()?.classes().names)
    }

    fn space(&self) -> Result<&KernelSpace> {
        match &self.content {
            Content::Space(space) => Ok(space),
            _ => Err(Error::Model {
                why: format!("a model fitted by {} does not predict classes", self.method()),
            }),
        }
    }

    /// Encodes samples as the content expects. Missing values that the encoder does not impute are an error.
    pub fn encoded<'a>(&self, x: &'a Rows) -> Result<Cow<'a, Rows>> {
        if self.encoder.as_ref().is_none_or(|encoder| !encoder.imputes()) {
            x.need_complete(self.method(), |j| self.names[j].clone())?;
        }
        match &self.encoder {
            None => Ok(Cow::Borrowed(x)),
            Some(encoder) => Ok(Cow::Owned(encoder.apply(x)?)),
        }
    }

    /// The columns of each feature after encoding.
    fn groups(&self) -> Groups {
        self.encoder.as_ref().map_or_else(|| Groups::single(self.names.len()), Encoder::groups)
    }

    fn check_n_features(&self, x: &Rows) -> Result<()> {
        need_columns("columns for the model", self.names.len(), x.d())
    }

    /// Prepares a table like the training table and applies the model. A selection gives the selected columns with their
    /// original values, a learned kernel the Gram matrix.
    pub fn apply_table(&self, table: &Table, ctx: &Context) -> Result<TableOutput<Vec<Column>>> {
        let recipe = self.recipe()?;
        if let Content::Selection(selection) = &self.content {
            if selection.n_selected == 0 {
                return Ok(TableOutput {
                    values: vec![],
                    rows: (0..table.n_rows()).collect(),
                    other: vec![],
                });
            }
            // Only the selected columns are required.
            let applied = recipe.restricted(selection.selected()).apply(table)?;
            let columns = match table {
                Table::Columns(all) => original_columns(all, &self.output_names(), &applied.rows),
                Table::Sparse { .. } => columns(&self.output_names(), applied.data.x().to_dense()),
            };
            return Ok(TableOutput { values: columns, rows: applied.rows, other: applied.other });
        }
        if let Content::Kernel(_) = &self.content {
            let TableOutput { values, rows, other } = self.kernel_rows(table, false)?;
            let names: Vec<String> = rows.iter().map(|row| format!("row{}", row + 1)).collect();
            let gram = self.gram(&values, None, false, ctx)?;
            return Ok(TableOutput { values: columns(&names, gram), rows, other });
        }
        let applied = recipe.apply(table)?;
        let values = columns(&self.output_names(), self.apply(applied.data.x(), ctx)?);
        Ok(TableOutput { values, rows: applied.rows, other: applied.other })
    }

    /// Prepares a table like the training table and predicts classes.
    pub fn predict_table(&self, table: &Table, ctx: &Context) -> Result<TableOutput<Vec<usize>>> {
        self.space()?;
        let applied = self.recipe()?.apply(table)?;
        let values = self.predict(applied.data.x(), ctx)?;
        Ok(TableOutput { values, rows: applied.rows, other: applied.other })
    }

    fn recipe(&self) -> Result<&Recipe> {
        self.recipe
            .as_ref()
            .ok_or_else(|| Error::Model { why: "it was fitted to an array and has no column names".into() })
    }

    /// Checks that the parts are consistent with each other.
    pub fn check(&self) -> Result<()> {
        let d = self.names.len();
        let n_encoded =
            if let Content::Selection(selection) = &self.content { selection.n_selected } else { d };
        if self.encoder.as_ref().is_some_and(|encoder| !encoder.is_sound(n_encoded)) {
            return Err(Self::inconsistent());
        }
        let groups = self.groups();
        let valid = self.recipe.as_ref().is_none_or(|recipe| recipe.columns().eq(&self.names))
            && match &self.content {
                Content::Map(map) => {
                    map.check()?;
                    map.n_inputs() == groups.n_columns()
                }
                Content::Selection(selection) => selection.is_sound(d),
                Content::Space(space) => {
                    space.check()?;
                    space.map().n_inputs() == groups.n_columns()
                }
                Content::Kernel(learned) => learned.is_sound(&groups),
            };
        if valid { Ok(()) } else { Err(Self::inconsistent()) }
    }

    fn inconsistent() -> Error {
        Error::Model { why: "its parts are inconsistent".into() }
    }
}

/// The columns of a matrix.
fn columns(names: &[String], x: Array2<f64>) -> Vec<Column> {
    names.iter().zip(x.columns()).map(|(name, values)| Column::numeric(name, values.to_vec())).collect()
}

/// These columns and rows of a table.
fn original_columns(all: &[Column], names: &[String], rows: &[usize]) -> Vec<Column> {
    let find = |name: &String| all.iter().find(|column| column.name == *name);
    names.iter().filter_map(find).map(|column| column.take_rows(rows)).collect()
}
