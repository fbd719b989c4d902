//! Means, spreads, exponents, and how they are written.

/// Mean, and standard deviation with the divisor n - 1; that is 0 for a single value.
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

/// Mean and standard deviation of the differences, pair by pair.
pub fn gain(ours: &[f64], theirs: &[f64]) -> (f64, f64) {
    mean_and_sd(&ours.iter().zip(theirs).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// The power of x by which y grows: the slope of a line through the logarithms.
pub fn exponent(x: &[f64], y: &[f64]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = x.iter().zip(y).map(|(x, y)| (x.ln(), y.ln())).unzip();
    let (across, up) = (mean(&x), mean(&y));
    let along: f64 = x.iter().zip(&y).map(|(x, y)| (x - across) * (y - up)).sum();
    along / x.iter().map(|x| (x - across).powi(2)).sum::<f64>()
}

/// Mean and standard deviation as text with some decimals.
pub fn spread(values: &[f64], decimals: usize) -> String {
    let (mean, sd) = mean_and_sd(values);
    format!("{mean:.decimals$} ± {sd:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(mean_and_sd(&[1.0, 2.0, 3.0]), (2.0, 1.0));
        assert_eq!(mean_and_sd(&[5.0]), (5.0, 0.0));
        assert_eq!(gain(&[3.0, 5.0], &[1.0, 1.0]).0, 3.0);
        // y = 3 x²: logarithms in double precision leave a few units in the last place.
        assert!((exponent(&[1.0, 2.0, 4.0], &[3.0, 12.0, 48.0]) - 2.0).abs() < 1e-12);
        assert_eq!(spread(&[1.0, 2.0, 3.0], 1), "2.0 ± 1.0");
    }
}
