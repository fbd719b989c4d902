//! Reproduces the tables and figures of three papers and compares our results with the published ones.
//!
//! All experiments use the public API of the core crate. An interrupted run resumes from its records; runs with
//! equal seeds leave identical records.
//!
//! | module | contents |
//! |---|---|
//! | [`takes`] | TAKES (Xu et al., CIKM 2010) |
//! | [`transform`] | From transformation-based dimensionality reduction to feature selection (Masaeli, Fung, Dy, ICML 2010) |
//! | [`lp`] | Feature selection and kernel design via linear programming (Fung, Rosales, Rao, IJCAI 2007) |
//! | [`mod@reproduce`] | runs one paper |
//! | [`paper`] | the papers and the settings of a run |
//! | [`study`] | results: claims, tables, figures, verdicts |
//! | [`page`] | results as a Markdown page with figures |
//! | [`datasets`] | data sets, built in or read from a folder |
//! | [`checkpoint`] | measurements, saved so that a run can resume |
//! | [`comparison`] | cross-validated comparisons, saved in the same way |
//! | [`statistics`] | means, standard deviations, growth exponents |

#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod comparison;
pub mod datasets;
pub mod lp;
pub mod page;
pub mod paper;
pub mod reproduce;
pub mod statistics;
pub mod study;
pub mod takes;
pub mod transform;

pub use paper::{Paper, Settings};
pub use reproduce::reproduce;
pub use study::{Section, Study, Table, Verdict};
