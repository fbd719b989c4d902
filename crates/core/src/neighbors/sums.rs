//! Nearest rows by sums of differences, column by column.
//!
//! $$ D(x, z) = \sum_j |x_j - z_j| \quad\text{or}\quad \sum_j (x_j - z_j)^2 $$
//!
//! Where $x_j$ or $z_j$ is a gap (NaN), a number that the caller expects for the column stands for the
//! term. Reference rows are compared tile by tile, a tile laid out by columns so that its rows are
//! measured side by side. The answer is the exact one (of equally near rows the first), whatever the blocking
//! and the number of threads.
//!
//! Cost: $O(n q d)$ operations for $q$ queries, a copy of the reference rows.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::simd::{
    absolute_distances, absolute_distances_with_gaps, squared_distances, squared_distances_with_gaps,
};
use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// Queries that one task answers; enough to make fetching a tile worth it.
const QUERIES: usize = 32;
/// Cells of a tile: a quarter of a MiB, which stays near the processor.
const TILE_CELLS: usize = 1 << 15;
/// Tasks between two looks at whether the user wants to stop.
const BATCH: usize = 16;

crate::choices! {
    /// A distance between samples.
    pub enum Metric {
        /// The Euclidean distance.
        Euclidean = "euclidean",
        /// The Manhattan distance: the sum of absolute differences.
        Manhattan = "manhattan",
    }
}

/// How rows are compared.
#[derive(Debug, Clone, Copy)]
pub struct Measure<'a> {
    /// How differences make a distance.
    pub metric: Metric,
    /// What each column adds where one of two cells is a gap; `None` if there are no gaps.
    pub expected: Option<&'a [f64]>,
}

/// The places of the `k` nearest reference rows of every query, nearest first; fewer if there are fewer.
///
/// `itself` may give each query a place among the reference rows that does not count.
pub fn nearest_by_sums(
    reference: ArrayView2<f64>,
    queries: ArrayView2<f64>,
    k: usize,
    itself: Option<&[Option<usize>]>,
    measure: Measure,
    ctx: &Context,
) -> Result<Vec<Vec<usize>>> {
    assert_eq!(reference.ncols(), queries.ncols(), "columns of rows to compare");
    let queries = queries.as_standard_layout();
    let height = (TILE_CELLS / reference.ncols().max(1)).clamp(16, 512);
    let tiles: Vec<Vec<f64>> = reference
        .axis_chunks_iter(Axis(0), height)
        .map(|rows| {
            let mut tile = Vec::with_capacity(rows.len());
            rows.columns().into_iter().for_each(|column| tile.extend(column));
            tile
        })
        .collect();
    // More than there are is all; room is made for no more.
    let k = k.min(reference.nrows());
    let search = Search { tiles: &tiles, n: reference.nrows(), height, measure, k };
    let starts: Vec<usize> = (0..queries.nrows()).step_by(QUERIES).collect();
    let mut found = Vec::with_capacity(queries.nrows());
    for batch in starts.chunks(BATCH * rayon::current_num_threads()) {
        ctx.step("nearest rows", batch[0], queries.nrows())?;
        let parts: Vec<Option<Vec<Vec<usize>>>> = batch
            .par_iter()
            .map(|&from| {
                let to = queries.nrows().min(from + QUERIES);
                let rows: Vec<ArrayView1<f64>> = (from..to).map(|q| queries.row(q)).collect();
                search.answer(&rows, itself.map(|skip| &skip[from..to]))
            })
            .collect();
        for part in parts {
            found.extend(part.ok_or_else(|| Error::Breakdown {
                step: "nearest rows",
                why: "distances between rows are too large for a number; scale the columns".into(),
            })?);
        }
    }
    Ok(found)
}

/// Bytes that [`nearest_by_sums`] takes: the reference rows in tiles, and what it finds.
pub(crate) fn nearest_by_sums_bytes(reference: usize, d: usize, queries: usize, k: usize) -> f64 {
    let found = queries * (24 + 16 * (k.min(reference) + 1));
    8.0 * reference as f64 * d as f64 + found as f64
}

struct Search<'a> {
    tiles: &'a [Vec<f64>],
    n: usize,
    height: usize,
    measure: Measure<'a>,
    k: usize,
}

