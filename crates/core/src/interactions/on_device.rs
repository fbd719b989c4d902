//! Scores of pairs on a device.

use super::blocks::Blocks;
use super::functions::MIN_ROWS;
use super::scores::Scores;
use super::top::{Bounded, Shortlist};
use crate::context::Context;
use crate::device::{Attempt, Device, PairFunctions, PairTiles, Refusal, ScoredPair, Task};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Functions of a range of features, at most, unless a feature has more.
const FUNCTIONS_PER_RANGE: usize = 32_768;
/// Features of the first ranges, whose pairs raise the thresholds for all others.
const FIRST_RANGES: [usize; 3] = [512, 1536, 6144];
/// Features of a range that is not split.
const MIN_RANGE: usize = 256;

/// Adds all pairs that may be among the best to an empty list; false if the device refuses.
pub(super) fn screen_on(
    device: &'static Device,
    scores: &Scores,
    target: &[Vec<f32>],
    list: &mut Shortlist,
    stage: &str,
    ctx: &Context,
) -> Result<bool> {
    let functions = scores.for_device(target);
    let attempt = device.attempt(Task::Pairs, |accelerator| {
        let mut tiles = accelerator.pairs(&functions)?;
        match scores.on_device(&mut *tiles, list, stage, ctx) {
            Ok(attempt) => attempt.map(Ok),
            // An interrupt is no refusal.
            Err(error) => Ok(Err(error)),
        }
    });
    Ok(attempt.transpose()?.is_some())
}

impl Scores<'_> {
    fn for_device<'t>(&'t self, target: &'t [Vec<f32>]) -> PairFunctions<'t> {
        let Blocks { counts, kurtosis, n, .. } = self.blocks;
        let mut starts = vec![0];
        counts.iter().for_each(|count| starts.push(starts[starts.len() - 1] + count));
        PairFunctions {
            n: *n,
            starts,
            parts: self.blocks.blocks.iter().filter_map(|block| block.values.as_slice()).collect(),
            target,
            norms: self.norms.clone(),
            kurtosis: kurtosis.iter().map(|&k| k as f32).collect(),
            // Rounded up.
            max_kurtosis: (*n as f64 / (MIN_ROWS * self.kurtosis) * (1.0 + 1e-6)) as f32,
        }
    }

    /// All pairs, by ranges of features. The outer error is an interrupt.
    fn on_device(
        &self,
        tiles: &mut dyn PairTiles,
        list: &mut Shortlist,
        stage: &str,
        ctx: &Context,
    ) -> Result<Attempt<()>> {
        let ranges = self.ranges();
        let total = ranges.len() * (ranges.len() + 1) / 2;
        let mut done = 0;
        for second in 0..ranges.len() {
            for first in 0..=second {
                ctx.step(stage, done, total)?;
                done += 1;
                let mut open = vec![(ranges[first].clone(), ranges[second].clone())];
                while let Some((a, b)) = open.pop() {
                    ctx.check()?;
                    match tiles.tile(a.clone(), b.clone(), list.thresholds().roots()) {
                        Err(refusal) => return Ok(Err(refusal)),
                        Ok(Some(found)) => {
                            let found = self.bounded(&found, tiles, list);
                            self.add(list, found);
                        }
                        Ok(None) if a.len() <= MIN_RANGE && b.len() <= MIN_RANGE => {
                            return Ok(Err(Refusal::Declined));
                        }
                        Ok(None) => open.extend(halves(a, b)),
                    }
                }
            }
        }
        Ok(Ok(()))
    }

    fn bounded(&self, found: &[ScoredPair], tiles: &dyn PairTiles, list: &Shortlist) -> Vec<Bounded> {
        let (blocks, error, thresholds) = (self.blocks, tiles.error(), list.thresholds());
        let of_pair = |found: &ScoredPair| {
            let (i, j) = (found.features.0 as usize, found.features.1 as usize);
            let error = error.of(found.root, self.norms[i], blocks.counts[j]);
            let functions = blocks.counts[i] * blocks.counts[j];
            let is_spread = blocks.is_spread(i, j, self.kurtosis);
            is_spread.then(|| thresholds.bounded(found.features, (found.root, error), functions))
        };
        found.par_iter().filter_map(of_pair).collect()
    }

    /// Ranges of features, small ones first.
    fn ranges(&self) -> Vec<Range<usize>> {
        let counts = &self.blocks.counts;
        let (mut ranges, mut start) = (vec![], 0);
        while start < counts.len() {
            let most = FIRST_RANGES.get(ranges.len()).copied().unwrap_or(usize::MAX);
            let (mut end, mut functions) = (start, 0);
            while end < counts.len()
                && end - start < most
                && (end == start || functions + counts[end] <= FUNCTIONS_PER_RANGE)
            {
                functions += counts[end];
                end += 1;
            }
            ranges.push(start..end);
            start = end;
        }
        ranges
    }
}

/// Both parts of the larger range, with the other. Parts of one range also have pairs with each other.
fn halves(a: Range<usize>, b: Range<usize>) -> Vec<(Range<usize>, Range<usize>)> {
    let split = |range: &Range<usize>| {
        let middle = range.start + range.len() / 2;
        (range.start..middle, middle..range.end)
    };
    if a == b {
        let (low, high) = split(&a);
        return vec![(low.clone(), low.clone()), (low, high.clone()), (high.clone(), high)];
    }
    if a.len() > b.len() {
        let (low, high) = split(&a);
        vec![(low, b.clone()), (high, b)]
    } else {
        let (low, high) = split(&b);
        vec![(a.clone(), low), (a, high)]
    }
}
