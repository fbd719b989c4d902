//! Sums over all pairs of samples of a Gaussian kernel over several features, with one feature added or removed.
//!
//! With weights $V$ from the target ([`PairWeights`]) HSIC is $\sum_{ij} V_{ij} k(D_{ij})$, where $D$ contains
//! squared distances over a set of features. With a feature $f$ added or removed it costs one exponential and one
//! multiplication per pair: $\sum_{ij} V_{ij} \exp(-\gamma (D_{ij} \pm (x_{if} - x_{jf})^2))$. Distances and
//! weights are computed for a block of rows at a time, used for all candidates and discarded; each pair is visited
//! once. For a sparse feature only pairs with a stored value change. A feature of several columns adds or removes the
//! sum of the squared differences of all of them.

mod dense;
mod growth;
mod pairs;
mod query;
mod sparse;

pub(super) use growth::{Growth, first_of_the_best};
pub(super) use pairs::Joint;
pub(super) use query::{Change, Query};
