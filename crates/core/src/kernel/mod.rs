//! Kernels: formulas, Gram matrices, values of single pairs, and $\gamma$ from the data.

mod bandwidth;
mod cached;
mod choice;
mod diagonal;
mod formula;
mod gram;
mod pairs;
mod plan;
mod prepared;
mod terms;
mod tile;

pub(crate) use bandwidth::{MAX_ROWS as MEDIAN_ROWS, scale_gamma_of_moments, weighted_median_gamma};
pub use bandwidth::{median_gamma, scale_gamma};
pub use cached::CachedColumns;
pub use choice::{Gamma, KernelChoice};
pub use diagonal::diagonal;
pub use formula::{Family, Kernel};
pub use gram::{Gram, gram, gram_symmetric};
pub use pairs::{pair_ranks, pair_values};
