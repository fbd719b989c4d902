//! Adds a batch of planned pivots to the factor.
//!
//! The residual matrix of the planned rows determines how their columns depend on each other. So all columns of the batch can be
//! computed for one block of rows before the next: kernel values, minus the part explained by the factor, minus the part
//! explained by earlier columns of the batch. The stopping criteria are checked afterwards step by step, and columns beyond the
//! stop are dropped.

use super::super::product::add_product;
use super::run::{CHUNK, NEGATIVE, ROUNDING_DOMINATED, Run};
use super::types::Pivoting;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use crate::simd::{add_combination, scale_and_reduce};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// Residuals that differ by less than this fraction of the largest diagonal entry are equal up to rounding.
const EQUAL: f64 = 1e-13;

/// Columns of a batch that are updated together by a matrix product; within a group, columns are subtracted one by one.
const GROUP: usize = 16;

/// With pivots by gain, rows with less than this fraction of the largest residual are skipped: dividing by small residuals
/// amplifies rounding error. Where the first fraction is too small, the batch is computed again with the next.
const MIN_GAIN_RESIDUAL: [f64; 3] = [1e-4, 1e-2, 1.0];

/// Rows about to become pivots.
struct Batch {
    rows: Vec<usize>,
    norms: Vec<f64>,
    /// Their rows of the factor so far.
    known: Array2<f64>,
    /// Their negated coefficients on the earlier pivots of the batch, row-major; strictly lower triangular.
    lower: Array2<f64>,
}

/// Residuals after a step.
#[derive(Clone, Copy)]
struct Step {
    /// The smallest before clamping at zero.
    min: f64,
    /// The largest after clamping.
    max: f64,
    /// Their sum, if a stopping criterion needs it.
    sum: f64,
    /// The residual of the next pivot of the batch.
    next: f64,
}

impl Step {
    const EMPTY: Self =
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, next: f64::NEG_INFINITY };

    fn merge(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            next: self.next.max(other.next),
        }
    }
}

