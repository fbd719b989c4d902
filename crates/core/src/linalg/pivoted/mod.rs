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

mod batch;
mod gain;
mod plan;

use super::pages::prefer_large_pages;
use super::product::product_bytes;
use crate::context::Context;
use crate::error::{Error, Result, number};
use crate::outcome::Stop;
use crate::random::Rng;
use gain::Drawn;
use ndarray::{Array2, ArrayViewMut2, Axis, ShapeBuilder, s};
use rayon::prelude::*;

/// Pivots made together at most.
const BATCH: usize = 64;
/// Columns for which room is made at a time, at least.
const AHEAD: usize = 256;
/// Rows that one task works on: few enough that a batch of columns stays in the cache, and enough for a matrix product.
const CHUNK: usize = 512;
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
    /// The columns `which` side by side, to be written a few rows at a time.
    fn columns(&self, which: &[usize]) -> Writer<'_>;
    /// The entries where `which` meets `which`.
    fn block(&self, which: &[usize]) -> Array2<f64>;
    /// Bytes that [`Columns::block`] of so many rows works with beside its result.
    fn block_bytes(&self, rows: usize) -> f64;
}

/// Writes columns of a matrix from the row given on, as many rows as there is room for.
pub type Writer<'a> = Box<dyn Fn(usize, ArrayViewMut2<f64>) + Sync + 'a>;

/// How the next pivot is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let l = self.l.t();
        rows_of(l.as_slice().expect("laid out by columns"), self.residual.len(), &self.pivots)
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
        if let Some(stop) = run.take(planned)? {
            break stop;
        }
    };
    Ok(run.finish(stop))
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
    /// Residuals before the last batch.
    before: Vec<f64>,
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
                        "the kernel of row {} with itself is {}; it must be finite and not negative \
                         (scale the data, or choose another kernel)",
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
            gap: 1.0,
            next_in_order: 0,
            top: None,
            before: vec![],
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

    /// Some rows of the factor, laid out by columns.
    fn rows(&self, which: &[usize]) -> Array2<f64> {
        rows_of(&self.l, self.n, which)
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
        let squared = loop {
            let (row, squared) = self.largest_residual();
            if squared <= self.zero() || checked == Some(row) || !self.is_doubtful(row, squared) {
                break squared;
            }
            self.recompute(row);
            checked = Some(row);
        };
        let sum = if self.wants_sum() { self.residual.iter().sum() } else { 0.0 };
        self.ends(self.rank(), squared, sum)
    }

    /// Whether a rule asks for the sum of residuals.
    fn wants_sum(&self) -> bool {
        self.rule.tolerance > 0.0
    }

    /// The rules that look at the residuals, whose largest and whose sum (if wanted) are these after so many pivots.
    fn ends(&mut self, rank: usize, largest: f64, sum: f64) -> Option<Stop> {
        if largest <= self.zero() {
            return Some(Stop::Exhausted);
        }
        let (threshold, share) = ((self.rule.threshold)(rank), largest.sqrt() / self.largest);
        if share < threshold {
            return Some(Stop::Threshold);
        }
        self.gap = self.gap.min(share - threshold);
        (self.wants_sum() && sum <= self.rule.tolerance * self.trace).then_some(Stop::Tolerance)
    }

    /// Whether a residual of a row is mostly what rounding left of it.
    fn is_doubtful(&self, row: usize, residual: f64) -> bool {
        residual < DOUBTFUL * self.diagonal[row]
    }

    /// Takes the residual of a row from the factor itself; 0 if only rounding is left of it.
    fn recompute(&mut self, row: usize) {
        let explained: f64 = self.rows(&[row]).iter().map(|v| v * v).sum();
        let exact = self.diagonal[row] - explained;
        self.residual[row] = if exact > self.zero() { exact } else { 0.0 };
        self.top = None;
    }

    /// What a basis of so many cells takes in the end: the cells, residuals, a batch in the making, the factor of the pivots and
    /// its inverse, and what products work with.
    fn bytes(&self, cells: usize) -> f64 {
        let rank = (cells / self.n) as f64;
        let drawn = match self.rule.pivoting {
            Pivoting::Gain => {
                let rows = Drawn::count(self.n);
                Drawn::bytes(self.n) + self.source.block_bytes(rows) + 8.0 * rank * rows as f64
            }
            _ => 0.0,
        };
        let made = (CHUNK * BATCH * rayon::current_num_threads()) as f64;
        drawn + 8.0 * (cells as f64 + 4.0 * self.n as f64 + made + 2.0 * rank * rank) + product_bytes()
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
            "ask for fewer components, a wider kernel or fewer rows, or raise the memory limit",
        )?;
        self.l.reserve_exact(capacity - self.l.len());
        prefer_large_pages(&mut self.l);
        Ok(())
    }
}

/// Some rows of a factor of `n` rows, both laid out by columns.
fn rows_of(l: &[f64], n: usize, which: &[usize]) -> Array2<f64> {
    let rank = l.len().checked_div(n).unwrap_or(0);
    let mut cells = vec![0.0; which.len() * rank];
    if !cells.is_empty() {
        let columns = cells.par_chunks_exact_mut(which.len()).zip(l.par_chunks_exact(n));
        columns.with_min_len(16).for_each(|(to, column)| {
            to.iter_mut().zip(which).for_each(|(to, &row)| *to = column[row]);
        });
    }
    Array2::from_shape_vec((which.len(), rank).f(), cells).expect("a cell for every row and pivot")
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

    fn columns(&self, which: &[usize]) -> Writer<'_> {
        let which = which.to_vec();
        Box::new(move |row, mut out| {
            let rows = s![row..row + out.nrows(), ..];
            out.assign(&self.slice(rows).select(Axis(1), &which));
        })
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

        fn columns(&self, which: &[usize]) -> Writer<'_> {
            let which = which.to_vec();
            Box::new(move |from, mut out| {
                for ((row, to), v) in out.indexed_iter_mut() {
                    *v = self.0[from + row] * self.0[which[to]];
                }
            })
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
