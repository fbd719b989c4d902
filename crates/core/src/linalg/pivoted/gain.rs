//! Pivots that explain most of what is left.
//!
//! With $R$ what is left of the matrix, row $i$ as the next pivot takes
//!
//! $$ g_i = \frac{1}{R_{ii}} \sum_j R_{ij}^2 $$
//!
//! off the trace of $R$. All $g_i$ together need the whole of $R$. Here some rows are drawn in proportion to their
//! residuals, and are candidates and judges at once: judge $j$ stands for $w_j = \max(1, T / (s \delta_j))$ rows, $T$ being the
//! sum of all residuals and $s$ the number of rows drawn. What a candidate does for itself counts once: the rows
//! that it stands for have another part of $R$ to themselves:
//!
//! $$ \hat g_i = R_{ii} + \frac{1}{R_{ii}} \sum_{j \ne i} w_j R_{ij}^2 $$
//!
//! When a quarter of the drawn rows are pivots, others are drawn. If there are no more rows than are drawn, the gains are
//! exact.
//!
//! All gains are measured once for every 32 pivots. Random groups of rows then send their best to contend, and the gains
//! of these are followed step by step. The best of all rows would be no better a choice: where data form clusters, they are all
//! of one cluster, and the first pivot speaks for them all. Up to 128 rows all contend.
//!
//! References: Smola and Schölkopf, *Sparse greedy matrix approximation for machine learning*, ICML 2000 (candidates from a
//! sample); Farahat, Ghodsi and Kamel, *A novel greedy algorithm for Nyström approximation*, AISTATS 2011 (the gain).

use super::super::product::add_product;
use super::{Run, first_largest};
use crate::random::Rng;
use crate::simd::{add_scaled_and_square, dot};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

/// Rows drawn together.
const DRAWN: usize = 1024;
/// Groups of drawn rows, each of which sends its row of most gain to contend in a round.
const GROUPS: usize = 128;
/// Pivots after which all gains are measured again.
const ROUND: usize = 32;
/// Rows whose gains one task measures.
const TASK: usize = 128;
/// Contenders that one task follows.
const SHARE: usize = 16;

/// Rows that were drawn, and what is left of the matrix among them.
pub(super) struct Drawn {
    rows: Vec<usize>,
    /// $R_{ij} \sqrt{w_j}$ by rows, before `steps`.
    block: Vec<f64>,
    roots: Vec<f64>,
    /// $R_{ii}$, after `steps`.
    left: Vec<f64>,
    /// Gains before `steps`; those of pivots are below all others.
    gains: Vec<f64>,
    /// The rows of the last pivots over $\sqrt{R_{pp}}$, in the columns of `block`.
    steps: Vec<f64>,
    taken: usize,
}

impl Drawn {
    /// Bytes it takes for a matrix of `n` rows.
    pub(super) fn bytes(n: usize) -> f64 {
        let s = Self::count(n) as f64;
        8.0 * s * (s + GROUPS as f64 + ROUND as f64)
    }

    /// How many are drawn of `n`.
    pub(super) fn count(n: usize) -> usize {
        DRAWN.min(n)
    }

    fn new(rows: Vec<usize>, weights: &[f64], left: Vec<f64>, residual: Array2<f64>) -> Self {
        let s = rows.len();
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let (mut block, _) = residual.into_raw_vec_and_offset();
        let gains = block
            .par_chunks_mut(s)
            .enumerate()
            .map(|(i, row)| {
                row.iter_mut().zip(&roots).for_each(|(r, root)| *r *= root);
                gain(dot(row, row), left[i], roots[i])
            })
            .collect();
        Self { rows, block, roots, left, gains, steps: vec![], taken: 0 }
    }

    /// The next pivots, at most `room`; none when others should be drawn. Rows with `zero` or less left are no pivots.
    fn plans(&mut self, room: usize, zero: f64) -> Vec<usize> {
        let mut planned = vec![];
        while planned.len() < room {
            let more = self.plan(ROUND.min(room - planned.len()), zero);
            if more.is_empty() {
                break;
            }
            planned.extend(more);
        }
        planned
    }

    /// The next pivots of one round.
    fn plan(&mut self, room: usize, zero: f64) -> Vec<usize> {
        let s = self.rows.len();
        let room = room.min(s.div_ceil(4) - self.taken);
        if room == 0 {
            return vec![];
        }
        self.measure();
        let contenders = self.contenders();
        let mut gains: Vec<f64> = contenders.iter().map(|&i| self.gains[i]).collect();
        let mut block = Vec::with_capacity(contenders.len() * s);
        contenders.iter().for_each(|&i| block.extend_from_slice(&self.block[i * s..(i + 1) * s]));
        let mut planned = vec![];
        while planned.len() < room {
            let (best, gain_of_best) = first_largest(&gains);
            if gain_of_best == f64::NEG_INFINITY {
                break;
            }
            let row = contenders[best];
            if self.left[row] > zero {
                planned.push(self.rows[row]);
                self.take(row, &block[best * s..(best + 1) * s]);
                self.follow(&contenders, &mut block, &mut gains);
            }
            gains[best] = f64::NEG_INFINITY;
            self.gains[row] = f64::NEG_INFINITY;
        }
        planned
    }

