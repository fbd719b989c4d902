//! How much rows count, as centers and as neighbors.

use crate::data::Weights;

/// The weights of the rows. If all are integers, a row of weight $w$ is there $w$ times, so that $w - 1$ copies are among its
/// neighbors; otherwise rows have no copies, and only the ratios of weights matter.
#[derive(Clone, Copy)]
pub(super) struct Shares<'a> {
    weights: Weights<'a>,
    are_counts: bool,
}

impl<'a> Shares<'a> {
    pub fn new(weights: Weights<'a>) -> Self {
        Self { weights, are_counts: weights.are_counts() }
    }

    /// The weight of a row.
    pub fn of(self, row: usize) -> f64 {
        self.weights.of(row)
    }

    /// How often a row is there besides itself.
    pub fn copies(self, row: usize) -> f64 {
        if self.are_counts { self.of(row) - 1.0 } else { 0.0 }
    }

    /// The row to leave out of the neighbors of each center: itself, unless it has copies.
    pub fn excluded(self, centers: &[usize]) -> impl Iterator<Item = Option<usize>> {
        centers.iter().map(move |&row| Some(row).filter(|&row| self.copies(row) == 0.0))
    }

    /// The weights of the `k` neighbors of a center, nearest first; of counts, the first `k` in all.
    pub fn of_neighbors(self, near: impl Iterator<Item = usize>, center: usize, k: usize) -> Vec<f64> {
        let mut left = if self.are_counts { k as f64 } else { f64::INFINITY };
        let share = |row| {
            let share = if row == center { self.copies(row) } else { self.of(row) }.min(left);
            left -= share;
            share
        };
        near.map(share).collect()
    }

    /// The sum over all ordered pairs of two of these weights, of rows that are not the same.
    pub fn pairs(self, weights: impl Iterator<Item = f64> + Clone) -> f64 {
        let total: f64 = weights.clone().sum();
        let same: f64 = weights.map(|w| if self.are_counts { w } else { w * w }).sum();
        total * total - same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_copies_and_other_weights_are_ratios() {
        let counts = [3.0, 1.0, 2.0];
        let shares = Shares::new(Weights::new(Some(&counts)));
        // Row 0 is there twice besides itself, then row 1 once, and one of the two copies of row 2.
        assert_eq!(shares.of_neighbors([0, 1, 2].into_iter(), 0, 4), [2.0, 1.0, 1.0]);
        assert_eq!(shares.excluded(&[0, 1, 2]).collect::<Vec<_>>(), [None, Some(1), None]);
        // Six rows: 6 * 5 pairs.
        assert_eq!(shares.pairs(counts.into_iter()), 30.0);
        let ratios = [1.5, 0.5, 1.0];
        let shares = Shares::new(Weights::new(Some(&ratios)));
        assert_eq!(shares.of_neighbors([1, 2].into_iter(), 0, 1), [0.5, 1.0]);
        assert_eq!(shares.excluded(&[0]).collect::<Vec<_>>(), [Some(0)]);
        // Twice 0.75 + 1.5 + 0.5.
        assert_eq!(shares.pairs(ratios.into_iter()), 5.5);
    }
}
