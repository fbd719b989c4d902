//! Splits into training and test triplets.
//!
//! Accuracy on training rows is optimistic, so the rows are split, and a triplet belongs to the side that has all three
//! of its rows. Triplets with rows on both sides are discarded: of random triplets, a side with a fraction p of the rows
//! keeps p³. If that leaves too few, the triplets can be split instead of the rows; this tests whether triplets are
//! consistent with each other, not whether they generalize to new rows.

use super::triplet::{Triplet, points};
use crate::data::folds::Splits;
use crate::data::split_rule::Fold;
use crate::data::target::Target;
use crate::error::{Error, Result};
use crate::random::Rng;

/// Training and test triplets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TripletSplit {
    /// The rows of both sides. After a split by triplets, a row can be on both.
    pub points: Fold,
    /// Training triplets.
    pub train: Vec<Triplet>,
    /// Test triplets.
    pub test: Vec<Triplet>,
    /// Number of discarded triplets, which have rows on both sides.
    pub straddling: usize,
}

/// Splits `n` rows into training and test rows, so that triplets can be drawn within each side.
///
/// [`Splits::split`] stratifies by class.
pub fn split_points(n: usize, test_size: f64, seed: u64) -> Result<Fold> {
    let fold = Splits::Holdout { test_size, repeats: 1 }.split(&Target::None, n, seed)?;
    Ok(fold.into_iter().next().expect("one repeat has one split"))
}

/// Splits the rows of triplets, and with them the triplets.
pub fn hold_out_points(triplets: &[Triplet], test_size: f64, seed: u64) -> Result<TripletSplit> {
    let points = points(triplets);
    let split = split_points(points.len(), test_size, seed)?;
    let rows = |side: &[usize]| side.iter().map(|&at| points[at]).collect();
    apply_split(triplets, Fold { train: rows(&split.train), test: rows(&split.test) })
}

/// Splits triplets by rows that are already split. Triplets with a row on neither side are discarded as well.
pub fn apply_split(triplets: &[Triplet], split: Fold) -> Result<TripletSplit> {
    let n = split.train.iter().chain(&split.test).max().map_or(0, |&row| row + 1);
    split.check(n, 0)?;
    let side = |rows: &[usize]| {
        let mut is_member = vec![false; n];
        rows.iter().for_each(|&row| is_member[row] = true);
        let within = |t: &&Triplet| t.iter().all(|&row| is_member.get(row) == Some(&true));
        triplets.iter().filter(within).copied().collect::<Vec<_>>()
    };
    let (train, test) = (side(&split.train), side(&split.test));
    let straddling = triplets.len() - train.len() - test.len();
    for (side, rows, name) in [(&train, split.train.len(), "training"), (&test, split.test.len(), "test")] {
        if side.is_empty() {
            let why = format!(
                "none of the {} triplets has all three rows among the {rows} {name} rows; use more triplets, another \
                 fraction of test rows, or split by triplets",
                triplets.len()
            );
            return Err(Error::Breakdown { step: "splitting triplets by rows", why });
        }
    }
    Ok(TripletSplit { points: split, train, test, straddling })
}

/// Splits triplets regardless of their rows. Duplicates and opposites stay on the same side.
pub fn hold_out_triplets(triplets: &[Triplet], test_size: f64, seed: u64) -> Result<TripletSplit> {
    if !(test_size > 0.0 && test_size < 1.0) {
        return Err(Error::param(NAME, "test_size", "between 0 and 1", test_size));
    }
    let comparisons = comparisons(triplets, 2)?;
    let n = comparisons.len();
    let wanted = ((test_size * n as f64).round() as usize).clamp(1, n - 1);
    let mut is_test = vec![false; n];
    Rng::stream(seed, "splits").sample(n, wanted).into_iter().for_each(|at| is_test[at] = true);
    Ok(partition(triplets, |t| is_test[index(&comparisons, t)]))
}

