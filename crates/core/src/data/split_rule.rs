//! Rows that belong together, or that have an order in time: what every split has to respect.

use super::table::Column;
use super::target::Target;
use super::types::{ColumnType, infer};
use crate::error::{Error, Result, shorten};
use crate::random::Rng;
use std::collections::HashMap;

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

/// What every split of the rows has to respect.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum SplitRule {
    /// Rows are independent.
    #[default]
    Independent,
    /// The group of each row, such as a patient: rows of one group are on the same side of every split.
    Groups(Vec<usize>),
    /// The time of each row: training rows are earlier than test rows.
    Time(Vec<f64>),
    /// These splits, in place of others.
    Given(Vec<Fold>),
}

impl SplitRule {
    /// Groups by the values of a column, at least two.
    pub fn groups_of(column: &Column) -> Result<Self> {
        let mut codes: HashMap<String, usize> = HashMap::new();
        let mut groups = Vec::with_capacity(column.len());
        for row in 0..column.len() {
            let cell = column.cell(row).ok_or_else(|| missing(column, "group", row))?;
            let next = codes.len();
            groups.push(*codes.entry(cell.into_owned()).or_insert(next));
        }
        Self::groups(groups, &shorten(&column.name))
    }

    /// Groups by number, at least two; `name` is that of the column, for errors.
    pub fn groups(groups: Vec<usize>, name: &str) -> Result<Self> {
        match groups.first() {
            Some(first) if groups.iter().all(|group| group == first) => Err(Error::parse(format!(
                "the groups in '{name}' are all the same; splits need at least two groups, so use another column, or none"
            ))),
            _ => Ok(Self::Groups(groups)),
        }
    }

    /// Times by the values of a column of numbers or dates.
    pub fn times_of(column: &Column) -> Result<Self> {
        let found = infer(column, None);
        if !matches!(found.kind, ColumnType::Number | ColumnType::Date(_)) {
            return Err(Error::parse(format!(
                "the time column '{}' has neither numbers nor dates; use a column that orders the rows",
                shorten(&column.name)
            )));
        }
        let times = found.parsing.read(column)?.values.into_owned();
        match times.iter().position(|time| time.is_nan()) {
            Some(row) => Err(missing(column, "time", row)),
            None => Self::times(times, &shorten(&column.name)),
        }
    }

    /// Times, at least two different ones; `name` is that of the column, for errors.
    pub fn times(times: Vec<f64>, name: &str) -> Result<Self> {
        if let Some(row) = times.iter().position(|time| !time.is_finite()) {
            return Err(Error::parse(format!(
                "the time in '{name}' is missing or infinite in row {}; leave out such rows",
                row + 1
            )));
        }
        match times.first() {
            Some(first) if times.iter().all(|time| time == first) => Err(Error::parse(format!(
                "the times in '{name}' are all the same; splits by time need at least two, so use another column, or none"
            ))),
            _ => Ok(Self::Time(times)),
        }
    }

    /// The rule for these rows, in this order.
    pub fn take_rows(&self, keep: &[usize]) -> Self {
        match self {
            Self::Independent => Self::Independent,
            Self::Groups(groups) => Self::Groups(keep.iter().map(|&row| groups[row]).collect()),
            Self::Time(times) => Self::Time(keep.iter().map(|&row| times[row]).collect()),
            Self::Given(folds) => {
                let place: HashMap<usize, usize> =
                    keep.iter().enumerate().map(|(at, &row)| (row, at)).collect();
                let places = |rows: &[usize]| {
                    let mut places: Vec<usize> =
                        rows.iter().filter_map(|row| place.get(row).copied()).collect();
                    places.sort_unstable();
                    places
                };
                let folds =
                    folds.iter().map(|fold| Fold { train: places(&fold.train), test: places(&fold.test) });
                Self::Given(folds.filter(|fold| !fold.train.is_empty() && !fold.test.is_empty()).collect())
            }
        }
    }

    /// The rule for these rows and then `n` others with another rule; `None` if the rules do not go together. Other rows without
    /// groups are groups by themselves, those without times are later.
    pub(super) fn followed_by(&self, others: &Self, n: usize) -> Option<Self> {
        let next = |groups: &[usize]| groups.iter().max().map_or(0, |most| most + 1);
        Some(match (self, others) {
            (rule, Self::Independent) => match rule {
                Self::Groups(groups) => {
                    let next = next(groups);
                    Self::Groups(groups.iter().copied().chain(next..next + n).collect())
                }
                Self::Time(times) => {
                    let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    Self::Time([times.clone(), vec![last.next_up().min(f64::MAX); n]].concat())
                }
                rule => rule.clone(),
            },
            (Self::Groups(groups), Self::Groups(others)) => {
                let next = next(groups);
                Self::Groups(groups.iter().copied().chain(others.iter().map(|group| next + group)).collect())
            }
            (Self::Time(times), Self::Time(others)) => Self::Time([times.as_slice(), others].concat()),
            _ => return None,
        })
    }

    /// Returns an error if it is not about `n` rows.
    pub(super) fn check(&self, n: usize) -> Result<()> {
        let shape = |what: &str, got: usize| Error::Shape {
            what: what.into(),
            expected: format!("{n}, one per row"),
            got: got.to_string(),
        };
        match self {
            Self::Groups(groups) if groups.len() != n => Err(shape("groups", groups.len())),
            Self::Time(times) if times.len() != n => Err(shape("times", times.len())),
            Self::Given(folds) => folds.iter().enumerate().try_for_each(|(split, fold)| fold.check(n, split)),
            _ => Ok(()),
        }
    }

