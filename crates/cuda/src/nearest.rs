//! Lists of nearest neighbors by distances in single precision.

use crate::gpu::{Buffer, Gpu, Kernel};
use kernsift::device::{Attempt, Metric, NearestLists, Refusal};
use ndarray::ArrayView2;

const SOURCE: &str = include_str!("kernels/nearest.cu");
/// Rows listed for a query, at most; with the rows of a step they fit into the buffer of a block.
pub const MAX_LISTED: usize = 256;
/// Sides of blocks, columns at a time, threads of both kernels, as in the source.
const SIDE: usize = 128;
const DEPTH: usize = 8;
const THREADS: usize = 256;
const SELECTORS: usize = 128;
/// Queries at a time, and reference rows whose distances from them are in memory.
const QUERIES: usize = 8192;
const ROWS: usize = 32_768;

/// Search among some rows.
pub struct Lists<'a> {
    gpu: &'a Gpu,
    distances: Kernel,
    select: Kernel,
    reference: Buffer<'a, f32>,
    n: usize,
    /// Columns, filled up with zeros.
    width: usize,
    listed: usize,
    /// Reference rows at a time.
    rows: usize,
    memory: Buffer<'a, f32>,
}

impl<'a> Lists<'a> {
    /// Copies the rows to the GPU.
    pub fn new(gpu: &'a Gpu, reference: ArrayView2<f32>, listed: usize, metric: Metric) -> Attempt<Self> {
        let (n, d) = reference.dim();
        let width = d.next_multiple_of(DEPTH).max(DEPTH);
        if !(1..=MAX_LISTED).contains(&listed)
            || n == 0
            || n >= i32::MAX as usize
            || width > i32::MAX as usize
        {
            return Err(Refusal::Declined);
        }
        let defines = [format!("-DMANHATTAN={}", u8::from(metric == Metric::Manhattan))];
        let _turn = gpu.enter()?;
        let distances = gpu.kernel(SOURCE, "distances", &defines)?;
        let select = gpu.kernel(SOURCE, "select_nearest", &defines)?;
        let reference = gpu.copy(&padded(reference, width))?;
        let mut rows = ROWS.min(n.next_multiple_of(SIDE));
        let memory = loop {
            match gpu.allocate(QUERIES * rows) {
                // Smaller tiles.
                Err(Refusal::OutOfMemory) if rows > SIDE => rows = (rows / 2).next_multiple_of(SIDE),
                memory => break memory?,
            }
        };
        Ok(Self { gpu, distances, select, reference, n, width, listed, rows, memory })
    }
}

/// Rows with zeros in additional columns, which change no distance.
fn padded(rows: ArrayView2<f32>, width: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows.nrows() * width];
    for (out, row) in out.chunks_exact_mut(width).zip(rows.rows()) {
        out.iter_mut().zip(row).for_each(|(out, v)| *out = *v);
    }
    out
}

impl NearestLists for Lists<'_> {
    fn most_queries(&self) -> usize {
        QUERIES
    }

    fn lists(&mut self, queries: ArrayView2<f32>, exclude: &[u32]) -> Attempt<Vec<(f32, u32)>> {
        let q = queries.nrows();
        if q == 0 || q > QUERIES || exclude.len() != q {
            return Err(Refusal::Declined);
        }
        let own = padded(queries, self.width);
        let _turn = self.gpu.enter()?;
        let queries = self.gpu.copy(&own)?;
        let exclude = self.gpu.copy(exclude)?;
        let mut lists = self.gpu.allocate::<u64>(q * self.listed)?;
        lists.fill(0xff)?;
        for first in (0..self.n).step_by(self.rows) {
            let height = self.rows.min(self.n - first);
            let args = &mut [
                (&queries).into(),
                q.into(),
                self.reference.from(first * self.width),
                height.into(),
                self.width.into(),
                (&self.memory).into(),
                self.rows.into(),
            ];
            // SAFETY: the arguments are those of `distances`; `memory` has `rows` numbers, a multiple of `SIDE`, for each query.
            unsafe {
                let grid = (height.div_ceil(SIDE), q.div_ceil(SIDE));
                self.gpu.launch(self.distances, grid, THREADS, args)?;
            }
            let args = &mut [
                (&self.memory).into(),
                self.rows.into(),
                height.into(),
                first.into(),
                (&exclude).into(),
                (&lists).into(),
                self.listed.into(),
            ];
            // SAFETY: the arguments are those of `select_nearest`, which has a block and a list for each query.
            unsafe { self.gpu.launch(self.select, (q, 1), SELECTORS, args)? };
        }
        let mut keys = vec![0; q * self.listed];
        lists.read(&mut keys)?;
        Ok(keys.into_iter().map(|key: u64| (f32::from_bits((key >> 32) as u32), key as u32)).collect())
    }
}
