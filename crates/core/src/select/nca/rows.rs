//! The rows that a search uses, with their weights.

use crate::data::{Dataset, Target};
use crate::select::selector::MAX_REPEATED;
use std::cmp::Ordering;
use std::ops::Range;

/// Largest number of rows whose loss is computed.
const MAX_QUERIES: usize = 20_000;
/// Up to this many rows every row is compared with all others; more rows are compared with landmarks.
const MAX_EXACT_ROWS: usize = 4000;
const N_LANDMARKS: usize = 2000;
/// A class keeps at least this many rows, if it has them, where rows are left out.
const MIN_OF_CLASS: usize = 50;

/// Rows, or positions of rows, in the order of [`sorted_rows`], and their weights.
///
/// If all weights are integers, they are numbers of rows: a row of weight $w$ has $w - 1$ copies besides itself. Otherwise
/// they only say how much a row counts; then they have the mean 1 and a row has no copies.
pub(super) struct WeightedRows {
    pub rows: Vec<usize>,
    pub weights: Vec<f64>,
    counts: bool,
    exact: bool,
}

impl WeightedRows {
    /// The rows of the data, or some of very many unless `exact`, which compares all rows with all others.
    pub fn new(data: &Dataset, exact: bool) -> Self {
        let (rows, weights, n) = (sorted_rows(data), data.weights(), data.n());
        let counts = weights.are_counts();
        let unit = if counts { 1.0 } else { weights.total(n) / n as f64 };
        let weights = rows.iter().map(|&i| weights.of(i) / unit).collect();
        let all = Self { rows, weights, counts, exact };
        let some = all.spread(data, if exact { n } else { MAX_QUERIES });
        Self { rows: some.rows.into_iter().map(|at| all.rows[at]).collect(), ..some }
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of landmarks with which the rows are compared.
    pub fn n_landmarks(&self) -> usize {
        if self.exact || self.len() <= MAX_EXACT_ROWS { self.len() } else { N_LANDMARKS }
    }

    /// How many equal rows a row stands for.
    pub fn copies(&self, at: usize) -> f64 {
        if self.counts { self.weights[at] } else { 1.0 }
    }

    /// The number of rows with all copies.
    pub fn n_copies(&self) -> f64 {
        (0..self.len()).map(|at| self.copies(at)).sum()
    }

    /// Positions of about `most` rows, evenly spaced in every class by weight. Where rows are left out, the weight of a
    /// row is the number of times that it is met.
    pub fn spread(&self, data: &Dataset, most: usize) -> Self {
        let n = self.len();
        if n <= most {
            return Self { rows: (0..n).collect(), weights: self.weights.clone(), ..*self };
        }
        let mut kept = Self { rows: vec![], weights: vec![], ..*self };
        for at in strata(data, &self.rows) {
            let wanted = most as f64 / n as f64 * at.len() as f64;
            let wanted = (wanted.round() as usize).max(MIN_OF_CLASS.min(at.len()));
            let add = |sum: &mut f64, weight: &f64| {
                *sum += weight;
                Some(*sum)
            };
            let sums: Vec<f64> = self.weights[at.clone()].iter().scan(0.0, add).collect();
            let total = sums[sums.len() - 1];
            for k in 0..wanted {
                let place = (2 * k + 1) as f64 * total / (2 * wanted) as f64;
                kept.add(at.start + sums.partition_point(|sum| *sum <= place).min(at.len() - 1), 1.0);
            }
        }
        kept
    }

    /// Positions of rows, with repetitions if weights are numbers of rows.
    pub fn repeated(&self) -> Vec<usize> {
        let divides = self.divides_copies();
        let times = |at: usize| if divides { self.weights[at] as usize } else { 1 };
        (0..self.len()).flat_map(|at| std::iter::repeat_n(at, times(at))).collect()
    }

    /// The rows at some of the positions of [`WeightedRows::repeated`], in ascending order.
    pub fn take(&self, repeated: impl Iterator<Item = usize>) -> Self {
        let mut taken = Self { rows: vec![], weights: vec![], ..*self };
        let divides = self.divides_copies();
        for at in repeated {
            taken.add(self.rows[at], if divides { 1.0 } else { self.weights[at] });
        }
        taken
    }

    /// Adds a row, or weight to the last row if it is the same.
    fn add(&mut self, row: usize, weight: f64) {
        match self.weights.last_mut() {
            Some(last) if self.rows.last() == Some(&row) => *last += weight,
            _ => {
                self.rows.push(row);
                self.weights.push(weight);
            }
        }
    }

    fn divides_copies(&self) -> bool {
        self.counts && self.n_copies() <= MAX_REPEATED as f64
    }
}

/// The rows in the order of the target and then of their values, so that results do not depend on the order of the data.
pub(in crate::select) fn sorted_rows(data: &Dataset) -> Vec<usize> {
    let by_target = |a: usize, b: usize| match data.target() {
        Target::Classes(classes) => classes.codes[a].cmp(&classes.codes[b]),
        Target::Continuous(y) => by_number(y[a], y[b]),
        Target::None | Target::Outputs(_) => Ordering::Equal,
    };
    let mut rows: Vec<usize> = (0..data.n()).collect();
    rows.sort_by(|&a, &b| by_target(a, b).then_with(|| by_values(data, a, b)));
    rows
}

/// Orders rows by their values.
pub(super) fn by_values(data: &Dataset, a: usize, b: usize) -> Ordering {
    let x = data.x();
    (0..x.d()).map(|j| by_number(x.get(a, j), x.get(b, j))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

/// Orders finite numbers; zeros of both signs are equal.
fn by_number(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// Ranges of sorted rows with the same class; all rows in regression.
pub(super) fn strata(data: &Dataset, rows: &[usize]) -> Vec<Range<usize>> {
    let Target::Classes(classes) = data.target() else {
        return std::iter::once(0..rows.len()).collect();
    };
    let mut all: Vec<Range<usize>> = vec![];
    for (at, &i) in rows.iter().enumerate() {
        match all.last_mut() {
            Some(last) if classes.codes[rows[last.start]] == classes.codes[i] => last.end = at + 1,
            _ => all.push(at..at + 1),
        }
    }
    all
}