impl Run<'_> {
    /// Adds planned rows as pivots, in order, until a stopping criterion holds.
    pub(super) fn add_pivots(&mut self, planned: Vec<usize>) -> Result<Option<Stop>> {
        self.reserve(planned.len())?;
        // Only pivots by gain can have small residuals; other strategies choose large ones or follow row order.
        let fractions: &[f64] =
            if self.rule.pivoting == Pivoting::Gain { &MIN_GAIN_RESIDUAL } else { &[0.0] };
        let mut last = None;
        for &fraction in fractions {
            let (batch, exhausted) = self.batch_or_largest(&planned, fraction);
            self.top = None;
            let steps = if batch.rows.is_empty() { vec![] } else { self.compute_columns(&batch) };
            match self.check_steps(&batch, &steps) {
                Ok(checked) => return Ok(self.accept(&planned, batch, exhausted, checked)),
                // Kernel values that are not finite stay so.
                Err(error) if steps.iter().any(|step| step.min == f64::NEG_INFINITY) => return Err(error),
                Err(error) => {
                    self.l.truncate(self.rank() * self.n);
                    self.restore_residuals(0);
                    last = Some(error);
                }
            }
        }
        Err(last.expect("there is at least one fraction"))
    }

    /// A batch of the planned rows or, if all are skipped, of the row with the largest residual.
    fn batch_or_largest(&mut self, planned: &[usize], fraction: f64) -> (Batch, Vec<usize>) {
        let (batch, exhausted) = self.batch(planned, fraction);
        if !batch.rows.is_empty() || !exhausted.is_empty() {
            return (batch, exhausted);
        }
        // Recomputed in case it is mostly rounding error.
        let (largest, _) = self.largest_residual();
        self.recompute(largest);
        let (largest, _) = self.largest_residual();
        self.batch(&[largest], 0.0)
    }

    /// Adds the pivots of a batch up to the stop.
    fn accept(
        &mut self,
        planned: &[usize],
        batch: Batch,
        exhausted: Vec<usize>,
        (accepted, stop): (usize, Option<Stop>),
    ) -> Option<Stop> {
        self.pivots.extend(&batch.rows[..accepted]);
        self.norms.extend(&batch.norms[..accepted]);
        self.l.truncate(self.rank() * self.n);
        if accepted < batch.rows.len() {
            self.restore_residuals(accepted);
        } else {
            exhausted.iter().for_each(|&row| self.residual[row] = 0.0);
        }
        let processed = if accepted < batch.rows.len() { accepted } else { accepted + exhausted.len() };
        if processed < planned.len() {
            // The gains include pivots that were not accepted, and rows in order must not be skipped.
            self.sample = None;
            let first =
                planned.iter().find(|row| !batch.rows[..accepted].contains(row) && !exhausted.contains(row));
            self.next_in_order = first.map_or(self.next_in_order, |&row| row.min(self.next_in_order));
        }
        stop
    }

    /// A batch of the planned rows, and the rows with a residual of zero. Skips rows with much smaller residuals than others and
    /// ends before the first row whose residual is mostly rounding error.
    fn batch(&mut self, planned: &[usize], fraction: f64) -> (Batch, Vec<usize>) {
        let known = self.rows(planned);
        let mut residual = self.residual_block(planned, &known);
        let min = if fraction > 0.0 { fraction * self.largest_residual().1 } else { 0.0 };
        let (mut kept, mut exhausted) = (vec![], vec![]);
        let mut norms = vec![];
        for i in 0..planned.len() {
            // A NaN is not at most zero and stays; the check of its column reports it.
            if residual[[i, i]] <= self.zero() {
                exhausted.push(planned[i]);
                continue;
            }
            // The residual of the first pivot is exact.
            if residual[[i, i]] < min && self.rank() + kept.len() > 0 {
                continue;
            }
            // Such a residual must be recomputed from the factor, which needs the columns before it.
            if !kept.is_empty() && self.is_rounding_dominated(planned[i], residual[[i, i]]) {
                break;
            }
            let norm = residual[[i, i]].sqrt();
            let column = residual.column(i).mapv(|v| v / norm);
            for k in i + 1..planned.len() {
                for j in i + 1..=k {
                    residual[[k, j]] -= column[k] * column[j];
                }
                residual[[k, i]] = -column[k];
            }
            norms.push(norm);
            kept.push(i);
        }
        let lower = Array2::from_shape_fn((kept.len(), kept.len()), |(t, s)| residual[[kept[t], kept[s]]]);
        let rows = kept.iter().map(|&i| planned[i]).collect();
        (Batch { rows, norms, known: known.select(Axis(0), &kept), lower }, exhausted)
    }

    /// Appends the columns of a batch to the factor and updates the residuals.
    fn compute_columns(&mut self, batch: &Batch) -> Vec<Step> {
        let (n, rank, b) = (self.n, self.rank(), batch.rows.len());
        let write = self.source.columns(&batch.rows);
        let mut pivots = self.pivots.clone();
        pivots.sort_unstable();
        let with_sum = self.needs_sum();
        self.previous.resize(n, 0.0);
        // The thread that fills new memory is the first to touch it, which halves the cost of page faults.
        let start = self.l.as_ptr();
        let spare = &mut self.l.spare_capacity_mut()[..n * b];
        // SAFETY: the first `rank * n` values are initialized and do not overlap the spare capacity. Nothing moves them
        // while `earlier` is in use.
        let earlier = unsafe { std::slice::from_raw_parts(start, rank * n) };
        let earlier = ArrayView2::from_shape((n, rank).f(), earlier).expect("n values per column");
        let mut new = ArrayViewMut2::from_shape((n, b).f(), spare).expect("n values per column");
        let parts: Vec<Vec<Step>> = new
            .axis_chunks_iter_mut(Axis(0), CHUNK)
            .into_par_iter()
            .zip(self.residual.par_chunks_mut(CHUNK))
            .zip(self.previous.par_chunks_mut(CHUNK))
            .enumerate()
            .map_init(Vec::new, |columns, (chunk, ((mut new, residual), previous))| {
                let (from, height) = (chunk * CHUNK, residual.len());
                previous.copy_from_slice(residual);
                columns.resize(height * b, 0.0);
                let mut view =
                    ArrayViewMut2::from_shape((height, b).f(), columns).expect("height * b values");
                write(from, view.view_mut());
                let earlier = earlier.slice(s![from..from + height, ..]);
                add_product(-1.0, earlier, batch.known.t(), view);
                let old = &pivots[pivots.partition_point(|&p| p < from)..];
                let old = &old[..old.partition_point(|&p| p < from + height)];
                let steps = batch.compute_rows(columns, residual, from, old, with_sum);
                for (mut to, column) in new.columns_mut().into_iter().zip(columns.chunks_exact(height)) {
                    to.as_slice_mut().expect("contiguous columns").write_copy_of_slice(column);
                }
                steps
            })
            .collect();
        // SAFETY: all of the next `n * b` values were written above: there are `n` residuals, so the chunks cover all
        // rows. If a task panics, this is not reached.
        unsafe { self.l.set_len((rank + b) * n) };
        let merged = |t: usize| parts.iter().fold(Step::EMPTY, |all, part| all.merge(part[t]));
        (0..b).map(merged).collect()
    }

    /// The number of steps to accept, and the reason to stop there, if any.
    fn check_steps(&mut self, batch: &Batch, steps: &[Step]) -> Result<(usize, Option<Stop>)> {
        let square = self.largest * self.largest;
        for (t, step) in steps.iter().enumerate() {
            let (rank, row) = (self.rank() + t + 1, batch.rows[t] + 1);
            if step.min == f64::NEG_INFINITY {
                let why = format!("kernel values of row {row} are not finite; scale the features");
                return Err(Error::Breakdown { step: "pivoted Cholesky", why });
            }
            if step.min < -NEGATIVE * square {
                return Err(self.not_positive_semidefinite(rank, row, step.min));
            }
            if t + 1 == steps.len() {
                break;
            }
            // Residuals that are mostly rounding error are recomputed before the next batch.
            if step.max < ROUNDING_DOMINATED * square {
                return Ok((t + 1, None));
            }
            if let Some(stop) = self.residual_stop(rank, step.max, step.sum) {
                return Ok((t + 1, Some(stop)));
            }
            let greedy = self.rule.pivoting == Pivoting::Greedy;
            if greedy && step.next < step.max - EQUAL * square {
                return Ok((t + 1, None)); // the prediction was wrong: plan again
            }
        }
        Ok((steps.len(), None))
    }

    fn not_positive_semidefinite(&self, rank: usize, row: usize, residual: f64) -> Error {
        let advice = match self.rule.pivoting {
            Pivoting::InOrder => {
                ", or consecutive rows are so similar that rounding error dominates; shuffle the rows, \
                 increase gamma"
            }
            _ => "; choose another kernel",
        };
        let why = format!(
            "the kernel is not positive semidefinite: pivot {rank} (row {row}) leaves a squared residual norm of \
             {residual:.3e}{advice}, or use non-negative weights"
        );
        Error::Breakdown { step: "pivoted Cholesky", why }
    }

    /// Resets residuals to those before the last batch and subtracts its first `accepted` columns.
    fn restore_residuals(&mut self, accepted: usize) {
        let (n, first) = (self.n, self.rank() - accepted);
        let l = &self.l[first * n..];
        let chunks = self.residual.par_chunks_mut(CHUNK).zip(self.previous.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (residual, previous))| {
            residual.copy_from_slice(previous);
            for column in l.chunks_exact(n) {
                let mut part = column[chunk * CHUNK..][..residual.len()].to_vec();
                scale_and_reduce(&mut part, 1.0, residual);
            }
        });
        self.pivots[first..].iter().for_each(|&pivot| self.residual[pivot] = 0.0);
    }
}

