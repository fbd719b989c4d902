//! Exact nearest neighbors: by Euclidean distance through matrix products, or by sums of differences, which also supports the
//! Manhattan distance, categories and missing values.

mod euclidean;
mod on_device;
mod sums;

pub(crate) use euclidean::nearest_bytes;
pub use euclidean::{Neighbor, nearest};
pub use sums::{Measure, Metric, nearest_by_sums};
pub(crate) use sums::{category_difference, nearest_by_sums_bytes};
