//! Nearest neighbors by sums of differences over columns.
//!
//! $$ D(x, z) = \sum_j |x_j - z_j| \quad\text{or}\quad \sum_j (x_j - z_j)^2 $$
//!
//! In a column of categories (codes) the term is 1 if the two differ, 0 otherwise. Where $x_j$ or $z_j$ is missing (NaN), the caller's expected difference for the column replaces the term. Reference rows are
//! compared tile by tile; a tile is column-major, so that the distances of its rows are computed together. The result is exact
//! (ties are broken by row order), independent of the blocking and the number of threads.
//!
//! Cost: $O(n q d)$ operations for $q$ queries, and a copy of the reference rows.

use super::on_device::Searched;
use crate::context::Context;
use crate::device;
use crate::error::{Error, Result};
use crate::simd::{
    absolute_distances, absolute_distances_with_missing, squared_distances, squared_distances_with_missing,
};
use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// Queries per task; enough to amortize loading a tile.
const QUERIES_PER_TASK: usize = 32;
/// Values in a tile: a quarter of a MiB, which fits in the cache.
const TILE_SIZE: usize = 1 << 15;
/// Tasks per thread between two checks for interruption.
const TASKS_PER_CHECK: usize = 16;

crate::choices! {
    /// A distance between samples.
    pub enum Metric {
        /// The Euclidean distance.
        Euclidean = "euclidean",
        /// The Manhattan distance: the sum of absolute differences.
        Manhattan = "manhattan",
    }
}

/// Metric, and treatment of categories and missing values.
#[derive(Debug, Clone, Copy)]
pub struct Measure<'a> {
    /// The metric.
    pub metric: Metric,
    /// Contribution of each column where one of the two values is missing; `None` if no value is missing.
    pub expected: Option<&'a [f64]>,
    /// Number of columns that hold categories, the last ones.
    pub n_categories: usize,
}

/// Indices of the `k` nearest reference rows of each query, nearest first; all of them if there are fewer than `k`.
///
/// `exclude` optionally names, for each query, one reference row to ignore (usually the query itself).
pub fn nearest_by_sums(
    reference: ArrayView2<f64>,
    queries: ArrayView2<f64>,
    k: usize,
    exclude: Option<&[Option<usize>]>,
    measure: Measure,
    ctx: &Context,
) -> Result<Vec<Vec<usize>>> {
    assert_eq!(reference.ncols(), queries.ncols(), "columns of rows to compare");
    let queries = queries.as_standard_layout();
    let height = (TILE_SIZE / reference.ncols().max(1)).clamp(16, 512);
    let tiles: Vec<Vec<f64>> = reference
        .axis_chunks_iter(Axis(0), height)
        .map(|rows| {
            let mut tile = Vec::with_capacity(rows.len());
            rows.columns().into_iter().for_each(|column| tile.extend(column));
            tile
        })
        .collect();
    // Limits the memory reserved per query.
    let k = k.min(reference.nrows());
    let search = Search { tiles: &tiles, n: reference.nrows(), height, measure, k };
    if measure.expected.is_some() || measure.n_categories > 0 {
        return search.run(queries.view(), exclude, ctx);
    }
    let metric = match measure.metric {
        Metric::Euclidean => device::Metric::SquaredEuclidean,
        Metric::Manhattan => device::Metric::Manhattan,
    };
    let searched = Searched { reference, queries: queries.view(), k, exclude, metric };
    let exact = |query: ArrayView1<f64>, rows: &[usize]| {
        let mut columns = Vec::with_capacity(rows.len() * reference.ncols());
        reference.columns().into_iter().for_each(|x| columns.extend(rows.iter().map(|&row| x[row])));
        let mut sums = vec![0.0; rows.len()];
        search.measure(&mut sums, &columns, query.to_slice().expect("rows in standard layout"));
        sums
    };
    searched.run(exact, |(_, row)| row, |queries, exclude| search.run(queries, exclude, ctx), ctx)
}

/// Memory that [`nearest_by_sums`] needs, in bytes: the tiles and the result.
pub(crate) fn nearest_by_sums_bytes(reference: usize, d: usize, queries: usize, k: usize) -> f64 {
    let found = queries * (24 + 16 * (k.min(reference) + 1));
    8.0 * reference as f64 * d as f64 + found as f64
}

