//! Chi-squared: tests the independence of a feature and the classes.

use super::bins::{Binning, Discretizer, binned_bytes, contingency};
use super::columns::{each_column, keep_leading};
use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Weights};
use crate::error::{Error, Result, number};
use crate::method::{Info, Needs};
use crate::probability::chi_squared_upper_tail;
use ndarray::Array2;

pub(super) const NAME: &str = "chi-squared";
/// Significance level of the automatic selection.
const LEVEL: f64 = 0.05;

crate::parameters! {
    /// Chi-squared statistic.
    ///
    /// $$ \chi^2_j = \sum_{b, c} \frac{(O_{bc} - E_{bc})^2}{E_{bc}}, \qquad E_{bc} = \frac{O_{b\cdot} O_{\cdot c}}{n} $$
    ///
    /// - `counts`: the values of a feature are nonnegative counts (such as word counts). $O_c$ is their sum over a
    ///   class, $E_c$ the total times the class frequency, and there is one $b$. Values must not be standardized. This
    ///   is scikit-learn's `chi2`.
    /// - `bins`: numbers are discretized first, and $O_{bc}$ counts samples. The default is bins of equal frequency:
    ///   cuts that depend on the classes would make every test significant. The bins of a category are its levels; missing
    ///   values are one more bin of any feature.
    /// - `auto`: `counts` unless there are negative values, missing values or categories.
    ///
    /// By default (`auto`) the method selects the best features up to the first with a p-value above 0.05 divided by
    /// the number of features (Bonferroni). Features with different numbers of bins have different
    /// degrees of freedom, which are the expected statistics of noise; they are ranked by the statistic nevertheless, as is
    /// usual, so categories with many levels are favored. [`super::FisherScore`] and [`super::MutualInformation`] rank
    /// without this bias.
    ///
    /// Cost: the number of stored values (`counts`), or $O(n \log n)$ per feature (`bins`).
    ///
    /// References: Pearson, 1900; Liu and Setiono, *Chi2: feature selection and discretization of numeric
    /// attributes*, 1995.
    #[derive(PartialEq)]
    pub struct ChiSquared as "chi-squared" {
        /// What to count.
        pub statistic: Statistic = Statistic::Auto;
        /// How to discretize numbers into bins.
        pub discretizer: Discretizer = Discretizer::Frequency;
        /// Number of bins; not used by mdl.
        pub n_bins: usize = 10, between(2, 10_000);
    }
}

crate::choices! {
    /// What the chi-squared statistic counts.
    pub enum Statistic {
        /// Counts, or bins if there are negative values, missing values or categories.
        Auto = "auto",
        /// The numbers are counts.
        Counts = "counts",
        /// Samples by bin.
        Bins = "bins",
    }
}

impl ChiSquared {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "chi-squared",
        title: "Chi-squared",
        summary: "Counts, or bins, that depend on the class, one feature at a time",
        needs: Needs::Classes,
        cost: "O(n d) time; with bins O(n log n) per feature",
        reference: "Pearson, 1900; Liu and Setiono, 1995",
    };
}

impl Selector for ChiSquared {
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
        // Statistic and degrees of freedom.
        let found = if self.uses_counts(data, ctx)? {
            let scores = counts(data.x(), classes, data.weights()).into_iter();
            scores.map(|score| (score, classes.n_present() - 1)).collect()
        } else {
            self.by_bins(data, classes, ctx)?
        };
        select_by(found, wanted, ctx)
    }
}