impl Search<'_> {
    /// `None` if a distance among the nearest is infinite.
    fn answer(
        &self,
        queries: &[ArrayView1<f64>],
        itself: Option<&[Option<usize>]>,
    ) -> Option<Vec<Vec<usize>>> {
        let mut best: Vec<Vec<(f64, usize)>> = vec![Vec::with_capacity(self.k + 1); queries.len()];
        let mut sums = vec![0.0; self.height];
        for (tile, columns) in self.tiles.iter().enumerate() {
            let first = tile * self.height;
            let sums = &mut sums[..self.height.min(self.n - first)];
            for (q, query) in queries.iter().enumerate() {
                self.measure(sums, columns, query.to_slice().expect("rows in standard layout"));
                let skip = itself.and_then(|skip| skip[q]);
                self.keep_nearest(&mut best[q], sums, first, skip);
            }
        }
        let finite = best.iter().flatten().all(|(distance, _)| distance.is_finite());
        finite.then(|| best.into_iter().map(|near| near.into_iter().map(|(_, row)| row).collect()).collect())
    }

    /// The distance of every row of a tile from a query.
    fn measure(&self, sums: &mut [f64], columns: &[f64], query: &[f64]) {
        let stride = sums.len();
        match (self.measure.metric, self.measure.expected) {
            (Metric::Manhattan, None) => absolute_distances(sums, columns, stride, query),
            (Metric::Euclidean, None) => squared_distances(sums, columns, stride, query),
            (Metric::Manhattan, Some(expected)) => {
                absolute_distances_with_gaps(sums, columns, stride, query, expected);
            }
            (Metric::Euclidean, Some(expected)) => {
                squared_distances_with_gaps(sums, columns, stride, query, expected);
            }
        }
    }

    /// Rows come in order, so that equals go behind.
    fn keep_nearest(&self, best: &mut Vec<(f64, usize)>, sums: &[f64], first: usize, skip: Option<usize>) {
        let mut limit = if best.len() < self.k { f64::INFINITY } else { best[self.k - 1].0 };
        for (r, &distance) in sums.iter().enumerate() {
            let full = best.len() == self.k;
            if full && distance >= limit || skip == Some(first + r) {
                continue;
            }
            let place = best.partition_point(|(d, _)| *d <= distance);
            best.insert(place, (distance, first + r));
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
        let skip: Vec<Option<usize>> = (0..x.nrows()).map(Some).collect();
        nearest_by_sums(x.view(), x.view(), k, Some(&skip), measure, &Context::default()).unwrap()
    }

    #[test]
    fn metrics_and_gaps_by_hand() {
        let x = array![[0.0, 0.0], [3.0, 3.0], [5.0, 0.0]];
        // From the first: sizes 6 and 5, squares 18 and 25.
        let near = |metric, expected| by_sums(&x, 1, Measure { metric, expected })[0][0];
        assert_eq!(near(Metric::Manhattan, None), 2);
        assert_eq!(near(Metric::Euclidean, None), 1);
        // A gap in the third row's first cell counts as what is expected: 7 is more than 6, 5.5 is less.
        let x = array![[0.0, 0.0], [3.0, 3.0], [f64::NAN, 0.0]];
        let near = |expected: [f64; 2]| {
            by_sums(&x, 1, Measure { metric: Metric::Manhattan, expected: Some(&expected) })[0][0]
        };
        assert_eq!((near([7.0, 9.0]), near([5.5, 9.0])), (1, 2));
        // Of equally near rows the first.
        assert_eq!(near([6.0, 9.0]), 1);
        // More than there are: all there are.
        let measure = Measure { metric: Metric::Manhattan, expected: Some(&[1.0, 9.0]) };
        assert_eq!(by_sums(&x, usize::MAX, measure)[0], [2, 1]);
    }

    #[test]
    fn equals_the_plain_search_over_many_tiles() {
        let mut rng = Rng::new(3);
        for gaps in [false, true] {
            let draw = || if gaps && rng.uniform() < 0.2 { f64::NAN } else { (rng.normal() * 8.0).round() };
            let x = Array2::from_shape_simple_fn((1100, 5), draw);
            for metric in [Metric::Euclidean, Metric::Manhattan] {
                let expected = [4.0, 5.0, 6.0, 7.0, 8.0];
                let found = by_sums(&x, 3, Measure { metric, expected: gaps.then_some(&expected) });
                for i in (0..1100).step_by(53) {
                    let term = |j: usize, e: f64| match metric {
                        _ if e.is_nan() => expected[j],
                        Metric::Euclidean => e * e,
                        Metric::Manhattan => e.abs(),
                    };
                    let mut all: Vec<(f64, usize)> = (0..1100)
                        .filter(|&r| r != i)
                        .map(|r| ((0..5).map(|j| term(j, x[[r, j]] - x[[i, j]])).sum(), r))
                        .collect();
                    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    let plain: Vec<usize> = all[..3].iter().map(|a| a.1).collect();
                    assert_eq!(found[i], plain, "{metric:?} {gaps}");
                }
            }
        }
    }

    #[test]
    fn distances_that_are_no_numbers_are_refused() {
        let x = array![[1e200], [-1e200]];
        let measure = Measure { metric: Metric::Euclidean, expected: None };
        let error =
            nearest_by_sums(x.view(), x.slice(ndarray::s![..1, ..]), 2, None, measure, &Context::default());
        assert!(error.unwrap_err().to_string().contains("too large for a number; scale the columns"));
    }
}
