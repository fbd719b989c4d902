//! Pivoted incomplete Cholesky factorisation of a matrix that is never formed.
//!
//! $K \approx L L^\top$ with $L$ of size $n \times m$, one column per pivot:
//!
//! $$ \delta_j = K_{jj}, \qquad L_{:k} = (K_{:p} - L L_{p:}^\top) / r, \quad r = \sqrt{\delta_p}, \qquad
//!    \delta \leftarrow \delta - L_{:k}^2 $$
//!
//! Only the diagonal of what is left over ($\delta$) is kept, so the cost is $O(n m)$ entries of $K$,
//! $O(n m^2)$ operations and $O(n m)$ memory.
//!
//! Done one pivot at a time this is a matrix-vector product per step, and waiting for memory. Here
//! pivots come in batches. A small twin of the problem (the candidates alone) says which pivots come
//! next; their columns are then made together by one matrix product over the factor so far, and only
//! the few columns of the same batch are left to subtract one by one. For greedy pivoting the twin is
//! a forecast: residuals only fall, so its order is the true one for as long as the largest residual
//! among the candidates stays above all others, and every step is checked against the true
//! residuals. For random pivoting the twin is rejection sampling, which gives exactly the
//! distribution of one-at-a-time sampling (Epperly, Tropp and Webber, arXiv 2410.03969). For pivots by
//! gain the twin is some rows drawn at random, on which gains are measured.

mod gain;
mod plan;

use super::pages::prefer_large_pages;
use super::product::{add_product_by_rows, product_bytes};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::outcome::Stop;
use crate::random::Rng;
use crate::simd::{add_combination, scale_and_reduce};
use gain::Drawn;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, ShapeBuilder};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Pivots made together at most.
const BATCH: usize = 32;
/// Pivots after which the columns still to come are brought up to date together: until then each new
/// column subtracts the recent ones for itself.
const REFRESH: usize = 8;
/// Columns for which room is made at a time, at least.
const AHEAD: usize = 256;
/// Rows that one task works on: 8 KiB of one column, and enough tasks to keep cores equally busy.
const CHUNK: usize = 1024;
/// A residual below this share of its start is computed again from the factor: what repeated
/// subtraction leaves of it is mostly rounding.
const DOUBTFUL: f64 = 1e-10;
/// A residual may fall below zero by rounding, but not by more than this share of the largest
/// diagonal entry unless the matrix has a negative eigenvalue.
const NEGATIVE: f64 = 1e-8;

/// A symmetric matrix that can be asked for its diagonal and for some of its columns.
pub trait Columns: Sync {
    /// Its diagonal.
    fn diagonal(&self) -> Vec<f64>;
    /// Writes the columns `which` side by side.
    fn columns_into(&self, which: &[usize], out: ArrayViewMut2<f64>);
    /// The entries where `which` meets `which`.
    fn block(&self, which: &[usize]) -> Array2<f64>;
    /// Bytes that [`Columns::block`] of so many rows works with beside its result.
    fn block_bytes(&self, rows: usize) -> f64;
}

/// How the next pivot is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pivoting {
    /// The largest residual; of equals, the first.
    Greedy,
    /// With probability proportional to the squared residual (randomly pivoted Cholesky).
    Random,
    /// The row that explains most of what is left of some rows drawn at random.
    Gain,
    /// In the order of the rows, leaving out those that depend on earlier ones.
    InOrder,
}

/// The first pivot. Kernels with a constant diagonal tie there, so the order of rows would decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPivot {
    /// Whatever the pivoting says; of equals the first row, as the paper's column order implies.
    First,
    /// The row that is most like all others: the largest mean of a column.
    Medoid,
}

