//! Information gain: mutual information of a discretized feature and the class.

use super::bins::{Binning, Discretizer, binned_bytes, contingency, n_present};
use super::columns::{each_column, keep_leading};
use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::Dataset;
use crate::error::Result;
use crate::method::{Info, Needs};
use crate::probability::chi_squared_upper_tail;

pub(super) const NAME: &str = "information gain";
/// Significance level of the automatic selection.
const LEVEL: f64 = 0.05;

crate::parameters! {
    /// Information gain.
    ///
    /// $$ I_j = H(y) - H(y \mid b_j) = \sum_{b, c} p(b, c) \ln \frac{p(b, c)}{p(b) p(c)} $$
    ///
    /// in nats, with $b_j$ the bin of a value. Normalized variants: gain ratio $I_j / H(b_j)$, which does not favor
    /// many bins; symmetrical uncertainty $2 I_j / (H(b_j) + H(y))$, from 0 to 1.
    ///
    /// Numbers are discretized by MDL, so that a feature independent of the class has a gain of exactly 0; or with
    /// equal bins. The bins of a category are its levels; missing values are one more bin of any feature. A category with
    /// many levels has a large gain by chance: the gain ratio does not favor it. By default (`auto`) the method selects the features with MDL cuts; if bins do not depend on the
    /// classes (few distinct values, equal bins), the gain is positive by chance, so the feature must pass the G test
    /// ($2 n I_j$ is chi-squared) at 0.05 divided by the number of features. The best features up to the first that
    /// fails are selected.
    ///
    /// The score is univariate and keeps redundant copies. It depends only on the order of values, except with bins of
    /// equal width.
    ///
    /// Cost: $O(n \log n + n C)$ per feature.
    ///
    /// References: Quinlan, *Induction of decision trees*, 1986; Fayyad and Irani, IJCAI 1993.
    #[derive(PartialEq)]
    pub struct InformationGain as "information gain" {
        /// How to discretize numbers into bins.
        pub discretizer: Discretizer = Discretizer::Mdl;
        /// Number of bins; not used by mdl.
        pub n_bins: usize = 10, between(2, 10_000);
        /// What to measure.
        pub measure: Information = Information::Gain;
    }
}

crate::choices! {
    /// What to measure.
    pub enum Information {
        /// Information gain, in nats.
        Gain = "gain",
        /// Gain ratio: the gain divided by the entropy of the bins.
        Ratio = "ratio",
        /// Symmetrical uncertainty: twice the gain divided by the entropies of bins and classes.
        Uncertainty = "uncertainty",
    }
}

impl InformationGain {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "information-gain",
        title: "Information gain",
        summary: "Features whose bins predict the class, one feature at a time",
        needs: Needs::Classes,
        cost: "O(n log n) time per feature",
        reference: "Quinlan, 1986; Fayyad and Irani, 1993",
    };
}

impl Selector for InformationGain {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn supports_types(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_unencoded(NAME)?;
        let classes = data.classes(NAME)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        self.check()?;
        let n_classes = classes.names.len();
        let bytes = binned_bytes(data, self.discretizer);
        let (how, n_bins, weights) = (self.discretizer, self.n_bins, data.weights());
        let binning = Binning { classes: &classes.codes, weights, n_classes, how, n_bins };
        let found = each_column(data.x(), "information gain", bytes, ctx, |j, column| {
            let bins = binning.feature(column, data.feature_type(j));
            self.of_table(&contingency(&bins, &binning), bins.by_classes, data.d())
        })?;
        Ok(select_by(found, wanted, ctx))
    }
}

impl InformationGain {
    /// The score of one of `d` features and whether it is significant, by its contingency table of bins and classes.
    pub(super) fn of_table(&self, table: &[Vec<f64>], by_classes: bool, d: usize) -> (f64, bool) {
        let entropies = Entropies::of(table);
        let total: f64 = table.iter().flatten().sum();
        let degrees = (table.len().max(1) - 1) * (n_present(table) - 1);
        let passes = by_classes
            || chi_squared_upper_tail(2.0 * total * entropies.gain, degrees as f64) <= LEVEL / d as f64;
        (entropies.value(self.measure), entropies.gain > 0.0 && passes)
    }
}

/// The selection by the scores of all features, and whether they are significant.
pub(super) fn select_by(found: Vec<(f64, bool)>, wanted: Option<usize>, ctx: &Context) -> Selection {
    let (scores, passes): (Vec<f64>, Vec<bool>) = found.into_iter().unzip();
    let selection = Selection::by_score("information-gain", scores, 1);
    keep_leading(selection, wanted, &passes, || {
        ctx.warn("information gain: no feature predicts the class; none is selected; methods that evaluate features jointly, such as HSFS, may find more");
    })
}

