//! Samples as Relief compares them: scaled numbers, categories, and expected differences in place of missing values.

use super::shares::Shares;
use crate::context::Context;
use crate::data::{Dataset, Weights};
use crate::error::Result;
use crate::neighbors::{Measure, Metric, category_difference, nearest, nearest_by_sums};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};

crate::choices! {
    /// How to measure the difference of two samples in a feature.
    pub enum Difference {
        /// The absolute difference.
        Absolute = "absolute",
        /// The squared difference.
        Squared = "squared",
    }
}

crate::choices! {
    /// The scale on which features are compared.
    pub enum Units {
        /// The range of the feature, so that no difference exceeds 1.
        Range = "range",
        /// As given; features should have comparable scales.
        Unscaled = "unscaled",
    }
}

/// Samples and how they are compared.
pub(super) struct Compared {
    /// Numbers, then the codes of categories.
    pub(super) x: Array2<f64>,
    /// The feature of each column of `x`.
    features: Vec<usize>,
    n_categories: usize,
    by_products: bool,
    metric: Metric,
    difference: Difference,
    /// If values are missing, the mean difference of every feature: absolute and squared.
    expected: Option<(Vec<f64>, Vec<f64>)>,
}

impl Compared {
    pub(super) fn new(data: &Dataset, metric: Metric, units: Units, difference: Difference) -> Self {
        let is_category = |j: &usize| data.feature_type(*j).is_category();
        let mut features: Vec<usize> = (0..data.d()).collect();
        let n_categories = features.iter().filter(|j| is_category(j)).count();
        let n_numbers = data.d() - n_categories;
        let mut x = data.x().to_dense();
        if n_categories > 0 {
            features.sort_by_key(is_category);
            x = x.select(Axis(1), &features);
        }
        if units == Units::Range {
            for mut column in x.columns_mut().into_iter().take(n_numbers) {
                let range = range(column.view());
                column.mapv_inplace(|v| v / range);
            }
        }
        let shares = Shares::new(data.weights());
        let mean = |(at, column)| match at < n_numbers {
            true => mean_differences(column, shares),
            false => mean_category(column, shares),
        };
        let expected = data.has_missing().then(|| x.columns().into_iter().enumerate().map(mean).unzip());
        let by_products = Self::by_products(metric, data);
        Self { x, features, n_categories, by_products, metric, difference, expected }
    }

    /// Whether distances come from matrix products.
    pub(super) fn by_products(metric: Metric, data: &Dataset) -> bool {
        metric == Metric::Euclidean && !data.has_missing() && !data.has_categories()
    }

    /// Values by column, by feature.
    pub(super) fn by_feature(&self, values: Vec<f64>) -> Vec<f64> {
        let mut out = vec![0.0; values.len()];
        self.features.iter().zip(values).for_each(|(&j, v)| out[j] = v);
        out
    }

    /// The indices of the nearest samples among a set, for each query.
    pub(super) fn near(
        &self,
        among: ArrayView2<f64>,
        centers: &[usize],
        k: usize,
        itself: &[Option<usize>],
        ctx: &Context,
    ) -> Result<Vec<Vec<usize>>> {
        let queries = self.x.select(Axis(0), centers);
        if self.by_products {
            let found = nearest(among, queries.view(), k, Some(itself), ctx)?;
            return Ok(found.into_iter().map(|near| near.into_iter().map(|n| n.row).collect()).collect());
        }
        let expected = self.expected.as_ref().map(|(sizes, squares)| match self.metric {
            Metric::Manhattan => sizes.as_slice(),
            Metric::Euclidean => squares.as_slice(),
        });
        let measure = Measure { metric: self.metric, expected, n_categories: self.n_categories };
        nearest_by_sums(among, queries.view(), k, Some(itself), measure, ctx)
    }

