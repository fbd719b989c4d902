//! F test of a feature that is encoded by several columns.
//!
//! With $p$ the rank of the centered columns, $q$ the degrees of freedom of the target (classes minus one; 1 for
//! regression), $s = \min(p, q)$ and $V$ the sum of the squared canonical correlations of columns and target (Pillai's
//! trace; for one target column $R^2$),
//!
//! $$ F = \frac{V}{s - V} \cdot \frac{n - 1 - q - p + s}{\max(p, q)} $$
//!
//! has about the F distribution with $p q$ and $s (n - 1 - q - p + s)$ degrees of freedom if columns and target are
//! independent; for $p = 1$ or $q = 1$ and normal errors it has exactly this distribution. Nothing here depends on how the
//! columns are scaled or rotated, so all encodings of a category are equal. For a category and classes, $V$ is
//! $\chi^2 / n$.

use crate::data::{Rows, Standardizer, Weights};
use crate::error::Result;
use crate::linalg::{multiply, symmetric_eigen};
use crate::probability::f_upper_tail;
use ndarray::{Array2, ArrayView2};

/// Eigenvalues of the correlation matrix below this fraction of the largest are zero. Rounding leaves about 1e-15, and the
/// columns of a category have eigenvalues near 1.
const RANK_TOLERANCE: f64 = 1e-10;
/// Unexplained variance below this fraction of the explained one is rounding error, of sums over up to a hundred
/// directions.
const ROUNDING: f64 = 1e-12;

/// The target of the tests.
pub(super) enum TestTarget<'a> {
    /// Class codes, and the weight of each class.
    Classes { codes: &'a [usize], counts: Vec<f64> },
    /// Numbers with mean 0 and variance 1.
    Numbers(Vec<f64>),
}

impl TestTarget<'_> {
    /// Degrees of freedom: the classes minus one, or 1.
    pub fn degrees(&self) -> usize {
        match self {
            Self::Classes { counts, .. } => counts.iter().filter(|count| **count > 0.0).count() - 1,
            Self::Numbers(_) => 1,
        }
    }

    /// Products of standardized columns, times the weights of the rows with the sum `n`, with the target; the squares of a row
    /// add up to the explained variance of its column.
    fn products(&self, z: &Array2<f64>, n: f64) -> Array2<f64> {
        match self {
            Self::Numbers(y) => {
                let y = ArrayView2::from_shape((y.len(), 1), y).expect("one column");
                multiply(z.t(), y) / n
            }
            Self::Classes { codes, counts } => {
                let mut sums = Array2::zeros((z.ncols(), counts.len()));
                for (row, &c) in z.rows().into_iter().zip(*codes) {
                    sums.column_mut(c).zip_mut_with(&row, |sum, v| *sum += v);
                }
                for (mut column, &count) in sums.columns_mut().into_iter().zip(counts) {
                    column /= (n * if count > 0.0 { count } else { 1.0 }).sqrt();
                }
                sums
            }
        }
    }
}

/// The result of the test of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FTest {
    /// The Fisher score.
    pub score: f64,
    /// The probability of such an F if the feature is independent of the target.
    pub p_value: f64,
}

impl FTest {
    const NONE: Self = Self { score: 0.0, p_value: 1.0 };

    /// The test of a single column, from its Fisher score.
    pub fn of_score(score: f64, n: f64, degrees: usize) -> Self {
        let (between, within) = (degrees as f64, n - 1.0 - degrees as f64);
        if within <= 0.0 {
            return Self { score, p_value: 1.0 };
        }
        Self { score, p_value: f_upper_tail(score * within / between, between, within) }
    }

    /// The test of the columns of a feature.
    ///
    /// The score is $(p q F - (p - 1) q) / (n - 1 - q)$, at least 0. A single column has $p = 1$. Under independence $p q
    /// F$ is about $p q$, so the expected score does not depend on the number of columns.
    pub fn of_columns(x: ArrayView2<f64>, target: &TestTarget, weights: Weights) -> Result<Self> {
        let n = weights.total(x.nrows());
        let rows = Rows::from(x.to_owned());
        let scaler = Standardizer::fit_weighted(&rows, weights);
        if scaler.constant.len() == x.ncols() {
            return Ok(Self::NONE);
        }
        let z = scaler.apply(&rows)?.into_dense();
        let mut weighted = z.clone();
        for (i, mut row) in weighted.rows_mut().into_iter().enumerate() {
            row *= weights.of(i);
        }
        let eigen = symmetric_eigen((multiply(z.t(), weighted.view()) / n).view())?;
        let rank = eigen.values.iter().take_while(|&&v| v > RANK_TOLERANCE * eigen.values[0]).count();
        let projected = multiply(eigen.vectors.t(), target.products(&weighted, n).view());
        let explained = |k: usize| projected.row(k).dot(&projected.row(k)) / eigen.values[k];
        Ok(Self::of_trace((0..rank).map(explained).sum(), rank as f64, target.degrees() as f64, n))
    }

