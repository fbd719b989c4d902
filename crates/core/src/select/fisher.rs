//! Fisher score: between-class scatter relative to within-class scatter.

use super::columns::keep_leading;
use super::f_test::{FTest, TestTarget};
use super::selector::{FeatureCount, Selection, Selector};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Target, Weights, is_constant, standardized};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use ndarray::{Array2, s};
use std::ops::Range;

pub(super) const NAME: &str = "Fisher score";

/// Significance level of the automatic selection.
const LEVEL: f64 = 0.05;

crate::parameters! {
    /// Fisher score. It has no parameters.
    ///
    /// $$ F_j = \frac{\sum_c n_c (\mu_{cj} - \mu_j)^2}{\sum_c \sum_{i \in c} (x_{ij} - \mu_{cj})^2} $$
    ///
    /// For regression, $F_j = r_j^2 / (1 - r_j^2)$ with $r_j$ the correlation of feature and target, and $F_j (n - 2)$
    /// is the F statistic of simple linear regression.
    ///
    /// The score is univariate: it misses features that predict only jointly (XOR) and keeps redundant copies. $F_j (n -
    /// C) / (C - 1)$ is the F statistic of a one-way analysis of variance. By default (`auto`) the method selects the
    /// best features up to the first with a p-value above 0.05 divided by the number of features (Bonferroni).
    ///
    /// A feature with several columns (a category, or a number with an indicator of missing values) has the F statistic
    /// of all its columns: multiple regression of the target on them or, with more than two classes, Pillai's trace. With
    /// $p$ linearly independent columns (a category of $L$ levels has $L - 1$) and $q = C - 1$ (1 for regression), the
    /// score is $(p q F - (p - 1) q) / (n - 1 - q)$: the score above for one column, and the same expected score for any
    /// number of columns if the feature is independent of the target. The F test has $p q$ and $s (n - 1 - q - p + s)$
    /// degrees of freedom with $s = \min(p, q)$; it is exact for normal errors if $s = 1$, approximate otherwise. A
    /// feature with as many independent columns as samples scores 0.
    ///
    /// Cost: $O(n d)$ time, or the number of stored values if sparse; $O(C d)$ memory. $O(n p^2)$ for a feature with $p$
    /// columns.
    ///
    /// Reference: Fisher, *The use of multiple measurements in taxonomic problems*, 1936; Duda, Hart and
    /// Stork, *Pattern classification*, 2001.
    #[derive(Copy, PartialEq, Eq)]
    pub struct FisherScore as "Fisher score" {}
}

impl FisherScore {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "fisher",
        title: "Fisher score",
        summary: "Features whose class means are far apart, one feature at a time",
        needs: Needs::Target,
        cost: "O(n d) time, O(C d) memory for C classes",
        reference: "Fisher, 1936",
    };
}

impl Selector for FisherScore {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn wants_scaling(&self) -> bool {
        false
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        ctx.step(NAME, 0, 1)?;
        let weights = data.weights();
        // The score of every column, and the target for features with several columns.
        let (scores, target) = match data.target() {
            Target::None | Target::Outputs(_) => return Err(Error::NeedsTarget { method: NAME }),
            Target::Classes(_) => {
                let classes = data.classes(NAME)?;
                let target =
                    TestTarget::Classes { codes: &classes.codes, counts: classes.weighted_counts(weights) };
                (class_scores(data.x(), classes, weights), target)
            }
            Target::Continuous(values) => {
                let y = standardized_target(values, weights)?;
                (regression_scores(data.x(), &y, weights), TestTarget::Numbers(y))
            }
        };
        let wanted = wanted.resolve(NAME, data.d())?;
        Ok(select_by(feature_tests(data, &scores, &target, ctx)?, wanted, ctx))
    }
}

/// The selection by the tests of all features.
pub(super) fn select_by(tests: Vec<FTest>, wanted: Option<usize>, ctx: &Context) -> Selection {
    let passes: Vec<bool> = tests.iter().map(|test| test.p_value * tests.len() as f64 <= LEVEL).collect();
    let selection = Selection::by_score("fisher", tests.into_iter().map(|test| test.score).collect(), 1);
    keep_leading(selection, wanted, &passes, || {
        ctx.warn("Fisher score: no feature is significant; none is selected; methods that evaluate features jointly, such as HSFS, may find more");
    })
}

