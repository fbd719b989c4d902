//! The best pairs by scores that are known up to an error, and the scores that a pair needs to be among them.

use crate::probability::ln_chi_squared_upper_tail;

/// A pair with the logarithm of the p-value of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    pub ln_p: f64,
    pub pair: (u32, u32),
}

/// A pair with bounds on the logarithm of the p-value of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bounded {
    pub pair: (u32, u32),
    pub least: f64,
    pub most: f64,
}

/// All pairs found so far that may be among the best.
pub(super) struct Shortlist {
    pub capacity: usize,
    pub pairs: Vec<Bounded>,
    thresholds: Thresholds,
}

/// For each number of functions of a pair, a root of a score below which the pair is certainly not among the best.
#[derive(Debug, Clone)]
pub(super) struct Thresholds {
    roots: Vec<f32>,
    /// Columns of the target, a factor of all degrees of freedom.
    columns: usize,
}

impl Shortlist {
    /// For the best `capacity` pairs, whose features have up to `limit` functions each.
    pub fn new(capacity: usize, limit: usize, columns: usize) -> Self {
        let thresholds = Thresholds { roots: vec![0.0; limit * limit + 1], columns };
        Self { capacity, pairs: vec![], thresholds }
    }

    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Adds pairs, and drops those that are certainly not among the best.
    pub fn add(&mut self, mut pairs: Vec<Bounded>) {
        if pairs.is_empty() {
            return;
        }
        self.pairs.append(&mut pairs);
        if self.pairs.len() < self.capacity {
            return;
        }
        let order = |a: &Bounded, b: &Bounded| a.most.total_cmp(&b.most);
        let worst = self.pairs.select_nth_unstable_by(self.capacity - 1, order).1.most;
        self.pairs.retain(|pair| pair.least <= worst);
        self.thresholds.raise(worst);
    }

    /// Whether errors leave many more pairs than are wanted.
    pub fn is_crowded(&self) -> bool {
        self.pairs.len() > most_listed(self.capacity)
    }

    /// Replaces all pairs by the best by their exact scores.
    pub fn settle(&mut self, candidates: &[Candidate]) {
        let exact = |c: &Candidate| Bounded { pair: c.pair, least: c.ln_p, most: c.ln_p };
        let pairs = candidates.iter().map(exact).collect();
        self.pairs.clear();
        self.add(pairs);
    }
}

/// Pairs above which a list for `capacity` pairs is crowded.
pub(super) fn most_listed(capacity: usize) -> usize {
    2 * capacity + 10_000
}

/// The best `capacity` of some candidates, the best first; ties are broken by the order of the features.
pub(super) fn best_of(mut candidates: Vec<Candidate>, capacity: usize) -> Vec<Candidate> {
    candidates.sort_unstable_by(|a, b| a.ln_p.total_cmp(&b.ln_p).then(a.pair.cmp(&b.pair)));
    candidates.truncate(capacity);
    candidates
}

impl Thresholds {
    /// The threshold for features with these numbers of functions.
    pub fn of(&self, functions: usize) -> f32 {
        self.roots[functions]
    }

    /// The thresholds by number of functions.
    pub fn roots(&self) -> &[f32] {
        &self.roots
    }

    /// The logarithm of the p-value of a score.
    pub fn ln_p(&self, score: f64, functions: usize) -> f64 {
        ln_chi_squared_upper_tail(score, (functions * self.columns) as f64)
    }

    /// A pair with a root of its score that is known up to `error`.
    pub fn bounded(&self, pair: (u32, u32), (root, error): (f32, f32), functions: usize) -> Bounded {
        if !(root + error).is_finite() {
            return Bounded { pair, least: f64::NEG_INFINITY, most: 0.0 };
        }
        let of_root = |root: f64| self.ln_p(root * root, functions);
        let (root, error) = (f64::from(root), f64::from(error));
        Bounded { pair, least: of_root(root + error), most: of_root((root - error).max(0.0)) }
    }

    /// Raises the thresholds to scores with this p-value.
    fn raise(&mut self, ln_p: f64) {
        for functions in 1..self.roots.len() {
            let at = |root: f32| self.ln_p(f64::from(root).powi(2), functions);
            let (mut low, mut high) = (self.roots[functions], self.roots[functions].max(1.0));
            while at(high) > ln_p && high < 1e18 {
                (low, high) = (high, 2.0 * high);
            }
            // Scores are in single precision: more digits are not needed.
            while high - low > 1e-5 * high {
                let middle = f32::midpoint(low, high);
                if at(middle) > ln_p { low = middle } else { high = middle }
            }
            self.roots[functions] = low;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    #[test]
    fn keeps_what_may_be_among_the_best_in_any_order() {
        let mut rng = Rng::new(3);
        // Exact values are whole numbers, with many ties; bounds are up to 2 wide.
        let all: Vec<(Candidate, Bounded)> = (0..200)
            .map(|i| {
                let (ln_p, pair) = (-(rng.uniform() * 50.0).floor(), (i / 7, i % 7 + 40));
                let (least, most) = (ln_p - rng.uniform(), ln_p + rng.uniform());
                (Candidate { ln_p, pair }, Bounded { pair, least, most })
            })
            .collect();
        let (exact, bounded): (Vec<Candidate>, Vec<Bounded>) = all.into_iter().unzip();
        let expected = best_of(exact.clone(), 25);
        assert!(expected.len() == 25 && expected.is_sorted_by(|a, b| a.ln_p <= b.ln_p));
        for chunk in [1, 7, 200] {
            let mut list = Shortlist::new(25, 2, 1);
            bounded.chunks(chunk).for_each(|part| list.add(part.to_vec()));
            let is_listed = |c: &&Candidate| list.pairs.iter().any(|pair| pair.pair == c.pair);
            let listed: Vec<Candidate> = exact.iter().filter(is_listed).copied().collect();
            assert_eq!(best_of(listed.clone(), 25), expected);
            list.settle(&best_of(listed, 25));
            assert_eq!(list.pairs.len(), 25);
        }
    }

    #[test]
    fn thresholds_have_the_p_value_of_the_worst() {
        let mut list = Shortlist::new(2, 2, 3);
        assert_eq!(list.thresholds().of(4), 0.0);
        let pair = |ln_p: f64, j| Bounded { pair: (0, j), least: ln_p, most: ln_p };
        list.add(vec![pair(-20.0, 1), pair(-10.0, 2), pair(-5.0, 3)]);
        assert_eq!(list.pairs.len(), 2);
        for functions in [1, 2, 4] {
            let threshold = f64::from(list.thresholds().of(functions));
            let found = list.thresholds().ln_p(threshold * threshold, functions);
            // The threshold is low by at most 1e-5, its square by twice as much, and the logarithm changes by at most half of that.
            assert!((-10.0..-9.99).contains(&found), "{found}");
        }
    }

    #[test]
    fn bounds_contain_the_exact_value() {
        let thresholds = Shortlist::new(2, 2, 1).thresholds;
        let found = thresholds.bounded((0, 1), (5.0, 0.5), 4);
        assert_eq!((found.least, found.most), (thresholds.ln_p(30.25, 4), thresholds.ln_p(20.25, 4)));
        assert_eq!(thresholds.bounded((0, 1), (0.1, 0.5), 4).most, 0.0);
        // Overflow in half precision says nothing.
        let unknown = thresholds.bounded((0, 1), (f32::INFINITY, 0.5), 4);
        assert_eq!((unknown.least, unknown.most), (f64::NEG_INFINITY, 0.0));
    }
}
