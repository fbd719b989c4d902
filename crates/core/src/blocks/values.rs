//! The smallest values of a feature, for features of few values.

use ndarray::ArrayView1;
use serde::{Deserialize, Serialize};

/// Distinct values that are kept; a feature with fewer is complete.
const MOST: usize = 64;

/// The smallest distinct values of a feature with their numbers of rows, and its largest value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SmallestValues {
    values: Vec<f64>,
    counts: Vec<f64>,
    largest: f64,
}

impl SmallestValues {
    /// Numbers that it stores at most.
    pub(crate) const CELLS: usize = 2 * MOST + 1;

    /// Of the values of a block.
    pub(crate) fn of(column: ArrayView1<f64>) -> Self {
        let mut found = Self { values: vec![], counts: vec![], largest: f64::NEG_INFINITY };
        // One zero.
        column.iter().for_each(|v| found.push(v + 0.0, 1.0));
        found
    }

    /// Adds those of other rows.
    pub(crate) fn add(&mut self, other: &Self) {
        other.values.iter().zip(&other.counts).for_each(|(value, count)| self.push(*value, *count));
        self.largest = self.largest.max(other.largest);
    }

    fn push(&mut self, value: f64, count: f64) {
        self.largest = self.largest.max(value);
        if self.values.len() == MOST && value > self.values[MOST - 1] {
            return;
        }
        let place = self.values.partition_point(|known| *known < value);
        if self.values.get(place) == Some(&value) {
            self.counts[place] += count;
            return;
        }
        self.values.insert(place, value);
        self.counts.insert(place, count);
        self.values.truncate(MOST);
        self.counts.truncate(MOST);
    }

    /// Whether these are all values.
    pub(crate) fn is_complete(&self) -> bool {
        self.values.len() < MOST
    }

    /// The values, in ascending order.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// The number of rows of each value; exact for all of a complete feature.
    pub(crate) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The largest value.
    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    #[test]
    fn parts_have_the_values_of_all() {
        let few = Array1::from_shape_fn(1000, |i| (i * i % 7) as f64 - 2.0);
        let many = Array1::from_shape_fn(1000, |i| ((i * 37) % 500) as f64);
        for column in [&few, &many] {
            let mut found = SmallestValues::of(column.slice(ndarray::s![..300]));
            found.add(&SmallestValues::of(column.slice(ndarray::s![300..])));
            assert_eq!(
                (found.values(), found.largest()),
                (SmallestValues::of(column.view()).values(), SmallestValues::of(column.view()).largest())
            );
        }
        let all = SmallestValues::of(few.view());
        // Squares modulo 7: 0 in 143 rows, 1, 4 and 2 in about 286 each.
        assert!(all.is_complete() && all.values() == [-2.0, -1.0, 0.0, 2.0]);
        assert_eq!(all.counts().iter().sum::<f64>(), 1000.0);
        assert!(!SmallestValues::of(many.view()).is_complete());
    }
}
