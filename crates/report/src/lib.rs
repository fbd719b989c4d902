//! Pages and pictures of kernsift: records in, one self-contained file out.
//!
//! A page needs nothing but itself: no scripts, no fonts, no pictures from elsewhere. It follows the reader's choice
//! of light or dark, and prints. Whatever comes from the user (names of data, methods, columns; messages) is
//! text and nothing else. Nothing is computed here that the core's summary does not hold, except counts of
//! how often a column was kept.
//!
//! | file | what it holds |
//! |---|---|
//! | `compare` | the page of a comparison |
//! | `chart`, `axis` | score against number of features, drawn |
//! | `tables` | scores with their marks, costs, failures |
//! | `features` | how often each column was kept |
//! | `words` | numbers and settings as people write them |
//! | [`Picture`] | lines over numbers, or dots over names, as a picture of its own |
//! | `html` | text that is safe inside a page |

mod axis;
mod chart;
mod compare;
mod features;
mod html;
mod picture;
mod tables;
mod words;

pub use compare::compare_page;
pub use picture::{Line, Picture, Places, draw};
