//! Which set of columns is best: nominated by every solution seen, compared on rows that did not choose the weights.
//!
//! HSIC of the rows that weights were fitted to grows with every column, noise or not. So each set's weights are fitted
//! to one half of the rows and HSIC is measured on the other, and the other way round; the sum decides. All sets have one short look, the
//! better ones longer looks from more starts.

use super::problem::{Effort, Problem};
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::random::Rng;
use ndarray::{Array2, Axis};
use std::collections::BTreeMap;

/// Rows of each half, at most.
const HALF: usize = 1000;
/// Rows of a half below which the comparison is by the rows themselves: too few tell nothing of others.
const TOO_FEW: usize = 20;
/// How well sets are solved, look by look; how many go on; and random starts of each look.
const LOOKS: [(Effort, usize, usize); 3] = [
    (Effort { tolerance: 1e-4, max_iterations: 12 }, 16, 0),
    (Effort { tolerance: 1e-4, max_iterations: 40 }, 6, 1),
    (Effort { tolerance: 1e-5, max_iterations: 100 }, 1, 4),
];

/// The rows of a solution that are not zero.
pub(super) struct Seen {
    /// Their columns, longest row first.
    columns: Vec<usize>,
    rows: Array2<f64>,
}

impl Seen {
    pub fn of(problem: &Problem, w: &Array2<f64>) -> Self {
        let lengths = problem.lengths(w);
        let mut columns: Vec<usize> = (0..lengths.len()).filter(|&j| lengths[j] > 0.0).collect();
        columns.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
        Self { rows: w.select(Axis(0), &columns), columns }
    }
}

/// Sets of columns, rising, each with weights to start from.
#[derive(Default)]
pub(super) struct Sets(BTreeMap<Vec<usize>, Array2<f64>>);

impl Sets {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first `wanted` columns of a solution, if it has so many.
    pub fn nominate_seen(&mut self, seen: &Seen, wanted: usize) {
        if seen.columns.len() < wanted {
            return;
        }
        let mut places: Vec<usize> = (0..wanted).collect();
        places.sort_by_key(|&at| seen.columns[at]);
        let set: Vec<usize> = places.iter().map(|&at| seen.columns[at]).collect();
        self.0.entry(set).or_insert_with(|| seen.rows.select(Axis(0), &places));
    }

    /// Columns without weights.
    pub fn nominate(&mut self, columns: &[usize], problem: &Problem, radius: f64) {
        let mut set = columns.to_vec();
        set.sort_unstable();
        let all: Vec<usize> = (0..set.len()).collect();
        self.0.entry(set).or_insert_with(|| problem.spread(all.len(), &all, radius));
    }

    /// The best set, and its weights over all rows.
    pub fn best(
        self,
        problem: &Problem,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        let halves = halves(problem, ctx);
        let mut left: Vec<(f64, Vec<usize>, Array2<f64>)> =
            self.0.into_iter().map(|(set, w)| (0.0, set, w)).collect();
        let last = LOOKS.len() - 1;
        for (look, (effort, go_on, draws)) in LOOKS.into_iter().enumerate() {
            if left.len() <= go_on && look < last {
                continue;
            }
            for (value, set, w) in &mut left {
                *value = compare(problem, &halves, set, w, radius, effort, draws, ctx)?;
            }
            left.sort_by(|a, b| a.0.total_cmp(&b.0));
            left.truncate(go_on);
        }
        let (_, set, w) = left.swap_remove(0);
        let part = problem.among(&set);
        let rows = problem.sampled(HALF, ctx);
        let rough = rows.as_ref().map(|rows| rows.among(&set));
        let (effort_of_looks, _, draws) = LOOKS[last];
        let best = best_start(rough.as_ref().unwrap_or(&part), &w, radius, effort_of_looks, draws, ctx)?;
        Ok((set, part.solve(best.w, radius, effort, ctx)?))
    }
}

/// Two halves of the rows; one half of all of them where there are too few.
fn halves(problem: &Problem, ctx: &Context) -> Vec<Vec<usize>> {
    let n = problem.n();
    let mut rows: Vec<usize> = (0..n).collect();
    if n / 2 < TOO_FEW {
        return vec![rows];
    }
    Rng::stream(ctx.seed, "HSFS halves").shuffle(&mut rows);
    let half = (n / 2).min(HALF);
    vec![rows[..half].to_vec(), rows[half..2 * half].to_vec()]
}

/// $-$HSIC of each half's rows under weights fitted to the other, added up.
#[allow(clippy::too_many_arguments)]
fn compare(
    problem: &Problem,
    halves: &[Vec<usize>],
    set: &[usize],
    w: &Array2<f64>,
    radius: f64,
    effort: Effort,
    draws: usize,
    ctx: &Context,
) -> Result<f64> {
    let part = problem.among(set);
    let parts: Vec<Problem> = halves.iter().filter_map(|rows| part.over(rows)).collect();
    if parts.len() < 2 {
        // Too few rows, or a half without a target worth the name: all rows must do.
        return Ok(best_start(&part, w, radius, effort, draws, ctx)?.objective);
    }
    let mut sum = 0.0;
    for (own, other) in [(0, 1), (1, 0)] {
        let fitted = best_start(&parts[own], w, radius, effort, draws, ctx)?;
        sum += parts[other].with_criterion(|criterion| criterion.value(&fitted.w));
    }
    Ok(sum)
}

/// The best solution from given weights, from rows at right angles, and from random weights.
fn best_start(
    part: &Problem,
    w: &Array2<f64>,
    radius: f64,
    effort: Effort,
    draws: usize,
    ctx: &Context,
) -> Result<Minimum> {
    let mut best = part.solve(w.clone(), radius, effort, ctx)?;
    if draws > 0 {
        let d = part.d();
        let all: Vec<usize> = (0..d).collect();
        let mut rng = Rng::stream(ctx.seed, "HSFS finalists");
        let mut starts = vec![part.spread_over(&all, radius)];
        starts.extend((0..draws).map(|_| part.drawn(&mut rng, (d as f64).sqrt())));
        for start in starts {
            let found = part.solve(start, radius, effort, ctx)?;
            if found.objective < best.objective {
                best = found;
            }
        }
    }
    Ok(best)
}
