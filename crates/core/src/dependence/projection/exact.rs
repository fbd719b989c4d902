//! The exact sum over all pairs, in tiles.

use super::projected::ProjectedCriterion;
use crate::device::{Device, ProjectedPairs, Task};
use crate::simd::{PAIRS, PairSums, ThinRows, add_pairs};
use ndarray::{Array2, ShapeBuilder};
use rayon::prelude::*;

/// Tiles per batch.
const BATCH: usize = 256;

/// $-\frac{1}{n^2} \sum_{ij} K_{ij} M_{ij}$ over all pairs.
pub struct Exact {
    /// The target's factor by columns.
    y: Array2<f64>,
    device: Option<&'static Device>,
}

impl Exact {
    /// Takes the target's factor, see [`super::unit_factor`].
    pub fn new(factor: Array2<f64>) -> Self {
        Self { y: by_columns(&factor), device: None }
    }

    /// With a device, if there is one, that computes the sums where it does not refuse.
    #[must_use]
    pub fn on(self, device: Option<&'static Device>) -> Self {
        Self { device, ..self }
    }

    /// $\sum_{ij} A_{ij}$ over all pairs; `sums`, if not empty, gets for each row $\sum_j A_{ij}$ and $\sum_j A_{ij} p_j$.
    fn total(&self, p: &Array2<f64>, sums: &mut [f64]) -> f64 {
        let rows = cells(p);
        let pairs = ProjectedPairs { n: p.nrows(), rows, factor: cells(&self.y) };
        let on_device = self.device.and_then(|device| {
            let sums = (!sums.is_empty()).then_some(&mut *sums);
            device.attempt(Task::Hsic, |accelerator| accelerator.hsic(pairs, sums))
        });
        on_device.unwrap_or_else(|| self.total_on_processor(p, sums))
    }

    /// As [`Exact::total`], in tiles.
    fn total_on_processor(&self, p: &Array2<f64>, sums: &mut [f64]) -> f64 {
        let (n, q) = p.dim();
        let starts: Vec<usize> = (0..n).step_by(PAIRS).collect();
        let tiles: Vec<(usize, usize)> = starts
            .iter()
            .enumerate()
            .flat_map(|(k, &from)| starts[k..].iter().map(move |&to| (from, to)))
            .collect();
        let with_gradient = !sums.is_empty();
        sums.fill(0.0);
        let tile = |&(i, j): &(usize, usize)| {
            let heights = (PAIRS.min(n - i), PAIRS.min(n - j));
            let mut below = with_gradient.then(|| PairSums::zeros(q));
            let mut right = (with_gradient && i != j).then(|| PairSums::zeros(q));
            let total = add_pairs(
                thin(p, i),
                thin(&self.y, i),
                heights,
                thin(p, j),
                thin(&self.y, j),
                below.as_mut(),
                right.as_mut(),
            );
            (total, below, right)
        };
        let mut value = 0.0;
        for batch in tiles.chunks(BATCH) {
            let done: Vec<_> = batch.par_iter().map(tile).collect();
            // One thread sums, in the order of tiles, so that results do not depend on the number of threads.
            for (&(i, j), (total, below, right)) in batch.iter().zip(done) {
                value += if i == j { total } else { 2.0 * total };
                for (from, side) in [(i, below), (j, right)] {
                    let Some(side) = side else { continue };
                    for r in 0..PAIRS.min(n - from) {
                        let sums = &mut sums[(from + r) * (q + 1)..];
                        sums[0] += side.total[r];
                        (0..q).for_each(|k| sums[k + 1] += side.rows[k][r]);
                    }
                }
            }
        }
        value
    }
}

/// A copy laid out by columns.
pub(super) fn by_columns(a: &Array2<f64>) -> Array2<f64> {
    let mut out = Array2::zeros(a.raw_dim().f());
    out.assign(a);
    out
}

/// The cells of an array that is laid out by columns.
fn cells(of: &Array2<f64>) -> &[f64] {
    of.as_slice_memory_order().expect("laid out by columns")
}

fn thin(of: &Array2<f64>, from: usize) -> ThinRows<'_> {
    let cells = cells(of);
    ThinRows { values: &cells[from.min(cells.len())..], stride: of.nrows(), width: of.ncols() }
}

impl ProjectedCriterion for Exact {
    fn value(&self, p: &Array2<f64>, gradient: Option<&mut Array2<f64>>) -> f64 {
        let (n, q) = p.dim();
        let mut sums = vec![0.0; if gradient.is_some() { n * (q + 1) } else { 0 }];
        let value = self.total(&by_columns(p), &mut sums);
        let square = (n * n) as f64;
        if let Some(gradient) = gradient {
            for ((mut gradient, p), sums) in
                gradient.rows_mut().into_iter().zip(p.rows()).zip(sums.chunks_exact(q + 1))
            {
                (0..q).for_each(|k| gradient[k] = 2.0 / square * (sums[0] * p[k] - sums[k + 1]));
            }
        }
        -value / square
    }
}
