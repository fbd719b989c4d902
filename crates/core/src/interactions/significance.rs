//! Significance of a set of functions for the columns of the target.

use crate::probability::{ln_f_upper_tail, ln_gamma};

/// The logarithm of the p-value of Pillai's trace $V = \operatorname{tr}(T^{-1} H)$, where $T$ are the sums of squares and
/// products of `columns` columns of the target with `rows` degrees of freedom and $H$ their part that `functions` functions
/// explain. For one column this is the F-test of a regression; for several it is the usual approximation by the F
/// distribution. 0 if too few rows remain, and at least that of one of all permutations of the rows: no test is more certain, also
/// where functions explain the target completely.
pub(crate) fn ln_p_value(trace: f64, functions: usize, columns: usize, rows: f64) -> f64 {
    let (q, t) = (functions as f64, columns as f64);
    let residual = rows - q;
    if functions == 0 || columns == 0 || residual < t + 1.0 {
        return 0.0;
    }
    let s = q.min(t);
    let (m, n) = (((q - t).abs() - 1.0) / 2.0, (residual - t - 1.0) / 2.0);
    let (numerator, denominator) = (2.0 * m + s + 1.0, 2.0 * n + s + 1.0);
    let f = denominator / numerator * trace.max(0.0) / (s - trace).max(0.0);
    if f.is_nan() {
        0.0
    } else {
        ln_f_upper_tail(f, s * numerator, s * denominator).max(-ln_gamma(rows + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probability::f_upper_tail;

    #[test]
    fn one_column_is_the_f_test() {
        // R^2 = 0.3 of 4 functions with 50 degrees of freedom: F = (0.3 / 4) / (0.7 / 46).
        let expected = f_upper_tail(0.3 / 4.0 / (0.7 / 46.0), 4.0, 46.0).ln();
        assert!((ln_p_value(0.3, 4, 1, 50.0) - expected).abs() < 1e-12);
        // One function and several columns: Hotelling's statistic, with the roles exchanged.
        let expected = f_upper_tail(0.3 / 4.0 / (0.7 / 46.0), 4.0, 46.0).ln();
        assert!((ln_p_value(0.3, 1, 4, 50.0) - expected).abs() < 1e-12);
    }

    #[test]
    fn without_degrees_of_freedom_nothing_is_significant() {
        assert_eq!((ln_p_value(0.9, 0, 1, 50.0), ln_p_value(0.9, 4, 1, 5.0)), (0.0, 0.0));
        assert_eq!(ln_p_value(0.0, 4, 1, 50.0), 0.0);
    }

    #[test]
    fn a_complete_explanation_is_as_certain_as_one_permutation() {
        // ln(50!) = 148.4778.
        assert!((ln_p_value(1.0, 4, 1, 50.0) + 148.4778).abs() < 1e-4);
    }
}
