//! HSIC Lasso: selects features whose kernel matrices together approximate that of the target.

mod dense;
mod factors;
mod rounds;
mod solution;

pub(super) use self::rounds::{HsicLassoRounds, HsicLassoSums};

use super::columns::each_feature;
use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use super::standard::common_std;
use crate::context::Context;
use crate::data::{Dataset, Groups, is_constant};
use crate::dependence::TargetKernel;
use crate::error::{Error, Result};
use crate::linalg::product_bytes;
use crate::method::{Info, Needs};
use crate::optim::{LarsPath, LarsStop, nonnegative_lars};
use crate::random::Rng;
use factors::{Blocks, Stack};
use rayon::prelude::*;
use solution::Solution;
use std::collections::{BTreeSet, HashMap};

const NAME: &str = "HSIC Lasso";

/// Candidates between two checks for cancellation.
const CANDIDATES_PER_CHECK: usize = 128;

const MEMORY_ADVICE: &str = "use fewer permutations";

crate::parameters! {
    /// HSIC Lasso.
    ///
    /// With $\bar K_f$ the centered kernel matrix of feature $f$, divided by its Frobenius norm, and $\bar L$ that of
    /// the target,
    ///
    /// $$ \min_{a \ge 0} \tfrac12 \left\lVert \bar L - \sum_f a_f \bar K_f \right\rVert_F^2 + \lambda \sum_f a_f $$
    ///
    /// is convex. A feature is selected if $a_f > 0$: the target depends on it, and not only through features already
    /// selected. It detects any form of dependence on single features, but not features that predict the target only
    /// jointly, such as a pair whose product determines it.
    ///
    /// Kernels are Gaussian with the feature's standard deviation as bandwidth, so the scale of features does not
    /// matter. A class target has the class-balanced kernel, a continuous target that of features. All this agrees with
    /// pyHSICLasso, which selects the same features.
    ///
    /// A feature of several columns has one kernel matrix, the Gaussian kernel of the squared distance over its columns. If
    /// the columns are indicators of a category, divided by a common standard deviation, this kernel has one value for
    /// equal levels and one for different levels; after centering and division by the norm it is the delta kernel, of
    /// rank one less than the number of levels.
    ///
    /// Only $b_f = \langle \bar K_f, \bar L \rangle$ and $G_{fg} = \langle \bar K_f, \bar K_g \rangle$ are needed. Each
    /// matrix has a low-rank factor of rank 20 or so ([`crate::dependence::column_factor`]), so no $n \times n$ matrix
    /// is formed. The path over all $\lambda$ is computed by nonnegative least angle regression
    /// (nonnegative LARS), which needs $G$ only between features that enter and those with $b_f \ge
    /// \lambda$: factors of the others are used once, for $b_f$, and discarded.
    ///
    /// With blocks (block HSIC Lasso) the samples are shuffled and split into blocks of $B$ samples, $M$ times; $b$ and
    /// $G$ are means over all blocks, and matrices are centered and normalized per block. Samples that do not fill a
    /// block are omitted from that shuffle. This is an approximation for many samples.
    ///
    /// A requested number of features is reached where one more would enter. Features are ranked by their weights
    /// there, the others by their residual correlation (for those far from entering, $b_f$). By default (`auto`) the
    /// path ends at the penalty
    ///
    /// $$ \lambda = \max_f \frac{\operatorname{tr} \bar K_f \operatorname{tr} \bar L}{n - 1} + \frac{2 \ln d}{n}, $$
    ///
    /// approximately what the best of $d$ features independent of the target would reach: the first term is the mean of
    /// $b_f$ under permutations, the second the largest of $d$ squared normal variables. (With blocks, $n$ is the block
    /// size in the first term, and $\sqrt{n B M}$ in the second.)
    ///
    /// Cost: $O(n r^2)$ per feature, and the same for each pair of an entering feature and a candidate. Memory: factors
    /// of candidates, $n r$ numbers each; for features with mostly equal values, such as zeros, only the other values
    /// count. Factors that do not fit in memory are recomputed.
    ///
    /// Reference: Yamada, Jitkrittum, Sigal, Xing and Sugiyama, *High-dimensional feature selection by feature-wise
    /// kernelized lasso*, 2014; Climente-Gonzalez, Azencott, Kaski and Yamada, *Block HSIC Lasso*, 2019.
    #[derive(PartialEq)]
    pub struct HsicLasso as "HSIC Lasso" {
        /// Number of samples in a block; none uses all samples as one block.
        pub block_size: Option<usize> = None, at_least(2);
        /// Number of times to shuffle the samples into blocks; not used without blocks.
        pub permutations: usize = 3, between(1, 10_000);
        /// The kernel of the target. The bandwidth of auto is the standard deviation of a continuous target, that of gaussian the
        /// median distance between different values.
        pub target_kernel: TargetKernel = TargetKernel::Auto;
    }
}

