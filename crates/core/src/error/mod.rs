//! The error type of the crate and the formatting of its messages.

mod examples;
mod text;
mod variants;

#[doc(hidden)]
pub use examples::examples;
pub use text::{bytes, nearest, number, shorten};
pub(crate) use variants::need_columns;
pub use variants::{Error, Result};
