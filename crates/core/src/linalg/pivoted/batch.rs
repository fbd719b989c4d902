//! Planned rows become pivots together.
//!
//! What is left of the matrix among the planned rows says what each takes off the next, so that their columns can be worked
//! out some rows at a time, all of them before the next rows: values of the matrix, less what the factor explains, less what the
//! batch itself does. The rules are looked at afterwards, step by step, and what they forbid is dropped.

use super::super::product::add_product;
use super::{CHUNK, DOUBTFUL, NEGATIVE, Pivoting, Run};
use crate::error::{Error, Result};
use crate::outcome::Stop;
use crate::simd::{add_combination, scale_and_reduce};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// Residuals nearer to each other than this share of the largest diagonal entry are equal up to rounding.
const EQUAL: f64 = 1e-13;

/// Columns of a batch that are brought up to date together: until then each subtracts those before it for itself.
const GROUP: usize = 16;

/// Rows with less than this share of the largest residual are no pivots by gain: dividing by so little makes much of rounding,
/// and more with every such pivot.
const SMALL: f64 = 1e-4;

/// Pivots that are about to be.
struct Batch {
    rows: Vec<usize>,
    norms: Vec<f64>,
    /// The rows of the factor so far.
    known: Array2<f64>,
    /// What each row has of the pivots of the batch before it, negative, by rows; nothing counts behind these.
    lower: Array2<f64>,
}

/// What a step did to the residuals.
#[derive(Clone, Copy)]
struct Step {
    /// The least before those below zero were set to zero, and the largest after.
    least: f64,
    most: f64,
    /// Their sum, if a rule asks for it.
    sum: f64,
    /// That of the row of the next step.
    next: f64,
}

impl Step {
    const NONE: Self =
        Self { least: f64::INFINITY, most: f64::NEG_INFINITY, sum: 0.0, next: f64::NEG_INFINITY };

    fn with(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum + other.sum,
            next: self.next.max(other.next),
        }
    }
}

