//! The screen and its result.

use super::beyond::{Pair, Tested, beyond_bytes};
use super::blocks::Blocks;
use super::correction::Correction;
use super::functions::Columns;
use super::main_effects::without_main_effects;
use super::screen::{best_pairs, screen_bytes};
use super::target::target_columns;
use crate::context::Context;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use crate::random::Rng;
use serde::{Deserialize, Serialize};

pub(super) const NAME: &str = "interaction screen";
/// Samples below which no pair can be significant.
pub(super) const MIN_SAMPLES: usize = 10;
/// Pairs that are tested beyond their features, per feature, and at least and at most in all.
const TESTED_PER_FEATURE: usize = 5;
const MIN_TESTED: usize = 1000;
const MAX_TESTED: usize = 2000;
/// For data of many rows, the number of tested pairs times samples is about this, but at least `MIN_TESTED_TALL` pairs are
/// tested.
const TESTED_CELLS: usize = 20_000_000;
const MIN_TESTED_TALL: usize = 200;

crate::parameters! {
    /// Screening of all pairs of features for interactions; see the [module documentation](super).
    #[derive(PartialEq)]
    pub struct InteractionScreen as "interaction screen" {
        /// Functions of each feature. More resolve finer patterns and lower the power for coarse ones; time grows with the
        /// square.
        pub n_functions: usize = 4, between(1, 16);
        /// Number of pairs to report.
        pub n_pairs: usize = 100, between(1, 1_000_000);
        /// How p-values are adjusted for the number of all pairs. Those of pairs that the screen does not test count as 1.
        pub method: Correction = Correction::Bonferroni;
        /// Number of permutations of the target, which replace `method`: an adjusted p-value is the probability of any pair
        /// as significant as this one. 0 for none. Each permutation takes as long as the screen.
        pub permutations: usize = 0, between(0, 100_000);
        /// Significance level for adjusted p-values.
        pub alpha: f64 = 0.05, inside(0, 1);
    }
}

/// The result of an [`InteractionScreen`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interactions {
    /// The most significant pairs, the best first.
    pub pairs: Vec<Pair>,
    /// Number of leading pairs with a q-value of at most `alpha`.
    pub n_significant: usize,
    /// Number of all pairs, for which p-values are adjusted.
    pub n_all_pairs: usize,
    /// Features whose effects alone were removed from the target before the screen, the strongest first.
    pub main_effects: Vec<usize>,
}

impl Interactions {
    /// The features of significant pairs, each once, in the order of the pairs.
    pub fn significant_features(&self) -> Vec<usize> {
        let mut out: Vec<usize> = vec![];
        for pair in &self.pairs[..self.n_significant] {
            for feature in [pair.features.0, pair.features.1] {
                if !out.contains(&feature) {
                    out.push(feature);
                }
            }
        }
        out
    }
}

