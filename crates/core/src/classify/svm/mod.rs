//! Support vector machines (SVMs) with kernels: maximum-margin classifiers.
//!
//! For two classes $y_i = \pm 1$, with the regularization parameter $C_i$ of row $i$,
//!
//! $$ \min_{w, b} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b)) $$
//!
//! solved in the dual by SMO. More classes: one-vs-one, a binary SVM for every pair of classes. The class with the most
//! votes wins; ties go to the first class.
//!
//! Cost: between $O(n^2 d)$ and $O(n^3)$ time. A small Gram matrix is stored completely; of a large one a cache holds as
//! many columns as fit in half of the memory, up to 1 GiB.
//!
//! Reference: Boser, Guyon and Vapnik, *A training algorithm for optimal margin classifiers*, 1992; Cortes and
//! Vapnik, *Support-vector networks*, 1995; Chang and Lin, *LIBSVM*, 2011.

mod kernel_source;
mod model;
mod pairs;
mod search;
mod train;

pub(crate) use kernel_source::need_finite;
pub use model::SvmModel;
pub(crate) use pairs::vote;
pub use pairs::{BinarySvm, BinarySvms};
pub use search::{SearchPoint, SearchedSvm, SvmSearch};
pub use train::{ClassWeight, Svm};
pub(crate) use train::{PairTask, present};
