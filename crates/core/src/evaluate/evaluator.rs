//! Evaluators: estimators that measure how well the selected features predict the target.
//!
//! An evaluator is fitted on the training rows of a fold and predicts the test rows. It tunes its hyperparameters (C,
//! gamma, penalty) on the training rows.

use super::scores::Scores;
use crate::classify::{KnnClassifier, Knnc, LinearSvm, Svm, SvmSearch};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Target, Weights};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, KernelChoice};
use crate::method::{Info, Needs, family};
use crate::parameters::{Parameters, parse_settings};
use crate::regress::{KernelRidge, nearest_mean};
use ndarray::Array2;
use std::collections::BTreeMap;

const NAME: &str = "evaluator";

family! {
    /// The estimator used for evaluation.
    pub enum Evaluator: Parameters, "evaluator", "name", EVALUATORS {
        Svm(SvmGrid): INFO => SvmGrid::default();
        LinearSvm(LinearSvm): INFO => LinearSvm::default();
        Knn(Neighbors): INFO => Neighbors::default();
        KernelKnn(KernelNeighbors): INFO => KernelNeighbors::default();
        Ridge(KernelRidge): INFO => KernelRidge::default();
    }
}

crate::parameters! {
    /// A kernel SVM with C and gamma chosen on the training samples.
    #[derive(PartialEq)]
    pub struct SvmGrid as "svm" {
        /// The kernel.
        pub kernel: KernelChoice = Svm::default().kernel;
        /// Values of C to choose from by cross-validation on the training samples.
        pub c as "C": Vec<f64> = vec![0.25, 1.0, 4.0, 16.0, 64.0, 256.0], above(0);
        /// Values of gamma to choose from; none uses `gamma`.
        pub gammas: Option<Vec<f64>> = None, above(0);
        /// Number of folds of the training samples.
        pub folds: usize = 5, at_least(2);
    }
}

crate::parameters! {
    /// k-nearest neighbors.
    #[derive(PartialEq)]
    pub struct Neighbors as "knn" {
        /// Number of neighbors.
        pub n_neighbors: usize = 5, at_least(1);
    }
}

crate::parameters! {
    /// k-nearest neighbors by kernel distance.
    #[derive(PartialEq)]
    pub struct KernelNeighbors as "kernel-knn" {
        /// The kernel.
        pub kernel: KernelChoice = KernelChoice::default();
        /// Number of neighbors.
        pub n_neighbors: usize = 5, at_least(1);
    }
}

impl SvmGrid {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "svm",
        title: "Support vector machine",
        summary: "A nonlinear boundary between classes; C and gamma are tuned by cross-validation on the training samples",
        needs: Needs::Classes,
        cost: "O(n²) to O(n³) time, O(n²) memory where there is room",
        reference: "Cortes and Vapnik, 1995",
    };

    fn search(&self) -> SvmSearch {
        SvmSearch {
            svm: Svm { kernel: self.kernel.clone(), ..Svm::default() },
            c: self.c.clone(),
            gamma: self.gammas.iter().flatten().copied().map(Gamma::Value).collect(),
            folds: self.folds,
        }
    }
}

impl Neighbors {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "knn",
        title: "k-nearest neighbors",
        summary: "The majority class, or the mean target, of the nearest samples",
        needs: Needs::Target,
        cost: "O(n² d) time, O(n d) memory",
        reference: "Cover and Hart, 1967",
    };
}

impl KernelNeighbors {
    /// What `kernsift methods` says about it.
    pub const INFO: Info = Info {
        name: "kernel-knn",
        title: "k-nearest neighbors by kernel distance",
        summary: "The majority class of the nearest samples in kernel space",
        needs: Needs::Classes,
        cost: "O(n² d) time, O(n d) memory",
        reference: "Xu et al., TAKES, CIKM 2010",
    };
}

