//! Splits into training and test rows.

use super::dataset::Dataset;
use super::split_rule::{Fold, SplitRule, forward_chaining, last_rows, part_of_groups};
use super::target::{Classes, Target};
use crate::error::{Error, Result};
use crate::random::Rng;
use serde::{Deserialize, Serialize};

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

    /// Splits the rows of a data set, repeat after repeat, as its [`SplitRule`] demands. `stratify`: whether the parts have the
    /// class proportions of the data, as far as groups permit.
    pub fn split_data(&self, data: &Dataset, stratify: bool, seed: u64) -> Result<Vec<Fold>> {
        self.check_data(data)?;
        let target = if stratify { data.target() } else { &Target::None };
        match data.split_rule() {
            SplitRule::Independent => self.split(target, data.n(), seed),
            SplitRule::Groups(groups) => Ok(self.split_groups(target, groups, seed)),
            SplitRule::Time(times) => Ok(match *self {
                Self::Folds { folds, .. } => forward_chaining(times, folds),
                Self::Holdout { test_size, .. } => vec![last_rows(times, test_size)],
            }),
            SplitRule::Given(folds) => Ok(folds.clone()),
        }
    }

    /// Returns an error if the rows of a data set cannot be split in this way.
    pub fn check_data(&self, data: &Dataset) -> Result<()> {
        self.check_rule(data)?;
        self.check(data.n())
    }

    /// Returns an error for fewer groups or times than folds, and for repeats of splits by time.
    fn check_rule(&self, data: &Dataset) -> Result<()> {
        let rule = data.split_rule();
        let what = match rule {
            SplitRule::Independent | SplitRule::Given(_) => return Ok(()),
            SplitRule::Groups(_) => "groups",
            SplitRule::Time(_) => "different times minus 1",
        };
        let most = rule.max_folds(data.n());
        match *self {
            Self::Folds { folds, .. } if folds > most => {
                Err(Error::param(NAME, "folds", format!("from 2 to the number of {what}, {most}"), folds))
            }
            _ if matches!(rule, SplitRule::Time(_)) && self.repeats() > 1 => {
                let expected = "1 for splits by time, which are not random";
                Err(Error::param(NAME, "repeats", expected, self.repeats()))
            }
            _ => Ok(()),
        }
    }

    fn split_groups(&self, target: &Target, groups: &[usize], seed: u64) -> Vec<Fold> {
        let mut rng = Rng::stream(seed, "splits");
        let mut all = vec![];
        for _ in 0..self.repeats() {
            match *self {
                Self::Folds { folds, .. } => all.extend(group_folds(target, groups, folds, &mut rng)),
                Self::Holdout { test_size, .. } => {
                    let parts = part_of_groups(target, groups, &[1.0 - test_size, test_size], &mut rng);
                    all.push(without(&parts, 1));
                }
            }
        }
        all
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

/// Folds of the training rows, by which a method chooses its parameters: stratified, and as the [`SplitRule`] of the data
/// demands where it permits two folds.
pub(crate) fn inner_folds(data: &Dataset, classes: &Classes, folds: usize, rng: &mut Rng) -> Vec<Fold> {
    let most = folds.min(data.split_rule().max_folds(data.n()));
    match data.split_rule() {
        SplitRule::Groups(groups) if most >= 2 => {
            group_folds(&Target::Classes(classes.clone()), groups, most, rng)
        }
        SplitRule::Time(times) if most >= 2 => forward_chaining(times, most),
        _ => stratified_folds(classes, folds, rng),
    }
}

/// Folds that keep groups together.
fn group_folds(target: &Target, groups: &[usize], folds: usize, rng: &mut Rng) -> Vec<Fold> {
    let parts = part_of_groups(target, groups, &vec![1.0 / folds as f64; folds], rng);
    (0..folds).map(|fold| without(&parts, fold)).collect()
}

/// The rows of one part are for testing.
fn without(parts: &[usize], part: usize) -> Fold {
    let (train, test) = (0..parts.len()).partition(|&row| parts[row] != part);
    Fold { train, test }
}

/// Stratified folds: each has the class proportions of the data.
pub fn stratified_folds(classes: &Classes, folds: usize, rng: &mut Rng) -> Vec<Fold> {
    let n = classes.codes.len();
    let mut fold = vec![0; n];
    by_class(classes, rng).iter().enumerate().for_each(|(place, &row)| fold[row] = place % folds);
    (0..folds).map(|f| without(&fold, f)).collect()
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

    /// 60 rows of 12 groups of different sizes, each of one of two classes.
    fn grouped() -> Dataset {
        let groups: Vec<usize> = (0..60).map(|i| (i * i) % 12 + (i % 4) / 3).collect();
        let codes = groups.iter().map(|group| group % 2).collect();
        let data = Dataset::labeled(ndarray::Array2::zeros((60, 1)), codes).unwrap();
        data.with_split_rule(SplitRule::groups(groups, "g").unwrap()).unwrap()
    }

    fn groups_of(data: &Dataset) -> Vec<usize> {
        let SplitRule::Groups(groups) = data.split_rule() else { panic!("groups") };
        groups.clone()
    }

    #[test]
    fn groups_are_never_divided() {
        let data = grouped();
        let groups = groups_of(&data);
        let n_groups = data.split_rule().max_folds(60);
        for splits in [
            Splits::Folds { folds: 3, repeats: 3 },
            Splits::Folds { folds: n_groups, repeats: 1 },
            Splits::Holdout { test_size: 0.3, repeats: 4 },
            Splits::Holdout { test_size: 0.001, repeats: 4 },
        ] {
            let all = splits.split_data(&data, true, 1).unwrap();
            assert_eq!(all.len(), splits.repeats() * splits.per_repeat());
            for fold in &all {
                let is_in = |rows: &[usize], group: usize| rows.iter().any(|&row| groups[row] == group);
                assert!(groups.iter().all(|&g| is_in(&fold.train, g) != is_in(&fold.test, g)));
                assert_eq!(fold.train.len() + fold.test.len(), 60);
            }
            if let Splits::Folds { folds, .. } = splits {
                for repeat in all.chunks(folds) {
                    let mut tested: Vec<usize> = repeat.iter().flat_map(|fold| fold.test.clone()).collect();
                    tested.sort_unstable();
                    assert_eq!(tested, (0..60).collect::<Vec<_>>());
                }
            }
            assert_eq!(all, splits.split_data(&data, true, 1).unwrap());
        }
    }

    #[test]
    fn group_folds_are_stratified_where_sizes_permit() {
        // 20 groups of 3 rows, ten of each class: two groups of each class in each of five folds.
        let groups: Vec<usize> = (0..60).map(|i| i / 3).collect();
        let codes: Vec<usize> = groups.iter().map(|g| usize::from(*g >= 10)).collect();
        let data = Dataset::labeled(ndarray::Array2::zeros((60, 1)), codes.clone()).unwrap();
        let data = data.with_split_rule(SplitRule::groups(groups, "g").unwrap()).unwrap();
        for fold in (Splits::Folds { folds: 5, repeats: 2 }).split_data(&data, true, 3).unwrap() {
            let second = fold.test.iter().filter(|&&row| codes[row] == 1).count();
            assert_eq!((fold.test.len(), second), (12, 6));
        }
        // Without classes only the sizes are equal.
        let folds = Splits::Folds { folds: 5, repeats: 2 }.split_data(&data, false, 3).unwrap();
        assert!(folds.iter().all(|fold| fold.test.len() == 12));
        let second = |fold: &Fold| fold.test.iter().filter(|&&row| codes[row] == 1).count();
        assert!(folds.iter().any(|fold| second(fold) != 6));
    }

    #[test]
    fn forward_chaining_tests_later_rows() {
        // TimeSeriesSplit(3) of scikit-learn on 10 rows: blocks of 2 after the first 4.
        let times: Vec<f64> = (0..10).rev().map(f64::from).collect();
        let data = Dataset::unlabeled(ndarray::Array2::zeros((10, 1))).unwrap();
        let timed =
            |times: &[f64]| data.clone().with_split_rule(SplitRule::times(times.to_vec(), "t").unwrap());
        let folds = |times: &[f64], folds| {
            Splits::Folds { folds, repeats: 1 }.split_data(&timed(times).unwrap(), true, 0)
        };
        let found = folds(&times, 3).unwrap();
        let expected = [(6..10, 4..6), (4..10, 2..4), (2..10, 0..2)];
        for (fold, (train, test)) in found.iter().zip(expected) {
            assert_eq!((&fold.train, &fold.test), (&train.collect(), &test.collect()));
        }
        // Five times of two rows each: equal times are not separated.
        let pairs: Vec<f64> = (0..10).map(|i| f64::from(i / 2)).collect();
        let found = folds(&pairs, 4).unwrap();
        assert_eq!((found.len(), &found[0].train, &found[0].test), (4, &vec![0, 1], &vec![2, 3]));
        let message = folds(&pairs, 5).unwrap_err().to_string();
        assert!(message.contains("from 2 to the number of different times minus 1, 4, got 5"), "{message}");
        let holdout = Splits::Holdout { test_size: 0.3, repeats: 1 };
        let last = holdout.split_data(&timed(&times).unwrap(), true, 0).unwrap();
        assert_eq!((last.len(), &last[0].test), (1, &vec![0, 1, 2]));
        let repeated = Splits::Folds { folds: 2, repeats: 2 }.split_data(&timed(&times).unwrap(), true, 0);
        assert!(repeated.unwrap_err().to_string().contains("'repeats' must be 1 for splits by time"));
    }

    #[test]
    fn rules_follow_the_rows() {
        let data = grouped();
        let kept = data.take_rows(&[7, 3, 20]);
        let groups = groups_of(&data);
        assert_eq!(groups_of(&kept), [groups[7], groups[3], groups[20]]);
        let given =
            vec![Fold { train: vec![0, 1, 2], test: vec![3, 4] }, Fold { train: vec![5], test: vec![6] }];
        let data = data.with_split_rule(SplitRule::Given(given)).unwrap();
        // Rows 4, 2, 0 become 0, 1, 2; nothing is left of the second split.
        let kept = data.take_rows(&[4, 2, 0]);
        assert_eq!(kept.split_rule(), &SplitRule::Given(vec![Fold { train: vec![1, 2], test: vec![0] }]));
        let folds = Splits::default().split_data(&kept, true, 0).unwrap_err().to_string();
        assert!(folds.contains("'folds' must be from 2 to the number of rows, 3"), "{folds}");
    }

    #[test]
    fn bad_groups_and_times_are_errors() {
        use crate::data::Column;
        let of = |cells: [Option<&str>; 3]| Column::text("patient", cells.into_iter());
        let message = |rule: Result<SplitRule>| rule.unwrap_err().to_string();
        let groups = |cells| message(SplitRule::groups_of(&of(cells)));
        assert!(groups([Some("a"), None, Some("b")]).contains("'patient' is missing in row 2"));
        assert!(groups([Some("a"); 3]).contains("the groups in 'patient' are all the same"));
        let times = |cells| message(SplitRule::times_of(&of(cells)));
        assert!(times([Some("a"), None, Some("b")]).contains("'patient' has neither numbers nor dates"));
        assert!(
            times([Some("1"), None, Some("2")]).contains("the time in column 'patient' is missing in row 2")
        );
        assert!(times([Some("1"); 3]).contains("the times in 'patient' are all the same"));
        let dates = Column { name: "day".into(), values: crate::data::Values::Date(vec![3.0, 1.0]) };
        assert_eq!(SplitRule::times_of(&dates).unwrap(), SplitRule::Time(vec![3.0, 1.0]));
        let texts = of([Some("2021-03-01"), Some("2021-01-31"), Some("2021-02-01")]);
        let SplitRule::Time(days) = SplitRule::times_of(&texts).unwrap() else { panic!("times") };
        assert_eq!((days[0] - days[1], days[2] - days[1]), (29.0, 1.0));
        let many = Splits::Folds { folds: 40, repeats: 1 }.split_data(&grouped(), true, 0).unwrap_err();
        assert!(many.to_string().contains("the number of groups, "), "{many}");
        let short = grouped().with_split_rule(SplitRule::Groups(vec![0, 1])).unwrap_err().to_string();
        assert!(short.contains("expected 60, one per row, got 2"), "{short}");
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