/// The mutual information of categories and classes, in nats.
pub(super) fn gain(categories: &[usize], classes: &[usize]) -> f64 {
    let (by_category, by_class) = (counts_of(categories), counts_of(classes));
    if by_category.iter().filter(|&&rows| rows > 0).count() < 2 {
        return 0.0;
    }
    // Only pairs that occur: a full table may be as large as samples times classes.
    let mut pairs: Vec<(usize, usize)> = categories.iter().copied().zip(classes.iter().copied()).collect();
    pairs.sort_unstable();
    let runs = pairs.chunk_by(|a, b| a == b);
    let term = |run: &[(usize, usize)]| {
        let (bin, class) = (by_category[run[0].0], by_class[run[0].1]);
        gain_term(run.len() as f64, bin as f64, class as f64, pairs.len() as f64)
    };
    runs.map(term).sum::<f64>().max(0.0)
}

/// The number of samples with each code.
pub(super) fn counts_of(codes: &[usize]) -> Vec<usize> {
    let mut counts = vec![0usize; codes.iter().max().map_or(0, |most| most + 1)];
    codes.iter().for_each(|&code| counts[code] += 1);
    counts
}

/// The contribution to the gain of `both` of `n` samples, in a bin of `bin` samples and a class of `class`; numbers or weights.
pub(super) fn gain_term(both: f64, bin: f64, class: f64, n: f64) -> f64 {
    both / n * ((both * n) / (bin * class)).ln()
}

/// Entropies of a contingency table, in nats.
struct Entropies {
    gain: f64,
    bins: f64,
    classes: f64,
}

impl Entropies {
    fn of(table: &[Vec<f64>]) -> Self {
        let n: f64 = table.iter().flatten().sum();
        let n_classes = table.first().map_or(0, Vec::len);
        let by_bin: Vec<f64> = table.iter().map(|row| row.iter().sum()).collect();
        let by_class: Vec<f64> = (0..n_classes).map(|c| table.iter().map(|row| row[c]).sum()).collect();
        let entropy = |weights: &mut dyn Iterator<Item = f64>| -> f64 {
            let probabilities = weights.filter(|&weight| weight > 0.0).map(|weight| weight / n);
            // Adding 0 turns -0 (a single bin) into 0.
            probabilities.map(|p| -p * p.ln()).sum::<f64>() + 0.0
        };
        // Term by term: a difference of entropies would leave rounding errors where the gain is 0.
        let mut gain = 0.0;
        for (row, &bin) in table.iter().zip(&by_bin) {
            for (&both, &class) in row.iter().zip(&by_class).filter(|(both, _)| **both > 0.0) {
                gain += gain_term(both, bin, class, n);
            }
        }
        let (bins, classes) = (entropy(&mut by_bin.into_iter()), entropy(&mut by_class.into_iter()));
        Self { gain: if table.len() < 2 { 0.0 } else { gain.max(0.0) }, bins, classes }
    }

