//! Screening of all pairs of features.
//!
//! Functions and their products with the target are rounded to half precision, which has as many digits as TF32 and twice its
//! speed. cuBLAS multiplies them with sums in single precision; one kernel adds up the squares of a pair, compares them with the
//! threshold, and keeps what may reach it.

use crate::gpu::{Buffer, Gpu, Kernel};
use kernsift::device::{Attempt, PairError, PairFunctions, PairTiles, Refusal, ScoredPair};
use std::collections::HashMap;
use std::ops::Range;

const SOURCE: &str = include_str!("kernels/pairs.cu");
/// Samples beyond which the bound on the error lets too many pairs pass.
const MAX_SAMPLES: usize = 16_384;
/// Pairs that one tile returns at most.
const CAPACITY: usize = 1 << 22;
/// Products in memory at a time.
const PRODUCTS: usize = 1 << 27;
/// Second sides of grids, at most.
const MAX_GRID: usize = 65_535;
/// Threads of a block.
const THREADS: usize = 256;
/// Samples are filled up to a multiple of this.
const ALIGNMENT: usize = 64;
/// Numbers that are uploaded at a time.
const UPLOADED: usize = 1 << 26;

/// The unit roundoff of half precision.
const HALF: f32 = 1.0 / 2048.0;

/// The error of scores of `n` samples whose pairs have `squares` squares.
///
/// Both factors and the result are rounded to half precision. Tensor cores add eight products or more at a time, exactly but for
/// the bits below the 23 of the largest; the bound is twice as large. Numbers below the normal range of half precision, 2^-14, have
/// an absolute error of 2^-25, which the factor 1.01 covers for functions with mean square 1.
pub fn error(n: usize, squares: usize) -> PairError {
    let additions = n as f32 / 8.0 + 8.0;
    PairError {
        products: 1.01 * (2.0 * HALF + HALF * HALF + additions * 2.0 * f32::EPSILON),
        result: 1.01 * (HALF + (squares + 4) as f32 * f32::EPSILON),
    }
}

/// The functions of a range of features on the GPU.
struct Uploaded<'g> {
    functions: Buffer<'g, u16>,
    weighted: Buffer<'g, u16>,
}

/// The screen of a set of functions.
pub struct Tiles<'a> {
    gpu: &'a Gpu,
    of: &'a PairFunctions<'a>,
    stride: usize,
    error: PairError,
    to_halves: Kernel,
    collect: Kernel,
    target: Buffer<'a, f32>,
    starts: Buffer<'a, i32>,
    norms: Buffer<'a, f32>,
    kurtosis: Buffer<'a, f32>,
    products: Buffer<'a, u16>,
    /// Found pairs as three numbers each, and how many.
    found: Buffer<'a, u32>,
    count: Buffer<'a, u32>,
    uploaded: HashMap<(usize, usize), Uploaded<'a>>,
}

impl<'a> Tiles<'a> {
    /// Declines more samples than the bound on the error is useful for.
    pub fn new(gpu: &'a Gpu, of: &'a PairFunctions<'a>) -> Attempt<Self> {
        let functions = of.starts.last().copied().unwrap_or(0);
        if of.n > MAX_SAMPLES || functions.saturating_mul(of.target.len()) > i32::MAX as usize {
            return Err(Refusal::Declined);
        }
        let _turn = gpu.enter()?;
        let most = (0..of.norms.len()).map(|feature| of.count(feature)).max().unwrap_or(0);
        let starts: Vec<i32> = of.starts.iter().map(|&start| start as i32).collect();
        Ok(Self {
            gpu,
            of,
            stride: of.n.next_multiple_of(ALIGNMENT),
            error: error(of.n, most * most * of.target.len()),
            to_halves: gpu.kernel(SOURCE, "to_halves", &[])?,
            collect: gpu.kernel(SOURCE, "collect", &[])?,
            target: gpu.copy(&of.target.concat())?,
            starts: gpu.copy(&starts)?,
            norms: gpu.copy(&of.norms)?,
            kurtosis: gpu.copy(&of.kurtosis)?,
            products: gpu.allocate(PRODUCTS.min((functions * of.target.len() * (functions + 8)).max(1)))?,
            found: gpu.allocate(3 * CAPACITY)?,
            count: gpu.allocate(1)?,
            uploaded: HashMap::new(),
        })
    }

    /// Uploads the functions of a range of features, unless they are there; if memory is short, in place of others.
    fn upload(&mut self, features: &Range<usize>, other: &Range<usize>) -> Attempt<()> {
        let key = (features.start, features.end);
        if self.uploaded.contains_key(&key) {
            return Ok(());
        }
        let new = match self.load(features) {
            Err(Refusal::OutOfMemory) => {
                self.uploaded.retain(|key, _| *key == (other.start, other.end));
                self.load(features)?
            }
            new => new?,
        };
        self.uploaded.insert(key, new);
        Ok(())
    }

