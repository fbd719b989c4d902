//! The table of weak classifiers' votes, and the error of an ensemble with one more voter.
//!
//! Two classes: with $p$ votes for class 1 so far, the ensemble predicts 1 if $p \ge s$, and $s$ is free. For a
//! candidate, only the numbers of samples by ($p$, class, candidate's vote) matter. They are counted for 64
//! candidates at once, one byte per vote and sample, so that the counting is vectorized. More classes: the ensemble
//! predicts the class with most votes. Whether a prediction is correct after one more vote depends only on the
//! class of that vote, so a small table per sample serves all candidates.
//!
//! All counts are integers, so neither blocking nor threads can change them.

use super::weak::Labels;
use crate::simd::{VOTERS, count_votes, vectorized};
use rayon::prelude::*;

/// Samples per task; a count must fit in 16 bits.
const CHUNK: usize = 16 * 1024;
/// Samples transposed into a tile at a time, which fit in the L1 cache.
const BLOCK: usize = 512;

/// Votes of all voters on all samples.
pub(super) struct Votes {
    n: usize,
    /// Errors of each single voter.
    errors: Vec<u64>,
    /// [`VOTERS`] voters side by side, one row per sample; the last tile is padded with voters that predict 0.
    tiles: Vec<Vec<[u8; VOTERS]>>,
}

impl Votes {
    /// Collects the votes of every voter and counts its errors: an error on a sample of class `c` counts
    /// `weights[c]`.
    pub fn collect<E: Send>(
        labels: &Labels,
        weights: &[u64],
        n_voters: usize,
        column: impl Fn(usize) -> Result<Vec<u8>, E> + Sync,
        mut step: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        let n = labels.n();
        let wrong = |votes: &[u8]| -> u64 {
            let pairs = votes.iter().zip(&labels.codes);
            pairs.map(|(vote, class)| if vote == class { 0 } else { weights[usize::from(*class)] }).sum()
        };
        let (mut tiles, mut errors) = (vec![], vec![]);
        for from in (0..n_voters).step_by(VOTERS) {
            step(from)?;
            let evaluated = |voter: usize| column(voter).map(|votes| (wrong(&votes), votes));
            let columns: Vec<(u64, Vec<u8>)> = (from..n_voters.min(from + VOTERS))
                .into_par_iter()
                .map(evaluated)
                .collect::<Result<_, E>>()?;
            let mut tile = vec![[0; VOTERS]; n];
            tile.par_chunks_mut(BLOCK).enumerate().for_each(|(block, rows)| {
                for (lane, (_, votes)) in columns.iter().enumerate() {
                    let votes = &votes[block * BLOCK..];
                    rows.iter_mut().zip(votes).for_each(|(row, &vote)| row[lane] = vote);
                }
            });
            tiles.push(tile);
            errors.extend(columns.iter().map(|(wrong, _)| wrong));
        }
        Ok(Self { n, errors, tiles })
    }

    /// Number of voters.
    pub fn n_voters(&self) -> usize {
        self.errors.len()
    }

    /// Errors of each single voter.
    pub fn errors(&self) -> &[u64] {
        &self.errors
    }
}

/// An ensemble to which voters are added one by one.
pub(super) trait Ensemble {
    /// Number of errors with each voter added; only those in `candidates` are evaluated.
    fn errors_with_each(&self, candidates: &[bool]) -> Vec<usize>;
    /// Adds a voter permanently.
    fn add(&mut self, voter: usize);
}

/// An empty ensemble of the right kind.
pub(super) fn empty_ensemble<'a>(votes: &'a Votes, labels: &'a Labels) -> Box<dyn Ensemble + 'a> {
    if labels.n_classes() == 2 {
        Box::new(Threshold { votes, labels, positive: vec![0; votes.n], n_added: 0 })
    } else {
        let counts = vec![0; votes.n * labels.n_classes()];
        Box::new(Plurality { votes, labels, counts })
    }
}

