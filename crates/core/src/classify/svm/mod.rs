//! Support vector machines (SVMs) with kernels: maximum-margin classifiers.

mod kernel_source;
mod model;
mod pairs;
mod search;
mod train;

pub(crate) use kernel_source::need_finite;
pub use model::SvmModel;
pub(crate) use pairs::vote;
pub use pairs::{BinarySvm, BinarySvms};
pub use search::{SearchPoint, SearchedSvm, SvmSearch};
pub use train::{ClassWeight, Svm};
pub(crate) use train::{PairTask, present};
