//! ITML, a later metric learner, to be held beside ours: information-theoretic metric learning.
//!
//! The metric $A$ nearest to the identity by $D(A) = \operatorname{tr} A - \ln \det A$ for which similar pairs are at most $u$ apart and
//! dissimilar ones at least $l$, in squared distances; bounds may give way at a price. Conditions are met one pair at a time, over and over
//! again, by corrections of rank one: with $p = z^\top A z$ for a pair's difference $z$, $A \leftarrow A + \beta A z z^\top A$. Pairs are read off
//! triples as for Xing's metric, $u$ and $l$ are the 5th and the 95th percentile of squared distances, and the price is $\gamma = 1$.
//!
//! Reference: Davis, Kulis, Jain, Sra and Dhillon, *Information-theoretic metric learning*, 2007.

use kernsift::data::Triplet;
use kernsift::{Context, Kernel, Result};
use ndarray::{Array1, Array2};

/// The price of giving way.
const GAMMA: f64 = 1.0;
/// Percentiles of squared distances that are near and far.
const NEAR: f64 = 0.05;
const FAR: f64 = 0.95;
/// Times that all pairs are met, at most, and the change of multipliers that ends it, as a share.
const ROUNDS: usize = 1000;
const TOLERANCE: f64 = 1e-3;

/// A pair and its bound, which moves as it gives way.
struct Pair {
    difference: Array1<f64>,
    /// 1 for a similar pair, -1 for a dissimilar one.
    sign: f64,
    bound: f64,
    multiplier: f64,
}

impl Pair {
    /// Corrects the metric, and says by how much the multiplier moved.
    fn meet(&mut self, metric: &mut Array2<f64>) -> f64 {
        let image = metric.dot(&self.difference);
        let p = image.dot(&self.difference);
        let wanted = self.sign * GAMMA / (GAMMA + 1.0) * (1.0 / p - 1.0 / self.bound);
        let step = wanted.min(self.multiplier);
        self.multiplier -= step;
        self.bound = 1.0 / (1.0 / self.bound + self.sign * step / GAMMA);
        let beta = self.sign * step / (1.0 - self.sign * step * p);
        for (mut row, a) in metric.rows_mut().into_iter().zip(&image) {
            row.scaled_add(beta * a, &image);
        }
        step
    }
}

/// Learns a metric of these rows from triples.
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
        // Equal rows are at no distance under any metric.
        .filter(|pair| pair.difference.iter().any(|e| *e != 0.0))
        .collect();
    let mut metric = Array2::eye(x.ncols());
    for round in 0..ROUNDS {
        ctx.step("ITML", round, ROUNDS)?;
        let before: f64 = pairs.iter().map(|pair| pair.multiplier.powi(2)).sum::<f64>().sqrt();
        let moved: f64 = pairs.iter_mut().map(|pair| pair.meet(&mut metric).abs()).sum();
        let after: f64 = pairs.iter().map(|pair| pair.multiplier.powi(2)).sum::<f64>().sqrt();
        if moved <= TOLERANCE * (before + after) {
            break;
        }
    }
    // Products round differently on both sides of the diagonal.
    let metric = (&metric + &metric.t()) / 2.0;
    Ok(Kernel::Mahalanobis { metric })
}

/// Each pair once in each role, similar ones first.
fn pairs(triplets: &[Triplet]) -> Vec<([usize; 2], f64)> {
    let mut all = vec![];
    for (other, sign) in [(1, 1.0), (2, -1.0)] {
        let mut some: Vec<[usize; 2]> =
            triplets.iter().map(|t| [t[0].min(t[other]), t[0].max(t[other])]).collect();
        some.sort_unstable();
        some.dedup();
        all.extend(some.into_iter().map(|pair| (pair, sign)));
    }
    all
}

/// Percentiles of the squared distances of all pairs of different rows.
fn bounds(x: &Array2<f64>) -> (f64, f64) {
    let square = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|e| e * e).sum();
    let mut squares: Vec<f64> = (0..x.nrows()).flat_map(|i| (0..i).map(move |j| square(i, j))).collect();
    squares.retain(|square| *square > 0.0);
    squares.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| squares[(share * (squares.len() - 1) as f64).round() as usize];
    (at(NEAR), at(FAR))
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
    fn one_pair_is_met_half_way() {
        // In one column, with weight a and a similar pair one apart that should be at most u: the multiplier m makes a = 1 / (1 + m),
        // and the bound that gives way is 1 / (1/u - m/γ). They meet where 1 + m = 1/u - m, at m = (1/u - 1) / 2.
        let mut pair = Pair { difference: array![1.0], sign: 1.0, bound: 0.25, multiplier: 0.0 };
        let mut metric = array![[1.0]];
        (0..60).for_each(|_| {
            pair.meet(&mut metric);
        });
        let m = (1.0 / 0.25 - 1.0) / 2.0;
        // Rounding of sixty corrections.
        assert!((metric[[0, 0]] - 1.0 / (1.0 + m)).abs() < 1e-12, "{metric}");
        assert!((pair.bound - metric[[0, 0]]).abs() < 1e-12);
    }

    #[test]
    fn what_tells_pairs_apart_gets_the_weight() {
        // The first column is the class, the second is not.
        let x = array![[0.0, 0.0], [0.1, 1.0], [0.0, 2.0], [1.0, 0.1], [1.1, 1.1], [1.0, 1.9]];
        let triplets = [[0, 1, 3], [0, 2, 4], [1, 2, 5], [3, 4, 0], [3, 5, 1], [4, 5, 2]];
        let metric = metric(&x, &triplets);
        assert!(metric[[0, 0]] > 2.0 * metric[[1, 1]], "{metric}");
        // Positive definite.
        assert!(metric[[0, 0]] > 0.0 && metric[[0, 0]] * metric[[1, 1]] > metric[[0, 1]].powi(2));
    }

    #[test]
    fn pairs_are_met_once_in_each_role() {
        let found = pairs(&[[0, 1, 2], [1, 0, 2], [2, 0, 1]]);
        assert_eq!(found, [([0, 1], 1.0), ([0, 2], 1.0), ([0, 2], -1.0), ([1, 2], -1.0)]);
    }
}
