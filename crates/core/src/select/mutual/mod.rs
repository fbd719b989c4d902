//! Mutual information by nearest neighbors: measures any form of dependence of the target on a feature.

mod chance;
mod neighbors;

use super::columns::{distinct, each_column, few_values, keep_leading, places};
use super::information::gain;
use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::{Classes, Dataset, FeatureType, Target};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::probability::normal_upper_quantile;
use crate::random::Rng;
use chance::expected_gain;
use neighbors::{Digamma, Labeled, Pairs};

const NAME: &str = "mutual information";
/// Significance level of the automatic selection.
const LEVEL: f64 = 0.05;
/// Minimum number of permutation estimates.
const MIN_PERMUTATION_ESTIMATES: usize = 200;

crate::parameters! {
    /// Mutual information by nearest neighbors.
    ///
    /// Continuous feature, classification (Ross): with $r_i$ the distance of a value to its $k$-th nearest neighbor
    /// within its class, $m_i$ the number of values of all classes nearer than $r_i$ and $N_{y_i}$ the size of its
    /// class (a sample counts itself),
    ///
    /// $$ I = \psi(n) + \psi(k) - \overline{\psi(N_{y_i})} - \overline{\psi(m_i)}. $$
    ///
    /// Continuous feature, regression (Kraskov and others): with $r_i$ the distance to the $k$-th nearest neighbor in
    /// the plane of feature and target, measured by the maximum norm, and $m^x_i$, $m^y_i$ the numbers of values nearer
    /// than $r_i$ in each coordinate,
    ///
    /// $$ I = \psi(n) + \psi(k) - \overline{\psi(m^x_i)} - \overline{\psi(m^y_i)}. $$
    ///
    /// Discrete numbers and classes: the information gain of the contingency table. All in nats; negative estimates
    /// become 0. Feature and target are divided by their standard deviations, so that scale does not matter.
    ///
    /// Categories are always discrete, and a missing value is one more level. Their gain grows with the number of levels
    /// even if they are independent of the classes, so its expected value under independence (over all tables with the
    /// same margins) is subtracted; a category with a level per sample then scores 0. For regression the estimate of Ross
    /// has no such bias.
    ///
    /// Missing values of a continuous number: with $m$ the indicator of missing values,
    ///
    /// $$ I((x, m); y) = I(m; y) + P(m = 0) \, I(x; y \mid m = 0) $$
    ///
    /// with both terms estimated as above, $I(m; y)$ as for a category. Of a discrete number, missing is one more value.
    ///
    /// Departure: the papers exclude ties, and scikit-learn breaks them by random noise; here they are counted. If
    /// values at the distance $r_i$ are tied, $k$ is the number of samples that really are nearer (at the distance 0:
    /// not farther), as Gao and others do for mixed features. The result is therefore deterministic; without ties it
    /// equals `mutual_info_classif` and `mutual_info_regression`.
    ///
    /// By default (`auto`) the method selects the features with more information than expected by chance, and at least
    /// one. The null distribution comes from permutations: the target is shuffled until there are at least 200
    /// estimates, and a feature must exceed their mean by $z$ standard deviations, with $z$ the normal quantile of 0.05
    /// divided by the number of features.
    ///
    /// Cost: $O(n (k + \log n))$ per feature, for regression with strips of about $\sqrt{k n}$ samples along one coordinate, each
    /// sorted by the other.
    ///
    /// References: Kraskov, Stögbauer and Grassberger, *Estimating mutual information*, 2004; Ross, *Mutual
    /// information between discrete and continuous data sets*, 2014; Gao, Kannan, Oh and Viswanath, *Estimating mutual
    /// information for discrete-continuous mixtures*, 2017; Vinh, Epps and Bailey, *Information theoretic measures for
    /// clusterings comparison*, 2010 (expected information under independence).
    #[derive(PartialEq)]
    pub struct MutualInformation as "mutual information" {
        /// Number of neighbors for the density estimate. Fewer neighbors give a larger variance, more a larger bias.
        pub n_neighbors: usize = 3, at_least(1);
        /// Which numbers are discrete. Categories always are.
        pub discrete: Discrete = Discrete::Auto;
    }
}

crate::choices! {
    /// Which features are discrete.
    pub enum Discrete {
        /// Features with at most 10 different integers and 5 or more samples each on average.
        Auto = "auto",
        /// All.
        All = "all",
        /// None.
        None = "none",
    }
}