/// Splits triplets into folds, regardless of their rows. Duplicates and opposites stay in the same fold.
pub fn triplet_folds(triplets: &[Triplet], folds: usize, seed: u64) -> Result<Vec<TripletSplit>> {
    if folds < 2 {
        return Err(Error::param(NAME, "folds", "2 or more", folds));
    }
    let comparisons = comparisons(triplets, folds)?;
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    Rng::stream(seed, "splits").shuffle(&mut order);
    let mut fold_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(rank, &at)| fold_of[at] = rank % folds);
    Ok((0..folds).map(|fold| partition(triplets, |t| fold_of[index(&comparisons, t)] == fold)).collect())
}

const NAME: &str = "splitting triplets";

/// The comparison that a triplet makes, regardless of its outcome: the same for a triplet and its opposite.
fn comparison(&[i, j, k]: &Triplet) -> Triplet {
    [i, j.min(k), j.max(k)]
}

/// The distinct comparisons, sorted, of which there must be at least `need`.
fn comparisons(triplets: &[Triplet], need: usize) -> Result<Vec<Triplet>> {
    let mut comparisons: Vec<Triplet> = triplets.iter().map(comparison).collect();
    comparisons.sort_unstable();
    comparisons.dedup();
    if comparisons.len() < need {
        return Err(Error::Shape {
            what: "triplets to split, without duplicates and opposites".into(),
            expected: format!("at least {need}"),
            got: comparisons.len().to_string(),
        });
    }
    Ok(comparisons)
}

fn index(comparisons: &[Triplet], triplet: &Triplet) -> usize {
    comparisons.partition_point(|s| *s < comparison(triplet))
}

fn partition(triplets: &[Triplet], is_test: impl Fn(&Triplet) -> bool) -> TripletSplit {
    let (test, train): (Vec<Triplet>, Vec<Triplet>) = triplets.iter().partition(|t| is_test(t));
    TripletSplit { points: Fold { train: points(&train), test: points(&test) }, train, test, straddling: 0 }
}

#[cfg(test)]
mod tests {
    use super::super::labels::{from_labels, from_labels_within};
    use super::*;
    use crate::data::target::Classes;

    #[test]
    fn a_triplet_follows_its_rows() {
        let triplets = [[0, 1, 2], [5, 4, 3], [0, 1, 5], [2, 0, 1], [3, 5, 0], [0, 1, 9]];
        let held = apply_split(&triplets, Fold { train: vec![0, 1, 2], test: vec![3, 4, 5] }).unwrap();
        assert_eq!(held.train, [[0, 1, 2], [2, 0, 1]]);
        assert_eq!(held.test, [[5, 4, 3]]);
        assert_eq!(held.straddling, 3);
        let error = apply_split(&triplets, Fold { train: vec![0, 1, 2], test: vec![2, 3] }).unwrap_err();
        assert!(error.to_string().contains("row 3 twice"), "{error}");
        assert!(apply_split(&triplets, Fold { train: vec![0, 1, 2], test: vec![] }).is_err());
    }

