//! Comparison of methods by cross-validation.
//!
//! | item | purpose |
//! |---|---|
//! | [`Compare`] | evaluates every method in every split with every number of features |
//! | [`Candidate`], [`Method`] | a method to compare |
//! | [`Evaluator`] | the estimator used for evaluation: an SVM, nearest neighbors or kernel ridge regression |
//! | [`ExternalComparison`] | selections for evaluation by another library |
//! | [`scores`] | error rate, balanced accuracy, AUC, log loss, F1, R², RMSE, MAE, triplet accuracy |
//! | [`ResultsLog`], [`record`] | the results, kept in a file from which an interrupted comparison resumes |
//! | [`json_lines`] | JSON Lines files that are appended to during a run |
//! | [`Summary`] | the table of mean scores, with a paired test |
//! | [`Predictions`] | confusion of classes and calibration of probabilities, of one method and number of features |
//! | [`MeanRanks`] | mean ranks of methods over several tables, with tests |

mod candidate;
mod compare;
mod delegate;
mod evaluator;
mod external;
mod fold;
pub mod json_lines;
mod measure;
mod pilot;
mod predictions;
mod queue;
mod ranks;
pub mod record;
mod results_log;
mod row_order;
mod runner;
pub mod scores;
mod summary;

pub use candidate::{Candidate, Method};
pub use compare::{Compare, SplitChoice, counts_around};
pub use delegate::{ExternalComparison, FoldSelection};
pub use evaluator::{EVALUATORS, Evaluation, Evaluator, KernelNeighbors, Neighbors, SvmGrid};
pub use external::{EvaluatorChoice, External};
pub use measure::{Measure, Metric};
pub use predictions::{Calibration, Predictions, ReliabilityBin};
pub use queue::LeftOut;
pub use ranks::{MeanRanks, RankedMethod, RankedTable, Unranked};
pub use record::{Cost, Record, Run};
pub use results_log::{ResultsLog, cost_path};
pub use scores::Scores;
pub use summary::{Cell, MethodSummary, Simplest, Summary};
