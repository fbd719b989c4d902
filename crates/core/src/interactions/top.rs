//! The best pairs found so far, and the scores that a pair needs to be among them.

use crate::probability::ln_chi_squared_upper_tail;

/// A pair with the logarithm of the p-value of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub ln_p: f64,
    pub pair: (u32, u32),
}

/// A list of bounded length. Its final content does not depend on the order in which pairs are added.
pub(super) struct Top {
    capacity: usize,
    pub best: Vec<Candidate>,
    thresholds: Thresholds,
}

/// For each number of degrees of freedom, a score below which a pair is certainly not among the best.
#[derive(Debug, Clone)]
pub(super) struct Thresholds {
    by_degrees: Vec<f32>,
    /// Columns of the target, a factor of all degrees of freedom.
    columns: usize,
}

impl Top {
    /// At most `capacity` pairs, whose features have up to `limit` functions each.
    pub fn new(capacity: usize, limit: usize, columns: usize) -> Self {
        let thresholds = Thresholds { by_degrees: vec![0.0; limit * limit + 1], columns };
        Self { capacity, best: vec![], thresholds }
    }

    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Adds pairs, and drops the worst if there are too many.
    pub fn add(&mut self, mut candidates: Vec<Candidate>) {
        if candidates.is_empty() {
            return;
        }
        self.best.append(&mut candidates);
        self.best.sort_unstable_by(|a, b| a.ln_p.total_cmp(&b.ln_p).then(a.pair.cmp(&b.pair)));
        self.best.truncate(self.capacity);
        if self.best.len() == self.capacity {
            self.thresholds.raise(self.best[self.capacity - 1].ln_p);
        }
    }
}

impl Thresholds {
    /// The threshold for features with these numbers of functions.
    pub fn of(&self, functions: usize) -> f32 {
        self.by_degrees[functions]
    }

    /// The logarithm of the p-value of a score.
    pub fn ln_p(&self, score: f32, functions: usize) -> f64 {
        ln_chi_squared_upper_tail(f64::from(score), (functions * self.columns) as f64)
    }

    /// Raises the thresholds to scores with this p-value.
    fn raise(&mut self, ln_p: f64) {
        for functions in 1..self.by_degrees.len() {
            let (mut low, mut high) = (self.by_degrees[functions], self.by_degrees[functions].max(1.0));
            while self.ln_p(high, functions) > ln_p && high < f32::MAX / 2.0 {
                (low, high) = (high, 2.0 * high);
            }
            // Scores are in single precision: more digits are not needed.
            while high - low > 1e-5 * high {
                let middle = f32::midpoint(low, high);
                if self.ln_p(middle, functions) > ln_p { low = middle } else { high = middle }
            }
            self.by_degrees[functions] = low;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    #[test]
    fn keeps_the_best_in_any_order() {
        let mut rng = Rng::new(3);
        // A few equal values, whose order is that of the pairs.
        let all: Vec<Candidate> = (0..200)
            .map(|i| Candidate { ln_p: -((rng.uniform() * 50.0).floor()), pair: (i / 7, i % 7 + 40) })
            .collect();
        let mut expected = all.clone();
        expected.sort_by(|a, b| a.ln_p.total_cmp(&b.ln_p).then(a.pair.cmp(&b.pair)));
        expected.truncate(25);
        for chunk in [1, 7, 200] {
            let mut top = Top::new(25, 2, 1);
            all.chunks(chunk).for_each(|part| top.add(part.to_vec()));
            assert_eq!(top.best, expected);
        }
    }

    #[test]
    fn thresholds_have_the_p_value_of_the_worst() {
        let mut top = Top::new(2, 2, 3);
        assert_eq!(top.thresholds().of(4), 0.0);
        top.add(vec![
            Candidate { ln_p: -20.0, pair: (0, 1) },
            Candidate { ln_p: -10.0, pair: (0, 2) },
            Candidate { ln_p: -5.0, pair: (0, 3) },
        ]);
        for functions in [1, 2, 4] {
            let threshold = top.thresholds().of(functions);
            let found = top.thresholds().ln_p(threshold, functions);
            // The threshold is low by at most 1e-5, and the logarithm changes by at most half of that.
            assert!((-10.0..-9.99).contains(&found), "{found}");
        }
    }
}