/// The test of every feature, given the scores of all columns.
fn feature_tests(data: &Dataset, scores: &[f64], target: &TestTarget, ctx: &Context) -> Result<Vec<FTest>> {
    let total = data.weights().total(data.n());
    let test = |columns: Range<usize>| match data.x() {
        Rows::Dense(x) if columns.len() > 1 => {
            ctx.check()?;
            FTest::of_columns(x.slice(s![.., columns]), target, data.weights())
        }
        _ => Ok(FTest::of_score(scores[columns.start], total, target.degrees())),
    };
    data.groups().iter().map(test).collect()
}

/// The score of every column for classification.
pub(super) fn class_scores(x: &Rows, classes: &Classes, weights: Weights) -> Vec<f64> {
    fisher_scores(x, &classes.codes, &classes.weighted_counts(weights), weights)
}

/// The regression target with mean 0 and variance 1.
fn standardized_target(target: &[f64], weights: Weights) -> Result<Vec<f64>> {
    let rows: Rows = Array2::from_shape_fn((target.len(), 1), |(i, _)| target[i]).into();
    let (center, unit) = rows.weighted_moments(weights);
    let (center, unit) = (center[0], unit[0]);
    if target.iter().all(|v| *v == target[0]) {
        return Err(Error::ConstantTarget { method: NAME, value: target.first().copied().unwrap_or(0.0) });
    }
    Ok(target.iter().map(|&v| standardized(v, center, unit)).collect())
}

/// The score of every column for regression.
fn regression_scores(x: &Rows, y: &[f64], weights: Weights) -> Vec<f64> {
    let (n, d) = (weights.total(x.n()), x.d());
    let (mean, std) = x.weighted_moments(weights);
    let units: Vec<f64> = std.iter().map(|&s| if s > 0.0 { s } else { 1.0 }).collect();
    // Entries that are not stored are zero: their sum of targets is the total minus that of the stored entries.
    let mut slope = vec![0.0; d];
    let sum_y: f64 = y.iter().enumerate().map(|(i, y)| weights.of(i) * y).sum();
    let mut absent_y = vec![sum_y; d];
    each_cell(x, |i, j, v| {
        slope[j] += weights.of(i) * (standardized(v, mean[j], units[j]) * y[i]);
        absent_y[j] -= weights.of(i) * y[i];
    });
    (0..d).for_each(|j| slope[j] = (slope[j] - mean[j] / units[j] * absent_y[j]) / n);
    // Sum residuals sample by sample: a difference of sums would cancel if the fit is good.
    let mut residual = vec![0.0; d];
    // Over all samples the sum of (a - s y)^2 is n (a^2 + s^2) - 2 a s sum(y); subtract that of the stored ones.
    let absent = |j: usize| -mean[j] / units[j];
    let mut absent_square: Vec<f64> = (0..d)
        .map(|j| n * (absent(j).powi(2) + slope[j] * slope[j]) - 2.0 * absent(j) * slope[j] * sum_y)
        .collect();
    each_cell(x, |i, j, v| {
        residual[j] += weights.of(i) * (standardized(v, mean[j], units[j]) - slope[j] * y[i]).powi(2);
        absent_square[j] -= weights.of(i) * (absent(j) - slope[j] * y[i]).powi(2);
    });
    (0..d)
        .map(|j| {
            // Dense features have no absent entries; the difference would be rounding error.
            let absent = if x.is_sparse() { absent_square[j].max(0.0) } else { 0.0 };
            score(n * slope[j] * slope[j], residual[j] + absent, std[j], mean[j])
        })
        .collect()
}

