//! Classifiers. They are here to judge features: nearest neighbours, in coordinates or by a kernel, and support
//! vector machines.

mod knnc;
mod nearest;
mod svm;

pub use knnc::Knnc;
pub use nearest::Nearest;
pub(crate) use nearest::{check_neighbors, most_voted};
pub use svm::{ClassWeight, PairMachine, PairMachines, SearchPoint, SearchedSvm, Svm, SvmModel, SvmSearch};
