//! Triplets from a continuous target: rows with closer values are more similar.

use super::draw::{NAME, draw, need_rows};
use super::triplet::Triplet;
use crate::error::{Error, Result};
use crate::random::Rng;
use std::collections::BTreeSet;

/// Draws `n` triplets from a continuous target: row i is closer to j than to k, $|y_i - y_j| < |y_i - y_k|$.
///
/// Ties are never drawn.
pub fn from_continuous(y: &[f64], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let rows: Vec<usize> = (0..y.len()).collect();
    from_continuous_within(y, &rows, n, seed)
}

/// Like [`from_continuous`], with these rows only. Their order and duplicates do not matter.
pub fn from_continuous_within(y: &[f64], rows: &[usize], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let mut rows = need_rows(rows, y.len(), n)?;
    if let Some(&row) = rows.iter().find(|&&row| !y[row].is_finite()) {
        return Err(Error::NonFinite { row: row + 1, column: "target".into(), value: y[row] });
    }
    rows.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
    let sorted: Vec<f64> = rows.iter().map(|&row| y[row]).collect();
    if sorted[0] == sorted[sorted.len() - 1] {
        return Err(Error::ConstantTarget { method: NAME, value: sorted[0] });
    }
    let mut neighbors: Option<Neighbors> = None;
    let mut rng = Rng::stream(seed, "triples");
    let drawn = draw((0..rows.len()).collect(), n, &mut rng, |place, wanted, rng| {
        by_rejection(&sorted, place, wanted, rng).unwrap_or_else(|| {
            // Rows with equal values follow each other and share their neighbors.
            let neighbors = match &mut neighbors {
                Some(neighbors) if neighbors.value == sorted[place] => neighbors,
                other => other.insert(Neighbors::new(&sorted, place)),
            };
            rng.sample(neighbors.n_pairs(), wanted)
                .into_iter()
                .map(|code| neighbors.pair(code, place))
                .collect()
        })
    });
    Ok(drawn.into_iter().map(|triplet| triplet.map(|place| rows[place])).collect())
}

/// Distinct pairs by rejection sampling. None if too many samples are rejected, because of ties or because almost all
/// pairs are wanted.
fn by_rejection(sorted: &[f64], place: usize, wanted: usize, rng: &mut Rng) -> Option<Vec<[usize; 2]>> {
    let others = sorted.len() - 1;
    let distance = |other: usize| (sorted[place] - sorted[other]).abs();
    let mut pairs = BTreeSet::new();
    for _ in 0..4 * wanted + 16 {
        let [j, k] = [(); 2].map(|()| {
            let other = rng.below(others);
            other + usize::from(other >= place)
        });
        if distance(j) < distance(k) {
            pairs.insert([j, k]);
        } else if distance(k) < distance(j) {
            pairs.insert([k, j]);
        }
        if pairs.len() == wanted {
            return Some(pairs.into_iter().collect());
        }
    }
    None
}

/// All rows sorted by their distance from a value, which enumerates the pairs of rows at different distances.
struct Neighbors {
    value: f64,
    /// Rows by distance; those at distance 0 in increasing order.
    order: Vec<usize>,
    /// The first row with this value.
    first: usize,
    /// The end of each group of ties in `order` without the row itself.
    ends: Vec<usize>,
    /// Cumulative number of pairs whose closer row is in a group.
    pairs: Vec<usize>,
}

impl Neighbors {
    fn new(sorted: &[f64], place: usize) -> Self {
        let value = sorted[place];
        let first = sorted.partition_point(|&v| v < value);
        let mut right = sorted.partition_point(|&v| v <= value);
        let mut left = first;
        let mut order: Vec<usize> = (first..right).collect();
        let others = sorted.len() - 1;
        let (mut ends, mut pairs) = (vec![order.len() - 1], vec![]);
        let mut last = 0.0;
        while order.len() < sorted.len() {
            let below = left.checked_sub(1).map_or(f64::INFINITY, |at| value - sorted[at]);
            let above = sorted.get(right).map_or(f64::INFINITY, |v| v - value);
            // Differences of huge numbers may be infinite on both sides, and one side may be exhausted.
            let take_left = left > 0 && (below <= above || right == sorted.len());
            let distance = if take_left { below } else { above };
            if distance > last {
                last = distance;
                ends.push(order.len() - 1);
            }
            if take_left {
                left -= 1;
                order.push(left);
            } else {
                order.push(right);
                right += 1;
            }
            *ends.last_mut().expect("the group at distance 0") = order.len() - 1;
        }
        let (mut start, mut sum) = (0, 0);
        for &end in &ends {
            sum += (end - start) * (others - end);
            pairs.push(sum);
            start = end;
        }
        Self { value, order, first, ends, pairs }
    }

    fn n_pairs(&self) -> usize {
        self.pairs.last().copied().unwrap_or(0)
    }

