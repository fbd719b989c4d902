//! Splits into training and test rows.

use super::target::{Classes, Target};
use crate::error::{Error, Result};
use crate::random::Rng;
use serde::{Deserialize, Serialize};

/// Training and test rows, both sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Training rows.
    pub train: Vec<usize>,
    /// Test rows.
    pub test: Vec<usize>,
}

impl Fold {
    /// Returns an error for rows out of range, repeated rows and empty sides. `split` is the index of the split.
    pub(crate) fn check(&self, n: usize, split: usize) -> Result<()> {
        let error = |expected: &str, got: String| {
            let what = format!("rows of split {}", split + 1);
            Err(Error::Shape { what, expected: expected.into(), got })
        };
        let mut seen = vec![false; n];
        for &row in self.train.iter().chain(&self.test) {
            if row >= n {
                return error(&format!("indices below {n}"), row.to_string());
            }
            if std::mem::replace(&mut seen[row], true) {
                return error("each row once, for training or for testing", format!("row {} twice", row + 1));
            }
        }
        if self.train.is_empty() || self.test.is_empty() {
            let side = if self.train.is_empty() { "training" } else { "test" };
            return error("training rows and test rows", format!("no {side} rows"));
        }
        Ok(())
    }
}

/// A splitting strategy: k-fold cross-validation or holdout, with repeats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Splits {
    /// k-fold cross-validation: each row is a test row once per repeat.
    Folds {
        /// Number of folds, at least 2.
        folds: usize,
        /// Number of repeats, each with another random split.
        repeats: usize,
    },
    /// Holdout: a random fraction of the rows is for testing.
    Holdout {
        /// Fraction of test rows, between 0 and 1.
        test_size: f64,
        /// Number of repeats, each with another random split.
        repeats: usize,
    },
}

impl Default for Splits {
    /// Five folds, one repeat.
    fn default() -> Self {
        Self::Folds { folds: 5, repeats: 1 }
    }
}

const NAME: &str = "splits";

impl Splits {
    /// Splits the rows, repeat after repeat, stratified by class.
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

    /// Number of repeats.
    pub fn repeats(&self) -> usize {
        match *self {
            Self::Folds { repeats, .. } | Self::Holdout { repeats, .. } => repeats,
        }
    }

    /// Number of splits per repeat.
    pub fn per_repeat(&self) -> usize {
        match *self {
            Self::Folds { folds, .. } => folds,
            Self::Holdout { .. } => 1,
        }
    }

    /// Returns an error if `n` rows cannot be split in this way.
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

/// Stratified folds: each has the class proportions of the data.
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

/// All rows sorted by class, shuffled within each class.
fn by_class(classes: &Classes, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes.codes.len()).collect();
    rng.shuffle(&mut order);
    order.sort_by_key(|&row| classes.codes[row]);
    order
}

/// A stratified holdout: takes rows at equal steps from the list sorted by class.
fn holdout(target: &Target, n: usize, test_size: f64, rng: &mut Rng) -> Fold {
    let order = match target {
        Target::Classes(classes) => by_class(classes, rng),
        _ => by_class(&Classes::from_codes(vec![0; n]), rng),
    };
    let wanted = ((test_size * n as f64).round() as usize).clamp(1, n - 1);
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
    fn folds_are_stratified_and_test_each_row_once_per_repeat() {
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
        assert_ne!(folds[0], folds[5], "each repeat has another split");
        assert_eq!(folds, Splits::Folds { folds: 5, repeats: 2 }.split(&target(), 30, 1).unwrap());
    }

    #[test]
    fn holdout_is_stratified() {
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
    fn invalid_splits_are_rejected() {
        let message = |splits: Splits, n: usize| splits.split(&Target::None, n, 0).unwrap_err().to_string();
        let folds = |folds: usize, repeats: usize| Splits::Folds { folds, repeats };
        assert!(message(folds(1, 1), 9).contains("'folds' must be from 2 to the number of rows, 9, got 1"));
        assert!(message(folds(10, 1), 9).contains("got 10"));
        assert!(message(folds(2, 0), 9).contains("'repeats' must be at least 1"));
        let holdout = |test_size: f64| Splits::Holdout { test_size, repeats: 1 };
        assert!(message(holdout(1.0), 9).contains("'test_size' must be between 0 and 1, got 1"));
        assert!(message(holdout(0.5), 1).contains("needs at least 2"));
    }
}