impl Batch {
    /// Computes a block of rows of the factor in place: `columns` are kernel values minus the part explained by the factor so
    /// far, `old` the rows of the block that are already pivots.
    fn compute_rows(
        &self,
        columns: &mut [f64],
        residual: &mut [f64],
        from: usize,
        old: &[usize],
        with_sum: bool,
    ) -> Vec<Step> {
        let height = residual.len();
        // Rows of earlier pivots are exactly zero.
        let mut zeros: Vec<usize> = old.iter().map(|p| p - from).collect();
        let position = |t: usize| self.rows.get(t)?.checked_sub(from).filter(|&r| r < height);
        let one = |t: usize| {
            let (done, rest) = columns.split_at_mut(t * height);
            let from = t / GROUP * GROUP;
            if t == from && t > 0 {
                let group = s![t..self.rows.len().min(t + GROUP), ..t];
                let done = ArrayView2::from_shape((height, t).f(), done).expect("complete columns");
                let lower = self.lower.slice(group);
                let rest = &mut rest[..height * lower.nrows()];
                let rest = ArrayViewMut2::from_shape((height, lower.nrows()).f(), rest);
                add_product(1.0, done, lower.t(), rest.expect("complete columns"));
            }
            let column = &mut rest[..height];
            let lower = self.lower.row(t);
            let lower = &lower.to_slice().expect("row-major")[from..t];
            add_combination(column, &done[from * height..], height, lower);
            zeros.iter().for_each(|&r| column[r] = 0.0);
            // The residual of the pivot is zero; computing it would leave rounding error.
            if let Some(pivot) = position(t) {
                (column[pivot], residual[pivot]) = (0.0, 0.0);
                zeros.push(pivot);
            }
            let (min, max) = scale_and_reduce(column, 1.0 / self.norms[t], residual);
            if let Some(pivot) = position(t) {
                column[pivot] = self.norms[t];
            }
            let sum = if with_sum { residual.iter().sum() } else { 0.0 };
            Step { min, max, sum, next: position(t + 1).map_or(f64::NEG_INFINITY, |r| residual[r]) }
        };
        (0..self.rows.len()).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::BATCH;
    use super::super::tests::{factor, random_psd, rule};
    use super::super::{Rule, pivoted_cholesky};
    use super::*;
    use crate::context::Context;

    #[test]
    fn residuals_are_correct_if_a_batch_is_truncated() {
        // More rows than a task has, and a stop in the middle of a batch.
        let k = random_psd(2 * CHUNK + 9, 2 * BATCH + 20, 3);
        for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
            let full = factor(&k, &rule(pivoting));
            for rank in [1, 7, BATCH + 3] {
                let truncated = Rule { threshold: &|r| if r >= rank { 1.0 } else { 0.0 }, ..rule(pivoting) };
                let f = factor(&k, &truncated);
                assert_eq!((f.pivots.len(), f.stop), (rank, Stop::Threshold), "{pivoting:?}");
                assert_eq!(f.pivots, full.pivots[..rank]);
                assert_eq!(f.l, full.l.slice(s![.., ..rank]), "{pivoting:?}");
                for (i, row) in f.l.rows().into_iter().enumerate() {
                    let explained: f64 = row.iter().map(|v| v * v).sum();
                    // About 150, minus up to 150 rounded squares.
                    assert!((k[[i, i]] - explained - f.residual[i]).abs() < 1e-10, "{pivoting:?}, row {i}");
                }
            }
        }
    }

