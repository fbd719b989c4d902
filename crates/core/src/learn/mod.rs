//! Kernel learners: learn a kernel from triplets "i is closer to j than to k".
//!
//! | learner | what it learns |
//! |---|---|
//! | [`KernelDesign`] | a mixture of kernels and the features it needs, by linear programming |
//! | [`XingMetric`] | a metric in which similar rows are close and dissimilar rows far apart |
//! | [`SingleKernel`], [`UniformAverage`] | nothing: baselines for learned kernels |

mod catalog;
pub mod design;
mod learner;
mod single;
pub mod xing;

pub use catalog::{LEARNERS, LearnerMethod};
pub use design::{Designed, KernelDesign};
pub use learner::{KernelLearner, Learned, Status};
pub use single::{SingleKernel, UniformAverage};
pub use xing::{Ridge, XingMetric};
