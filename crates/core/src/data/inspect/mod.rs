//! What is in a table: statistics of each column, columns that are not features, and features that look like the target.

mod account;
mod duplicates;
mod leakage;
mod rules;
mod statistics;
#[cfg(test)]
mod tests;

pub use account::{Account, Action, ColumnAccount, Range, Scalar};
#[cfg(feature = "io")]
pub(super) use duplicates::bits;
pub(super) use duplicates::{Fingerprint, same_values};
pub(super) use leakage::leaks;
pub(super) use rules::reason_to_skip;
#[cfg(feature = "io")]
pub(super) use rules::{MIN_ID_ROWS, Order, integers_identify};
pub(super) use statistics::{Details, Statistics, examples};