/// When and where to go on.
pub struct Rule<'a> {
    /// How pivots are found.
    pub pivoting: Pivoting,
    /// A row that must be the first pivot.
    pub first: Option<usize>,
    /// Stop at this many.
    pub max_rank: usize,
    /// Residual norms at or below this share of the largest are zero.
    pub zero: f64,
    /// Stop when the residuals' squares add up to this share of the diagonal.
    pub tolerance: f64,
    /// Stop when the largest residual norm over the first falls below this function of the rank.
    pub threshold: &'a dyn Fn(usize) -> f64,
}

/// An incomplete factor.
#[derive(Debug, Clone)]
pub struct Factor {
    /// The rows chosen, in order.
    pub pivots: Vec<usize>,
    /// $L$, laid out by columns.
    pub l: Array2<f64>,
    /// $r_{kk}$: the residual norm of each pivot when it was chosen.
    pub norms: Vec<f64>,
    /// $\delta$: squared residual norms of all rows after the last step.
    pub residual: Vec<f64>,
    /// The largest residual norm before the first step, $r_{11}$ under greedy pivoting.
    pub largest: f64,
    /// The sum of the diagonal.
    pub trace: f64,
    /// Why it ended.
    pub stop: Stop,
}

impl Factor {
    /// The largest residual norm that is left, $r_{m+1,m+1}$ under greedy pivoting.
    pub fn next_norm(&self) -> f64 {
        self.residual.iter().copied().fold(0.0, f64::max).sqrt()
    }

    /// The rows of $L$ that belong to pivots: a lower triangular matrix.
    pub fn pivot_block(&self) -> Array2<f64> {
        self.l.select(ndarray::Axis(0), &self.pivots)
    }
}

/// Factors `source` by `rule`.
pub fn pivoted_cholesky(source: &dyn Columns, rule: &Rule, ctx: &Context) -> Result<Factor> {
    let mut run = Run::start(source, rule, ctx)?;
    let stop = loop {
        if let Some(stop) = run.should_stop() {
            break stop;
        }
        let Some(planned) = run.plan()? else { break Stop::Exhausted };
        let mut batch = run.make_columns(planned)?;
        let stop = run.work_off(&mut batch)?;
        run.spare = batch.columns;
        if let Some(stop) = stop {
            break stop;
        }
    };
    Ok(run.finish(stop))
}

/// Columns that are made but not yet part of the factor.
struct Batch {
    rows: Vec<usize>,
    /// `K[:, rows] - L L[rows, :]^T` with the first `base` columns of the factor.
    columns: Vec<f64>,
    base: usize,
}

struct Run<'a> {
    source: &'a dyn Columns,
    rule: &'a Rule<'a>,
    ctx: &'a Context<'a>,
    rng: Rng,
    n: usize,
    /// `L` by columns, as long as the rank.
    l: Vec<f64>,
    diagonal: Vec<f64>,
    residual: Vec<f64>,
    pivots: Vec<usize>,
    norms: Vec<f64>,
    largest: f64,
    trace: f64,
    /// The least distance between the largest residual and its threshold, both as shares of the first residual.
    gap: f64,
    /// Next row to look at when going in order.
    next_in_order: usize,
    /// The first row with the largest residual, while known.
    top: Option<(usize, f64)>,
    /// The memory of the last batch's columns, for the next.
    spare: Vec<f64>,
    /// The rows among which gains are compared.
    drawn: Option<Drawn>,
}

