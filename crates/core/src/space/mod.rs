//! Selection in kernel space: a basis, then a selector among its directions.
//!
//! TAKES combines KOBL and forward selection; the other methods are other combinations. All of them return a
//! [`KernelSpace`]: a transformer, and a nearest-neighbor classifier.

mod catalog;
mod fit;
mod fitted;
mod fold;
mod selector;
mod tune;

pub use catalog::SPACES;
pub use fitted::KernelSpace;
pub use selector::{KernelSpaceSelector, Tune};
