//! Triplets from classes: rows of the same class are more similar.

use super::draw::{NAME, draw, need_rows};
use super::triplet::Triplet;
use crate::data::target::Classes;
use crate::error::{Error, Result};
use crate::random::Rng;

/// Draws `n` triplets from classes: a row, another row of its class, and a row of another class.
///
/// The single row of a class is never the first of a triplet.
pub fn from_labels(classes: &Classes, n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let rows: Vec<usize> = (0..classes.codes.len()).collect();
    from_labels_within(classes, &rows, n, seed)
}

/// Like [`from_labels`], with these rows only. Their order and duplicates do not matter.
pub fn from_labels_within(classes: &Classes, rows: &[usize], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let mut rows = need_rows(rows, classes.codes.len(), n)?;
    let code = |row: &usize| classes.codes[*row];
    if rows.iter().all(|row| code(row) == code(&rows[0])) {
        return Err(Error::OneClass { method: NAME, class: classes.names[code(&rows[0])].clone() });
    }
    // Sort by class, so that each class is a contiguous range.
    rows.sort_by_key(code);
    let mut runs = Vec::with_capacity(rows.len());
    for class in rows.chunk_by(|a, b| code(a) == code(b)) {
        let start = runs.len();
        runs.extend(std::iter::repeat_n(start..start + class.len(), class.len()));
    }
    let anchors: Vec<usize> = (0..rows.len()).filter(|&place| runs[place].len() > 1).collect();
    if anchors.is_empty() {
        return Err(Error::SingletonClasses { method: NAME, rows: rows.len() });
    }
    let mut rng = Rng::stream(seed, "triples");
    let drawn = draw(anchors, n, &mut rng, |place, wanted, rng| {
        let run = &runs[place];
        let others = rows.len() - run.len();
        let pair = |code: usize| {
            let (j, k) = (run.start + code / others, code % others);
            [j + usize::from(j >= place), if k < run.start { k } else { k + run.len() }]
        };
        rng.sample((run.len() - 1) * others, wanted).into_iter().map(pair).collect()
    });
    Ok(drawn.into_iter().map(|triplet| triplet.map(|place| rows[place])).collect())
}

#[cfg(test)]
mod tests {
    use super::super::check::check;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All valid triplets, by brute force.
    fn all_triplets(codes: &[usize], rows: &[usize]) -> BTreeSet<Triplet> {
        let mut all = BTreeSet::new();
        for &i in rows {
            for &j in rows.iter().filter(|&&j| j != i && codes[j] == codes[i]) {
                all.extend(rows.iter().filter(|&&k| codes[k] != codes[i]).map(|&k| [i, j, k]));
            }
        }
        all
    }

    fn distinct(triplets: &[Triplet]) -> BTreeSet<Triplet> {
        triplets.iter().copied().collect()
    }

    #[test]
    fn two_pairs_by_hand() {
        let classes = Classes::from_codes(vec![0, 1, 0, 1]);
        let expected =
            [[0, 2, 1], [0, 2, 3], [1, 3, 0], [1, 3, 2], [2, 0, 1], [2, 0, 3], [3, 1, 0], [3, 1, 2]];
        let drawn = from_labels(&classes, 8, 1).unwrap();
        assert_eq!(distinct(&drawn).into_iter().collect::<Vec<_>>(), expected);
        // Each twice, and three of them three times.
        let drawn = from_labels(&classes, 19, 1).unwrap();
        let times = |t: &Triplet| drawn.iter().filter(|u| *u == t).count();
        assert!(expected.iter().all(|t| (2..=3).contains(&times(t))));
        assert_eq!(drawn.len(), 19);
    }

