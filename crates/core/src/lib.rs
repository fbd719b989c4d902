//! kernsift finds the few features that matter in a table of data, when what matters is nonlinear.
//!
//! ```
//! use kernsift::basis::{Basis, Kobl};
//! use kernsift::data::{BuiltIn, Prepare, Standardizer};
//! use kernsift::Context;
//!
//! # fn main() -> kernsift::Result<()> {
//! let wine = Prepare::default().fit(&BuiltIn::by_name("wine")?.table()?)?.data;
//! let scaled = wine.with_x(Standardizer::fit(wine.x()).apply(wine.x())?)?;
//! let basis = Kobl::default().fit(&scaled, &Context::default())?;
//! println!("{} dimensions of kernel space", basis.map.n_components());
//! # assert!(basis.map.n_components() > 10);
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! | module | what it holds |
//! |---|---|
//! | [`data`] | tables, reading and writing them, preparing and scaling, data sets with known answers |
//! | [`kernel`] | kernel formulas, blocks of Gram matrices, widths |
//! | [`basis`] | bases of kernel space: KOBL, KGS, KPCA, KDA, GDA; all end as one [`basis::FeatureMap`] |
//! | [`dependence`] | how much two sets of variables depend on each other: HSIC and its factors |
//! | [`select`] | selectors: which columns matter |
//! | [`learn`] | kernel learners: from "i is more like j than k" to a kernel |
//! | [`space`] | selection in kernel space: TAKES and its rivals |
//! | [`classify`], [`regress`], [`neighbors`] | classifiers and regressors that evaluate features, and nearest neighbors |
//! | [`evaluate`] | comparison of methods by cross-validation: splits, evaluators, scores, records |
//! | [`optim`] | the solvers behind them |
//! | [`model`] | saved models |
//! | [`linalg`], [`simd`], [`random`], [`probability`], [`memory`] | the ground |
//! | [`context`], [`outcome`], [`error`], [`method`] | what a run is given, how it ended, what went wrong, what there is |
//!
//! Imports run one way: ground, then `data`, `kernel` and `optim`, `dependence`, `basis`, `classify` and `regress`, `select`,
//! `space` and `learn`, `model` and `evaluate` on top. In each family of methods a trait file is at the bottom, one file
//! per method imports it, and `catalog.rs` on top lists them all.

// The macros of `parameters` name the crate as its users do.
extern crate self as kernsift;

pub mod basis;
pub mod catalog;
pub mod classify;
pub mod context;
pub mod data;
pub mod dependence;
pub mod error;
pub mod evaluate;
pub mod kernel;
pub mod learn;
pub mod linalg;
pub mod memory;
pub mod method;
pub mod model;
pub mod neighbors;
pub mod optim;
pub mod outcome;
pub mod parameters;
pub mod probability;
pub mod random;
pub mod regress;
pub mod select;
pub mod simd;
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

/// The README's example runs with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So does the example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
struct Guide;
