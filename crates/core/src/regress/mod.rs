//! Regressors, used to evaluate features for a continuous target.

mod nearest;
mod ridge;

pub use nearest::nearest_mean;
pub use ridge::{KernelRidge, RidgeModel};
