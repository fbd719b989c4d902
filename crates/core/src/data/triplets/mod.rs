//! Triplets, constraints of the form "row i is more similar to row j than to row k".
//!
//! | function | purpose |
//! |---|---|
//! | [`read`] | read triplets from a file, by row number or [`Ids`] |
//! | [`from_labels`], [`from_continuous`], [`from_target`] | draw triplets from a target |
//! | [`check`] | validate triplets and count contradictions |
//! | [`split_points`], [`hold_out_points`], [`hold_out_triplets`], [`triplet_folds`] | split into training and test triplets |
//!
//! Row indices start at 0; row numbers in files and in messages about files start at 1 by default.

mod check;
mod continuous;
mod draw;
#[cfg(feature = "io")]
mod file;
mod labels;
mod split;
mod target;
mod triplet;

pub(crate) use check::need_sound;
pub use check::{TripletReport, check};
pub use continuous::{from_continuous, from_continuous_within};
#[cfg(feature = "io")]
pub use file::{Ids, Naming, read, read_bytes};
pub use labels::{from_labels, from_labels_within};
pub use split::{TripletSplit, apply_split, hold_out_points, hold_out_triplets, split_points, triplet_folds};
pub use target::from_target;
pub use triplet::{Triplet, points, renumber};
