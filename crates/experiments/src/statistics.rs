//! Means, standard deviations and growth exponents.

/// Mean and sample standard deviation (divisor n - 1; 0 for a single value).
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    mean_and_sd(values).0
}

/// The minimum; infinite without values.
pub fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Number of positive values.
pub fn count_positive(values: &[f64]) -> usize {
    values.iter().filter(|value| **value > 0.0).count()
}

/// Mean and standard deviation of the paired differences.
pub fn paired_difference(ours: &[f64], theirs: &[f64]) -> (f64, f64) {
    mean_and_sd(&ours.iter().zip(theirs).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// The exponent p of a fit y = c x^p: the slope of the least-squares line through the logarithms.
pub fn exponent(x: &[f64], y: &[f64]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = x.iter().zip(y).map(|(x, y)| (x.ln(), y.ln())).unzip();
    let (mean_x, mean_y) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    covariance / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>()
}

/// "mean ± standard deviation".
pub fn format_mean_sd(values: &[f64], decimals: usize) -> String {
    let (mean, sd) = mean_and_sd(values);
    format!("{mean:.decimals$} ± {sd:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_examples() {
        assert_eq!(mean_and_sd(&[1.0, 2.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_sd(&[5.0]), (5.0, 0.0));
        assert_eq!(paired_difference(&[3.0, 5.0], &[1.0, 1.0]).0, 3.0);
        // y = 3 x²: logarithms in double precision are off by a few units in the last place.
        assert!((exponent(&[1.0, 2.0, 4.0], &[3.0, 12.0, 48.0]) - 2.0).abs() < 1e-12);
        assert_eq!(format_mean_sd(&[1.0, 2.0, 3.0], 1), "2.0 ± 1.0");
    }
}
