//! The engine that turns a criterion $J(XW)$ into a feature selector: implement [`Criterion`], and [`Spectral`] minimizes it
//! with an l1/l-infinity penalty or constraint on the rows of $W$. `examples/own_criterion.rs` shows how.

mod active_set;
mod block_descent;
pub(crate) mod columns;
mod coordinate;
mod criterion;
mod design;
mod group_descent;
pub(crate) mod hinge_program;
mod nonnegative_lars;
pub(crate) mod pair_problem;
pub(crate) mod row_norm;
pub(crate) mod smo;
mod sparse_columns;
mod spectral;
mod two_metric;

pub use criterion::{Criterion, gradient_error};
pub use row_norm::row_norm;
pub use spectral::{Minimum, Regularizer, Spectral};

pub(crate) use active_set::{Products, polish};
pub(crate) use block_descent::{BlockDescent, LeastSquares, PathSolution, geometric};
pub(crate) use columns::{BlockColumns, ColumnMemory, KernelColumns};
pub(crate) use coordinate::{
    Convergence, DualProblem, RowProducts, StopRule, dual_descent, l1_descent, l1_gradient, l1_objective,
    l1_slacks,
};
pub(crate) use design::Design;
pub(crate) use group_descent::group_descent;
pub(crate) use hinge_program::{Ending, HingeProgram, HingeSolution, WeightBound};
pub(crate) use nonnegative_lars::{Knot, LarsPath, LarsStop, nonnegative_lars};
pub(crate) use pair_problem::{PairProblem, PairStart};
pub(crate) use row_norm::{blocks, group_norm, l1_norm, largest_rows, max_abs};
pub(crate) use smo::{Smo, SmoSolution};
pub(crate) use sparse_columns::SparseColumns;
pub(crate) use two_metric::{Bounds, TwoMetric};
