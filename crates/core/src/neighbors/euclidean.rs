//! Nearest neighbors by Euclidean distance.
//!
//! Distances are first computed from matrix products, which is fast but loses digits to cancellation. Every row that could be
//! among the nearest is then computed again from differences. The result is exact (ties are broken by row order), independent of
//! the blocking and the number of threads.
//!
//! Cost: $O(n q d)$ operations for $q$ queries, $O(n + q)$ memory beyond the rows.

use super::on_device::Searched;
use crate::context::Context;
use crate::device::Metric;
use crate::error::{Error, Result};
use crate::linalg::{product_bytes, product_into};
use crate::simd::{any_at_most, squared_distance};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Queries per task: few enough that all threads have work, enough to amortize packing a tile of reference rows.
const QUERIES_PER_TASK: std::ops::RangeInclusive<usize> = 32..=256;
/// Reference rows per matrix product.
const TILE: usize = 1024;
/// Reference rows that are skipped together if none of them can be among the nearest.
const SKIP_BLOCK: usize = 64;
/// Multiplications between two checks for interruption: a fraction of a second.
const CHECK_INTERVAL: usize = 4_000_000_000;

/// A reference row and its squared distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Index of the reference row.
    pub row: usize,
    /// The squared distance.
    pub squared: f64,
}

/// The `k` nearest reference rows of each query, nearest first; all of them if there are fewer than `k`.
///
/// `exclude` optionally names, for each query, one reference row to ignore (usually the query itself).
pub fn nearest(
    reference: ArrayView2<f64>,
    queries: ArrayView2<f64>,
    k: usize,
    exclude: Option<&[Option<usize>]>,
    ctx: &Context,
) -> Result<Vec<Vec<Neighbor>>> {
    assert_eq!(reference.ncols(), queries.ncols(), "columns of rows to compare");
    let reference = reference.as_standard_layout();
    let queries = queries.as_standard_layout();
    let lengths: Vec<f64> = reference.rows().into_iter().map(|r| r.dot(&r)).collect();
    // Up to this bound, squared differences of two rows cannot overflow.
    let overflows = |length: f64| length.is_nan() || length > f64::MAX / 4.0;
    if lengths.iter().copied().any(overflows) || queries.rows().into_iter().any(|q| overflows(q.dot(&q))) {
        return Err(Error::Breakdown {
            step: "nearest neighbors",
            why: "distances between rows overflow; scale the features".into(),
        });
    }
    // Limits the memory reserved per query.
    let k = k.min(reference.nrows());
    // Relative rounding error of an inner product of d terms, with a safety factor.
    let error = 4.0 * (reference.ncols() + 8) as f64 * f64::EPSILON;
    let lengths: Vec<f64> = lengths.iter().map(|length| length * (1.0 - error)).collect();
    let search = Search { reference: reference.view(), lengths: &lengths, error, k };
    let searched = Searched {
        reference: reference.view(),
        queries: queries.view(),
        k,
        exclude,
        metric: Metric::SquaredEuclidean,
    };
    let exact = |query: ArrayView1<f64>, rows: &[usize]| {
        rows.iter().map(|&row| squared(query, reference.row(row))).collect()
    };
    let neighbor = |(squared, row)| Neighbor { row, squared };
    searched.run(exact, neighbor, |queries, exclude| search.run(queries, exclude, ctx), ctx)
}

/// Memory that [`nearest`] needs, in bytes: a tile per thread and the result.
pub(crate) fn nearest_bytes(reference: usize, queries: usize, k: usize) -> f64 {
    let threads = rayon::current_num_threads();
    let tile = 8 * queries_per_task(queries) * reference.min(TILE);
    let found = queries * (24 + 16 * (k.min(reference) + 1));
    product_bytes() + (threads * tile + found + 8 * reference) as f64
}

/// Queries per task, given the number of queries.
fn queries_per_task(queries: usize) -> usize {
    (queries / (4 * rayon::current_num_threads())).clamp(*QUERIES_PER_TASK.start(), *QUERIES_PER_TASK.end())
}

struct Search<'a> {
    reference: ArrayView2<'a, f64>,
    /// Lower bounds of the squared lengths of the reference rows.
    lengths: &'a [f64],
    /// Relative rounding error of an inner product.
    error: f64,
    k: usize,
}