    #[test]
    fn an_empty_side_is_an_error() {
        let message = |train: &[usize], test: &[usize]| {
            let split = Fold { train: train.to_vec(), test: test.to_vec() };
            apply_split(&[[0, 1, 2], [0, 1, 3]], split).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[0, 1, 2], &[3, 4]),
            "splitting triplets by rows: none of the 2 triplets has all three rows among the 2 test rows; use more \
             triplets, another fraction of test rows, or split by triplets"
        );
        assert!(message(&[4, 5], &[0, 1, 2]).contains("the 2 training rows"));
    }

    #[test]
    fn only_rows_of_triplets_are_split() {
        // Triplets use the 40 rows from 100 to 139; 15 % of them are 6.
        let classes = Classes::from_codes((0..140).map(|i| i % 2).collect());
        let rows: Vec<usize> = (100..140).collect();
        let triplets = from_labels_within(&classes, &rows, 8000, 1).unwrap();
        let held = hold_out_points(&triplets, 0.15, 2).unwrap();
        assert_eq!((held.points.train.len(), held.points.test.len()), (34, 6));
        assert!(held.points.train.iter().chain(&held.points.test).all(|row| rows.contains(row)));
        assert_eq!(held.train.len() + held.test.len() + held.straddling, 8000);
        assert!(held.train.iter().flatten().all(|row| held.points.train.contains(row)));
        assert!(held.test.iter().flatten().all(|row| held.points.test.contains(row)));
        assert_eq!(hold_out_points(&triplets, 0.15, 2).unwrap(), held);
        assert_ne!(hold_out_points(&triplets, 0.15, 3).unwrap().points, held.points);
        assert!(hold_out_points(&triplets, 1.0, 3).unwrap_err().to_string().contains("'test_size'"));
        assert!(hold_out_points(&[], 0.5, 3).is_err());
        let fold = split_points(100, 0.15, 4).unwrap();
        assert_eq!((fold.train.len(), fold.test.len()), (85, 15));
    }

    #[test]
    fn duplicates_and_opposites_stay_together() {
        let classes = Classes::from_codes((0..20).map(|i| i % 2).collect());
        let mut triplets = from_labels(&classes, 100, 1).unwrap();
        triplets.push(triplets[7]);
        let [i, j, k] = triplets[8];
        triplets.push([i, k, j]);
        let held = hold_out_triplets(&triplets, 0.2, 5).unwrap();
        assert_eq!(held.train.len() + held.test.len(), 102);
        assert!((20..=22).contains(&held.test.len()), "a fifth of 100, and a duplicate and an opposite");
        for t in [7, 8] {
            let [i, j, k] = triplets[t];
            let is_related = |u: &&Triplet| **u == [i, j, k] || **u == [i, k, j];
            let in_test = held.test.iter().filter(is_related).count();
            assert!(in_test == 0 || in_test == 2, "{in_test}");
        }
        assert_eq!(held.points.test, points(&held.test));
        assert_eq!(hold_out_triplets(&triplets, 0.2, 5).unwrap(), held);
        let message = |t: &[Triplet], fraction| hold_out_triplets(t, fraction, 0).unwrap_err().to_string();
        assert!(message(&[[0, 1, 2], [0, 2, 1]], 0.5).contains("expected at least 2, got 1"));
        assert!(message(&triplets, 0.0).contains("'test_size' must be between 0 and 1"));
    }

    #[test]
    fn folds_test_every_triplet_once() {
        let classes = Classes::from_codes((0..30).map(|i| i % 3).collect());
        let mut triplets = from_labels(&classes, 50, 1).unwrap();
        triplets.push(triplets[7]);
        let [i, j, k] = triplets[8];
        triplets.push([i, k, j]);
        let folds = triplet_folds(&triplets, 7, 3).unwrap();
        let mut tested: Vec<Triplet> = folds.iter().flat_map(|held| held.test.clone()).collect();
        let mut all = triplets.clone();
        tested.sort_unstable();
        all.sort_unstable();
        assert_eq!(tested, all);
        for held in &folds {
            assert_eq!(held.train.len() + held.test.len(), 52);
            // 50 comparisons in 7 folds, and a duplicate and an opposite.
            assert!((7..=10).contains(&held.test.len()), "{}", held.test.len());
            let tested: Vec<Triplet> = held.test.iter().map(comparison).collect();
            assert!(
                !held.train.iter().any(|t| tested.contains(&comparison(t))),
                "no duplicate or opposite is in the training triplets"
            );
        }
        assert_eq!(triplet_folds(&triplets, 7, 3).unwrap(), folds);
        let message = |folds| triplet_folds(&triplets[..3], folds, 0).unwrap_err().to_string();
        assert!(message(4).contains("expected at least 4, got 3"));
        assert!(message(1).contains("'folds' must be 2 or more"));
    }
}
