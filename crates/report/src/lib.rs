//! Pages and pictures of kernsift: records in, one self-contained file out.
//!
//! A page needs nothing but itself: no fonts, scripts or pictures from elsewhere, and it may ask for none. It follows the
//! reader's choice of light or dark, and prints. Whatever comes from the user (names of data, methods, columns; messages) is
//! text and nothing else. Its own short script sorts and searches tables, hands them out as CSV, and shows what the reader
//! points at; without it the page says the same, but for what lies behind the first rows of a long table.
//!
//! | file | what it holds |
//! |---|---|
//! | `select`, `space`, `basis`, `design`, `compare` | the pages |
//! | `page`, `script.js`, `style.css` | the frame of every page, what it can do, how it looks |
//! | `chart`, `axis` | score against number of features, drawn |
//! | `curve`, `scatter`, `histogram`, `relations`, `redundancy` | the other drawings; `plot` is what they share |
//! | `listing` | tables that can be sorted and searched |
//! | `tables` | scores with their marks, costs, failures |
//! | `features` | how often each column was kept |
//! | `words` | numbers and settings as people write them |
//! | [`Picture`] | lines over numbers, or dots over names, as a picture of its own |
//! | `html` | text that is safe inside a page |

#![forbid(unsafe_code)]

mod axis;
mod basis;
mod chart;
mod compare;
mod curve;
mod design;
mod features;
mod histogram;
mod html;
mod listing;
mod page;
mod picture;
mod plot;
mod redundancy;
mod relations;
mod scatter;
mod select;
mod space;
mod tables;
mod words;

pub use basis::{Mapped, basis_page};
pub use compare::compare_page;
pub use design::{Design, design_page};
pub use page::Asked;
pub use picture::{Line, Picture, Places, draw};
pub use select::{Check, selection_page};
pub use space::space_page;
