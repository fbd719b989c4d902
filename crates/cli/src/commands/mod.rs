//! A file per command.

pub mod apply;
pub mod basis;
pub mod compare;
pub mod completions;
pub mod data;
pub mod design;
pub mod inspect;
pub mod interactions;
mod kernel_file;
pub mod methods;
mod options;
mod report;
pub mod reproduce;
pub mod select;
pub mod test;
