//! The test of every feature, and its result.

use super::covariates::{Adjustment, Covariates};
use super::permutation::{Observed, Permutations};
use super::vectors::{DependenceStatistic, FeatureVectors, Side};
use crate::context::Context;
use crate::data::{Dataset, Target};
use crate::error::{Error, Result};
use crate::interactions::Correction;
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};

const NAME: &str = "feature test";
/// Samples below which no p-value is computed.
const MIN_SAMPLES: usize = 10;

crate::parameters! {
    /// Tests for every feature whether the target depends on it; see the [module documentation](super).
    #[derive(PartialEq)]
    pub struct FeatureTest as "feature test" {
        /// The measure of dependence.
        pub statistic: DependenceStatistic = DependenceStatistic::Cosine;
        /// Functions of each number, for the statistic `cosine`. More resolve finer patterns and lower the power for coarse
        /// ones.
        pub n_functions: usize = 4, between(1, 16);
        /// Number of permutations of the target; 0 for p-values from the asymptotic distribution.
        pub permutations: usize = 0, between(0, 1_000_000);
        /// How p-values are adjusted for the number of features.
        pub method: Correction = Correction::BenjaminiHochberg;
        /// Significance level for adjusted p-values.
        pub alpha: f64 = 0.05, inside(0, 1);
    }
}

/// A tested feature.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestedFeature {
    /// The feature.
    pub feature: usize,
    /// The sum of squared correlations times the number of samples (`cosine`), or HSIC.
    pub statistic: f64,
    /// The p-value; 1 for a constant feature.
    pub p_value: f64,
    /// The p-value adjusted for the number of tested features, also called q-value.
    pub q_value: f64,
}

/// The result of a [`FeatureTest`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureTests {
    /// The tested features, the most significant first.
    pub features: Vec<TestedFeature>,
    /// Number of leading features with an adjusted p-value of at most `alpha`.
    pub n_significant: usize,
    /// How covariates were accounted for.
    pub adjustment: Adjustment,
}

impl FeatureTest {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "test",
        title: "Feature test",
        summary: "p-value of every feature: does the target depend on it?",
        needs: Needs::Target,
        cost: "O(n log n) per feature, O(n) per feature and permutation",
        reference: "Pillai, 1955; Gretton et al., 2008; Kazi-Aoual et al., 1995; Benjamini and Hochberg, 1995",
    };

    /// Tests all features but the covariates.
    pub fn run(&self, data: &Dataset, covariates: &[usize], ctx: &Context) -> Result<FeatureTests> {
        self.check_ranges()?;
        data.need_rows(NAME, MIN_SAMPLES)?;
        data.need_unweighted(NAME, Vec::new)?;
        if self.statistic == DependenceStatistic::Hsic {
            data.need_unencoded(NAME)?;
        }
        if let Some(&unknown) = covariates.iter().find(|&&j| j >= data.d()) {
            let expected = format!("features below {}", data.d());
            return Err(Error::param(NAME, "covariates", expected, unknown));
        }
        let indices: Vec<usize> = (0..data.d()).filter(|j| !covariates.contains(j)).collect();
        if indices.is_empty() {
            return Err(Error::NoFeatures);
        }
        warn_of_single_rows(data, ctx);
        let covariates = Covariates::new(data, covariates, self.permutations > 0, NAME)?;
        let target = Side::of_target(data, self.statistic, &covariates.basis, NAME, ctx)?;
        let features = FeatureVectors::new(data, self.statistic, self.n_functions);
        let permutations =
            Permutations { target: &target, covariates: &covariates, count: self.permutations };
        let observed = permutations.observe(&features, &indices, ctx)?;
        self.warn_of_resolution(indices.len(), ctx);
        Ok(self.result(&indices, &observed, data.n() as f64, covariates.adjustment()))
    }

    fn result(
        &self,
        indices: &[usize],
        observed: &[Observed],
        n: f64,
        adjustment: Adjustment,
    ) -> FeatureTests {
        let p_value = |found: &Observed| match self.permutations {
            0 => found.ln_p_value.exp(),
            count => (1 + found.exceeding) as f64 / (1 + count) as f64,
        };
        let p_values: Vec<f64> = observed.iter().map(p_value).collect();
        let q_values = self.method.adjust(&p_values);
        let mut order: Vec<usize> = (0..indices.len()).collect();
        // Logarithms compare p-values that are too small for a floating-point number, or equal after permutations.
        order.sort_by(|&a, &b| {
            let by_tail = observed[a].ln_p_value.total_cmp(&observed[b].ln_p_value);
            p_values[a].total_cmp(&p_values[b]).then(by_tail)
        });
        let statistic = |at: usize| match self.statistic {
            DependenceStatistic::Cosine => observed[at].sum / n,
            DependenceStatistic::Hsic => observed[at].sum / (n * n),
        };
        let tested = |&at: &usize| TestedFeature {
            feature: indices[at],
            statistic: statistic(at),
            p_value: p_values[at],
            q_value: q_values[at],
        };
        let features: Vec<TestedFeature> = order.iter().map(tested).collect();
        let n_significant = features.iter().take_while(|found| found.q_value <= self.alpha).count();
        FeatureTests { features, n_significant, adjustment }
    }

    /// Warns if permutations cannot make a single feature significant.
    fn warn_of_resolution(&self, n_features: usize, ctx: &Context) {
        let smallest = 1.0 / (1 + self.permutations) as f64;
        let needed = self.method.fewest_significant(smallest, n_features, self.alpha);
        if self.permutations == 0 || needed == Some(1) {
            return;
        }
        let consequence = match needed {
            None => "no feature can be significant".to_owned(),
            Some(count) => format!("fewer than {count} features cannot be significant"),
        };
        ctx.warn(format!(
            "{NAME}: with {} permutations no p-value is below {smallest:.2e}, so that after adjustment for {n_features} \
             features {consequence} at the level {}; use more permutations, or 0 for asymptotic p-values",
            self.permutations, self.alpha
        ));
    }
}

/// Classes with few rows are one level of the target; one row is likely to be a mistake.
fn warn_of_single_rows(data: &Dataset, ctx: &Context) {
    let Target::Classes(classes) = data.target() else { return };
    let counts = classes.counts();
    let single: Vec<&str> =
        (0..counts.len()).filter(|&c| counts[c] == 1).map(|c| classes.names[c].as_str()).collect();
    if let Some(first) = single.first() {
        let others = if single.len() > 1 { format!(" and {} more", single.len() - 1) } else { String::new() };
        ctx.warn(format!(
            "{NAME}: class '{first}'{others} has a single row, which cannot show any dependence; drop or merge such classes"
        ));
    }
}
