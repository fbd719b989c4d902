//! The parameters of the automatic selector.

use crate::data::{Dataset, SplitRule, Target};
use crate::error::{Error, Result};
use crate::method::{Info, Needs};
use std::time::{Duration, Instant};

pub(super) const NAME: &str = "automatic selector";

crate::choices! {
    /// The score by which the automatic selector chooses a method and a number of features: a score of comparisons that is a mean
    /// over rows.
    pub enum Scoring {
        /// Mean error rate of the classes.
        BalancedError = "balanced-error",
        /// Mean recall of the classes, which chooses as balanced-error does.
        BalancedAccuracy = "balanced-accuracy",
        /// Fraction of misclassified samples.
        Error = "error",
        /// Area under the ROC curve in each fold; one-vs-rest mean for more than two classes.
        Auc = "auc",
        /// Mean negative logarithm of the probability of the class.
        LogLoss = "log-loss",
        /// Coefficient of determination R².
        R2 = "r2",
        /// Root of the mean squared error, which chooses as r2 does.
        Rmse = "rmse",
        /// Mean absolute error.
        Mae = "mae",
    }
}

impl Scoring {
    /// Whether it is for a continuous target.
    fn is_for_numbers(self) -> bool {
        matches!(self, Self::R2 | Self::Rmse | Self::Mae)
    }

    /// The default for a target.
    pub(super) fn for_target(target: &Target) -> Self {
        if matches!(target, Target::Continuous(_)) { Self::R2 } else { Self::BalancedError }
    }

    /// Whether all classes have the same weight, otherwise all rows.
    pub(super) fn is_balanced(self) -> bool {
        matches!(self, Self::BalancedError | Self::BalancedAccuracy | Self::Auc)
    }
}

crate::parameters! {
    /// The automatic selector: which features matter, how many, and how well they predict.
    ///
    /// 1. *Screen*: the dependence of the target on every feature, on the sum of all features, on every pair of features
    ///    ([`InteractionScreen`](crate::interactions::InteractionScreen)), and on every three of the most promising features.
    /// 2. *Search*: forward selection by [`Nca`](crate::select::Nca), which may add the features of a significant pair or set of three
    ///    together. If searches on parts of the data disagree (they find less than 0.7 of the features, or of features with an
    ///    absolute correlation above 0.8 with them), or if there are fewer than 100 rows or ten times as many features as
    ///    rows, features are ranked by the mean over all
    ///    searches of one over the root of their place.
    /// 3. *Number*: by cross-validation with screen, encoding and search inside each fold. The error is that of the kernel
    ///    classifier or regressor of NCA. Of all numbers of features whose error is within one standard error of the least,
    ///    the smallest is chosen. The features of the strongest significant pair and set of three are selected, too, if the search
    ///    finds them before the least error. In the order of all features, those of other significant sets come next.
    /// 4. *Error on samples that took no part*: for each fold the number of features is chosen on searches that leave out
    ///    this fold and one other (nested cross-validation).
    /// 5. *Other methods* (LDFS, HSIC Lasso, Fisher score) are evaluated on the same folds. One of them is used instead of NCA if its
    ///    error is smaller by more than two standard errors of the difference.
    /// 6. *Nothing*: no feature is selected, unless a number is requested, if none of five tests is significant: of single features,
    ///    of their sum, of pairs, of sets of three, and of the predictions of samples that took no part, by permutations of
    ///    the target (the smallest p-value, adjusted, is above 0.05).
    ///
    /// Groups of rows ([`SplitRule`](crate::data::SplitRule)) are kept together in all folds. Tests then use one row of each
    /// group, drawn at random, and permutations exchange targets between groups if each has a single target, else within
    /// groups. With times, every fold is searched on earlier rows only, and its choices use earlier folds. Tests of rows with
    /// times take them for independent.
    ///
    /// The error of classification is balanced: the mean of the error rates of all classes. The error of regression is the mean
    /// squared error, divided by that of the mean of the target (1 - R²). Standard errors are over samples. With another `scoring` the
    /// error is the error rate, one minus the AUC, the log loss, or the mean absolute error divided by that of the mean of the
    /// target. The error of a sample for the AUC is the fraction of samples of other classes in its fold that have a larger
    /// probability of its class; the standard error is then that of DeLong et al. (1988). The test of predictions by permutations
    /// (6.) always uses the balanced or squared error.
    ///
    /// Numbers beyond the outer fences (three interquartile ranges outside the quartiles) are moved to the fences, also those of
    /// a continuous target: a few extreme rows would otherwise determine distances and errors. A feature with more than a tenth
    /// of its numbers beyond the fences is replaced by its ranks.
    ///
    /// Beyond 3000 rows screen and cross-validation use a random sample of 3000 rows; the final search uses all rows, as
    /// described for [`Nca`](crate::select::Nca). Beyond 500 features, features compete in the search only if they are among the
    /// best 200 by dependence, HSIC Lasso, Relief or L1-SVM, or belong to a significant pair or set of three.
    ///
    /// Cost: 16 searches with five folds, ten of them on three fifths of the rows and five on four fifths.
    #[derive(PartialEq)]
    pub struct Auto as "automatic selector" {
        /// Number of folds. With two there is no nested cross-validation.
        pub cv: usize = 5, between(2, 10);
        /// Seconds after which no further part is begun; the screen and the search on all rows always run, and the summary says what
        /// is missing. With a time budget the result
        /// depends on the speed of the computer.
        pub time_budget: Option<f64> = None, above(0);
        /// Score by which method and number of features are chosen; None is balanced-error for classes and r2 for a continuous target.
        pub scoring: Option<Scoring> = None;
        /// Whether screen, cross-validation and search use all rows, however many there are.
        pub exact: bool = false;
    }
}

