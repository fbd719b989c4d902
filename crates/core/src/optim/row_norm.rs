//! The l1/l-infinity norm of a matrix, which makes rows zero, with its proximal operator and projection.
//!
//! $$ \Omega(W) = \sum_j \max_k |w_{jk}| \qquad\qquad \Omega^*(G) = \max_j \sum_k |g_{jk}| $$
//!
//! Here $j$ is a feature and $k$ counts the entries of its row of $W$. A feature of several columns ([`Groups`]) has a block of
//! adjacent rows, all entries of which count as one row: in a row-major matrix that is a slice.
//!
//! Only the largest entry of a row is penalized, so the other entries of a nonzero row are free up to that size, and a row is
//! either nonzero or exactly zero. The proximal operator clips: the prox of $t \Omega$ clips every row at the height $h$ at which
//! the clipped parts sum to $t$,
//!
//! $$ w_k = \min(\max(v_k, -h), h), \qquad \sum_k \max(|v_k| - h, 0) = t, $$
//!
//! and rows with $\lVert v \rVert_1 \le t$ become zero. By Moreau's identity the clipped part is the projection of the row on the
//! $\ell_1$ ball of radius $t$. The projection on the ball $\Omega(W) \le \tau$ is the prox with the $t$ for which the heights sum to
//! $\tau$. That sum is decreasing, convex and piecewise linear in $t$, so Newton's method from 0 never passes the solution and ends
//! after a few steps on its piece.
//!
//! Cost: at most $O(q)$ passes for a row of $q$ entries, usually two or three; for the ball $O(d q \log q)$.
//!
//! Reference: Quattoni, Carreras, Collins and Darrell, *An efficient projection for l1,infinity regularization*, 2009;
//! Michelot, *A finite algorithm for finding the projection of a point onto the canonical simplex*, 1986.

use crate::data::Groups;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// Features per sorting task.
const FEATURES_PER_TASK: usize = 1024;

/// $\Omega(W) = \sum_j \max_k |w_{jk}|$ with a row per feature.
pub fn row_norm(w: &Array2<f64>) -> f64 {
    group_norm(&w.as_standard_layout().into_owned(), &Groups::single(w.nrows()))
}

/// $\Omega(W)$ of a row-major matrix: the sum over features of the largest absolute entry.
pub fn group_norm(w: &Array2<f64>, groups: &Groups) -> f64 {
    blocks(w, groups).map(max_abs).sum()
}

/// The dual norm of [`group_norm`], $\max_j \sum_k |g_{jk}|$: the smallest penalty at which zero is optimal if `g` is the
/// gradient at zero.
pub fn dual_group_norm(g: &Array2<f64>, groups: &Groups) -> f64 {
    blocks(g, groups).map(l1_norm).fold(0.0, f64::max)
}

/// The entries of each feature in a row-major matrix.
pub(crate) fn blocks<'a>(w: &'a Array2<f64>, groups: &'a Groups) -> impl Iterator<Item = &'a [f64]> {
    let (q, values) = (w.ncols(), w.as_slice().expect("row-major"));
    groups.iter().map(move |rows| &values[rows.start * q..rows.end * q])
}

/// $\max_k |v_k|$
pub(crate) fn max_abs(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |a: f64, v| a.max(v.abs()))
}

/// $\sum_k |v_k|$
pub(crate) fn l1_norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v.abs()).sum()
}

/// The row with the largest absolute entry of each feature.
pub(crate) fn largest_rows(w: Array2<f64>, groups: &Groups) -> Array2<f64> {
    if groups.is_single() {
        return w;
    }
    let size = |j: usize| w.row(j).iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    // The first of equal rows.
    let largest = |rows: Range<usize>| {
        let first = rows.start;
        rows.fold(first, |best, j| if size(j) > size(best) { j } else { best })
    };
    w.select(Axis(0), &groups.iter().map(largest).collect::<Vec<_>>())
}

