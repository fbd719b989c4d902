//! kernsift
pub mod basis;
pub mod context;
pub mod data;
pub mod error;
pub mod kernel;
pub mod linalg;
pub mod method;
pub mod outcome;
pub mod probability;
pub mod random;
pub mod select;
pub mod simd;