impl<'a> Run<'a> {
    fn start(source: &'a dyn Columns, rule: &'a Rule<'a>, ctx: &'a Context<'a>) -> Result<Self> {
        let diagonal = source.diagonal();
        for (row, &value) in diagonal.iter().enumerate() {
            if !value.is_finite() || value < 0.0 {
                return Err(Error::Breakdown {
                    step: "pivoted Cholesky",
                    why: format!(
                        "the kernel of row {} with itself is {value}; it must be finite and not negative \
                         (scale the data, or choose another kernel)",
                        row + 1
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
            gap: 1.0,
            next_in_order: 0,
            top: None,
            spare: vec![],
            drawn: None,
        })
    }

    fn finish(self, stop: Stop) -> Factor {
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

    fn rank(&self) -> usize {
        self.pivots.len()
    }

    fn factor(&self) -> ArrayView2<'_, f64> {
        ArrayView2::from_shape((self.n, self.rank()).f(), &self.l).expect("one column per pivot")
    }

    /// Squared norms at or below this are zero.
    fn zero(&self) -> f64 {
        (self.rule.zero * self.largest).powi(2)
    }

    /// The first row with the largest residual, and that residual.
    fn largest_residual(&mut self) -> (usize, f64) {
        *self.top.get_or_insert_with(|| first_largest(&self.residual))
    }

    /// How far it is: by the number of pivots or, if there is a threshold, by how near the residuals are to it.
    fn tell(&self) -> Result<()> {
        let most = self.rule.max_rank.min(self.n);
        let has_threshold = (self.rule.threshold)(most) > 0.0;
        let near = if has_threshold { (most as f64 * (1.0 - self.gap)) as usize } else { 0 };
        self.ctx.step("pivots", self.rank().max(near).min(most), most)
    }

    /// The stopping rules, which look at the rank and the residuals alone.
    fn should_stop(&mut self) -> Option<Stop> {
        if self.rank() >= self.rule.max_rank.min(self.n) {
            return Some(if self.rank() == self.n { Stop::Exhausted } else { Stop::Wanted });
        }
        let mut checked = None;
        let next = loop {
            let (row, squared) = self.largest_residual();
            if squared <= self.zero() {
                return Some(Stop::Exhausted);
            }
            if checked == Some(row) || !self.is_doubtful(row) {
                break squared.sqrt();
            }
            self.recompute(row);
            checked = Some(row);
        };
        let threshold = (self.rule.threshold)(self.rank());
        if next / self.largest < threshold {
            return Some(Stop::Threshold);
        }
        self.gap = self.gap.min(next / self.largest - threshold);
        if self.rule.tolerance > 0.0 && self.residual.iter().sum::<f64>() <= self.rule.tolerance * self.trace
        {
            return Some(Stop::Tolerance);
        }
        None
    }

    fn is_doubtful(&self, row: usize) -> bool {
        self.residual[row] < DOUBTFUL * self.diagonal[row]
    }

    /// Takes the residual of a row from the factor itself; 0 if only rounding is left of it.
    fn recompute(&mut self, row: usize) {
        let explained: f64 = self.factor().row(row).iter().map(|v| v * v).sum();
        let exact = self.diagonal[row] - explained;
        self.residual[row] = if exact > self.zero() { exact } else { 0.0 };
        self.top = None;
    }

    /// The columns of the planned pivots, less what the factor explains already.
    fn make_columns(&mut self, rows: Vec<usize>) -> Result<Batch> {
        self.reserve(rows.len())?;
        let (n, b) = (self.n, rows.len());
        let mut columns = std::mem::take(&mut self.spare);
        if columns.capacity() == 0 {
            columns.reserve_exact(n * BATCH);
            prefer_large_pages(&mut columns);
        }
        columns.resize(n * b, 0.0);
        let mut view = ArrayViewMut2::from_shape((n, b).f(), &mut columns).expect("n values per column");
        self.source.columns_into(&rows, view.view_mut());
        subtract_explained(view, &self.l, &rows);
        Ok(Batch { rows, columns, base: self.rank() })
    }

    /// What a basis of so many cells takes in the end: the cells, a batch in the making, the factor of the pivots and its
    /// inverse, and what products work with.
    fn bytes(&self, cells: usize) -> f64 {
        let rank = (cells / self.n) as f64;
        let drawn = match self.rule.pivoting {
            Pivoting::Gain => {
                let rows = Drawn::count(self.n);
                Drawn::bytes(self.n) + self.source.block_bytes(rows) + 8.0 * rank * rows as f64
            }
            _ => 0.0,
        };
        drawn + 8.0 * (cells as f64 + ((BATCH + 3) * self.n) as f64 + 2.0 * rank * rank) + product_bytes()
    }

    /// Room for more columns, after asking whether they fit.
    fn reserve(&mut self, columns: usize) -> Result<()> {
        let wanted = self.l.len() + columns * self.n;
        if wanted <= self.l.capacity() {
            return Ok(());
        }
        // Room ahead costs addresses, not memory, until it is used; and it moves less often.
        let most = self.n * self.rule.max_rank.min(self.n);
        let ahead = (self.n * AHEAD).max(self.l.len() / 2);
        let ahead = (self.l.len() + ahead).min(most).max(wanted);
        let fits = self.bytes(ahead) <= self.ctx.room() as f64;
        let capacity = if fits { ahead } else { wanted };
        self.ctx.need_memory(
            format!("a basis of {} components for {} rows", capacity / self.n, self.n),
            self.bytes(capacity),
            "ask for fewer components, a wider kernel or fewer rows, or raise --memory-limit",
        )?;
        self.l.reserve_exact(capacity - self.l.len());
        prefer_large_pages(&mut self.l);
        Ok(())
    }

    /// Makes pivots of the batch's rows for as long as the rules allow.
    fn work_off(&mut self, batch: &mut Batch) -> Result<Option<Stop>> {
        // Whether the rows so far came in the order of the forecast, as they nearly always do.
        let mut in_order = true;
        for step in 0..batch.rows.len() {
            // The plan itself was made after a look at the rules.
            if step > 0
                && let Some(stop) = self.should_stop()
            {
                return Ok(Some(stop));
            }
            let place = match self.rule.pivoting {
                Pivoting::Greedy if !(self.rank() == 0 && self.rule.first.is_some()) => {
                    let (row, _) = self.largest_residual();
                    match batch.rows.iter().position(|&r| r == row) {
                        Some(place) => place,
                        None => return Ok(None), // the forecast was off by rounding: plan anew
                    }
                }
                _ => step,
            };
            let row = batch.rows[place];
            if self.is_doubtful(row) {
                self.recompute(row);
            }
            if self.residual[row] > self.zero() {
                self.tell()?;
                self.accept(row, &batch.columns[place * self.n..(place + 1) * self.n], batch.base)?;
            }
            in_order &= place == step;
            if self.rank() - batch.base >= REFRESH {
                let from = if in_order { step + 1 } else { 0 };
                let (rows, columns) = (&batch.rows[from..], &mut batch.columns[from * self.n..]);
                let view = ArrayViewMut2::from_shape((self.n, rows.len()).f(), columns)
                    .expect("n values per column");
                subtract_explained(view, &self.l[batch.base * self.n..], rows);
                batch.base = self.rank();
            }
        }
        Ok(None)
    }

    /// Makes `row` a pivot: one more column of the factor, residuals less by its squares.
    fn accept(&mut self, row: usize, column: &[f64], base: usize) -> Result<()> {
        let (n, rank) = (self.n, self.rank());
        let norm = self.residual[row].sqrt();
        let weights: Vec<f64> = (base..rank).map(|k| -self.l[k * n + row]).collect();
        // Fresh memory is first touched by the thread that fills it: paging it in is half the price.
        let start = self.l.as_ptr();
        let spare = &mut self.l.spare_capacity_mut()[..n];
        // SAFETY: the first `rank * n` values are initialised, and do not overlap the spare room. Nothing moves them
        // while `earlier` is in use.
        let earlier = unsafe { std::slice::from_raw_parts(start, rank * n) };
        let recent = &earlier[base * n..];
        let (least, most, chunk) = spare
            .par_chunks_mut(CHUNK)
            .zip(self.residual.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, (new, residual))| {
                let at = chunk * CHUNK;
                let new = new.write_copy_of_slice(&column[at..at + new.len()]);
                if !weights.is_empty() {
                    add_combination(new, &recent[at..], n, &weights);
                }
                let (least, mut most) = scale_and_reduce(new, 1.0 / norm, residual);
                if chunk == row / CHUNK {
                    // r^2 - r^2, which rounding may leave on either side of zero.
                    residual[row - at] = 0.0;
                    most = first_largest(residual).1;
                }
                (least, most, chunk)
            })
            .reduce(
                || (f64::INFINITY, f64::NEG_INFINITY, usize::MAX),
                |a, b| {
                    let b_leads = b.1 > a.1 || (b.1 == a.1 && b.2 < a.2);
                    (a.0.min(b.0), if b_leads { b.1 } else { a.1 }, if b_leads { b.2 } else { a.2 })
                },
            );
        // SAFETY: all of the next `n` values were written above: there are as many residuals, so no chunk was left
        // out. If a chunk panics, this is not reached.
        unsafe { self.l.set_len((rank + 1) * n) };
        let new = &mut self.l[rank * n..];
        // Exact zeros above the diagonal; earlier pivots keep their residual of zero by clamping.
        for &pivot in &self.pivots {
            new[pivot] = 0.0;
        }
        new[row] = norm;
        let from = chunk * CHUNK;
        let place = self.residual[from..].iter().position(|&r| r == most).unwrap_or(0);
        self.top = Some((from + place, most));
        if least == f64::NEG_INFINITY {
            return Err(Error::Breakdown {
                step: "pivoted Cholesky",
                why: format!(
                    "the kernel of row {} is not a finite number somewhere; scale the columns",
                    row + 1
                ),
            });
        }
        if least < -NEGATIVE * self.largest * self.largest {
            return Err(Error::Breakdown {
                step: "pivoted Cholesky",
                why: format!(
                    "the kernel is not positive semidefinite: pivot {} (row {}) leaves a squared length of \
                     {least:.3e}; choose another kernel, or weights that are not negative",
                    rank + 1,
                    row + 1,
                ),
            });
        }
        self.pivots.push(row);
        self.norms.push(norm);
        Ok(())
    }
}

/// `columns -= L L[rows, :]^T`, with `l` by columns.
fn subtract_explained(columns: ArrayViewMut2<f64>, l: &[f64], rows: &[usize]) {
    let n = columns.nrows();
    let l = ArrayView2::from_shape((n, l.len() / n).f(), l).expect("n values per column");
    let weights = l.select(Axis(0), rows);
    add_product_by_rows(-1.0, l, weights.t(), columns, CHUNK);
}

/// The first of the largest entries. An empty slice gives `(0, -inf)`.
fn first_largest(values: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, &v) in values.iter().enumerate() {
        if v > best.1 {
            best = (i, v);
        }
    }
    best
}

/// An explicit matrix is a source too.
impl Columns for Array2<f64> {
    fn diagonal(&self) -> Vec<f64> {
        self.diag().to_vec()
    }

