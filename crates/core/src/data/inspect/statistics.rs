//! Statistics of a column.

use super::account::{Range, Scalar};
use super::duplicates::Fingerprint;
use crate::data::date;
use crate::data::table::{Column, Values};
use crate::data::types::{ColumnType, Parsing};
use crate::error::shorten;
use std::cell::OnceCell;

/// Bins of a histogram.
const BINS: usize = 20;
/// Levels that are listed.
const LEVELS: usize = 5;
/// Examples of values.
const EXAMPLES: usize = 3;

/// What decides whether a column is a feature.
pub(crate) struct Statistics<'a> {
    values: &'a [f64],
    n_distinct: OnceCell<usize>,
    pub(crate) n_missing: usize,
    pub(crate) n_present: usize,
    pub(crate) is_constant: bool,
    /// Whether all values are integers.
    pub(crate) is_integer: bool,
    /// Whether each value is its predecessor plus 1, or each is its predecessor minus 1.
    pub(crate) counts_rows: bool,
    /// Whether it is a category of which at least half of the cells are numbers.
    pub(crate) is_mostly_numbers: bool,
    /// Why the column cannot be read.
    pub(crate) unsupported: Option<&'a str>,
    /// The mean number of characters and of words.
    pub(crate) length: (f64, f64),
    pub(crate) fingerprint: Fingerprint,
}

impl<'a> Statistics<'a> {
    /// Statistics of the values that `parsing` reads from a column.
    pub(crate) fn of(column: &'a Column, values: &'a [f64], parsing: &Parsing) -> Self {
        let present = || values.iter().filter(|v| !v.is_nan());
        let n_present = present().count();
        let counts_by = |step: f64| values.windows(2).all(|pair| pair[1] - pair[0] == step);
        Self {
            values,
            n_distinct: OnceCell::new(),
            n_missing: values.len() - n_present,
            n_present,
            is_constant: present().next().is_some_and(|first| present().all(|v| v == first)),
            is_integer: present().all(|v| v.fract() == 0.0),
            counts_rows: counts_by(1.0) || counts_by(-1.0),
            is_mostly_numbers: false,
            unsupported: match &column.values {
                Values::Unsupported { why, .. } => Some(why),
                _ => None,
            },
            length: length(column),
            fingerprint: Fingerprint::of(values, parsing),
        }
    }

    /// Whether each value is its predecessor plus 1, or the first value again: the index of tables one below the other.
    pub(crate) fn counts_repeatedly(&self) -> bool {
        self.values.windows(2).all(|pair| pair[1] - pair[0] == 1.0 || pair[1] == self.values[0])
    }

    /// Whether each value is larger than its predecessor.
    pub(crate) fn is_increasing(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// The number of distinct values. It sorts them, which takes longer than all other statistics.
    pub(crate) fn n_distinct(&self) -> usize {
        *self.n_distinct.get_or_init(|| n_distinct(&sorted(self.values)))
    }
}

/// Statistics for the account of a column.
#[derive(Default)]
pub(crate) struct Details {
    pub(crate) n_distinct: Option<usize>,
    pub(crate) range: Option<Range>,
    pub(crate) histogram: Vec<usize>,
    pub(crate) levels: Vec<(String, usize)>,
}

impl Details {
    /// Details of the values that `parsing` reads from a column.
    pub(crate) fn of(values: &[f64], parsing: &Parsing, kind: &ColumnType) -> Self {
        let sorted = sorted(values);
        let n_distinct = Some(n_distinct(&sorted));
        match parsing.level(0) {
            Some(_) => Self { n_distinct, levels: levels(&sorted, parsing), ..Self::default() },
            None => {
                let (range, histogram) = (range(&sorted, kind), histogram(&sorted));
                Self { n_distinct, range, histogram, ..Self::default() }
            }
        }
    }
}

/// The values present, in ascending order.
fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The number of distinct values among sorted ones; -0 and 0 are equal, and next to each other.
fn n_distinct(sorted: &[f64]) -> usize {
    sorted.chunk_by(|a, b| a == b).count()
}

fn range(sorted: &[f64], kind: &ColumnType) -> Option<Range> {
    let (&min, &max) = (sorted.first()?, sorted.last()?);
    if !(min.is_finite() && max.is_finite()) {
        return None;
    }
    let middle = (sorted.len() - 1) / 2;
    if matches!(kind, ColumnType::Date(_)) {
        let is_time = min >= 0.0 && max < 1.0;
        let [min, median, max] =
            [min, sorted[middle], max].map(|days| Scalar::Date(date_text(days, is_time)));
        return Some(Range { min, median, max });
    }
    // Halve before adding, because the sum of two large numbers may overflow.
    let median = sorted[middle] / 2.0 + sorted[sorted.len() / 2] / 2.0;
    let [min, median, max] = [min, median, max].map(|value| Scalar::Number(value + 0.0));
    Some(Range { min, median, max })
}

/// A date, or only its time.
fn date_text(days: f64, is_time: bool) -> String {
    let text = date::text(days);
    match text.split_once('T') {
        Some((_, time)) if is_time => time.to_owned(),
        None if is_time => "00:00:00".into(),
        _ => text,
    }
}

/// Numbers of values in bins of equal width; a single bin if all values are equal.
fn histogram(sorted: &[f64]) -> Vec<usize> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return vec![] };
    if !(low.is_finite() && high.is_finite()) {
        return vec![];
    }
    if low == high {
        return vec![sorted.len()];
    }
    let mut bins = vec![0; BINS];
    // Halve before subtracting, because the difference of two large numbers may overflow.
    let width = high / 2.0 - low / 2.0;
    for &v in sorted {
        let bin = (v / 2.0 - low / 2.0) / width * BINS as f64;
        bins[(bin as usize).min(BINS - 1)] += 1;
    }
    bins
}

/// The most frequent levels; ties are broken by the order of levels.
fn levels(sorted: &[f64], parsing: &Parsing) -> Vec<(String, usize)> {
    let mut counts: Vec<(usize, usize)> =
        sorted.chunk_by(|a, b| a == b).map(|run| (run[0] as usize, run.len())).collect();
    counts.sort_by_key(|&(code, count)| (std::cmp::Reverse(count), code));
    let named = |(code, count): (usize, usize)| Some((shorten(parsing.level(code)?), count));
    counts.into_iter().take(LEVELS).filter_map(named).collect()
}

/// The mean numbers of characters and of words of the distinct texts.
fn length(column: &Column) -> (f64, f64) {
    let Values::Text { levels, .. } = &column.values else { return (0.0, 0.0) };
    let n = levels.len().max(1) as f64;
    let characters: usize = levels.iter().map(|text| text.chars().count()).sum();
    let words: usize = levels.iter().map(|text| text.split_whitespace().count()).sum();
    (characters as f64 / n, words as f64 / n)
}

/// The first distinct values, as they are written.
pub(crate) fn examples(column: &Column) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for row in 0..column.len() {
        if let Some(cell) = column.cell(row) {
            let text = shorten(&cell);
            if !found.contains(&text) {
                found.push(text);
            }
        }
        // A constant column would be read to its end.
        if found.len() == EXAMPLES || row > 1000 {
            break;
        }
    }
    found
}
