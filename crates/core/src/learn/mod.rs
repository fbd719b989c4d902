//! Kernel learners: from statements "i is more like j than k" to a kernel.
//!
//! | learner | what it learns |
//! |---|---|
//! | [`KernelDesign`] | a mixture of kernels, and which columns it needs, by linear programming |

pub mod design;
mod learner;
mod xing;

pub use design::{Designed, KernelDesign};
pub use learner::{KernelLearner, Learned, Status};
pub use xing::{MetricForm, XingMetric};
