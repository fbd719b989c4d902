//! Classifiers. They are here to judge features: nearest neighbours, in coordinates or by a kernel.

mod knnc;
mod nearest;

pub use knnc::Knnc;
pub use nearest::Nearest;
pub(crate) use nearest::{check_neighbors, most_voted};
