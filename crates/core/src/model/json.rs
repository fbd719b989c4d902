//! Selections as JSON, which programs in other languages apply without this library; docs/models.md describes the fields.
//!
//! The file has the selected features only, each with how its cells are read and how its values are encoded as numbers.

use super::{Content, Model};
use crate::data::read::MISSING_VALUES;
use crate::data::{Encoder, FeatureEncoding, Missing, Parsing, Recipe};
use crate::error::{Error, Result};
use crate::select::Selection;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

const FORMAT: &str = "kernsift selection";
const VERSION: u32 = 1;

/// The fields that say whether the others can be read.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u32,
    method: String,
    /// The target columns of the training table.
    targets: Vec<String>,
    missing: Missing,
    /// Cells of text files that are missing values; for other programs.
    missing_values: Vec<String>,
    /// Whether the training table was sparse.
    sparse: bool,
    /// The selected features, best first.
    features: Vec<Feature>,
}

#[derive(Serialize, Deserialize)]
struct Feature {
    name: String,
    /// `None` if it is infinite, which JSON cannot hold.
    score: Option<f64>,
    parsing: Parsing,
    encoding: FeatureEncoding,
    /// The names of the encoded columns; for other programs.
    columns: Vec<String>,
}

/// Whether a file name has the extension of JSON.
pub fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

impl Model {
    /// A selection as JSON; an error for other models.
    pub fn to_json(&self) -> Result<String> {
        let Content::Selection(selection) = &self.content else {
            return Err(Error::parse(format!(
                "a model fitted by {} cannot be saved as JSON, which holds a selection of features; choose another \
                 extension than .json",
                self.method()
            )));
        };
        let recipe = self.recipe()?.restricted(selection.selected());
        let encodings = if selection.n_selected > 0 { self.selection_encoder()?.parts() } else { vec![] };
        let feature = |((at, &j), encoding): ((usize, &usize), _)| -> Result<Feature> {
            Ok(Feature {
                name: self.names[j].clone(),
                score: Some(selection.scores[j]).filter(|score| score.is_finite()),
                parsing: recipe.parsing(at).clone(),
                encoding,
                columns: self.encoded_columns(at)?,
            })
        };
        let features = selection.selected().iter().enumerate().zip(encodings);
        let document = Document {
            format: FORMAT.into(),
            version: VERSION,
            method: selection.method.clone(),
            targets: recipe.targets().map(str::to_owned).collect(),
            missing: recipe.missing(),
            missing_values: MISSING_VALUES.iter().map(|text| String::from_utf8_lossy(text).into()).collect(),
            sparse: recipe.is_sparse(),
            features: features.map(feature).collect::<Result<_>>()?,
        };
        let unwritable = |e: serde_json::Error| Error::Model { why: format!("it cannot be written: {e}") };
        Ok(serde_json::to_string_pretty(&document).map_err(unwritable)? + "\n")
    }

    /// A selection from JSON, which may come from an untrusted source.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let refuse = |why: String| Error::Model { why };
        let undecodable = |e: serde_json::Error| refuse(format!("its JSON cannot be decoded: {e}"));
        let header: Header = serde_json::from_slice(text).map_err(undecodable)?;
        if header.format != FORMAT {
            return Err(refuse(format!("the field 'format' must be '{FORMAT}', got '{}'", header.format)));
        }
        if header.version != VERSION {
            return Err(refuse(format!(
                "its format is version {}, this program reads version {VERSION} of JSON; update kernsift",
                header.version
            )));
        }
        let document: Document = serde_json::from_slice(text).map_err(undecodable)?;
        let model = document.model().ok_or_else(Self::inconsistent)?;
        model.check()?;
        Ok(model)
    }
}

impl Document {
    /// The model of the selected features; `None` if parts are inconsistent.
    fn model(self) -> Option<Model> {
        let n = self.features.len();
        let names: Vec<String> = self.features.iter().map(|feature| feature.name.clone()).collect();
        if names.iter().collect::<HashSet<_>>().len() < n {
            return None;
        }
        let scores = self.features.iter().map(|feature| feature.score.unwrap_or(f64::INFINITY)).collect();
        let (columns, encodings) =
            self.features.into_iter().map(|f| ((f.name, f.parsing), f.encoding)).unzip();
        let imputes = self.missing.imputation().is_some();
        let encoder = if n > 0 { Some(Encoder::of_parts(encodings, imputes)?) } else { None };
        let recipe = Recipe::of_columns(columns, self.missing, self.targets, self.sparse);
        let selection = Selection { order: (0..n).collect(), ..Selection::by_score(&self.method, scores, n) };
        Some(Model { names, recipe: Some(recipe), encoder, content: Content::Selection(selection) })
    }
}
