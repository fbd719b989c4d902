//! The candidates among many features, by quick scores.

use super::problem::spread;
use super::settings::NAME;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Target, is_constant};
use crate::error::Result;
use crate::select::fisher::FisherScore;
use crate::select::hsic_lasso::HsicLasso;
use crate::select::l1_svm::L1Svm;
use crate::select::relief::Relief;
use crate::select::selector::{FeatureCount, Selector};
use std::borrow::Cow;

/// When a search has candidates, and how many.
#[derive(Debug, Clone, Copy)]
pub(in crate::select) struct Limits {
    /// Up to this many features all are candidates.
    pub features: usize,
    /// Number of candidates by each score.
    pub of_each: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { features: 2000, of_each: 500 }
    }
}

/// Number of features that a sparse method is asked for.
const N_SPARSE: usize = 100;
/// The scores are computed on at most this many rows.
const MAX_ROWS: usize = 2000;

/// The candidates in ascending order, and the other features that vary, best first.
pub(super) struct Candidates {
    pub features: Vec<usize>,
    pub others: Vec<usize>,
}

/// Features that vary; among many of them the union of the best by several quick scores. The others are ranked by
/// the best rank that a score gives them.
/// `rows` are sorted; the features of `sets` are candidates in any case.
pub(super) fn candidates(
    data: &Dataset,
    rows: &[usize],
    sets: &[Vec<usize>],
    limits: Limits,
    ctx: &Context,
) -> Result<Candidates> {
    let (mean, std) = data.x().moments();
    let groups = data.groups();
    let varies = |f: &usize| groups.columns(*f).any(|j| !is_constant(mean[j], std[j]));
    let varying: Vec<usize> = (0..data.d()).filter(varies).collect();
    if varying.len() <= limits.features {
        return Ok(Candidates { features: varying, others: vec![] });
    }
    let some: Vec<usize> = spread(data, rows, MAX_ROWS).into_iter().map(|at| rows[at]).collect();
    let sample = if some.len() < data.n() { Cow::Owned(data.take_rows(&some)) } else { Cow::Borrowed(data) };
    let mut best_rank = vec![usize::MAX; data.d()];
    sets.iter().flatten().for_each(|&f| best_rank[f] = 0);
    for (at, selector) in quick_selectors(data.target()).iter().enumerate() {
        ctx.step("NCA candidates", at, 4)?;
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        // A score that fails, for example for lack of memory, is left out.
        match selector.select(&sample, FeatureCount::Count(N_SPARSE), &quiet) {
            Ok(found) => {
                // A score of 0 is no rank.
                let ranks = found.order.iter().zip(0..).filter(|(f, _)| found.scores[**f] != 0.0);
                ranks.for_each(|(&f, rank)| best_rank[f] = best_rank[f].min(rank));
            }
            Err(error) if error.is_interrupted() => return Err(error),
            Err(error) => ctx.note(format!("{NAME}: no candidates by {}: {error}", selector.info().title)),
        }
    }
    let (features, mut others): (Vec<usize>, Vec<usize>) =
        varying.into_iter().partition(|&f| best_rank[f] < limits.of_each);
    others.sort_by_key(|&f| best_rank[f]);
    ctx.note(format!("{NAME}: {} of {} features are candidates", features.len(), data.d()));
    Ok(Candidates { features, others })
}

/// The selectors whose best features are candidates.
fn quick_selectors(target: &Target) -> Vec<Box<dyn Selector>> {
    let mut all: Vec<Box<dyn Selector>> =
        vec![Box::new(FisherScore::default()), Box::new(HsicLasso::default()), Box::new(Relief::default())];
    if matches!(target, Target::Classes(_)) {
        all.push(Box::new(L1Svm::default()));
    }
    all
}
