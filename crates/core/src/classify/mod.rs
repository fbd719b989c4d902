//! Classifiers. They are here to judge features: nearest neighbours, in coordinates or by a kernel, and support
//! vector machines.

mod knnc;
mod linear_svm;
mod nearest;
mod svm;

pub use knnc::Knnc;
pub use linear_svm::{LinearModel, LinearSvm, Loss, Penalty};
pub(crate) use linear_svm::{
    Problem as LinearProblem, need_finite_rows, outcome as linear_outcome, signed_bytes, signed_columns,
};
pub use nearest::Nearest;
pub(crate) use nearest::{check_neighbors, most_voted};
pub use svm::{ClassWeight, PairMachine, PairMachines, SearchPoint, SearchedSvm, Svm, SvmModel, SvmSearch};
pub(crate) use svm::{PairTask, need_finite, vote};
