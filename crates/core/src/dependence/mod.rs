//! Kernel measures of dependence between two sets of variables.
//!
//! All are based on the Hilbert-Schmidt independence criterion (HSIC). Its kernel matrices mostly have low rank: about 20 for
//! one column under a Gaussian kernel, and the number of classes for a classification target.

mod alignment;
mod hsic;
mod pairs;
pub mod projection;
mod target;
mod thin;

pub use alignment::alignment;
pub(crate) use hsic::weighted_hsic;
pub use hsic::{Dependence, Estimator, Hsic, Variable, hsic};
pub(crate) use pairs::PairWeights;
pub use target::{TargetKernel, target_factor};
pub(crate) use target::{
    center, factor_of_outputs, gaussian_of_outputs, standardized_outputs, varying, weighted_rows,
    weighted_target_factor,
};
pub use thin::column_factor;
pub(crate) use thin::{DistinctValues, weighted_column_factor};
