//! Searches on subsamples of rows, whose average is steadier than one search.

use super::forward::{Forward, Goals};
use super::problem::Problem;
use super::rows::{WeightedRows, by_values, strata};
use crate::context::{Context, Quiet};
use crate::data::{Dataset, Target};
use crate::error::Result;
use crate::random::Rng;
use std::ops::Range;

/// Every subsample leaves out one of this many rows.
const LEFT_OUT: usize = 5;
/// Number of subsamples of the average.
pub(super) const N_AVERAGED: usize = 20;
/// Number of subsamples from which to conclude how steady the search is.
pub(super) const N_CHECKED: usize = 3;

/// Searches on subsamples.
pub(super) struct Subsamples<'a> {
    data: &'a Dataset,
    used: &'a WeightedRows,
    /// Features that the searches may select.
    pool: Vec<usize>,
    /// Sets of features that matter jointly, as positions in the pool.
    sets: Vec<Vec<usize>>,
    count: usize,
    /// The features found by each search, in order.
    orders: Vec<Vec<usize>>,
}

impl<'a> Subsamples<'a> {
    /// The searches find `count` of the features of `pool`.
    pub fn new(
        data: &'a Dataset,
        used: &'a WeightedRows,
        pool: Vec<usize>,
        sets: Vec<Vec<usize>>,
        count: usize,
    ) -> Self {
        Self { data, used, pool, sets, count, orders: vec![] }
    }

    /// Runs searches until there are `n` of them.
    fn extend(&mut self, n: usize, ctx: &Context) -> Result<()> {
        let quiet = Context { observer: &Quiet(ctx.observer), ..*ctx };
        while self.orders.len() < n {
            ctx.step("NCA subsamples", self.orders.len(), n)?;
            let rows = subsample(self.data, self.used, self.orders.len(), ctx.seed);
            let problem = Problem::new(self.data, &rows, self.pool.clone());
            let all: Vec<usize> = (0..self.pool.len()).collect();
            let found = Forward::run(&problem, &all, Goals::count(Some(self.count), &self.sets), &quiet)?;
            self.orders.push(found.order().into_iter().map(|at| self.pool[at]).collect());
        }
        Ok(())
    }

    /// The mean fraction of `features` that a search on a subsample finds as well.
    pub fn agreement(&mut self, features: &[usize], ctx: &Context) -> Result<f64> {
        self.extend(N_CHECKED, ctx)?;
        let k = features.len();
        let shared = |order: &Vec<usize>| order.iter().take(k).filter(|f| features.contains(f)).count();
        let total: usize = self.orders[..N_CHECKED].iter().map(shared).sum();
        Ok(total as f64 / (N_CHECKED * k) as f64)
    }

    /// For each of `d` features the mean of one over the root of its place among the first `count` of `n` searches.
    pub fn scores(&mut self, d: usize, count: usize, n: usize, ctx: &Context) -> Result<Vec<f64>> {
        self.extend(n, ctx)?;
        let mut scores = vec![0.0; d];
        for order in &self.orders[..n] {
            for (place, &feature) in (1..=count).zip(order) {
                scores[feature] += 1.0 / ((place as f64).sqrt() * n as f64);
            }
        }
        Ok(scores)
    }
}

/// Four fifths of the rows of every class, or of rows with similar numbers, in the same order. Copies of a row are drawn
/// one by one.
fn subsample(data: &Dataset, used: &WeightedRows, number: usize, seed: u64) -> WeightedRows {
    let repeated = used.repeated();
    let rows: Vec<usize> = repeated.iter().map(|&at| used.rows[at]).collect();
    let mut rng = Rng::stream(seed, &format!("NCA subsample {number}"));
    if let Target::Classes(_) = data.target() {
        // Draws do not depend on the names of classes: they are made in the order of their first rows.
        let mut classes: Vec<(Range<usize>, Vec<usize>)> =
            strata(data, &rows).into_iter().map(|at| (at, vec![])).collect();
        classes.sort_by(|(a, _), (b, _)| by_values(data, rows[a.start], rows[b.start]));
        for (at, drawn) in &mut classes {
            *drawn = rng.sample(at.len(), at.len() - at.len() / LEFT_OUT);
        }
        classes.sort_by_key(|(at, _)| at.start);
        let of_class = |(at, drawn): (Range<usize>, Vec<usize>)| drawn.into_iter().map(move |k| at.start + k);
        return used.take(classes.into_iter().flat_map(of_class).map(|at| repeated[at]));
    }
    let mut kept = vec![];
    for part in repeated.chunks(LEFT_OUT) {
        let out = if part.len() == LEFT_OUT { rng.below(LEFT_OUT) } else { LEFT_OUT };
        kept.extend(part.iter().enumerate().filter(|(k, _)| *k != out).map(|(_, &at)| at));
    }
    used.take(kept.into_iter())
}