    fn columns_into(&self, which: &[usize], mut out: ArrayViewMut2<f64>) {
        for (to, &from) in which.iter().enumerate() {
            out.column_mut(to).assign(&self.column(from));
        }
    }

    fn block(&self, which: &[usize]) -> Array2<f64> {
        Array2::from_shape_fn((which.len(), which.len()), |(i, j)| self[[which[i], which[j]]])
    }

    fn block_bytes(&self, _rows: usize) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::multiply;
    use ndarray::array;

    pub(super) fn rule(pivoting: Pivoting) -> Rule<'static> {
        Rule { pivoting, first: None, max_rank: usize::MAX, zero: 1e-7, tolerance: 0.0, threshold: &|_| 0.0 }
    }

    pub(super) fn random_psd(n: usize, rank: usize, seed: u64) -> Array2<f64> {
        let mut rng = Rng::new(seed);
        let a = Array2::from_shape_simple_fn((n, rank), || rng.normal());
        multiply(a.view(), a.t())
    }

    pub(super) fn factor(k: &Array2<f64>, rule: &Rule) -> Factor {
        pivoted_cholesky(k, rule, &Context::default()).unwrap()
    }

    #[test]
    fn two_by_two_by_hand() {
        // The larger diagonal first: r = 3, column (2, 9)/3, residual 4 - 4/9.
        let k = array![[4.0, 2.0], [2.0, 9.0]];
        let f = factor(&k, &rule(Pivoting::Greedy));
        assert_eq!(f.pivots, [1, 0]);
        let second = (4.0_f64 - 4.0 / 9.0).sqrt();
        let expected = array![[2.0 / 3.0, second], [3.0, 0.0]];
        assert!((&f.l - &expected).iter().all(|e| e.abs() < 1e-15));
        assert_eq!(f.stop, Stop::Exhausted);
        assert_eq!(factor(&k, &rule(Pivoting::InOrder)).pivots, [0, 1]);
    }

