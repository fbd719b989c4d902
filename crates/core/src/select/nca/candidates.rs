//! The candidates among many features, by quick scores.

use super::rows::WeightedRows;
use super::settings::NAME;
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Target, is_constant};
use crate::error::Result;
use crate::interactions::feature_dependence;
use crate::select::hsic_lasso::HsicLasso;
use crate::select::l1_svm::L1Svm;
use crate::select::relief::Relief;
use crate::select::selector::{FeatureCount, Selector};
use std::borrow::Cow;

/// When a search has candidates, and how many, and whether it has landmarks.
#[derive(Debug, Clone, Copy)]
pub(in crate::select) struct Limits {
    /// Whether each row is compared with all others, however many there are.
    pub exact: bool,
    /// Up to this many features all are candidates.
    pub features: usize,
    /// Number of candidates by each score.
    pub of_each: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { exact: false, features: 2000, of_each: 500 }
    }
}

/// Functions of each feature in the test of its dependence.
const N_FUNCTIONS: usize = 4;
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
/// The features of `sets` are candidates in any case.
pub(super) fn candidates(
    data: &Dataset,
    used: &WeightedRows,
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
    let sample = sample(data, used)?;
    // Some scores have no weights.
    let plain = sample.unweighted(2 * MAX_ROWS);
    let mut best_rank = vec![usize::MAX; data.d()];
    sets.iter().flatten().for_each(|&f| best_rank[f] = 0);
    let quiet = &Context { observer: &Quiet(ctx.observer), ..*ctx };
    let selectors = quick_selectors(data.target());
    for at in 0..=selectors.len() {
        ctx.step("NCA candidates", at, 1 + selectors.len())?;
        let (name, order) = match at.checked_sub(1).map(|at| &selectors[at]) {
            Some(selector) => {
                let data = if selector.supports_weights() { &sample } else { &plain };
                (selector.info().title, by_score(selector.as_ref(), data, quiet))
            }
            None => ("dependence", by_dependence(&plain, quiet)),
        };
        // A score that fails, for example for lack of memory, is left out.
        match order {
            Ok(order) => (0..).zip(order).for_each(|(rank, f)| best_rank[f] = best_rank[f].min(rank)),
            Err(error) if error.is_interrupted() => return Err(error),
            Err(error) => ctx.note(format!("{NAME}: no candidates by {name}: {error}")),
        }
    }
    let (features, mut others): (Vec<usize>, Vec<usize>) =
        varying.into_iter().partition(|&f| best_rank[f] < limits.of_each);
    others.sort_by_key(|&f| best_rank[f]);
    ctx.note(format!("{NAME}: {} of {} features are candidates", features.len(), data.d()));
    Ok(Candidates { features, others })
}

/// The rows on which the scores are computed.
fn sample<'a>(data: &'a Dataset, used: &WeightedRows) -> Result<Cow<'a, Dataset>> {
    let some = used.spread(data, MAX_ROWS);
    if some.len() == data.n() {
        return Ok(Cow::Borrowed(data));
    }
    let rows: Vec<usize> = some.rows.iter().map(|&at| used.rows[at]).collect();
    let sample = data.take_rows(&rows);
    Ok(Cow::Owned(if data.is_weighted() { sample.with_weights(some.weights, NAME)? } else { sample }))
}

/// The features on which the target depends alone, linearly or not, best first.
fn by_dependence(data: &Dataset, ctx: &Context) -> Result<Vec<usize>> {
    let found = feature_dependence(data, N_FUNCTIONS, ctx)?;
    let mut order: Vec<usize> = (0..data.d()).filter(|&f| found[f].ln_p_value < 0.0).collect();
    order.sort_by(|&a, &b| found[a].ln_p_value.total_cmp(&found[b].ln_p_value));
    Ok(order)
}

/// The features with a score other than 0, best first.
fn by_score(selector: &dyn Selector, data: &Dataset, ctx: &Context) -> Result<Vec<usize>> {
    let mut found = selector.select(data, FeatureCount::Count(N_SPARSE), ctx)?;
    found.order.retain(|&f| found.scores[f] != 0.0);
    Ok(found.order)
}

/// The selectors whose best features are candidates, besides those by dependence.
fn quick_selectors(target: &Target) -> Vec<Box<dyn Selector>> {
    let mut all: Vec<Box<dyn Selector>> = vec![Box::new(HsicLasso::default()), Box::new(Relief::default())];
    if matches!(target, Target::Classes(_)) {
        all.push(Box::new(L1Svm::default()));
    }
    all
}
