//! Support vector machines: the widest margin between classes in kernel space.
//!
//! For two classes $y_i = \pm 1$, with a price $C_i$ on every row that the margin does not clear,
//!
//! $$ \min_{w, b} \tfrac12 \lVert w \rVert^2 + \sum_i C_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b)) $$
//!
//! solved in the dual by [`crate::optim::Smo`]. More classes: a machine for every pair of them, and the class that
//! wins most pairs; of classes with as many, the first.
//!
//! Cost: between $O(n^2 d)$ and $O(n^3)$ time. The Gram matrix is kept if it is small, else as many of its columns
//! as half of the memory allows, up to 1 GiB.
//!
//! Reference: Boser, Guyon and Vapnik, *A training algorithm for optimal margin classifiers*, 1992; Cortes and
//! Vapnik, *Support-vector networks*, 1995; Chang and Lin, *LIBSVM*, 2011.

mod model;
mod pairs;
mod search;
mod train;

pub use model::SvmModel;
pub(crate) use pairs::vote;
pub use pairs::{PairMachine, PairMachines};
pub use search::{SearchPoint, SearchedSvm, SvmSearch};
pub use train::{ClassWeight, Svm};
pub(crate) use train::{PairTask, need_finite, present};
