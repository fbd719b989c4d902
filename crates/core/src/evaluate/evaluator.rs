//! Evaluators: estimators that measure how well the selected features predict the target.
//!
//! An evaluator is fitted on the training rows of a fold and predicts the test rows. It tunes its hyperparameters (C,
//! gamma, penalty) on the training rows.

use super::scores::Scores;
use crate::classify::{KnnClassifier, Knnc, LinearSvm, Svm, SvmSearch};
use crate::context::Context;
use crate::data::{Classes, Dataset, Rows, Target};
use crate::error::{Error, Result};
use crate::kernel::{Family, Gamma, KernelChoice};
use crate::method::{Info, Needs};
use crate::regress::{KernelRidge, nearest_mean};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const NAME: &str = "evaluator";

/// The estimator used for evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Evaluator {
    /// A kernel SVM.
    Svm(SvmSearch),
    /// A linear SVM.
    LinearSvm(LinearSvm),
    /// k-nearest neighbors.
    Knn(Neighbors),
    /// k-nearest neighbors by kernel distance.
    KernelKnn(KernelNeighbors),
    /// Kernel ridge regression.
    Ridge(KernelRidge),
}

/// Parameters of k-nearest neighbors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Neighbors {
    /// Neighbors that answer. Default: 5.
    pub n_neighbors: usize,
}

impl Default for Neighbors {
    fn default() -> Self {
        Self { n_neighbors: 5 }
    }
}

/// Parameters of k-nearest neighbors by kernel distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelNeighbors {
    /// The kernel. Default: RBF with the median heuristic for gamma.
    pub kernel: KernelChoice,
    /// Neighbors that answer. Default: 5.
    pub n_neighbors: usize,
}

impl Default for KernelNeighbors {
    fn default() -> Self {
        Self { kernel: KernelChoice::default(), n_neighbors: Neighbors::default().n_neighbors }
    }
}

/// The evaluators.
pub const EVALUATORS: [Info; 5] = [
    Info {
        name: "svm",
        title: "Support vector machine",
        summary: "A nonlinear boundary between classes; C and gamma are tuned by cross-validation on the training samples",
        needs: Needs::Classes,
        cost: "O(n²) to O(n³) time, O(n²) memory where there is room",
        reference: "Cortes and Vapnik, 1995",
    },
    Info {
        name: "linear-svm",
        title: "Linear support vector machine",
        summary: "A linear boundary between classes",
        needs: Needs::Classes,
        cost: "O(n d) time per pass, O(n d) memory",
        reference: "Hsieh et al., 2008",
    },
    Info {
        name: "knn",
        title: "k-nearest neighbors",
        summary: "The majority class, or the mean target, of the nearest samples",
        needs: Needs::Target,
        cost: "O(n² d) time, O(n d) memory",
        reference: "Cover and Hart, 1967",
    },
    Info {
        name: "kernel-knn",
        title: "k-nearest neighbors by kernel distance",
        summary: "The majority class of the nearest samples in kernel space",
        needs: Needs::Classes,
        cost: "O(n² d) time, O(n d) memory",
        reference: "Xu et al., TAKES, CIKM 2010",
    },
    Info {
        name: "ridge",
        title: "Kernel ridge regression",
        summary: "A smooth function; its penalty is tuned by cross-validation on the training samples",
        needs: Needs::Continuous,
        cost: "O(n³) time, O(n²) memory",
        reference: "Saunders et al., 1998",
    },
];

/// Values of C for the SVM to choose from.
const C_VALUES: [f64; 6] = [0.25, 1.0, 4.0, 16.0, 64.0, 256.0];
/// Folds of the training rows for tuning.
const FOLDS: usize = 5;

