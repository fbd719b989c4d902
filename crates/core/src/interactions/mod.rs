//! All-pairs interaction screening: pairs of features on which the target depends jointly.
//!
//! ```
//! use kernsift::Context;
//! use kernsift::data::synthetic::{Pattern, Synthetic};
//! use kernsift::interactions::InteractionScreen;
//!
//! # fn main() -> kernsift::Result<()> {
//! // The class is the sign of the product of two of 30 features.
//! let made = Synthetic { pattern: Pattern::Xor, rows: 400, columns: 30, ..Synthetic::default() }.make()?;
//! let found = InteractionScreen::default().run(&made.data, &Context::default())?;
//! let (i, j) = found.pairs[0].features;
//! assert!(made.relevant.contains(&i) && made.relevant.contains(&j));
//! assert!(found.pairs[0].q_value < 1e-9);
//! # Ok(())
//! # }
//! ```
//!
//! # Method
//!
//! Every feature becomes $K$ bounded functions of its ranks, $\varphi_k(u) = \sqrt 2 \cos(\pi k u)$ (fewer for a feature with
//! few distinct values; indicators of levels for a category), with mean 0 and variance 1. Missing values become the mean. The
//! target becomes $t$ columns $Y$ with mean 0 and $Y^\top Y = n I$: indicators of classes, or the number itself, with outliers
//! moved to the outer fences (three interquartile ranges beyond the quartiles).
//!
//! 1. *Main effects*: while the target depends significantly on a single feature, $2 K$ to $4 K$ functions of the feature
//!    are removed from the target (at most 20 features). Otherwise features that are correlated with a relevant feature
//!    would fill the list, and strong main effects would add noise to interactions.
//! 2. *Scores*: for all pairs of features
//!    $$ z_{ik, jl, c} = n^{-1/2} \sum_r \varphi_k(u_{ri}) \varphi_l(u_{rj}) Y_{rc}, \qquad s_{ij} = \sum_{k, l, c} z_{ik, jl, c}^2 $$
//!    by matrix products in single precision. If nothing depends, $s_{ij}$ is about chi-squared distributed with $K^2 t$ degrees of
//!    freedom; pairs are ranked by its p-value, since features may have different numbers of functions.
//! 3. *Beyond single features*: for the best pairs (5 per feature, 1000 to 2000; fewer for more than 10,000 rows) additive
//!    functions of the two features are removed from both the target and the products; the remaining products are tested for the
//!    remaining target, in double precision, by the F-test of a regression (Pillai's trace for several columns of the target).
//!    Products of which less than a tenth remains do not count: two almost equal features have no interaction.
//! 4. *Adjustment* for all $d (d - 1) / 2$ pairs: Bonferroni, or the distribution of the smallest p-value over permuted targets.
//!
//! Rare values do not count: functions that fewer than about 5 rows determine are left out, and so are pairs whose products
//! with the target are.
//!
//! Cost: $O(n (K d)^2 t)$ time; memory for the functions, $4 n K d$ bytes. The result does not depend on the number of threads.
//!
//! [`feature_dependence`] is the same for single features.

mod beyond;
mod blocks;
mod correction;
mod functions;
mod joint;
mod main_effects;
mod orthonormal;
mod overall;
mod rounds;
mod screen;
mod settings;
mod significance;
mod target;
#[cfg(test)]
mod tests;
mod three_way;
mod top;

pub use beyond::Pair;
pub use correction::Correction;
pub(crate) use functions::{Columns, FeatureFunctions};
pub(crate) use joint::{
    JointSets, MIN_ROWS, any_dependence, feature_p_values, jointly_relevant, leading_pairs, overall, smallest,
};
pub use main_effects::{Dependence, feature_dependence};
pub(crate) use main_effects::{ln_dependence, sum_of_squares};
pub(crate) use orthonormal::Orthonormal;
pub use rounds::{PairRounds, PairSums};
pub use settings::{InteractionScreen, Interactions};
pub(crate) use target::target_columns;
pub use three_way::ThreeWay;
