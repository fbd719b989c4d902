//! Knockoffs: selection with a bound on the false discovery rate.

mod copies;
mod correlations;
mod filter;
mod settings;

pub use copies::CopyModel;
pub use filter::{e_values, select_by_e_values};
pub use settings::{KnockoffResult, Knockoffs};
