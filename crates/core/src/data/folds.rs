//! Which rows are learned from and which are kept back to judge by.

use super::dataset::{Classes, Target};
use crate::error::{Error, Result};
use crate::random::Rng;
use serde::{Deserialize, Serialize};

/// Rows to learn from and rows to judge by, both in rising order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Rows to learn from.
    pub train: Vec<usize>,
    /// Rows to judge by.
    pub test: Vec<usize>,
}

impl Fold {
    /// Refuses rows that are not there, rows on both sides, and empty sides. `split` is its place among others.
    pub(crate) fn check(&self, n: usize, split: usize) -> Result<()> {
        let mut seen = vec![false; n];
        for &row in self.train.iter().chain(&self.test) {
            if row >= n {
                let what = format!("rows of split {}", split + 1);
                return Err(Error::Shape { what, expected: format!("below {n}"), got: row.to_string() });
            }
            if std::mem::replace(&mut seen[row], true) {
                let what = format!("rows of split {}", split + 1);
                return Err(Error::Shape {
                    what,
                    expected: "each once, to learn from or to judge by".into(),
                    got: format!("row {} twice", row + 1),
                });
            }
        }
        if self.train.is_empty() || self.test.is_empty() {
            let what = format!("rows of split {}", split + 1);
            return Err(Error::Shape {
                what,
                expected: "some on both sides".into(),
                got: "none on one".into(),
            });
        }
        Ok(())
    }
}

/// How rows are split, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Splits {
    /// Every row is in the test part of one fold, in every repeat.
    Folds {
        /// Folds of a repeat, 2 at least.
        folds: usize,
        /// Repeats, each dealt anew.
        repeats: usize,
    },
    /// A share of the rows is drawn for testing, anew in every repeat.
    Holdout {
        /// The share of the rows to judge by, between 0 and 1.
        test_size: f64,
        /// Repeats.
        repeats: usize,
    },
}

impl Default for Splits {
    /// Five folds, once.
    fn default() -> Self {
        Self::Folds { folds: 5, repeats: 1 }
    }
}

const NAME: &str = "splits";

impl Splits {
    /// Deals the rows of a target; classes keep their shares. Repeats come one after another.
    pub fn split(&self, target: &Target, n: usize, seed: u64) -> Result<Vec<Fold>> {
        self.check(n)?;
        let mut rng = Rng::stream(seed, "splits");
        let mut all = vec![];
        for _ in 0..self.repeats() {
            match *self {
                Self::Folds { folds, .. } => all.extend(match target {
                    Target::Classes(classes) => stratified_folds(classes, folds, &mut rng),
                    _ => stratified_folds(&Classes::from_codes(vec![0; n]), folds, &mut rng),
                }),
                Self::Holdout { test_size, .. } => all.push(holdout(target, n, test_size, &mut rng)),
            }
        }
        Ok(all)
    }

    /// How often all is dealt anew.
    pub fn repeats(&self) -> usize {
        match *self {
            Self::Folds { repeats, .. } | Self::Holdout { repeats, .. } => repeats,
        }
    }

    /// Splits of one repeat.
    pub fn per_repeat(&self) -> usize {
        match *self {
            Self::Folds { folds, .. } => folds,
            Self::Holdout { .. } => 1,
        }
    }

    /// Refuses splits that `n` rows cannot have.
    pub fn check(&self, n: usize) -> Result<()> {
        if self.repeats() == 0 {
            return Err(Error::param(NAME, "repeats", "at least 1", 0));
        }
        match *self {
            Self::Folds { folds, .. } if folds < 2 || folds > n => {
                Err(Error::param(NAME, "folds", format!("from 2 to the number of rows, {n}"), folds))
            }
            Self::Holdout { test_size, .. } if !(test_size > 0.0 && test_size < 1.0) => {
                Err(Error::param(NAME, "test_size", "between 0 and 1", test_size))
            }
            Self::Holdout { .. } if n < 2 => {
                Err(Error::TooFewRows { method: "splitting into training and test rows", need: 2, got: n })
            }
            _ => Ok(()),
        }
    }
}

