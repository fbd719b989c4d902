//! Losses in single precision, with bounds on their errors.

use super::cells::RoughKernel;
use super::problem::Problem;
use crate::context::Context;
use crate::error::Result;
use crate::simd::{
    F32_MIN_FACTOR, F32_SUM_LANES, F32_UNIT_ROUNDOFF, add_gaussian_products_f32, add_scaled_and_dot_f32,
    exp_scaled,
};
use rayon::prelude::*;

/// Values summed in single precision before the sum continues in double.
const BLOCK: usize = 1024;
/// Rows that add to the sums of other rows in single precision before these continue in double.
const FLUSH_ROWS: usize = 64;

/// A loss and a bound on its error.
#[derive(Clone, Copy)]
pub(super) struct Estimate {
    pub loss: f64,
    pub error: f64,
}

/// The losses of a set with one more feature, in single precision.
pub(super) struct Rough<'a> {
    problem: &'a Problem,
    /// Kernel values of the set at the bandwidth of the larger one: pairs of a row with earlier rows, or with all
    /// landmarks.
    base: Vec<f32>,
    gamma: f64,
}

/// Work space for a candidate.
struct Space {
    kernel: Vec<f32>,
    /// Sums that other rows add to in single precision, for each slot.
    partial: [Vec<f32>; 2],
    sums: Vec<[f64; 2]>,
}

impl Space {
    fn new(problem: &Problem) -> Self {
        let m = problem.n_landmarks();
        Self {
            kernel: vec![0.0; m],
            partial: [vec![0.0; m], vec![0.0; m]],
            sums: vec![[0.0; 2]; problem.n()],
        }
    }

    fn flush(&mut self) {
        for (slot, partial) in self.partial.iter_mut().enumerate() {
            for (sum, partial) in self.sums.iter_mut().zip(partial) {
                sum[slot] += f64::from(std::mem::take(partial));
            }
        }
    }
}

impl<'a> Rough<'a> {
    /// Bytes of the kernel values and of the work space.
    pub fn bytes(n: usize, m: usize) -> f64 {
        let pairs = if n == m { n * n.saturating_sub(1) / 2 } else { n * m };
        (4 * pairs + rayon::current_num_threads() * (12 * m + 16 * n)) as f64
    }

    /// The kernel is $\exp(-\gamma D)$.
    pub fn new(problem: &'a Problem, members: &[usize], gamma: f64, ctx: &Context) -> Result<Self> {
        let n = problem.n();
        let mut base = vec![0.0_f32; offset(problem, n)];
        let mut rows: Vec<&mut [f32]> = vec![];
        let mut rest = base.as_mut_slice();
        for i in 0..n {
            let (row, tail) = rest.split_at_mut(row_len(problem, i));
            rows.push(row);
            rest = tail;
        }
        let fill = |distances: &mut Vec<f64>, (i, row): (usize, &mut &mut [f32])| {
            ctx.check()?;
            distances.clear();
            distances.resize(row.len(), 0.0);
            members.iter().for_each(|&f| problem.cells[f].add_distances(i, distances));
            exp_scaled(distances, -gamma);
            row.iter_mut().zip(&*distances).for_each(|(to, k)| *to = (*k as f32).max(F32_MIN_FACTOR));
            if let Some(own) = problem.landmark_of(i).filter(|own| *own < row.len()) {
                row[own] = 0.0;
            }
            Ok(())
        };
        rows.par_iter_mut().enumerate().map_init(Vec::new, fill).collect::<Result<()>>()?;
        Ok(Self { problem, base, gamma })
    }

    /// The losses with each candidate added.
    pub fn with_each(&self, candidates: &[usize], ctx: &Context) -> Result<Vec<Estimate>> {
        let one = |space: &mut Space, &candidate: &usize| {
            ctx.check()?;
            Ok(self.with(candidate, space))
        };
        let tasks = candidates.par_iter().with_max_len(1);
        tasks.map_init(|| Space::new(self.problem), one).collect()
    }

    fn with(&self, candidate: usize, space: &mut Space) -> Estimate {
        let problem = self.problem;
        let relative = problem.cells[candidate].relative_error(self.gamma);
        if relative.is_infinite() {
            return Estimate { loss: problem.goal.empty_loss(), error: f64::INFINITY };
        }
        let kernel = problem.cells[candidate].kernel(self.gamma);
        for (i, sums) in space.sums.iter_mut().enumerate() {
            *sums = problem.landmark_of(i).map_or([0.0; 2], |own| problem.goal.own_sums(i, own));
        }
        let mut from = 0;
        for i in 0..problem.n() {
            let len = row_len(problem, i);
            let base = &self.base[from..from + len];
            from += len;
            self.add_row(i, base, &kernel, space);
            if (i + 1) % FLUSH_ROWS == 0 && problem.is_symmetric() {
                space.flush();
            }
        }
        if problem.is_symmetric() {
            space.flush();
        }
        // Rounding of the base, the product, the weight, and one for each addition.
        let additions = (BLOCK / F32_SUM_LANES + FLUSH_ROWS) as f64;
        let relative = relative + F32_UNIT_ROUNDOFF * (3.0 + additions);
        let goal = &problem.goal;
        let mut estimate = Estimate { loss: 0.0, error: 0.0 };
        for (i, (&sums, share)) in space.sums.iter().zip(goal.shares()).enumerate() {
            estimate.loss += share * goal.loss(i, sums);
            estimate.error += share * goal.error(i, sums, relative);
        }
        estimate
    }

    /// Adds the kernel values of row `i` to its sums and to those of earlier rows.
    fn add_row(&self, i: usize, base: &[f32], kernel: &RoughKernel, space: &mut Space) {
        let goal = &self.problem.goal;
        let single = kernel.single(i).filter(|_| goal.has_separate_slots());
        if single.is_none() {
            kernel.products(i, base, &mut space.kernel[..base.len()]);
        }
        for segment in goal.segments(i, base.len()) {
            let weights = goal.rough_weights(segment.slot);
            // Without symmetry nothing is added to other rows.
            let own_weight = if self.problem.is_symmetric() { weights[i] } else { 0.0 };
            let mut start = segment.at.start;
            while start < segment.at.end {
                let at = start..segment.at.end.min(start + BLOCK);
                start = at.end;
                let (weights, sums) = (&weights[at.clone()], &mut space.partial[segment.slot][at.clone()]);
                space.sums[i][segment.slot] += match single {
                    Some((x, place)) => {
                        add_gaussian_products_f32(&base[at.clone()], &x[at], place, weights, own_weight, sums)
                    }
                    None => add_scaled_and_dot_f32(&space.kernel[at], weights, own_weight, sums),
                };
            }
        }
    }
}

/// Number of landmarks that row `i` is compared with: the earlier rows, or all landmarks.
fn row_len(problem: &Problem, i: usize) -> usize {
    if problem.is_symmetric() { i } else { problem.n_landmarks() }
}

/// Number of pairs before row `i`.
fn offset(problem: &Problem, i: usize) -> usize {
    if problem.is_symmetric() { i * i.saturating_sub(1) / 2 } else { i * problem.n_landmarks() }
}