impl MutualInformation {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "mutual-information",
        title: "Mutual information by nearest neighbors",
        summary: "Features with any dependence on the target, one feature at a time",
        needs: Needs::Target,
        cost: "O(n log n) time per feature",
        reference: "Kraskov et al., 2004; Ross, 2014",
    };
}

impl Selector for MutualInformation {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn supports_types(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_unencoded(NAME)?;
        let target = EstimatorTarget::of(data)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        self.check()?;
        data.need_rows(NAME, 2)?;
        let raw = self.estimates(data, &target, "mutual information", ctx)?;
        let scores: Vec<f64> =
            raw.iter().map(|estimate| estimate.map_or(0.0, |value| value.max(0.0))).collect();
        let threshold = if wanted.is_none() { self.chance_level(data, &target, ctx)? } else { 0.0 };
        let passes: Vec<bool> = scores.iter().map(|&score| score > threshold).collect();
        Ok(keep_leading(Selection::by_score("mutual-information", scores, 1), wanted, &passes, || {
            ctx.warn("mutual information: no feature is above chance; none is selected; methods that evaluate features jointly, such as HSFS, may find more");
        }))
    }
}

impl MutualInformation {
    /// The mutual information that a feature must exceed to be above chance.
    fn chance_level(&self, data: &Dataset, target: &EstimatorTarget, ctx: &Context) -> Result<f64> {
        let mut rng = Rng::stream(ctx.seed, "shuffled target");
        let mut permutation: Vec<usize> = (0..data.n()).collect();
        let mut estimates = vec![];
        for _ in 0..MIN_PERMUTATION_ESTIMATES.div_ceil(data.d()) {
            rng.shuffle(&mut permutation);
            estimates.extend(
                self.estimates(data, &target.take(&permutation), "shuffled target", ctx)?
                    .into_iter()
                    .flatten(),
            );
        }
        let n = (estimates.len() as f64).max(1.0);
        let mean = estimates.iter().sum::<f64>() / n;
        let std = (estimates.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n).sqrt();
        Ok((mean + normal_upper_quantile(LEVEL / data.d() as f64) * std).max(0.0))
    }

    /// The estimate for every feature, which may be negative; none for constant features.
    fn estimates(
        &self,
        data: &Dataset,
        target: &EstimatorTarget,
        stage: &str,
        ctx: &Context,
    ) -> Result<Vec<Option<f64>>> {
        let ctx = ctx.hold("table of digamma values", 8.0 * data.n() as f64, "use fewer rows")?;
        let psi = Digamma::up_to(data.n());
        let k = self.n_neighbors;
        // The sorted values of a feature, by class and together; copies of known values and their targets.
        let known = if data.has_missing() { 40.0 } else { 24.0 };
        // The pairs of a continuous target: sorted, and in strips.
        let pairs = if matches!(target, EstimatorTarget::Continuous(_)) { 40.0 } else { 0.0 };
        let bytes = (known + pairs) * data.n() as f64;
        each_column(data.x(), stage, bytes, &ctx, |j, column| {
            let varies = column.iter().any(|v| *v != column[0] && !(v.is_nan() && column[0].is_nan()));
            varies.then(|| match self.discrete_codes(column, data.feature_type(j)) {
                Some(codes) if data.feature_type(j).is_category() => target.category(&codes, k, &psi),
                Some(codes) => target.discrete(&codes, k, &psi),
                None if column.iter().any(|v| v.is_nan()) => target.with_missing(column, k, &psi),
                None => target.continuous(column, k, &psi),
            })
        })
    }

    /// The code of each sample, if the feature is discrete.
    fn discrete_codes(&self, column: &[f64], kind: FeatureType) -> Option<Vec<usize>> {
        let values = match self.discrete {
            _ if kind.is_category() => distinct(column),
            Discrete::None => return None,
            Discrete::Auto => {
                let known: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
                let values = few_values(&known, known.len() as f64);
                values.filter(|values| values.iter().all(|v| v.fract() == 0.0))?
            }
            Discrete::All => distinct(column),
        };
        Some(places(column, &values))
    }
}

/// The target in the form needed by the estimators.
enum EstimatorTarget {
    Classes(Classes),
    Continuous(Vec<f64>),
}

