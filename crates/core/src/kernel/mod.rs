//! Kernels: formulas, blocks of Gram matrices, values of single pairs, widths.

mod bandwidth;
mod cached;
mod choice;
mod formula;
mod gram;
mod pairs;
mod terms;

pub use bandwidth::{median_gamma, scale_gamma};
pub use cached::CachedColumns;
pub use choice::{Family, Gamma, KernelChoice};
pub use formula::Kernel;
pub use gram::{Gram, diagonal, gram, gram_symmetric};
pub use pairs::{pair_ranks, pair_values};
