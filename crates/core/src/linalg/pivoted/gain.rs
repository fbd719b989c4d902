//! Pivots that most reduce the trace of the residual.
//!
//! With the residual matrix $R$, row $i$ as the next pivot reduces the trace of $R$ by
//!
//! $$ g_i = \frac{1}{R_{ii}} \sum_j R_{ij}^2 $$
//!
//! Exact gains need all of $R$. Here $s$ rows are sampled with probabilities proportional to their residuals. They are both the
//! candidates and the rows on which gains are estimated: sampled row $j$ represents $w_j = \max(1, T / (s \delta_j))$ rows, with $T$
//! the sum of all residuals. The contribution of a candidate to itself is counted once, because the rows it represents differ in
//! their part of $R$ that is not shared:
//!
//! $$ \hat g_i = R_{ii} + \frac{1}{R_{ii}} \sum_{j \ne i} w_j R_{ij}^2 $$
//!
//! When a quarter of the sample are pivots, a new sample is drawn. If all rows fit in the sample, the gains are exact.
//!
//! All gains are computed once for every 32 pivots. Then the row with the largest gain in each of 128 random groups becomes a
//! finalist, and the gains of the finalists are updated after each pivot. Taking the rows with the largest gains overall would be
//! no better: in clustered data they all belong to one cluster, which the first pivot already represents.
//!
//! References: Smola and Schölkopf, *Sparse greedy matrix approximation for machine learning*, ICML 2000 (candidates from a
//! sample); Farahat, Ghodsi and Kamel, *A novel greedy algorithm for Nyström approximation*, AISTATS 2011 (the gain).

use super::super::product::add_product;
use crate::random::Rng;
use crate::simd::{add_scaled_and_square, dot};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

/// Number of rows in a sample.
const SAMPLE_SIZE: usize = 1024;
/// Groups of sampled rows; the row with the largest gain in each is a finalist.
const GROUPS: usize = 128;
/// Number of pivots after which all gains are recomputed.
const ROUND: usize = 32;
/// Rows per task when all gains are computed.
const ROWS_PER_TASK: usize = 128;
/// Finalists per task when gains are updated.
const FINALISTS_PER_TASK: usize = 16;

/// A sample of rows and their residual matrix.
pub(super) struct Sample {
    rows: Vec<usize>,
    /// $R_{ij} \sqrt{w_j}$, row-major, before `steps`.
    block: Vec<f64>,
    /// $\sqrt{w_j}$
    roots: Vec<f64>,
    /// $R_{ii}$, after `steps`.
    residual: Vec<f64>,
    /// Gains before `steps`; minus infinity for pivots.
    gains: Vec<f64>,
    /// The rows of the last pivots over $\sqrt{R_{pp}}$, in the columns of `block`.
    steps: Vec<f64>,
    n_pivots: usize,
}

impl Sample {
    /// Memory in bytes for a matrix of `n` rows.
    pub(super) fn bytes(n: usize) -> f64 {
        let s = Self::size(n) as f64;
        8.0 * s * (s + GROUPS as f64 + ROUND as f64)
    }

    /// Number of rows in a sample of `n` rows.
    pub(super) fn size(n: usize) -> usize {
        SAMPLE_SIZE.min(n)
    }

    /// A sample of `rows` with their diagonal and residual matrix `matrix`.
    pub(super) fn new(rows: Vec<usize>, weights: &[f64], residual: Vec<f64>, matrix: Array2<f64>) -> Self {
        let s = rows.len();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let (mut block, _) = matrix.into_raw_vec_and_offset();
        let gains = block
            .par_chunks_mut(s)
            .enumerate()
            .map(|(i, row)| {
                row.iter_mut().zip(&roots).for_each(|(r, root)| *r *= root);
                gain(dot(row, row), residual[i], roots[i])
            })
            .collect();
        Self { rows, block, roots, residual, gains, steps: vec![], n_pivots: 0 }
    }

    /// The next pivots, at most `max`; none if a new sample is needed. Rows with a residual of at most `zero` are no pivots.
    pub(super) fn next_pivots(&mut self, max: usize, zero: f64) -> Vec<usize> {
        let mut planned = vec![];
        while planned.len() < max {
            let more = self.next_round(ROUND.min(max - planned.len()), zero);
            if more.is_empty() {
                break;
            }
            planned.extend(more);
        }
        planned
    }

    /// The next pivots of one round.
    fn next_round(&mut self, max: usize, zero: f64) -> Vec<usize> {
        let s = self.rows.len();
        let max = max.min(s.div_ceil(4) - self.n_pivots);
        if max == 0 {
            return vec![];
        }
        self.update_gains();
        let finalists = self.finalists();
        let mut gains: Vec<f64> = finalists.iter().map(|&i| self.gains[i]).collect();
        let mut block = Vec::with_capacity(finalists.len() * s);
        finalists.iter().for_each(|&i| block.extend_from_slice(&self.block[i * s..(i + 1) * s]));
        let mut planned = vec![];
        while planned.len() < max {
            let (best, gain_of_best) = first_largest(&gains);
            if gain_of_best == f64::NEG_INFINITY {
                break;
            }
            let row = finalists[best];
            if self.residual[row] > zero {
                planned.push(self.rows[row]);
                self.add_pivot(row, &block[best * s..(best + 1) * s]);
                self.update_finalists(&finalists, &mut block, &mut gains);
            }
            gains[best] = f64::NEG_INFINITY;
            self.gains[row] = f64::NEG_INFINITY;
        }
        planned
    }

