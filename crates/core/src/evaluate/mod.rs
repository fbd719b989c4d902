//! Methods side by side: splits, judges, scores, records.
//!
//! | part | what it holds |
//! |---|---|
//! | [`Compare`] | every method in every split with every number of features |
//! | [`Contestant`], [`Method`] | what is compared |
//! | [`Judge`] | who judges: support vector machines, neighbours, ridge regression |
//! | [`scores`] | error, balanced accuracy, area under the curve, explained variance, triple accuracy |
//! | [`Journal`], [`record`] | what is written down, and how a run goes on where it was stopped |
//! | [`lines`] | files that are added to while work goes on |
//! | [`Summary`] | the table, with a paired test |

mod compare;
mod contestant;
mod fold;
mod journal;
mod judge;
pub mod lines;
pub mod record;
pub mod scores;
mod summary;

pub use compare::{Compare, SplitChoice, counts_around};
pub use contestant::{Contestant, Method};
pub use journal::{Journal, costs_beside};
pub use judge::{JUDGES, Judge, KernelNeighbours, Neighbours, Verdict};
pub use record::{Cost, Record, Run};
pub use scores::Scores;
pub use summary::{Cell, Measure, MethodSummary, Summary};