impl EstimatorTarget {
    fn of(data: &Dataset) -> Result<Self> {
        match data.target() {
            Target::None | Target::Outputs(_) => Err(Error::NeedsTarget { method: NAME }),
            Target::Classes(_) => Ok(Self::Classes(data.classes(NAME)?.clone())),
            Target::Continuous(values) if values.iter().all(|v| *v == values[0]) => {
                Err(Error::ConstantTarget { method: NAME, value: values.first().copied().unwrap_or(0.0) })
            }
            Target::Continuous(values) => Ok(Self::Continuous(values.clone())),
        }
    }

    /// The targets of these samples.
    fn take(&self, rows: &[usize]) -> Self {
        match self {
            Self::Continuous(values) => Self::Continuous(rows.iter().map(|&i| values[i]).collect()),
            Self::Classes(classes) => Self::Classes(Classes {
                codes: rows.iter().map(|&i| classes.codes[i]).collect(),
                names: classes.names.clone(),
            }),
        }
    }

    /// The estimate for a continuous feature.
    fn continuous(&self, column: &[f64], k: usize, psi: &Digamma) -> f64 {
        match self {
            Self::Classes(classes) => Labeled::new(column, &classes.codes).information(k, psi),
            Self::Continuous(y) => Pairs { x: column, y }.information(k, psi),
        }
    }

    /// The estimate for a discrete number.
    fn discrete(&self, codes: &[usize], k: usize, psi: &Digamma) -> f64 {
        match self {
            Self::Classes(classes) => gain(codes, &classes.codes),
            Self::Continuous(y) => Labeled::new(y, codes).information(k, psi),
        }
    }

    /// The estimate for a category.
    fn category(&self, codes: &[usize], k: usize, psi: &Digamma) -> f64 {
        let chance = match self {
            Self::Classes(classes) => expected_gain(codes, &classes.codes),
            Self::Continuous(_) => 0.0,
        };
        self.discrete(codes, k, psi) - chance
    }