    #[test]
    fn ties_do_not_break_greedy_pivoting() {
        // Points of a lattice: mirror images have equal residuals up to rounding.
        let points: Vec<[f64; 2]> =
            (0..24).flat_map(|i| (0..24).map(move |j| [i as f64, j as f64])).collect();
        let kernel =
            |a: &[f64; 2], b: &[f64; 2]| (-0.1 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
        let k = Array2::from_shape_fn((576, 576), |(i, j)| kernel(&points[i], &points[j]));
        let f = factor(&k, &Rule { max_rank: 60, ..rule(Pivoting::Greedy) });
        // Each pivot had the largest residual.
        let mut residual = vec![1.0; 576];
        for (column, &pivot) in f.l.columns().into_iter().zip(&f.pivots) {
            let largest = residual.iter().copied().fold(0.0, f64::max);
            assert!(residual[pivot] >= largest - 2.0 * EQUAL, "{}, largest {largest}", residual[pivot]);
            residual.iter_mut().zip(column).for_each(|(residual, v)| *residual -= v * v);
        }
    }

    #[test]
    fn skipped_rows_become_pivots_later() {
        let k = Array2::from_diag(&ndarray::array![1e-6, 1.0, 3e-6, 0.5, 1e-9]);
        let f = factor(&k, &rule(Pivoting::Gain));
        assert_eq!((f.pivots.as_slice(), f.stop), (&[1, 3, 2, 0, 4][..], Stop::Exhausted));
        // A given first pivot is used even if its residual is small.
        let first = factor(&k, &Rule { first: Some(4), ..rule(Pivoting::Gain) });
        assert_eq!(first.pivots, [4, 1, 3, 2, 0]);
    }

    #[test]
    fn residuals_dominated_by_rounding_are_handled_step_by_step() {
        // A smooth kernel on a line: residuals decrease to rounding error and zero.
        let k = Array2::from_shape_fn((300, 300), |(i, j)| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
        for (pivoting, seed) in [(Pivoting::Greedy, 0), (Pivoting::Random, 0), (Pivoting::Random, 1)]
            .into_iter()
            .chain((0..8).map(|seed| (Pivoting::Gain, seed)))
        {
            let ctx = Context { seed, ..Context::default() };
            let f = pivoted_cholesky(&k, &rule(pivoting), &ctx).unwrap();
            assert_eq!(f.stop, Stop::Exhausted, "{pivoting:?}");
            // Norms of at least 1e-7 of the first are above rounding error; the rank is the numerical rank at 1e-14.
            assert!((12..30).contains(&f.pivots.len()), "{pivoting:?}: {}", f.pivots.len());
            let mut distinct = f.pivots.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), f.pivots.len());
            let rebuilt = crate::linalg::multiply(f.l.view(), f.l.t());
            assert!((&rebuilt - &k).iter().all(|e| e.abs() < 1e-9), "{pivoting:?}, {seed}");
        }
        let error = pivoted_cholesky(&k, &rule(Pivoting::InOrder), &Context::default()).unwrap_err();
        assert!(error.to_string().contains("shuffle the rows"), "{error}");
    }
}
