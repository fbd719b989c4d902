//! Kernel learners: from statements "i is more like j than k" to a kernel.
//!
//! | learner | what it learns |
//! |---|---|
//! | [`KernelDesign`] | a mixture of kernels, and which columns it needs, by linear programming |
//! | [`XingMetric`] | a metric in which similar rows are near and dissimilar ones far |
//! | [`SingleKernel`], [`UniformAverage`] | nothing: what learned kernels are held against |

mod catalog;
pub mod design;
mod learner;
mod single;
pub mod xing;

pub use catalog::{LEARNERS, LearnerMethod};
pub use design::{Designed, KernelDesign};
pub use learner::{KernelLearner, Learned, Status};
pub use single::{SingleKernel, UniformAverage};
pub use xing::{MetricForm, XingMetric};
