//! What a search needs: the rows, the candidates, and the sets of features that matter jointly.

use super::candidates::{Limits, candidates};
use super::forward::{Forward, Goals};
use super::goal::Goal;
use super::problem::Problem;
use super::rough::Rough;
use super::rows::WeightedRows;
use super::settings::NAME;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::select::selector::Sample;

/// The problem of a data set.
pub(super) struct Setup<'a> {
    pub data: &'a Dataset,
    /// The rows that are used.
    pub used: WeightedRows,
    pub problem: Problem,
    /// Features that vary but are no candidates, best first.
    pub others: Vec<usize>,
    /// Sets of features that matter jointly, as positions among the features of the problem.
    pub sets: Vec<Vec<usize>>,
}

impl<'a> Setup<'a> {
    /// `sets` are sets of features of the data that matter jointly.
    pub fn new(data: &'a Dataset, sets: Vec<Vec<usize>>, limits: Limits, ctx: &Context) -> Result<Self> {
        check(data, NAME)?;
        let used = WeightedRows::new(data, limits.exact);
        let candidates = candidates(data, &used, &sets, limits, ctx)?;
        let n = used.len();
        let bytes = Problem::bytes(data, &used, &candidates.features) + 16.0 * data.n() as f64;
        let ctx = &ctx.hold(format!("{NAME}'s copy of the features"), bytes, "use fewer rows or columns")?;
        let problem = Problem::new(data, &used, candidates.features);
        let m = problem.n_landmarks();
        ctx.need_memory(format!("{NAME}'s kernel values"), Rough::bytes(n, m), "use fewer rows")?;
        if n < data.n() || m < n {
            ctx.note(format!("{NAME}: the loss of {n} of {} rows, by {m} landmarks", data.n()));
        }
        // Constant features are no candidates.
        let position = |f: &usize| problem.features.binary_search(f).ok();
        let sets = sets.iter().filter_map(|set| set.iter().map(position).collect()).collect();
        Ok(Self { data, used, problem, others: candidates.others, sets })
    }

    /// The rows whose loss is computed, if there are more.
    pub fn sample(&self) -> Option<Sample> {
        let sample = Sample { n_used: self.used.len(), n: self.data.n() };
        (sample.n_used < sample.n).then_some(sample)
    }

    /// A search among all candidates.
    pub fn forward(&self, goals: Goals, ctx: &Context) -> Result<Forward> {
        let all: Vec<usize> = (0..self.problem.features.len()).collect();
        Forward::run(&self.problem, &all, goals, ctx)
    }
}

/// Returns an error for data that cannot be searched.
pub(in crate::select) fn check(data: &Dataset, method: &'static str) -> Result<()> {
    data.need_complete(method)?;
    Goal::check(data, method)?;
    Problem::check(data)
}

/// The result of one forward search.
pub(in crate::select) struct Found {
    /// The features that were added, in order.
    pub order: Vec<usize>,
    /// How many of them decrease the loss by more than chance would.
    pub count: usize,
    /// All features, best first.
    pub ranking: Vec<usize>,
}

/// Searches for at most `most` features; the search ends after `patience` steps that do not decrease the loss by more than
/// chance would. `sets` are sets of features that matter jointly.
pub(in crate::select) fn search(
    data: &Dataset,
    sets: Vec<Vec<usize>>,
    (most, patience): (usize, Option<usize>),
    limits: Limits,
    ctx: &Context,
) -> Result<Found> {
    let setup = Setup::new(data, sets, limits, ctx)?;
    let forward = setup.forward(Goals { most, patience, sets: &setup.sets }, ctx)?;
    let features = &setup.problem.features;
    let order: Vec<usize> = forward.order().into_iter().map(|at| features[at]).collect();
    let last = forward.steps.last().map_or(&[][..], |step| &step.ranked);
    let mut ranking = order.clone();
    ranking.extend(last.iter().map(|&at| features[at]));
    ranking.extend(features.iter().chain(&setup.others).copied().chain(0..data.d()));
    let mut seen = vec![false; data.d()];
    ranking.retain(|&f| !std::mem::replace(&mut seen[f], true));
    Ok(Found { order, count: forward.count, ranking })
}
