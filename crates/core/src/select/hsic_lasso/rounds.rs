//! Block HSIC Lasso in rounds: means and standard deviations, then $b$ and $G$ of all features.
//!
//! Samples are shuffled within a block of rows, and not over the complete table.

use super::factors::Blocks;
use super::solution::Solution;
use super::{HsicLasso, NAME};
use crate::blocks::{Block, BlockTarget, Layout, Moments, Next, Rounds};
use crate::context::Context;
use crate::data::{Classes, Dataset, Groups, Target, is_constant};
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
        let target = match (&block.target, &self.class_names) {
            (BlockTarget::Classes(codes), Some(names)) => {
                let classes = Target::Classes(Classes { codes: codes.clone(), names: names.clone() });
                // A target of one class in this block is one that no sample block depends on.
                if codes.iter().all(|code| *code == codes[0]) {
                    return Ok(sums);
                }
                let features = Array2::zeros((block.n(), 1));
                let data = Dataset::with_target(features, classes)?;
                samples.target(&data, self.method.target_kernel, NAME, ctx)?
            }
            _ => samples.feature(block.numbers(), &std[d..]),
        };
        let n = samples.0.len() as f64;
        let varying: Vec<usize> = (0..d).filter(|&j| std[j] > 0.0).collect();
        let factors: Vec<_> =
            varying.iter().map(|&j| samples.feature(&block.x.column(j).to_vec(), &std[j..=j])).collect();
        for (i, (&f, factor)) in varying.iter().zip(&factors).enumerate() {
            sums.b[f] = n * factor.product(&target);
            for (&g, other) in varying.iter().zip(&factors).take(i + 1) {
                let product = n * factor.product(other);
                (sums.g[[f, g]], sums.g[[g, f]]) = (product, product);
            }
        }
        sums.target_norm = n * target.product(&target);
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