    /// The test for $V$, $p$, $q$ and $n$.
    fn of_trace(trace: f64, p: f64, q: f64, n: f64) -> Self {
        let s = p.min(q);
        let (total, residual) = (n - 1.0 - q, n - 1.0 - q - p + s);
        // Without residual degrees of freedom every target is explained.
        if residual <= 0.0 || trace <= 0.0 {
            return Self::NONE;
        }
        let ratio = trace / (s - trace).max(ROUNDING * trace);
        let score = (s * ratio * residual - (p - 1.0) * q) / total;
        let p_value = f_upper_tail(ratio * residual / p.max(q), p * q, s * residual);
        Self { score: score.max(0.0), p_value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use crate::random::Rng;
    use ndarray::{Array1, array};

    fn of_codes(codes: &[usize]) -> TestTarget<'_> {
        let counts = Classes::from_codes(codes.to_vec()).weighted_counts(Weights::ONE);
        TestTarget::Classes { codes, counts }
    }

    /// Indicators of a category with these codes.
    fn indicators(codes: &[usize], levels: usize) -> Array2<f64> {
        Array2::from_shape_fn((codes.len(), levels), |(i, l)| f64::from(u8::from(codes[i] == l)))
    }

    #[test]
    fn analysis_of_variance_by_hand() {
        // Three levels with the targets {0, 2}, {2, 4}, {7, 9}: means 1, 3, 8, between 2 (9 + 1 + 16) = 52, within 6. So
        // R² = 52 / 58 and F = (52 / 2) / (6 / 3) = 13 with 2 and 3 degrees of freedom. The score is (2 * 13 - 1) / 4.
        let y: [f64; 6] = [0.0, 2.0, 2.0, 4.0, 7.0, 9.0];
        let std = (58.0_f64 / 6.0).sqrt();
        let target = TestTarget::Numbers(y.map(|v| (v - 4.0) / std).to_vec());
        let test =
            FTest::of_columns(indicators(&[0, 0, 1, 1, 2, 2], 3).view(), &target, Weights::ONE).unwrap();
        // A dozen roundings of numbers near 1, times 13.
        assert!((test.score - 6.25).abs() < 1e-12, "{test:?}");
        assert!((test.p_value - f_upper_tail(13.0, 2.0, 3.0)).abs() < 1e-14, "{test:?}");
    }

    #[test]
    fn the_trace_of_two_categories_is_chi_squared() {
        // Table [[4, 1, 1], [1, 4, 1]]: expected 2.5, 2.5, 1: chi-squared 4 * 1.5² / 2.5 = 3.6, V = 0.3, n = 12.
        let codes = [0, 0, 0, 0, 1, 2, 0, 1, 1, 1, 1, 2];
        let target = of_codes(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
        let test = FTest::of_columns(indicators(&codes, 3).view(), &target, Weights::ONE).unwrap();
        assert!((test.score - (0.3 / 0.7 * 9.0 - 1.0) / 10.0).abs() < 1e-13, "{test:?}");
    }

    #[test]
    fn one_column_has_its_own_score_and_rotations_change_nothing() {
        let mut rng = Rng::new(4);
        let codes: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let target = of_codes(&codes);
        let x = Array2::from_shape_fn((60, 2), |(i, _)| rng.normal() + 0.5 * codes[i] as f64);
        let plain = FTest::of_columns(x.view(), &target, Weights::ONE).unwrap();
        let rotated = x.dot(&array![[3.0, 1.0], [-2.0, 50.0]]);
        let rotated = FTest::of_columns(rotated.view(), &target, Weights::ONE).unwrap();
        // Rounding, magnified by the condition number of the map, about 20.
        assert!((plain.score / rotated.score - 1.0).abs() < 1e-12);
        // A copy of a column adds no rank.
        let column: Array1<f64> = x.column(0).to_owned();
        let twice = ndarray::stack![ndarray::Axis(1), column, column];
        let single = FTest::of_columns(x.slice(ndarray::s![.., ..1]), &target, Weights::ONE).unwrap();
        let double = FTest::of_columns(twice.view(), &target, Weights::ONE).unwrap();
        assert!((single.score / double.score - 1.0).abs() < 1e-12);
        let between: f64 = (0..3)
            .map(|c| {
                let mean = (0..60).filter(|i| i % 3 == c).map(|i| column[i]).sum::<f64>() / 20.0;
                20.0 * (mean - column.sum() / 60.0).powi(2)
            })
            .sum();
        let total = column.mapv(|v| (v - column.sum() / 60.0).powi(2)).sum();
        assert!((single.score / (between / (total - between)) - 1.0).abs() < 1e-12);
        let by_score = FTest::of_score(single.score, 60.0, 2);
        assert!((by_score.p_value / single.p_value - 1.0).abs() < 1e-10);
    }

    #[test]
    fn features_without_evidence() {
        let target = of_codes(&[0, 1, 0, 1]);
        let of = |x: Array2<f64>| FTest::of_columns(x.view(), &target, Weights::ONE).unwrap();
        // As many levels as samples.
        assert_eq!(of(Array2::eye(4)), FTest::NONE);
        assert_eq!(of(Array2::ones((4, 2))), FTest::NONE);
        assert!(of(indicators(&[0, 1, 0, 1], 2)).score > 1e10);
    }

    #[test]
    fn p_values_are_uniform_without_dependence() {
        let mut rng = Rng::new(9);
        let n = 90;
        let (mut below, mut sum) = (0, 0.0);
        for _ in 0..400 {
            let codes: Vec<usize> = (0..n).map(|_| rng.below(6)).collect();
            let classes: Vec<usize> = (0..n).map(|_| rng.below(3)).collect();
            let target = of_codes(&classes);
            let test = FTest::of_columns(indicators(&codes, 6).view(), &target, Weights::ONE).unwrap();
            below += usize::from(test.p_value < 0.1);
            sum += test.p_value;
        }
        // 40 are expected, with a standard deviation of 6; the mean varies by 0.29 / 20.
        assert!((22..=58).contains(&below) && (sum / 400.0 - 0.5).abs() < 0.05, "{below} {sum}");
    }
}