impl HsicLasso {
    /// Bytes of the sample indices of all blocks.
    fn blocks_bytes(&self, n: usize) -> f64 {
        let Some(size) = self.block_size else { return 0.0 };
        // A list of sample indices, and the header of its allocation.
        self.permutations as f64 * (n / size) as f64 * (8.0 * size as f64 + 40.0)
    }

    fn blocks(&self, data: &Dataset, ctx: &Context) -> Result<Blocks> {
        let n = data.n();
        let mut rows: Vec<usize> = (0..n).collect();
        let weights = data.weights().given().map(<[f64]>::to_vec);
        let Some(size) = self.block_size else { return Ok(Blocks(vec![rows], weights)) };
        if weights.is_some() {
            return Err(Error::param(NAME, "block_size", "none with weights of samples", size));
        }
        if size > n {
            let expected = format!("at most the number of rows, {n}");
            return Err(Error::param(NAME, "block_size", expected, size));
        }
        ctx.need_memory(
            format!("the blocks of {NAME}"),
            self.blocks_bytes(n)
                + Blocks::bytes(self.permutations as f64 * (n / size) as f64, size, &data.groups()),
            MEMORY_ADVICE,
        )?;
        let mut rng = Rng::stream(ctx.seed, "HSIC Lasso blocks");
        let mut blocks = vec![];
        for _ in 0..self.permutations {
            rng.shuffle(&mut rows);
            blocks.extend(rows.chunks_exact(size).map(<[usize]>::to_vec));
        }
        Ok(Blocks(blocks, None))
    }
}

impl HsicLasso {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "hsic-lasso",
        title: "HSIC Lasso",
        summary: "Features with any dependence on the target that other features do not already explain",
        needs: Needs::Target,
        cost: "O(n) time per feature, O(n) memory for each candidate",
        reference: "Yamada et al., 2014; Climente-Gonzalez et al., 2019",
    };
}

impl Selector for HsicLasso {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn has_path(&self) -> bool {
        true
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn supports_outputs(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Single)
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        self.check()?;
        data.need_complete(NAME)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        let blocks = self.blocks(data, ctx)?;
        let ctx = &ctx.hold(format!("the blocks of {NAME}"), self.blocks_bytes(data.n()), MEMORY_ADVICE)?;
        let problem = Problem::new(self, data, blocks, ctx)?;
        let path = problem.path(wanted, ctx)?;
        let solution = Solution { b: &problem.b, target_norm: problem.target_norm };
        Ok(solution.selection(path, wanted, ctx))
    }

    fn nested(&self) -> bool {
        false
    }
}

struct Problem<'a> {
    data: &'a Dataset,
    groups: Groups,
    blocks: Blocks,
    /// The number by which to divide each column; 0 for columns to omit.
    std: Vec<f64>,
    /// $b$; 0 for constant features.
    b: Vec<f64>,
    /// $\langle \bar L, \bar L \rangle$: 1, or less if the target is constant in some blocks.
    target_norm: f64,
    /// The penalty that independent features may reach by chance.
    chance_penalty: f64,
}

