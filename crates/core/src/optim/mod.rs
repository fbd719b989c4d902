//! Solvers that know vectors and matrices, not features or labels.

mod active_set;
mod block_descent;
mod columns;
mod coordinate;
mod criterion;
mod design;
mod hinge_program;
mod nonnegative_lars;
mod row_norm;
mod smo;
mod spectral;
mod two_metric;

pub use active_set::{Products, polish};
pub use block_descent::{BlockDescent, LeastSquares, Place, geometric};
pub use columns::{BlockColumns, ColumnMemory, KernelColumns};
pub use coordinate::{
    Descent, RowProducts, SparseColumns, Sweeps, dual_descent, l1_descent, l1_gradient, l1_margins,
    l1_objective,
};
pub use criterion::{Criterion, gradient_error};
pub use design::Design;
pub use hinge_program::{Ending, Held, HingeProgram, HingeSolution};
pub use nonnegative_lars::{Knot, LarsEnd, LarsPath, nonnegative_lars};
pub use row_norm::{dual_row_norm, project_l1, project_rows, prox_row, prox_rows, row_norm};
pub use smo::{PairProblem, PairStart, Smo, SmoSolution};
pub use spectral::{Hold, Minimum, Spectral};
pub use two_metric::{Bounds, TwoMetric};
