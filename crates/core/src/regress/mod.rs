//! Predictors of numbers. They are here to judge features where the target is a number.

mod nearest;
mod ridge;

pub use nearest::nearest_mean;
pub use ridge::{KernelRidge, RidgeModel};
