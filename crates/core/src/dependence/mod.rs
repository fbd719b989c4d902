//! Dependence between two sets of variables, measured by kernels.
//!
//! Everything here rests on the Hilbert-Schmidt independence criterion, whose kernel matrices are mostly of low rank:
//! one column under a Gaussian kernel has a factor of some twenty columns, and classes have one column each.

pub mod projection;
mod target;
mod thin;

pub use target::{TargetKernel, target_factor};
pub use thin::column_factor;