impl Run<'_> {
    /// Makes pivots of planned rows, in their order and for as long as the rules allow.
    pub(super) fn take(&mut self, planned: Vec<usize>) -> Result<Option<Stop>> {
        self.reserve(planned.len())?;
        let (mut batch, mut spent) = self.batch(&planned);
        if batch.rows.is_empty() && spent.is_empty() {
            // All were passed over. The largest is not, unless it is rounding alone that makes it so.
            let (largest, _) = self.largest_residual();
            self.recompute(largest);
            let (largest, _) = self.largest_residual();
            (batch, spent) = self.batch(&[largest]);
        }
        self.top = None;
        let steps = if batch.rows.is_empty() { vec![] } else { self.work_out(&batch) };
        let (taken, stop) = self.judge(&batch, &steps)?;
        self.pivots.extend(&batch.rows[..taken]);
        self.norms.extend(&batch.norms[..taken]);
        self.l.truncate(self.rank() * self.n);
        if taken < batch.rows.len() {
            self.residuals_after(taken);
        } else {
            spent.iter().for_each(|&row| self.residual[row] = 0.0);
        }
        let dealt_with = if taken < batch.rows.len() { taken } else { taken + spent.len() };
        if dealt_with < planned.len() {
            // Gains were followed through pivots that are none yet, and rows in order are not to be passed over.
            self.drawn = None;
            let first = planned.iter().find(|row| !batch.rows[..taken].contains(row) && !spent.contains(row));
            self.next_in_order = first.map_or(self.next_in_order, |&row| row.min(self.next_in_order));
        }
        Ok(stop)
    }

    /// The planned rows up to the first of which little is left when its turn comes, without those of which nothing is, which
    /// are given back too, and without those of which much less is left than of others.
    fn batch(&mut self, planned: &[usize]) -> (Batch, Vec<usize>) {
        let known = self.rows(planned);
        let mut left = self.residual_block(planned, &known);
        let least = match self.rule.pivoting {
            Pivoting::Gain => SMALL * self.largest_residual().1,
            // Others have most left, or probably much, or are asked for in order.
            _ => 0.0,
        };
        let (mut kept, mut spent) = (vec![], vec![]);
        let mut norms = vec![];
        for i in 0..planned.len() {
            // Not above zero either if it is no number, which its column will tell: such a row stays.
            if left[[i, i]] <= self.zero() {
                spent.push(planned[i]);
                continue;
            }
            // The very first is divided by what is exact.
            if left[[i, i]] < least && self.rank() + kept.len() > 0 {
                continue;
            }
            // What is mostly rounding is taken from the factor itself, which has to be there first.
            if !kept.is_empty() && self.is_doubtful(planned[i], left[[i, i]]) {
                break;
            }
            let norm = left[[i, i]].sqrt();
            let column = left.column(i).mapv(|v| v / norm);
            for k in i + 1..planned.len() {
                for j in i + 1..=k {
                    left[[k, j]] -= column[k] * column[j];
                }
                left[[k, i]] = -column[k];
            }
            norms.push(norm);
            kept.push(i);
        }
        let lower = Array2::from_shape_fn((kept.len(), kept.len()), |(t, s)| left[[kept[t], kept[s]]]);
        let rows = kept.iter().map(|&i| planned[i]).collect();
        (Batch { rows, norms, known: known.select(Axis(0), &kept), lower }, spent)
    }

    /// Adds the columns of a batch to the factor, and takes them out of the residuals.
    fn work_out(&mut self, batch: &Batch) -> Vec<Step> {
        let (n, rank, b) = (self.n, self.rank(), batch.rows.len());
        let write = self.source.columns(&batch.rows);
        let mut pivots = self.pivots.clone();
        pivots.sort_unstable();
        let with_sum = self.wants_sum();
        self.before.resize(n, 0.0);
        // Fresh memory is first touched by the thread that fills it: paging it in is half the price.
        let start = self.l.as_ptr();
        let spare = &mut self.l.spare_capacity_mut()[..n * b];
        // SAFETY: the first `rank * n` values are initialised, and do not overlap the spare room. Nothing moves them
        // while `earlier` is in use.
        let earlier = unsafe { std::slice::from_raw_parts(start, rank * n) };
        let earlier = ArrayView2::from_shape((n, rank).f(), earlier).expect("n values per column");
        let mut fresh = ArrayViewMut2::from_shape((n, b).f(), spare).expect("n values per column");
        let parts: Vec<Vec<Step>> = fresh
            .axis_chunks_iter_mut(Axis(0), CHUNK)
            .into_par_iter()
            .zip(self.residual.par_chunks_mut(CHUNK))
            .zip(self.before.par_chunks_mut(CHUNK))
            .enumerate()
            .map_init(Vec::new, |columns, (chunk, ((mut fresh, residual), before))| {
                let (from, height) = (chunk * CHUNK, residual.len());
                before.copy_from_slice(residual);
                columns.resize(height * b, 0.0);
                let mut view = ArrayViewMut2::from_shape((height, b).f(), columns).expect("a cell each");
                write(from, view.view_mut());
                let earlier = earlier.slice(s![from..from + height, ..]);
                add_product(-1.0, earlier, batch.known.t(), view);
                let old = &pivots[pivots.partition_point(|&p| p < from)..];
                let old = &old[..old.partition_point(|&p| p < from + height)];
                let steps = batch.work_out_rows(columns, residual, from, old, with_sum);
                for (mut to, column) in fresh.columns_mut().into_iter().zip(columns.chunks_exact(height)) {
                    to.as_slice_mut().expect("a column lies together").write_copy_of_slice(column);
                }
                steps
            })
            .collect();
        // SAFETY: all of the next `n * b` values were written above: there are as many residuals, so no rows were left
        // out. If a task panics, this is not reached.
        unsafe { self.l.set_len((rank + b) * n) };
        let of_step = |t: usize| parts.iter().fold(Step::NONE, |all, part| all.with(part[t]));
        (0..b).map(of_step).collect()
    }

    /// How many steps the rules allow, and whether they end it all there.
    fn judge(&mut self, batch: &Batch, steps: &[Step]) -> Result<(usize, Option<Stop>)> {
        let square = self.largest * self.largest;
        for (t, step) in steps.iter().enumerate() {
            let (rank, row) = (self.rank() + t + 1, batch.rows[t] + 1);
            if step.least == f64::NEG_INFINITY {
                let why =
                    format!("the kernel of row {row} is not a finite number somewhere; scale the columns");
                return Err(Error::Breakdown { step: "pivoted Cholesky", why });
            }
            if step.least < -NEGATIVE * square {
                let advice = match self.rule.pivoting {
                    Pivoting::InOrder => {
                        ", or rows that follow each other are so much alike that rounding takes over; shuffle the rows, \
                         choose a narrower kernel"
                    }
                    _ => "; choose another kernel",
                };
                let why = format!(
                    "the kernel is not positive semidefinite: pivot {rank} (row {row}) leaves a squared length of \
                     {:.3e}{advice}, or weights that are not negative",
                    step.least,
                );
                return Err(Error::Breakdown { step: "pivoted Cholesky", why });
            }
            if t + 1 == steps.len() {
                break;
            }
            // What is mostly rounding is looked at more closely before the next batch.
            if step.most < DOUBTFUL * square {
                return Ok((t + 1, None));
            }
            if let Some(stop) = self.ends(rank, step.most, step.sum) {
                return Ok((t + 1, Some(stop)));
            }
            let greedy = self.rule.pivoting == Pivoting::Greedy;
            if greedy && step.next < step.most - EQUAL * square {
                return Ok((t + 1, None)); // the forecast was off: plan anew
            }
        }
        Ok((steps.len(), None))
    }

    /// Residuals as they were before the last batch, less what the first of its columns take off.
    fn residuals_after(&mut self, taken: usize) {
        let (n, first) = (self.n, self.rank() - taken);
        let l = &self.l[first * n..];
        let chunks = self.residual.par_chunks_mut(CHUNK).zip(self.before.par_chunks(CHUNK)).enumerate();
        chunks.for_each(|(chunk, (residual, before))| {
            residual.copy_from_slice(before);
            for column in l.chunks_exact(n) {
                let mut part = column[chunk * CHUNK..][..residual.len()].to_vec();
                scale_and_reduce(&mut part, 1.0, residual);
            }
        });
        self.pivots[first..].iter().for_each(|&pivot| self.residual[pivot] = 0.0);
    }
}