impl Evaluator {
    /// Parses a name with optional parameters: `knn`, `knn:n_neighbors=3`, `svm:C=[1,10]`.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, settings) = parse_settings(text)?;
        Self::with_settings(name, &settings)
    }

    /// What to know about it.
    pub fn info(&self) -> &'static Info {
        match self {
            Self::Svm(_) => &SvmGrid::INFO,
            Self::LinearSvm(_) => &LinearSvm::INFO,
            Self::Knn(_) => &Neighbors::INFO,
            Self::KernelKnn(_) => &KernelNeighbors::INFO,
            Self::Ridge(_) => &KernelRidge::INFO,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The default evaluator: an RBF SVM for classification, kernel ridge regression for regression.
    pub fn for_target(target: &Target) -> Self {
        match target {
            Target::Continuous(_) => Self::Ridge(KernelRidge::default()),
            _ => Self::Svm(SvmGrid::default()),
        }
    }

    /// Whether it supports weights of samples.
    pub fn supports_weights(&self) -> bool {
        matches!(self, Self::Svm(_) | Self::LinearSvm(_) | Self::Ridge(_))
    }

    /// The names of the evaluators that support weights.
    pub fn names_with_weights() -> Vec<&'static str> {
        let names = EVALUATORS.iter().map(|info| info.name);
        names.filter(|name| Self::by_name(name).is_ok_and(|evaluator| evaluator.supports_weights())).collect()
    }

    /// Checks that it supports the target and the weights, and its parameters.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        if !self.supports_weights() {
            data.need_unweighted(self.info().title, Self::names_with_weights)?;
        }
        match (self, data.target()) {
            (_, Target::None | Target::Outputs(_)) => Self::check_target(data),
            (Self::Ridge(_), Target::Classes(_)) => Err(Error::param(
                NAME,
                "evaluator",
                "svm, linear-svm, knn or kernel-knn for classes",
                "ridge",
            )),
            (Self::Svm(_) | Self::LinearSvm(_) | Self::KernelKnn(_), Target::Continuous(_)) => {
                Err(Error::param(NAME, "evaluator", "ridge or knn for a continuous target", self.name()))
            }
            _ => Self::check_target(data).and_then(|()| self.validate(data.n())),
        }
    }

    /// Checks that there is a target, and that it varies.
    pub(super) fn check_target(data: &Dataset) -> Result<()> {
        match data.target() {
            Target::None => Err(Error::param(NAME, "target", "present", "no target")),
            Target::Continuous(values) if values.iter().all(|v| *v == values[0]) => {
                Err(Error::param(NAME, "target", "not constant", format!("{} in all rows", values[0])))
            }
            Target::Continuous(_) => Ok(()),
            Target::Outputs(_) => data.need_one_output("compare"),
            Target::Classes(_) => data.classes("compare").map(|_| ()),
        }
    }

    /// Whether it predicts probabilities of classes, which some scores need.
    pub fn gives_probabilities(&self) -> bool {
        matches!(self, Self::Knn(_) | Self::KernelKnn(_))
    }

    fn validate(&self, n: usize) -> Result<()> {
        self.check_ranges()?;
        self.check_effects()?;
        match self {
            Self::Svm(grid) => grid.search().check(n),
            Self::LinearSvm(svm) => svm.check(),
            Self::Ridge(ridge) => ridge.validate(),
            Self::KernelKnn(knn) => knn.kernel.validate(),
            Self::Knn(_) => Ok(()),
        }
    }

    /// Rejects parameters of the kernel that have no effect.
    fn check_effects(&self) -> Result<()> {
        let (kernel, default, gammas) = match self {
            Self::Svm(grid) => (&grid.kernel, Gamma::Scale, grid.gammas.is_some()),
            Self::Ridge(ridge) => (&ridge.kernel, Gamma::Scale, false),
            Self::KernelKnn(knn) => (&knn.kernel, Gamma::Median, false),
            Self::LinearSvm(_) | Self::Knn(_) => return Ok(()),
        };
        let KernelChoice::Named { family, gamma, .. } = kernel else { return Ok(()) };
        let has_gamma = *gamma != default;
        let (name, why) = match (self, family) {
            (_, Family::Linear) if gammas => ("gammas", "the linear kernel has no gamma"),
            (_, Family::Linear) if has_gamma => ("gamma", "the linear kernel has no gamma"),
            // Of other kernels, the distance is a monotone function of an ordinary one.
            (Self::KernelKnn(_), Family::Rbf | Family::Laplacian) if has_gamma => {
                ("gamma", "the nearest neighbors depend on it only with the poly kernel")
            }
            _ if has_gamma && gammas => ("gamma", "gammas are given"),
            _ => return Ok(()),
        };
        Err(Error::NoEffect { method: self.name(), name, why: why.into() })
    }

    /// Fits on `train`, predicts `test`, and scores the predictions against `truth`, with the weights of the test rows.
    pub fn evaluate(
        &self,
        train: &Dataset,
        test: &Rows,
        truth: &Target,
        weights: Weights,
        ctx: &Context,
    ) -> Result<Evaluation> {
        let Fitted { predicted, chosen } = self.predict(train, test, ctx)?;
        let scores = match (&predicted, truth) {
            (Predicted::Classes { codes, scores }, Target::Classes(Classes { codes: truth, .. })) => {
                let of = Scores::classification(truth, codes, scores, weights);
                if self.gives_probabilities() { of.with_probabilities(truth, scores, weights) } else { of }
            }
            (Predicted::Numbers(values), Target::Continuous(truth)) => {
                Scores::regression(truth, values, weights)
            }
            _ => return Err(Error::param(NAME, "target", "present", "no target")),
        };
        Ok(Evaluation { scores, chosen })
    }

    /// Fits on `train` and predicts `test`.
    pub(super) fn predict(&self, train: &Dataset, test: &Rows, ctx: &Context) -> Result<Fitted> {
        match train.target() {
            Target::None => Err(Error::param(NAME, "target", "present", "no target")),
            Target::Outputs(_) => {
                Err(Error::OutputsUnsupported { method: "compare".into(), supported: vec![] })
            }
            _ if all_rows_equal(train.x()) => {
                let (predicted, chosen) = (Predicted::constant(train, test.n()), BTreeMap::new());
                Ok(Fitted { predicted, chosen })
            }
            Target::Classes(_) => self.classification(train, test, ctx),
            Target::Continuous(y) => self.regression(train, y, test, ctx),
        }
    }

    fn classification(&self, train: &Dataset, test: &Rows, ctx: &Context) -> Result<Fitted> {
        let classes = train.classes(NAME)?;
        let mut chosen = BTreeMap::new();
        let (codes, scores) = match self {
            Self::Svm(grid) => {
                let search = grid.search();
                let model = match search.only() {
                    Some(svm) => svm.fit(train, ctx)?,
                    None => {
                        // A fold needs at least one row.
                        let folds = search.folds.min(train.n());
                        let found = SvmSearch { folds, ..search }.fit(train, ctx)?;
                        chosen.insert("c".to_owned(), found.c);
                        chosen.extend(found.gamma.map(|gamma| ("gamma".to_owned(), gamma)));
                        found.model
                    }
                };
                let values = model.decision_values(test, ctx)?;
                let svms = model.svms();
                let predicted = values.rows().into_iter().map(|values| svms.vote(values)).collect();
                (predicted, svms.class_scores(values.view()))
            }
            Self::LinearSvm(svm) => {
                let model = svm.fit(train, ctx)?;
                (model.predict(test)?, model.class_scores(test)?)
            }
            Self::Knn(Neighbors { n_neighbors }) => {
                let dense = train.x().to_dense();
                let model = KnnClassifier::new(dense, classes.clone(), (*n_neighbors).min(train.n()))?;
                model.predict_with_fractions(test.to_dense().view(), ctx)?
            }
            Self::KernelKnn(KernelNeighbors { kernel, n_neighbors }) => {
                let model = Knnc::fit(kernel, train, (*n_neighbors).min(train.n()), ctx)?;
                model.predict_with_fractions(test, ctx)?
            }
            Self::Ridge(_) => return Err(Error::param(NAME, "evaluator", "one for classes", "ridge")),
        };
        Ok(Fitted { predicted: Predicted::Classes { codes, scores }, chosen })
    }

    fn regression(&self, train: &Dataset, y: &[f64], test: &Rows, ctx: &Context) -> Result<Fitted> {
        let mut chosen = BTreeMap::new();
        let predicted = match self {
            Self::Ridge(ridge) => {
                let model = ridge.fit(train, ctx)?;
                chosen.insert("penalty".to_owned(), model.penalty);
                model.predict(test, ctx)?
            }
            Self::Knn(Neighbors { n_neighbors }) => {
                let (points, new) = (train.x().to_dense(), test.to_dense());
                nearest_mean(points.view(), y, new.view(), (*n_neighbors).min(train.n()), ctx)?
            }
            _ => return Err(Error::param(NAME, "evaluator", "ridge or knn", self.name())),
        };
        Ok(Fitted { predicted: Predicted::Numbers(predicted), chosen })
    }
}