    /// The row with the largest gain in each group. Rows are in random order, so groups are random.
    fn finalists(&self) -> Vec<usize> {
        let leader = |group: usize| {
            let members = (group..self.rows.len()).step_by(GROUPS);
            members.reduce(|a, b| if self.gains[b] > self.gains[a] { b } else { a })
        };
        let leaders = (0..GROUPS).filter_map(leader);
        leaders.filter(|&i| self.gains[i] > f64::NEG_INFINITY).collect()
    }

    /// Applies the steps to the block and recomputes all gains.
    fn update_gains(&mut self) {
        let s = self.rows.len();
        let steps = ArrayView2::from_shape((self.steps.len() / s, s), &self.steps).expect("a row per step");
        if steps.is_empty() {
            return;
        }
        let (residual, roots) = (&self.residual, &self.roots);
        let update = |(task, (rows, gains)): (usize, (&mut [f64], &mut [f64]))| {
            let from = task * ROWS_PER_TASK;
            let factors = Array2::from_shape_fn((gains.len(), steps.nrows()), |(i, t)| {
                steps[[t, from + i]] / roots[from + i]
            });
            let mut block =
                ArrayViewMut2::from_shape((gains.len(), s), &mut *rows).expect("s values per row");
            add_product(-1.0, factors.view(), steps, block.view_mut());
            for ((i, row), old) in rows.chunks(s).enumerate().zip(gains) {
                if *old > f64::NEG_INFINITY {
                    *old = gain(dot(row, row), residual[from + i], roots[from + i]);
                }
            }
        };
        let tasks =
            self.block.par_chunks_mut(ROWS_PER_TASK * s).zip(self.gains.par_chunks_mut(ROWS_PER_TASK));
        tasks.enumerate().for_each(update);
        self.steps.clear();
    }

    /// Makes a pivot of row `p`; `row` are its current values in the block.
    fn add_pivot(&mut self, p: usize, row: &[f64]) {
        let norm = self.residual[p].sqrt();
        let from = self.steps.len();
        self.steps.extend(row.iter().map(|r| r / norm));
        for ((residual, v), root) in self.residual.iter_mut().zip(&self.steps[from..]).zip(&self.roots) {
            *residual = (*residual - (v / root).powi(2)).max(0.0);
        }
        self.n_pivots += 1;
    }

    /// Applies the last step to the rows of the finalists and updates their gains.
    fn update_finalists(&self, finalists: &[usize], block: &mut [f64], gains: &mut [f64]) {
        let s = self.rows.len();
        let step = &self.steps[self.steps.len() - s..];
        let update = |(rows, (gains, finalists)): (&mut [f64], (&mut [f64], &[usize]))| {
            for ((row, old), &i) in rows.chunks_mut(s).zip(gains).zip(finalists) {
                if *old > f64::NEG_INFINITY {
                    let squares = add_scaled_and_square(row, -step[i] / self.roots[i], step);
                    *old = gain(squares, self.residual[i], self.roots[i]);
                }
            }
        };
        let tasks = gains.par_chunks_mut(FINALISTS_PER_TASK).zip(finalists.par_chunks(FINALISTS_PER_TASK));
        block.par_chunks_mut(FINALISTS_PER_TASK * s).zip(tasks).for_each(update);
    }
}

/// $\hat g_i$ from the sum of squares of a row of the block.
fn gain(squares: f64, residual: f64, root: f64) -> f64 {
    if residual > 0.0 { squares / residual + (1.0 - root * root) * residual } else { f64::NEG_INFINITY }
}

/// The index of the first largest entry, and the entry. An empty slice gives `(0, -inf)`.
pub(super) fn first_largest(values: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, &v) in values.iter().enumerate() {
        if v > best.1 {
            best = (i, v);
        }
    }
    best
}