    /// The row of most gain of each group. Rows come in a random order, so that groups are random.
    fn contenders(&self) -> Vec<usize> {
        let leader = |group: usize| {
            let members = (group..self.rows.len()).step_by(GROUPS);
            members.reduce(|a, b| if self.gains[b] > self.gains[a] { b } else { a })
        };
        let leaders = (0..GROUPS).filter_map(leader);
        leaders.filter(|&i| self.gains[i] > f64::NEG_INFINITY).collect()
    }

    /// Takes the steps out of the block, and measures all gains.
    fn measure(&mut self) {
        let s = self.rows.len();
        let steps = ArrayView2::from_shape((self.steps.len() / s, s), &self.steps).expect("a row per step");
        if steps.is_empty() {
            return;
        }
        let (left, roots) = (&self.left, &self.roots);
        let measure = |(task, (rows, gains)): (usize, (&mut [f64], &mut [f64]))| {
            let from = task * TASK;
            let shares = Array2::from_shape_fn((gains.len(), steps.nrows()), |(i, t)| {
                steps[[t, from + i]] / roots[from + i]
            });
            let mut block = ArrayViewMut2::from_shape((gains.len(), s), &mut *rows).expect("s to a row");
            add_product(-1.0, shares.view(), steps, block.view_mut());
            for ((i, row), known) in rows.chunks(s).enumerate().zip(gains) {
                if *known > f64::NEG_INFINITY {
                    *known = gain(dot(row, row), left[from + i], roots[from + i]);
                }
            }
        };
        let tasks = self.block.par_chunks_mut(TASK * s).zip(self.gains.par_chunks_mut(TASK));
        tasks.enumerate().for_each(measure);
        self.steps.clear();
    }

    /// Makes a pivot of row `p`, which is `row` now.
    fn take(&mut self, p: usize, row: &[f64]) {
        let norm = self.left[p].sqrt();
        let from = self.steps.len();
        self.steps.extend(row.iter().map(|r| r / norm));
        for ((left, v), root) in self.left.iter_mut().zip(&self.steps[from..]).zip(&self.roots) {
            *left = (*left - (v / root).powi(2)).max(0.0);
        }
        self.taken += 1;
    }

    /// Takes the last step out of the contenders' rows.
    fn follow(&self, contenders: &[usize], block: &mut [f64], gains: &mut [f64]) {
        let s = self.rows.len();
        let step = &self.steps[self.steps.len() - s..];
        let follow = |(rows, (gains, places)): (&mut [f64], (&mut [f64], &[usize]))| {
            for ((row, known), &i) in rows.chunks_mut(s).zip(gains).zip(places) {
                if *known > f64::NEG_INFINITY {
                    let squares = add_scaled_and_square(row, -step[i] / self.roots[i], step);
                    *known = gain(squares, self.left[i], self.roots[i]);
                }
            }
        };
        block
            .par_chunks_mut(SHARE * s)
            .zip(gains.par_chunks_mut(SHARE).zip(contenders.par_chunks(SHARE)))
            .for_each(follow);
    }
}

/// $\hat g_i$ from the squares of a row of the block, added up.
fn gain(squares: f64, left: f64, root: f64) -> f64 {
    if left > 0.0 { squares / left + (1.0 - root * root) * left } else { f64::NEG_INFINITY }
}

impl Run<'_> {
    /// Pivots of most gain among the rows drawn last, at least one.
    pub(super) fn most_gain(&mut self, room: usize) -> Vec<usize> {
        let zero = self.zero();
        let planned = self.drawn.as_mut().map_or(vec![], |drawn| drawn.plans(room, zero));
        if !planned.is_empty() {
            return planned;
        }
        // The memory of the last ones goes first.
        self.drawn = None;
        let (rows, weights) = draw_rows(&self.residual, zero, &mut self.rng);
        let left = rows.iter().map(|&i| self.residual[i]).collect();
        let block = self.residual_block(&rows, &self.rows(&rows));
        let drawn = self.drawn.insert(Drawn::new(rows, &weights, left, block));
        let planned = drawn.plans(room, zero);
        // A kernel that is not a number gains nothing; its column will tell where.
        if planned.is_empty() { vec![self.largest_residual().0] } else { planned }
    }
}

