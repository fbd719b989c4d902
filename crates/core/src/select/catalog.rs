//! All selectors by name: for the command line, Python, saved settings and the conformance tests.

use super::ffs::Ffs;
use super::fisher::FisherScore;
use super::relief::{Relief, Units};
use super::selector::{Selection, Selector, Wanted};
use crate::context::Context;
use crate::data::{Classes, Dataset, Target};
use crate::error::{Error, Result};
use crate::method::Info;
use serde::{Deserialize, Serialize};

/// A selector with its parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum SelectorMethod {
    /// Fisher score.
    Fisher(FisherScore),
    /// Forward selection over weak classifiers.
    Ffs(Ffs),
    /// Relief.
    Relief(Relief),
}

/// What there is to know about each selector before using it.
pub const SELECTORS: [Info; 3] = [
    Info {
        name: "fisher",
        title: "Fisher score",
        finds: "columns whose class means lie far apart, one at a time",
        needs: "classes",
        cost: "O(n d) time, O(C d) memory for C classes",
        reference: "Fisher, 1936",
    },
    Info {
        name: "ffs",
        title: "Forward selection over weak classifiers",
        finds: "columns whose stumps vote well together",
        needs: "classes",
        cost: "O(n d²) time, n d bytes",
        reference: "Wu et al., 2008",
    },
    Info {
        name: "relief",
        title: "Relief",
        finds: "columns in which near rows of other classes are far and those of the same class near",
        needs: "classes or a number; bears gaps",
        cost: "O(n² d) time, O(n d) memory",
        reference: "Kira and Rendell, 1992; Kononenko, 1994",
    },
];

impl SelectorMethod {
    /// A selector by name, with its defaults.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "fisher" => Ok(Self::Fisher(FisherScore::default())),
            "ffs" => Ok(Self::Ffs(Ffs::default())),
            "relief" => Ok(Self::Relief(Relief::default())),
            _ => Err(Error::unknown_name("selector", name, SELECTORS.iter().map(|info| info.name))),
        }
    }
}

impl SelectorMethod {
    /// Whether it takes data with gaps; the others refuse them.
    pub fn bears_gaps(&self) -> bool {
        match self {
            Self::Relief(_) => true,
            Self::Fisher(_) | Self::Ffs(_) => false,
        }
    }

    /// Whether it can use this target.
    pub fn fits(&self, target: &Target) -> bool {
        match target {
            Target::Classes(_) => true,
            Target::Continuous(_) => match self {
                Self::Relief(_) => true,
                Self::Fisher(_) | Self::Ffs(_) => false,
            },
            Target::None => match self {
                Self::Fisher(_) | Self::Ffs(_) | Self::Relief(_) => false,
            },
        }
    }

    /// Whether columns should be brought to one scale first. Scores of the others depend on no scale, or
    /// are made for the numbers as they are.
    pub fn wants_scaling(&self) -> bool {
        match self {
            Self::Fisher(_) => false,
            Self::Ffs(_) => true,
            Self::Relief(method) => method.units == Units::Given,
        }
    }
}

impl SelectorMethod {
    /// Refuses parameters that are wrong whatever the columns are, before any of them is made.
    pub(crate) fn check(&self, classes: &Classes) -> Result<()> {
        match self {
            Self::Fisher(_) => Ok(()),
            Self::Ffs(method) => method.labels(classes).map(|_| ()),
            Self::Relief(method) => method.check(classes),
        }
    }
}

impl Selector for SelectorMethod {
    fn select(&self, data: &Dataset, wanted: Wanted, ctx: &Context) -> Result<Selection> {
        match self {
            Self::Fisher(method) => method.select(data, wanted, ctx),
            Self::Ffs(method) => method.select(data, wanted, ctx),
            Self::Relief(method) => method.select(data, wanted, ctx),
        }
    }
}
