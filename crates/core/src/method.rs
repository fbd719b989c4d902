//! What to know about a method before using it.

use serde::Serialize;

/// A line of `kernsift methods`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in words.
    pub title: &'static str,
    /// What it selects or computes.
    pub summary: &'static str,
    /// What it needs besides features.
    pub needs: Needs,
    /// Time and memory in samples n, features d, components m.
    pub cost: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
}

/// What a method needs besides features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// Nothing: it is unsupervised.
    Nothing,
    /// Class labels.
    Classes,
    /// A continuous target.
    Continuous,
    /// Class labels or a continuous target.
    Target,
    /// Triplets, or a target to draw them from.
    Triplets,
    /// Nothing: it learns nothing; triplets are used for evaluation only.
    Baseline,
}

impl Needs {
    /// In words, for tables of methods.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "no target",
            Self::Classes => "classification",
            Self::Continuous => "regression",
            Self::Target => "classification or regression",
            Self::Triplets => "triplets, or a target to draw them from",
            Self::Baseline => "nothing; a baseline",
        }
    }
}