/// Two classes: the number of votes for class 1 is compared with the best threshold.
struct Threshold<'a> {
    votes: &'a Votes,
    labels: &'a Labels,
    /// Votes for class 1 so far, per sample.
    positive: Vec<u32>,
    /// Number of voters so far.
    n_added: usize,
}

/// Samples with the same number of votes for class 1.
pub struct Level {
    positive: u32,
    /// Number of samples of class 0 and of class 1.
    rows: [i32; 2],
}

impl Threshold<'_> {
    /// The nonempty levels, and the bucket (level and class) of each sample.
    fn levels(&self) -> (Vec<Level>, Vec<u32>) {
        let mut rows = vec![[0i32; 2]; self.n_added + 1];
        let count = |(positive, codes): (&[u32], &[u8])| {
            let mut rows = vec![[0i32; 2]; self.n_added + 1];
            for (&positive, &class) in positive.iter().zip(codes) {
                rows[positive as usize][usize::from(class)] += 1;
            }
            rows
        };
        let parts: Vec<Vec<[i32; 2]>> =
            self.positive.par_chunks(CHUNK).zip(self.labels.codes.par_chunks(CHUNK)).map(count).collect();
        for (positive, part) in parts.iter().flat_map(|part| part.iter().enumerate()) {
            rows[positive][0] += part[0];
            rows[positive][1] += part[1];
        }
        let mut place = vec![0u32; self.n_added + 1];
        let mut levels = vec![];
        for (positive, &rows) in rows.iter().enumerate().filter(|(_, rows)| rows[0] + rows[1] > 0) {
            place[positive] = levels.len() as u32;
            levels.push(Level { positive: positive as u32, rows });
        }
        let bucket = |(&positive, &class): (&u32, &u8)| 2 * place[positive as usize] + u32::from(class);
        let buckets =
            self.positive.par_iter().zip(&self.labels.codes).with_min_len(BLOCK).map(bucket).collect();
        (levels, buckets)
    }
}

impl Ensemble for Threshold<'_> {
    fn errors_with_each(&self, candidates: &[bool]) -> Vec<usize> {
        let (levels, buckets) = self.levels();
        let tile_errors = |(tile, candidates): (&Vec<[u8; VOTERS]>, &[bool])| {
            if !candidates.contains(&true) {
                return vec![0; candidates.len()];
            }
            let counts = count(tile, &buckets, 2 * levels.len());
            fewest_errors(&levels, &counts)
                .iter()
                .take(candidates.len())
                .map(|&errors| errors as usize)
                .collect()
        };
        let parts: Vec<Vec<usize>> =
            self.votes.tiles.par_iter().zip(candidates.par_chunks(VOTERS)).map(tile_errors).collect();
        parts.concat()
    }

    fn add(&mut self, voter: usize) {
        let (tile, lane) = (&self.votes.tiles[voter / VOTERS], voter % VOTERS);
        let rows = self.positive.par_iter_mut().zip(tile).with_min_len(BLOCK);
        rows.for_each(|(positive, votes)| *positive += u32::from(votes[lane]));
        self.n_added += 1;
    }
}

/// Votes for class 1 in each bucket, for every voter of a tile.
fn count(tile: &[[u8; VOTERS]], buckets: &[u32], n_buckets: usize) -> Vec<[i32; VOTERS]> {
    let one = |(tile, buckets): (&[[u8; VOTERS]], &[u32])| {
        let mut counts = vec![[0u16; VOTERS]; n_buckets];
        count_votes(&mut counts, buckets, tile);
        counts
    };
    let mut total = vec![[0i32; VOTERS]; n_buckets];
    let mut accumulate = |part: Vec<[u16; VOTERS]>| {
        for (total, part) in total.iter_mut().zip(&part) {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += i32::from(*part));
        }
    };
    if tile.len() <= CHUNK {
        accumulate(one((tile, buckets)));
    } else {
        let parts: Vec<_> = tile.par_chunks(CHUNK).zip(buckets.par_chunks(CHUNK)).map(one).collect();
        parts.into_iter().for_each(accumulate);
    }
    total
}

