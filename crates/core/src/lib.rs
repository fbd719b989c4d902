//! kernsift selects the features that matter in a table, when effects are nonlinear or features act together.
//!
//! # Select features from an array
//!
//! ```
//! use kernsift::data::{Dataset, Standardizer};
//! use kernsift::select::{FeatureCount, Hsfs};
//! use kernsift::{Context, Selector};
//! use ndarray::Array2;
//!
//! # fn main() -> kernsift::Result<()> {
//! // Six features with uniform values; the class is whether the signs of features 0 and 1 differ.
//! let mut state = 1_u64;
//! let x = Array2::from_shape_simple_fn((200, 6), || {
//!     state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
//!     (state >> 33) as f64 / f64::from(1 << 30) - 1.0
//! });
//! let classes = x.rows().into_iter().map(|row| usize::from((row[0] > 0.0) != (row[1] > 0.0))).collect();
//!
//! let data = Dataset::labeled(x, classes)?;
//! let data = data.with_x(Standardizer::fit(data.x()).apply(data.x())?)?;
//! let selection = Hsfs::default().select(&data, FeatureCount::Count(2), &Context::default())?;
//! let mut selected = selection.selected().to_vec();
//! selected.sort_unstable();
//! assert_eq!(selected, [0, 1]);
//! # Ok(())
//! # }
//! ```
//!
//! A method is a struct with public fields, its parameters; `Default` has the defaults. [`select::SelectorMethod::with_settings`]
//! makes one from its name and settings as text, as the command line does. [`Context`] has the seed, the memory limit and an
//! [`Observer`] for progress and interrupts.
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | [`data`] | tables, reading and writing files, preprocessing, scaling, triplets, built-in and synthetic data sets |
//! | [`blocks`] | fits in rounds over blocks of rows, for tables that do not fit into memory |
//! | [`select`] | feature selectors: one trait, [`Selector`], and a struct per method |
//! | [`space`] | selection in kernel space: TAKES and its alternatives |
//! | [`basis`] | bases of kernel space: KOBL, KGS, KPCA, KDA, GDA; each gives a [`FeatureMap`] |
//! | [`learn`] | kernel learners: a kernel from triplets "i is closer to j than to k" |
//! | [`evaluate`] | comparison of methods by cross-validation |
//! | [`significance`] | p-values of features, knockoffs, stability selection |
//! | [`interactions`] | pairs of features that matter jointly, among all pairs |
//! | [`dependence`] | HSIC and kernel alignment of two sets of variables |
//! | [`classify`], [`regress`] | classifiers and regressors, which also evaluate selected features |
//! | [`kernel`] | kernel functions, Gram matrices, choice of gamma |
//! | [`model`] | fitted models and their files |
//! | [`optim`] | the engine that turns a criterion J(XW) into a feature selector |
//! | [`catalog`], [`method`], [`mod@parameters`] | all methods by name, what they need, and their parameters |
//! | [`context`], [`outcome`], [`error`] | what a fit is given, how it ended, what went wrong |
//!
//! # Cargo features
//!
//! `io` reads and writes files (CSV, ARFF, LIBSVM, NumPy, saved models), `parquet` adds Parquet, `datasets` the built-in data
//! sets; these are on by default. `madelon` adds a large data set. Without features the crate computes on `ndarray` arrays only.

// The macros of `parameters` name the crate as its users do.
extern crate self as kernsift;

pub mod basis;
pub mod blocks;
pub mod catalog;
pub mod classify;
pub mod context;
pub mod data;
pub mod dependence;
pub mod error;
pub mod evaluate;
pub mod interactions;
pub mod kernel;
pub mod learn;
mod linalg;
mod memory;
pub mod method;
pub mod model;
mod neighbors;
pub mod optim;
pub mod outcome;
pub mod parameters;
mod probability;
mod random;
pub mod regress;
pub mod select;
pub mod significance;
mod simd;
pub mod space;

pub use basis::{Basis, FeatureMap};
pub use context::{Context, Observer};
pub use data::Dataset;
pub use error::{Error, Result};
pub use kernel::Kernel;
pub use learn::KernelLearner;
pub use model::Model;
pub use outcome::{Outcome, Stop};
pub use select::{Selection, Selector};
pub use space::{KernelSpace, KernelSpaceSelector};

/// What the tests, benchmarks and other crates of this project use. Not part of the API: it changes without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::linalg::{cholesky, lower_solve, multiply, numerical_rank, symmetric_eigen};
    pub use crate::memory::{Counting, Meter, metered};
    pub use crate::optim::columns::{BlockColumns, KernelColumns};
    pub use crate::optim::hinge_program::{Ending, HingeProgram, HingeSolution, WeightBound};
    pub use crate::optim::pair_problem::{PairProblem, PairStart};
    pub use crate::optim::row_norm::{
        dual_group_norm, group_norm, project_groups, project_l1, prox_group, prox_groups,
    };
    pub use crate::optim::smo::{Smo, SmoSolution};
    pub use crate::random::Rng;
}

/// The README's example runs with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So does the example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
struct Guide;
