//! The norm that drops whole rows of a matrix, with its prox and its ball.
//!
//! $$ \Omega(W) = \sum_j \max_k |w_{jk}| \qquad\qquad \Omega^*(G) = \max_j \sum_k |g_{jk}| $$
//!
//! A row costs what its largest entry costs, so the other entries of a row that is there are free up to that size,
//! and a row is either used or exactly zero. What lies nearest is found by clipping: the prox of $t \Omega$ cuts every
//! row at the height $h$ at which the parts cut off add up to $t$,
//!
//! $$ w_k = \min(\max(v_k, -h), h), \qquad \sum_k \max(|v_k| - h, 0) = t, $$
//!
//! and rows with $\lVert v \rVert_1 \le t$ vanish. By Moreau's identity what is cut off is the projection of the row on
//! the $\ell_1$ ball of radius $t$. The projection on the ball $\Omega(W) \le \tau$ is the prox for the one
//! $t$ whose heights add up to $\tau$. That sum is falling, convex and made of straight pieces in $t$, so Newton's steps from
//! 0 never pass the solution and end on its piece after a few, where it is a formula.
//!
//! Cost: $O(q)$ passes at worst for a row of $q$ entries, two or three as a rule; for the ball $O(d q \log q)$.
//!
//! Reference: Quattoni, Carreras, Collins and Darrell, *An efficient projection for l1,infinity regularization*, 2009;
//! Michelot, *A finite algorithm for finding the projection of a point onto the canonical simplex*, 1986.

use ndarray::Array2;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Rows that one task sorts.
const ROWS: usize = 1024;

/// $\Omega(W) = \sum_j \max_k |w_{jk}|$
pub fn row_norm(w: &Array2<f64>) -> f64 {
    w.rows().into_iter().map(|row| row.iter().fold(0.0_f64, |a, v| a.max(v.abs()))).sum()
}

/// The dual of [`row_norm`], $\max_j \sum_k |g_{jk}|$: the least penalty at which zero is optimal where `g` is the
/// gradient.
pub fn dual_row_norm(g: &Array2<f64>) -> f64 {
    g.rows().into_iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max)
}

/// The height $h \ge 0$ with $\sum_k \max(|v_k| - h, 0) = t$; 0 if $\lVert v \rVert_1 \le t$.
pub(crate) fn clip_height(v: &[f64], t: f64) -> f64 {
    let sum: f64 = v.iter().map(|v| v.abs()).sum();
    if sum <= t {
        return 0.0;
    }
    // Newton's steps from the left: every entry above the height counts, and fewer do each time.
    let (mut height, mut count) = ((sum - t) / v.len() as f64, v.len());
    loop {
        let (mut above, mut still) = (0.0, 0);
        for a in v.iter().map(|v| v.abs()).filter(|&a| a > height) {
            above += a;
            still += 1;
        }
        // Where entries are equal to rounding the height may come down a little, and as many count again.
        if still >= count || still == 0 {
            return height.max(0.0);
        }
        (height, count) = ((above - t) / still as f64, still);
    }
}

/// Puts in place of `v` the nearest vector with $\lVert v \rVert_1 \le r$, $r \ge 0$.
pub fn project_l1(v: &mut [f64], radius: f64) {
    if v.iter().map(|v| v.abs()).sum::<f64>() <= radius {
        return;
    }
    let height = clip_height(v, radius);
    v.iter_mut().for_each(|v| *v = (v.abs() - height).max(0.0).copysign(*v));
}

/// The prox of $t \lVert \cdot \rVert_\infty$, $t \ge 0$, in place. The row becomes exactly zero if and only if
/// $\lVert v \rVert_1 \le t$.
pub fn prox_row(v: &mut [f64], t: f64) {
    let height = clip_height(v, t);
    clip(v, height);
}

/// The prox of $t \Omega$, $t \ge 0$, in place: every row on its own.
pub fn prox_rows(w: &mut Array2<f64>, t: f64) {
    for mut row in w.rows_mut() {
        match row.as_slice_mut() {
            Some(row) => prox_row(row, t),
            None => {
                let mut copy = row.to_vec();
                prox_row(&mut copy, t);
                row.iter_mut().zip(copy).for_each(|(to, from)| *to = from);
            }
        }
    }
}

/// Puts in place of `w` the nearest matrix with $\Omega \le \tau$, $\tau \ge 0$. Where that is not `w` itself,
/// $\Omega = \tau$ up to rounding.
pub fn project_rows(w: &mut Array2<f64>, tau: f64) {
    if row_norm(w) <= tau {
        return;
    }
    if tau <= 0.0 {
        w.fill(0.0);
        return;
    }
    let heights = Heights::new(w).adding_up_to(tau);
    for (mut row, height) in w.rows_mut().into_iter().zip(heights) {
        row.iter_mut().for_each(|v| *v = cut(*v, height));
    }
}

