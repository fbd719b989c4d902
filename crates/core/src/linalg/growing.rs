//! A Cholesky factor with updates.

use super::dense::cholesky;
use crate::simd::{add_scaled, dot};
use ndarray::ArrayView2;

/// $A = R^\top R$ for a symmetric positive definite $A$. Appending a row and column, or removing one at any position, takes
/// $O(m^2)$ instead of the $O(m^3)$ of a new factorization.
pub struct GrowingFactor {
    /// The columns of $R$ down to the diagonal.
    columns: Vec<Vec<f64>>,
    /// Givens rotations of a removal; kept to reuse the memory.
    rotations: Vec<(f64, f64)>,
}

impl GrowingFactor {
    /// The factor of a matrix; `None` if it is not positive definite.
    pub fn of(a: ArrayView2<f64>) -> Option<Self> {
        let lower = cholesky(a)?;
        let columns =
            lower.rows().into_iter().enumerate().map(|(j, row)| row.iter().take(j + 1).copied().collect());
        Some(Self { columns: columns.collect(), rotations: vec![] })
    }

    /// The factor of a matrix without rows.
    pub fn empty() -> Self {
        Self { columns: vec![], rotations: vec![] }
    }

    /// The size of the matrix.
    pub fn size(&self) -> usize {
        self.columns.len()
    }

    /// Appends a row and column with the given off-diagonal entries and diagonal entry. Returns false, without adding it, if its
    /// squared residual after projection on the others (the Schur complement) is at most `min_residual`.
    pub fn push(&mut self, mut entries: Vec<f64>, diagonal: f64, min_residual: f64) -> bool {
        debug_assert_eq!(entries.len(), self.size());
        self.forward(&mut entries);
        let residual = diagonal - dot(&entries, &entries);
        if residual.is_nan() || residual <= min_residual {
            return false;
        }
        entries.push(residual.sqrt());
        self.columns.push(entries);
        true
    }

    /// Removes a row and column.
    pub fn remove(&mut self, at: usize) {
        self.columns.remove(at);
        self.rotations.clear();
        for (j, column) in self.columns.iter_mut().enumerate().skip(at) {
            let mut upper = column[at];
            for (k, &(c, s)) in self.rotations.iter().enumerate() {
                let below = column[at + k + 1];
                column[at + k] = c * upper + s * below;
                upper = c * below - s * upper;
            }
            // A rotation eliminates the entry below the diagonal.
            let below = column[j + 1];
            let length = upper.hypot(below);
            self.rotations.push((upper / length, below / length));
            column[j] = length;
            column.truncate(j + 1);
        }
    }

    /// Replaces $b$ by $A^{-1} b$.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        for (j, column) in self.columns.iter().enumerate().rev() {
            let (above, rest) = b.split_at_mut(j);
            rest[0] /= column[j];
            add_scaled(above, -rest[0], &column[..j]);
        }
    }

    /// Replaces $b$ by $R^{-\top} b$.
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

    #[test]
    fn solves_correctly_after_random_updates() {
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
                // Condition numbers up to about 1e4, and 60 updates with one rounding error each.
                assert!(b.iter().zip(&truth).all(|(b, t)| (b - t).abs() < 1e-9), "seed {seed}");
            }
        }
    }

    #[test]
    fn linearly_dependent_rows_are_not_added() {
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
    fn an_indefinite_matrix_has_no_factor() {
        assert!(GrowingFactor::of(ndarray::array![[1.0, 2.0], [2.0, 1.0]].view()).is_none());
    }
}
