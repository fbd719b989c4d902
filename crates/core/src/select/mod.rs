//! Selectors: which columns matter.

mod catalog;
mod ffs;
mod fisher;
mod l1_svm;
mod relief;
mod selector;
mod svm_rfe;
mod votes;
mod weak;

pub use crate::neighbours::Metric;
pub use catalog::{SELECTORS, SelectorMethod};
pub(crate) use ffs::first_minimum;
pub use ffs::{Ffs, WeightRule};
pub use fisher::FisherScore;
pub use l1_svm::L1Svm;
pub use relief::{Difference, Relief, Units};
pub use selector::{Selection, Selector, Wanted};
pub use svm_rfe::{Step, SvmRfe};
pub use weak::{Klms, WeakLearner};
