//! Data sets: tables, files, preparation, scaling, built-in and synthetic data.

#[cfg(feature = "datasets")]
mod builtin;
mod dataset;
mod date;
mod encoder;
mod features;
mod folds;
mod impute;
mod inspect;
mod join;
mod periods;
mod prepare;
#[cfg(feature = "io")]
pub mod read;
mod rows;
mod sample;
mod scale;
mod sparse;
mod split_rule;
mod stack;
pub mod synthetic;
pub mod table;
mod target;
pub mod triplets;
mod types;
mod weighted;
mod weights;
pub mod write;

#[cfg(feature = "datasets")]
pub use builtin::{BUILT_IN, BuiltIn};
pub use dataset::Dataset;
pub use date::text as date_text;
#[cfg(feature = "io")]
pub(crate) use encoder::FeatureEncoding;
pub(crate) use encoder::standardized_numbers;
pub use encoder::{Encoder, Encoding};
pub use features::{FeatureType, Groups};
pub(crate) use folds::inner_folds;
pub use folds::{Splits, stratified_folds};
pub(crate) use impute::weighted_median;
pub use impute::{ImputeStrategy, Imputer};
pub use inspect::{Account, Action, ColumnAccount, Range, Scalar};
pub use join::join_labels;
pub use periods::Periods;
pub use prepare::{
    Applied, ColumnOptions, Missing, Prepare, Prepared, Recipe, TargetChoice, TargetType, read_target,
    target_type,
};
#[cfg(feature = "io")]
pub use prepare::{PieceTarget, Survey};
pub use rows::Rows;
pub use scale::Standardizer;
pub(crate) use scale::{is_constant, mean_rank, outer_fences, standardized};
pub use sparse::SparseRows;
pub use split_rule::{Fold, SplitRule};
pub use stack::stack;
pub use table::{Column, Table, Values};
pub use target::{Classes, Target};
pub use triplets::Triplet;
#[cfg(feature = "io")]
pub(crate) use types::Parsing;
pub use types::{ColumnType, Decimal};
pub use weighted::weights_of;
pub use weights::Weights;