    /// The one-at-a-time algorithm, with the whole residual matrix in hand.
    fn literal(k: &Array2<f64>, max_rank: usize) -> (Vec<usize>, Vec<f64>) {
        let mut left = k.clone();
        let (mut pivots, mut norms) = (vec![], vec![]);
        while pivots.len() < max_rank {
            let (p, squared) = first_largest(&left.diag().to_vec());
            if squared < 1e-9 {
                break;
            }
            let column = left.column(p).mapv(|v| v / squared.sqrt());
            for i in 0..k.nrows() {
                for j in 0..k.nrows() {
                    left[[i, j]] -= column[i] * column[j];
                }
            }
            pivots.push(p);
            norms.push(squared.sqrt());
        }
        (pivots, norms)
    }

    #[test]
    fn batches_find_the_pivots_of_the_literal_algorithm() {
        let all = [(40, 40, 1), (300, 60, 2), (300, 200, 3), (700, 90, 4)];
        // An interpreter takes a minute for a thousand times less.
        let cases = if cfg!(miri) { &[(24, 12, 1)][..] } else { &all };
        for &(n, rank, seed) in cases {
            let k = random_psd(n, rank, seed);
            let f = factor(&k, &rule(Pivoting::Greedy));
            let (pivots, norms) = literal(&k, rank);
            assert_eq!(f.pivots, pivots);
            // Norms are about 10; the literal form accumulates n roundings of the residual.
            assert!(f.norms.iter().zip(&norms).all(|(a, b)| (a - b).abs() < 1e-8));
            let rebuilt = multiply(f.l.view(), f.l.t());
            assert!((&rebuilt - &k).iter().all(|e| e.abs() < 1e-8 * n as f64));
        }
    }

