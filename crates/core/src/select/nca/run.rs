//! Selections of several numbers of features from one search.

use super::forward::{Forward, Goals, Step, least, swapped};
use super::gradient::{Weighted, by_weight};
use super::problem::Problem;
use super::rough::Rough;
use super::settings::{NAME, Nca, NcaSearch};
use super::setup::Setup;
use super::subsamples::{N_AVERAGED, Subsamples};
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::outcome::{Outcome, Stop};
use crate::select::selector::{PathPoint, Selection};
use ndarray::Array2;

/// Swaps consider this many of the features that were best in the last step.
const SWAP_POOL: usize = 24;
/// Searches on subsamples consider this many of the features that were best in each step.
const SUBSAMPLE_POOL: usize = 16;
/// The gradient form starts from at most this many sets of features that matter jointly.
const MAX_SET_STARTS: usize = 4;
/// Below this many rows the search is always averaged over subsamples.
const FEW_ROWS: f64 = 100.0;
/// Above this many rows it is averaged only on request.
const MANY_ROWS: f64 = 4000.0;
/// The search is averaged if searches on subsamples find less than this fraction of its features.
const STEADY: f64 = 0.7;

/// A search and what is computed from it for several numbers of features.
pub(super) struct Run<'a> {
    method: &'a Nca,
    setup: &'a Setup<'a>,
    problem: &'a Problem,
    forward: Forward,
    /// Solutions of the gradient form.
    minima: Vec<Minimum>,
    subsamples: Option<Subsamples<'a>>,
}

/// A set of features, in order, and weights of all of them in the gradient form.
struct Chosen {
    set: Vec<usize>,
    weights: Option<Array2<f64>>,
}

impl<'a> Run<'a> {
    pub fn new(method: &'a Nca, setup: &'a Setup, forward: Forward, ctx: &Context) -> Result<Self> {
        let minima = match method.search {
            NcaSearch::Gradient if !forward.steps.is_empty() => {
                let mut starts = vec![forward.order()];
                starts.extend(setup.sets.iter().take(MAX_SET_STARTS).cloned());
                Weighted::new(&setup.problem, setup.data, &setup.used.rows, ctx)?.minima(&starts, ctx)?
            }
            _ => vec![],
        };
        Ok(Self { method, setup, problem: &setup.problem, forward, minima, subsamples: None })
    }

    /// The selection of a number of features; `None` chooses it automatically.
    pub fn selection(&mut self, wanted: Option<usize>, ctx: &Context) -> Result<Selection> {
        let count = wanted.unwrap_or_else(|| self.automatic_count());
        let chosen = self.chosen(count.min(self.problem.features.len()), ctx)?;
        let votes = self.votes(&chosen.set, ctx)?;
        let other = match &votes {
            Some(votes) => {
                let mut order: Vec<usize> = (0..self.problem.features.len()).collect();
                let vote = |at: usize| votes[self.problem.features[at]];
                order.sort_by(|&a, &b| vote(b).total_cmp(&vote(a)));
                Some(Forward::along(self.problem, &order[..chosen.set.len()], ctx)?)
            }
            None => self.reordered(&chosen.set, ctx)?,
        };
        let steps = other.as_ref().map_or(&self.forward.steps[..chosen.set.len()], |other| &other.steps);
        let order = self.ranking(steps, &chosen.set, votes.as_deref());
        let gains = gains(steps, self.problem.goal.empty_loss());
        let scores = match votes {
            Some(votes) => votes,
            None => self.scores(steps, &gains, ctx)?,
        };
        let requested = wanted.is_some_and(|count| count == steps.len());
        Ok(Selection {
            automatic: None,
            sample: self.setup.sample(),
            method: Nca::INFO.name.into(),
            scores,
            n_selected: count,
            curve: vec![],
            coef: chosen.weights.map(|weights| self.coef(&weights)),
            path: path(steps, &order, &gains),
            outcome: Outcome {
                stop: if requested { Stop::Requested } else { self.forward.stop },
                iterations: steps.len(),
            },
            order,
        })
    }

