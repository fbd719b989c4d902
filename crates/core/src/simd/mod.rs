//! Inner loops compiled for several instruction sets.
//!
//! The crate targets the baseline of each processor family, so that one wheel runs everywhere. Performance-critical loops are
//! compiled three times (AVX-512, AVX2 with FMA, baseline) and selected at run time. An element's result does not depend on its
//! position in a slice: heads and tails use the same operations as full vectors. Only the order of summation depends on the
//! length of the slice.

mod angle;
mod dispatch;
mod distances;
mod exp;
mod sums;
#[cfg(test)]
mod tests;
mod thin;
mod working_set;

pub use angle::sin_cos;
#[cfg(target_arch = "x86_64")]
pub(crate) use dispatch::has_avx512;
pub(crate) use dispatch::vectorized;
pub use distances::{
    absolute_distance, absolute_distances, absolute_distances_with_missing, add_squared_differences,
    add_squares_of_pairs, any_at_most, is_accurate, products_to_squared_distances, squared_distance,
    squared_distances, squared_distances_with_missing,
};
pub use exp::{
    F32_KERNEL_ERROR, F32_LANES, F32_MIN_FACTOR, F32_SUM_LANES, F32_UNIT_ROUNDOFF, add_gaussian_products_f32,
    add_scaled_and_dot_f32, add_scaled_squares_f32, exp_scaled, gaussian_products_f32, gaussian_sum,
    gaussian_sum_f32, kernel_sum, power_products_f32,
};
pub use sums::{
    VOTERS, add_combination, add_scaled, add_scaled_and_square, add_squares_f32, count_votes, dot, dots,
    multiply_f32, roots_and_inverses, scale_and_reduce,
};
pub use thin::{PAIRS, PairSums, THIN, ThinRows, add_pairs, add_transposed_times_thin, rows_times_thin};
pub use working_set::{best_partner, largest_sum, largest_violation, step_and_largest_sum};
