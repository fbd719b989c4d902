//! Which set of columns is best: nominated by every solution seen, each solved alone.
//!
//! All sets have one short look, the better ones longer looks from more starts.
//!
//! With a weight per column there are many columns and few rows, and a set could win by small weights on columns of noise that the rows at
//! hand happen to favour. Under equal weights such columns only blur the kernel, so there sets are compared by these.

use super::problem::{Effort, Problem};
use crate::context::Context;
use crate::error::Result;
use crate::optim::Minimum;
use crate::random::Rng;
use ndarray::{Array2, Axis};
use std::collections::BTreeMap;

/// How well sets are solved, how many have that look, and from how many random starts besides.
const LOOKS: [(Effort, usize, usize); 3] = [
    (Effort::whole(1e-4, 12), usize::MAX, 0),
    (Effort::whole(1e-4, 40), 16, 1),
    (Effort::whole(1e-5, 100), 6, 4),
];
/// Sets that are solved over all rows, where they were compared by a sample.
const LAST: usize = 2;

/// The problem over all rows, and over fewer where sets can be compared by those.
pub(super) struct Levels<'a> {
    pub whole: &'a Problem<'a>,
    pub middle: Option<&'a Problem<'a>>,
    pub sample: Option<&'a Problem<'a>>,
}

/// The rows of a solution that are not zero.
pub(super) struct Seen {
    /// Their columns, longest row first.
    columns: Vec<usize>,
    rows: Array2<f64>,
}

impl Seen {
    pub fn of(problem: &Problem, w: &Array2<f64>) -> Self {
        let (columns, _) = problem.leading(w);
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

    /// The best set, and its weights over all rows; sets are compared by a sample of rows if there is one.
    pub fn best(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        if levels.whole.is_diagonal() {
            self.best_under_equal_weights(levels, radius, effort, ctx)
        } else {
            self.best_under_own_weights(levels, radius, effort, ctx)
        }
    }

    fn best_under_equal_weights(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        let rough = levels.sample.unwrap_or(levels.whole);
        let mut best: Option<(Vec<usize>, f64)> = None;
        for set in self.0.into_keys() {
            ctx.check()?;
            let value = under_equal_weights(&rough.among(&set));
            if best.as_ref().is_none_or(|(_, least)| value < *least) {
                best = Some((set, value));
            }
        }
        let (set, _) = best.expect("a set was nominated");
        let part = levels.whole.among(&set);
        let all: Vec<usize> = (0..set.len()).collect();
        let polished = part.solve(part.spread_over(&all, radius), radius, effort, ctx)?;
        Ok((set, polished))
    }

    fn best_under_own_weights(
        self,
        levels: &Levels,
        radius: f64,
        effort: Effort,
        ctx: &Context,
    ) -> Result<(Vec<usize>, Minimum)> {
        let rough = levels.sample.unwrap_or(levels.whole);
        // Columns are copied for each set anew: all sets at once may be many times the data.
        let mut left: Vec<(Vec<usize>, Minimum)> = vec![];
        let (first, _, _) = LOOKS[0];
        for (set, w) in self.0 {
            let found = rough.among(&set).solve(w, radius, first, ctx)?;
            left.push((set, found));
        }
        for (effort, most, draws) in LOOKS.into_iter().skip(1) {
            left.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
            left.truncate(most);
            for (set, found) in &mut left {
                *found = best_start(&rough.among(set), found, radius, effort, draws, ctx)?;
            }
        }
        left.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
        // All rows decide between those that are best on a sample.
        left.truncate(if levels.sample.is_some() { LAST } else { 1 });
        let mut last = vec![];
        for (set, found) in left {
            let near = match levels.middle {
                Some(middle) => middle.among(&set).solve(found.w, radius, effort, ctx)?,
                None => found,
            };
            let polished = levels.whole.among(&set).solve(near.w, radius, effort, ctx)?;
            last.push((set, polished));
        }
        last.sort_by(|a, b| a.1.objective.total_cmp(&b.1.objective));
        Ok(last.swap_remove(0))
    }
}

/// The value of a set under equal weights that together are one column's: under larger ones the kernel tells near rows apart and
/// nothing else, and whatever set does so for the rows at hand would win.
fn under_equal_weights(part: &Problem) -> f64 {
    let all: Vec<usize> = (0..part.d()).collect();
    part.with_criterion(|criterion| criterion.value(&part.spread_over(&all, part.unit)))
}

/// The best solution: from the one there is, from rows at right angles, and from random weights.
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
    let mut starts = vec![part.spread_over(&all, radius)];
    starts.extend((0..draws).map(|_| part.drawn(&mut rng, (all.len() as f64).sqrt())));
    for start in starts {
        let found = part.solve(start, radius, effort, ctx)?;
        if found.objective < best.objective {
            best = found;
        }
    }
    Ok(best)
}
