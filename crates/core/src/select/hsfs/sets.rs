//! Selects the best set of features: every solution found nominates sets.
//!
//! A noise feature with a small weight hardly changes HSIC, and may fit the samples by chance. Under equal weights noise features
//! only lower HSIC, so sets are compared under equal weights.

use super::problem::Problem;
use super::solve::Effort;
use crate::context::Context;
use crate::data::Groups;
use crate::error::Result;
use crate::optim::Minimum;
use crate::random::Rng;
use ndarray::{Array2, Axis};
use std::collections::BTreeMap;

/// Effort and number of random starts for the weights of the best set.
const ROUGH: Effort = Effort::new(1e-5, 100);
const N_RANDOM: usize = 4;

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

    /// The best set, and its initial weights; sets are compared on a subsample if there is one.
    pub fn best(self, rough: &Problem, ctx: &Context) -> Result<(Vec<usize>, Array2<f64>)> {
        let mut best: Option<(Vec<usize>, Array2<f64>, f64)> = None;
        for (set, w) in self.0 {
            ctx.check()?;
            let value = under_equal_weights(rough, &set);
            if best.as_ref().is_none_or(|(_, _, most)| value > *most) {
                best = Some((set, w, value));
            }
        }
        let (set, w, _) = best.expect("a set was nominated");
        Ok((set, w))
    }
}

/// The weights of a set with the largest HSIC, first on a subsample if there is one, from the given weights, from orthogonal
/// rows and from random weights.
pub(super) fn best_weights(
    problem: &Problem,
    sample: Option<&Problem>,
    (set, w): (&[usize], Array2<f64>),
    radius: f64,
    effort: Effort,
    ctx: &Context,
) -> Result<Minimum> {
    let rough = sample.unwrap_or(problem).among(set);
    let all: Vec<usize> = (0..set.len()).collect();
    let mut start = rough.orthogonal_weights(&all, radius);
    if !rough.is_diagonal() {
        let mut starts = vec![start, w];
        let mut rng = Rng::stream(ctx.seed, "HSFS finalists");
        let random = |_| rough.random_weights(&mut rng, (all.len() as f64).sqrt());
        starts.extend((0..N_RANDOM).map(random));
        let solved = starts.into_iter().map(|start| rough.solve(start, radius, ROUGH, ctx));
        let solved = solved.collect::<Result<Vec<Minimum>>>()?;
        let best = solved.into_iter().min_by(|a, b| a.objective.total_cmp(&b.objective));
        start = best.expect("there is a start").w;
    }
    problem.among(set).solve(start, radius, effort, ctx)
}

/// HSIC of a set under equal weights whose sum is one feature's unit. Larger weights make the kernel nearly diagonal, and
/// sets that only overfit the samples would win.
pub(super) fn under_equal_weights(problem: &Problem, set: &[usize]) -> f64 {
    let part = problem.among(set).with_equal_weights();
    let all: Vec<usize> = (0..part.d()).collect();
    -part.with_criterion(|criterion| criterion.value(&part.orthogonal_weights(&all, part.unit)))
}
