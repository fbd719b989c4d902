//! The results of a run.

use super::fit::Fit;
use super::holdout::HoldOut;
use super::triplets::Input;
use crate::args::DesignArgs;
use kernsift::learn::LearnerMethod;

/// All results.
pub struct Results<'a> {
    pub args: &'a DesignArgs,
    pub input: &'a Input,
    pub method: &'a LearnerMethod,
    pub fit: Fit,
    pub hold_out: Option<HoldOut>,
    /// The fraction of the training triplets that the kernel satisfies.
    pub accuracy: f64,
    /// Indices of the triplets that it violates.
    pub violated: Vec<usize>,
    pub seconds: f64,
}
