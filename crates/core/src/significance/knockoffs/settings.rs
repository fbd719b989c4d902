//! The knockoff filter around a selector.

use super::copies::CopyModel;
use super::filter::{e_values, fewest_selected, select_by_e_values};
use crate::context::{Context, Quiet};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::parameters::Parameters;
use crate::random::Rng;
use crate::select::{FeatureCount, Selection, Selector};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

const NAME: &str = "knockoffs";
const MIN_SAMPLES: usize = 10;

crate::parameters! {
    /// Selection with a bound on the false discovery rate (FDR), by knockoffs.
    ///
    /// Every feature gets a random copy that has the same correlations with all other features, but nothing to do with the target
    /// beyond them. A selector scores features and copies together. If $Z_j$ and $\tilde Z_j$ are the scores of a feature and of
    /// its copy, $W_j = Z_j - \tilde Z_j$ is as likely positive as negative for a feature that adds nothing to the others. The
    /// number of negative $W_j$ therefore estimates the number of false positives (knockoff+; Candès, Fan, Janson and Lv, 2018).
    ///
    /// Copies are drawn from a normal distribution with the correlations of the features: those of principal components with at
    /// least a tenth of the variance, and those of pairs of residuals that stand out from noise (Fan, Liao and Mincheva, 2013).
    /// $\tilde X_j$ has the correlation $1 - s_j$ with $X_j$; the $s_j$ make features and copies hardest to reconstruct from each
    /// other (minimum variance-based reconstructability; Spector and Janson, 2022). The bound is exact only for normal features with
    /// known covariance; otherwise it is an approximation. Cost: about ten inversions of order $d$, and a fit to $2 d$ features per
    /// copy.
    ///
    /// With more than 4000 features and fewer samples, the correlations are shrunk towards 0 instead (Ledoit and Wolf, 2004), with
    /// equal $s_j$: then features that are correlated with relevant ones may be selected too often, most of all by methods that
    /// score each feature alone.
    ///
    /// Features must be numbers without missing values. Very similar features have similar copies, and so no power.
    #[derive(PartialEq)]
    pub struct Knockoffs as "knockoffs" {
        /// The bound on the expected fraction of false positives among the selected features. No fewer than `1/q` features can
        /// be selected.
        pub q: f64 = 0.1, inside(0, 1);
        /// Number of copies of all features. With several the result depends less on chance, but fewer features are found: they
        /// are merged by e-values (Ren and Barber, 2024), and no fewer than `2/q` features can be selected.
        pub n_copies: usize = 1, between(1, 1000);
        /// Whether to replace each feature by the normal quantiles of its ranks first, for features with heavy tails.
        pub normal_scores: bool = false;
    }
}

/// The result of [`Knockoffs`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnockoffResult {
    /// For each feature the score less that of its copy; the mean over copies.
    pub statistics: Vec<f64>,
    /// The e-value of each feature.
    pub e_values: Vec<f64>,
    /// The selected features, the largest e-value first.
    pub selected: Vec<usize>,
    /// The fewest features that can be selected at this `q`.
    pub fewest: usize,
}

impl KnockoffResult {
    /// The selected features first, all ranked by the score less that of the copy.
    pub fn selection(&self) -> Selection {
        let mut selection = Selection::by_score("knockoffs", self.statistics.clone(), self.selected.len());
        selection.order.sort_by_key(|feature| !self.selected.contains(feature));
        selection
    }
}

impl Knockoffs {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "knockoffs",
        title: "Knockoffs",
        summary: "Features that a selector prefers to random copies of them, with a bound on the false discovery rate",
        needs: Needs::Target,
        cost: "O(n d^2 + d^3) time, O(n d + d^2) memory, and n_copies fits to 2 d features",
        reference: "Candès, Fan, Janson and Lv, 2018; Ren and Barber, 2024",
    };

    /// Scores features and copies with the selector. A fit selects `count` of both; by default, at most three times the fewest
    /// features that the filter can select.
    pub fn run(
        &self,
        selector: &impl Selector,
        data: &Dataset,
        count: FeatureCount,
        ctx: &Context,
    ) -> Result<KnockoffResult> {
        self.check_ranges()?;
        data.need_rows(NAME, MIN_SAMPLES)?;
        data.need_unweighted(NAME, Vec::new)?;
        let fewest = fewest_selected(self.q, self.n_copies);
        let model = CopyModel::fit(data, self.normal_scores, NAME, ctx)?;
        let (n, d) = (data.n(), data.d());
        let quiet = Quiet(ctx.observer);
        let bytes = 8.0 * (n * d) as f64 * 6.0;
        let held = ctx.hold("copies of features", bytes, "use fewer rows or columns")?;
        let count = match count {
            FeatureCount::Auto => FeatureCount::Count((3 * fewest).min(d)),
            count => count,
        };
        let mut statistics = vec![];
        for copy in 0..self.n_copies {
            ctx.step("fits to features and copies", copy, self.n_copies)?;
            let mut rng = Rng::stream(ctx.seed, &format!("knockoff copy {copy}"));
            let copies = model.sample(&mut rng);
            let swapped: Vec<bool> = (0..d).map(|_| rng.below(2) == 1).collect();
            let both = side_by_side(data, model.x.view(), copies.view(), &swapped)?;
            let inner = Context { seed: rng.bits(), observer: &quiet, ..held };
            let scores = selector.select(&both, count, &inner)?.scores;
            let difference = |j: usize| (scores[j] - scores[j + d]) * if swapped[j] { -1.0 } else { 1.0 };
            statistics.push((0..d).map(difference).collect::<Vec<f64>>());
        }
        let e_values = e_values(&statistics, self.q);
        let selected = select_by_e_values(&e_values, self.q);
        if selected.is_empty() {
            ctx.warn(format!(
                "{NAME}: no feature is selected; at q = {} at least {fewest} features must stand out from their copies ({d} \
                 features; a larger q{} needs fewer)",
                self.q,
                if self.n_copies > 1 { " or a single copy" } else { "" }
            ));
        }
        let mean = |j: usize| statistics.iter().map(|w| w[j]).sum::<f64>() / self.n_copies as f64;
        Ok(KnockoffResult { statistics: (0..d).map(mean).collect(), e_values, selected, fewest })
    }
}