/// The height $h \ge 0$ with $\sum_k \max(|v_k| - h, 0) = t$; 0 if $\lVert v \rVert_1 \le t$.
pub(crate) fn clip_height(v: &[f64], t: f64) -> f64 {
    weighted_clip_height(v, |_| 1.0, t)
}

/// The height $h \ge 0$ with $\sum_k c_k \max(|v_k| - h, 0) = t$; 0 if $\sum_k c_k |v_k| \le t$.
fn weighted_clip_height(v: &[f64], c: impl Fn(usize) -> f64, t: f64) -> f64 {
    // The weighted sum of the entries above a height, the sum of their weights, and their number.
    let above = |height: f64| {
        let entries = v.iter().map(|v| v.abs()).enumerate().filter(|(_, a)| *a > height);
        entries.fold((0.0, 0.0, 0), |(sum, weight, n), (k, a)| (sum + c(k) * a, weight + c(k), n + 1))
    };
    let (sum, weight, mut count) = above(f64::NEG_INFINITY);
    if sum <= t {
        return 0.0;
    }
    // Newton's method from below: the number of entries above the height decreases.
    let mut height = (sum - t) / weight;
    loop {
        let (sum, weight, n_above) = above(height);
        // If entries are equal up to rounding, the height can decrease slightly; stop when the count does not decrease.
        if n_above >= count || n_above == 0 {
            return height.max(0.0);
        }
        (height, count) = ((sum - t) / weight, n_above);
    }
}

/// Projects `v` on the ball $\lVert v \rVert_1 \le r$, $r \ge 0$, in place.
pub fn project_l1(v: &mut [f64], radius: f64) {
    if v.iter().map(|v| v.abs()).sum::<f64>() <= radius {
        return;
    }
    let height = clip_height(v, radius);
    v.iter_mut().for_each(|v| *v = (v.abs() - height).max(0.0).copysign(*v));
}

/// The proximal operator of $t \lVert \cdot \rVert_\infty$, $t \ge 0$, in place. All entries become exactly zero if and only if
/// $\lVert v \rVert_1 \le t$.
pub fn prox_group(v: &mut [f64], t: f64) {
    let height = clip_height(v, t);
    clip(v, height);
}

/// Minimizes $\tfrac12 \sum_k c_k (w_k - v_k)^2 + t \max_k |w_k|$, in place: the proximal operator of $t \lVert \cdot
/// \rVert_\infty$ with a curvature $c_k > 0$ for each entry. Entries are those of a block with a curvature per row.
pub fn prox_block(v: &mut [f64], curvature: &[f64], t: f64) {
    if let [curvature] = curvature {
        return prox_group(v, t / curvature);
    }
    let q = v.len() / curvature.len();
    let height = weighted_clip_height(v, |k| curvature[k / q], t);
    clip(v, height);
}

/// The proximal operator of $t \Omega$, $t \ge 0$, in place on a row-major matrix.
pub fn prox_groups(w: &mut Array2<f64>, groups: &Groups, t: f64) {
    for_each_block(w, groups, |_, block| prox_group(block, t));
}

/// Projects a row-major matrix on the ball $\Omega(W) \le \tau$, $\tau \ge 0$, in place. If `w` is outside, the result has
/// $\Omega = \tau$ up to rounding.
pub fn project_groups(w: &mut Array2<f64>, groups: &Groups, tau: f64) {
    if group_norm(w, groups) <= tau {
        return;
    }
    if tau <= 0.0 {
        w.fill(0.0);
        return;
    }
    let heights = SortedBlocks::new(w, groups).heights(tau);
    for_each_block(w, groups, |j, block| clip(block, heights[j]));
}

fn for_each_block(w: &mut Array2<f64>, groups: &Groups, mut work: impl FnMut(usize, &mut [f64])) {
    let (q, values) = (w.ncols(), w.as_slice_mut().expect("row-major"));
    for (j, rows) in groups.iter().enumerate() {
        work(j, &mut values[rows.start * q..rows.end * q]);
    }
}

