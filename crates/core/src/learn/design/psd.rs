//! The constraint that makes the mixture positive semidefinite, and the groups of kernels that share a penalty.

use super::bases::{Base, NAME};
use super::similarity::is_semidefinite;
use crate::error::{Error, Result};
use ndarray::Array2;
use std::collections::HashMap;

crate::choices! {
    /// The constraint that makes the mixture positive semidefinite.
    pub enum Psd {
        /// nonnegative if all base kernels are positive semidefinite, else dominance_with_noise.
        Auto = "auto",
        /// Nonnegative weights; the mixture is positive semidefinite on any samples.
        NonNegative = "nonnegative",
        /// With white noise added, the Gram matrix of the samples in triplets is diagonally dominant. Noise is penalized
        /// by gamma2.
        DominanceWithNoise = "dominance_with_noise",
        /// No eigenvalue of that Gram matrix is negative.
        EigenCuts = "eigen_cuts",
        /// Diagonally dominant without noise, as published. Unless the kernels are very narrow, only the zero mixture is.
        StrictDominance = "strict_dominance",
    }
}

impl Psd {
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

crate::choices! {
    /// Which weights are penalized together.
    pub enum Grouping {
        /// The largest weight of each feature (program 7 of the paper); a kernel of all features is a group.
        Column = "column",
        /// The weight of each kernel (program 4 of the paper).
        Kernel = "kernel",
    }
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