/// Folds dealt class by class in random order, so that each has the classes' shares.
pub fn stratified_folds(classes: &Classes, folds: usize, rng: &mut Rng) -> Vec<Fold> {
    let n = classes.codes.len();
    let mut fold = vec![0; n];
    by_class(classes, rng).iter().enumerate().for_each(|(place, &row)| fold[row] = place % folds);
    (0..folds)
        .map(|f| {
            let (train, test) = (0..n).partition(|&row| fold[row] != f);
            Fold { train, test }
        })
        .collect()
}

/// All rows, class after class, in random order within each.
fn by_class(classes: &Classes, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes.codes.len()).collect();
    rng.shuffle(&mut order);
    order.sort_by_key(|&row| classes.codes[row]);
    order
}

/// A share of the rows of every class: every row whose place, counted class by class, completes
/// another unit of the share.
fn holdout(target: &Target, n: usize, share: f64, rng: &mut Rng) -> Fold {
    let order = match target {
        Target::Classes(classes) => by_class(classes, rng),
        _ => by_class(&Classes::from_codes(vec![0; n]), rng),
    };
    let wanted = ((share * n as f64).round() as usize).clamp(1, n - 1);
    let mut is_test = vec![false; n];
    for (place, &row) in order.iter().enumerate() {
        is_test[row] = (place + 1) * wanted / n > place * wanted / n;
    }
    let (test, train) = (0..n).partition(|&row| is_test[row]);
    Fold { train, test }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target::Classes(Classes::from_codes((0..30).map(|i| usize::from(i % 3 == 0)).collect()))
    }

    fn class_counts(rows: &[usize]) -> [usize; 2] {
        let second = rows.iter().filter(|&&row| row % 3 == 0).count();
        [rows.len() - second, second]
    }

    #[test]
    fn every_row_is_tested_once_in_every_repeat_and_classes_keep_their_shares() {
        let folds = Splits::Folds { folds: 5, repeats: 2 }.split(&target(), 30, 1).unwrap();
        assert_eq!(folds.len(), 10);
        for repeat in folds.chunks(5) {
            let mut tested: Vec<usize> = repeat.iter().flat_map(|fold| fold.test.clone()).collect();
            tested.sort_unstable();
            assert_eq!(tested, (0..30).collect::<Vec<_>>());
            for fold in repeat {
                assert_eq!((class_counts(&fold.test), class_counts(&fold.train)), ([4, 2], [16, 8]));
            }
        }
        assert_ne!(folds[0], folds[5], "repeats are dealt anew");
        assert_eq!(folds, Splits::Folds { folds: 5, repeats: 2 }.split(&target(), 30, 1).unwrap());
    }

    #[test]
    fn a_share_is_held_out_of_every_class() {
        let folds = Splits::Holdout { test_size: 0.3, repeats: 3 }.split(&target(), 30, 1).unwrap();
        for fold in &folds {
            assert_eq!(class_counts(&fold.test), [6, 3]);
            let mut all = [fold.train.clone(), fold.test.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, (0..30).collect::<Vec<_>>());
        }
        assert_ne!(folds[0], folds[1]);
        let numbers = Target::Continuous(vec![0.5; 10]);
        let fold = &Splits::Holdout { test_size: 0.01, repeats: 1 }.split(&numbers, 10, 0).unwrap()[0];
        assert_eq!((fold.train.len(), fold.test.len()), (9, 1), "at least one");
    }

    #[test]
    fn splits_that_cannot_be() {
        let deal = |splits: Splits, n: usize| splits.split(&Target::None, n, 0).unwrap_err().to_string();
        let folds = |folds: usize, repeats: usize| Splits::Folds { folds, repeats };
        assert!(deal(folds(1, 1), 9).contains("'folds' must be from 2 to the number of rows, 9, got 1"));
        assert!(deal(folds(10, 1), 9).contains("got 10"));
        assert!(deal(folds(2, 0), 9).contains("'repeats' must be at least 1"));
        let share = |test_size: f64| Splits::Holdout { test_size, repeats: 1 };
        assert!(deal(share(1.0), 9).contains("'test_size' must be between 0 and 1, got 1"));
        assert!(deal(share(0.5), 1).contains("needs at least 2"));
    }
}