fn clip(v: &mut [f64], height: f64) {
    v.iter_mut().for_each(|v| *v = cut(*v, height));
}

/// `v` cut to the height; a zero has no sign.
fn cut(v: f64, height: f64) -> f64 {
    if height == 0.0 { 0.0 } else { v.clamp(-height, height) }
}

/// The heights of all rows as functions of what is cut off each.
struct Heights {
    q: usize,
    /// Sizes of each row's entries, largest first.
    sizes: Vec<f64>,
}

impl Heights {
    fn new(w: &Array2<f64>) -> Self {
        let q = w.ncols();
        let mut sizes: Vec<f64> = w.iter().map(|v| v.abs()).collect();
        sizes.par_chunks_mut(q * ROWS).for_each(|rows| {
            // Numbers that are not negative are in the order of their bits.
            rows.chunks_exact_mut(q).for_each(|row| row.sort_unstable_by_key(|a| Reverse(a.to_bits())));
        });
        Self { q, sizes }
    }

    /// The height of each row when the same amount is cut off all, for the amount at which they add up to `tau`,
    /// which is less than they do uncut.
    fn adding_up_to(&self, tau: f64) -> Vec<f64> {
        let rows: Vec<&[f64]> = self.sizes.chunks_exact(self.q).collect();
        // Of each row that is not cut away: its place, how many entries stand above the height, and their sum.
        let mut alive: Vec<(usize, usize, f64)> =
            rows.iter().enumerate().filter(|(_, r)| r[0] > 0.0).map(|(j, r)| (j, 1, r[0])).collect();
        let mut cut_off = 0.0;
        loop {
            let (mut level, mut slope) = (0.0, 0.0);
            alive.iter().for_each(|&(_, k, sum)| {
                level += sum / k as f64;
                slope += 1.0 / k as f64;
            });
            let next = (level - tau) / slope;
            let mut changed = false;
            alive.retain_mut(|(j, k, sum)| {
                let row = rows[*j];
                while *k < self.q && (*sum - next) / (*k as f64) < row[*k] {
                    *sum += row[*k];
                    *k += 1;
                    changed = true;
                }
                let stays = *sum > next;
                changed |= !stays;
                stays
            });
            // A step that moves nothing can only be rounding.
            let done = !changed || next <= cut_off || next.is_nan();
            cut_off = next;
            if done || alive.is_empty() {
                break;
            }
        }
        let mut heights = vec![0.0; rows.len()];
        alive.iter().for_each(|&(j, k, sum)| heights[j] = ((sum - cut_off) / k as f64).max(0.0));
        heights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Entries that are equal to rounding once had the search go to and fro for ever.
    #[test]
    fn heights_of_nearly_equal_entries_are_found() {
        let mut rng = crate::random::Rng::new(2);
        for _ in 0..5000 {
            let size = 10f64.powi(rng.below(30) as i32 - 15);
            let n = 2 + rng.below(12);
            let v: Vec<f64> = (0..n).map(|_| size * (1.0 + rng.below(4) as f64 * f64::EPSILON)).collect();
            let sum: f64 = v.iter().sum();
            let t = sum * rng.uniform() * 10f64.powi(-(rng.below(18) as i32));
            let height = clip_height(&v, t);
            let left: f64 = v.iter().map(|v| (v - height).max(0.0)).sum();
            // Differences of numbers of that size have no more digits.
            assert!((left - t).abs() <= 8.0 * f64::EPSILON * sum, "{v:?} {t} {height}");
        }
    }

    #[test]
    fn norms_by_hand() {
        let w = array![[1.0, -3.0], [0.0, 0.0], [2.0, 2.0]];
        assert_eq!((row_norm(&w), dual_row_norm(&w)), (5.0, 4.0));
    }

    #[test]
    fn rows_by_hand() {
        let with = |t: f64| {
            let mut v = [4.0, -2.0, 1.0];
            prox_row(&mut v, t);
            v
        };
        // 1 off the largest; 2 more off the two largest; 2 more are 2/3 off all three.
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
        let mut nothing: [f64; 0] = [];
        prox_row(&mut nothing, 1.0);
    }

    #[test]
    fn the_ball_by_hand() {
        // Cutting 1 off each row leaves heights 3 and 1 (its two entries are 1.5 each); the last row has nothing.
        let mut w = array![[4.0, 0.0], [1.5, -1.5], [0.0, 0.0]];
        project_rows(&mut w, 4.0);
        assert_eq!(w, array![[3.0, 0.0], [1.0, -1.0], [0.0, 0.0]]);
        // Cutting 3 off each leaves nothing of the second.
        let mut w = array![[4.0, 0.0], [1.5, -1.5]];
        project_rows(&mut w, 1.0);
        assert_eq!(w, array![[1.0, 0.0], [0.0, 0.0]]);
        project_rows(&mut w, 0.0);
        assert_eq!(w, array![[0.0, 0.0], [0.0, 0.0]]);
    }
}
