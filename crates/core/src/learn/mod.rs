//! Kernel learners: from statements "i is more like j than k" to a kernel.

mod learner;

pub use learner::{KernelLearner, Learned, Status};
