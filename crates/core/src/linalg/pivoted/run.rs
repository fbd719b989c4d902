//! The state of a factorization.

use super::super::pages::prefer_large_pages;
use super::super::product::{add_product_by_rows, product_bytes};
use super::gain::{Sample, first_largest};
use super::types::{Columns, Factor, Pivoting, Rule, rows_of};
use crate::context::Context;
use crate::error::{Error, Result, number};
use crate::outcome::Stop;
use crate::random::Rng;
use ndarray::{Array2, ShapeBuilder};

/// Rows per task when a residual matrix is computed.
const RESIDUAL_ROWS: usize = 128;
/// Maximum number of pivots per batch.
pub(super) const BATCH: usize = 64;
/// Minimum number of columns to reserve memory for.
const RESERVED_COLUMNS: usize = 256;
/// Rows per task: few enough that a batch of columns fits in the cache, and enough for an efficient matrix product.
pub(super) const CHUNK: usize = 512;
/// A residual below this fraction of its initial value is recomputed from the factor, because repeated subtraction has left
/// mostly rounding error.
pub(super) const ROUNDING_DOMINATED: f64 = 1e-10;
/// Rounding can make a residual negative, but not by more than this fraction of the largest diagonal entry unless the matrix
/// has a negative eigenvalue.
pub(super) const NEGATIVE: f64 = 1e-8;
pub(super) struct Run<'a> {
    pub(super) source: &'a dyn Columns,
    pub(super) rule: &'a Rule<'a>,
    ctx: &'a Context<'a>,
    pub(super) rng: Rng,
    pub(super) n: usize,
    /// `L`, column-major, one column per pivot.
    pub(super) l: Vec<f64>,
    diagonal: Vec<f64>,
    pub(super) residual: Vec<f64>,
    pub(super) pivots: Vec<usize>,
    pub(super) norms: Vec<f64>,
    pub(super) largest: f64,
    trace: f64,
    /// The smallest difference so far between the largest residual norm, relative to the initial one, and its threshold.
    margin: f64,
    /// The next row to consider when pivoting in row order.
    pub(super) next_in_order: usize,
    /// The first row with the largest residual, if known.
    pub(super) top: Option<(usize, f64)>,
    /// Residuals before the last batch.
    pub(super) previous: Vec<f64>,
    /// The sample of rows on which gains are estimated.
    pub(super) sample: Option<Sample>,
}

impl<'a> Run<'a> {
    pub(super) fn start(source: &'a dyn Columns, rule: &'a Rule<'a>, ctx: &'a Context<'a>) -> Result<Self> {
        let diagonal = source.diagonal();
        for (row, &value) in diagonal.iter().enumerate() {
            if !value.is_finite() || value < 0.0 {
                return Err(Error::Breakdown {
                    step: "pivoted Cholesky",
                    why: format!(
                        "the kernel value of row {} with itself is {}; it must be finite and not negative \
                         (scale the features, or choose another kernel)",
                        row + 1,
                        number(value)
                    ),
                });
            }
        }
        let largest = diagonal.iter().copied().fold(0.0, f64::max).sqrt();
        Ok(Self {
            source,
            rule,
            ctx,
            rng: Rng::stream(ctx.seed, "pivots"),
            n: diagonal.len(),
            l: vec![],
            residual: diagonal.clone(),
            trace: diagonal.iter().sum(),
            diagonal,
            pivots: vec![],
            norms: vec![],
            largest,
            margin: 1.0,
            next_in_order: 0,
            top: None,
            previous: vec![],
            sample: None,
        })
    }