/// Predictions for test rows.
pub(super) enum Predicted {
    /// The class of each row, and scores of the classes.
    Classes { codes: Vec<usize>, scores: Array2<f64> },
    /// A number for each row.
    Numbers(Vec<f64>),
}

/// The predictions of a fitted evaluator, and its tuned hyperparameters.
pub(super) struct Fitted {
    pub predicted: Predicted,
    pub chosen: BTreeMap<String, f64>,
}

impl Predicted {
    /// The same prediction for `n` rows: the most frequent class, or the mean.
    fn constant(train: &Dataset, n: usize) -> Self {
        let total = train.weights().total(train.n());
        match train.target() {
            Target::Classes(classes) => {
                let counts = classes.weighted_counts(train.weights());
                let more = |a: &usize, b: &usize| counts[*a].total_cmp(&counts[*b]);
                let most = (0..counts.len()).rev().max_by(more).unwrap_or(0);
                let scores = Array2::from_shape_fn((n, counts.len()), |(_, class)| counts[class] / total);
                Self::Classes { codes: vec![most; n], scores }
            }
            Target::Continuous(y) => {
                let sum: f64 = y.iter().enumerate().map(|(row, y)| train.weights().of(row) * y).sum();
                Self::Numbers(vec![sum / total.max(f64::MIN_POSITIVE); n])
            }
            Target::None | Target::Outputs(_) => Self::Numbers(vec![0.0; n]),
        }
    }
}

