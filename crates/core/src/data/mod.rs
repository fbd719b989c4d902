//! Tables in, numbers out: reading, preparing, scaling, and data sets with known answers.

mod dataset;
mod prepare;
mod rows;
mod scale;
pub mod table;

pub use dataset::{Classes, Dataset, Target};
pub use prepare::{Categorical, Missing, Prepare, Prepared, Recipe, TargetChoice, TargetType};
pub use rows::{Rows, SparseRows};
pub use scale::Standardizer;
pub use table::{Column, Table, Values};
