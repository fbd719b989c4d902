//! Solvers that know vectors and matrices, not features or labels.

mod columns;
mod smo;

pub use columns::{BlockColumns, KernelColumns};
pub use smo::{PairProblem, Smo, SmoSolution};
