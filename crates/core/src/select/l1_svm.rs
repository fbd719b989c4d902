//! L1-SVM: selects the features with nonzero weights in a sparse linear SVM.

use super::selector::{DependenceCheck, FeatureCount, Selection, Selector};
use super::standard::common_std;
use crate::classify::{
    ClassWeight, LinearProblem, LinearSvm, Penalty, linear_outcome, need_finite_rows, signed_bytes,
    signed_columns,
};
use crate::context::Context;
use crate::data::{Classes, Dataset, Groups, is_constant};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use crate::optim::{
    Convergence, SparseColumns, StopRule, group_descent, l1_descent, l1_gradient, l1_slacks, largest_rows,
};
use crate::outcome::Outcome;
use crate::parameters::Parameters;
use crate::random::Rng;
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use std::ops::Range;

const NAME: &str = "L1-SVM";

/// Ratio of successive values of $C$ along the path.
const C_RATIO: f64 = 1.5;
/// Maximum number of path steps: up to five million times the smallest $C$.
const MAX_STEPS: usize = 38;
/// Maximum number of bisections between two path points.
const MAX_BISECTIONS: usize = 30;

crate::parameters! {
    /// Sparse linear SVM.
    ///
    /// $$ \min_w \lVert w \rVert_1 + C \sum_i \max(0, 1 - y_i \langle w, x_i \rangle)^2 $$
    ///
    /// The smaller $C$ is, the fewer weights are nonzero; below $1 / (2 \max_j |\sum_i y_i x_{ij}|)$ all are zero. For
    /// a requested number of features $C$ increases from there, with warm starts, until enough features have entered;
    /// bisection then finds the exact number. Features often enter together or leave again, so there may be no such
    /// $C$: then the next larger number is used and the smallest weights are dropped. Multiclass: one-vs-rest SVMs, and
    /// the absolute weights are summed.
    ///
    /// The weights of a feature with several columns (a category, or a number with an indicator of missing values) are
    /// penalized together, by $\omega_j \lVert w_j \rVert_2$ in place of the sum of absolute values: they are zero together,
    /// and the feature competes as a whole. That is also its score. With $v_l$ the variances of its columns and $\sigma_j^2$
    /// that of the feature (of the number, or the sum over the levels of a category),
    ///
    /// $$ \omega_j^2 = \frac{\sum_l v_l + 3 \sqrt{2 \sum_l v_l^2}}{(1 + 3 \sqrt 2) \, \sigma_j^2}, $$
    ///
    /// 1 for one column, is the squared norm of the gradient of noise at three standard deviations above its mean, relative
    /// to that of a number: noise of all kinds enters at about the same $C$.
    ///
    /// Features with zero weight are ranked by the size of their gradients. Two copies of a feature share one weight in
    /// any proportion, so either may be dropped. A smaller number of features need not be a subset of a larger one.
    /// Without a requested number $C$ is as given, or 1.
    ///
    /// Cost: a few dozen passes over the data for each of some 30 to 60 values of $C$.
    ///
    /// Reference: Bradley and Mangasarian, *Feature selection via concave minimization and support vector machines*, 1998;
    /// Zhu, Rosset, Hastie and Tibshirani, *1-norm support vector machines*, 2003.
    #[derive(PartialEq)]
    pub struct L1Svm as "L1-SVM" {
        /// Regularization parameter: smaller values select fewer features. Leave it out if the number of features is
        /// given; none tunes it to that number, or is 1.
        pub c as "C": Option<f64> = None, above(0);
        /// Whether to fit an intercept.
        pub fit_intercept: bool = true;
        /// Weights of the classes.
        pub class_weight: ClassWeight = ClassWeight::None;
        /// Tolerance of the stopping criterion, relative to the violation at zero.
        pub tol: f64 = 1e-4, above(0);
        /// Maximum number of passes over the features for each C.
        pub max_iter: usize = 1000, at_least(1);
    }
}

impl L1Svm {
    fn linear_svm(&self, c: f64) -> LinearSvm {
        LinearSvm {
            c,
            penalty: Penalty::L1,
            fit_intercept: self.fit_intercept,
            class_weight: self.class_weight.clone(),
            tol: self.tol,
            max_iter: self.max_iter,
            ..LinearSvm::default()
        }
    }
}

