//! Selection of the next pivots.

use super::gain::{Sample, draw_rows, first_largest};
use super::run::{BATCH, ROUNDING_DOMINATED, Run};
use super::types::Pivoting;
use crate::error::Result;
use crate::simd::add_scaled;
use ndarray::Array2;

/// Number of candidates for the next greedy pivots.
const CANDIDATES: usize = 128;

impl Run<'_> {
    /// The next pivots, at least one; `None` if no rows remain.
    pub(super) fn plan(&mut self) -> Result<Option<Vec<usize>>> {
        self.report_progress()?;
        // Residuals close to rounding error are checked after every step.
        let rounding_dominated = self.largest_residual().1 < ROUNDING_DOMINATED * self.largest * self.largest;
        let batch = if rounding_dominated { 1 } else { BATCH };
        let max = batch.min(self.rule.max_rank - self.rank());
        if self.rank() == 0
            && let Some(first) = self.rule.first
            && self.residual[first] > self.zero()
        {
            return Ok(Some(vec![first]));
        }
        Ok(match self.rule.pivoting {
            Pivoting::Greedy => Some(self.greedy(max)),
            Pivoting::Random => Some(self.random(max)),
            Pivoting::Gain => Some(self.largest_gains(max)),
            Pivoting::InOrder => self.in_order(max),
        })
    }

    /// Greedy pivots, as many as the rows with the largest residuals determine (up to rounding).
    fn greedy(&self, max: usize) -> Vec<usize> {
        let (mut candidates, bound) = largest_entries(&self.residual, CANDIDATES);
        if max == 1 || candidates.len() == 1 {
            candidates.truncate(1);
            return candidates;
        }
        let mut block = self.residual_block(&candidates, &self.rows(&candidates));
        let mut residual: Vec<f64> = candidates.iter().map(|&i| self.residual[i]).collect();
        let mut planned = vec![];
        while planned.len() < max {
            let (best, squared) = first_largest(&residual);
            if !planned.is_empty() && (squared < bound || squared <= self.zero()) {
                break;
            }
            planned.push(candidates[best]);
            eliminate(&mut block, &mut residual, best);
        }
        planned
    }

    /// Random pivots by rejection sampling: proposals have probabilities proportional to the current residuals. A proposal is
    /// accepted with the probability given by the ratio of its residual after the accepted pivots to its current one.
    fn random(&mut self, max: usize) -> Vec<usize> {
        let total: f64 = self.residual.iter().sum();
        let mut targets: Vec<(f64, usize)> = (0..max).map(|i| (self.rng.uniform() * total, i)).collect();
        let uniforms: Vec<f64> = (0..max).map(|_| self.rng.uniform()).collect();
        targets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut proposals = vec![0; max];
        let (mut row, mut sum) = (0, self.residual[0]);
        for (target, index) in targets {
            while sum <= target && row + 1 < self.n {
                row += 1;
                sum += self.residual[row];
            }
            proposals[index] = row;
        }
        // Rounding of the cumulative sum can select a row with residual zero: discard it.
        proposals.retain(|&row| self.residual[row] > self.zero());
        if proposals.is_empty() {
            return vec![self.largest_residual().0];
        }
        let mut block = self.residual_block(&proposals, &self.rows(&proposals));
        let start: Vec<f64> = proposals.iter().map(|&i| self.residual[i]).collect();
        let mut residual = start.clone();
        let mut accepted = vec![];
        for i in 0..proposals.len() {
            // The first proposal is always accepted.
            if residual[i] > self.zero() && uniforms[i] * start[i] < residual[i] {
                accepted.push(proposals[i]);
                eliminate(&mut block, &mut residual, i);
            }
        }
        accepted
    }

    /// Pivots with the largest gains in the current sample, at least one. Draws a new sample if needed.
    fn largest_gains(&mut self, max: usize) -> Vec<usize> {
        let zero = self.zero();
        let planned = self.sample.as_mut().map_or(vec![], |sample| sample.next_pivots(max, zero));
        if !planned.is_empty() {
            return planned;
        }
        // Free the memory of the old sample first.
        self.sample = None;
        let (rows, weights) = draw_rows(&self.residual, zero, &mut self.rng);
        let residual = rows.iter().map(|&i| self.residual[i]).collect();
        let block = self.residual_block(&rows, &self.rows(&rows));
        let sample = self.sample.insert(Sample::new(rows, &weights, residual, block));
        let planned = sample.next_pivots(max, zero);
        // NaN kernel values give no gains; the check of the column reports the row.
        if planned.is_empty() { vec![self.largest_residual().0] } else { planned }
    }

    /// The next rows in row order.
    fn in_order(&mut self, max: usize) -> Option<Vec<usize>> {
        let mut rows = vec![];
        while rows.len() < max && self.next_in_order < self.n {
            let row = self.next_in_order;
            self.next_in_order += 1;
            if self.residual[row] > self.zero() {
                rows.push(row);
            }
        }
        (!rows.is_empty()).then_some(rows)
    }
}

/// Indices of the `k` largest entries, largest first (ties are broken by index), and the largest of the other entries.
fn largest_entries(values: &[f64], k: usize) -> (Vec<usize>, f64) {
    use std::cmp::{Ordering, Reverse};
    use std::collections::BinaryHeap;

    #[derive(PartialEq)]
    struct Entry(f64, usize);
    impl Eq for Entry {}
    impl PartialOrd for Entry {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Entry {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
        }
    }

    let mut heap: BinaryHeap<Reverse<Entry>> = BinaryHeap::with_capacity(k + 1);
    let mut bound = f64::NEG_INFINITY;
    let mut smallest = f64::NEG_INFINITY;
    for (i, &v) in values.iter().enumerate() {
        if heap.len() < k {
            heap.push(Reverse(Entry(v, i)));
        } else if v > smallest {
            heap.push(Reverse(Entry(v, i)));
            if let Some(Reverse(out)) = heap.pop() {
                bound = bound.max(out.0);
            }
        } else {
            bound = bound.max(v);
            continue;
        }
        if heap.len() == k {
            smallest = heap.peek().map_or(f64::NEG_INFINITY, |Reverse(e)| e.0);
        }
    }
    let entries = heap.into_sorted_vec();
    (entries.into_iter().map(|Reverse(e)| e.1).collect(), bound)
}

/// One step of a dense Cholesky factorization in place: eliminates `pivot` from a small residual matrix and its diagonal.
fn eliminate(block: &mut Array2<f64>, residual: &mut [f64], pivot: usize) {
    let squared = residual[pivot];
    if squared <= 0.0 {
        return;
    }
    let norm = squared.sqrt();
    let column: Vec<f64> = block.column(pivot).iter().map(|v| v / norm).collect();
    for ((row, residual), &factor) in block.rows_mut().into_iter().zip(residual.iter_mut()).zip(&column) {
        add_scaled(row.into_slice().expect("row-major"), -factor, &column);
        *residual = (*residual - factor * factor).max(0.0);
    }
    residual[pivot] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_entries_and_the_bound() {
        let (indices, bound) = largest_entries(&[1.0, 5.0, 3.0, 5.0, 2.0], 3);
        assert_eq!(indices, [1, 3, 2]);
        assert_eq!(bound, 2.0);
        let (indices, bound) = largest_entries(&[1.0, 1.0, 1.0], 2);
        assert_eq!((indices, bound), (vec![0, 1], 1.0));
        assert_eq!(largest_entries(&[4.0], 3), (vec![0], f64::NEG_INFINITY));
    }
}
