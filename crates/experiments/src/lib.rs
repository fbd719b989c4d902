//! The tables and figures of three papers, run again: ours beside what is printed.
//!
//! Everything goes through what users have: the methods of the core crate and its comparison. A run can be stopped and
//! goes on where it was; two runs with one seed leave the same records.
//!
//! | file | what it holds |
//! |---|---|
//! | [`takes`] | TAKES (Xu et al., CIKM 2010) |
//! | [`transform`] | From transformation-based reduction to selection (Masaeli, Fung, Dy, ICML 2010) |
//! | [`lp`] | Feature selection and kernel design via linear programming (Fung, Rosales, Rao, IJCAI 2007) |
//! | [`paper`] | which papers there are, and how one is run |
//! | [`study`] | what comes out: claims, tables, figures, verdicts |
//! | [`page`] | that as a page with pictures |
//! | [`sets`] | the data sets, built in or read from a folder |
//! | [`ledger`] | numbers that were measured, kept so that a run can go on |
//! | [`contest`] | comparisons on a set, kept in the same way |
//! | [`statistics`] | means, spreads, exponents |

#![forbid(unsafe_code)]

pub mod contest;
pub mod ledger;
pub mod lp;
pub mod page;
pub mod paper;
pub mod sets;
pub mod statistics;
pub mod study;
pub mod takes;
pub mod transform;

pub use paper::{Paper, Settings, reproduce};
pub use study::{Section, Study, Table, Verdict};
