//! HTML reports and SVG figures of kernsift.
//!
//! A report is one self-contained HTML file: it loads no fonts, scripts or images. It follows the reader's light or dark color
//! scheme and can be printed. All text from the user (names of data, methods and features; messages) is escaped. A short
//! script sorts and searches tables, exports them as CSV, and shows tooltips. Without it, only the rows of long tables beyond
//! the first are missing.
//!
//! | module | contents |
//! |---|---|
//! | `inspect`, `interactions`, `test`, `select`, `space`, `basis`, `design`, `compare` | the reports |
//! | `page`, `script.js`, `style.css` | the frame of every report |
//! | `account` | the account of the table, which opens every report |
//! | `chart`, `axis` | chart of the score by number of features |
//! | `curve`, `scatter`, `histogram`, `feature_plots`, `category_plots`, `pair_plots`, `redundancy` | other figures; `plot` has their shared parts |
//! | `listing` | tables that can be sorted and searched |
//! | `tables` | tables of scores, cost, failures |
//! | `stability` | selection frequency of each feature |
//! | `text` | numbers and settings as text |
//! | [`Figure`] | a standalone figure |
//! | `html` | escaping |

#![forbid(unsafe_code)]

mod account;
mod axis;
mod basis;
mod category_plots;
mod chart;
mod compare;
mod curve;
mod design;
mod feature_plots;
mod figure;
mod histogram;
mod html;
mod inspect;
mod interactions;
mod learning_curve;
mod listing;
mod page;
mod pair_plots;
mod plot;
mod predictions;
mod ranks;
mod redundancy;
mod scatter;
mod select;
mod space;
mod stability;
mod tables;
mod test;
mod text;

pub use basis::{MappedRows, basis_page};
pub use compare::compare_page;
pub use design::{Design, design_page};
pub use figure::{Figure, Series, XAxis, render_svg};
pub use inspect::inspect_page;
pub use interactions::interactions_page;
pub use page::RunInfo;
pub use ranks::ranks_page;
pub use select::{Validation, selection_page};
pub use space::space_page;
pub use test::test_page;
pub use text::rows_text;