    /// A row of each group, drawn at random, in ascending order; all rows without groups.
    pub fn one_row_per_group(&self, n: usize, seed: u64) -> Vec<usize> {
        let Self::Groups(groups) = self else { return (0..n).collect() };
        let mut order: Vec<usize> = (0..n).collect();
        Rng::stream(seed, "a row of each group").shuffle(&mut order);
        let mut seen = std::collections::HashSet::new();
        order.retain(|&row| seen.insert(groups[row]));
        order.sort_unstable();
        order
    }

    /// The rows of each group; empty without groups.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let Self::Groups(groups) = self else { return vec![] };
        let (codes, n_groups) = numbered(groups);
        let mut members = vec![vec![]; n_groups];
        codes.iter().enumerate().for_each(|(row, &group)| members[group].push(row));
        members
    }

    /// The largest number of folds into which the rows can be split; at most the number of rows.
    pub(crate) fn max_folds(&self, n: usize) -> usize {
        match self {
            Self::Independent => n,
            Self::Groups(groups) => numbered(groups).1,
            Self::Time(times) => moments(times).len().saturating_sub(1),
            Self::Given(folds) => folds.len(),
        }
    }
}

fn missing(column: &Column, what: &str, row: usize) -> Error {
    let name = shorten(&column.name);
    Error::parse(format!("the {what} in column '{name}' is missing in row {}; leave out such rows", row + 1))
}

/// Groups numbered from 0 in order of appearance, and their number.
pub(super) fn numbered(groups: &[usize]) -> (Vec<usize>, usize) {
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let codes = groups
        .iter()
        .map(|group| {
            let next = numbers.len();
            *numbers.entry(*group).or_insert(next)
        })
        .collect();
    (codes, numbers.len())
}

/// The different times, in ascending order.
pub(super) fn moments(times: &[f64]) -> Vec<f64> {
    let mut moments = times.to_vec();
    moments.sort_by(f64::total_cmp);
    moments.dedup();
    moments
}

/// Assigns each group to one of several parts with these fractions of the rows; returns the part of each row.
///
/// Groups are assigned in descending order of size, in random order among equals, each to the part in which the squared
/// numbers of rows of each class, relative to the size of the class and the fraction of the part, grow least. No part is
/// empty.
pub(super) fn part_of_groups(
    target: &Target,
    groups: &[usize],
    fractions: &[f64],
    rng: &mut Rng,
) -> Vec<usize> {
    let (groups, n_groups) = numbered(groups);
    let codes = match target {
        Target::Classes(classes) => classes.codes.clone(),
        _ => vec![0; groups.len()],
    };
    let n_classes = codes.iter().max().map_or(0, |&most| most + 1);
    let mut totals = vec![0.0_f64; n_classes];
    let mut of_group = vec![vec![0.0; n_classes]; n_groups];
    for (&group, &code) in groups.iter().zip(&codes) {
        of_group[group][code] += 1.0;
        totals[code] += 1.0;
    }
    let size = |group: usize| of_group[group].iter().sum::<f64>();
    let mut order: Vec<usize> = (0..n_groups).collect();
    rng.shuffle(&mut order);
    order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    let mut counts = vec![vec![0.0; n_classes]; fractions.len()];
    let mut part_of = vec![0; n_groups];
    for (at, &group) in order.iter().enumerate() {
        let rows = |part: usize| counts[part].iter().sum::<f64>();
        let growth = |part: usize| -> f64 {
            let of_class = |class: usize| {
                let (before, more) = (counts[part][class], of_group[group][class]);
                more * (2.0 * before + more) / totals[class].max(1.0).powi(2)
            };
            (0..n_classes).map(of_class).sum::<f64>() / fractions[part]
        };
        let n_empty = (0..fractions.len()).filter(|&part| rows(part) == 0.0).count();
        let must_fill = n_groups - at <= n_empty;
        let candidates = (0..fractions.len()).filter(|&part| !must_fill || rows(part) == 0.0);
        let cost = |part: &usize| (growth(*part), rows(*part) / fractions[*part]);
        let part = candidates
            .min_by(|a, b| cost(a).partial_cmp(&cost(b)).expect("no NaN"))
            .expect("at least one part");
        counts[part].iter_mut().zip(&of_group[group]).for_each(|(count, more)| *count += more);
        part_of[group] = part;
    }
    groups.iter().map(|&group| part_of[group]).collect()
}

/// Forward chaining: the rows of the last `folds` blocks of different times are tested, each block after training on all
/// earlier rows. All blocks but the first have the same number of times. Rows with the same time are not separated.
pub(super) fn forward_chaining(times: &[f64], folds: usize) -> Vec<Fold> {
    let moments = moments(times);
    let size = moments.len() / (folds + 1);
    let first = moments.len() - folds * size;
    (0..folds)
        .map(|fold| {
            let start = first + fold * size;
            (moments[start], moments.get(start + size).copied().unwrap_or(f64::INFINITY))
        })
        .map(|(start, end)| {
            let rows =
                |wanted: &dyn Fn(f64) -> bool| (0..times.len()).filter(|&row| wanted(times[row])).collect();
            Fold { train: rows(&|time| time < start), test: rows(&|time| start <= time && time < end) }
        })
        .collect()
}

/// The last rows in time are for testing.
pub(super) fn last_rows(times: &[f64], test_size: f64) -> Fold {
    let moments = moments(times);
    let n_test = ((test_size * moments.len() as f64).round() as usize).clamp(1, moments.len() - 1);
    let start = moments[moments.len() - n_test];
    let (train, test) = (0..times.len()).partition(|&row| times[row] < start);
    Fold { train, test }
}
