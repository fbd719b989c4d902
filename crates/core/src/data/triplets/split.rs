//! Triples to learn from and triples to judge by.
//!
//! A kernel that is judged by rows it was learned from looks better than it is, so the rows are split, and a
//! triple goes where all three of its rows are. Those with rows on both sides serve neither: of triples about
//! a share p of the rows only p³ are left on that side. Where that leaves nothing, triples can be split
//! instead of rows; that shows whether the statements fit each other, not whether they hold for new rows.

use super::{Triplet, points};
use crate::data::{Fold, Splits, Target};
use crate::error::{Error, Result};
use crate::random::Rng;

/// Triples to learn from and triples to judge by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TripletSplit {
    /// The rows of both sides. Split by triples, a row can be on both.
    pub points: Fold,
    /// Triples to learn from.
    pub train: Vec<Triplet>,
    /// Triples to judge by.
    pub test: Vec<Triplet>,
    /// How many triples have rows on both sides and were left out.
    pub straddling: usize,
}

/// Splits `n` rows: a share of them is drawn to judge by. Triples can then be drawn within each side.
///
/// [`Splits::split`] does it class by class.
pub fn split_points(n: usize, test_size: f64, seed: u64) -> Result<Fold> {
    let fold = Splits::Holdout { test_size, repeats: 1 }.split(&Target::None, n, seed)?;
    Ok(fold.into_iter().next().expect("a fold for the only repeat"))
}

/// Splits the rows that triples name, and with them the triples.
pub fn hold_out_points(triplets: &[Triplet], test_size: f64, seed: u64) -> Result<TripletSplit> {
    let points = points(triplets);
    let places = split_points(points.len(), test_size, seed)?;
    let rows = |places: &[usize]| places.iter().map(|&place| points[place]).collect();
    apply_split(triplets, Fold { train: rows(&places.train), test: rows(&places.test) })
}

/// Splits triples by rows that are split already. Triples with a row that is on neither side are left out as
/// well.
pub fn apply_split(triplets: &[Triplet], split: Fold) -> Result<TripletSplit> {
    let most = split.train.iter().chain(&split.test).max().map_or(0, |&row| row + 1);
    split.check(most, 0)?;
    let side = |rows: &[usize]| {
        let mut is_there = vec![false; most];
        rows.iter().for_each(|&row| is_there[row] = true);
        let within = |t: &&Triplet| t.iter().all(|&row| is_there.get(row) == Some(&true));
        triplets.iter().filter(within).copied().collect::<Vec<_>>()
    };
    let (train, test) = (side(&split.train), side(&split.test));
    let straddling = triplets.len() - train.len() - test.len();
    for (there, rows, whose) in
        [(&train, split.train.len(), "to learn from"), (&test, split.test.len(), "to judge by")]
    {
        if there.is_empty() {
            let why = format!(
                "none of the {} triples has all three rows among the {rows} rows {whose}; give more \
                 triples, hold \
                 out another share of the rows, or split by triples instead of rows",
                triplets.len()
            );
            return Err(Error::Breakdown { step: "splitting triples by rows", why });
        }
    }
    Ok(TripletSplit { points: split, train, test, straddling })
}

/// Splits the triples themselves, whatever their rows. Repetitions and opposites of a triple stay with it.
pub fn hold_out_triplets(triplets: &[Triplet], test_size: f64, seed: u64) -> Result<TripletSplit> {
    if !(test_size > 0.0 && test_size < 1.0) {
        return Err(Error::param(NAME, "test_size", "between 0 and 1", test_size));
    }
    let statements = statements(triplets, 2)?;
    let n = statements.len();
    let wanted = ((test_size * n as f64).round() as usize).clamp(1, n - 1);
    let mut is_test = vec![false; n];
    Rng::stream(seed, "splits").sample(n, wanted).into_iter().for_each(|at| is_test[at] = true);
    Ok(parted(triplets, |t| is_test[place(&statements, t)]))
}

/// Deals the triples themselves into folds, so that each is judged once. Repetitions and opposites of a
/// triple stay with it.
pub fn triplet_folds(triplets: &[Triplet], folds: usize, seed: u64) -> Result<Vec<TripletSplit>> {
    if folds < 2 {
        return Err(Error::param(NAME, "folds", "2 or more", folds));
    }
    let statements = statements(triplets, folds)?;
    let mut order: Vec<usize> = (0..statements.len()).collect();
    Rng::stream(seed, "splits").shuffle(&mut order);
    let mut fold_of = vec![0; order.len()];
    order.iter().enumerate().for_each(|(dealt, &at)| fold_of[at] = dealt % folds);
    Ok((0..folds).map(|fold| parted(triplets, |t| fold_of[place(&statements, t)] == fold)).collect())
}

const NAME: &str = "splitting triples";

/// What a triple is about, whichever way it says it.
fn statement(&[i, j, k]: &Triplet) -> Triplet {
    [i, j.min(k), j.max(k)]
}

