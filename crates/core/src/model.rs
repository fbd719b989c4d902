//! Saved models: one file with everything needed to treat new data like the old.
//!
//! Layout: the magic `kernsift`, the format's version (u32), the length of the content (u64), its
//! CRC-32 (u32), then the content as MessagePack; numbers are little-endian. The file holds data only,
//! nothing that is ever run. Length and checksum are compared before anything is decoded.

use crate::basis::FeatureMap;
use crate::context::Context;
use crate::data::write::write_atomic;
use crate::data::{Recipe, Rows, Standardizer, Table};
use crate::error::{Error, Result, need_columns};
use crate::select::Selection;
use crate::space::KernelSpace;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

const MAGIC: &[u8; 8] = b"kernsift";
/// The format that is written; older ones are read as well.
const VERSION: u32 = 2;
const HEADER: usize = 24;

/// A basis, a selection or both together with the preparation of its data.
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
}

impl Model {
    /// The names of the columns that [`Model::apply`] gives.
    pub fn output_names(&self) -> Vec<String> {
        match &self.content {
            Content::Map(map) => {
                (1..=map.n_components()).map(|i| format!("{}{i}", map.summary().method)).collect()
            }
            Content::Selection(selection) => {
                selection.selected().iter().map(|&j| self.names[j].clone()).collect()
            }
            Content::Space(space) => space.output_names(),
        }
    }

    /// The method that made it.
    pub fn method(&self) -> &str {
        match &self.content {
            Content::Map(map) => &map.summary().method,
            Content::Selection(selection) => &selection.method,
            Content::Space(space) => space.method(),
        }
    }

    /// Maps rows whose columns are those of `names`, or keeps the columns that were selected.
    pub fn apply(&self, x: &Rows, ctx: &Context) -> Result<Array2<f64>> {
        self.check_width(x)?;
        match &self.content {
            Content::Selection(selection) => Ok(x.take_columns(selection.selected()).to_dense()),
            Content::Map(map) => map.transform(&*self.scaled(x)?, ctx),
            Content::Space(space) => space.transform(&*self.scaled(x)?, ctx),
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
            };
        if sound { Ok(()) } else { Err(Error::Model { why: "its parts do not fit together".into() }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::{Basis, Kobl};
    use crate::data::{Column, Missing, Prepare};
    use crate::select::{FisherScore, Selector, Wanted};

    fn table() -> Table {
        let column =
            |name: &str, f: fn(f64) -> f64| Column::numeric(name, (0..12).map(|i| f(f64::from(i))).collect());
        Table::new(vec![
            column("a", |i| i),
            column("b", |i| (i * 1.7).sin()),
            column("class", |i| f64::from(u8::from(i > 5.0))),
        ])
        .unwrap()
    }

    fn models() -> [Model; 2] {
        let ctx = Context::default();
        let prepared = Prepare::default().fit(&table()).unwrap();
        let scaler = Standardizer::fit(prepared.data.x());
        let scaled = prepared.data.with_x(scaler.apply(prepared.data.x()).unwrap()).unwrap();
        let names = prepared.data.names().to_vec();
        let map = Content::Map(Kobl::default().fit(&scaled, &ctx).unwrap().map);
        let selection = FisherScore::default().select(&prepared.data, Wanted::Count(1), &ctx).unwrap();
        let recipe = Some(prepared.recipe);
        [
            Model { names: names.clone(), recipe: recipe.clone(), scaler: Some(scaler), content: map },
            Model { names, recipe, scaler: None, content: Content::Selection(selection) },
        ]
    }

    #[test]
    fn what_is_saved_comes_back() {
        for model in models() {
            let back = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(back, model);
            let ctx = Context::default();
            assert_eq!(back.apply_table(&table(), &ctx).unwrap(), model.apply_table(&table(), &ctx).unwrap());
        }
    }

    #[test]
    fn a_selection_gives_back_its_columns_unscaled() {
        let [_, selection] = models();
        assert_eq!(selection.output_names(), ["a"]);
        let (x, rows) = selection.apply_table(&table(), &Context::default()).unwrap();
        assert_eq!(x.column(0).to_vec(), (0..12).map(f64::from).collect::<Vec<_>>());
        assert_eq!(rows.len(), 12);
        // The other column need not be there.
        let only = Table::new(vec![Column::numeric("a", vec![7.0])]).unwrap();
        assert_eq!(selection.apply_table(&only, &Context::default()).unwrap().0, ndarray::array![[7.0]]);
    }

    #[test]
    fn gaps_that_were_kept_are_kept_again_or_refused() {
        let [mut map, mut selection] = models();
        let recipe = Prepare { missing: Missing::Keep, ..Prepare::default() }.fit(&table()).unwrap().recipe;
        let new =
            Table::new(vec![Column::numeric("a", vec![f64::NAN, 2.0]), Column::numeric("b", vec![1.0, 2.0])])
                .unwrap();
        let ctx = Context::default();
        selection.recipe = Some(recipe.clone());
        let selection = Model::from_bytes(&selection.to_bytes().unwrap()).unwrap();
        let (x, rows) = selection.apply_table(&new, &ctx).unwrap();
        assert!(x[[0, 0]].is_nan() && x[[1, 0]] == 2.0 && rows == [0, 1]);
        map.recipe = Some(recipe);
        let map = Model::from_bytes(&map.to_bytes().unwrap()).unwrap();
        let error = map.apply_table(&new, &ctx).unwrap_err().to_string();
        assert!(error.starts_with("row 1, column 'a': missing value, and kobl needs every cell"), "{error}");
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_refused() {
        let bytes = models()[0].to_bytes().unwrap();
        for i in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[i] ^= 0x20;
            assert!(Model::from_bytes(&altered).is_err(), "byte {i}");
            assert!(Model::from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
    }

    #[test]
    fn messages_say_what_is_wrong() {
        let bytes = models()[0].to_bytes().unwrap();
        let message = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
        assert!(message(b"a,b\n1,2\n").ends_with("it does not begin like one"));
        assert!(message(&bytes[..bytes.len() - 1]).contains("it is cut off"));
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert!(message(&newer).contains("version 9, this program reads up to version 2"));
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(message(&damaged).contains("checksum"));
    }

    #[test]
    fn a_model_with_a_right_checksum_and_wrong_parts_is_refused() {
        let [_, mut model] = models();
        if let Content::Selection(selection) = &mut model.content {
            selection.order = vec![7];
        }
        let message = Model::from_bytes(&model.to_bytes().unwrap()).unwrap_err().to_string();
        assert!(message.contains("do not fit together"), "{message}");
    }

    #[test]
    fn the_number_of_columns_is_checked() {
        let [map, _] = models();
        let error = map.apply(&ndarray::array![[1.0]].into(), &Context::default()).unwrap_err();
        assert!(error.to_string().contains("expected 2, got 1"));
    }
}