    fn automatic_count(&self) -> usize {
        let best = self.minima.iter().min_by(|a, b| a.value.total_cmp(&b.value));
        best.map_or(self.forward.count, |minimum| by_weight(&minimum.w).1).max(1)
    }

    /// The first features of the forward search; in the gradient form the set with the least loss among these and those
    /// with the largest weights.
    fn chosen(&self, count: usize, ctx: &Context) -> Result<Chosen> {
        let found = self.forward.order();
        let mut best = Chosen { set: found[..count.min(found.len())].to_vec(), weights: None };
        if self.minima.is_empty() {
            return Ok(best);
        }
        let loss = |set: &[usize]| Ok(least(self.problem.mean(&self.problem.of_rows(set, ctx)?)).1);
        let mut least_loss = loss(&best.set)?;
        best.weights = Some(self.minima[0].w.clone());
        for minimum in &self.minima {
            let (mut set, _) = by_weight(&minimum.w);
            // If there are fewer weights: the features that the forward search finds.
            set.extend(found.iter().filter(|f| minimum.w[[**f, 0]] == 0.0));
            set.truncate(count);
            let loss = if set.len() == count { loss(&set)? } else { f64::INFINITY };
            if loss < least_loss {
                (least_loss, best) = (loss, Chosen { set, weights: Some(minimum.w.clone()) });
            }
        }
        Ok(best)
    }

    /// The scores of all features by subsamples, unless one search is enough.
    fn votes(&mut self, chosen: &[usize], ctx: &Context) -> Result<Option<Vec<f64>>> {
        let n = match self.method.n_subsamples {
            Some(n) => n,
            None if self.setup.used.n_copies() > MANY_ROWS => 0,
            None => N_AVERAGED,
        };
        let all = self.problem.features.len();
        if n < 2 || !self.minima.is_empty() || chosen.is_empty() || chosen.len() == all {
            return Ok(None);
        }
        let features: Vec<usize> = chosen.iter().map(|&at| self.problem.features[at]).collect();
        let subsamples = match &mut self.subsamples {
            Some(subsamples) => subsamples,
            none => none.insert(new_subsamples(self.setup, &self.forward, ctx)?),
        };
        if self.method.n_subsamples.is_none() && self.setup.used.n_copies() >= FEW_ROWS {
            let agreement = subsamples.agreement(&features, ctx)?;
            if agreement >= STEADY {
                return Ok(None);
            }
            let percent = (100.0 * agreement).round();
            ctx.note(format!(
                "{NAME}: averaged, because searches on subsamples find {percent} % of the features"
            ));
        }
        subsamples.scores(self.setup.data.d(), chosen.len(), n, ctx).map(Some)
    }

    /// The features of the set after swaps, added one by one; `None` if they are the first of the forward search.
    fn reordered(&self, chosen: &[usize], ctx: &Context) -> Result<Option<Forward>> {
        let mut set = chosen.to_vec();
        if let (true, Some(step)) = (self.method.swaps, self.last_step(chosen.len())) {
            let pool = &step.ranked[..step.ranked.len().min(SWAP_POOL)];
            set = swapped(self.problem, set, pool, ctx)?;
        }
        let found = self.forward.order();
        if found.starts_with(&set) {
            return Ok(None);
        }
        set.sort_unstable();
        Forward::run(self.problem, &set, Goals::count(Some(set.len()), &self.setup.sets), ctx).map(Some)
    }

    /// The step of the forward search to this many features, or its last.
    fn last_step(&self, count: usize) -> Option<&Step> {
        self.forward.steps.get(count.checked_sub(1)?).or(self.forward.steps.last())
    }

