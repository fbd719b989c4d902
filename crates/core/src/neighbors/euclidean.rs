//! Nearest rows by Euclidean distance.
//!
//! Distances come from matrix products, which is fast but rounds; every row that might be among the
//! nearest is then measured again, difference by difference. The answer is therefore the exact one
//! (of equally near rows the first), whatever the blocking and the number of threads.
//!
//! Cost: $O(n q d)$ operations for $q$ queries, $O(n + q)$ memory beyond the rows.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{product_bytes, product_into};
use crate::simd::{any_at_most, squared_distance};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rayon::prelude::*;

/// Queries that one task answers: few enough for all threads to have work, enough to make a tile of
/// reference rows worth packing.
const QUERIES: std::ops::RangeInclusive<usize> = 32..=256;
/// Reference rows that are compared at a time.
const TILE: usize = 1024;
/// Reference rows that are passed by together if none of them is near.
const GLANCE: usize = 64;
/// Multiplications between two looks at whether the user wants to stop: a fraction of a second.
const WORK: usize = 4_000_000_000;

/// A reference row and its squared distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// Its place among the reference rows.
    pub row: usize,
    /// The squared distance.
    pub squared: f64,
}

/// The `k` nearest reference rows of every query, nearest first; fewer if there are fewer.
///
/// `itself` may give each query a place among the reference rows that does not count.
pub fn nearest(
    reference: ArrayView2<f64>,
    queries: ArrayView2<f64>,
    k: usize,
    itself: Option<&[Option<usize>]>,
    ctx: &Context,
) -> Result<Vec<Vec<Neighbor>>> {
    assert_eq!(reference.ncols(), queries.ncols(), "columns of rows to compare");
    let reference = reference.as_standard_layout();
    let queries = queries.as_standard_layout();
    let lengths: Vec<f64> = reference.rows().into_iter().map(|r| r.dot(&r)).collect();
    // Squares up to a quarter of the largest number leave room for a difference of two rows.
    let too_long = |length: f64| length.is_nan() || length > f64::MAX / 4.0;
    if lengths.iter().copied().any(too_long) || queries.rows().into_iter().any(|q| too_long(q.dot(&q))) {
        return Err(Error::Breakdown {
            step: "nearest rows",
            why: "distances between rows are too large for a number; scale the columns".into(),
        });
    }
    // More than there are is all; room is made for no more.
    let k = k.min(reference.nrows());
    // Rounding of a product of d terms, with room to spare.
    let doubt = 4.0 * (reference.ncols() + 8) as f64 * f64::EPSILON;
    let lengths: Vec<f64> = lengths.iter().map(|length| length * (1.0 - doubt)).collect();
    let search = Search { reference: reference.view(), lengths: &lengths, doubt, k };
    let each = queries_at_once(queries.nrows());
    let starts: Vec<usize> = (0..queries.nrows()).step_by(each).collect();
    let mut found = Vec::with_capacity(queries.nrows());
    let task = (each * reference.len()).max(1);
    for batch in starts.chunks((WORK / task).max(rayon::current_num_threads())) {
        ctx.step("nearest rows", batch[0], queries.nrows())?;
        let parts: Vec<Vec<Vec<Neighbor>>> = batch
            .par_iter()
            .map(|&from| {
                let to = queries.nrows().min(from + each);
                search.answer(queries.slice(s![from..to, ..]), itself.map(|skip| &skip[from..to]))
            })
            .collect();
        found.extend(parts.into_iter().flatten());
    }
    Ok(found)
}

/// Bytes that [`nearest`] takes: a tile for each thread, and what it finds.
pub(crate) fn nearest_bytes(reference: usize, queries: usize, k: usize) -> f64 {
    let threads = rayon::current_num_threads();
    let tile = 8 * queries_at_once(queries) * reference.min(TILE);
    let found = queries * (24 + 16 * (k.min(reference) + 1));
    product_bytes() + (threads * tile + found + 8 * reference) as f64
}

