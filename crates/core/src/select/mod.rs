//! Selectors: which columns matter.

mod catalog;
mod ffs;
mod fisher;
mod relief;
mod selector;
mod votes;
mod weak;

pub use crate::neighbours::Metric;
pub use catalog::{SELECTORS, SelectorMethod};
pub(crate) use ffs::first_minimum;
pub use ffs::{Ffs, WeightRule};
pub use fisher::FisherScore;
pub use relief::{Difference, Relief, Units};
pub use selector::{Selection, Selector, Wanted};
pub use weak::{Klms, WeakLearner};
