//! The constraint that makes the mixture positive semidefinite, and the groups of kernels that share a penalty.

use super::bases::{Base, NAME};
use super::similarity::is_semidefinite;
use crate::error::{Error, Result};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The constraint that makes the mixture positive semidefinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Psd {
    /// [`Psd::NonNegative`] if all base kernels are semidefinite, else [`Psd::DominanceWithNoise`].
    Auto,
    /// Nonnegative weights: a mixture of semidefinite kernels is semidefinite on any rows.
    NonNegative,
    /// The mixture plus white noise is diagonally dominant on the rows of the triplets. The noise is penalized like the
    /// diagonal, so the penalty applies to the largest violation of dominance.
    DominanceWithNoise,
    /// The mixture has no negative eigenvalue on these rows.
    EigenCuts,
    /// The mixture itself is diagonally dominant, as published.
    StrictDominance,
}

/// All constraints with their names in Python and on the command line.
pub const PSD: &[(&str, Psd)] = &[
    ("auto", Psd::Auto),
    ("nonnegative", Psd::NonNegative),
    ("dominance_with_noise", Psd::DominanceWithNoise),
    ("eigen_cuts", Psd::EigenCuts),
    ("strict_dominance", Psd::StrictDominance),
];

impl Psd {
    /// The name in Python and on the command line.
    pub fn name(self) -> &'static str {
        PSD.iter().find(|(_, psd)| *psd == self).map_or("", |(name, _)| name)
    }

    /// Resolves [`Psd::Auto`] for base kernels.
    pub(super) fn for_kernels(self, bases: &[Base]) -> Result<Self> {
        let first = bases.iter().position(|base| !base.kernel.is_semidefinite());
        self.resolve(first, |p| bases[p].kernel.describe())
    }

    /// Resolves [`Psd::Auto`] for some rows of Gram matrices.
    pub(super) fn for_grams(self, grams: &[Array2<f64>], rows: &[usize]) -> Result<Self> {
        if !matches!(self, Self::Auto | Self::NonNegative) {
            return Ok(self);
        }
        let all = grams.iter().map(|gram| is_semidefinite(gram, rows)).collect::<Result<Vec<_>>>()?;
        self.resolve(all.iter().position(|is| !is), |_| "given by its Gram matrix".into())
    }

    /// `first` is the first base kernel that is not semidefinite.
    fn resolve(self, first: Option<usize>, describe: impl Fn(usize) -> String) -> Result<Self> {
        match (self, first) {
            (Self::Auto, None) => Ok(Self::NonNegative),
            (Self::Auto, Some(_)) => Ok(Self::DominanceWithNoise),
            (Self::NonNegative, Some(p)) => Err(Error::param(
                NAME,
                "psd",
                "dominance_with_noise or eigen_cuts for kernels that are not positive semidefinite",
                format!("nonnegative with kernel {}, {}", p + 1, describe(p)),
            )),
            (other, _) => Ok(other),
        }
    }
}

/// Which kernels share a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// All kernels of a feature share the penalty on their largest weight (program 7 of the paper); a kernel on all
    /// features is a group.
    #[default]
    Column,
    /// Each kernel is a group (program 4 of the paper).
    Kernel,
}

impl Grouping {
    /// The group of each kernel, given the feature that it sees.
    pub(super) fn groups(self, features: &[Option<usize>]) -> Vec<usize> {
        let (mut known, mut next) = (HashMap::new(), 0);
        let mut fresh = || {
            next += 1;
            next - 1
        };
        features
            .iter()
            .map(|feature| match (feature, self) {
                (Some(j), Self::Column) => *known.entry(*j).or_insert_with(&mut fresh),
                _ => fresh(),
            })
            .collect()
    }
}
