//! Factorizations of dense matrices.

use super::product::{faer_mut, faer_ref};
use crate::error::{Error, Result};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Par, Side};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, ShapeBuilder};

/// An eigendecomposition.
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Eigenvalues in decreasing order.
    pub values: Array1<f64>,
    /// Eigenvectors as columns; the entry of largest absolute value in each is positive.
    pub vectors: Array2<f64>,
}

/// Eigendecomposition of a symmetric matrix; only the lower triangle is read.
pub fn symmetric_eigen(a: ArrayView2<f64>) -> Result<Eigen> {
    let n = a.nrows();
    let eigen = faer_ref(&a).self_adjoint_eigen(Side::Lower).map_err(|_| Error::Breakdown {
        step: "eigendecomposition",
        why: "it did not converge; check the data for extreme values".into(),
    })?;
    let (u, s) = (eigen.U(), eigen.S().column_vector());
    let mut vectors = Array2::zeros((n, n).f());
    let mut values = Array1::zeros(n);
    for (to, from) in (0..n).rev().enumerate() {
        values[to] = s[from];
        let sign = sign_of_largest((0..n).map(|i| u[(i, from)]));
        for i in 0..n {
            vectors[[i, to]] = sign * u[(i, from)];
        }
    }
    Ok(Eigen { values, vectors })
}

/// The sign that makes the entry of largest absolute value positive (ties go to the first), so that signs of eigenvectors do
/// not differ between computers.
pub(crate) fn sign_of_largest(entries: impl Iterator<Item = f64>) -> f64 {
    let mut largest = 0.0_f64;
    for entry in entries {
        // The margin treats entries that are equal up to rounding as ties.
        if entry.abs() > largest.abs() * (1.0 + 1e-10) {
            largest = entry;
        }
    }
    if largest < 0.0 { -1.0 } else { 1.0 }
}

/// The lower Cholesky factor of a positive definite matrix; `None` if it is not positive definite.
pub fn cholesky(a: ArrayView2<f64>) -> Option<Array2<f64>> {
    let n = a.nrows();
    let factor = faer_ref(&a).llt(Side::Lower).ok()?;
    let l = factor.L();
    let mut out = Array2::zeros((n, n).f());
    for j in 0..n {
        for i in j..n {
            out[[i, j]] = l[(i, j)];
        }
    }
    Some(out)
}

/// The inverse of a lower triangular matrix.
pub fn invert_lower(l: ArrayView2<f64>) -> Array2<f64> {
    let n = l.nrows();
    let mut out = Array2::zeros((n, n).f());
    invert_lower_triangular(faer_mut(&mut out.view_mut()), faer_ref(&l), Par::Seq);
    out
}

/// Solves `l x = b` in place, with `l` lower triangular.
pub fn lower_solve(l: ArrayView2<f64>, b: &mut ArrayViewMut2<f64>) {
    solve_lower_triangular_in_place(faer_ref(&l), faer_mut(b), Par::Seq);
}

/// Solves `l' x = b` in place, with `l` lower triangular.
pub fn transposed_solve(l: ArrayView2<f64>, b: &mut ArrayViewMut2<f64>) {
    solve_upper_triangular_in_place(faer_ref(&l.t()), faer_mut(b), Par::Seq);
}

/// Solves `l l' x = b` in place, with `l` a Cholesky factor.
pub fn cholesky_solve(l: ArrayView2<f64>, b: &mut ArrayViewMut2<f64>) {
    lower_solve(l, b);
    transposed_solve(l, b);
}

/// The numerical rank: the number of diagonal entries of a column-pivoted QR factorization that exceed `max(rows, cols)` times
/// the machine epsilon times the largest entry.
pub fn numerical_rank(a: ArrayView2<f64>) -> usize {
    let qr = faer_ref(&a).col_piv_qr();
    let r = qr.thin_R();
    let size = a.nrows().min(a.ncols());
    let diagonal: Vec<f64> = (0..size).map(|i| r[(i, i)].abs()).collect();
    let largest = diagonal.iter().copied().fold(0.0, f64::max);
    let noise = largest * f64::EPSILON * a.nrows().max(a.ncols()) as f64;
    diagonal.iter().filter(|&&entry| entry > noise).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn eigen_of_a_small_matrix() {
        // Eigenvalues 3 and 1 with (1, 1) and (1, -1).
        let eigen = symmetric_eigen(array![[2.0, 1.0], [1.0, 2.0]].view()).unwrap();
        assert!((eigen.values[0] - 3.0).abs() < 1e-14 && (eigen.values[1] - 1.0).abs() < 1e-14);
        assert!(
            (&eigen.vectors.column(0) - &array![0.5_f64.sqrt(), 0.5_f64.sqrt()])
                .iter()
                .all(|e| e.abs() < 1e-14)
        );
        assert!(eigen.vectors[[0, 1]] * eigen.vectors[[1, 1]] < 0.0);
    }

    #[test]
    fn cholesky_and_its_inverse() {
        let a = array![[4.0, 2.0], [2.0, 5.0]];
        let l = cholesky(a.view()).unwrap();
        assert_eq!(l, array![[2.0, 0.0], [1.0, 2.0]]);
        assert_eq!(invert_lower(l.view()), array![[0.5, 0.0], [-0.25, 0.5]]);
        let mut b = array![[2.0], [5.0]];
        lower_solve(l.view(), &mut b.view_mut());
        assert_eq!(b, array![[1.0], [2.0]]);
        // x = (1, 1) has the right-hand side (6, 7).
        let mut b = array![[6.0], [7.0]];
        cholesky_solve(l.view(), &mut b.view_mut());
        assert_eq!(b, array![[1.0], [1.0]]);
        assert!(cholesky(array![[1.0, 2.0], [2.0, 1.0]].view()).is_none());
    }

    #[test]
    fn rank_of_an_outer_product_is_one() {
        let a = Array2::from_shape_fn((6, 4), |(i, j)| (i + 1) as f64 * (j as f64 - 1.5));
        assert_eq!(numerical_rank(a.view()), 1);
        assert_eq!(numerical_rank(Array2::<f64>::eye(5).view()), 5);
    }
}
