//! Optimization: solvers for vectors and matrices.

mod active_set;
mod block_descent;
mod columns;
mod coordinate;
mod criterion;
mod design;
mod hinge_program;
mod nonnegative_lars;
mod pair_problem;
mod row_norm;
mod smo;
mod sparse_columns;
mod spectral;
mod two_metric;

pub use active_set::{Products, polish};
pub use block_descent::{BlockDescent, LeastSquares, PathSolution, geometric};
pub use columns::{BlockColumns, ColumnMemory, KernelColumns};
pub use coordinate::{
    Convergence, DualProblem, RowProducts, StopRule, dual_descent, l1_descent, l1_gradient, l1_objective,
    l1_slacks,
};
pub use criterion::{Criterion, gradient_error};
pub use design::Design;
pub use hinge_program::{Ending, HingeProgram, HingeSolution, WeightBound};
pub use nonnegative_lars::{Knot, LarsPath, LarsStop, nonnegative_lars};
pub use pair_problem::{PairProblem, PairStart};
pub use row_norm::{dual_row_norm, project_l1, project_rows, prox_row, prox_rows, row_norm};
pub use smo::{Smo, SmoSolution};
pub use sparse_columns::SparseColumns;
pub use spectral::{Minimum, Regularizer, Spectral};
pub use two_metric::{Bounds, TwoMetric};