impl Evaluator {
    /// An evaluator by name, with default parameters.
    pub fn by_name(name: &str) -> Result<Self> {
        match name {
            "svm" => Ok(Self::Svm(rbf_search())),
            "linear-svm" => Ok(Self::LinearSvm(LinearSvm::default())),
            "knn" => Ok(Self::Knn(Neighbors::default())),
            "kernel-knn" => Ok(Self::KernelKnn(KernelNeighbors::default())),
            "ridge" => Ok(Self::Ridge(KernelRidge::default())),
            _ => Err(Error::unknown_name("evaluator", name, EVALUATORS.iter().map(|info| info.name))),
        }
    }

    /// The default evaluator: an RBF SVM for classification, kernel ridge regression for regression.
    pub fn for_target(target: &Target) -> Self {
        match target {
            Target::Continuous(_) => Self::Ridge(KernelRidge::default()),
            _ => Self::Svm(rbf_search()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Svm(_) => "svm",
            Self::LinearSvm(_) => "linear-svm",
            Self::Knn(_) => "knn",
            Self::KernelKnn(_) => "kernel-knn",
            Self::Ridge(_) => "ridge",
        }
    }

    /// Checks that it supports the target, and its parameters.
    pub fn check(&self, data: &Dataset) -> Result<()> {
        match (self, data.target()) {
            (_, Target::None) => Err(Error::param(NAME, "target", "present", "no target")),
            (Self::Ridge(_), Target::Classes(_)) => Err(Error::param(
                NAME,
                "evaluator",
                "svm, linear-svm, knn or kernel-knn for classes",
                "ridge",
            )),
            (Self::Svm(_) | Self::LinearSvm(_) | Self::KernelKnn(_), Target::Continuous(_)) => {
                Err(Error::param(NAME, "evaluator", "ridge or knn for a continuous target", self.name()))
            }
            (_, Target::Continuous(values)) if values.iter().all(|v| *v == values[0]) => {
                Err(Error::param(NAME, "target", "not constant", format!("{} in all rows", values[0])))
            }
            (_, Target::Classes(_)) => data.classes("compare").and_then(|_| self.validate(data.n())),
            _ => self.validate(data.n()),
        }
    }

    fn validate(&self, n: usize) -> Result<()> {
        match self {
            Self::Svm(search) => search.check(n),
            Self::LinearSvm(svm) => svm.check(),
            Self::Ridge(ridge) => ridge.validate(),
            Self::Knn(Neighbors { n_neighbors }) | Self::KernelKnn(KernelNeighbors { n_neighbors, .. })
                if *n_neighbors == 0 =>
            {
                Err(Error::param(NAME, "n_neighbors", "at least 1", 0))
            }
            Self::KernelKnn(knn) => knn.kernel.validate(),
            Self::Knn(_) => Ok(()),
        }
    }

    /// Fits on `train`, predicts `test`, and scores the predictions against `truth`.
    pub fn evaluate(
        &self,
        train: &Dataset,
        test: &Rows,
        truth: &Target,
        ctx: &Context,
    ) -> Result<Evaluation> {
        match (train.target(), truth) {
            _ if all_rows_equal(train.x()) => evaluate_constant(train.target(), truth),
            (Target::Classes(_), Target::Classes(truth)) => self.classification(train, test, truth, ctx),
            (Target::Continuous(y), Target::Continuous(truth)) => self.regression(train, y, test, truth, ctx),
            _ => Err(Error::param(NAME, "target", "present", "no target")),
        }
    }

    fn classification(
        &self,
        train: &Dataset,
        test: &Rows,
        truth: &Classes,
        ctx: &Context,
    ) -> Result<Evaluation> {
        let classes = train.classes(NAME)?;
        let mut chosen = BTreeMap::new();
        let (predicted, scores) = match self {
            Self::Svm(search) => {
                let model = match search.only() {
                    Some(svm) => svm.fit(train, ctx)?,
                    None => {
                        // A fold needs at least one row.
                        let folds = search.folds.min(train.n());
                        let found = SvmSearch { folds, ..search.clone() }.fit(train, ctx)?;
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
        Ok(Evaluation { scores: Scores::classification(&truth.codes, &predicted, &scores), chosen })
    }

    fn regression(
        &self,
        train: &Dataset,
        y: &[f64],
        test: &Rows,
        truth: &[f64],
        ctx: &Context,
    ) -> Result<Evaluation> {
        let mut chosen = BTreeMap::new();
        let predicted = match self {
            Self::Ridge(ridge) => {
                let model = ridge.fit(train.x(), y, ctx)?;
                chosen.insert("penalty".to_owned(), model.penalty);
                model.predict(test, ctx)?
            }
            Self::Knn(Neighbors { n_neighbors }) => {
                let (points, new) = (train.x().to_dense(), test.to_dense());
                nearest_mean(points.view(), y, new.view(), (*n_neighbors).min(train.n()), ctx)?
            }
            _ => return Err(Error::param(NAME, "evaluator", "ridge or knn", self.name())),
        };
        Ok(Evaluation { scores: Scores::regression(truth, &predicted), chosen })
    }
}

/// An RBF SVM with C chosen by 5-fold cross-validation on the training rows.
fn rbf_search() -> SvmSearch {
    let kernel = KernelChoice::Named { family: Family::Rbf, gamma: Gamma::Scale, degree: 3, coef0: 0.0 };
    SvmSearch { svm: Svm { kernel, ..Svm::default() }, c: C_VALUES.to_vec(), gamma: vec![], folds: FOLDS }
}

/// Whether every feature is constant.
fn all_rows_equal(x: &Rows) -> bool {
    match x {
        Rows::Dense(x) => x.rows().into_iter().all(|row| row == x.row(0)),
        Rows::Sparse(x) => (1..x.n_rows()).all(|i| x.row(i) == x.row(0)),
    }
}

/// The evaluation of a constant prediction: the most frequent class, or the mean.
fn evaluate_constant(train: &Target, truth: &Target) -> Result<Evaluation> {
    let scores = match (train, truth) {
        (Target::Classes(train), Target::Classes(truth)) => {
            let counts = train.counts();
            let most = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
            let n = truth.codes.len();
            Scores::classification(&truth.codes, &vec![most; n], &Array2::zeros((n, counts.len())))
        }
        (Target::Continuous(train), Target::Continuous(truth)) => {
            let mean = train.iter().sum::<f64>() / train.len().max(1) as f64;
            Scores::regression(truth, &vec![mean; truth.len()])
        }
        _ => return Err(Error::param(NAME, "target", "present", "no target")),
    };
    Ok(Evaluation { scores, chosen: BTreeMap::new() })
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
    use ndarray::array;

    #[test]
    fn constant_features_predict_the_most_frequent_class_or_the_mean() {
        let ctx = Context::default();
        let train = Dataset::labeled(array![[7.0], [7.0], [7.0]], vec![1, 0, 1]).unwrap();
        let truth = Target::Classes(Classes::from_codes(vec![0, 1, 1, 1]));
        let test: Rows = array![[7.0], [8.0], [1.0], [2.0]].into();
        for evaluator in ["svm", "linear-svm", "knn", "kernel-knn"] {
            let evaluator = Evaluator::by_name(evaluator).unwrap();
            let scores = evaluator.evaluate(&train, &test, &truth, &ctx).unwrap().scores;
            assert_eq!((scores.error, scores.auc), (Some(0.25), Some(0.5)));
        }
        let numbers = Target::Continuous(vec![1.0, 2.0, 6.0]);
        let train = Dataset::with_target(array![[7.0], [7.0], [7.0]], numbers).unwrap();
        let truth = Target::Continuous(vec![2.0, 4.0, 3.0, 3.0]);
        for evaluator in ["ridge", "knn"] {
            let evaluator = Evaluator::by_name(evaluator).unwrap();
            assert_eq!(evaluator.evaluate(&train, &test, &truth, &ctx).unwrap().scores.r2, Some(0.0));
        }
    }
}