/// Whether every feature is constant.
fn all_rows_equal(x: &Rows) -> bool {
    match x {
        Rows::Dense(x) => x.rows().into_iter().all(|row| row == x.row(0)),
        Rows::Sparse(x) => (1..x.n_rows()).all(|i| x.row(i) == x.row(0)),
    }
}

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Scores of the predictions on the test rows.
    pub scores: Scores,
    /// Hyperparameters tuned on the training rows.
    pub chosen: BTreeMap<String, f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Classes;
    use ndarray::array;

    #[test]
    fn constant_features_predict_the_most_frequent_class_or_the_mean() {
        let ctx = Context::default();
        let train = Dataset::labeled(array![[7.0], [7.0], [7.0]], vec![1, 0, 1]).unwrap();
        let truth = Target::Classes(Classes::from_codes(vec![0, 1, 1, 1]));
        let test: Rows = array![[7.0], [8.0], [1.0], [2.0]].into();
        for evaluator in ["svm", "linear-svm", "knn", "kernel-knn"] {
            let evaluator = Evaluator::by_name(evaluator).unwrap();
            let scores = evaluator.evaluate(&train, &test, &truth, Weights::ONE, &ctx).unwrap().scores;
            assert_eq!((scores.error, scores.auc), (Some(0.25), Some(0.5)));
        }
        let numbers = Target::Continuous(vec![1.0, 2.0, 6.0]);
        let train = Dataset::with_target(array![[7.0], [7.0], [7.0]], numbers).unwrap();
        let truth = Target::Continuous(vec![2.0, 4.0, 3.0, 3.0]);
        for evaluator in ["ridge", "knn"] {
            let evaluator = Evaluator::by_name(evaluator).unwrap();
            let scores = evaluator.evaluate(&train, &test, &truth, Weights::ONE, &ctx).unwrap().scores;
            assert_eq!(scores.r2, Some(0.0));
        }
    }
}
