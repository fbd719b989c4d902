//! The learned mixture.

use super::bases::Base;
use super::penalties::{Penalties, Trial};
use super::psd::Psd;
use crate::data::Groups;
use crate::data::triplets::TripletReport;
use crate::kernel::Kernel;
use crate::learn::learner::{Learned, Status};
use serde::{Deserialize, Serialize};

/// The weights of a mixture, and diagnostics of the fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// The weight of each base kernel after scaling to a mean diagonal of 1.
    pub alpha: Vec<f64>,
    /// The scale of each base kernel; the mixture is the sum of `alpha * scale * kernel`.
    pub scales: Vec<f64>,
    /// The weight of white noise that makes the mixture semidefinite on the rows; 0 if it already is.
    pub noise: f64,
    /// The constraint that was used.
    pub psd: Psd,
    /// The penalties that were used.
    pub penalties: Penalties,
    /// Validation results of all penalties that were tried.
    pub trials: Vec<Trial>,
    /// The objective of the mixture.
    pub objective: f64,
    /// The lower bound on the optimal objective after each round; it never decreases.
    pub bounds: Vec<f64>,
    /// Number of cuts in the last round.
    pub cuts: usize,
    /// Number of distinct rows in the triplets.
    pub points: usize,
    /// Counts of the triplets.
    pub triplets: TripletReport,
    /// How the solver ended.
    pub status: Status,
}

/// A designed kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Designed {
    /// The learned kernel.
    pub learned: Learned,
    /// The base kernels.
    pub bases: Vec<Base>,
    /// Their weights.
    pub mixture: Mixture,
}

impl Designed {
    pub(super) fn new(bases: Vec<Base>, mixture: Mixture, groups: &Groups) -> Self {
        Self { learned: learned(&bases, &mixture, groups), bases, mixture }
    }
}

fn learned(bases: &[Base], mixture: &Mixture, groups: &Groups) -> Learned {
    let feature_of = groups.feature_of_columns();
    let largest = mixture.alpha.iter().fold(0.0_f64, |a, w| a.max(w.abs()));
    let mut scores = vec![0.0_f64; groups.n_features()];
    let mut parts = vec![];
    for ((base, &alpha), scale) in bases.iter().zip(&mixture.alpha).zip(&mixture.scales) {
        if alpha == 0.0 {
            continue;
        }
        parts.push((alpha * scale, base.kernel.clone()));
        let score = alpha.abs() / largest;
        match base.feature {
            Some(j) => scores[j] = scores[j].max(score),
            None => {
                let features = base.kernel.columns(groups.n_columns()).into_iter().map(|j| feature_of[j]);
                features.for_each(|j| scores[j] = scores[j].max(score));
            }
        }
    }
    if parts.is_empty() {
        // The zero kernel.
        parts.push((0.0, bases[0].kernel.clone()));
    }
    Learned {
        method: "design".into(),
        kernel: Kernel::Sum(parts),
        noise: mixture.noise,
        scores,
        status: mixture.status,
        iterations: mixture.bounds.len(),
    }
}