/// Rows drawn without replacement in proportion to their residuals, and for how many each stands.
fn draw_rows(residual: &[f64], zero: f64, rng: &mut Rng) -> (Vec<usize>, Vec<f64>) {
    // The least of exponential waiting times, each at the rate of its residual.
    let mut waits: Vec<(f64, usize)> = residual
        .iter()
        .enumerate()
        .filter(|&(_, &r)| r > zero)
        .map(|(i, &r)| (-(1.0 - rng.uniform()).ln() / r, i))
        .collect();
    let sooner = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    let all = waits.len() <= DRAWN;
    if !all {
        waits.select_nth_unstable_by(DRAWN, sooner);
        waits.truncate(DRAWN);
    }
    waits.sort_unstable_by(sooner);
    let share = residual.iter().sum::<f64>() / DRAWN as f64;
    let stands_for = |&(_, i): &(f64, usize)| if all { 1.0 } else { (share / residual[i]).max(1.0) };
    (waits.iter().map(|w| w.1).collect(), waits.iter().map(stands_for).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{factor, random_psd, rule};
    use super::super::{Pivoting, Rule};
    use super::*;

    /// For each pivot its gain over the largest there was, by the formula and with all of what is left in hand.
    fn shares_of_the_largest(k: &Array2<f64>, pivots: &[usize]) -> Vec<f64> {
        let mut left = k.clone();
        let share = |&p: &usize| {
            let gain = |i: usize| left.row(i).iter().map(|v| v * v).sum::<f64>() / left[[i, i]];
            // What is left of pivots is rounding.
            let largest = (0..k.nrows()).filter(|&i| left[[i, i]] > 1e-9).map(gain).fold(0.0, f64::max);
            let share = gain(p) / largest;
            let column = left.column(p).mapv(|v| v / left[[p, p]].sqrt());
            for ((i, j), v) in left.indexed_iter_mut() {
                *v -= column[i] * column[j];
            }
            share
        };
        pivots.iter().map(share).collect()
    }

    #[test]
    fn gains_by_hand() {
        // Row 0: (4 + 1) / 2; row 1: (1 + 9 + 4) / 3; row 2: (4 + 4) / 2. Then what row 1 leaves of the others is
        // 2 - 1/3 and 2 - 4/3 with -2/3 between them: (25/9 + 4/9) / (5/3) against (4/9 + 4/9) / (2/3).
        let k = ndarray::array![[2.0, 1.0, 0.0], [1.0, 3.0, 2.0], [0.0, 2.0, 2.0]];
        assert_eq!(factor(&k, &rule(Pivoting::Gain)).pivots, [1, 0, 2]);
    }

    #[test]
    fn gains_are_the_largest_there_are() {
        // An interpreter takes a minute for a thousand times less.
        let all = &[(40, 40, 1), (GROUPS, 60, 2), (500, 200, 4)];
        let cases = if cfg!(miri) { &[(16, 8, 1)][..] } else { all };
        for &(n, rank, seed) in cases {
            let k = random_psd(n, rank, seed);
            let f = factor(&k, &Rule { max_rank: rank * 3 / 4, ..rule(Pivoting::Gain) });
            for (at, share) in shares_of_the_largest(&k, &f.pivots).into_iter().enumerate() {
                // Up to rounding, where all rows contend. Among more, the best of a few is chosen but for the first of a
                // round; gains of these matrices differ by less than a half.
                let exact = n <= GROUPS || at % ROUND == 0;
                assert!(
                    share > if exact { 1.0 - 1e-9 } else { 0.8 },
                    "{n} rows of rank {rank}, pivot {at}: {share}"
                );
            }
        }
    }

    #[test]
    fn a_row_stands_for_as_many_as_it_is_drawn_for() {
        // One residual that is a twentieth of all: drawn nearly always, and for itself alone.
        let mut residual = vec![1.0; 2 * DRAWN];
        residual[7] = 0.1 * DRAWN as f64;
        residual[8] = 0.0;
        let (rows, weights) = draw_rows(&residual, 0.0, &mut Rng::new(3));
        assert_eq!(rows.len(), DRAWN);
        let distinct: std::collections::HashSet<_> = rows.iter().collect();
        assert!(distinct.len() == DRAWN && distinct.contains(&7) && !distinct.contains(&8));
        let place = rows.iter().position(|&r| r == 7).unwrap();
        assert_eq!(weights[place], 1.0);
        // Each of the others stands for as many as all residuals by the rows drawn.
        let others = residual.iter().sum::<f64>() / DRAWN as f64;
        assert!(weights.iter().enumerate().all(|(i, &w)| i == place || w == others));
        let (mut rows, weights) = draw_rows(&[2.0, 0.0, 1.0], 0.0, &mut Rng::new(3));
        rows.sort_unstable();
        assert_eq!((rows, weights), (vec![0, 2], vec![1.0, 1.0]));
    }

    #[test]
    fn what_a_row_does_for_itself_counts_once() {
        // Two rows that stand for 3 each: 4 + 3 * 1 / 4 and 9 + 3 * 1 / 9.
        let block = ndarray::array![[4.0, 1.0], [1.0, 9.0]];
        let drawn = Drawn::new(vec![0, 1], &[3.0, 3.0], vec![4.0, 9.0], block);
        // Roots of 3 are rounded.
        assert!((drawn.gains[0] - 4.75).abs() < 1e-14 && (drawn.gains[1] - (9.0 + 1.0 / 3.0)).abs() < 1e-14);
    }
}
