//! Mean and variance of the trace of a product of centered kernel matrices over all permutations.

use crate::probability::ln_chi_squared_upper_tail;
use crate::simd::dot;

/// Invariants of a centered kernel matrix $S$ under permutations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    /// $\operatorname{tr} S$, $\operatorname{tr} S^2$ and $\sum_i S_{ii}^2$.
    trace: f64,
    squares: f64,
    diagonal: f64,
}

impl Moments {
    /// Of $S = F F^\top$; the vectors are the columns of $F$.
    pub fn of_factor(vectors: &[Vec<f64>]) -> Self {
        let mut moments = Self { trace: 0.0, squares: 0.0, diagonal: 0.0 };
        for (a, v) in vectors.iter().enumerate() {
            moments.trace += dot(v, v);
            moments.squares += dot(v, v).powi(2);
            moments.squares += 2.0 * vectors[..a].iter().map(|w| dot(v, w).powi(2)).sum::<f64>();
        }
        for row in 0..vectors.first().map_or(0, Vec::len) {
            moments.diagonal += vectors.iter().map(|v| v[row] * v[row]).sum::<f64>().powi(2);
        }
        moments
    }

    /// Mean and variance of $\operatorname{tr}(S \Pi T \Pi^\top)$ over all permutations $\Pi$ of $n$ rows (Kazi-Aoual, Hitier,
    /// Sabatier and Lebreton, 1995).
    fn mean_and_variance(&self, other: &Self, n: f64) -> (f64, f64) {
        let mean = self.trace * other.trace / (n - 1.0);
        let spread = |s: &Self| (n - 1.0) * s.squares - s.trace * s.trace;
        let peaks = |s: &Self| n * (n + 1.0) * s.diagonal - (n - 1.0) * (s.trace * s.trace + 2.0 * s.squares);
        let first = 2.0 * spread(self) * spread(other) / ((n - 1.0).powi(2) * (n + 1.0) * (n - 2.0));
        let second = peaks(self) * peaks(other) / ((n + 1.0) * n * (n - 1.0) * (n - 2.0) * (n - 3.0));
        (mean, first + second)
    }

    /// The logarithm of the p-value of a trace by the gamma distribution with this mean and variance; 0 for a constant side.
    pub fn ln_p_value(&self, other: &Self, trace: f64, n: f64) -> f64 {
        let (mean, variance) = self.mean_and_variance(other, n);
        let (shape, scale) = (mean * mean / variance, variance / mean);
        if !(shape > 0.0 && scale > 0.0 && shape.is_finite() && scale.is_finite()) {
            return 0.0;
        }
        ln_chi_squared_upper_tail(2.0 * trace / scale, 2.0 * shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of `0..n`.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![vec![]];
        }
        let insert = |order: &Vec<usize>, at: usize| {
            let mut longer = order.clone();
            longer.insert(at, n - 1);
            longer
        };
        orders(n - 1).iter().flat_map(|order| (0..n).map(move |at| insert(order, at))).collect()
    }

    #[test]
    fn moments_are_those_of_all_permutations() {
        let center = |v: [f64; 6]| {
            let mean = v.iter().sum::<f64>() / 6.0;
            v.map(|v| v - mean).to_vec()
        };
        let x = vec![center([1.0, 4.0, 2.0, 8.0, 5.0, 7.0]), center([0.0, 1.0, 0.0, 0.0, 2.0, 1.0])];
        let y = vec![center([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), center([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])];
        let trace = |order: &Vec<usize>| {
            let permuted = y.iter().map(|y| order.iter().map(|&i| y[i]).collect::<Vec<f64>>());
            permuted.map(|y| x.iter().map(|x| dot(x, &y).powi(2)).sum::<f64>()).sum::<f64>()
        };
        let traces: Vec<f64> = orders(6).iter().map(trace).collect();
        assert_eq!(traces.len(), 720);
        let mean = traces.iter().sum::<f64>() / 720.0;
        let variance = traces.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 720.0;
        let (found, spread) = Moments::of_factor(&x).mean_and_variance(&Moments::of_factor(&y), 6.0);
        // Sums of 720 numbers.
        assert!((found / mean - 1.0).abs() < 1e-11 && (spread / variance - 1.0).abs() < 1e-11);
    }
}
