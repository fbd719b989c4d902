//! Kernel learners: from statements "i is more like j than k" to a kernel.
//!
//! | learner | what it learns |
//! |---|---|
//! | [`XingMetric`] | a metric in which similar rows are near and dissimilar ones far |

mod learner;
mod xing;

pub use learner::{KernelLearner, Learned, Status};
pub use xing::{MetricForm, XingMetric};
