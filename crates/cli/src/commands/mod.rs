//! A file per command.

pub mod apply;
pub mod basis;
pub mod compare;
pub mod completions;
pub mod data;
pub mod methods;
mod options;
pub mod select;
