//! Which rows become pivots next.

use super::super::product::add_product_by_rows;
use super::{BATCH, DOUBTFUL, Pivoting, Run, first_largest};
use crate::error::Result;
use crate::simd::add_scaled;
use ndarray::Array2;

/// Candidates among which the next greedy pivots are sought.
const CANDIDATES: usize = 128;
/// Rows of a block that one task works on.
const BLOCK: usize = 128;

impl Run<'_> {
    /// The next pivots, at least one; `None` when no row is left.
    pub(super) fn plan(&mut self) -> Result<Option<Vec<usize>>> {
        self.tell()?;
        // Where little but rounding is left, every step is looked at before the next.
        let most = if self.largest_residual().1 < DOUBTFUL * self.largest * self.largest { 1 } else { BATCH };
        let room = most.min(self.rule.max_rank - self.rank());
        if self.rank() == 0
            && let Some(first) = self.rule.first
            && self.residual[first] > self.zero()
        {
            return Ok(Some(vec![first]));
        }
        Ok(match self.rule.pivoting {
            Pivoting::Greedy => Some(self.forecast(room)),
            Pivoting::Random => Some(self.draw(room)),
            Pivoting::Gain => Some(self.most_gain(room)),
            Pivoting::InOrder => self.in_order(room),
        })
    }

    /// What is left of the kernel among some rows, whose rows of the factor are `known`; laid out by rows.
    pub(super) fn residual_block(&self, rows: &[usize], known: &Array2<f64>) -> Array2<f64> {
        let mut block = self.source.block(rows);
        add_product_by_rows(-1.0, known.view(), known.t(), block.view_mut(), BLOCK);
        block
    }

    /// Greedy pivots, as far ahead as can be told for certain (up to rounding) from the rows with
    /// the largest residuals.
    fn forecast(&self, room: usize) -> Vec<usize> {
        let (mut candidates, bound) = largest_entries(&self.residual, CANDIDATES);
        if room == 1 || candidates.len() == 1 {
            candidates.truncate(1);
            return candidates;
        }
        let mut block = self.residual_block(&candidates, &self.rows(&candidates));
        let mut left: Vec<f64> = candidates.iter().map(|&i| self.residual[i]).collect();
        let mut planned = vec![];
        while planned.len() < room {
            let (best, squared) = first_largest(&left);
            if !planned.is_empty() && (squared < bound || squared <= self.zero()) {
                break;
            }
            planned.push(candidates[best]);
            eliminate(&mut block, &mut left, best);
        }
        planned
    }

    /// Random pivots by rejection: proposals from the residuals as they are now, each kept with the
    /// probability by which its residual has shrunk under the ones kept before it.
    fn draw(&mut self, room: usize) -> Vec<usize> {
        let total: f64 = self.residual.iter().sum();
        let mut marks: Vec<(f64, usize)> = (0..room).map(|i| (self.rng.uniform() * total, i)).collect();
        let chances: Vec<f64> = (0..room).map(|_| self.rng.uniform()).collect();
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut proposals = vec![0; room];
        let (mut row, mut sum) = (0, self.residual[0]);
        for (mark, place) in marks {
            while sum <= mark && row + 1 < self.n {
                row += 1;
                sum += self.residual[row];
            }
            proposals[place] = row;
        }
        // Rounding of the running sum may end at a row of residual zero: such a proposal is void.
        proposals.retain(|&row| self.residual[row] > self.zero());
        if proposals.is_empty() {
            return vec![self.largest_residual().0];
        }
        let mut block = self.residual_block(&proposals, &self.rows(&proposals));
        let start: Vec<f64> = proposals.iter().map(|&i| self.residual[i]).collect();
        let mut left = start.clone();
        let mut kept = vec![];
        for i in 0..proposals.len() {
            // The first proposal has not shrunk and is always kept.
            if left[i] > self.zero() && chances[i] * start[i] < left[i] {
                kept.push(proposals[i]);
                eliminate(&mut block, &mut left, i);
            }
        }
        kept
    }

    /// The next rows in order.
    fn in_order(&mut self, room: usize) -> Option<Vec<usize>> {
        let mut rows = vec![];
        while rows.len() < room && self.next_in_order < self.n {
            let row = self.next_in_order;
            self.next_in_order += 1;
            if self.residual[row] > self.zero() {
                rows.push(row);
            }
        }
        (!rows.is_empty()).then_some(rows)
    }
}

/// The places of the `k` largest entries, largest first (of equals, the first), and the largest
/// entry that is not among them.
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

/// One step of a dense Cholesky factorisation in place: takes the part along `pivot` out of a small
/// residual matrix and its diagonal.
fn eliminate(block: &mut Array2<f64>, left: &mut [f64], pivot: usize) {
    let squared = left[pivot];
    if squared <= 0.0 {
        return;
    }
    let norm = squared.sqrt();
    let column: Vec<f64> = block.column(pivot).iter().map(|v| v / norm).collect();
    for ((row, left), &share) in block.rows_mut().into_iter().zip(left.iter_mut()).zip(&column) {
        add_scaled(row.into_slice().expect("laid out by rows"), -share, &column);
        *left = (*left - share * share).max(0.0);
    }
    left[pivot] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_entries_and_the_bound() {
        let (places, bound) = largest_entries(&[1.0, 5.0, 3.0, 5.0, 2.0], 3);
        assert_eq!(places, [1, 3, 2]);
        assert_eq!(bound, 2.0);
        let (places, bound) = largest_entries(&[1.0, 1.0, 1.0], 2);
        assert_eq!((places, bound), (vec![0, 1], 1.0));
        assert_eq!(largest_entries(&[4.0], 3), (vec![0], f64::NEG_INFINITY));
    }
}
