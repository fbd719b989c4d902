//! Classifiers, used to evaluate features: k-nearest neighbors, with Euclidean or kernel distance, and SVMs.

mod knnc;
mod linear_rows;
mod linear_svm;
mod nearest;
mod svm;

pub use knnc::Knnc;
pub(crate) use linear_rows::{need_finite_rows, signed_bytes, signed_columns};
pub use linear_svm::{LinearModel, LinearSvm, Loss, Penalty};
pub(crate) use linear_svm::{Problem as LinearProblem, outcome as linear_outcome};
pub use nearest::KnnClassifier;
pub(crate) use nearest::{check_neighbors, most_voted};
pub use svm::{BinarySvm, BinarySvms, ClassWeight, SearchPoint, SearchedSvm, Svm, SvmModel, SvmSearch};
pub(crate) use svm::{PairTask, need_finite, vote};