/// Features and copies; where `swapped`, the copy has the place of the feature, so that selectors that break ties by column order
/// prefer neither.
fn side_by_side(
    data: &Dataset,
    x: ArrayView2<f64>,
    copies: ArrayView2<f64>,
    swapped: &[bool],
) -> Result<Dataset> {
    let (n, d) = x.dim();
    let value = |(i, j): (usize, usize)| {
        let feature = j % d;
        if swapped[feature] == (j < d) { copies[[i, feature]] } else { x[[i, feature]] }
    };
    let both = Array2::from_shape_fn((n, 2 * d), value);
    if both.iter().any(|v| !v.is_finite()) {
        let why = "copies of features overflow; use normal scores".into();
        return Err(Error::Breakdown { step: NAME, why });
    }
    Dataset::with_target(both, data.target().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Target;
    use crate::select::{FisherScore, L1Svm};

    /// The class depends on the first `k` of `d` independent features.
    fn data(n: usize, d: usize, k: usize) -> Dataset {
        let mut rng = Rng::new(2);
        let x = Array2::from_shape_simple_fn((n, d), || rng.normal());
        let sums: Vec<f64> = x.rows().into_iter().map(|row| row.iter().take(k).sum()).collect();
        Dataset::labeled(x, sums.into_iter().map(|sum| usize::from(sum > 0.0)).collect()).unwrap()
    }

    #[test]
    fn relevant_features_are_selected() {
        let data = data(800, 60, 12);
        let knockoffs = Knockoffs { q: 0.2, ..Knockoffs::default() };
        let with = |knockoffs: &Knockoffs, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fisher = FisherScore::default();
            pool.install(|| knockoffs.run(&fisher, &data, FeatureCount::Auto, &Context::default()).unwrap())
        };
        let found = with(&knockoffs, 1);
        assert_eq!(found, with(&knockoffs, 2));
        let right = found.selected.iter().filter(|&&j| j < 12).count();
        assert!(right >= 10 && found.selected.len() <= right + 5, "{found:?}");
        let selection = found.selection();
        assert_eq!(selection.n_selected, found.selected.len());
        assert!(selection.selected().iter().all(|j| found.selected.contains(j)));
        let several = Knockoffs { n_copies: 4, q: 0.3, ..knockoffs };
        let found = with(&several, 2);
        assert!(found.selected.iter().filter(|&&j| j < 12).count() >= 10, "{found:?}");
    }

    #[test]
    fn too_few_for_the_filter() {
        // Three relevant features cannot pass at q = 0.1.
        let data = data(300, 20, 3);
        let found = Knockoffs::default()
            .run(&L1Svm::default(), &data, FeatureCount::Count(5), &Context::default())
            .unwrap();
        assert!(found.selected.is_empty() && found.fewest == 10);
    }

    #[test]
    fn bad_input() {
        let run = |knockoffs: Knockoffs, data: &Dataset| {
            let fisher = FisherScore::default();
            knockoffs.run(&fisher, data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
        };
        let data = data(40, 5, 2);
        for q in [0.0, 1.0] {
            assert!(run(Knockoffs { q, ..Knockoffs::default() }, &data).contains("'q'"));
        }
        let types = vec![crate::data::FeatureType::Category { levels: 2 }];
        let x = Array2::from_shape_fn((40, 1), |(i, _)| (i % 2) as f64);
        let target = Target::Continuous((0..40).map(f64::from).collect());
        let categories = Dataset::typed(vec!["c".into()], x, types, target.clone()).unwrap();
        assert!(run(Knockoffs::default(), &categories).contains("column 'c' holds categories"));
        let constant = Dataset::with_target(Array2::ones((40, 2)), target).unwrap();
        assert!(run(Knockoffs::default(), &constant).contains("all features are constant"));
    }
}