impl Batch {
    /// Takes what the batch's pivots have in common out of their columns, for some rows; `columns` become those of the
    /// factor. `old` are the rows among these that are pivots already.
    fn work_out_rows(
        &self,
        columns: &mut [f64],
        residual: &mut [f64],
        from: usize,
        old: &[usize],
        with_sum: bool,
    ) -> Vec<Step> {
        let height = residual.len();
        // Exact zeros above the diagonal.
        let mut zeros: Vec<usize> = old.iter().map(|p| p - from).collect();
        let place = |t: usize| self.rows.get(t)?.checked_sub(from).filter(|&r| r < height);
        let one = |t: usize| {
            let (done, rest) = columns.split_at_mut(t * height);
            let from = t / GROUP * GROUP;
            if t == from && t > 0 {
                let group = s![t..self.rows.len().min(t + GROUP), ..t];
                let done = ArrayView2::from_shape((height, t).f(), done).expect("whole columns");
                let lower = self.lower.slice(group);
                let rest = &mut rest[..height * lower.nrows()];
                let rest = ArrayViewMut2::from_shape((height, lower.nrows()).f(), rest);
                add_product(1.0, done, lower.t(), rest.expect("whole columns"));
            }
            let column = &mut rest[..height];
            let lower = self.lower.row(t);
            let lower = &lower.to_slice().expect("by rows")[from..t];
            add_combination(column, &done[from * height..], height, lower);
            zeros.iter().for_each(|&r| column[r] = 0.0);
            // r^2 - r^2, which rounding may leave on either side of zero.
            if let Some(own) = place(t) {
                (column[own], residual[own]) = (0.0, 0.0);
                zeros.push(own);
            }
            let (least, most) = scale_and_reduce(column, 1.0 / self.norms[t], residual);
            if let Some(own) = place(t) {
                column[own] = self.norms[t];
            }
            let sum = if with_sum { residual.iter().sum() } else { 0.0 };
            Step { least, most, sum, next: place(t + 1).map_or(f64::NEG_INFINITY, |r| residual[r]) }
        };
        (0..self.rows.len()).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{factor, random_psd, rule};
    use super::super::{BATCH, Rule, pivoted_cholesky};
    use super::*;
    use crate::context::Context;

    #[test]
    fn a_batch_that_is_cut_leaves_what_its_columns_say() {
        // More rows than a task has, and rules that end amid a batch of pivots by any rule.
        let k = random_psd(2 * CHUNK + 9, 2 * BATCH + 20, 3);
        for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
            let whole = factor(&k, &rule(pivoting));
            for most in [1, 7, BATCH + 3] {
                let cut = Rule { threshold: &|rank| if rank >= most { 1.0 } else { 0.0 }, ..rule(pivoting) };
                let f = factor(&k, &cut);
                assert_eq!((f.pivots.len(), f.stop), (most, Stop::Threshold), "{pivoting:?}");
                assert_eq!(f.pivots, whole.pivots[..most]);
                assert_eq!(f.l, whole.l.slice(s![.., ..most]), "{pivoting:?}");
                for (i, row) in f.l.rows().into_iter().enumerate() {
                    let explained: f64 = row.iter().map(|v| v * v).sum();
                    // Numbers of about 150 less as many squares, each rounded.
                    assert!((k[[i, i]] - explained - f.residual[i]).abs() < 1e-10, "{pivoting:?}, row {i}");
                }
            }
        }
    }

