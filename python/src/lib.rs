//! The native module of the Python package: arrays in, arrays out.
//!
//! The public API is written in Python, in `kernsift/`; the functions here are private to it. A method is passed as
//! JSON, in the serialized form of the core, so a new method needs a Python class and no change here.
//!
//! | file | contents |
//! |---|---|
//! | `array` | arrays as arguments |
//! | `convert` | conversion of arrays, labels and JSON |
//! | `frame` | data frames |
//! | `error` | conversion of errors to exceptions |
//! | `rounds` | fits in rounds over blocks of rows |
//! | `run` | threads, progress, warnings, Ctrl-C |
//! | `basis`, `select`, `space`, `classify`, `svm`, `evaluate`, `results`, `kernel`, `dependence`, `interactions`, `significance`, `triplets`, `learn`, `design`, `data`, `model` | the functions of the Python package, by topic |

#![forbid(unsafe_code)]

use kernsift::internals::Counting;
use pyo3::prelude::*;

mod array;
mod basis;
mod classify;
mod convert;
mod data;
mod dependence;
mod design;
mod error;
mod evaluate;
mod frame;
mod interactions;
mod kernel;
mod learn;
mod model;
mod report;
mod results;
mod rounds;
mod run;
mod select;
mod significance;
mod space;
mod svm;
mod triplets;
mod values;

/// Counts the memory of the methods of a comparison; other threads only read a pointer.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The native module of kernsift; use the package `kernsift` instead.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::basis::{FeatureMap, fit_basis, gamma_for_n_components};
    #[pymodule_export]
    use super::classify::{fit_knnc, predict_knnc};
    #[pymodule_export]
    use super::data::{list_datasets, load_dataset, make_synthetic, read_table};
    #[pymodule_export]
    use super::dependence::hsic;
    #[pymodule_export]
    use super::design::{fit_design, prepare_design, weigh_design};
    #[pymodule_export]
    use super::error::BreakdownError;
    #[pymodule_export]
    use super::error::error_messages;
    #[pymodule_export]
    use super::evaluate::{Comparison, compare, triplet_accuracy, write_text};
    #[pymodule_export]
    use super::frame::{FrameEncoder, Prepared, check_column_options, inspect, read_target};
    #[pymodule_export]
    use super::interactions::{interactions, interactions_page};
    #[pymodule_export]
    use super::kernel::{gram, resolve_kernel};
    #[pymodule_export]
    use super::learn::{fit_xing, kernel_triplet_accuracy};
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::report::{alignment, basis_page, counts_around, design_page, selection_page, space_page};
    #[pymodule_export]
    use super::results::{
        classification_scores, compare_page, predictions, rank_methods, ranks_page, regression_scores,
        summarize,
    };
    #[pymodule_export]
    use super::rounds::{add_sums, block_rows, next_round, start_rounds, sums_of_block};
    #[pymodule_export]
    use super::run::take_peak;
    #[pymodule_export]
    use super::select::{automatic_summary, method_parameters, methods, select};
    #[pymodule_export]
    use super::significance::{
        KnockoffModel, adjusted, knockoff_filter, near_copies_of, test_features, test_page,
    };
    #[pymodule_export]
    use super::space::{KernelSpace, fit_space};
    #[pymodule_export]
    use super::svm::{SvmModel, fit_linear_svm, fit_svm, search_svm};
    #[pymodule_export]
    use super::triplets::triplets_from_target;

    use super::*;

    #[pymodule_init]
    fn init(m: &Bound<'_, PyModule>) -> PyResult<()> {
        m.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