/// The difference of two categories: 0 or 1, or `expected` if one is missing.
pub(crate) fn category_difference(a: f64, b: f64, expected: f64) -> f64 {
    if a.is_nan() || b.is_nan() { expected } else { f64::from(u8::from(a != b)) }
}

struct Search<'a> {
    tiles: &'a [Vec<f64>],
    n: usize,
    height: usize,
    measure: Measure<'a>,
    k: usize,
}

impl Search<'_> {
    /// The nearest rows of each query.
    fn run(
        &self,
        queries: ArrayView2<f64>,
        exclude: Option<&[Option<usize>]>,
        ctx: &Context,
    ) -> Result<Vec<Vec<usize>>> {
        let starts: Vec<usize> = (0..queries.nrows()).step_by(QUERIES_PER_TASK).collect();
        let mut found = Vec::with_capacity(queries.nrows());
        for batch in starts.chunks(TASKS_PER_CHECK * rayon::current_num_threads()) {
            ctx.step("nearest neighbors", batch[0], queries.nrows())?;
            let parts: Vec<Option<Vec<Vec<usize>>>> = batch
                .par_iter()
                .map(|&from| {
                    let to = queries.nrows().min(from + QUERIES_PER_TASK);
                    let rows: Vec<ArrayView1<f64>> = (from..to).map(|q| queries.row(q)).collect();
                    self.answer(&rows, exclude.map(|rows| &rows[from..to]))
                })
                .collect();
            for part in parts {
                found.extend(part.ok_or_else(|| Error::Breakdown {
                    step: "nearest neighbors",
                    why: "distances between rows overflow; scale the features".into(),
                })?);
            }
        }
        Ok(found)
    }

    /// `None` if a distance among the nearest is not finite.
    fn answer(
        &self,
        queries: &[ArrayView1<f64>],
        exclude: Option<&[Option<usize>]>,
    ) -> Option<Vec<Vec<usize>>> {
        let mut best: Vec<Vec<(f64, usize)>> = vec![Vec::with_capacity(self.k + 1); queries.len()];
        let mut sums = vec![0.0; self.height];
        for (tile, columns) in self.tiles.iter().enumerate() {
            let first = tile * self.height;
            let sums = &mut sums[..self.height.min(self.n - first)];
            for (q, query) in queries.iter().enumerate() {
                self.measure(sums, columns, query.to_slice().expect("rows in standard layout"));
                let excluded = exclude.and_then(|rows| rows[q]);
                self.keep_nearest(&mut best[q], sums, first, excluded);
            }
        }
        let finite = best.iter().flatten().all(|(distance, _)| distance.is_finite());
        finite.then(|| best.into_iter().map(|near| near.into_iter().map(|(_, row)| row).collect()).collect())
    }

    /// Distances of all rows of a tile from a query.
    fn measure(&self, sums: &mut [f64], columns: &[f64], query: &[f64]) {
        let stride = sums.len();
        let n_numbers = query.len() - self.measure.n_categories;
        let (numbers, codes) = columns.split_at(n_numbers * stride);
        let (z, z_codes) = query.split_at(n_numbers);
        match (self.measure.metric, self.measure.expected) {
            (Metric::Manhattan, None) => absolute_distances(sums, numbers, stride, z),
            (Metric::Euclidean, None) => squared_distances(sums, numbers, stride, z),
            (Metric::Manhattan, Some(expected)) => {
                absolute_distances_with_missing(sums, numbers, stride, z, &expected[..n_numbers]);
            }
            (Metric::Euclidean, Some(expected)) => {
                squared_distances_with_missing(sums, numbers, stride, z, &expected[..n_numbers]);
            }
        }
        for (at, (column, &z)) in codes.chunks_exact(stride).zip(z_codes).enumerate() {
            // Without missing values the expected difference is not used.
            let expected = self.measure.expected.map_or(0.0, |expected| expected[n_numbers + at]);
            sums.iter_mut().zip(column).for_each(|(sum, &v)| *sum += category_difference(v, z, expected));
        }
    }

    /// Updates the nearest rows with those of a tile. Rows arrive in order, so ties are broken by row order.
    fn keep_nearest(
        &self,
        best: &mut Vec<(f64, usize)>,
        sums: &[f64],
        first: usize,
        excluded: Option<usize>,
    ) {
        let mut limit = if best.len() < self.k { f64::INFINITY } else { best[self.k - 1].0 };
        for (r, &distance) in sums.iter().enumerate() {
            let full = best.len() == self.k;
            if full && distance >= limit || excluded == Some(first + r) {
                continue;
            }
            let position = best.partition_point(|(d, _)| *d <= distance);
            best.insert(position, (distance, first + r));
            best.truncate(self.k);
            limit = best[best.len() - 1].0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::{Array2, array};

    fn by_sums(x: &Array2<f64>, k: usize, measure: Measure) -> Vec<Vec<usize>> {
        let exclude: Vec<Option<usize>> = (0..x.nrows()).map(Some).collect();
        nearest_by_sums(x.view(), x.view(), k, Some(&exclude), measure, &Context::default()).unwrap()
    }

    #[test]
    fn metrics_and_missing_values_match_hand_computed_values() {
        let x = array![[0.0, 0.0], [3.0, 3.0], [5.0, 0.0]];
        // From the first row: Manhattan distances 6 and 5, squared Euclidean distances 18 and 25.
        let near = |metric, expected| by_sums(&x, 1, Measure { metric, expected, n_categories: 0 })[0][0];
        assert_eq!(near(Metric::Manhattan, None), 2);
        assert_eq!(near(Metric::Euclidean, None), 1);
        // The missing value in the third row contributes the expected difference: 7 is more than 6, 5.5 is less.
        let x = array![[0.0, 0.0], [3.0, 3.0], [f64::NAN, 0.0]];
        let near = |expected: [f64; 2]| {
            by_sums(&x, 1, Measure { metric: Metric::Manhattan, expected: Some(&expected), n_categories: 0 })
                [0][0]
        };
        assert_eq!((near([7.0, 9.0]), near([5.5, 9.0])), (1, 2));
        // Ties are broken by row order.
        assert_eq!(near([6.0, 9.0]), 1);
        // More neighbors than rows: all rows.
        let measure = Measure { metric: Metric::Manhattan, expected: Some(&[1.0, 9.0]), n_categories: 0 };
        assert_eq!(by_sums(&x, usize::MAX, measure)[0], [2, 1]);
    }

    #[test]
    fn equals_brute_force_over_many_tiles() {
        let mut rng = Rng::new(3);
        for missing in [false, true] {
            let draw =
                || if missing && rng.uniform() < 0.2 { f64::NAN } else { (rng.normal() * 8.0).round() };
            let x = Array2::from_shape_simple_fn((1100, 5), draw);
            for (metric, n_categories) in
                [(Metric::Euclidean, 0), (Metric::Manhattan, 0), (Metric::Manhattan, 2)]
            {
                let expected = [4.0, 5.0, 6.0, 7.0, 8.0];
                let found =
                    by_sums(&x, 3, Measure { metric, expected: missing.then_some(&expected), n_categories });
                for i in (0..1100).step_by(53) {
                    let term = |j: usize, e: f64| match metric {
                        _ if e.is_nan() => expected[j],
                        _ if j >= 5 - n_categories => f64::from(u8::from(e != 0.0)),
                        Metric::Euclidean => e * e,
                        Metric::Manhattan => e.abs(),
                    };
                    let mut all: Vec<(f64, usize)> = (0..1100)
                        .filter(|&r| r != i)
                        .map(|r| ((0..5).map(|j| term(j, x[[r, j]] - x[[i, j]])).sum(), r))
                        .collect();
                    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    let plain: Vec<usize> = all[..3].iter().map(|a| a.1).collect();
                    assert_eq!(found[i], plain, "{metric:?} {missing}");
                }
            }
        }
    }

    #[test]
    fn overflowing_distances_are_an_error() {
        let x = array![[1e200], [-1e200]];
        let measure = Measure { metric: Metric::Euclidean, expected: None, n_categories: 0 };
        let error =
            nearest_by_sums(x.view(), x.slice(ndarray::s![..1, ..]), 2, None, measure, &Context::default());
        assert!(
            error.unwrap_err().to_string().contains("distances between rows overflow; scale the features")
        );
    }
}