    /// Adds the weighted difference of two samples in every column to sums.
    pub(super) fn add_differences(
        &self,
        sum: &mut [f64],
        a: ArrayView1<f64>,
        b: ArrayView1<f64>,
        weight: f64,
    ) {
        let n_numbers = sum.len() - self.n_categories;
        for (sum, (a, b)) in sum[..n_numbers].iter_mut().zip(a.iter().zip(b)) {
            let e = a - b;
            let size = if self.difference == Difference::Absolute { e.abs() } else { e * e };
            // A missing value adds nothing here; its expected difference is added below.
            *sum += if size.is_nan() { 0.0 } else { weight * size };
        }
        for at in n_numbers..sum.len() {
            sum[at] += weight * category_difference(a[at], b[at], 0.0);
        }
        let Some((sizes, squares)) = &self.expected else { return };
        let expected = if self.difference == Difference::Absolute { sizes } else { squares };
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            if a.is_nan() || b.is_nan() {
                sum[at] += weight * expected[at];
            }
        }
    }
}

/// Range of the known values; 1 for constant features.
fn range(column: ArrayView1<f64>) -> f64 {
    // Comparisons with NaN keep the known value.
    let (low, high) =
        column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    if high > low { high - low } else { 1.0 }
}

/// The known values of a column with their weights.
fn known(column: ArrayView1<f64>, shares: Shares) -> Vec<(f64, f64)> {
    column.iter().enumerate().filter(|(_, v)| !v.is_nan()).map(|(row, &v)| (v, shares.of(row))).collect()
}

/// The mean absolute and mean squared difference of all pairs of known values.
fn mean_differences(column: ArrayView1<f64>, shares: Shares) -> (f64, f64) {
    let mut known = known(column, shares);
    let pairs = shares.pairs(known.iter().map(|(_, w)| *w));
    if pairs <= 0.0 {
        return (0.0, 0.0);
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = known.iter().map(|(_, w)| w).sum();
    let mean = known.iter().map(|(v, w)| w * v).sum::<f64>() / total;
    // In sorted order, a value is the larger one in pairs with all before it, and the smaller one with all after it.
    let (mut before, mut sizes, mut squares) = (0.0, 0.0, 0.0);
    for (v, w) in known {
        sizes += w * (2.0 * before + w - total) * (v - mean);
        squares += w * (v - mean).powi(2);
        before += w;
    }
    (2.0 * sizes / pairs, 2.0 * total * squares / pairs)
}

/// The fraction of the pairs of known categories that differ; squared, the difference is the same.
fn mean_category(column: ArrayView1<f64>, shares: Shares) -> (f64, f64) {
    let (codes, weights): (Vec<usize>, Vec<f64>) =
        known(column, shares).into_iter().map(|(v, w)| (v as usize, w)).unzip();
    let pairs = shares.pairs(weights.iter().copied());
    if pairs <= 0.0 {
        return (0.0, 0.0);
    }
    let levels = codes.iter().max().map_or(0, |most| most + 1);
    let sums = Weights::new(Some(&weights)).sums(&codes, levels);
    let total: f64 = sums.iter().sum();
    let differ = (total * total - sums.iter().map(|sum| sum * sum).sum::<f64>()) / pairs;
    (differ, differ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn mean_differences_by_hand() {
        let shares = Shares::new(Weights::ONE);
        // 0, 1, 5: absolute 1, 5, 4; squared 1, 25, 16.
        let (size, square) = mean_differences(array![5.0, f64::NAN, 0.0, 1.0].view(), shares);
        assert!((size - 10.0 / 3.0).abs() < 1e-15 && (square - 14.0).abs() < 1e-14);
        assert_eq!(mean_differences(array![f64::NAN, 3.0].view(), shares), (0.0, 0.0));
        // Categories 2, 2, 0: two of three pairs differ.
        let (size, square) = mean_category(array![2.0, f64::NAN, 2.0, 0.0].view(), shares);
        assert!((size - 2.0 / 3.0).abs() < 1e-15 && size == square);
        assert_eq!(mean_category(array![f64::NAN, 3.0].view(), shares), (0.0, 0.0));
        assert_eq!(range(array![f64::NAN, 3.0, -1.0].view()), 4.0);
        assert_eq!(range(array![f64::NAN, 3.0, 3.0].view()), 1.0);
        assert_eq!(range(array![f64::NAN].view()), 1.0);
    }
}