impl InteractionScreen {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "interactions",
        title: "Interaction screen",
        summary: "Pairs of features on which the target depends jointly, among all pairs",
        needs: Needs::Target,
        cost: "O(n d^2) matrix products in single precision; O(n d) memory",
        reference: "kernsift; tests by Pillai, 1955, and Fisher, 1922",
    };

    /// Scores all pairs of features and tests the best.
    pub fn run(&self, data: &Dataset, ctx: &Context) -> Result<Interactions> {
        self.check_ranges()?;
        data.need_unweighted(NAME, Vec::new)?;
        if self.permutations > 0 {
            let got = match self.method {
                Correction::BenjaminiHochberg => "bh",
                Correction::BenjaminiYekutieli => "by",
                Correction::Holm | Correction::Bonferroni => "",
            };
            if !got.is_empty() {
                return Err(Error::param(NAME, "method", "bonferroni or holm with permutations", got));
            }
        }
        data.need_rows(NAME, MIN_SAMPLES)?;
        if data.d() < 2 {
            let (what, expected, got) =
                ("features for pairs".into(), "at least 2".into(), data.d().to_string());
            return Err(Error::Shape { what, expected, got });
        }
        let target = target_columns(data, NAME)?;
        let advice = "use fewer rows or columns, or a smaller n_functions";
        let wide = 4 * self.n_functions;
        let bytes = Columns::bytes(data, wide) + Blocks::bytes(data, self.n_functions);
        let ctx = ctx.hold("functions of all features", bytes, advice)?;
        let temporary = Blocks::temporary_bytes(data, self.n_functions);
        ctx.need_memory("functions of all features", temporary, advice)?;
        let columns = Columns::new(data, wide);
        let blocks = Blocks::new(data, &columns, self.n_functions, &ctx)?;
        let n_all_pairs = data.d() * (data.d() - 1) / 2;
        let capacity = self.n_tested(data.n(), data.d()).min(n_all_pairs);
        let screen = Screen { settings: self, data, columns: &columns, blocks: &blocks, capacity };
        let bytes = screen_bytes(&blocks, capacity).max(beyond_bytes(
            data.n(),
            self.n_functions,
            target.len(),
            capacity,
        ));
        ctx.need_memory("scores of all pairs", bytes, advice)?;
        let (mut pairs, main_effects) = screen.pairs(&target, "pairs", &ctx)?;
        if self.permutations == 0 {
            self.adjust(&mut pairs, n_all_pairs);
        } else {
            pairs.truncate(self.n_pairs);
            screen.adjust_by_permutations(&mut pairs, &target, &ctx)?;
        }
        Ok(self.result(pairs, main_effects, n_all_pairs))
    }

    /// Adjusts the p-values of tested pairs for the number of all pairs, and drops pairs that are not reported.
    pub(super) fn adjust(&self, pairs: &mut Vec<Pair>, n_all_pairs: usize) {
        let p_values: Vec<f64> = pairs.iter().map(|pair| pair.p_value).collect();
        let q_values = self.method.adjust_among(&p_values, n_all_pairs);
        pairs.iter_mut().zip(q_values).for_each(|(pair, q_value)| pair.q_value = q_value);
        pairs.truncate(self.n_pairs);
    }

    /// The result with adjusted pairs.
    pub(super) fn result(
        &self,
        pairs: Vec<Pair>,
        main_effects: Vec<usize>,
        n_all_pairs: usize,
    ) -> Interactions {
        let n_significant = pairs.iter().take_while(|pair| pair.q_value <= self.alpha).count();
        Interactions { pairs, n_significant, n_all_pairs, main_effects }
    }

    /// Number of pairs to test of `d` features in `n` samples.
    pub(super) fn n_tested(&self, n: usize, d: usize) -> usize {
        let by_features = (TESTED_PER_FEATURE * d).clamp(MIN_TESTED, MAX_TESTED);
        let by_samples = (TESTED_CELLS / n).max(MIN_TESTED_TALL);
        by_features.min(by_samples).max(self.n_pairs)
    }
}

/// What the screen of the target shares with those of its permutations.
struct Screen<'a> {
    settings: &'a InteractionScreen,
    data: &'a Dataset,
    columns: &'a Columns<'a>,
    blocks: &'a Blocks,
    capacity: usize,
}

impl Screen<'_> {
    /// The tested pairs, the most significant first, and the features whose effects were removed from the target.
    fn pairs(&self, target: &[Vec<f64>], stage: &str, ctx: &Context) -> Result<(Vec<Pair>, Vec<usize>)> {
        let InteractionScreen { n_functions, alpha, .. } = *self.settings;
        let residual = without_main_effects(target, (self.columns, self.blocks), n_functions, alpha, ctx)?;
        if residual.target.is_empty() {
            return Ok((vec![], residual.features));
        }
        let best = best_pairs(self.blocks, &residual.target, self.capacity, stage, ctx)?;
        let tested = Tested {
            data: self.data,
            columns: self.columns,
            target: &residual.target,
            removed: residual.removed,
            limit: n_functions,
        };
        Ok((tested.pairs(&best, &format!("{stage} beyond their features"), ctx)?, residual.features))
    }

    /// Compares each p-value with the smallest ones of permuted targets.
    fn adjust_by_permutations(&self, pairs: &mut [Pair], target: &[Vec<f64>], ctx: &Context) -> Result<()> {
        let permutations = self.settings.permutations;
        let mut rng = Rng::stream(ctx.seed, "permuted targets of the interaction screen");
        let mut order: Vec<usize> = (0..self.data.n()).collect();
        let mut smallest = Vec::with_capacity(permutations);
        for done in 0..permutations {
            rng.shuffle(&mut order);
            let permuted: Vec<Vec<f64>> =
                target.iter().map(|y| order.iter().map(|&i| y[i]).collect()).collect();
            let stage = format!("permutation {} of {permutations}: pairs", done + 1);
            let (found, _) = self.pairs(&permuted, &stage, ctx)?;
            smallest.push(found.first().map_or(0.0, |pair| pair.ln_p_value));
        }
        for pair in pairs {
            let at_most = smallest.iter().filter(|p| **p <= pair.ln_p_value).count();
            pair.q_value = (1 + at_most) as f64 / (1 + permutations) as f64;
        }
        Ok(())
    }
}
