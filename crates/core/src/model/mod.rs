//! Saved models: one file with everything needed to treat new data like the old.
//!
//! Layout: the magic `kernsift`, the format's version (u32), the length of the content (u64), its
//! CRC-32 (u32), then the content as MessagePack; numbers are little-endian. The file holds data only,
//! nothing that is ever run. Length and checksum are compared before anything is decoded.

mod kernel;
#[cfg(test)]
mod tests;

use crate::basis::FeatureMap;
use crate::context::Context;
use crate::data::write::write_atomic;
use crate::data::{Recipe, Rows, Standardizer, Table};
use crate::error::{Error, Result, need_columns};
use crate::learn::Learned;
use crate::select::Selection;
use crate::space::KernelSpace;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

const MAGIC: &[u8; 8] = b"kernsift";
/// The format that is written; older ones are read as well.
const VERSION: u32 = 3;
const HEADER: usize = 24;

/// A basis, a selection or both, or a learned kernel, together with the preparation of its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The columns that the scaler and the content expect, in order.
    pub names: Vec<String>,
    /// How tables become those columns; `None` if the model was made from plain numbers.
    pub recipe: Option<Recipe>,
    /// How columns are scaled before they are mapped.
    pub scaler: Option<Standardizer>,
    /// What was learned.
    pub content: Content,
}

/// What was learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a program holds one model, not thousands")]
pub enum Content {
    /// A basis of kernel space.
    Map(FeatureMap),
    /// A choice of columns.
    Selection(Selection),
    /// A choice of directions of kernel space, with the classes of the training rows.
    Space(KernelSpace),
    /// A kernel learned from triples.
    Kernel(Learned),
}

impl Model {
    /// The names of the columns that [`Model::apply`] gives. A learned kernel gives as many columns as there
    /// are rows, which have no names beforehand.
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

    /// The method that made it.
    pub fn method(&self) -> &str {
        match &self.content {
            Content::Map(map) => &map.summary().method,
            Content::Selection(selection) => &selection.method,
            Content::Space(space) => space.method(),
            Content::Kernel(learned) => &learned.method,
        }
    }

    /// Maps rows whose columns are those of `names`, or keeps the columns that were selected. A learned
    /// kernel gives the Gram matrix of the rows, without its noise part; see [`Model::gram`] for more.
    pub fn apply(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        self.check_width(x)?;
        match &self.content {
            Content::Selection(selection) => Ok(x.take_columns(selection.selected()).to_dense()),
            Content::Map(map) => map.transform(&*self.scaled(x)?, ctx),
            Content::Space(space) => space.transform(&*self.scaled(x)?, ctx),
            Content::Kernel(_) => self.gram(x, None, false, ctx),
        }
    }

    /// The class of each row, a place in [`Model::class_names`], for models that know classes.
    pub fn predict(&self, x: &Rows, ctx: &Context) -> Result<Vec<usize>> {
        self.check_width(x)?;
        self.space()?.predict(&*self.scaled(x)?, ctx)
    }

    /// What the classes are called, for models that know classes.
    pub fn class_names(&self) -> Result<&[String]> {
        Ok(&self.space()?.classes().names)
    }

    fn space(&self) -> Result<&KernelSpace> {
        match &self.content {
            Content::Space(space) => Ok(space),
            _ => Err(Error::Model {
                why: format!("a model made by {} does not predict classes", self.method()),
            }),
        }
    }

