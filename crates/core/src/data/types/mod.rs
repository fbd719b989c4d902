//! Types of columns: what their text means, inferred from all values or chosen by the user.

mod dates;
mod infer;
mod kind;
mod number;
mod order;
mod parsing;
#[cfg(test)]
mod tests;

pub(super) use infer::{Inferred, contradiction, infer, looks_like_thousands, of_type};
pub use kind::ColumnType;
pub use number::Decimal;
pub(super) use order::by_value;
pub(super) use parsing::Parsed;
pub(crate) use parsing::Parsing;
