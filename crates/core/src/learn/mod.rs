//! Kernel learners: from statements "i is more like j than k" to a kernel.

mod learner;
mod xing;

pub use learner::{KernelLearner, Learned, Status};
pub use xing::{MetricForm, XingMetric};
