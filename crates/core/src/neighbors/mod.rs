//! Exact nearest neighbors: by Euclidean distance through matrix products, or by sums of differences, which also supports the
//! Manhattan distance and missing values.

mod euclidean;
mod sums;

pub(crate) use euclidean::nearest_bytes;
pub use euclidean::{Neighbor, nearest};
pub(crate) use sums::nearest_by_sums_bytes;
pub use sums::{Measure, Metric, nearest_by_sums};