vectorized! {
    /// For each voter of a tile, the minimum number of errors over all thresholds once its votes are added. `positive[2
    /// l + c]` contains the votes for class 1 among samples of level `l` and class `c`.
    pub fn fewest_errors(levels: &[Level], positive: &[[i32; VOTERS]]) -> [i32; VOTERS] {
        // With the lowest threshold every sample is predicted as 1. Raising it past a level changes its predictions
        // to 0, which corrects samples of class 0 and misclassifies those of class 1.
        let mut errors = [levels.iter().map(|level| level.rows[0]).sum::<i32>(); VOTERS];
        let mut least = errors;
        // Samples of the level below that got one more vote, class 1 minus class 0, and their new level.
        let mut raised = [0; VOTERS];
        let mut raised_at = 0;
        for (level, positive) in levels.iter().zip(positive.as_chunks::<2>().0) {
            let merge = raised_at == level.positive;
            for i in 0..VOTERS {
                let stay = (level.rows[1] - positive[1][i]) - (level.rows[0] - positive[0][i]);
                errors[i] += raised[i];
                // Samples raised to this level are passed together with those that stay.
                least[i] = if merge { least[i] } else { least[i].min(errors[i]) };
                errors[i] += stay;
                least[i] = least[i].min(errors[i]);
                raised[i] = positive[1][i] - positive[0][i];
            }
            raised_at = level.positive + 1;
        }
        for i in 0..VOTERS {
            least[i] = least[i].min(errors[i] + raised[i]);
        }
        least
    }
}

/// More classes: the class with most votes wins; ties are broken by class frequency, then by class order.
struct Plurality<'a> {
    votes: &'a Votes,
    labels: &'a Labels,
    /// Votes so far, by sample and class.
    counts: Vec<u32>,
}

impl Plurality<'_> {
    /// Whether the prediction for sample `row` is correct after one more vote for each class.
    fn correct_with(&self, row: usize, right: &mut [bool]) {
        let classes = self.labels.n_classes();
        let counts = &self.counts[row * classes..(row + 1) * classes];
        let own = usize::from(self.labels.codes[row]);
        let rank = |class: usize, votes: u32| (votes, self.labels.counts[class], std::cmp::Reverse(class));
        let others = (0..classes).filter(|&class| class != own);
        let rival = others.map(|class| rank(class, counts[class])).max();
        for (extra, right) in right.iter_mut().enumerate() {
            let own_rank = rank(own, counts[own] + u32::from(extra == own));
            *right = rival < Some(own_rank) && (extra == own || rank(extra, counts[extra] + 1) < own_rank);
        }
    }
}