impl L1Svm {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "l1-svm",
        title: "L1-SVM",
        summary: "Features with nonzero weight in a sparse linear SVM",
        needs: Needs::Classes,
        cost: "some thousand passes over the data, O(n d) memory",
        reference: "Bradley and Mangasarian, 1998",
    };
}

impl Selector for L1Svm {
    fn info(&self) -> &'static Info {
        &Self::INFO
    }

    fn check_classes(&self, classes: &Classes) -> Result<()> {
        self.check_ranges()?;
        self.class_weight.factors(classes, crate::data::Weights::ONE).map(|_| ())
    }

    fn clear_fixed_count(&mut self) {
        self.c = None;
    }

    fn supports_weights(&self) -> bool {
        true
    }

    fn dependence_check(&self) -> Option<DependenceCheck> {
        Some(DependenceCheck::Single).filter(|_| self.c.is_none())
    }

    fn fit(&self, data: &Dataset, wanted: FeatureCount, ctx: &Context) -> Result<Selection> {
        data.need_complete(NAME)?;
        let classes = data.classes(NAME)?;
        self.check_classes(classes)?;
        let wanted = wanted.resolve(NAME, data.d())?;
        if let (Some(_), Some(c)) = (wanted, self.c) {
            return Err(Error::param(NAME, "C", "left out where a number of features is given", c));
        }
        ctx.step(NAME, 0, 1)?;
        let path = Path::new(self, data, classes, ctx)?;
        let weights = match wanted {
            None => path.solve(self.c.unwrap_or(1.0), &path.zero(), ctx)?,
            Some(k) => path.reach_count(k, ctx)?,
        };
        Ok(path.selection(&weights, wanted, ctx))
    }

    fn nested(&self) -> bool {
        false
    }
}

/// The SVMs of all classes, for any $C$.
struct Path<'a> {
    method: &'a L1Svm,
    /// The columns of each feature.
    groups: Groups,
    /// The factor of each feature in the penalty. Its columns are divided by it, so its weights are multiplied.
    factors: Vec<f64>,
    svms: Vec<BinaryProblem>,
}

struct BinaryProblem {
    columns: SparseColumns,
    /// Regularization parameters of the samples at $C = 1$.
    unit_c: Vec<f64>,
    minority_fraction: f64,
}

/// Weights of all SVMs at one $C$.
struct Weights {
    c: f64,
    of: Vec<Vec<f64>>,
    descent: Vec<Convergence>,
}

impl<'a> Path<'a> {
    fn new(method: &'a L1Svm, data: &Dataset, classes: &Classes, ctx: &Context) -> Result<Self> {
        let problems = method.linear_svm(1.0).problems(classes, data.weights())?;
        need_finite_rows(NAME, data.x())?;
        ctx.need_memory(
            format!("L1-SVM of {} binary SVMs", problems.len()),
            problems.len() as f64 * signed_bytes(data.x()),
            "use fewer rows or columns",
        )?;
        let (mean, std) = data.x().weighted_moments(data.weights());
        let constant: Vec<usize> = (0..data.x().d()).filter(|&j| is_constant(mean[j], std[j])).collect();
        let groups = data.groups();
        let factors = penalty_factors(&groups, &std, &common_std(data.x(), &groups, &std));
        let binary = |p: LinearProblem| {
            let mut columns = signed_columns(data.x(), &p.signs, method.fit_intercept);
            // A constant column would duplicate the intercept.
            for &j in &constant {
                let cells = columns.start[j]..columns.start[j + 1];
                columns.value[cells].fill(0.0);
            }
            for (own, factor) in groups.iter().zip(&factors).filter(|(_, factor)| **factor != 1.0) {
                let cells = columns.start[own.start]..columns.start[own.end];
                columns.value[cells].iter_mut().for_each(|v| *v /= factor);
            }
            BinaryProblem { columns, minority_fraction: p.minority_fraction, unit_c: p.c }
        };
        let svms = problems.into_iter().map(binary).collect();
        Ok(Self { method, groups, factors, svms })
    }

    fn zero(&self) -> Weights {
        let of = self.svms.iter().map(|m| vec![0.0; m.columns.len()]).collect();
        Weights { c: 0.0, of, descent: vec![] }
    }

