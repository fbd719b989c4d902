//! The order in which the training sets of a learning curve get the rows of a split.

use crate::data::{Dataset, SplitRule, Target};
use crate::random::Rng;
use std::collections::BTreeMap;

/// The training rows of a split. A smaller training set has the first units, which are rows or groups of rows.
pub(super) struct RowOrder {
    pub rows: Vec<usize>,
    /// The end of each unit.
    ends: Vec<usize>,
}

impl RowOrder {
    /// The last rows first; of equal times the last row.
    pub fn latest(train: &[usize], time: impl Fn(usize) -> f64) -> Self {
        let mut rows = train.to_vec();
        rows.sort_by(|&a, &b| time(b).total_cmp(&time(a)).then(b.cmp(&a)));
        let ends = (1..=rows.len()).collect();
        Self { rows, ends }
    }

    /// Random rows, or groups of rows. Every part at the start has about the class proportions of all rows: the units of each
    /// class, which for a group is the most frequent one of its rows, are distributed evenly.
    pub fn random(data: &Dataset, train: &[usize], stratify: bool, stream: &str, seed: u64) -> Self {
        let mut units: Vec<Vec<usize>> = match data.split_rule() {
            SplitRule::Groups(groups) => {
                let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
                train.iter().for_each(|&row| units.entry(groups[row]).or_default().push(row));
                units.into_values().collect()
            }
            _ => train.iter().map(|&row| vec![row]).collect(),
        };
        Rng::stream(seed, stream).shuffle(&mut units);
        let class = |unit: &[usize]| match data.target() {
            Target::Classes(classes) if stratify => {
                let count = |class| unit.iter().filter(|&&row| classes.codes[row] == class).count();
                let codes = unit.iter().map(|&row| classes.codes[row]);
                codes.max_by_key(|&class| (count(class), class)).unwrap_or(0)
            }
            _ => 0,
        };
        let mut totals: BTreeMap<usize, usize> = BTreeMap::new();
        units.iter().for_each(|unit| *totals.entry(class(unit)).or_default() += unit.len());
        // The place of the middle of each unit among those of its class, from 0 to 1.
        let mut before: BTreeMap<usize, usize> = BTreeMap::new();
        let mut placed: Vec<(f64, Vec<usize>)> = vec![];
        for unit in units {
            let class = class(&unit);
            let start = before.entry(class).or_default();
            let middle = (2 * *start + unit.len()) as f64 / (2 * totals[&class]) as f64;
            *start += unit.len();
            placed.push((middle, unit));
        }
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut rows, mut ends) = (vec![], vec![]);
        for (_, unit) in placed {
            rows.extend(unit);
            ends.push(rows.len());
        }
        Self { rows, ends }
    }

    /// The smallest number of rows that has two units.
    pub fn least(&self) -> usize {
        self.ends.get(1).or(self.ends.first()).copied().unwrap_or(0)
    }

    /// The first units with at most `most` rows together, in ascending order of rows.
    pub fn first(&self, most: usize) -> Vec<usize> {
        let end = self.ends.iter().rev().find(|&&end| end <= most).copied().unwrap_or(0);
        let mut rows = self.rows[..end].to_vec();
        rows.sort_unstable();
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use ndarray::Array2;

    fn data(codes: Vec<usize>) -> Dataset {
        Dataset::labeled(Array2::from_shape_fn((codes.len(), 1), |(i, _)| i as f64), codes).unwrap()
    }

    #[test]
    fn parts_are_nested_and_have_the_class_proportions() {
        let data = data((0..120).map(|i| usize::from(i % 4 == 0)).collect());
        let train: Vec<usize> = (0..120).filter(|i| i % 3 > 0).collect();
        let order = RowOrder::random(&data, &train, true, "x", 5);
        let mut smaller = vec![];
        for size in [4, 12, 40, 80] {
            let rows = order.first(size);
            assert_eq!(rows.len(), size);
            let second = rows.iter().filter(|&row| row % 4 == 0).count();
            assert_eq!(second, size / 4, "a fourth of the rows");
            assert!(smaller.iter().all(|row| rows.contains(row)));
            smaller = rows;
        }
        assert_eq!(smaller, train);
        assert_ne!(order.rows, RowOrder::random(&data, &train, true, "y", 5).rows);
    }

    #[test]
    fn groups_stay_whole() {
        let codes: Vec<usize> = (0..60).map(|i| (i / 5) % 2).collect();
        let groups: Vec<usize> = (0..60).map(|i| i / 5).collect();
        let data = data(codes).with_split_rule(SplitRule::Groups(groups)).unwrap();
        let train: Vec<usize> = (0..50).collect();
        let order = RowOrder::random(&data, &train, true, "x", 5);
        let rows = order.first(23);
        assert_eq!(rows.len(), 20);
        for row in &rows {
            assert!((0..5).all(|i| rows.contains(&(row / 5 * 5 + i))));
        }
        // Two groups of each class.
        assert_eq!(rows.iter().filter(|&row| (row / 5) % 2 == 1).count(), 10);
        assert_eq!((order.least(), order.first(4).len()), (10, 0));
    }

    #[test]
    fn of_times_the_last_rows_are_used() {
        let times = [3.0, 1.0, 9.0, 5.0, 5.0];
        let order = RowOrder::latest(&[0, 1, 3, 4], |row| times[row]);
        assert_eq!((order.first(2), order.first(3)), (vec![3, 4], vec![0, 3, 4]));
    }
}
