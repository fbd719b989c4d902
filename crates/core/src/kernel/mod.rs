//! Kernels: formulas, blocks of Gram matrices, widths.

mod bandwidth;
mod cached;
mod choice;
mod formula;
mod gram;

pub use bandwidth::{median_gamma, scale_gamma};
pub use cached::CachedColumns;
pub use choice::{Family, Gamma, KernelChoice};
pub use formula::Kernel;
pub use gram::{Gram, diagonal, gram, gram_symmetric};