    /// The pair with index `code`, for the row at `place`.
    fn pair(&self, code: usize, place: usize) -> [usize; 2] {
        let group = self.pairs.partition_point(|&before| before <= code);
        let before = |bounds: &[usize]| group.checked_sub(1).map_or(0, |at| bounds[at]);
        let end = self.ends[group];
        let farther = self.order.len() - 1 - end;
        let rest = code - before(&self.pairs);
        // Skip the row itself, which is at distance 0.
        let other = |at: usize| self.order[at + usize::from(at >= place - self.first)];
        [other(before(&self.ends) + rest / farther), other(end + rest % farther)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::*;
    use crate::random::Rng;
    use proptest::prelude::*;

    fn all_triplets(y: &[f64]) -> BTreeSet<Triplet> {
        let mut all = BTreeSet::new();
        for i in 0..y.len() {
            for j in (0..y.len()).filter(|&j| j != i) {
                let nearer = |k: &usize| *k != i && (y[i] - y[j]).abs() < (y[i] - y[*k]).abs();
                all.extend((0..y.len()).filter(nearer).map(|k| [i, j, k]));
            }
        }
        all
    }

    fn distinct(triplets: &[Triplet]) -> BTreeSet<Triplet> {
        triplets.iter().copied().collect()
    }

    #[test]
    fn three_numbers_by_hand() {
        // The middle one is equally far from both.
        let drawn = from_continuous(&[1.0, 0.0, 2.0], 2, 1).unwrap();
        assert_eq!(distinct(&drawn), BTreeSet::from([[1, 0, 2], [2, 0, 1]]));
        assert_eq!(from_continuous(&[0.0, 0.0, 5.0], 2, 1).unwrap().len(), 2);
        assert_eq!(
            distinct(&from_continuous(&[0.0, -0.0, 5.0], 9, 1).unwrap()),
            BTreeSet::from([[0, 1, 2], [1, 0, 2]])
        );
    }

    #[test]
    fn invalid_targets_are_rejected() {
        let message = |y: &[f64]| from_continuous(y, 5, 0).unwrap_err().to_string();
        assert!(message(&[2.0; 4]).starts_with("drawing triplets: the target is 2 in every row"));
        assert_eq!(message(&[1.0, 2.0]), "drawing triplets: needs at least 3 rows, got 2");
        assert!(
            message(&[1.0, f64::NAN, 2.0]).starts_with("row 2, column 'target': NaN is not a finite number")
        );
        let y = [1.0, f64::NAN, 2.0, 4.0];
        assert_eq!(from_continuous_within(&y, &[3, 0, 2], 4, 0).unwrap().len(), 4);
    }

    #[test]
    fn rows_and_pairs_are_drawn_uniformly() {
        // Half of the values are zero: with many ties both ways of drawing are used.
        let mut rng = Rng::new(4);
        let y: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { 0.0 } else { rng.normal() }).collect();
        let n = 30_000;
        let drawn = from_continuous(&y, n, 5).unwrap();
        let mut first = [0usize; 60];
        drawn.iter().for_each(|t| first[t[0]] += 1);
        // 500 +- 5 standard deviations of a binomial count; every row has more than 1000 triplets.
        assert!(first.iter().all(|&times| times.abs_diff(500) < 5 * 23), "{first:?}");
        // Row 1 sees 30 zeros and 29 others; the chance of a zero to be the nearer is that over all its
        // pairs.
        let of_one = |triplets: &mut dyn Iterator<Item = Triplet>| {
            let zeros: Vec<bool> = triplets.filter(|t| t[0] == 1).map(|t| y[t[1]] == 0.0).collect();
            (zeros.iter().filter(|&&zero| zero).count() as f64 / zeros.len() as f64, zeros.len())
        };
        let (expected, _) = of_one(&mut all_triplets(&y).into_iter());
        let (got, times) = of_one(&mut drawn.iter().copied());
        // Five standard errors of a fraction.
        assert!((got - expected).abs() < 2.5 / (times as f64).sqrt(), "{got} {expected}");
    }

    #[test]
    fn many_rows_and_many_ties_are_fast() {
        // A thousand numbers among a hundred thousand zeros: hardly a pair tried at random is not a tie.
        let y: Vec<f64> = (0..100_000).map(|i| if i % 100 == 0 { f64::from(i) } else { 0.0 }).collect();
        let drawn = from_continuous(&y, 1500, 6).unwrap();
        assert_eq!(distinct(&drawn).len(), 1500);
        assert!(drawn.iter().all(|&[i, j, k]| (y[i] - y[j]).abs() < (y[i] - y[k]).abs()));
    }

    proptest! {
        #[test]
        fn triplets_are_valid_and_repeat_only_when_exhausted(
            y in proptest::collection::vec(
                prop_oneof![(-3i32..4).prop_map(f64::from), any::<f64>(), Just(1e308), Just(-1e308)], 3..9),
            n in 1usize..400,
            seed in any::<u64>(),
        ) {
            let possible = if y.iter().all(|v| v.is_finite()) { all_triplets(&y) } else { BTreeSet::new() };
            match from_continuous(&y, n, seed) {
                Err(_) => prop_assert!(possible.is_empty()),
                Ok(drawn) => {
                    prop_assert_eq!(drawn.len(), n);
                    let different = distinct(&drawn);
                    prop_assert!(different.is_subset(&possible));
                    prop_assert_eq!(different.len(), n.min(possible.len()));
                    let times = |t: &Triplet| drawn.iter().filter(|u| *u == t).count();
                    prop_assert!(different.iter().all(|t| times(t) <= n.div_ceil(possible.len())));
                    prop_assert!(check(&drawn, y.len()).unwrap().is_consistent());
                }
            }
        }
    }
}