impl<'a> Problem<'a> {
    fn new(method: &HsicLasso, data: &'a Dataset, blocks: Blocks, ctx: &Context) -> Result<Self> {
        let target = blocks.target(data, method.target_kernel, NAME, ctx)?;
        let groups = data.groups();
        let (mean, std) = data.x().weighted_moments(data.weights());
        let std = common_std(data.x(), &groups, &std);
        let divisor = |j: usize| if is_constant(mean[j], std[j]) { 0.0 } else { std[j] };
        let std: Vec<f64> = (0..std.len()).map(divisor).collect();
        let size = data.weights().total(blocks.0[0].len());
        // A factor, its buffer, and the values; products with the target.
        let bytes = 2.5 * blocks.feature_bytes(&groups) + 8.0 * data.n() as f64;
        let remaining_ctx =
            ctx.hold("the target of HSIC Lasso", target.bytes() as f64 + product_bytes(), "use fewer rows")?;
        let stage = "HSIC Lasso columns";
        let found = each_feature(data.x(), &groups, stage, bytes, &remaining_ctx, |j, cells| {
            let std = &std[groups.columns(j)];
            if std.iter().all(|v| *v == 0.0) {
                return (0.0, 0.0);
            }
            let feature = blocks.feature(cells, std);
            let by_chance = feature.product_of_traces(&target) / (size - 1.0);
            (feature.product(&target), by_chance)
        })?;
        let (b, by_chance): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
        let largest = by_chance.into_iter().fold(0.0, f64::max);
        let rows = (size * size * blocks.0.len() as f64).sqrt();
        let chance_penalty = largest + 2.0 * (data.d() as f64).ln().max(0.5) / rows;
        Ok(Self { data, groups, blocks, std, b, target_norm: target.product(&target), chance_penalty })
    }

    fn feature(&self, j: usize) -> Stack {
        let columns = self.groups.columns(j);
        let cells: Vec<f64> = columns.clone().flat_map(|column| self.data.x().column(column)).collect();
        self.blocks.feature(&cells, &self.std[columns])
    }

    fn path(&self, wanted: Option<usize>, ctx: &Context) -> Result<LarsPath> {
        let d = self.data.d();
        let end = LarsStop {
            max_active: wanted.unwrap_or(d),
            min_penalty: if wanted.is_some() { 0.0 } else { self.chance_penalty },
            max_knots: 8 * d + 100,
        };
        let mut cached: HashMap<usize, Stack> = HashMap::new();
        let mut bytes = 0;
        let mut entered = BTreeSet::new();
        nonnegative_lars(&self.b, end, |j, of| {
            entered.insert(j);
            ctx.step("HSIC Lasso path", entered.len().min(end.max_active), end.max_active)?;
            let entering = self.feature(j);
            let mut entries = Vec::with_capacity(of.len());
            for batch in of.chunks(CANDIDATES_PER_CHECK) {
                ctx.check()?;
                let new = |g: &&usize| !cached.contains_key(g);
                let missing: Vec<usize> = batch.iter().filter(new).copied().collect();
                // Factors cached, factors to compute, the current one, and two under construction.
                let planned =
                    bytes as f64 + (missing.len() + 3) as f64 * self.blocks.feature_bytes(&self.groups);
                if planned < ctx.room() as f64 / 4.0 {
                    let with_products = (planned + product_bytes()) as u64;
                    ctx.observer.plan("the columns of HSIC Lasso", ctx.held + with_products);
                    let computed: Vec<Stack> = missing.par_iter().map(|&g| self.feature(g)).collect();
                    bytes += computed.iter().map(|stack| stack.bytes() as u64).sum::<u64>();
                    cached.extend(missing.into_iter().zip(computed));
                }
                let entry = |g: &usize| match cached.get(g) {
                    Some(stack) => entering.product(stack),
                    None => entering.product(&self.feature(*g)),
                };
                entries.extend(batch.par_iter().map(entry).collect::<Vec<f64>>());
            }
            Ok(entries)
        })
    }
}

#[cfg(test)]
mod tests;