/// The score of every column.
fn fisher_scores(x: &Rows, codes: &[usize], counts: &[f64], weights: Weights) -> Vec<f64> {
    // Scores are invariant to shift and scale; standardization avoids overflow and underflow of squares.
    let (mean, std) = x.weighted_moments(weights);
    let unit = |j: usize| if std[j] > 0.0 { std[j] } else { 1.0 };
    let (d, classes) = (x.d(), counts.len());
    let mut class_mean = Array2::<f64>::zeros((classes, d));
    let mut stored = Array2::<f64>::zeros((classes, d));
    each_cell(x, |i, j, v| {
        class_mean[[codes[i], j]] += weights.of(i) * standardized(v, mean[j], unit(j));
        stored[[codes[i], j]] += weights.of(i);
    });
    for c in 0..classes {
        for j in 0..d {
            // Entries that are not stored are zero.
            class_mean[[c, j]] += (counts[c] - stored[[c, j]]) * (0.0 - mean[j]) / unit(j);
            class_mean[[c, j]] /= if counts[c] > 0.0 { counts[c] } else { 1.0 };
        }
    }
    let mut within = vec![0.0; d];
    each_cell(x, |i, j, v| {
        within[j] += weights.of(i) * (standardized(v, mean[j], unit(j)) - class_mean[[codes[i], j]]).powi(2)
    });
    (0..d)
        .map(|j| {
            let mut between = 0.0;
            for c in 0..classes {
                let absent = (0.0 - mean[j]) / unit(j) - class_mean[[c, j]];
                within[j] += (counts[c] - stored[[c, j]]) * absent * absent;
                between += counts[c] * class_mean[[c, j]] * class_mean[[c, j]];
            }
            score(between, within[j], std[j], mean[j])
        })
        .collect()
}

/// Between over within. Constant features score 0; zero within-class scatter gives a finite score.
pub(super) fn score(between: f64, within: f64, std: f64, mean: f64) -> f64 {
    if is_constant(mean, std) || between <= 0.0 {
        return 0.0;
    }
    between / within.max(f64::EPSILON * between)
}

