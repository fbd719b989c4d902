//! Block HSIC Lasso in rounds: means and standard deviations, then $b$ and $G$ of all features.
//!
//! Samples are shuffled within a block of rows, and not over the complete table.

use super::factors::{Blocks, Stack};
use super::solution::Solution;
use super::{HsicLasso, NAME};
use crate::blocks::{Block, BlockTarget, Layout, Moments, Next, Rounds};
use crate::context::Context;
use crate::data::{Classes, Dataset, Groups, Target, is_constant};
use crate::dependence::TargetKernel;
use crate::error::{Error, Result};
use crate::optim::{LarsStop, nonnegative_lars};
use crate::parameters::Parameters;
use crate::random::Rng;
use crate::select::selector::{FeatureCount, Selection};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// A round of HSIC Lasso.
#[derive(Serialize, Deserialize)]
pub struct HsicLassoRounds {
    method: HsicLasso,
    block_size: usize,
    class_names: Option<Vec<String>>,
    is_continuous: bool,
    wanted: usize,
    seed: u64,
    /// By which each feature, and the target after them, is divided; 0 for constant ones. `None` in the first round.
    std: Option<Vec<f64>>,
}

/// The sums of a round.
#[derive(Serialize, Deserialize)]
pub struct HsicLassoSums {
    moments: Vec<Moments>,
    /// Sums over the blocks of samples, whose number is `n_blocks`.
    b: Vec<f64>,
    g: Array2<f64>,
    target_norm: f64,
    n_blocks: f64,
}

impl HsicLassoRounds {
    pub(in crate::select) fn new(
        method: &HsicLasso,
        layout: &Layout,
        count: FeatureCount,
        ctx: &Context,
    ) -> Result<Self> {
        method.check_ranges()?;
        layout.need_target(NAME)?;
        let Some(block_size) = method.block_size else {
            let expected = "a number, such as 20, for a table that is read in passes";
            return Err(Error::param(NAME, "block_size", expected, "none"));
        };
        if block_size > layout.n.min(layout.block_rows) {
            let expected = format!("at most the rows of a block, {}", layout.n.min(layout.block_rows));
            return Err(Error::param(NAME, "block_size", expected, block_size));
        }
        let Some(wanted) = count.resolve(NAME, layout.d())? else {
            let expected = "given for a table that is read in passes";
            return Err(Error::param(NAME, "number of features", expected, "auto"));
        };
        let (class_names, is_continuous) = match &layout.target {
            crate::blocks::TargetLayout::Classes(names) => (Some(names.clone()), false),
            _ => (None, true),
        };
        if is_continuous && !matches!(method.target_kernel, TargetKernel::Auto | TargetKernel::Linear) {
            // The bandwidth of gaussian is a median over all rows; the others are for classes.
            let expected = "auto or linear for a continuous target that is read in passes";
            let got = serde_json::json!(method.target_kernel);
            return Err(Error::param(NAME, "target_kernel", expected, got.as_str().unwrap_or_default()));
        }
        let (method, seed) = (method.clone(), ctx.seed);
        Ok(Self { method, block_size, class_names, is_continuous, wanted, seed, std: None })
    }

    fn moments(&self, block: &Block) -> HsicLassoSums {
        let mut moments = vec![Moments::of(block.x.view(), &[], 1)];
        if self.is_continuous {
            let y = ArrayView2::from_shape((block.n(), 1), block.numbers()).expect("a column");
            moments.push(Moments::of(y, &[], 1));
        }
        HsicLassoSums { moments, b: vec![], g: Array2::zeros((0, 0)), target_norm: 0.0, n_blocks: 0.0 }
    }

    /// The samples of a block of rows, shuffled and cut.
    fn samples(&self, block: &Block) -> Blocks {
        let mut rng = Rng::stream(self.seed ^ (block.first as u64), "HSIC Lasso blocks");
        let mut rows: Vec<usize> = (0..block.n()).collect();
        let mut all = vec![];
        for _ in 0..self.method.permutations {
            rng.shuffle(&mut rows);
            all.extend(rows.chunks_exact(self.block_size).map(<[usize]>::to_vec));
        }
        Blocks(all, None)
    }