    /// `u u'`, never written out.
    struct Outer(Vec<f64>);

    impl Columns for Outer {
        fn diagonal(&self) -> Vec<f64> {
            self.0.iter().map(|u| u * u).collect()
        }

        fn columns_into(&self, which: &[usize], mut out: ArrayViewMut2<f64>) {
            for ((row, to), v) in out.indexed_iter_mut() {
                *v = self.0[row] * self.0[which[to]];
            }
        }

        fn block(&self, which: &[usize]) -> Array2<f64> {
            Array2::from_shape_fn((which.len(), which.len()), |(i, j)| self.0[which[i]] * self.0[which[j]])
        }

        fn block_bytes(&self, _rows: usize) -> f64 {
            0.0
        }
    }

    #[test]
    fn more_rows_than_one_task_works_on() {
        // The largest stands in the last chunk, which is not full.
        let u: Vec<f64> = (0..CHUNK + 40).map(|i| 1.0 + i as f64).collect();
        let f = pivoted_cholesky(&Outer(u.clone()), &rule(Pivoting::Greedy), &Context::default()).unwrap();
        assert_eq!(f.pivots, [CHUNK + 39]);
        // u_i u_last / u_last, in two roundings.
        assert!(f.l.column(0).iter().zip(&u).all(|(l, u)| (l - u).abs() <= 1e-15 * u.abs() * 2.0));
    }

