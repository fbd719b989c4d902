//! Solvers that know vectors and matrices, not features or labels.

mod active_set;
mod columns;
mod coordinate;
mod nonnegative_lars;
mod smo;

pub use active_set::polish;
pub use columns::{BlockColumns, KernelColumns};
pub use coordinate::{
    Descent, RowProducts, SparseColumns, Sweeps, dual_descent, l1_descent, l1_gradient, l1_margins,
    l1_objective,
};
pub use nonnegative_lars::{Knot, LarsEnd, LarsPath, nonnegative_lars};
pub use smo::{PairProblem, Smo, SmoSolution};