/// All that triples are about, each once and in order; there must be so many.
fn statements(triplets: &[Triplet], need: usize) -> Result<Vec<Triplet>> {
    let mut statements: Vec<Triplet> = triplets.iter().map(statement).collect();
    statements.sort_unstable();
    statements.dedup();
    if statements.len() < need {
        return Err(Error::Shape {
            what: "triples to split that are not repetitions or opposites".into(),
            expected: format!("at least {need}"),
            got: statements.len().to_string(),
        });
    }
    Ok(statements)
}

fn place(statements: &[Triplet], triplet: &Triplet) -> usize {
    statements.partition_point(|s| *s < statement(triplet))
}

fn parted(triplets: &[Triplet], is_test: impl Fn(&Triplet) -> bool) -> TripletSplit {
    let (test, train): (Vec<Triplet>, Vec<Triplet>) = triplets.iter().partition(|t| is_test(t));
    TripletSplit { points: Fold { train: points(&train), test: points(&test) }, train, test, straddling: 0 }
}

#[cfg(test)]
mod tests {
    use super::super::from_labels;
    use super::*;
    use crate::data::Classes;

    #[test]
    fn a_triple_goes_where_its_rows_are() {
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
    fn an_empty_side_says_what_to_do() {
        let message = |train: &[usize], test: &[usize]| {
            let split = Fold { train: train.to_vec(), test: test.to_vec() };
            apply_split(&[[0, 1, 2], [0, 1, 3]], split).unwrap_err().to_string()
        };
        assert_eq!(
            message(&[0, 1, 2], &[3, 4]),
            "splitting triples by rows: none of the 2 triples has all three rows among the 2 rows to judge \
             by; give \
             more triples, hold out another share of the rows, or split by triples instead of rows"
        );
        assert!(message(&[4, 5], &[0, 1, 2]).contains("the 2 rows to learn from"));
    }

    #[test]
    fn only_rows_of_triples_are_split() {
        // Rows 100 to 139 have triples; the 15 % of them that are held out are 6.
        let classes = Classes::from_codes((0..140).map(|i| i % 2).collect());
        let rows: Vec<usize> = (100..140).collect();
        let triplets = super::super::from_labels_within(&classes, &rows, 8000, 1).unwrap();
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
    fn triples_split_by_themselves_take_their_likes_along() {
        let classes = Classes::from_codes((0..20).map(|i| i % 2).collect());
        let mut triplets = from_labels(&classes, 100, 1).unwrap();
        triplets.push(triplets[7]);
        let [i, j, k] = triplets[8];
        triplets.push([i, k, j]);
        let held = hold_out_triplets(&triplets, 0.2, 5).unwrap();
        assert_eq!(held.train.len() + held.test.len(), 102);
        assert!((20..=22).contains(&held.test.len()), "a fifth of 100, and the likes of two");
        for t in [7, 8] {
            let [i, j, k] = triplets[t];
            let is_like = |u: &&Triplet| **u == [i, j, k] || **u == [i, k, j];
            let in_test = held.test.iter().filter(is_like).count();
            assert!(in_test == 0 || in_test == 2, "{in_test}");
        }
        assert_eq!(held.points.test, points(&held.test));
        assert_eq!(hold_out_triplets(&triplets, 0.2, 5).unwrap(), held);
        let message = |t: &[Triplet], share| hold_out_triplets(t, share, 0).unwrap_err().to_string();
        assert!(message(&[[0, 1, 2], [0, 2, 1]], 0.5).contains("expected at least 2, got 1"));
        assert!(message(&triplets, 0.0).contains("'test_size' must be between 0 and 1"));
    }

    #[test]
    fn folds_judge_every_triple_once() {
        let classes = Classes::from_codes((0..30).map(|i| i % 3).collect());
        let mut triplets = from_labels(&classes, 50, 1).unwrap();
        triplets.push(triplets[7]);
        let [i, j, k] = triplets[8];
        triplets.push([i, k, j]);
        let folds = triplet_folds(&triplets, 7, 3).unwrap();
        let mut judged: Vec<Triplet> = folds.iter().flat_map(|held| held.test.clone()).collect();
        let mut all = triplets.clone();
        judged.sort_unstable();
        all.sort_unstable();
        assert_eq!(judged, all);
        for held in &folds {
            assert_eq!(held.train.len() + held.test.len(), 52);
            // 50 statements in 7 folds, and the likes of two of them.
            assert!((7..=10).contains(&held.test.len()), "{}", held.test.len());
            let about: Vec<Triplet> = held.test.iter().map(statement).collect();
            assert!(
                !held.train.iter().any(|t| about.contains(&statement(t))),
                "no other half is learned from"
            );
        }
        assert_eq!(triplet_folds(&triplets, 7, 3).unwrap(), folds);
        let message = |folds| triplet_folds(&triplets[..3], folds, 0).unwrap_err().to_string();
        assert!(message(4).contains("expected at least 4, got 3"));
        assert!(message(1).contains("'folds' must be 2 or more"));
    }
}