    pub(super) fn finish(self, stop: Stop) -> Factor {
        let shape = (self.n, self.pivots.len()).f();
        Factor {
            pivots: self.pivots,
            l: Array2::from_shape_vec(shape, self.l).expect("one column per pivot"),
            norms: self.norms,
            residual: self.residual,
            largest: self.largest,
            trace: self.trace,
            stop,
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Selected rows of the factor, column-major.
    pub(super) fn rows(&self, which: &[usize]) -> Array2<f64> {
        rows_of(&self.l, self.n, which)
    }

    /// The residual matrix of some rows, row-major; `known` are their rows of the factor.
    pub(super) fn residual_block(&self, rows: &[usize], known: &Array2<f64>) -> Array2<f64> {
        let mut block = self.source.block(rows);
        add_product_by_rows(-1.0, known.view(), known.t(), block.view_mut(), RESIDUAL_ROWS);
        block
    }

    /// Squared norms of at most this value count as zero.
    pub(super) fn zero(&self) -> f64 {
        (self.rule.zero * self.largest).powi(2)
    }

    /// The first row with the largest residual, and that residual.
    pub(super) fn largest_residual(&mut self) -> (usize, f64) {
        *self.top.get_or_insert_with(|| first_largest(&self.residual))
    }

    /// Reports progress: the number of pivots or, with a threshold, how close the residuals are to it.
    pub(super) fn report_progress(&self) -> Result<()> {
        let total = self.rule.max_rank.min(self.n);
        let has_threshold = (self.rule.threshold)(total) > 0.0;
        let by_threshold = if has_threshold { (total as f64 * (1.0 - self.margin)) as usize } else { 0 };
        self.ctx.step("pivots", self.rank().max(by_threshold).min(total), total)
    }

    /// Checks all stopping criteria.
    pub(super) fn should_stop(&mut self) -> Option<Stop> {
        if self.rank() >= self.rule.max_rank.min(self.n) {
            return Some(if self.rank() == self.n { Stop::Exhausted } else { Stop::Requested });
        }
        let mut checked = None;
        let squared = loop {
            let (row, squared) = self.largest_residual();
            if squared <= self.zero() || checked == Some(row) || !self.is_rounding_dominated(row, squared) {
                break squared;
            }
            self.recompute(row);
            checked = Some(row);
        };
        let sum = if self.needs_sum() { self.residual.iter().sum() } else { 0.0 };
        self.residual_stop(self.rank(), squared, sum)
    }

    /// Whether a stopping criterion needs the sum of residuals.
    pub(super) fn needs_sum(&self) -> bool {
        self.rule.tolerance > 0.0
    }

    /// Checks the stopping criteria on the residuals, given their largest and their sum (if needed) at this rank.
    pub(super) fn residual_stop(&mut self, rank: usize, largest: f64, sum: f64) -> Option<Stop> {
        if largest <= self.zero() {
            return Some(Stop::Exhausted);
        }
        let (threshold, relative) = ((self.rule.threshold)(rank), largest.sqrt() / self.largest);
        if relative < threshold {
            return Some(Stop::Threshold);
        }
        self.margin = self.margin.min(relative - threshold);
        (self.needs_sum() && sum <= self.rule.tolerance * self.trace).then_some(Stop::Tolerance)
    }

    /// Whether a residual of a row is mostly rounding error.
    pub(super) fn is_rounding_dominated(&self, row: usize, residual: f64) -> bool {
        residual < ROUNDING_DOMINATED * self.diagonal[row]
    }

    /// Recomputes the residual of a row from the factor; 0 if it is only rounding error.
    pub(super) fn recompute(&mut self, row: usize) {
        let explained: f64 = self.rows(&[row]).iter().map(|v| v * v).sum();
        let exact = self.diagonal[row] - explained;
        self.residual[row] = if exact > self.zero() { exact } else { 0.0 };
        self.top = None;
    }

    /// Memory in bytes for a factor of `size` values: the factor, residuals, a batch in progress, the triangular factor of the
    /// pivots and its inverse, and temporary memory of products.
    fn bytes(&self, size: usize) -> f64 {
        let rank = (size / self.n) as f64;
        let sample = match self.rule.pivoting {
            Pivoting::Gain => {
                let rows = Sample::size(self.n);
                Sample::bytes(self.n) + self.source.block_bytes(rows) + 8.0 * rank * rows as f64
            }
            _ => 0.0,
        };
        let batch = (CHUNK * BATCH * rayon::current_num_threads()) as f64;
        sample + 8.0 * (size as f64 + 4.0 * self.n as f64 + batch + 2.0 * rank * rank) + product_bytes()
    }

    /// Reserves memory for more columns, or returns an error if they exceed the memory limit.
    pub(super) fn reserve(&mut self, columns: usize) -> Result<()> {
        let needed = self.l.len() + columns * self.n;
        if needed <= self.l.capacity() {
            return Ok(());
        }
        // Reserving more avoids copies; unused capacity costs address space but no memory.
        let limit = self.n * self.rule.max_rank.min(self.n);
        let growth = (self.n * RESERVED_COLUMNS).max(self.l.len() / 2);
        let preferred = (self.l.len() + growth).min(limit).max(needed);
        let fits = self.bytes(preferred) <= self.ctx.room() as f64;
        let capacity = if fits { preferred } else { needed };
        self.ctx.need_memory(
            format!("a basis of {} components for {} rows", capacity / self.n, self.n),
            self.bytes(capacity),
            "use fewer components, a smaller gamma or fewer rows, or raise the memory limit",
        )?;
        self.l.reserve_exact(capacity - self.l.len());
        prefer_large_pages(&mut self.l);
        Ok(())
    }
}
