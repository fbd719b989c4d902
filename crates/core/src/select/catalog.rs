//! All selectors by name: for the command line, Python, saved settings and the conformance tests.

use super::fisher::FisherScore;
use super::selector::{Selection, Selector, Wanted};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::method::Info;
use serde::{Deserialize, Serialize};

/// A selector with its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum SelectorMethod {
    /// Fisher score.
    Fisher(FisherScore),
}

/// What there is to know about each selector before using it.
pub const SELECTORS: [Info; 1] = [Info {
    name: "fisher",
    title: "Fisher score",
    finds: "columns whose class means lie far apart, one at a time",
    needs: "classes",
    cost: "O(n d) time, O(d) memory",
    reference: "Fisher, 1936",
}];

impl SelectorMethod {
    /// A selector by name, with its defaults.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "fisher" => Ok(Self::Fisher(FisherScore::default())),
            _ => Err(Error::unknown_name("selector", name, SELECTORS.iter().map(|info| info.name))),
        }
    }
}

impl Selector for SelectorMethod {
    fn select(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<Selection> {
        match self {
            Self::Fisher(method) => method.select(data, wanted, ctx),
        }
    }
}