    /// The solution at a given $C$, warm-started from another.
    fn solve(&self, c: f64, start: &Weights, ctx: &Context) -> Result<Weights> {
        let solve = |(k, svm): (usize, &BinaryProblem)| {
            let sample_c: Vec<f64> = svm.unit_c.iter().map(|u| u * c).collect();
            let mut w = start.of[k].clone();
            let sweeps = StopRule {
                tolerance: self.method.tol * svm.minority_fraction,
                max_iterations: self.method.max_iter,
            };
            let mut rng = Rng::stream(ctx.seed, &format!("L1-SVM {k}"));
            let descent = if self.groups.is_single() {
                l1_descent(&svm.columns, &sample_c, &mut w, sweeps, &mut rng, ctx)?
            } else {
                let mut groups: Vec<Range<usize>> = self.groups.iter().collect();
                // The intercept.
                groups.extend((self.groups.n_columns()..w.len()).map(|j| j..j + 1));
                group_descent(&svm.columns, &groups, &sample_c, &mut w, sweeps, &mut rng, ctx)?
            };
            Ok((w, descent))
        };
        let solved: Vec<(Vec<f64>, Convergence)> =
            self.svms.par_iter().enumerate().map(solve).collect::<Result<_>>()?;
        let (of, descent) = solved.into_iter().unzip();
        Ok(Weights { c, of, descent })
    }

    /// The $C$ at which the first weight, of a feature or the intercept, becomes nonzero.
    fn smallest_c(&self) -> f64 {
        let steepest = self.svms.iter().fold(0.0_f64, |steepest, m| {
            let gradient = l1_gradient(&m.columns, &m.unit_c, &vec![1.0; m.unit_c.len()]);
            let (features, intercept) = gradient.split_at(self.groups.n_columns());
            let features = self.groups.iter().map(|columns| norm(&features[columns]));
            features.chain(intercept.iter().map(|g| g.abs())).fold(steepest, f64::max)
        });
        if steepest > 0.0 { 1.0 / steepest } else { 1.0 }
    }

    /// Weights with `k` nonzero features or, if impossible, the next larger number; if the path ends before, as
    /// many as there are.
    fn reach_count(&self, k: usize, ctx: &Context) -> Result<Weights> {
        let mut below = self.zero();
        let mut c = self.smallest_c();
        let mut above = None;
        let mut entered = 0;
        for _ in 0..MAX_STEPS {
            ctx.step("L1-SVM path", entered, k)?;
            c *= C_RATIO;
            let here = self.solve(c, &below, ctx)?;
            entered = entered.max(self.count(&here).min(k));
            if self.count(&here) >= k {
                above = Some(here);
                break;
            }
            below = here;
        }
        let Some(mut above) = above else { return Ok(below) };
        for step in 0..MAX_BISECTIONS {
            ctx.step("L1-SVM bisection", step, MAX_BISECTIONS)?;
            if self.count(&above) == k {
                break;
            }
            let middle = (below.c.max(above.c / (2.0 * C_RATIO)) * above.c).sqrt();
            if !(middle > below.c && middle < above.c) {
                break;
            }
            let here = self.solve(middle, &below, ctx)?;
            if self.count(&here) >= k { above = here } else { below = here }
        }
        Ok(above)
    }

    /// Number of features with a nonzero weight in any SVM.
    fn count(&self, weights: &Weights) -> usize {
        let is_used =
            |columns: &Range<usize>| weights.of.iter().any(|w| w[columns.clone()].iter().any(|v| *v != 0.0));
        self.groups.iter().filter(is_used).count()
    }

    fn selection(&self, weights: &Weights, wanted: Option<usize>, ctx: &Context) -> Selection {
        let score = |columns: Range<usize>| weights.of.iter().map(|w| norm(&w[columns.clone()])).sum();
        let scores: Vec<f64> = self.groups.iter().map(score).collect();
        let mut gradient_norms = vec![0.0; self.groups.n_features()];
        for (svm, w) in self.svms.iter().zip(&weights.of) {
            let sample_c: Vec<f64> = svm.unit_c.iter().map(|u| u * weights.c).collect();
            let margin = l1_slacks(&svm.columns, sample_c.len(), w);
            let gradient = l1_gradient(&svm.columns, &sample_c, &margin);
            let features = gradient_norms.iter_mut().zip(self.groups.iter());
            features.for_each(|(sum, columns)| *sum += norm(&gradient[columns]));
        }
        let mut order: Vec<usize> = (0..self.groups.n_features()).collect();
        order.sort_by(|&a, &b| {
            scores[b]
                .total_cmp(&scores[a])
                .then(gradient_norms[b].total_cmp(&gradient_norms[a]))
                .then(a.cmp(&b))
        });
        let count = self.count(weights);
        match wanted {
            None if count == 0 => ctx.warn("L1-SVM: all weights are zero at this C; no feature is selected; increase C, or request a number of features"),
            Some(k) if count < k => ctx.warn(format!(
                "L1-SVM: only {count} of {k} features have a nonzero weight; the others are those with the largest gradients; request fewer"
            )),
            _ => {}
        }
        let n_selected = wanted.unwrap_or(count);
        let outcome: Outcome = linear_outcome(weights.descent.iter().copied());
        let shape = (self.groups.n_columns(), weights.of.len());
        let mut coef = largest_rows(Array2::from_shape_fn(shape, |(j, k)| weights.of[k][j]), &self.groups);
        coef.rows_mut().into_iter().zip(&self.factors).for_each(|(mut row, factor)| row /= *factor);
        Selection {
            automatic: None,
            sample: None,
            method: "l1-svm".into(),
            order,
            scores,
            n_selected,
            curve: vec![],
            coef: Some(coef),
            path: vec![],
            outcome,
        }
    }
}

