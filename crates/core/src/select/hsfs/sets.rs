//! Selects the best set of features: every solution found nominates sets, and each is solved separately.
//!
//! Every set gets a short run; the better ones get longer runs from more starts.
//!
//! One weight per feature is used for many features and few samples. There a set could win by overfitting: small
//! weights on noise features that happen to fit the samples. Under equal weights noise features only lower HSIC, so
//! sets are compared under equal weights.

use super::problem::Problem;
use super::solve::Effort;
use crate::context::Context;
use crate::data::Groups;
use crate::error::Result;
use crate::optim::Minimum;
use crate::random::Rng;
use ndarray::{Array2, Axis};
use std::collections::BTreeMap;

/// Stages of the comparison of sets: effort, number of sets, and additional random starts.
const STAGES: [(Effort, usize, usize); 3] =
    [(Effort::new(1e-4, 12), usize::MAX, 0), (Effort::new(1e-4, 40), 16, 1), (Effort::new(1e-5, 100), 6, 4)];
/// Number of sets solved on all samples, after a comparison on a subsample.
const N_FINALISTS: usize = 2;

/// The problem over all samples, and over fewer if sets can be compared on those.
pub(super) struct Levels<'a> {
    pub full: &'a Problem<'a>,
    pub middle: Option<&'a Problem<'a>>,
    pub sample: Option<&'a Problem<'a>>,
}

/// The features of a solution with nonzero weights.
pub(super) struct Solution {
    /// Features, largest row first.
    features: Vec<usize>,
    /// The rows of each feature.
    groups: Groups,
    rows: Array2<f64>,
}

impl Solution {
    pub fn of(problem: &Problem, w: &Array2<f64>) -> Self {
        let (features, _) = problem.leading(w);
        let (groups, rows) = (problem.groups.take(&features), problem.groups.expand(&features));
        Self { features, groups, rows: w.select(Axis(0), &rows) }
    }
}

/// Sets of features (indices ascending), each with initial weights.
#[derive(Default)]
pub(super) struct Sets(BTreeMap<Vec<usize>, Array2<f64>>);

impl Sets {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nominates the first `wanted` features of a solution, if it has as many.
    pub fn nominate_solution(&mut self, solution: &Solution, wanted: usize) {
        if solution.features.len() < wanted {
            return;
        }
        let mut places: Vec<usize> = (0..wanted).collect();
        places.sort_by_key(|&at| solution.features[at]);
        let set: Vec<usize> = places.iter().map(|&at| solution.features[at]).collect();
        self.0.entry(set).or_insert_with(|| solution.rows.select(Axis(0), &solution.groups.expand(&places)));
    }

    /// Nominates features without initial weights.
    pub fn nominate(&mut self, features: &[usize], problem: &Problem, radius: f64) {
        let mut set = features.to_vec();
        set.sort_unstable();
        let all: Vec<usize> = (0..set.len()).collect();
        let groups = problem.groups.take(&set);
        self.0.entry(set).or_insert_with(|| problem.orthogonal_weights_of(&groups, &all, radius));
    }

    /// The best set, and its weights over all samples; sets are compared on a subsample if there is one.
    pub fn best(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        if levels.full.is_diagonal() {
            self.best_under_equal_weights(levels, radius, effort, ctx)
        } else {
            self.best_under_fitted_weights(levels, radius, effort, ctx)
        }
    }

    fn best_under_equal_weights(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        let rough = levels.sample.unwrap_or(levels.full);
        let mut best: Option<(Vec<usize>, f64)> = None;
        for set in self.0.into_keys() {
            ctx.check()?;
            let value = under_equal_weights(&rough.among(&set));
            if best.as_ref().is_none_or(|(_, least)| value < *least) {
                best = Some((set, value));
            }
        }
        let (set, _) = best.expect("a set was nominated");
        let part = levels.full.among(&set);
        let all: Vec<usize> = (0..set.len()).collect();
        let polished = part.solve(part.orthogonal_weights(&all, radius), radius, effort, ctx)?;
        Ok((set, polished))
    }

    fn best_under_fitted_weights(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        let rough = levels.sample.unwrap_or(levels.full);
        // Copy features one set at a time: all sets at once may be many times the size of the data.
        let mut candidates: Vec<(Vec<usize>, Minimum)> = vec![];
        let (first, _, _) = STAGES[0];
        for (set, w) in self.0 {
            let found = rough.among(&set).solve(w, radius, first, ctx)?;
            candidates.push((set, found));
        }
        for (effort, most, draws) in STAGES.into_iter().skip(1) {
            candidates.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
            candidates.truncate(most);
            for (set, found) in &mut candidates {
                *found = best_start(&rough.among(set), found, radius, effort, draws, ctx)?;
            }
        }
        candidates.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
        // Compare the best sets of a subsample on all samples.
        candidates.truncate(if levels.sample.is_some() { N_FINALISTS } else { 1 });
        let mut last = vec![];
        for (set, found) in candidates {
            let near = match levels.middle {
                Some(middle) => middle.among(&set).solve(found.w, radius, effort, ctx)?,
                None => found,
            };
            let polished = levels.full.among(&set).solve(near.w, radius, effort, ctx)?;
            last.push((set, polished));
        }
        last.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
        Ok(last.swap_remove(0))
    }
}

/// The value of a set under equal weights whose sum is one feature's unit. Larger weights make the kernel nearly
/// diagonal, and sets that only overfit the samples would win.
fn under_equal_weights(part: &Problem) -> f64 {
    let all: Vec<usize> = (0..part.d()).collect();
    part.with_criterion(|criterion| criterion.value(&part.orthogonal_weights(&all, part.unit)))
}

/// The best solution from the given start, from orthogonal rows, and from random weights.
fn best_start(
    part: &Problem,
    found: &Minimum,
    radius: f64,
    effort: Effort,
    draws: usize,
    ctx: &Context,
) -> Result<Minimum> {
    let mut best = part.solve(found.w.clone(), radius, effort, ctx)?;
    if draws == 0 {
        return Ok(best);
    }
    let all: Vec<usize> = (0..part.d()).collect();
    let mut rng = Rng::stream(ctx.seed, "HSFS finalists");
    let mut starts = vec![part.orthogonal_weights(&all, radius)];
    starts.extend((0..draws).map(|_| part.random_weights(&mut rng, (all.len() as f64).sqrt())));
    for start in starts {
        let found = part.solve(start, radius, effort, ctx)?;
        if found.objective < best.objective {
            best = found;
        }
    }
    Ok(best)
}