    fn load(&self, features: &Range<usize>) -> Attempt<Uploaded<'a>> {
        let (n, t, stride) = (self.of.n, self.of.target.len(), self.stride);
        let functions = self.of.starts[features.start]..self.of.starts[features.end];
        let halves = self.gpu.allocate(functions.len() * stride)?;
        let weighted = self.gpu.allocate(functions.len() * t * stride)?;
        let at_a_time = (UPLOADED / n).max(1);
        let mut values = self.gpu.allocate(at_a_time.min(functions.len()) * n)?;
        for from in functions.clone().step_by(at_a_time) {
            let rows = from..functions.end.min(from + at_a_time);
            self.write(&mut values, rows.clone())?;
            let at = from - functions.start;
            let args = &mut [
                (&values).into(),
                (&self.target).into(),
                halves.from(at * stride),
                weighted.from(at * t * stride),
                n.into(),
                stride.into(),
                t.into(),
            ];
            // SAFETY: the arguments are those of `to_halves`; the buffers have a row of `n` or `stride` numbers for each block.
            unsafe {
                self.gpu.launch(self.to_halves, (rows.len(), stride.div_ceil(THREADS)), THREADS, args)?
            };
            // The buffer of values is written again.
            self.gpu.synchronize()?;
        }
        Ok(Uploaded { functions: halves, weighted })
    }

    /// Copies the values of some functions.
    fn write(&self, out: &mut Buffer<f32>, functions: Range<usize>) -> Attempt<()> {
        let n = self.of.n;
        let mut start = 0;
        for part in &self.of.parts {
            let end = start + part.len() / n;
            let (from, to) = (start.max(functions.start), end.min(functions.end));
            if from < to {
                out.write((from - functions.start) * n, &part[(from - start) * n..(to - start) * n])?;
            }
            start = end;
        }
        Ok(())
    }

    /// Products and scores of a tile, by parts of the first range.
    fn launch(
        &mut self,
        first: &Range<usize>,
        second: &Range<usize>,
        thresholds: &Buffer<f32>,
    ) -> Attempt<()> {
        let (starts, t) = (&self.of.starts, self.of.target.len());
        let factor = 1.0 / (self.of.n as f32).sqrt();
        let mut from = first.start;
        while from < first.end {
            // Pairs are in order: second features before the part have none.
            let second = second.start.max(from)..second.end;
            let width = starts[second.end] - starts[second.start];
            // Rows of products start at multiples of 16 bytes.
            let stride = width.next_multiple_of(8);
            let most = self.products.len() / stride.max(1);
            let mut to = from + 1;
            while to < first.end && to - from < MAX_GRID && (starts[to + 1] - starts[from]) * t <= most {
                to += 1;
            }
            let height = (starts[to] - starts[from]) * t;
            if height > most {
                return Err(Refusal::Declined);
            }
            if height > 0 && width > 0 {
                let a = &self.uploaded[&(first.start, first.end)].weighted;
                let key = self.uploaded.keys().find(|key| key.0 <= second.start && key.1 == second.end);
                let key = *key.expect("the range was uploaded");
                let b = &self.uploaded[&key].functions;
                let a_from = (starts[from] - starts[first.start]) * t * self.stride;
                let b_from = (starts[second.start] - starts[key.0]) * self.stride;
                // SAFETY: `b` has `width` and `a` has `height` rows of `self.stride` numbers from these positions on; the
                // products have room for `height` rows of `stride`.
                unsafe {
                    let size = (width, height, self.stride);
                    self.gpu.product(size, factor, (b, b_from), (a, a_from), (&mut self.products, stride))?;
                }
                let args = &mut [
                    (&self.products).into(),
                    stride.into(),
                    (&self.starts).into(),
                    t.into(),
                    from.into(),
                    second.start.into(),
                    second.end.into(),
                    (&self.norms).into(),
                    (&self.kurtosis).into(),
                    self.of.max_kurtosis.into(),
                    thresholds.into(),
                    self.error.products.into(),
                    self.error.result.into(),
                    (&self.found).into(),
                    (&self.count).into(),
                    CAPACITY.into(),
                ];
                // SAFETY: the arguments are those of `collect`, whose pairs are within the product.
                unsafe {
                    let grid = (second.len().div_ceil(THREADS), to - from);
                    self.gpu.launch(self.collect, grid, THREADS, args)?;
                }
            }
            from = to;
        }
        Ok(())
    }
}

impl PairTiles for Tiles<'_> {
    fn error(&self) -> PairError {
        self.error
    }

    fn tile(
        &mut self,
        first: Range<usize>,
        second: Range<usize>,
        thresholds: &[f32],
    ) -> Attempt<Option<Vec<ScoredPair>>> {
        let _turn = self.gpu.enter()?;
        self.upload(&first, &second)?;
        self.upload(&second, &first)?;
        let thresholds = self.gpu.copy(thresholds)?;
        self.count.fill(0)?;
        self.launch(&first, &second, &thresholds)?;
        let mut count = [0];
        self.count.read(&mut count)?;
        let count = count[0] as usize;
        if count > CAPACITY {
            return Ok(None);
        }
        let mut found = vec![0; 3 * count];
        self.found.read(&mut found)?;
        let pair = |f: &[u32]| ScoredPair { features: (f[0], f[1]), root: f32::from_bits(f[2]) };
        Ok(Some(found.chunks_exact(3).map(pair).collect()))
    }
}