    /// The estimate for a continuous feature with missing values.
    fn with_missing(&self, column: &[f64], k: usize, psi: &Digamma) -> f64 {
        let missing: Vec<usize> = column.iter().map(|v| usize::from(v.is_nan())).collect();
        let rows: Vec<usize> = (0..column.len()).filter(|&i| missing[i] == 0).collect();
        let known: Vec<f64> = rows.iter().map(|&i| column[i]).collect();
        // A constant has no information.
        let varies = known.iter().any(|v| *v != known[0]);
        let within = if varies { self.take(&rows).continuous(&known, k, psi) } else { 0.0 };
        self.category(&missing, k, psi) + known.len() as f64 / column.len() as f64 * within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    fn select(method: &MutualInformation, x: Array2<f64>, target: Target) -> Selection {
        let data = Dataset::with_target(x, target).unwrap();
        method.select(&data, FeatureCount::Auto, &Context::default()).unwrap()
    }

    #[test]
    fn the_estimate_of_a_bivariate_normal() {
        // -ln(1 - r^2) / 2 = 0.5108 for r = 0.8; the estimate from 2000 samples varies by about 0.03.
        let mut rng = Rng::new(7);
        let y: Vec<f64> = (0..2000).map(|_| rng.normal()).collect();
        let x = Array2::from_shape_fn((2000, 2), |(i, j)| {
            if j == 0 { 0.8 * y[i] + 0.6 * rng.normal() } else { rng.normal() }
        });
        let selection = select(&MutualInformation::default(), x, Target::Continuous(y));
        assert!((selection.scores[0] - 0.5108).abs() < 0.08, "{:?}", selection.scores);
        assert!(selection.scores[1] < 0.08, "{:?}", selection.scores);
        assert_eq!(selection.selected(), [0]);
    }

    #[test]
    fn nonlinear_dependence_and_categorical_features() {
        let mut rng = Rng::new(3);
        let x =
            Array2::from_shape_fn((600, 3), |(_, j)| if j == 2 { rng.below(3) as f64 } else { rng.normal() });
        let codes: Vec<usize> =
            x.rows().into_iter().map(|r| usize::from(r[0] * r[0] > 0.5) + usize::from(r[2] > 0.5)).collect();
        let selection = select(
            &MutualInformation::default(),
            x.clone(),
            Target::Classes(Classes::from_codes(codes.clone())),
        );
        let mut kept = selection.selected().to_vec();
        kept.sort_unstable();
        assert_eq!(kept, [0, 2]);
        // The third feature is categorical: its score is the information gain of the contingency table.
        let third: Vec<usize> = x.column(2).iter().map(|v| *v as usize).collect();
        assert_eq!(selection.scores[2], gain(&third, &codes));
        // As continuous values all its values are tied, and the estimate with ties is nearly the same.
        let numbers = MutualInformation { discrete: Discrete::None, ..MutualInformation::default() };
        let tied = select(&numbers, x, Target::Classes(Classes::from_codes(codes))).scores[2];
        assert!((tied - selection.scores[2]).abs() < 0.02, "{tied} {}", selection.scores[2]);
    }

    #[test]
    fn a_category_is_invariant_to_its_codes_and_a_level_per_sample_scores_zero() {
        let mut rng = Rng::new(5);
        let levels: Vec<usize> = (0..200).map(|_| rng.below(8)).collect();
        let codes: Vec<usize> = levels.iter().map(|l| usize::from(l % 3 == 0)).collect();
        let y: Vec<f64> = levels.iter().map(|&l| ((l * l) % 5) as f64 + 0.5 * rng.normal()).collect();
        // The category, its codes in another order, a level per sample, and noise.
        let x = Array2::from_shape_fn((200, 4), |(i, j)| match j {
            0 => levels[i] as f64,
            1 => ((levels[i] * 3 + 1) % 8) as f64,
            2 => i as f64,
            _ => rng.below(40) as f64,
        });
        let types = [8, 8, 200, 40].map(|levels| FeatureType::Category { levels }).to_vec();
        let names: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
        for target in [Target::Classes(Classes::from_codes(codes)), Target::Continuous(y)] {
            let data = Dataset::typed(names.clone(), x.clone(), types.clone(), target).unwrap();
            let method = MutualInformation::default();
            let selection = method.select(&data, FeatureCount::Auto, &Context::default()).unwrap();
            let scores = &selection.scores;
            assert!(scores[0] > 0.3 && (scores[0] - scores[1]).abs() < 1e-13, "{scores:?}");
            // The expected gain is a sum of 200 terms.
            assert!(scores[2] < 1e-12 && scores[3] < 0.15, "{scores:?}");
            let mut kept = selection.selected().to_vec();
            kept.sort_unstable();
            assert_eq!(kept, [0, 1]);
        }
    }

    #[test]
    fn missing_values_carry_information() {
        // Known values depend on the class; in the second feature only the missing values do; the third is noise.
        let mut rng = Rng::new(12);
        let codes: Vec<usize> = (0..500).map(|i| i % 2).collect();
        let x = Array2::from_shape_fn((500, 3), |(i, j)| {
            let missing = if j == 1 && codes[i] == 1 { 0.6 } else { 0.2 };
            let shift = if j == 0 { 3.0 * codes[i] as f64 } else { 0.0 };
            if rng.uniform() < missing { f64::NAN } else { rng.normal() + shift }
        });
        let indicator: Vec<usize> = x.column(1).iter().map(|v| usize::from(v.is_nan())).collect();
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let target = Target::Classes(Classes::from_codes(codes.clone()));
        let data = Dataset::with_missing(names, x, target).unwrap();
        let method = MutualInformation::default();
        let selection = method.select(&data, FeatureCount::Auto, &Context::default()).unwrap();
        assert_eq!(selection.selected(), [0, 1], "{:?}", selection.scores);
        // Known values have no information: the estimate varies by about 0.03.
        assert!((selection.scores[1] - gain(&indicator, &codes)).abs() < 0.06);
        // Complete values have 0.527 nats (two normals 3 apart, by numerical integration), 80 % are known. The estimate
        // varies by about 0.03.
        assert!((selection.scores[0] - 0.8 * 0.527).abs() < 0.08, "{:?}", selection.scores);
    }

    #[test]
    fn missing_and_constant_targets_are_rejected() {
        let error = |target: Target| {
            let data = Dataset::with_target(array![[1.0], [2.0], [3.0]], target).unwrap();
            let method = MutualInformation::default();
            method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string()
        };
        assert!(error(Target::None).starts_with("mutual information: needs a target"));
        assert!(error(Target::Continuous(vec![1.0; 3])).contains("the target is 1 in every row"));
        assert!(error(Target::Classes(Classes::from_codes(vec![0; 3]))).contains("all rows have the class"));
    }
}