    #[test]
    fn a_seed_determines_the_triplets() {
        let classes = Classes::from_codes((0..60).map(|i| i % 3).collect());
        let draw = |seed| from_labels(&classes, 200, seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        // The order of rows and duplicates do not matter.
        let mut rows: Vec<usize> = (0..60).rev().collect();
        rows.push(7);
        assert_eq!(from_labels_within(&classes, &rows, 200, 1).unwrap(), draw(1));
    }

    #[test]
    fn all_triplets_of_a_large_set_are_drawn_fast() {
        // 3 classes of 50: 150 * 49 * 100 triplets, as in iris.
        let classes = Classes::from_codes((0..150).map(|i| i / 50).collect());
        let total = 150 * 49 * 100;
        for n in [total - 1, total, total + 1] {
            let drawn = from_labels(&classes, n, 3).unwrap();
            assert_eq!(drawn.len(), n);
            assert_eq!(distinct(&drawn).len(), n.min(total));
        }
    }

    #[test]
    fn rows_and_pairs_are_drawn_uniformly() {
        // Classes of very different size: 10 and 90 rows.
        let classes = Classes::from_codes((0..100).map(|i| usize::from(i >= 10)).collect());
        let n = 50_000;
        let drawn = from_labels(&classes, n, 5).unwrap();
        let mut first = [0usize; 100];
        drawn.iter().for_each(|t| first[t[0]] += 1);
        // 500 +- 5 standard deviations of a binomial count; every row has at least 9 * 90 or 89 * 10 triplets.
        assert!(first.iter().all(|&times| times.abs_diff(500) < 5 * 23), "{first:?}");
        // Of row 0: 9 second rows and 90 third ones, from about 500 of 810 pairs.
        let mut second = [0usize; 100];
        drawn.iter().filter(|t| t[0] == 0).for_each(|t| second[t[1]] += 1);
        let mean = first[0] as f64 / 9.0;
        // 5 standard deviations of a count with mean 55; drawing without replacement makes it narrower.
        assert!((1..10).all(|j| (second[j] as f64 - mean).abs() < 5.0 * mean.sqrt()), "{second:?}");
        // The order is random: the first rows of the first half have the mean of those of all, 49.5 +- 5
        // errors.
        let mean = drawn[..n / 2].iter().map(|t| t[0] as f64).sum::<f64>() / (n / 2) as f64;
        assert!((mean - 49.5).abs() < 5.0 * 28.9 / (n as f64 / 2.0).sqrt(), "{mean}");
    }

    #[test]
    fn rows_without_further_triplets_are_not_drawn() {
        // Rows 0 and 1 have 3 triplets each, the other three have 2 * 2 = 4 each.
        let classes = Classes::from_codes(vec![0, 0, 1, 1, 1]);
        let drawn = from_labels(&classes, 17, 2).unwrap();
        assert_eq!(distinct(&drawn).len(), 17);
        assert!(distinct(&drawn).is_subset(&all_triplets(&classes.codes, &[0, 1, 2, 3, 4])));
    }

    #[test]
    fn invalid_classes_are_rejected() {
        let message = |codes: &[usize], n| {
            from_labels(&Classes::from_codes(codes.to_vec()), n, 0).unwrap_err().to_string()
        };
        assert!(message(&[1, 1, 1], 5).starts_with("drawing triplets: all rows have the class '1'"));
        assert!(
            message(&[0, 1, 2], 5).starts_with("drawing triplets: each of the 3 classes has a single row")
        );
        assert_eq!(message(&[0, 1], 5), "drawing triplets: needs at least 3 rows, got 2");
        assert_eq!(message(&[0, 0, 1], 0), "drawing triplets: parameter 'n' must be at least 1, got 0");
        assert!(message(&[0, 0, 1], usize::MAX).contains("draw fewer triplets"));
        let classes = Classes::from_codes(vec![0, 0, 1, 1]);
        let within = |rows: &[usize]| from_labels_within(&classes, rows, 5, 0).unwrap_err().to_string();
        assert_eq!(within(&[0, 1, 4]), "rows to draw triplets from: expected indices below 4, got 4");
        assert_eq!(within(&[0, 1, 1, 0]), "drawing triplets: needs at least 3 rows, got 2");
    }

    proptest! {
        #[test]
        fn triplets_are_valid_and_repeat_only_when_exhausted(
            codes in proptest::collection::vec(0usize..4, 3..14),
            keep in proptest::collection::vec(any::<bool>(), 14),
            n in 1usize..400,
            seed in any::<u64>(),
        ) {
            let rows: Vec<usize> = (0..codes.len()).filter(|&row| keep[row]).collect();
            let possible = all_triplets(&codes, &rows);
            match from_labels_within(&Classes::from_codes(codes.clone()), &rows, n, seed) {
                Err(_) => prop_assert!(possible.is_empty()),
                Ok(drawn) => {
                    prop_assert_eq!(drawn.len(), n);
                    let different = distinct(&drawn);
                    prop_assert!(different.is_subset(&possible));
                    prop_assert_eq!(different.len(), n.min(possible.len()));
                    let times = |t: &Triplet| drawn.iter().filter(|u| *u == t).count();
                    prop_assert!(different.iter().all(|t| times(t) <= n.div_ceil(possible.len())));
                    prop_assert!(check(&drawn, codes.len()).unwrap().is_consistent());
                }
            }
        }
    }
}