/// Rows sampled without replacement with probabilities proportional to their residuals, and the number of rows each represents.
pub(super) fn draw_rows(residual: &[f64], zero: f64, rng: &mut Rng) -> (Vec<usize>, Vec<f64>) {
    // Take the smallest exponential waiting times, with residuals as rates.
    let mut waits: Vec<(f64, usize)> = residual
        .iter()
        .enumerate()
        .filter(|&(_, &r)| r > zero)
        .map(|(i, &r)| (-(1.0 - rng.uniform()).ln() / r, i))
        .collect();
    let sooner = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    let all = waits.len() <= SAMPLE_SIZE;
    if !all {
        waits.select_nth_unstable_by(SAMPLE_SIZE, sooner);
        waits.truncate(SAMPLE_SIZE);
    }
    waits.sort_unstable_by(sooner);
    let mean = residual.iter().sum::<f64>() / SAMPLE_SIZE as f64;
    let weight = |&(_, i): &(f64, usize)| if all { 1.0 } else { (mean / residual[i]).max(1.0) };
    (waits.iter().map(|w| w.1).collect(), waits.iter().map(weight).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{factor, random_psd, rule};
    use super::super::{Pivoting, Rule};
    use super::*;

    /// For each pivot the ratio of its gain to the largest gain, from the full residual matrix.
    fn relative_gains(k: &Array2<f64>, pivots: &[usize]) -> Vec<f64> {
        let mut residual = k.clone();
        let relative = |&p: &usize| {
            let gain = |i: usize| residual.row(i).iter().map(|v| v * v).sum::<f64>() / residual[[i, i]];
            // Residuals of pivots are rounding error.
            let largest = (0..k.nrows()).filter(|&i| residual[[i, i]] > 1e-9).map(gain).fold(0.0, f64::max);
            let relative = gain(p) / largest;
            let column = residual.column(p).mapv(|v| v / residual[[p, p]].sqrt());
            for ((i, j), v) in residual.indexed_iter_mut() {
                *v -= column[i] * column[j];
            }
            relative
        };
        pivots.iter().map(relative).collect()
    }

    #[test]
    fn gains_match_hand_computed_values() {
        // Row 0: (4 + 1) / 2; row 1: (1 + 9 + 4) / 3; row 2: (4 + 4) / 2. After pivot 1 the residuals of the others are
        // 2 - 1/3 and 2 - 4/3 with -2/3 off the diagonal: gains (25/9 + 4/9) / (5/3) and (4/9 + 4/9) / (2/3).
        let k = ndarray::array![[2.0, 1.0, 0.0], [1.0, 3.0, 2.0], [0.0, 2.0, 2.0]];
        assert_eq!(factor(&k, &rule(Pivoting::Gain)).pivots, [1, 0, 2]);
    }

    #[test]
    fn pivots_have_the_largest_gains() {
        // Miri is too slow for the full sizes.
        let all = &[(40, 40, 1), (GROUPS, 60, 2), (500, 200, 4)];
        let cases = if cfg!(miri) { &[(16, 8, 1)][..] } else { all };
        for &(n, rank, seed) in cases {
            let k = random_psd(n, rank, seed);
            let f = factor(&k, &Rule { max_rank: rank * 3 / 4, ..rule(Pivoting::Gain) });
            for (at, relative) in relative_gains(&k, &f.pivots).into_iter().enumerate() {
                // Exact up to rounding if all rows are finalists, and for the first pivot of a round. Otherwise the best
                // finalist is chosen; gains of these matrices differ by less than a half.
                let exact = n <= GROUPS || at % ROUND == 0;
                assert!(
                    relative > if exact { 1.0 - 1e-9 } else { 0.8 },
                    "{n} rows of rank {rank}, pivot {at}: {relative}"
                );
            }
        }
    }

    #[test]
    fn sample_weights_are_inverse_sampling_probabilities() {
        // One residual is a twentieth of the total: it is sampled almost surely and represents only itself.
        let mut residual = vec![1.0; 2 * SAMPLE_SIZE];
        residual[7] = 0.1 * SAMPLE_SIZE as f64;
        residual[8] = 0.0;
        let (rows, weights) = draw_rows(&residual, 0.0, &mut Rng::new(3));
        assert_eq!(rows.len(), SAMPLE_SIZE);
        let distinct: std::collections::HashSet<_> = rows.iter().collect();
        assert!(distinct.len() == SAMPLE_SIZE && distinct.contains(&7) && !distinct.contains(&8));
        let position = rows.iter().position(|&r| r == 7).unwrap();
        assert_eq!(weights[position], 1.0);
        // Each of the others represents the sum of residuals over the sample size.
        let others = residual.iter().sum::<f64>() / SAMPLE_SIZE as f64;
        assert!(weights.iter().enumerate().all(|(i, &w)| i == position || w == others));
        let (mut rows, weights) = draw_rows(&[2.0, 0.0, 1.0], 0.0, &mut Rng::new(3));
        rows.sort_unstable();
        assert_eq!((rows, weights), (vec![0, 2], vec![1.0, 1.0]));
    }

    #[test]
    fn the_contribution_of_a_row_to_itself_is_counted_once() {
        // Two rows of weight 3: 4 + 3 * 1 / 4 and 9 + 3 * 1 / 9.
        let block = ndarray::array![[4.0, 1.0], [1.0, 9.0]];
        let sample = Sample::new(vec![0, 1], &[3.0, 3.0], vec![4.0, 9.0], block);
        // The square root of 3 is rounded.
        assert!(
            (sample.gains[0] - 4.75).abs() < 1e-14 && (sample.gains[1] - (9.0 + 1.0 / 3.0)).abs() < 1e-14
        );
    }
}