/// The selection by the statistics of all features and their degrees of freedom.
pub(super) fn select_by(found: Vec<(f64, usize)>, wanted: Option<usize>, ctx: &Context) -> Result<Selection> {
    if found.iter().any(|(score, _)| !score.is_finite()) {
        let why = "the sums of a column overflow; scale the features".into();
        return Err(Error::Breakdown { step: NAME, why });
    }
    let level = LEVEL / found.len() as f64;
    let passes: Vec<bool> = found
        .iter()
        .map(|&(score, degrees)| chi_squared_upper_tail(score, degrees as f64) <= level)
        .collect();
    let scores = found.into_iter().map(|(score, _)| score).collect();
    Ok(keep_leading(Selection::by_score("chi-squared", scores, 1), wanted, &passes, || {
        ctx.warn("chi-squared: no feature is significant; none is selected; methods that evaluate features jointly, such as HSFS, may find more");
    }))
}

impl ChiSquared {
    fn uses_counts(&self, data: &Dataset, ctx: &Context) -> Result<bool> {
        if self.statistic == Statistic::Bins {
            return Ok(false);
        }
        let Some(why) = not_counts(data) else { return Ok(true) };
        if self.statistic == Statistic::Counts {
            let expected = "'bins' if a value is negative, missing or a category";
            return Err(Error::param(NAME, "statistic", expected, format!("'counts', but {why}")));
        }
        ctx.note(format!("chi-squared: {why}, so the values are not counts; they are discretized"));
        Ok(false)
    }

    fn by_bins(&self, data: &Dataset, classes: &Classes, ctx: &Context) -> Result<Vec<(f64, usize)>> {
        let n_classes = classes.names.len();
        let bytes = binned_bytes(data, self.discretizer);
        let (how, n_bins, weights) = (self.discretizer, self.n_bins, data.weights());
        let binning = Binning { classes: &classes.codes, weights, n_classes, how, n_bins };
        each_column(data.x(), "chi-squared", bytes, ctx, |j, column| {
            let bins = binning.feature(column, data.feature_type(j));
            let table = contingency(&bins, &binning);
            (table_statistic(&table), (bins.n_bins - 1) * (classes.n_present() - 1))
        })
    }
}

/// Why the values are not counts, if they are not.
fn not_counts(data: &Dataset) -> Option<String> {
    let names = data.names();
    if let Some(j) = (0..data.d()).find(|&j| data.feature_type(j).is_category()) {
        return Some(format!("column '{}' holds categories", names[j]));
    }
    let (i, j, value) = data.x().first(|v| v < 0.0 || v.is_nan())?;
    let value = if value.is_nan() { "missing".to_string() } else { number(value) };
    Some(format!("row {}, column '{}' is {value}", i + 1, names[j]))
}

/// The statistic of sums by class, compared with the class frequencies.
fn counts(x: &Rows, classes: &Classes, weights: Weights) -> Vec<f64> {
    let n = weights.total(x.n());
    let frequencies: Vec<f64> = classes.weighted_counts(weights).iter().map(|weight| weight / n).collect();
    let mut observed = Array2::<f64>::zeros((frequencies.len(), x.d()));
    match x {
        Rows::Dense(x) => {
            for (i, (row, &class)) in x.rows().into_iter().zip(&classes.codes).enumerate() {
                observed.row_mut(class).zip_mut_with(&row, |sum, v| *sum += weights.of(i) * v);
            }
        }
        Rows::Sparse(x) => {
            x.cells().for_each(|(i, j, v)| observed[[classes.codes[i], j]] += weights.of(i) * v)
        }
    }
    of_sums(&observed, &frequencies)
}

/// The statistic of each column, given its sums by class (a row per class) and the class frequencies.
pub(super) fn of_sums(observed: &Array2<f64>, frequencies: &[f64]) -> Vec<f64> {
    let statistic = |column: ndarray::ArrayView1<f64>| {
        let total = column.sum();
        column.iter().zip(frequencies).map(|(o, frequency)| term(*o, frequency * total)).sum()
    };
    observed.columns().into_iter().map(statistic).collect()
}

