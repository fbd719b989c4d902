//! A Cholesky factor that rows join and leave.

use super::dense::cholesky;
use crate::simd::{add_scaled, dot};
use ndarray::ArrayView2;

/// $A = R^\top R$ for a symmetric positive definite $A$ that loses rows and columns anywhere and gets new ones at its end, each
/// in $O(m^2)$ instead of the $O(m^3)$ of a new factor.
pub struct GrowingFactor {
    /// The columns of $R$ down to the diagonal.
    columns: Vec<Vec<f64>>,
    /// Rotations of a removal, kept to be used again.
    turns: Vec<(f64, f64)>,
}

impl GrowingFactor {
    /// The factor of a matrix; none if it is not positive definite.
    pub fn of(a: ArrayView2<f64>) -> Option<Self> {
        let lower = cholesky(a)?;
        let columns =
            lower.rows().into_iter().enumerate().map(|(j, row)| row.iter().take(j + 1).copied().collect());
        Some(Self { columns: columns.collect(), turns: vec![] })
    }

    /// The size of the matrix.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    /// Adds a row and column: its entries with the others, and its own. Says whether it did; where no more than `least` of its
    /// own is left after the others, it is not added.
    pub fn push(&mut self, mut with: Vec<f64>, own: f64, least: f64) -> bool {
        debug_assert_eq!(with.len(), self.size());
        self.forward(&mut with);
        let left = own - dot(&with, &with);
        if left.is_nan() || left <= least {
            return false;
        }
        with.push(left.sqrt());
        self.columns.push(with);
        true
    }

    /// Takes a row and column away.
    pub fn remove(&mut self, at: usize) {
        self.columns.remove(at);
        self.turns.clear();
        for (j, column) in self.columns.iter_mut().enumerate().skip(at) {
            let mut upper = column[at];
            for (k, &(c, s)) in self.turns.iter().enumerate() {
                let below = column[at + k + 1];
                column[at + k] = c * upper + s * below;
                upper = c * below - s * upper;
            }
            // One entry hangs below the diagonal; a rotation takes it away.
            let below = column[j + 1];
            let length = upper.hypot(below);
            self.turns.push((upper / length, below / length));
            column[j] = length;
            column.truncate(j + 1);
        }
    }

    /// $b$ becomes $A^{-1} b$.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        for (j, column) in self.columns.iter().enumerate().rev() {
            let (above, rest) = b.split_at_mut(j);
            rest[0] /= column[j];
            add_scaled(above, -rest[0], &column[..j]);
        }
    }

    /// $b$ becomes $R^{-\top} b$.
    fn forward(&self, b: &mut [f64]) {
        for (j, column) in self.columns.iter().enumerate() {
            b[j] = (b[j] - dot(&column[..j], &b[..j])) / column[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::{Array1, Array2, Axis};

    /// Rows come and go at random; the factor always solves what a matrix made anew has.
    #[test]
    fn it_solves_what_a_new_factor_solves() {
        for seed in 0..20 {
            let mut rng = Rng::new(seed);
            let x = Array2::from_shape_simple_fn((30, 40), || rng.normal());
            let all = x.dot(&x.t());
            let mut rows: Vec<usize> = (0..10).collect();
            let part = |rows: &[usize]| all.select(Axis(0), rows).select(Axis(1), rows);
            let mut factor = GrowingFactor::of(part(&rows).view()).unwrap();
            for _ in 0..60 {
                let outside: Vec<usize> = (0..30).filter(|i| !rows.contains(i)).collect();
                if rows.len() > 1 && (outside.is_empty() || rng.below(2) == 0) {
                    let at = rng.below(rows.len());
                    rows.remove(at);
                    factor.remove(at);
                } else {
                    let new = outside[rng.below(outside.len())];
                    let with = rows.iter().map(|&i| all[[i, new]]).collect();
                    assert!(factor.push(with, all[[new, new]], 0.0));
                    rows.push(new);
                }
                assert_eq!(factor.size(), rows.len());
                let truth = Array1::from_shape_simple_fn(rows.len(), || rng.normal());
                let mut b = part(&rows).dot(&truth).to_vec();
                factor.solve(&mut b);
                // Condition numbers up to 1e4 or so, and 60 changes, each of rounding's size.
                assert!(b.iter().zip(&truth).all(|(b, t)| (b - t).abs() < 1e-9), "seed {seed}");
            }
        }
    }

    #[test]
    fn what_depends_on_the_others_is_not_added() {
        let mut factor = GrowingFactor::of(ndarray::array![[4.0, 2.0], [2.0, 5.0]].view()).unwrap();
        // The sum of both rows.
        assert!(!factor.push(vec![6.0, 7.0], 13.0, 1e-9));
        assert!(!factor.push(vec![f64::NAN, 7.0], 13.0, 0.0));
        assert_eq!(factor.size(), 2);
        assert!(factor.push(vec![6.0, 7.0], 14.0, 1e-9));
        // The matrix times (1/2, 1, 1).
        let mut b = [10.0, 13.0, 24.0];
        factor.solve(&mut b);
        assert!(b.iter().zip([0.5, 1.0, 1.0]).all(|(b, t): (&f64, f64)| (b - t).abs() < 1e-14), "{b:?}");
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_factor() {
        assert!(GrowingFactor::of(ndarray::array![[1.0, 2.0], [2.0, 1.0]].view()).is_none());
    }
}
