//! Dependence between two sets of variables, measured by kernels.
//!
//! Everything here rests on the Hilbert-Schmidt independence criterion, whose kernel matrices are mostly of low rank:
//! one column under a Gaussian kernel has a factor of some twenty columns, and classes have one column each.

mod alignment;
mod hsic;
mod pairs;
pub mod projection;
mod target;
mod thin;

pub use alignment::alignment;
pub use hsic::{Dependence, Estimator, Hsic, Variable, hsic};
pub(crate) use pairs::PairWeights;
pub(crate) use target::centre;
pub use target::{TargetKernel, target_factor};
pub(crate) use thin::Levels;
pub use thin::column_factor;
