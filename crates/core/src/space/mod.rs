//! Selection in kernel space: a basis, then a selector among its directions.
//!
//! TAKES is KOBL and forward selection; its rivals are other pairs. All of them end as one
//! [`KernelSpace`]: a transformer, and through nearest neighbours a classifier.

mod catalog;
mod fitted;
mod selector;
mod tune;

pub use catalog::SPACES;
pub use fitted::KernelSpace;
pub use selector::{KernelSpaceSelector, Tune};
