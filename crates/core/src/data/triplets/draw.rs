//! Triples drawn from what is known about the rows.
//!
//! A row i is drawn, each with the same chance; then a row j it is more like and a row k it is less like,
//! each pair with the same chance. No triple is drawn twice as long as there are others: a row i all of whose
//! triples are drawn stands back, and only when every triple is drawn do they come again, each as often as
//! the others but for the rest of the division. So `n` triples are returned whatever `n` is, in random order,
//! after about `n` steps.

use super::{Triplet, continuous};
use crate::context::Context;
use crate::data::{Classes, Target};
use crate::error::{Error, Result};
use crate::random::Rng;

/// What errors call this.
pub(super) const NAME: &str = "drawing triples";

/// Draws `n` triples: a row, another row of its class, and a row of another class.
///
/// Rows that are alone in their class are never the first of a triple.
pub fn from_labels(classes: &Classes, n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let rows: Vec<usize> = (0..classes.codes.len()).collect();
    from_labels_within(classes, &rows, n, seed)
}

/// Draws `n` triples as [`from_labels`] does, of these rows only; their order and repetitions do not matter.
pub fn from_labels_within(classes: &Classes, rows: &[usize], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    let mut rows = need_rows(rows, classes.codes.len(), n)?;
    let code = |row: &usize| classes.codes[*row];
    if rows.iter().all(|row| code(row) == code(&rows[0])) {
        return Err(Error::OneClass { method: NAME, class: classes.names[code(&rows[0])].clone() });
    }
    // Class after class, so that a class is a run of places and all other classes are the rest.
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

/// Draws `n` triples from a target, of these rows only: [`from_labels_within`] or
/// [`from_continuous_within`](super::from_continuous_within).
pub fn from_target(target: &Target, rows: &[usize], n: usize, seed: u64) -> Result<Vec<Triplet>> {
    match target {
        Target::None => Err(Error::NeedsTarget { method: NAME }),
        Target::Classes(classes) => from_labels_within(classes, rows, n, seed),
        Target::Continuous(values) => continuous::from_continuous_within(values, rows, n, seed),
    }
}

/// The rows, each once and in rising order, if triples can be drawn from them.
pub(super) fn need_rows(rows: &[usize], n_rows: usize, n: usize) -> Result<Vec<usize>> {
    if n == 0 {
        return Err(Error::param(NAME, "n", "at least 1", n));
    }
    // A triple, its place among those of its first row, and a node of the set that holds it.
    Context::default().need_memory(format!("drawing {n} triples"), n as f64 * 80.0, "draw fewer triples")?;
    if let Some(row) = rows.iter().find(|&&row| row >= n_rows) {
        return Err(Error::Shape {
            what: "rows to draw triples of".into(),
            expected: format!("below {n_rows}"),
            got: row.to_string(),
        });
    }
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows.dedup();
    if rows.len() < 3 {
        return Err(Error::TooFewRows { method: NAME, need: 3, got: rows.len() });
    }
    Ok(rows)
}

/// Draws `n` triples. `pairs` gives as many different pairs of an anchor as wanted, or all if there are
/// fewer.
///
/// There must be a triple.
pub(super) fn draw(
    mut anchors: Vec<usize>,
    n: usize,
    rng: &mut Rng,
    mut pairs: impl FnMut(usize, usize, &mut Rng) -> Vec<[usize; 2]>,
) -> Vec<Triplet> {
    let places = anchors.iter().max().map_or(0, |&most| most + 1);
    let mut wanted = vec![0usize; places];
    let mut drawn: Vec<Vec<[usize; 2]>> = vec![vec![]; places];
    let mut left = n;
    while left > 0 && !anchors.is_empty() {
        (0..left).for_each(|_| wanted[anchors[rng.below(anchors.len())]] += 1);
        left = 0;
        anchors.retain(|&i| {
            if wanted[i] == drawn[i].len() {
                return true;
            }
            drawn[i] = pairs(i, wanted[i], rng);
            let missing = wanted[i] - drawn[i].len();
            left += missing;
            missing == 0
        });
    }
    let mut all: Vec<Triplet> = (0..places)
        .flat_map(|i| std::mem::take(&mut drawn[i]).into_iter().map(move |[j, k]| [i, j, k]))
        .collect();
    // More are wanted than there are: all of them again and again, and a sample for the rest.
    let there_are = all.len();
    while there_are > 0 && all.len() < n {
        let more = rng.sample(there_are, n - all.len());
        all.extend(more.into_iter().map(|at| all[at]).collect::<Vec<_>>());
    }
    rng.shuffle(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All triples that labels allow, by trying all.
    fn all_triples(codes: &[usize], rows: &[usize]) -> BTreeSet<Triplet> {
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
        // Twice each, and three of them a third time.
        let drawn = from_labels(&classes, 19, 1).unwrap();
        let times = |t: &Triplet| drawn.iter().filter(|u| *u == t).count();
        assert!(expected.iter().all(|t| (2..=3).contains(&times(t))));
        assert_eq!(drawn.len(), 19);
    }

    #[test]
    fn a_seed_gives_its_triples() {
        let classes = Classes::from_codes((0..60).map(|i| i % 3).collect());
        let draw = |seed| from_labels(&classes, 200, seed).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        // One thread draws, so that the number of threads plays no part; rows may come in any order.
        let mut rows: Vec<usize> = (0..60).rev().collect();
        rows.push(7);
        assert_eq!(from_labels_within(&classes, &rows, 200, 1).unwrap(), draw(1));
    }

    #[test]
    fn all_of_a_large_number_are_drawn_fast() {
        // 3 classes of 50: 150 * 49 * 100 triples, as iris has.
        let classes = Classes::from_codes((0..150).map(|i| i / 50).collect());
        let total = 150 * 49 * 100;
        for n in [total - 1, total, total + 1] {
            let drawn = from_labels(&classes, n, 3).unwrap();
            assert_eq!(drawn.len(), n);
            assert_eq!(distinct(&drawn).len(), n.min(total));
        }
    }

    #[test]
    fn rows_are_first_equally_often_and_pairs_are_even() {
        // Classes of very different size: 10 and 90 rows.
        let classes = Classes::from_codes((0..100).map(|i| usize::from(i >= 10)).collect());
        let n = 50_000;
        let drawn = from_labels(&classes, n, 5).unwrap();
        let mut first = [0usize; 100];
        drawn.iter().for_each(|t| first[t[0]] += 1);
        // 500 +- 5 standard deviations of a binomial count; no row has fewer than 9 * 90 or 89 * 10 triples.
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
    fn rows_whose_triples_are_used_up_stand_back() {
        // Rows 0 and 1 have 3 triples each, the other three have 2 * 2 = 4 each.
        let classes = Classes::from_codes(vec![0, 0, 1, 1, 1]);
        let drawn = from_labels(&classes, 17, 2).unwrap();
        assert_eq!(distinct(&drawn).len(), 17);
        assert!(distinct(&drawn).is_subset(&all_triples(&classes.codes, &[0, 1, 2, 3, 4])));
    }

    #[test]
    fn wrong_labels_are_explained() {
        let message = |codes: &[usize], n| {
            from_labels(&Classes::from_codes(codes.to_vec()), n, 0).unwrap_err().to_string()
        };
        assert!(message(&[1, 1, 1], 5).starts_with("drawing triples: all rows have the class '1'"));
        assert!(message(&[0, 1, 2], 5).starts_with("drawing triples: every row is alone in its class"));
        assert_eq!(message(&[0, 1], 5), "drawing triples: needs at least 3 rows, got 2");
        assert_eq!(message(&[0, 0, 1], 0), "drawing triples: parameter 'n' must be at least 1, got 0");
        assert!(message(&[0, 0, 1], usize::MAX).contains("draw fewer triples"));
        let classes = Classes::from_codes(vec![0, 0, 1, 1]);
        let within = |rows: &[usize]| from_labels_within(&classes, rows, 5, 0).unwrap_err().to_string();
        assert_eq!(within(&[0, 1, 4]), "rows to draw triples of: expected below 4, got 4");
        assert_eq!(within(&[0, 1, 1, 0]), "drawing triples: needs at least 3 rows, got 2");
        assert!(
            from_target(&Target::None, &[0, 1, 2], 5, 0).unwrap_err().to_string().contains("needs a target")
        );
        let target = Target::Classes(classes.clone());
        assert_eq!(from_target(&target, &[0, 1, 2, 3], 5, 9).unwrap(), from_labels(&classes, 5, 9).unwrap());
    }

    proptest! {
        #[test]
        fn every_triple_is_valid_and_none_is_drawn_twice_in_vain(
            codes in proptest::collection::vec(0usize..4, 3..14),
            keep in proptest::collection::vec(any::<bool>(), 14),
            n in 1usize..400,
            seed in any::<u64>(),
        ) {
            let rows: Vec<usize> = (0..codes.len()).filter(|&row| keep[row]).collect();
            let possible = all_triples(&codes, &rows);
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
