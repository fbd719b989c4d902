//! Methods side by side: splits, judges, scores, records.
//!
//! | part | what it holds |
//! |---|---|
//! | [`Compare`] | every method in every split with every number of features |
//! | [`Candidate`], [`Method`] | what is compared |
//! | [`Evaluator`] | who judges: support vector machines, neighbours, ridge regression |
//! | [`scores`] | error, balanced accuracy, area under the curve, explained variance, triple accuracy |
//! | [`ResultsLog`], [`record`] | what is written down, and how a run goes on where it was stopped |
//! | [`lines`] | files that are added to while work goes on |
//! | [`Summary`] | the table, with a paired test |

mod candidate;
mod compare;
mod evaluator;
mod fold;
pub mod json_lines;
pub mod record;
mod results_log;
pub mod scores;
mod summary;

pub use candidate::{Candidate, Method};
pub use compare::{Compare, SplitChoice, counts_around};
pub use evaluator::{EVALUATORS, Evaluation, Evaluator, KernelNeighbors, Neighbors};
pub use record::{Cost, Record, Run};
pub use results_log::{ResultsLog, cost_path};
pub use scores::Scores;
pub use summary::{Cell, Measure, MethodSummary, Summary};
