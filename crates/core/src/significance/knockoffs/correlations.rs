//! Correlations of features from few samples.
//!
//! The sample correlations of $d$ features are too noisy for copies if $n$ is not much larger than $d$, and their shrinkage towards
//! the identity makes all correlations smaller: then copies are less correlated with relevant features than the features they
//! copy, and lose too often. Two kinds of structure are kept instead: components that many features share, and correlations of
//! single pairs that stand out from noise (Fan, Liao and Mincheva, *Large covariance estimation by thresholding principal
//! orthogonal complements*, 2013).

use crate::error::Result;
use crate::linalg::{cholesky, multiply, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// A principal component with at least this fraction of the variance is shared by many features.
const MIN_SHARE: f64 = 0.1;
/// The least variance of a feature beside the shared components.
const MIN_VARIANCE: f64 = 1e-3;
/// The least eigenvalue of the correlations beside the shared components.
const FLOOR: f64 = 0.01;

/// The correlations of standardized features: those of shared components, and those of the residuals, $r_{jk}$, of which
/// $r_{jk} \max(0, 1 - \ln d / (n r_{jk}^2))$ is kept (the nonnegative garrote). Positive definite.
pub(super) fn correlations(x: ArrayView2<f64>) -> Result<Array2<f64>> {
    let (n, d) = (x.nrows() as f64, x.ncols() as f64);
    let sample = multiply(x.t(), x) / n;
    let loadings = shared_components(&sample, n)?;
    let shared = multiply(loadings.view(), loadings.t());
    let mut rest = sample - &shared;
    let deviations = rest.diag().mapv(|v| v.max(MIN_VARIANCE).sqrt());
    let noise = d.ln() / n;
    scale(&mut rest, &deviations.mapv(f64::recip));
    rest.mapv_inplace(|r| if r * r > noise { r - noise / r } else { 0.0 });
    rest.diag_mut().fill(1.0);
    make_definite(&mut rest);
    scale(&mut rest, &deviations);
    rest += &shared;
    // Of features that are almost determined by the components, the variance is above 1.
    let variances = rest.diag().mapv(|v| v.sqrt().recip());
    scale(&mut rest, &variances);
    Ok(rest)
}

/// Multiplies rows and columns by these factors.
fn scale(matrix: &mut Array2<f64>, factors: &Array1<f64>) {
    *matrix *= factors;
    *matrix *= &factors.view().insert_axis(Axis(1));
}

/// The loadings of the components that many features share, as columns: those with a tenth of the variance, and with more than
/// noise can have.
fn shared_components(sample: &Array2<f64>, n: f64) -> Result<Array2<f64>> {
    let d = sample.nrows();
    let least = (MIN_SHARE * d as f64).max((1.0 + (d as f64 / n).sqrt()).powi(2));
    // The largest eigenvalue is at most the Frobenius norm.
    if sample.iter().map(|v| v * v).sum::<f64>() < least * least {
        return Ok(Array2::zeros((d, 0)));
    }
    let eigen = symmetric_eigen(sample.view())?;
    let count = eigen.values.iter().take_while(|&&v| v >= least).count();
    Ok(&eigen.vectors.slice(s![.., ..count]) * &eigen.values.slice(s![..count]).mapv(f64::sqrt))
}

/// Shrinks correlations until the smallest eigenvalue is above `FLOOR`.
fn make_definite(correlations: &mut Array2<f64>) {
    let mut shrinkage = FLOOR;
    loop {
        let mut above = correlations.clone();
        above.diag_mut().mapv_inplace(|v| v - FLOOR);
        if cholesky(above.view()).is_some() || shrinkage >= 1.0 {
            return;
        }
        *correlations *= 1.0 - shrinkage;
        correlations.diag_mut().fill(1.0);
        shrinkage *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    #[test]
    fn small_correlations_vanish_and_large_ones_stay() {
        // Columns of a Hadamard matrix are orthogonal; the third has the correlations 0.6 and 0.8 with the first two, the fourth is
        // unrelated.
        let mut x = Array2::zeros((8, 4));
        for row in 0..8_usize {
            let sign = |bits: usize| if (row & bits).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            let (a, b, c) = (sign(1), sign(2), sign(4));
            x.row_mut(row).assign(&array![a, b, 0.6 * a + 0.8 * b, c]);
        }
        // One component has 2/4 of the variance; noise can have up to (1 + sqrt(4/8))^2 = 2.9, so that it is not shared.
        let found = correlations(x.view()).unwrap();
        let noise = 4.0_f64.ln() / 8.0;
        let kept = [0.6 - noise / 0.6, 0.8 - noise / 0.8];
        // A few roundings.
        let is_near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(is_near(found[[0, 2]], kept[0]) && is_near(found[[2, 1]], kept[1]), "{found}");
        assert!((0..3).all(|j| is_near(found[[j, 3]], 0.0)) && is_near(found[[0, 1]], 0.0), "{found}");
        assert!((0..4).all(|j| is_near(found[[j, j]], 1.0)));
    }

    #[test]
    fn a_shared_component_is_kept() {
        // Every pair has the correlation 0.3, of which only some would stand out from noise.
        let mut rng = Rng::new(7);
        let mut x = Array2::from_shape_simple_fn((60, 80), || 0.7_f64.sqrt() * rng.normal());
        for mut row in x.rows_mut() {
            let shared = 0.3_f64.sqrt() * rng.normal();
            row += shared;
        }
        let x = (&x - &x.mean_axis(Axis(0)).unwrap()) / x.std_axis(Axis(0), 0.0);
        let found = correlations(x.view()).unwrap();
        let mean = (found.sum() - 80.0) / (80.0 * 79.0);
        // The standard error of the variance of the component from 60 samples is about 0.2 of it.
        assert!((mean - 0.3).abs() < 0.12, "{mean}");
        assert!(cholesky(found.view()).is_some());
    }

    #[test]
    fn copies_and_constants_have_definite_correlations() {
        let mut rng = Rng::new(8);
        let mut x = Array2::from_shape_simple_fn((50, 5), || rng.normal());
        x = (&x - &x.mean_axis(Axis(0)).unwrap()) / x.std_axis(Axis(0), 0.0);
        let same = x.column(0).to_owned();
        x.column_mut(1).assign(&same);
        x.column_mut(2).fill(0.0);
        let found = correlations(x.view()).unwrap();
        // The least residual variance and the floor of correlations.
        assert!(cholesky(found.view()).is_some() && found[[0, 1]] > 0.99, "{found}");
        // Rounding errors of eigenvectors, divided by a standard deviation of 0.03.
        assert!((found[[2, 2]] - 1.0).abs() < 1e-12 && found[[2, 0]].abs() < 1e-12, "{found}");
    }

    #[test]
    fn singular_correlations_become_definite() {
        let mut singular = Array2::ones((3, 3));
        make_definite(&mut singular);
        assert!(singular[[0, 1]] > 0.95 && cholesky(singular.view()).is_some());
        // No correlation matrix: the smallest eigenvalue is -0.8.
        let mut indefinite = array![[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]];
        make_definite(&mut indefinite);
        assert!(cholesky(indefinite.view()).is_some() && indefinite[[0, 1]] > 0.3, "{indefinite}");
    }
}