    #[test]
    fn equal_rows_do_not_hold_a_batch_up() {
        // Points of a lattice: what is left of a row is left of its mirror images too, up to rounding.
        let points: Vec<[f64; 2]> =
            (0..24).flat_map(|i| (0..24).map(move |j| [i as f64, j as f64])).collect();
        let near =
            |a: &[f64; 2], b: &[f64; 2]| (-0.1 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp();
        let k = Array2::from_shape_fn((576, 576), |(i, j)| near(&points[i], &points[j]));
        let f = factor(&k, &Rule { max_rank: 60, ..rule(Pivoting::Greedy) });
        // Each pivot had the largest residual there was.
        let mut left = vec![1.0; 576];
        for (column, &pivot) in f.l.columns().into_iter().zip(&f.pivots) {
            let largest = left.iter().copied().fold(0.0, f64::max);
            assert!(left[pivot] >= largest - 2.0 * EQUAL, "{} beside {largest}", left[pivot]);
            left.iter_mut().zip(column).for_each(|(left, v)| *left -= v * v);
        }
    }

    #[test]
    fn rows_that_are_passed_over_have_their_turn_later() {
        let k = Array2::from_diag(&ndarray::array![1e-6, 1.0, 3e-6, 0.5, 1e-9]);
        let f = factor(&k, &rule(Pivoting::Gain));
        assert_eq!((f.pivots.as_slice(), f.stop), (&[1, 3, 2, 0, 4][..], Stop::Exhausted));
        // The first is what is asked for, however small.
        let first = factor(&k, &Rule { first: Some(4), ..rule(Pivoting::Gain) });
        assert_eq!(first.pivots, [4, 1, 3, 2, 0]);
    }

    #[test]
    fn little_but_rounding_is_looked_at_step_by_step() {
        // Residuals fall through what is doubtful to zero: a smooth kernel over a line.
        let k = Array2::from_shape_fn((300, 300), |(i, j)| (-((i as f64 - j as f64) / 100.0).powi(2)).exp());
        for (pivoting, seed) in [(Pivoting::Greedy, 0), (Pivoting::Random, 0), (Pivoting::Random, 1)]
            .into_iter()
            .chain((0..8).map(|seed| (Pivoting::Gain, seed)))
        {
            let ctx = Context { seed, ..Context::default() };
            let f = pivoted_cholesky(&k, &rule(pivoting), &ctx).unwrap();
            assert_eq!(f.stop, Stop::Exhausted, "{pivoting:?}");
            // Norms down to 1e-7 of the first are no rounding; the rank at which they end is that of the matrix to 1e-14.
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
