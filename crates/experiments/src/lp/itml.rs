//! Information-theoretic metric learning (ITML), a baseline.
//!
//! ITML finds the metric $A$ closest to the identity, by $D(A) = \operatorname{tr} A - \ln \det A$, such that similar pairs have a squared
//! distance of at most $u$ and dissimilar pairs of at least $l$. Slack variables, weighted by $\gamma$, relax these bounds. Each step projects onto
//! the constraint of one pair by a rank-one update: with $p = z^\top A z$ for a pair's difference $z$, $A \leftarrow A + \beta A z z^\top A$. Pairs
//! are derived from triplets as for Xing's metric; $u$ and $l$ are the 5th and 95th percentiles of squared distances, and $\gamma = 1$.
//!
//! Reference: Davis, Kulis, Jain, Sra and Dhillon, *Information-theoretic metric learning*, 2007.

use kernsift::data::Triplet;
use kernsift::{Context, Kernel, Result};
use ndarray::{Array1, Array2};

/// Weight of the slack variables.
const GAMMA: f64 = 1.0;
/// Quantiles of squared distances that bound similar and dissimilar pairs.
const SIMILAR_QUANTILE: f64 = 0.05;
const DISSIMILAR_QUANTILE: f64 = 0.95;
/// Maximum number of passes over all pairs.
const MAX_ITER: usize = 1000;
/// Relative change of the multipliers at which the iteration stops.
const TOLERANCE: f64 = 1e-3;

/// A pair with its relaxed bound.
struct Pair {
    difference: Array1<f64>,
    /// 1 for a similar pair, -1 for a dissimilar one.
    sign: f64,
    bound: f64,
    multiplier: f64,
}

impl Pair {
    /// Projects the metric onto the constraint of this pair; returns the change of the multiplier.
    fn project(&mut self, metric: &mut Array2<f64>) -> f64 {
        let image = metric.dot(&self.difference);
        let p = image.dot(&self.difference);
        let unclipped = self.sign * GAMMA / (GAMMA + 1.0) * (1.0 / p - 1.0 / self.bound);
        let step = unclipped.min(self.multiplier);
        self.multiplier -= step;
        self.bound = 1.0 / (1.0 / self.bound + self.sign * step / GAMMA);
        let beta = self.sign * step / (1.0 - self.sign * step * p);
        for (mut row, a) in metric.rows_mut().into_iter().zip(&image) {
            row.scaled_add(beta * a, &image);
        }
        step
    }
}

/// Learns a metric from triplets of rows.
pub fn learn(x: &Array2<f64>, triplets: &[Triplet], ctx: &Context) -> Result<Kernel> {
    let bounds = bounds(x);
    let mut pairs: Vec<Pair> = pairs(triplets)
        .into_iter()
        .map(|([i, j], sign)| Pair {
            difference: &x.row(i) - &x.row(j),
            sign,
            bound: if sign > 0.0 { bounds.0 } else { bounds.1 },
            multiplier: 0.0,
        })
        // Equal rows have distance zero under any metric.
        .filter(|pair| pair.difference.iter().any(|e| *e != 0.0))
        .collect();
    let mut metric = Array2::eye(x.ncols());
    for iteration in 0..MAX_ITER {
        ctx.step("ITML", iteration, MAX_ITER)?;
        let before: f64 = pairs.iter().map(|pair| pair.multiplier.powi(2)).sum::<f64>().sqrt();
        let change: f64 = pairs.iter_mut().map(|pair| pair.project(&mut metric).abs()).sum();
        let after: f64 = pairs.iter().map(|pair| pair.multiplier.powi(2)).sum::<f64>().sqrt();
        if change <= TOLERANCE * (before + after) {
            break;
        }
    }
    // Rounding makes the metric slightly asymmetric.
    let metric = (&metric + &metric.t()) / 2.0;
    Ok(Kernel::Mahalanobis { metric })
}

/// The distinct similar pairs, then the distinct dissimilar ones.
fn pairs(triplets: &[Triplet]) -> Vec<([usize; 2], f64)> {
    let mut all = vec![];
    for (other, sign) in [(1, 1.0), (2, -1.0)] {
        let mut pairs: Vec<[usize; 2]> =
            triplets.iter().map(|t| [t[0].min(t[other]), t[0].max(t[other])]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        all.extend(pairs.into_iter().map(|pair| (pair, sign)));
    }
    all
}

/// The two quantiles of the squared distances between different rows.
fn bounds(x: &Array2<f64>) -> (f64, f64) {
    let square = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|e| e * e).sum();
    let mut squares: Vec<f64> = (0..x.nrows()).flat_map(|i| (0..i).map(move |j| square(i, j))).collect();
    squares.retain(|square| *square > 0.0);
    squares.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| squares[(q * (squares.len() - 1) as f64).round() as usize];
    (quantile(SIMILAR_QUANTILE), quantile(DISSIMILAR_QUANTILE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn metric(x: &Array2<f64>, triplets: &[Triplet]) -> Array2<f64> {
        match learn(x, triplets, &Context::default()).unwrap() {
            Kernel::Mahalanobis { metric } => metric,
            other => panic!("{}", other.describe()),
        }
    }

    #[test]
    fn one_pair_has_a_closed_form() {
        // One feature with weight a, and a similar pair at distance 1 with bound u: the multiplier m gives a = 1 / (1 + m) and the relaxed
        // bound 1 / (1/u - m/γ). They are equal where 1 + m = 1/u - m, at m = (1/u - 1) / 2.
        let mut pair = Pair { difference: array![1.0], sign: 1.0, bound: 0.25, multiplier: 0.0 };
        let mut metric = array![[1.0]];
        (0..60).for_each(|_| {
            pair.project(&mut metric);
        });
        let m = (1.0 / 0.25 - 1.0) / 2.0;
        // Rounding error of sixty updates.
        assert!((metric[[0, 0]] - 1.0 / (1.0 + m)).abs() < 1e-12, "{metric}");
        assert!((pair.bound - metric[[0, 0]]).abs() < 1e-12);
    }

    #[test]
    fn informative_feature_gets_the_weight() {
        // Only the first feature depends on the class.
        let x = array![[0.0, 0.0], [0.1, 1.0], [0.0, 2.0], [1.0, 0.1], [1.1, 1.1], [1.0, 1.9]];
        let triplets = [[0, 1, 3], [0, 2, 4], [1, 2, 5], [3, 4, 0], [3, 5, 1], [4, 5, 2]];
        let metric = metric(&x, &triplets);
        assert!(metric[[0, 0]] > 2.0 * metric[[1, 1]], "{metric}");
        // Positive definite.
        assert!(metric[[0, 0]] > 0.0 && metric[[0, 0]] * metric[[1, 1]] > metric[[0, 1]].powi(2));
    }

    #[test]
    fn pairs_are_distinct() {
        let found = pairs(&[[0, 1, 2], [1, 0, 2], [2, 0, 1]]);
        assert_eq!(found, [([0, 1], 1.0), ([0, 2], 1.0), ([0, 2], -1.0), ([1, 2], -1.0)]);
    }
}