/// Queries of a task, where there are so many.
fn queries_at_once(queries: usize) -> usize {
    (queries / (4 * rayon::current_num_threads())).clamp(*QUERIES.start(), *QUERIES.end())
}

struct Search<'a> {
    reference: ArrayView2<'a, f64>,
    /// Squared lengths of the reference rows, less what rounding may have added.
    lengths: &'a [f64],
    doubt: f64,
    k: usize,
}

impl Search<'_> {
    fn answer(&self, queries: ArrayView2<f64>, itself: Option<&[Option<usize>]>) -> Vec<Vec<Neighbor>> {
        let mut best = vec![Vec::with_capacity(self.k + 1); queries.nrows()];
        let own: Vec<f64> = queries.rows().into_iter().map(|q| q.dot(&q) * (1.0 - self.doubt)).collect();
        let mut products = Array2::zeros((queries.nrows(), TILE));
        for (tile, rows) in self.reference.axis_chunks_iter(Axis(0), TILE).enumerate() {
            let mut products = products.slice_mut(s![.., ..rows.nrows()]);
            product_into(queries, rows.t(), products.view_mut());
            let lengths = &self.lengths[tile * TILE..];
            for (q, query) in queries.rows().into_iter().enumerate() {
                let skip = itself.and_then(|skip| skip[q]);
                let products = products.row(q);
                let products = products.as_slice().expect("rows of an array in standard layout");
                for from in (0..products.len()).step_by(GLANCE) {
                    let to = products.len().min(from + GLANCE);
                    // Rows whose distance cannot be below the farthest so far are passed by together.
                    if !any_at_most(&lengths[from..to], &products[from..to], self.limit(&best[q]) - own[q]) {
                        continue;
                    }
                    for r in from..to {
                        let row = tile * TILE + r;
                        if lengths[r] - 2.0 * products[r] <= self.limit(&best[q]) - own[q]
                            && skip != Some(row)
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

    /// The squared distance that a row must not exceed to be among the nearest.
    fn limit(&self, best: &[Neighbor]) -> f64 {
        if best.len() < self.k { f64::INFINITY } else { best.last().map_or(f64::NEG_INFINITY, |n| n.squared) }
    }
}

fn squared(a: ArrayView1<f64>, b: ArrayView1<f64>) -> f64 {
    let rows = "both are rows of arrays in standard layout";
    squared_distance(a.to_slice().expect(rows), b.to_slice().expect(rows))
}

/// Keeps the nearest; rows come in order, so that equals go behind.
fn insert(best: &mut Vec<Neighbor>, k: usize, new: Neighbor) {
    let place = best.partition_point(|n| n.squared <= new.squared);
    if place < k {
        best.insert(place, new);
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
    fn by_hand_with_ties_and_without_itself() {
        let x = array![[0.0], [1.0], [2.0], [2.0]];
        let ctx = Context::default();
        let found = nearest(x.view(), x.view(), 2, None, &ctx).unwrap();
        assert_eq!(rows(&found), [[0, 1], [1, 0], [2, 3], [2, 3]]);
        let skip: Vec<Option<usize>> = (0..4).map(Some).collect();
        let found = nearest(x.view(), x.view(), 2, Some(&skip), &ctx).unwrap();
        assert_eq!(rows(&found), [[1, 2], [0, 2], [3, 1], [2, 1]]);
        assert_eq!(found[3][1].squared, 1.0);
        // More than there are: all there are.
        for many in [9, usize::MAX] {
            assert_eq!(nearest(x.view(), x.view(), many, None, &ctx).unwrap()[0].len(), 4);
        }
    }

    #[test]
    fn equals_the_plain_search_even_far_from_the_origin() {
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
    fn distances_that_are_no_numbers_are_refused() {
        let x = array![[1e200], [-1e200], [0.0]];
        let error = nearest(x.view(), x.view(), 1, None, &Context::default()).unwrap_err().to_string();
        assert!(error.contains("too large for a number; scale the columns"), "{error}");
    }
}
