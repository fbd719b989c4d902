//! Vectors with mean square 1 that are orthogonal to each other.

use crate::simd::{add_scaled, dot};

/// A vector counts as dependent on the others if less than this fraction of its squared length remains. Rounding leaves
/// about 1e-30.
pub(super) const TOLERANCE: f64 = 1e-10;

/// Vectors $v_1, v_2, \ldots$ of length $n$ with $v_a^\top v_b = n \, [a = b]$.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orthonormal {
    pub vectors: Vec<Vec<f64>>,
}

impl Orthonormal {
    /// Adds the part of a vector that is orthogonal to all others, scaled to mean square 1; nothing if it depends on
    /// them.
    pub fn push(&mut self, mut vector: Vec<f64>) -> bool {
        let n = vector.len() as f64;
        let before = dot(&vector, &vector);
        self.remove_from(&mut vector);
        let after = dot(&vector, &vector);
        if !(after > TOLERANCE * before && after > f64::MIN_POSITIVE) {
            return false;
        }
        let scale = (n / after).sqrt();
        vector.iter_mut().for_each(|v| *v *= scale);
        self.vectors.push(vector);
        true
    }

    /// Subtracts from a vector its projection on these vectors.
    pub fn remove_from(&self, vector: &mut [f64]) {
        let n = vector.len() as f64;
        // Twice, because rounding errors of the first pass are relative to the vector before it.
        for _ in 0..2 {
            for other in &self.vectors {
                let along = dot(other, vector) / n;
                add_scaled(vector, -along, other);
            }
        }
    }

    /// The parts of these vectors that are orthogonal to those here, orthonormalized.
    pub fn complement(&self, vectors: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut all = self.clone();
        for vector in vectors {
            all.push(vector.clone());
        }
        all.vectors.split_off(self.vectors.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let mut basis = Orthonormal::default();
        assert!(basis.push(vec![1.0, 1.0, 1.0, 1.0]));
        // The remainder (-1.5, -0.5, 0.5, 1.5) has the sum of squares 5, where 4 is wanted.
        assert!(basis.push(vec![1.0, 2.0, 3.0, 4.0]));
        assert!(!basis.push(vec![3.0, 5.0, 7.0, 9.0]), "depends on both");
        assert!(!basis.push(vec![0.0; 4]));
        assert_eq!(basis.vectors.len(), 2);
        let scale = 0.8_f64.sqrt();
        for (found, expected) in basis.vectors[1].iter().zip([-1.5, -0.5, 0.5, 1.5]) {
            assert!((found - expected * scale).abs() < 1e-15);
        }
        // Only the second is new, and orthogonal to both.
        let new = basis.complement(&[vec![2.0, 2.0, 2.0, 2.0], vec![1.0, 0.0, 0.0, 0.0]]);
        assert_eq!(new.len(), 1);
        assert!(basis.vectors.iter().all(|v| dot(v, &new[0]).abs() < 1e-14));
        assert!((dot(&new[0], &new[0]) - 4.0).abs() < 1e-14);
    }
}