    #[test]
    fn every_rule_stops_for_its_own_reason() {
        let k = random_psd(50, 20, 5);
        let few = Rule { max_rank: 7, ..rule(Pivoting::Greedy) };
        assert_eq!((factor(&k, &few).pivots.len(), factor(&k, &few).stop), (7, Stop::Wanted));
        let loose = Rule { tolerance: 0.2, ..rule(Pivoting::Random) };
        let f = factor(&k, &loose);
        assert_eq!(f.stop, Stop::Tolerance);
        assert!(f.residual.iter().sum::<f64>() <= 0.2 * k.diag().sum());
        let threshold =
            Rule { threshold: &|rank| if rank >= 5 { 1.0 } else { 0.0 }, ..rule(Pivoting::Greedy) };
        assert_eq!((factor(&k, &threshold).pivots.len(), factor(&k, &threshold).stop), (5, Stop::Threshold));
        for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
            let f = factor(&k, &rule(pivoting));
            assert_eq!((f.pivots.len(), f.stop), (20, Stop::Exhausted), "{pivoting:?}");
        }
    }

    /// Random pivots must follow the residuals: on a diagonal matrix the first pivot is drawn by
    /// the diagonal, whatever the batch does.
    #[test]
    fn random_pivots_have_the_right_distribution() {
        let k = Array2::from_diag(&array![1.0, 2.0, 5.0]);
        let draws = 20_000;
        let mut first = [0usize; 3];
        let mut second_after_two = [0usize; 3];
        for seed in 0..draws {
            let ctx = Context { seed, ..Context::default() };
            let f = pivoted_cholesky(&k, &rule(Pivoting::Random), &ctx).unwrap();
            first[f.pivots[0]] += 1;
            if f.pivots[0] == 2 {
                second_after_two[f.pivots[1]] += 1;
            }
        }
        // Five standard errors of a share p of n draws.
        let close = |count: usize, n: usize, p: f64| {
            (count as f64 - p * n as f64).abs() < 5.0 * (n as f64 * p * (1.0 - p)).sqrt()
        };
        assert!(close(first[0], draws as usize, 0.125) && close(first[1], draws as usize, 0.25), "{first:?}");
        assert!(close(second_after_two[1], first[2], 2.0 / 3.0), "{second_after_two:?}");
    }

    #[test]
    fn a_negative_eigenvalue_is_named() {
        let k = array![[1.0, 2.0], [2.0, 1.0]];
        let error = pivoted_cholesky(&k, &rule(Pivoting::Greedy), &Context::default()).unwrap_err();
        assert!(error.to_string().contains("pivot 1 (row 1)"), "{error}");
        let k = array![[1.0, 0.0], [0.0, -1.0]];
        let error = pivoted_cholesky(&k, &rule(Pivoting::Greedy), &Context::default()).unwrap_err();
        assert!(error.to_string().contains("row 2 with itself is -1"), "{error}");
    }

    #[test]
    fn zeros_and_duplicates() {
        let zero = Array2::<f64>::zeros((3, 3));
        assert_eq!(factor(&zero, &rule(Pivoting::Greedy)).pivots.len(), 0);
        assert_eq!(factor(&zero, &rule(Pivoting::InOrder)).pivots.len(), 0);
        let same = Array2::<f64>::ones((4, 4));
        for pivoting in [Pivoting::Greedy, Pivoting::Random, Pivoting::Gain, Pivoting::InOrder] {
            assert_eq!(factor(&same, &rule(pivoting)).pivots.len(), 1);
        }
    }

    #[test]
    fn the_first_pivot_can_be_given() {
        let k = random_psd(30, 10, 8);
        let f = factor(&k, &Rule { first: Some(17), ..rule(Pivoting::Greedy) });
        assert_eq!(f.pivots[0], 17);
    }

    #[test]
    fn too_little_memory_is_refused() {
        let ctx = Context { memory_limit: 1000, ..Context::default() };
        let error = pivoted_cholesky(&random_psd(50, 20, 5), &rule(Pivoting::Greedy), &ctx).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }), "{error}");
    }
}