    /// The kernel matrices of the target; `None` if it is constant in this block of rows. `std` is the standard deviation of a
    /// continuous target.
    fn target(&self, samples: &Blocks, std: &[f64], block: &Block, ctx: &Context) -> Result<Option<Stack>> {
        let kernel = self.method.target_kernel;
        let target = match (&block.target, &self.class_names) {
            (BlockTarget::Classes(codes), Some(names)) => {
                Target::Classes(Classes { codes: codes.clone(), names: names.clone() })
            }
            _ if kernel == TargetKernel::Auto => return Ok(Some(samples.feature(block.numbers(), std))),
            _ => Target::Continuous(block.numbers().to_vec()),
        };
        let data = Dataset::with_target(Array2::zeros((block.n(), 1)), target)?;
        match samples.target(&data, kernel, NAME, ctx) {
            Ok(stack) => Ok(Some(stack)),
            Err(Error::OneClass { .. } | Error::ConstantTarget { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn products(&self, std: &[f64], block: &Block, ctx: &Context) -> Result<HsicLassoSums> {
        let (d, samples) = (block.x.ncols(), self.samples(block));
        let mut sums = HsicLassoSums {
            moments: vec![],
            b: vec![0.0; d],
            g: Array2::zeros((d, d)),
            target_norm: 0.0,
            n_blocks: samples.0.len() as f64,
        };
        if samples.0.is_empty() {
            return Ok(sums);
        }
        let target = self.target(&samples, &std[d..], block, ctx)?;
        let n = samples.0.len() as f64;
        let varying: Vec<usize> = (0..d).filter(|&j| std[j] > 0.0).collect();
        let factors: Vec<_> =
            varying.iter().map(|&j| samples.feature(&block.x.column(j).to_vec(), &std[j..=j])).collect();
        for (i, (&f, factor)) in varying.iter().zip(&factors).enumerate() {
            sums.b[f] = target.as_ref().map_or(0.0, |target| n * factor.product(target));
            for (&g, other) in varying.iter().zip(&factors).take(i + 1) {
                let product = n * factor.product(other);
                (sums.g[[f, g]], sums.g[[g, f]]) = (product, product);
            }
        }
        sums.target_norm = target.map_or(0.0, |target| n * target.product(&target));
        Ok(sums)
    }

    fn select(&self, total: &HsicLassoSums, ctx: &Context) -> Result<Selection> {
        let n = total.n_blocks;
        let d = total.b.len();
        let b: Vec<f64> = total.b.iter().map(|sum| sum / n).collect();
        let end = LarsStop { max_active: self.wanted, min_penalty: 0.0, max_knots: 8 * d + 100 };
        let path = nonnegative_lars(&b, end, |j, of| Ok(of.iter().map(|&g| total.g[[j, g]] / n).collect()))?;
        let solution = Solution { b: &b, target_norm: total.target_norm / n };
        Ok(solution.selection(path, Some(self.wanted), ctx))
    }
}

impl Rounds for HsicLassoRounds {
    type Sums = HsicLassoSums;
    type Fit = Selection;

    fn stage(&self) -> &'static str {
        if self.std.is_none() { "standard deviations" } else { "products of kernel matrices" }
    }

    fn rounds_left(&self) -> Option<usize> {
        Some(if self.std.is_none() { 2 } else { 1 })
    }

    fn bytes(&self, layout: &Layout) -> (f64, f64) {
        let d = layout.d();
        if self.std.is_none() {
            return (Moments::bytes(d + 1, 1), 0.0);
        }
        let rows = layout.block_rows.min(layout.n);
        let n_blocks = (self.method.permutations * (rows / self.block_size)) as f64;
        let factors = (d + 2) as f64 * Blocks::bytes(n_blocks, self.block_size, &Groups::single(1));
        (8.0 * (d * d + d) as f64, factors + 16.0 * (rows * self.method.permutations) as f64)
    }

    fn of_block(&self, block: &Block) -> Result<HsicLassoSums> {
        match &self.std {
            None => Ok(self.moments(block)),
            Some(std) => self.products(std, block, &Context { seed: self.seed, ..Context::default() }),
        }
    }

    fn add(&self, total: &mut HsicLassoSums, later: HsicLassoSums) {
        total.moments.iter_mut().zip(&later.moments).for_each(|(a, b)| a.add(b));
        total.b.iter_mut().zip(&later.b).for_each(|(a, b)| *a += b);
        total.g += &later.g;
        total.target_norm += later.target_norm;
        total.n_blocks += later.n_blocks;
    }

    fn update(self, total: HsicLassoSums, ctx: &Context) -> Result<Next<Self>> {
        if self.std.is_some() {
            return Ok(Next::Fit(self.select(&total, ctx)?));
        }
        let mut all = vec![];
        for part in &total.moments {
            let (mean, std) = part.standard()?;
            all.extend(mean.iter().zip(std).map(|(m, s)| if is_constant(*m, s) { 0.0 } else { s }));
        }
        if self.is_continuous && all.last() == Some(&0.0) {
            let value = total.moments.last().map_or(0.0, |y| y.column(0).mean);
            return Err(Error::ConstantTarget { method: NAME, value });
        }
        Ok(Next::Round(Self { std: Some(all), ..self }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Problem;
    use super::*;
    use crate::blocks::{BlockSource, MemoryBlocks};

    /// Asserts that the sums over blocks of rows are those in memory of the same blocks of samples.
    fn assert_sums_equal_those_in_memory(method: &HsicLasso, data: &Dataset, rows: usize) {
        let ctx = Context::default();
        let source = MemoryBlocks::new(data, rows).unwrap();
        let first = HsicLassoRounds::new(method, source.layout(), FeatureCount::Count(2), &ctx).unwrap();
        let mut blocks: Vec<Block> = vec![];
        source
            .pass(&ctx, &mut |block| {
                blocks.push(block);
                Ok(())
            })
            .unwrap();
        let sum = |rounds: &HsicLassoRounds| -> HsicLassoSums {
            let mut parts = blocks.iter().map(|block| rounds.of_block(block).unwrap());
            let mut total = parts.next().unwrap();
            parts.for_each(|later| rounds.add(&mut total, later));
            total
        };
        let total = sum(&first);
        let Next::Round(second) = first.update(total, &ctx).unwrap() else { panic!("two rounds") };
        let sums = sum(&second);
        let mut samples: Vec<Vec<usize>> = vec![];
        for block in &blocks {
            for of_block in second.samples(block).0 {
                samples.push(of_block.into_iter().map(|row| row + block.first).collect());
            }
        }
        let n = samples.len() as f64;
        assert_eq!(sums.n_blocks, n);
        let problem = Problem::new(method, data, Blocks(samples, None), &ctx).unwrap();
        // Standard deviations and products, which are at most 1, are sums in another order.
        let is_close = |sum: f64, mean: f64| (sum / n - mean).abs() < 1e-10;
        assert!(is_close(sums.target_norm, problem.target_norm));
        for f in 0..data.d() {
            assert!(is_close(sums.b[f], problem.b[f]), "{f}: {} {}", sums.b[f] / n, problem.b[f]);
            for g in 0..data.d() {
                let mean = problem.feature(f).product(&problem.feature(g));
                assert!(is_close(sums.g[[f, g]], mean), "{f} {g}: {} {mean}", sums.g[[f, g]] / n);
            }
        }
    }

    #[test]
    fn sums_equal_those_in_memory() {
        let n = 200;
        let mut rng = Rng::new(3);
        let x = Array2::from_shape_fn((n, 3), |(i, j)| rng.normal() + (i * j) as f64 / 100.0);
        // Blocks of 64 rows: the first has one class or a constant target, the last of 8 rows has no block of samples.
        let classes = Target::Classes(Classes::from_codes((0..n).map(|i| usize::from(i >= 100)).collect()));
        let numbers = (0..n).map(|i| if i < 64 { 5.0 } else { x[[i, 1]].sin() + x[[i, 2]] }).collect();
        let of_classes = [TargetKernel::Auto, TargetKernel::Delta, TargetKernel::Linear];
        let of_numbers = [TargetKernel::Auto, TargetKernel::Linear];
        for (target, kernels) in [(classes, &of_classes[..]), (Target::Continuous(numbers), &of_numbers[..])]
        {
            let data = Dataset::with_target(x.clone(), target).unwrap();
            for &target_kernel in kernels {
                let method = HsicLasso { block_size: Some(20), target_kernel, ..HsicLasso::default() };
                for rows in [64, 200] {
                    assert_sums_equal_those_in_memory(&method, &data, rows);
                }
            }
        }
    }
}