/// $\omega_j$ of each feature, from the standard deviations of its columns and the numbers by which they are standardized.
fn penalty_factors(groups: &Groups, std: &Array1<f64>, scale: &Array1<f64>) -> Vec<f64> {
    // Mean plus three standard deviations of a sum of squares of independent normal numbers with these variances.
    let high = |mean: f64, squares: f64| mean + 3.0 * (2.0 * squares).sqrt();
    let factor = |columns: Range<usize>| {
        let variance = columns.clone().map(|j| scale[j] * scale[j]).fold(0.0, f64::max);
        if columns.len() == 1 || variance == 0.0 {
            return 1.0;
        }
        let variances = || columns.clone().map(|j| std[j] * std[j] / variance);
        let squares = variances().map(|v| v * v).sum();
        (high(variances().sum(), squares) / high(1.0, 1.0)).sqrt()
    };
    groups.iter().map(factor).collect()
}

/// The Euclidean norm of the weights or gradients of a feature.
fn norm(weights: &[f64]) -> f64 {
    match weights {
        [weight] => weight.abs(),
        _ => weights.iter().map(|w| w * w).sum::<f64>().sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn select(method: &L1Svm, data: &Dataset, wanted: FeatureCount) -> Selection {
        method.select(data, wanted, &Context::default()).unwrap()
    }

    #[test]
    fn by_hand() {
        // Samples (-1, -0.5) and (1, 0.5): feature 1 has the same effect at half the penalty, so only it has a weight: |w| +
        // 2 (1 - w)^2 is smallest at 0.75.
        let data = Dataset::labeled(array![[-1.0, -0.5], [1.0, 0.5]], vec![0, 1]).unwrap();
        let method = L1Svm { fit_intercept: false, tol: 1e-10, ..L1Svm::default() };
        let selection = select(&method, &data, FeatureCount::Auto);
        assert!((selection.scores[0] - 0.75).abs() < 1e-9 && selection.scores[1] == 0.0);
        assert_eq!((selection.n_selected, &selection.order[..]), (1, &[0, 1][..]));
        // Below 1 / (2 * 2) all weights are zero.
        let nothing = select(&L1Svm { c: Some(0.2499), ..method.clone() }, &data, FeatureCount::Auto);
        assert_eq!((nothing.scores, nothing.n_selected), (vec![0.0, 0.0], 0));
        let something = select(&L1Svm { c: Some(0.2501), ..method }, &data, FeatureCount::Auto);
        assert!(something.scores[0] > 0.0);
    }

    fn planted(classes: usize) -> Dataset {
        let mut rng = Rng::new(2);
        let x = Array2::from_shape_simple_fn((150, 20), || rng.normal());
        let codes = x.rows().into_iter().map(|r| {
            let value = 2.0 * r[3] - r[7] + 0.5 * r[11] + 0.3 * rng.normal();
            ((value + 3.0).max(0.0) as usize * classes / 6).min(classes - 1)
        });
        let codes = codes.collect();
        Dataset::labeled(x, codes).unwrap()
    }

    #[test]
    fn requested_numbers_have_nonzero_weights() {
        for classes in [2, 3] {
            let data = planted(classes);
            for k in [1, 2, 3, 8] {
                let selection = select(&L1Svm::default(), &data, FeatureCount::Count(k));
                let n_nonzero = selection.scores.iter().filter(|s| **s > 0.0).count();
                assert!(n_nonzero >= k && n_nonzero <= k + 1, "{classes} classes, {k}: {n_nonzero}");
                assert_eq!(selection.selected().len(), k);
            }
            let mut best = select(&L1Svm::default(), &data, FeatureCount::Count(3)).selected().to_vec();
            best.sort_unstable();
            assert_eq!(best, [3, 7, 11], "{classes} classes");
        }
    }

    #[test]
    fn a_feature_with_several_columns_counts_once() {
        for classes in [2, 3] {
            let plain = planted(classes);
            // The columns 3, 7 and 11 in one feature, the others in features of one column.
            let order: Vec<usize> =
                [3, 7, 11].into_iter().chain((0..20).filter(|j| ![3, 7, 11].contains(j))).collect();
            let names = (0..18).map(|j| j.to_string()).collect();
            let groups = Groups::of_sizes([3].into_iter().chain([1; 17]));
            let x = plain.take_columns(&order).into_x().into_dense();
            let data = Dataset::encoded(names, x, groups, plain.target().clone()).unwrap();
            let one = select(&L1Svm::default(), &data, FeatureCount::Count(1));
            assert!(one.is_sound(18) && one.selected() == [0], "{:?}", one.order);
            let factors = penalty_factors(
                &Groups::of_sizes([2, 4, 1]),
                &Array1::from(vec![2.0, 1.0, 0.5, 0.5, 0.5, 0.5, 7.0]),
                &Array1::from(vec![2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0]),
            );
            // A number of variance 4 with a column of variance 1; four levels of variance 1/4.
            let root = |mean: f64, squares: f64| {
                ((mean + 3.0 * (2.0 * squares).sqrt()) / (1.0 + 3.0 * 2.0_f64.sqrt())).sqrt()
            };
            let expected = [root(1.25, 1.0625), root(1.0, 0.25), 1.0];
            assert!(factors.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{factors:?}");
            // At any C they are zero together.
            for c in [0.001, 0.01, 0.1] {
                let found = select(&L1Svm { c: Some(c), ..L1Svm::default() }, &data, FeatureCount::Auto);
                let (coef, scores) = (found.coef.unwrap(), &found.scores);
                assert!((0..18).all(|j| coef.row(j).iter().any(|w| *w != 0.0) == (scores[j] > 0.0)));
                assert_eq!(found.n_selected, scores.iter().filter(|s| **s > 0.0).count());
            }
        }
    }

    #[test]
    fn memory_is_proportional_to_the_stored_values() {
        // Two of a million features are used: a dense copy would be 24 MB.
        let (start, column) = (vec![0, 1, 2, 3, 4], vec![3, 900_000, 3, 900_000]);
        let x = crate::data::SparseRows::new(1_000_000, start, column, vec![1.0, 1.0, 1.0, 1.0]).unwrap();
        let target = crate::data::Target::Classes(Classes::from_codes(vec![0, 1, 0, 1]));
        let data = Dataset::with_target(x, target).unwrap();
        let problem = &L1Svm::default();
        let with = |memory_limit| {
            let ctx = Context { memory_limit, ..Context::default() };
            Path::new(problem, &data, data.classes("t").unwrap(), &ctx).map(|path| path.svms.len())
        };
        // 4 values and 4 of the intercept, 12 bytes each.
        assert_eq!(with(96).unwrap(), 1);
        assert!(matches!(with(95), Err(Error::Memory { needed: 96, .. })));
    }

    #[test]
    fn overflow_is_an_error() {
        let data = Dataset::labeled(array![[1e200, 1.0], [-1e200, 2.0]], vec![0, 1]).unwrap();
        let error = L1Svm::default().select(&data, FeatureCount::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("overflow; scale the features"), "{error}");
    }

    #[test]
    fn c_and_a_number_of_features_exclude_each_other() {
        let method = L1Svm { c: Some(1.0), ..L1Svm::default() };
        let error =
            method.select(&planted(2), FeatureCount::Count(2), &Context::default()).unwrap_err().to_string();
        assert!(error.contains("'C' must be left out where a number of features is given"), "{error}");
        let method = L1Svm { c: Some(-1.0), ..L1Svm::default() };
        let error =
            method.select(&planted(2), FeatureCount::Auto, &Context::default()).unwrap_err().to_string();
        assert!(error.starts_with("L1-SVM: parameter 'C'"), "{error}");
        assert!(!method.nested());
    }
}