fn clip(v: &mut [f64], height: f64) {
    v.iter_mut().for_each(|v| *v = clipped(*v, height));
}

/// `v` clipped at the height; avoids negative zeros.
fn clipped(v: f64, height: f64) -> f64 {
    if height == 0.0 { 0.0 } else { v.clamp(-height, height) }
}

/// Absolute values of the entries of each feature, largest first.
struct SortedBlocks<'a> {
    groups: &'a Groups,
    values: Array2<f64>,
}

impl<'a> SortedBlocks<'a> {
    fn new(w: &Array2<f64>, groups: &'a Groups) -> Self {
        let mut values = w.mapv(f64::abs);
        let mut blocks = vec![];
        let mut rest = values.as_slice_mut().expect("row-major");
        for rows in groups.iter() {
            let (block, others) = rest.split_at_mut(rows.len() * w.ncols());
            blocks.push(block);
            rest = others;
        }
        // Non-negative floats have the order of their bits.
        let sort = |block: &mut &mut [f64]| block.sort_unstable_by_key(|a| Reverse(a.to_bits()));
        blocks.par_chunks_mut(FEATURES_PER_TASK).for_each(|blocks| blocks.iter_mut().for_each(sort));
        Self { groups, values }
    }

    /// The heights of all features when the same total `t` is clipped from each, for the `t` at which the heights sum to `tau`.
    /// Requires that `tau` is less than the sum of the largest entries.
    fn heights(&self, tau: f64) -> Vec<f64> {
        let rows: Vec<&[f64]> = blocks(&self.values, self.groups).collect();
        // For each nonzero feature: its index, the number of entries above its height, and their sum.
        let mut nonzero: Vec<(usize, usize, f64)> =
            rows.iter().enumerate().filter(|(_, r)| r[0] > 0.0).map(|(j, r)| (j, 1, r[0])).collect();
        let mut t = 0.0;
        loop {
            let (mut level, mut slope) = (0.0, 0.0);
            nonzero.iter().for_each(|&(_, k, sum)| {
                level += sum / k as f64;
                slope += 1.0 / k as f64;
            });
            let next = (level - tau) / slope;
            let mut changed = false;
            nonzero.retain_mut(|(j, k, sum)| {
                let row = rows[*j];
                while *k < row.len() && (*sum - next) / (*k as f64) < row[*k] {
                    *sum += row[*k];
                    *k += 1;
                    changed = true;
                }
                let stays = *sum > next;
                changed |= !stays;
                stays
            });
            // Only rounding can prevent progress.
            let done = !changed || next <= t || next.is_nan();
            t = next;
            if done || nonzero.is_empty() {
                break;
            }
        }
        let mut heights = vec![0.0; rows.len()];
        nonzero.iter().for_each(|&(j, k, sum)| heights[j] = ((sum - t) / k as f64).max(0.0));
        heights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Regression test: entries that are equal up to rounding caused an infinite loop.
    #[test]
    fn clip_height_of_nearly_equal_entries() {
        let mut rng = crate::random::Rng::new(2);
        for _ in 0..5000 {
            let size = 10f64.powi(rng.below(30) as i32 - 15);
            let n = 2 + rng.below(12);
            let v: Vec<f64> = (0..n).map(|_| size * (1.0 + rng.below(4) as f64 * f64::EPSILON)).collect();
            let sum: f64 = v.iter().sum();
            let t = sum * rng.uniform() * 10f64.powi(-(rng.below(18) as i32));
            let height = clip_height(&v, t);
            let clipped: f64 = v.iter().map(|v| (v - height).max(0.0)).sum();
            // Rounding error of differences of numbers of that size.
            assert!((clipped - t).abs() <= 8.0 * f64::EPSILON * sum, "{v:?} {t} {height}");
        }
    }

    #[test]
    fn norms_match_hand_computed_values() {
        let w = array![[1.0, -3.0], [0.0, 0.0], [2.0, 2.0]];
        let rows = Groups::single(3);
        assert_eq!((row_norm(&w), dual_group_norm(&w, &rows)), (5.0, 4.0));
        // The first two rows are one feature, or the last two.
        let (first, last) = (Groups::of_sizes([2, 1]), Groups::of_sizes([1, 2]));
        assert_eq!((group_norm(&w, &first), dual_group_norm(&w, &first)), (5.0, 4.0));
        assert_eq!((group_norm(&w, &last), dual_group_norm(&w, &last)), (5.0, 4.0));
        let all = Groups::of_sizes([3]);
        assert_eq!((group_norm(&w, &all), dual_group_norm(&w, &all)), (3.0, 8.0));
        assert_eq!(largest_rows(w.clone(), &last), array![[1.0, -3.0], [2.0, 2.0]]);
        assert_eq!(largest_rows(w.clone(), &rows), w);
    }

    #[test]
    fn proximal_operators_match_hand_computed_values() {
        let with = |t: f64| {
            let mut v = [4.0, -2.0, 1.0];
            prox_group(&mut v, t);
            v
        };
        // t = 1 reduces the largest; t = 4 also the second; t = 5.5 all three.
        assert_eq!(with(0.0), [4.0, -2.0, 1.0]);
        assert_eq!(with(1.0), [3.0, -2.0, 1.0]);
        assert_eq!(with(4.0), [1.0, -1.0, 1.0]);
        assert_eq!(with(5.5), [0.5, -0.5, 0.5]);
        assert_eq!(with(7.0), [0.0, 0.0, 0.0]);
        let mut v = [4.0, -2.0, 1.0];
        project_l1(&mut v, 4.0);
        assert_eq!(v, [3.0, -1.0, 0.0]);
        project_l1(&mut v, 0.0);
        assert_eq!(v.map(f64::abs), [0.0; 3]);
        let mut empty: [f64; 0] = [];
        prox_group(&mut empty, 1.0);
        // A block of two rows with the curvatures 1 and 3: clipping at 1.5 costs 1 (2.5 + 0.5) + 3 (0.5 + 0).
        let mut v = [4.0, -2.0, 2.0, 1.0];
        prox_block(&mut v, &[1.0, 3.0], 4.5);
        assert_eq!(v, [1.5, -1.5, 1.5, 1.0]);
        prox_block(&mut v, &[1.0, 3.0], 10.5);
        assert_eq!(v, [0.0; 4]);
        let mut v = [4.0, -2.0];
        prox_block(&mut v, &[2.0], 2.0);
        assert_eq!(v, [3.0, -2.0]);
    }

    #[test]
    fn projections_match_hand_computed_values() {
        let rows = Groups::single;
        // Clipping a total of 1 from each row gives heights 3 and 1 (two entries of 1.5); the last row is zero.
        let mut w = array![[4.0, 0.0], [1.5, -1.5], [0.0, 0.0]];
        project_groups(&mut w, &rows(3), 4.0);
        assert_eq!(w, array![[3.0, 0.0], [1.0, -1.0], [0.0, 0.0]]);
        // Clipping a total of 3 makes the second row zero.
        let mut w = array![[4.0, 0.0], [1.5, -1.5]];
        project_groups(&mut w, &rows(2), 1.0);
        assert_eq!(w, array![[1.0, 0.0], [0.0, 0.0]]);
        project_groups(&mut w, &rows(2), 0.0);
        assert_eq!(w, array![[0.0, 0.0], [0.0, 0.0]]);
        // The same entries as two features, of two rows and of one: clipping a total of 1 from each.
        let mut w = array![[1.5], [-1.5], [4.0]];
        project_groups(&mut w, &Groups::of_sizes([2, 1]), 4.0);
        assert_eq!(w, array![[1.0], [-1.0], [3.0]]);
        prox_groups(&mut w, &Groups::of_sizes([2, 1]), 2.0);
        assert_eq!(w, array![[0.0], [0.0], [1.0]]);
    }
}
