//! Selectors: which columns matter, best first.

mod catalog;
mod fisher;
mod selector;

pub use catalog::{SELECTORS, SelectorMethod};
pub use fisher::FisherScore;
pub use selector::{Selection, Selector, Wanted};
