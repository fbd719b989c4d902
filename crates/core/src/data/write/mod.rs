//! Write tables, and write any file atomically: completely or not at all.

mod atomic;
#[cfg(feature = "io")]
mod output;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "io")]
mod table;
mod temporary;

pub use atomic::{check_place, write_atomic};
#[cfg(feature = "io")]
pub use output::WriteOptions;
#[cfg(feature = "io")]
pub use table::{check_table, write_table, write_table_to};
pub use temporary::remove_unfinished;