/// The statistic of a contingency table.
pub(super) fn table_statistic(table: &[Vec<f64>]) -> f64 {
    let n_classes = table.first().map_or(0, Vec::len);
    let by_class: Vec<f64> = (0..n_classes).map(|c| table.iter().map(|row| row[c]).sum()).collect();
    let n: f64 = by_class.iter().sum();
    let of_bin = |row: &Vec<f64>| -> f64 {
        let bin: f64 = row.iter().sum();
        let expected = |class: f64| bin * class / n;
        row.iter().zip(&by_class).map(|(&o, &class)| term(o, expected(class))).sum()
    };
    table.iter().map(of_bin).sum()
}

/// One term of the statistic; 0 if nothing is expected or the difference is rounding error.
fn term(observed: f64, expected: f64) -> f64 {
    let difference = observed - expected;
    if expected <= 0.0 || difference.abs() <= 1e-13 * expected {
        0.0
    } else {
        difference * difference / expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{FeatureType, SparseRows};
    use ndarray::array;

    fn select(method: &ChiSquared, data: &Dataset) -> Selection {
        method.select(data, FeatureCount::Auto, &Context::default()).unwrap()
    }

    #[test]
    fn counts_by_hand() {
        // Sums by class: 1 + 2 = 3 against 6 + 7 + 2 = 15, where 18 * 2/5 = 7.2 and 10.8 are expected:
        // 4.2^2 / 7.2 + 4.2^2 / 10.8 = 2.45 + 1.6333. The second feature is constant, the third is zero.
        let x = array![[1.0, 3.0, 0.0], [2.0, 3.0, 0.0], [6.0, 3.0, 0.0], [7.0, 3.0, 0.0], [2.0, 3.0, 0.0]];
        let codes = vec![0, 0, 1, 1, 1];
        let dense = select(&ChiSquared::default(), &Dataset::labeled(x, codes.clone()).unwrap());
        assert!((dense.scores[0] - (2.45 + 4.2 * 4.2 / 10.8)).abs() < 1e-13, "{:?}", dense.scores);
        assert_eq!((dense.scores[1], dense.scores[2], dense.n_selected), (0.0, 0.0, 0));
        let sparse = SparseRows::new(
            3,
            vec![0, 2, 4, 6, 8, 10],
            vec![0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
            vec![1.0, 3.0, 2.0, 3.0, 6.0, 3.0, 7.0, 3.0, 2.0, 3.0],
        )
        .unwrap();
        let target = crate::data::Target::Classes(Classes::from_codes(codes));
        assert_eq!(select(&ChiSquared::default(), &Dataset::with_target(sparse, target).unwrap()), dense);
    }

    #[test]
    fn tables_by_hand() {
        // Textbook formula for 2 x 2 tables: n (ad - bc)^2 over the product of the margins.
        let chi2 = table_statistic(&[vec![10.0, 20.0], vec![30.0, 15.0]]);
        let expected = 75.0 * (10.0 * 15.0 - 20.0 * 30.0_f64).powi(2) / (30.0 * 45.0 * 40.0 * 35.0);
        assert!((chi2 / expected - 1.0).abs() < 1e-14, "{chi2}");
        assert_eq!(table_statistic(&[vec![4.0, 6.0]]), 0.0);
    }

    #[test]
    fn negative_values_are_not_counts() {
        let x = ndarray::Array2::from_shape_fn((60, 2), |(i, j)| {
            if j == 0 { (i % 2) as f64 - 1.0 } else { ((i / 2) % 2) as f64 }
        });
        let data = Dataset::labeled(x, (0..60).map(|i| i % 2).collect()).unwrap();
        // The first feature is the class: chi-squared is the number of samples; the second is balanced over it.
        let selection = select(&ChiSquared::default(), &data);
        assert_eq!(selection.scores, [60.0, 0.0]);
        assert_eq!(selection.selected(), [0]);
        assert_eq!(
            select(&ChiSquared { statistic: Statistic::Bins, ..ChiSquared::default() }, &data),
            selection
        );
        let counts = ChiSquared { statistic: Statistic::Counts, ..ChiSquared::default() };
        assert_eq!(
            counts.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string(),
            "chi-squared: parameter 'statistic' must be 'bins' if a value is negative, missing or a category, got 'counts', but row 1, column 'x1' is -1"
        );
    }

    #[test]
    fn counts_scale_with_values_and_bins_depend_only_on_order() {
        let mut rng = crate::random::Rng::new(3);
        let x = Array2::from_shape_simple_fn((120, 4), || rng.normal().abs() + 0.1);
        let codes: Vec<usize> = x.rows().into_iter().map(|r| usize::from(r[0] > 0.6)).collect();
        let scores = |statistic: Statistic, x: Array2<f64>| {
            let method = ChiSquared { statistic, ..ChiSquared::default() };
            select(&method, &Dataset::labeled(x, codes.clone()).unwrap()).scores
        };
        let (once, tripled) = (scores(Statistic::Counts, x.clone()), scores(Statistic::Counts, &x * 3.0));
        // Sums of 120 numbers, each rounded by a different factor.
        assert!(
            once.iter().zip(&tripled).all(|(a, b)| (3.0 * a - b).abs() < 1e-11 * b),
            "{once:?} {tripled:?}"
        );
        assert_eq!(
            scores(Statistic::Bins, x.clone()),
            scores(Statistic::Bins, x.mapv(|v| v.ln() * 5.0 - 2.0))
        );
    }

    #[test]
    fn empty_bins_add_no_degrees_of_freedom() {
        let method = ChiSquared { statistic: Statistic::Bins, discretizer: Discretizer::Width, n_bins: 20 };
        let selection = select(&method, &super::super::bins::duplicated_feature_with_outlier());
        // Without the outlier: 299 (90 * 89 - 60 * 60)^2 / (150 * 149 * 150 * 149) = 11.64; the outlier adds a term
        // of about 1.
        assert!((selection.scores[0] - 12.64).abs() < 0.1, "{:?}", selection.scores);
        // Two degrees of freedom: p = 0.002, below 0.05 / 2. With nineteen, p = 0.86, and only the best would be
        // selected.
        assert_eq!(selection.n_selected, 2);
    }

    #[test]
    fn categories_and_missing_values_are_bins() {
        // Levels by class: 10 and 20, 30 and 15, as above; the second feature is missing in class 0 only.
        let level = |i: usize| f64::from(u8::from(!(i < 10 || (40..60).contains(&i))));
        let x = Array2::from_shape_fn((75, 2), |(i, j)| match j {
            0 => level(i),
            _ if i < 40 => f64::NAN,
            _ => 7.0,
        });
        let types = vec![FeatureType::Category { levels: 2 }, FeatureType::Number];
        let target = crate::data::Target::Classes(Classes::from_codes(
            (0..75).map(|i| usize::from(i >= 40)).collect(),
        ));
        let data = Dataset::typed(vec!["a".into(), "b".into()], x, types, target).unwrap();
        let selection = select(&ChiSquared::default(), &data);
        let expected = 75.0 * (10.0 * 15.0 - 20.0 * 30.0_f64).powi(2) / (30.0 * 45.0 * 40.0 * 35.0);
        assert!((selection.scores[0] / expected - 1.0).abs() < 1e-14, "{:?}", selection.scores);
        assert!((selection.scores[1] - 75.0).abs() < 1e-12);
        let counts = ChiSquared { statistic: Statistic::Counts, ..ChiSquared::default() };
        let error = counts.select(&data, FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
        assert!(error.ends_with("got 'counts', but column 'a' holds categories"), "{error}");
    }

    #[test]
    fn overflow_is_an_error() {
        let data = Dataset::labeled(array![[1e308], [1e308], [1.0]], vec![0, 0, 1]).unwrap();
        let error = ChiSquared::default().select(&data, FeatureCount::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("overflow; scale the features"), "{error}");
    }
}