    /// How much each feature decreased the loss when it was added, or would increase it if it were removed.
    fn scores(&self, steps: &[Step], gains: &[f64], ctx: &Context) -> Result<Vec<f64>> {
        let set: Vec<usize> = steps.iter().map(|step| step.feature).collect();
        let mut scores = vec![0.0; self.setup.data.d()];
        for (at, gain) in gains.iter().enumerate() {
            let mut rest = set.clone();
            rest.remove(at);
            let without = match rest.is_empty() {
                true => self.problem.goal.empty_loss(),
                false => least(self.problem.mean(&self.problem.of_rows(&rest, ctx)?)).1,
            };
            scores[self.problem.features[set[at]]] = gain.max(without - steps[steps.len() - 1].loss);
        }
        Ok(scores)
    }

    /// All features: the selected ones in order, then those of the search that were exchanged, by votes, by their loss in
    /// the last step, by quick scores, and constant ones.
    fn ranking(&self, steps: &[Step], chosen: &[usize], votes: Option<&[f64]>) -> Vec<usize> {
        let features = &self.problem.features;
        let mut order: Vec<usize> = steps.iter().map(|step| features[step.feature]).collect();
        if let Some(votes) = votes {
            let mut voted: Vec<usize> = (0..votes.len()).filter(|&f| votes[f] > 0.0).collect();
            voted.sort_by(|&a, &b| votes[b].total_cmp(&votes[a]));
            order.extend(voted);
        }
        order.extend(chosen.iter().map(|&at| features[at]));
        let ranked = self.last_step(chosen.len()).map_or(&[][..], |step| &step.ranked);
        order.extend(ranked.iter().map(|&at| features[at]));
        order.extend(features.iter().chain(&self.setup.others).copied());
        order.extend(0..self.setup.data.d());
        let mut seen = vec![false; self.setup.data.d()];
        order.retain(|&f| !std::mem::replace(&mut seen[f], true));
        order
    }

    /// The weights of all features of the data.
    fn coef(&self, weights: &Array2<f64>) -> Array2<f64> {
        let mut coef = Array2::zeros((self.setup.data.d(), 1));
        let rows = self.problem.features.iter().zip(weights);
        rows.for_each(|(&f, weight)| coef[[f, 0]] = *weight);
        coef
    }
}

/// Subsamples of the features that were among the best in a step of the search.
fn new_subsamples<'a>(setup: &'a Setup, forward: &Forward, ctx: &Context) -> Result<Subsamples<'a>> {
    let problem = &setup.problem;
    let best = forward.steps.iter().flat_map(|step| step.ranked.iter().take(SUBSAMPLE_POOL));
    let mut pool: Vec<usize> = best.map(|&at| problem.features[at]).collect();
    pool.sort_unstable();
    pool.dedup();
    // Sets of which all features are in the pool.
    let position = |at: &usize| pool.binary_search(&problem.features[*at]).ok();
    let sets = setup.sets.iter().filter_map(|set| set.iter().map(position).collect()).collect();
    let (n, m) = (setup.used.len(), problem.n_landmarks());
    let bytes = Problem::bytes(setup.data, &setup.used, &pool) + Rough::bytes(n, m);
    ctx.need_memory(format!("{NAME}'s subsamples"), 0.8 * bytes, "use fewer rows, or no subsamples")?;
    Ok(Subsamples::new(setup.data, &setup.used, pool, sets, forward.steps.len()))
}

/// How much each step decreased the loss.
fn gains(steps: &[Step], empty_loss: f64) -> Vec<f64> {
    let before = |at: usize| if at == 0 { empty_loss } else { steps[at - 1].loss };
    (0..steps.len()).map(|at| (before(at) - steps[at].loss).max(0.0)).collect()
}

fn path(steps: &[Step], order: &[usize], gains: &[f64]) -> Vec<PathPoint> {
    let point = |step: usize| PathPoint {
        strength: (step + 1) as f64,
        objective: steps[step].loss,
        optimality: 0.0,
        iterations: 1,
        stop: Stop::Direct,
        features: order[..=step].to_vec(),
        weights: gains[..=step].to_vec(),
    };
    (0..steps.len()).map(point).collect()
}