impl Search<'_> {
    /// The nearest rows of each query.
    fn run(
        &self,
        queries: ArrayView2<f64>,
        exclude: Option<&[Option<usize>]>,
        ctx: &Context,
    ) -> Result<Vec<Vec<Neighbor>>> {
        let each = queries_per_task(queries.nrows());
        let starts: Vec<usize> = (0..queries.nrows()).step_by(each).collect();
        let mut found = Vec::with_capacity(queries.nrows());
        let task = (each * self.reference.len()).max(1);
        for batch in starts.chunks((CHECK_INTERVAL / task).max(rayon::current_num_threads())) {
            ctx.step("nearest neighbors", batch[0], queries.nrows())?;
            let parts: Vec<Vec<Vec<Neighbor>>> = batch
                .par_iter()
                .map(|&from| {
                    let to = queries.nrows().min(from + each);
                    self.answer(queries.slice(s![from..to, ..]), exclude.map(|rows| &rows[from..to]))
                })
                .collect();
            found.extend(parts.into_iter().flatten());
        }
        Ok(found)
    }

    fn answer(&self, queries: ArrayView2<f64>, exclude: Option<&[Option<usize>]>) -> Vec<Vec<Neighbor>> {
        let mut best = vec![Vec::with_capacity(self.k + 1); queries.nrows()];
        let own: Vec<f64> = queries.rows().into_iter().map(|q| q.dot(&q) * (1.0 - self.error)).collect();
        let mut products = Array2::zeros((queries.nrows(), TILE));
        for (tile, rows) in self.reference.axis_chunks_iter(Axis(0), TILE).enumerate() {
            let mut products = products.slice_mut(s![.., ..rows.nrows()]);
            product_into(queries, rows.t(), products.view_mut());
            let lengths = &self.lengths[tile * TILE..];
            for (q, query) in queries.rows().into_iter().enumerate() {
                let excluded = exclude.and_then(|rows| rows[q]);
                let products = products.row(q);
                let products = products.as_slice().expect("rows of an array in standard layout");
                for from in (0..products.len()).step_by(SKIP_BLOCK) {
                    let to = products.len().min(from + SKIP_BLOCK);
                    if !any_at_most(&lengths[from..to], &products[from..to], self.limit(&best[q]) - own[q]) {
                        continue;
                    }
                    for r in from..to {
                        let row = tile * TILE + r;
                        if lengths[r] - 2.0 * products[r] <= self.limit(&best[q]) - own[q]
                            && excluded != Some(row)
                        {
                            let squared = squared(query, rows.row(r));
                            insert(&mut best[q], self.k, Neighbor { row, squared });
                        }
                    }
                }
            }
        }
        best
    }

    /// Upper bound on the squared distance of a row that can still be among the nearest.
    fn limit(&self, best: &[Neighbor]) -> f64 {
        if best.len() < self.k { f64::INFINITY } else { best.last().map_or(f64::NEG_INFINITY, |n| n.squared) }
    }
}

fn squared(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    let rows = "both are rows of arrays in standard layout";
    squared_distance(a.to_slice().expect(rows), b.to_slice().expect(rows))
}

/// Inserts a neighbor and keeps the `k` nearest. Rows arrive in order, so ties are broken by row order.
fn insert(best: &mut Vec<Neighbor>, k: usize, new: Neighbor) {
    let position = best.partition_point(|n| n.squared <= new.squared);
    if position < k {
        best.insert(position, new);
        best.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use ndarray::array;

    fn rows(neighbors: &[Vec<Neighbor>]) -> Vec<Vec<usize>> {
        neighbors.iter().map(|n| n.iter().map(|n| n.row).collect()).collect()
    }

    #[test]
    fn ties_and_excluded_rows_match_hand_computed_values() {
        let x = array![[0.0], [1.0], [2.0], [2.0]];
        let ctx = Context::default();
        let found = nearest(x.view(), x.view(), 2, None, &ctx).unwrap();
        assert_eq!(rows(&found), [[0, 1], [1, 0], [2, 3], [2, 3]]);
        let exclude: Vec<Option<usize>> = (0..4).map(Some).collect();
        let found = nearest(x.view(), x.view(), 2, Some(&exclude), &ctx).unwrap();
        assert_eq!(rows(&found), [[1, 2], [0, 2], [3, 1], [2, 1]]);
        assert_eq!(found[3][1].squared, 1.0);
        // More neighbors than rows: all rows.
        for many in [9, usize::MAX] {
            assert_eq!(nearest(x.view(), x.view(), many, None, &ctx).unwrap()[0].len(), 4);
        }
    }

    #[test]
    fn equals_brute_force_even_far_from_the_origin() {
        let mut rng = Rng::new(2);
        for shift in [0.0, 1e6] {
            let x = Array2::from_shape_simple_fn((2100, 5), || shift + (rng.normal() * 8.0).round());
            let q = Array2::from_shape_simple_fn((40, 5), || shift + (rng.normal() * 8.0).round());
            let found = nearest(x.view(), q.view(), 3, None, &Context::default()).unwrap();
            for (query, found) in q.rows().into_iter().zip(&found) {
                let mut all: Vec<(f64, usize)> =
                    x.rows().into_iter().enumerate().map(|(i, r)| (squared(query, r), i)).collect();
                all.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let expected: Vec<usize> = all[..3].iter().map(|a| a.1).collect();
                assert_eq!(found.iter().map(|n| n.row).collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn overflowing_distances_are_an_error() {
        let x = array![[1e200], [-1e200], [0.0]];
        let error = nearest(x.view(), x.view(), 1, None, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("distances between rows overflow; scale the features"), "{error}");
    }
}