fn each_cell(x: &Rows, mut visit: impl FnMut(usize, usize, f64)) {
    match x {
        Rows::Dense(x) => x.indexed_iter().for_each(|((i, j), &v)| visit(i, j, v)),
        Rows::Sparse(x) => x.cells().for_each(|(i, j, v)| visit(i, j, v)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Groups, SparseRows};
    use crate::random::Rng;
    use ndarray::array;

    fn select(data: &Dataset, wanted: FeatureCount) -> Selection {
        FisherScore::default().select(data, wanted, &Context::default()).unwrap()
    }

    #[test]
    fn by_hand() {
        // Feature 1: classes {0, 2} and {4, 6}: means 1 and 5, between 2*4 + 2*4 = 16, within 4: 4.
        // Feature 2: classes {0, 4} and {2, 2}: means 2 and 2: 0. Feature 3 is constant: 0.
        let data = Dataset::labeled(
            array![[0.0, 0.0, 7.0], [2.0, 4.0, 7.0], [4.0, 2.0, 7.0], [6.0, 2.0, 7.0]],
            vec![0, 0, 1, 1],
        )
        .unwrap();
        let selection = select(&data, FeatureCount::Count(1));
        assert!((selection.scores[0] - 4.0).abs() < 1e-14);
        assert!(selection.scores[1].abs() < 1e-14 && selection.scores[2] == 0.0);
        assert_eq!(selection.selected(), [0]);
    }

    #[test]
    fn sparse_and_dense_agree() {
        let mut rng = Rng::new(2);
        let x =
            Array2::from_shape_simple_fn((60, 8), || if rng.uniform() < 0.6 { 0.0 } else { rng.normal() });
        let codes: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let (mut start, mut column, mut value) = (vec![0], vec![], vec![]);
        for row in x.rows() {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                column.push(j as u32);
                value.push(*v);
            }
            start.push(column.len());
        }
        let counts = [20.0; 3];
        let sparse: Rows = SparseRows::new(8, start, column, value).unwrap().into();
        let scores = |x: &Rows| fisher_scores(x, &codes, &counts, Weights::ONE);
        let (a, b) = (scores(&x.into()), scores(&sparse));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn shift_and_scale_do_not_matter_even_at_the_ends_of_the_number_range() {
        let x = array![[0.0], [2.0], [4.0], [6.0]];
        for (scale, shift) in [(1e300, 0.0), (1e-300, 0.0), (1.0, 1e6)] {
            let data = Dataset::labeled(&x * scale + shift, vec![0, 0, 1, 1]).unwrap();
            // An offset of 1e6 leaves ten digits of the differences.
            assert!((select(&data, FeatureCount::Count(1)).scores[0] - 4.0).abs() < 1e-8);
        }
    }

    #[test]
    fn perfect_separation_is_finite() {
        let data = Dataset::labeled(array![[1.0, 1.0], [1.0, 2.0], [2.0, 3.0], [2.0, 4.0]], vec![0, 0, 1, 1])
            .unwrap();
        let selection = select(&data, FeatureCount::Count(1));
        assert!(selection.scores[0].is_finite() && selection.scores[0] > 1e15);
        assert_eq!(selection.order, [0, 1]);
    }

    #[test]
    fn auto_selects_significant_features_and_at_least_one() {
        let mut rng = Rng::new(5);
        let codes: Vec<usize> = (0..200).map(|i| i % 2).collect();
        let x = Array2::from_shape_fn((200, 20), |(i, j)| {
            rng.normal() + if j < 3 { 2.0 * codes[i] as f64 } else { 0.0 }
        });
        let mut selected =
            select(&Dataset::labeled(x.clone(), codes).unwrap(), FeatureCount::Auto).selected().to_vec();
        selected.sort_unstable();
        assert_eq!(selected, [0, 1, 2]);
        let noise =
            Dataset::labeled(x.slice(ndarray::s![..6, 10..]).to_owned(), vec![0, 1, 0, 1, 0, 1]).unwrap();
        assert_eq!(select(&noise, FeatureCount::Auto).n_selected, 0);
    }

    #[test]
    fn regression_by_hand() {
        // x = 0, 1, 2, 5 against y = 0, 2, 2, 4: sums of squares 14 and 8, of products 10: r^2 = 100 / 112.
        let x = array![[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [2.0, 0.0, 3.0], [5.0, 1.0, 3.0]];
        let y = vec![0.0, 2.0, 2.0, 4.0];
        let dense = select(
            &Dataset::with_target(x.clone(), Target::Continuous(y.clone())).unwrap(),
            FeatureCount::Count(1),
        );
        assert!((dense.scores[0] - 100.0 / 12.0).abs() < 1e-13, "{:?}", dense.scores);
        // The second feature has the mean of y at both its values; the third is constant.
        assert!(dense.scores[1] < 1e-15 && dense.scores[2] == 0.0, "{:?}", dense.scores);
        let cells = SparseRows::new(
            3,
            vec![0, 2, 4, 6, 9],
            vec![1, 2, 0, 2, 0, 2, 0, 1, 2],
            vec![1.0, 3.0, 1.0, 3.0, 2.0, 3.0, 5.0, 1.0, 3.0],
        )
        .unwrap();
        let sparse =
            select(&Dataset::with_target(cells, Target::Continuous(y)).unwrap(), FeatureCount::Count(1));
        assert!(sparse.scores.iter().zip(&dense.scores).all(|(a, b)| (a - b).abs() < 1e-12));
        let flat = Dataset::with_target(x, Target::Continuous(vec![2.0; 4])).unwrap();
        let error =
            FisherScore::default().select(&flat, FeatureCount::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().starts_with("Fisher score: the target is 2 in every row"), "{error}");
    }

    #[test]
    fn a_feature_with_several_columns_has_one_score() {
        // 50 levels determine the class; the test uses their indicators.
        let mut rng = Rng::new(7);
        let levels: Vec<usize> = (0..200).map(|i| i % 50).collect();
        let codes: Vec<usize> = levels.iter().map(|l| l % 2).collect();
        let x = Array2::from_shape_fn((200, 56), |(i, j)| match j {
            3..53 => f64::from(u8::from(levels[i] == j - 3)),
            _ => rng.normal(),
        });
        let names = (0..7).map(|j| j.to_string()).collect();
        let groups = Groups::of_sizes([1, 1, 1, 50, 1, 1, 1]);
        let target = Target::Classes(Classes::from_codes(codes));
        let data = Dataset::encoded(names, x.clone(), groups, target.clone()).unwrap();
        let selection = select(&data, FeatureCount::Auto);
        assert_eq!((selection.scores.len(), selection.selected()), (7, &[3][..]));
        // Single columns keep their scores.
        let plain = Dataset::with_target(x, target).unwrap();
        let plain = select(&plain, FeatureCount::Auto);
        assert_eq!(selection.scores[..3], plain.scores[..3]);
        assert_eq!(selection.scores[4..], plain.scores[53..]);
    }

    #[test]
    fn needs_a_target() {
        let data = Dataset::unlabeled(array![[1.0], [2.0]]).unwrap();
        let error =
            FisherScore::default().select(&data, FeatureCount::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().starts_with("Fisher score: needs a target, but there is none"), "{error}");
    }
}
