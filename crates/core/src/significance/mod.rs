//! How sure a selection is: p-values of features, and how often other samples give the same features.
//!
//! ```
//! use kernsift::Context;
//! use kernsift::data::synthetic::{Pattern, Synthetic};
//! use kernsift::significance::FeatureTest;
//!
//! # fn main() -> kernsift::Result<()> {
//! // The class depends on two of 30 features.
//! let made = Synthetic { pattern: Pattern::Linear, rows: 400, columns: 30, ..Synthetic::default() }.make()?;
//! let found = FeatureTest::default().run(&made.data, &[], &Context::default())?;
//! assert!(made.relevant.contains(&found.features[0].feature));
//! assert!(found.features[0].q_value < 0.01);
//! # Ok(())
//! # }
//! ```
//!
//! # Does the target depend on a feature at all?
//!
//! [`FeatureTest`] gives the p-value of every feature alone.
//!
//! *Cosine statistic.* With functions $\varphi_k$ of the feature and columns $Y_c$ of the target as in the
//! [interaction screen](crate::interactions), the statistic is $s = \sum_{k,c} z_{kc}^2$, $z_{kc} = n^{-1/2} \sum_r
//! \varphi_k(u_r) Y_{rc}$. Its asymptotic p-value is that of the F-test of a regression, or of Pillai's trace for several
//! columns.
//!
//! *HSIC.* $\operatorname{tr}(\tilde K \tilde L) / n^2$ of centered kernel matrices. The asymptotic p-value is that of a gamma
//! distribution with the mean and variance that HSIC has over all permutations of the target, which are known in closed form.
//!
//! *Permutations* of the target give $p = (1 + \#\{b : s_b \ge s\}) / (1 + B)$, exact for any sample size if rows are
//! exchangeable. Both statistics are sums of squared products of vectors of the feature and of the target (HSIC: of low-rank
//! factors of both matrices). The target is permuted once for all features, and the products are matrix products in single
//! precision. Memory is bounded: vectors of features are made in groups, and at most 64 MiB of permuted targets are kept.
//!
//! *Covariates.* Functions of the covariates (cosines of ranks, indicators of levels) are removed from the vectors of each
//! feature and of the target. The asymptotic test is the F-test of a regression with these functions; permutations permute the
//! residuals of the target (Freedman and Lane, 1983). If all covariates are categories, the target is permuted only among rows
//! with the same values of all of them, which is exact.
//!
//! p-values are adjusted for the number of features by a [`Correction`]. A constant feature has the p-value 1.
//!
//! # Does it matter beyond the other features?
//!
//! [`Knockoffs`] compares the scores that a selector gives to features and to random copies of them.
//!
//! # Would another sample choose it too?
//!
//! [`Stability`] fits a selector to random halves of the rows and reports how often each feature is selected, with a bound on
//! the expected number of false selections.
//!
//! # Would another feature do as well?
//!
//! [`near_copies`] finds the features that are almost equal to a selected one: which of them is selected is a matter of chance.

mod covariates;
mod feature_test;
mod knockoffs;
mod moments;
mod near_copies;
mod permutation;
mod selected;
mod stability;
#[cfg(test)]
mod tests;
mod vectors;

pub use crate::interactions::Correction;
pub use covariates::Adjustment;
pub use feature_test::{FeatureTest, FeatureTests, TestedFeature};
pub use knockoffs::{CopyModel, KnockoffResult, Knockoffs, e_values, select_by_e_values};
pub use near_copies::{NEAR_COPY, NearCopy, near_copies};
pub use selected::SelectionSignificance;
pub use stability::{Frequencies, Stability};
pub use vectors::DependenceStatistic;