    /// Rows on the scale that the content expects; gaps are refused, as kernels know none.
    pub fn scaled<'a>(&self, x: &'a Rows) -> Result<Cow<'a, Rows>> {
        x.need_complete(self.method(), |j| self.names[j].clone())?;
        match &self.scaler {
            None => Ok(Cow::Borrowed(x)),
            Some(scaler) => Ok(Cow::Owned(scaler.apply(x)?)),
        }
    }

    fn check_width(&self, x: &Rows) -> Result<()> {
        need_columns("columns for the model", self.names.len(), x.d())
    }

    /// Prepares a table as the training table was and applies the model; also says which rows of the
    /// table the result has.
    pub fn apply_table(&self, table: &Table, ctx: &Context) -> Result<(Array2<f64>, Vec<usize>)> {
        let recipe = self.recipe()?;
        if let Content::Selection(selection) = &self.content {
            // Only the columns that are kept need to be there.
            let (recipe, places) = recipe.restricted(selection.selected());
            let (data, rows) = recipe.apply(table)?;
            return Ok((data.x().take_columns(&places).to_dense(), rows));
        }
        if let Content::Kernel(_) = &self.content {
            let (x, rows) = self.kernel_rows(table, false)?;
            return Ok((self.gram(&x, None, false, ctx)?, rows));
        }
        let (data, rows) = recipe.apply(table)?;
        Ok((self.apply(data.x(), ctx)?, rows))
    }

    /// Prepares a table as the training table was and predicts classes; also says which rows of the
    /// table the result has.
    pub fn predict_table(&self, table: &Table, ctx: &Context) -> Result<(Vec<usize>, Vec<usize>)> {
        self.space()?;
        let (data, rows) = self.recipe()?.apply(table)?;
        Ok((self.predict(data.x(), ctx)?, rows))
    }

    fn recipe(&self) -> Result<&Recipe> {
        self.recipe.as_ref().ok_or_else(|| Error::Model {
            why: "it was made from plain numbers and knows no column names".into(),
        })
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let content = rmp_serde::to_vec_named(self)
            .map_err(|e| Error::Model { why: format!("it cannot be written: {e}") })?;
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&content).to_le_bytes());
        bytes.extend_from_slice(&content);
        Ok(bytes)
    }

    /// Reads a file's bytes, trusting nothing in them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let refuse = |why: String| Error::Model { why };
        if bytes.len() < HEADER || &bytes[..8] != MAGIC {
            return Err(refuse("it does not begin like one".into()));
        }
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte))
        };
        let version = number(8..12);
        if !(1..=u64::from(VERSION)).contains(&version) {
            return Err(refuse(format!(
                "its format is version {version}, this program reads up to version {VERSION}; use the program that made it"
            )));
        }
        let content = &bytes[HEADER..];
        if number(12..20) != content.len() as u64 {
            return Err(refuse(format!(
                "it is cut off: {} bytes instead of {}",
                content.len(),
                number(12..20)
            )));
        }
        if number(20..24) != u64::from(crc32fast::hash(content)) {
            return Err(refuse("its checksum is wrong, so it was altered or damaged".into()));
        }
        let model: Self = rmp_serde::from_slice(content)
            .map_err(|e| refuse(format!("its content cannot be decoded: {e}")))?;
        model.check()?;
        Ok(model)
    }

    /// Writes the file, all or nothing.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|e| e.in_file(path))?;
        write_atomic(path, |out| out.write_all(&bytes))
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::from_bytes(&bytes).map_err(|e| e.in_file(path))
    }

    fn check(&self) -> Result<()> {
        let d = self.names.len();
        let sound = self.scaler.as_ref().is_none_or(|s| {
            s.shift.len() == d && s.scale.len() == d && s.scale.iter().all(|v| v.is_finite() && *v != 0.0)
        });
        let sound = sound
            && self.recipe.as_ref().is_none_or(|recipe| recipe.n_features() == d)
            && match &self.content {
                Content::Map(map) => {
                    map.check()?;
                    map.n_inputs() == d
                }
                Content::Selection(selection) => selection.is_sound(d),
                Content::Space(space) => {
                    space.check()?;
                    space.map().n_inputs() == d
                }
                Content::Kernel(learned) => learned.is_sound(d),
            };
        if sound { Ok(()) } else { Err(Error::Model { why: "its parts do not fit together".into() }) }
    }
}
