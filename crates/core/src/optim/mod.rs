//! Solvers that know vectors and matrices, not features or labels.

mod columns;
mod coordinate;
mod smo;

pub use columns::{BlockColumns, KernelColumns};
pub use coordinate::{
    Descent, RowProducts, SparseColumns, Sweeps, dual_descent, l1_descent, l1_gradient, l1_margins,
    l1_objective,
};
pub use smo::{PairProblem, Smo, SmoSolution};