    fn value(&self, measure: Information) -> f64 {
        let relative_to = |entropy: f64| if entropy > 0.0 { self.gain / entropy } else { 0.0 };
        match measure {
            Information::Gain => self.gain,
            Information::Ratio => relative_to(self.bins),
            Information::Uncertainty => 2.0 * relative_to(self.bins + self.classes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Classes, FeatureType, Target};
    use crate::random::Rng;
    use ndarray::{Array2, array};
    use std::f64::consts::LN_2;

    fn select(method: &InformationGain, data: &Dataset, wanted: FeatureCount) -> Selection {
        method.select(data, wanted, &Context::default()).unwrap()
    }

    #[test]
    fn a_table_by_hand() {
        // Quinlan's weather data: outlook (sunny 2+ 3-, overcast 4+, rain 3+ 2-) gains 0.247 bits of 0.940.
        let entropies = Entropies::of(&[vec![2.0, 3.0], vec![4.0, 0.0], vec![3.0, 2.0]]);
        assert!((entropies.gain / LN_2 - 0.2467).abs() < 1e-4, "{}", entropies.gain);
        assert!((entropies.classes / LN_2 - 0.9403).abs() < 1e-4);
        // The entropy of the split is 1.577 bits, so the ratio is 0.156.
        assert!((entropies.value(Information::Ratio) - 0.1564).abs() < 1e-4);
        assert!((entropies.value(Information::Uncertainty) - 2.0 * 0.2467 / (0.9403 + 1.5774)).abs() < 1e-4);
        assert_eq!(Entropies::of(&[vec![3.0, 4.0]]).value(Information::Ratio), 0.0);
    }

    #[test]
    fn categories_and_missing_values_are_bins() {
        // Quinlan's outlook again, once as categories and once as numbers with missing values for rain.
        let outlook = [0.0; 5].into_iter().chain([1.0; 4]).chain([2.0; 5]);
        let play = [1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0];
        let outlook: Vec<f64> = outlook.collect();
        let x = Array2::from_shape_fn((14, 2), |(i, j)| match outlook[i] {
            2.0 if j == 1 => f64::NAN,
            v => v,
        });
        let types = vec![FeatureType::Category { levels: 3 }, FeatureType::Category { levels: 2 }];
        let target = Target::Classes(Classes::from_codes(play.to_vec()));
        let data = Dataset::typed(vec!["a".into(), "b".into()], x, types, target).unwrap();
        let scores = select(&InformationGain::default(), &data, FeatureCount::Auto).scores;
        assert!(scores.iter().all(|s| (s / LN_2 - 0.2467).abs() < 1e-4), "{scores:?}");
    }

    #[test]
    fn the_gain_of_codes_is_that_of_the_table() {
        let mut rng = Rng::new(2);
        let draw = |rng: &mut Rng, most: usize| (0..500).map(|_| rng.below(most)).collect::<Vec<_>>();
        let (a, b) = (draw(&mut rng, 7), draw(&mut rng, 5));
        let mut table = vec![vec![0.0; 5]; 7];
        a.iter().zip(&b).for_each(|(&a, &b)| table[a][b] += 1.0);
        assert_eq!(gain(&a, &b), Entropies::of(&table).gain);
        assert_eq!(gain(&[3, 3, 3], &[0, 1, 1]), 0.0);
        // One category and one class per sample: a full table would take 80 GB.
        let each: Vec<usize> = (0..100_000).collect();
        // A sum of 100 000 terms, each rounded.
        assert!((gain(&each, &each) / 100_000_f64.ln() - 1.0).abs() < 1e-10);
    }

    #[test]
    fn empty_bins_add_no_degrees_of_freedom() {
        let selection = select(
            &InformationGain { discretizer: Discretizer::Width, n_bins: 20, ..InformationGain::default() },
            &super::super::bins::duplicated_feature_with_outlier(),
            FeatureCount::Auto,
        );
        // 2 n I is about 11.7, as a chi-squared statistic.
        assert_eq!(selection.n_selected, 2, "{:?}", selection.scores);
    }

    #[test]
    fn perfect_and_irrelevant_features() {
        // Forty samples: the first feature is in class order, the second is the class, the third is noise.
        let codes: Vec<usize> = (0..40).map(|i| i / 20).collect();
        let x = Array2::from_shape_fn((40, 3), |(i, j)| match j {
            0 => i as f64,
            1 => codes[i] as f64,
            _ => (i % 20) as f64,
        });
        let data = Dataset::labeled(x, codes).unwrap();
        let selection = select(&InformationGain::default(), &data, FeatureCount::Auto);
        assert!(selection.scores[..2].iter().all(|s| (s - LN_2).abs() < 1e-15), "{:?}", selection.scores);
        assert_eq!((selection.scores[2], selection.selected()), (0.0, &[0, 1][..]));
        let ratio = InformationGain { measure: Information::Ratio, ..InformationGain::default() };
        assert!((select(&ratio, &data, FeatureCount::Auto).scores[0] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn only_the_order_of_values_matters() {
        let mut rng = Rng::new(4);
        let x = Array2::from_shape_simple_fn((200, 3), || rng.normal());
        let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[0] + 0.3 * r[1] > 0.2)).collect();
        let plain = Dataset::labeled(x.clone(), codes.clone()).unwrap();
        let transformed = Dataset::labeled(x.mapv(|v| (2.0 * v).exp() + 5.0), codes).unwrap();
        for discretizer in [Discretizer::Mdl, Discretizer::Frequency] {
            let method = InformationGain { discretizer, ..InformationGain::default() };
            assert_eq!(
                select(&method, &plain, FeatureCount::Auto),
                select(&method, &transformed, FeatureCount::Auto)
            );
        }
    }

    #[test]
    fn auto_selects_informative_features_and_at_least_one() {
        let mut rng = Rng::new(9);
        let codes: Vec<usize> = (0..300).map(|i| i % 3).collect();
        let x = Array2::from_shape_fn((300, 12), |(i, j)| match j {
            0 | 1 => rng.normal() + codes[i] as f64,
            // Irrelevant categories have a positive gain by chance.
            2..=5 => rng.below(6) as f64,
            _ => rng.normal(),
        });
        let data = Dataset::labeled(x, codes).unwrap();
        for discretizer in [Discretizer::Mdl, Discretizer::Frequency, Discretizer::Width] {
            let method = InformationGain { discretizer, ..InformationGain::default() };
            let mut kept = select(&method, &data, FeatureCount::Auto).selected().to_vec();
            kept.sort_unstable();
            assert_eq!(kept, [0, 1], "{discretizer:?}");
        }
        let noise = data.take_columns(&[7, 8, 9]);
        assert_eq!(select(&InformationGain::default(), &noise, FeatureCount::Auto).n_selected, 0);
    }

    #[test]
    fn parameters_are_checked() {
        let data = Dataset::labeled(array![[1.0], [2.0]], vec![0, 1]).unwrap();
        let method = InformationGain { n_bins: 1, ..InformationGain::default() };
        let error = method.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
        assert_eq!(error, "information gain: parameter 'n_bins' must be an integer, from 2 to 10000, got 1");
    }
}