impl Ensemble for Plurality<'_> {
    fn errors_with_each(&self, candidates: &[bool]) -> Vec<usize> {
        let classes = self.labels.n_classes();
        let mut wrong = vec![0u8; self.votes.n * classes];
        wrong.par_chunks_mut(classes).enumerate().for_each_init(
            || vec![false; classes],
            |right, (row, wrong)| {
                self.correct_with(row, right);
                wrong.iter_mut().zip(right).for_each(|(w, r)| *w = u8::from(!*r));
            },
        );
        let tile_errors = |(tile, candidates): (&Vec<[u8; VOTERS]>, &[bool])| {
            let mut errors = [0usize; VOTERS];
            if candidates.contains(&true) {
                for (votes, wrong) in tile.iter().zip(wrong.chunks(classes)) {
                    for (errors, &vote) in errors.iter_mut().zip(votes) {
                        *errors += usize::from(wrong[usize::from(vote)]);
                    }
                }
            }
            errors[..candidates.len()].to_vec()
        };
        let parts: Vec<Vec<usize>> =
            self.votes.tiles.par_iter().zip(candidates.par_chunks(VOTERS)).map(tile_errors).collect();
        parts.concat()
    }

    fn add(&mut self, voter: usize) {
        let classes = self.labels.n_classes();
        let (tile, lane) = (&self.votes.tiles[voter / VOTERS], voter % VOTERS);
        let rows = self.counts.par_chunks_mut(classes).zip(tile).with_min_len(BLOCK);
        rows.for_each(|(counts, votes)| counts[usize::from(votes[lane])] += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::random::Rng;

    fn table(labels: &Labels, columns: &[Vec<u8>]) -> Votes {
        let column = |i: usize| Ok::<_, ()>(columns[i].clone());
        Votes::collect(labels, &labels.weights(false), columns.len(), column, |_| Ok(())).unwrap()
    }

    /// Tries every threshold.
    fn exhaustive(positive: &[u32], vote: &[u8], codes: &[u8]) -> usize {
        let most = positive.iter().max().unwrap() + 2;
        let errors = |s: u32| {
            let predicts = |i: usize| u8::from(positive[i] + u32::from(vote[i]) >= s);
            (0..codes.len()).filter(|&i| predicts(i) != codes[i]).count()
        };
        (0..=most).map(errors).min().unwrap()
    }

    #[test]
    fn the_threshold_search_is_exhaustive() {
        let mut rng = Rng::new(4);
        for case in 0..300 {
            let n = 2 + rng.below(40);
            let d = 1 + rng.below(if case % 10 == 0 { 100 } else { 8 });
            let columns: Vec<Vec<u8>> =
                (0..d).map(|_| (0..n).map(|_| rng.below(2) as u8).collect()).collect();
            let mut codes: Vec<usize> = (0..n).map(|_| rng.below(2)).collect();
            (codes[0], codes[1]) = (0, 1);
            let labels = Labels::new(&Classes::from_codes(codes), "m").unwrap();
            let votes = table(&labels, &columns);
            let mut ensemble = empty_ensemble(&votes, &labels);
            let mut positive = vec![0; n];
            let mut candidates = vec![true; d];
            for _ in 0..d.min(12) {
                let got = ensemble.errors_with_each(&candidates);
                for i in (0..d).filter(|&i| candidates[i]) {
                    assert_eq!(got[i], exhaustive(&positive, &columns[i], &labels.codes));
                }
                let next = rng.below(d);
                ensemble.add(next);
                candidates[next] = false;
                positive.iter_mut().zip(&columns[next]).for_each(|(a, &v)| *a += u32::from(v));
            }
        }
    }

    #[test]
    fn plurality_by_hand() {
        // Three classes; class 2 is the most frequent.
        let labels = Labels::new(&Classes::from_codes(vec![0, 1, 2, 2]), "m").unwrap();
        let votes = table(&labels, &[vec![0, 2, 2, 1], vec![0, 1, 1, 2]]);
        assert_eq!(votes.errors(), [2, 1]);
        let mut ensemble = empty_ensemble(&votes, &labels);
        assert_eq!(ensemble.errors_with_each(&[true, true]), [2, 1]);
        ensemble.add(1);
        // With both: row 1 ties between 1 and 2, rows 2 and 3 as well; class 2 is more frequent.
        assert_eq!(ensemble.errors_with_each(&[true, false])[0], 1);
    }

    #[test]
    fn many_samples_are_counted_in_chunks() {
        let n = 3 * CHUNK + 5;
        let mut rng = Rng::new(9);
        let codes: Vec<usize> = (0..n).map(|_| rng.below(2)).collect();
        let columns: Vec<Vec<u8>> = (0..3).map(|_| (0..n).map(|_| rng.below(2) as u8).collect()).collect();
        let labels = Labels::new(&Classes::from_codes(codes), "m").unwrap();
        let votes = table(&labels, &columns);
        let mut ensemble = empty_ensemble(&votes, &labels);
        ensemble.add(0);
        let positive: Vec<u32> = columns[0].iter().map(|&v| u32::from(v)).collect();
        let got = ensemble.errors_with_each(&[false, true, true]);
        assert_eq!(got[2], exhaustive(&positive, &columns[2], &labels.codes));
    }
}