impl Auto {
    /// What to know before using it.
    pub const INFO: Info = Info {
        name: "auto",
        title: "Automatic selector",
        summary: "The features that matter, how many, and how well they predict, by NCA, screening and cross-validation",
        needs: Needs::Target,
        cost: "16 searches by NCA; beyond 3000 samples the folds use a sample",
        reference: "kernsift; Breiman et al., 1984 (one-standard-error rule)",
    };

    /// The score by which method and number of features are chosen; an error if it is not for the target.
    pub(super) fn scoring_for(&self, target: &Target) -> Result<Scoring> {
        let default = Scoring::for_target(target);
        let Some(scoring) = self.scoring else { return Ok(default) };
        if scoring.is_for_numbers() == default.is_for_numbers() {
            return Ok(scoring);
        }
        let expected = match default.is_for_numbers() {
            true => "r2, rmse or mae for a continuous target",
            false => "balanced-error, balanced-accuracy, error, auc or log-loss for classes",
        };
        let name = serde_json::to_value(scoring).ok();
        let got = name.as_ref().and_then(|name| name.as_str()).unwrap_or_default();
        Err(Error::param(NAME, "scoring", expected, got))
    }

    /// Returns an error for fewer groups or times than folds.
    pub(super) fn check_split_rule(&self, data: &Dataset) -> Result<()> {
        let (rule, n) = (data.split_rule(), data.n());
        let what = match rule {
            SplitRule::Groups(_) => "groups",
            SplitRule::Time(_) => "different times minus 1",
            SplitRule::Independent | SplitRule::Given(_) => return Ok(()),
        };
        match rule.max_folds(n) {
            most if self.cv > most => {
                Err(Error::param(NAME, "cv", format!("from 2 to the number of {what}, {most}"), self.cv))
            }
            _ => Ok(()),
        }
    }
}

/// Measures how much of the time budget is used.
pub(super) struct Clock {
    pub start: Instant,
    pub budget: Option<Duration>,
}

impl Clock {
    /// Whether a part that takes this long would exceed the budget.
    pub fn exceeds(&self, part: Duration) -> bool {
        self.budget.is_some_and(|budget| self.start.elapsed() + part > budget)
    }
}
