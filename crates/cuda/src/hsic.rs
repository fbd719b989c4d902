//! HSIC of projected rows and its gradient, in double precision.
//!
//! All pairs are visited, each twice; nothing of size $n^2$ is kept. Sums have a fixed order, which does not depend on the GPU.

use crate::gpu::Gpu;
use kernsift::device::{Attempt, ProjectedPairs, Refusal};

const SOURCE: &str = include_str!("kernels/hsic.cu");
/// Rows of a block and threads of the second kernel, as in the source.
const ROWS: usize = 128;
const THREADS: usize = 256;
/// Blocks that keep any GPU busy.
const BLOCKS: usize = 2048;
/// Rows of a part, at least.
const MIN_PART: usize = 64;
/// Columns of projected rows and of the factor, at most: limits registers and shared memory.
const MAX_DIRECTIONS: usize = 24;
const MAX_FACTOR: usize = 32;
/// GPUs whose double precision is slower than single precision by more than this are no faster than processors.
const MAX_DOUBLE_RATIO: i32 = 4;

/// See [`kernsift::device::Accelerator::hsic`].
pub fn sums(gpu: &Gpu, pairs: ProjectedPairs, sums: Option<&mut [f64]>) -> Attempt<f64> {
    let n = pairs.n;
    let (q, c) = (pairs.rows.len() / n.max(1), pairs.factor.len() / n.max(1));
    let fits = (1..=MAX_DIRECTIONS).contains(&q) && (1..=MAX_FACTOR).contains(&c) && n < 1 << 26;
    if !fits || gpu.double_ratio > MAX_DOUBLE_RATIO {
        return Err(Refusal::Declined);
    }
    let width = if sums.is_some() { q + 1 } else { 1 };
    let defines =
        [format!("-DQ={q}"), format!("-DC={c}"), format!("-DGRADIENT={}", u8::from(sums.is_some()))];
    let blocks = n.div_ceil(ROWS);
    let parts = BLOCKS.div_ceil(blocks).clamp(1, n.div_ceil(MIN_PART));
    let per_part = n.div_ceil(parts);
    let _turn = gpu.enter()?;
    let (pair_sums, add_parts) =
        (gpu.kernel(SOURCE, "pair_sums", &defines)?, gpu.kernel(SOURCE, "add_parts", &defines)?);
    let (rows, factor) = (gpu.copy(pairs.rows)?, gpu.copy(pairs.factor)?);
    let out = gpu.allocate::<f64>(parts * n * width)?;
    let args = &mut [(&rows).into(), (&factor).into(), n.into(), per_part.into(), (&out).into()];
    // SAFETY: the arguments are those of the kernel; the output has `width` numbers for each row and part.
    unsafe { gpu.launch(pair_sums, (blocks, parts), ROWS, args)? };
    let args = &mut [(&out).into(), (n * width).into(), parts.into()];
    // SAFETY: the arguments are those of the kernel, which has a thread for each number of a part.
    unsafe { gpu.launch(add_parts, ((n * width).div_ceil(THREADS), 1), THREADS, args)? };
    let mut own = vec![];
    let cells = match sums {
        Some(sums) => sums,
        None => {
            own.resize(n, 0.0);
            &mut own
        }
    };
    out.read(cells)?;
    let total: f64 = cells.iter().step_by(width).sum();
    // The caller of another thread would get the same: a sum that is not finite is left to the processor.
    if total.is_finite() { Ok(total) } else { Err(Refusal::Declined) }
}
