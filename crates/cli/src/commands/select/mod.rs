//! `kernsift select`: among the columns of a table, or among directions of kernel space.

mod accuracy;
mod columns;
mod machines;
mod path;
mod scores;
mod space;
mod transform;
mod votes;

use super::options::{no_such_method, refuse};
use super::report::{check_folds, check_report};
use crate::args::SelectArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, check_outputs};
use kernsift::select::{SELECTORS, SelectorMethod};
use kernsift::space::SPACES;
use kernsift::{Context, Error};
use std::path::Path;

/// Lines of a table that are printed unless the user wants more.
const SHOWN: usize = 20;

/// Ranks, prints, and writes what was asked for.
pub fn run(args: &SelectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let name = args.method.as_str();
    if SPACES.iter().any(|info| info.name == name) {
        return space::run(args, ctx, console);
    }
    if SELECTORS.iter().any(|info| info.name == name) {
        return columns::run(args, ctx, console);
    }
    let names = SELECTORS.iter().chain(&SPACES).map(|info| info.name);
    Err(no_such_method(name, Error::unknown_name("method", name, names)))
}

/// Refuses places that cannot be written to, that something is read from, or that are named twice.
fn check_places(args: &SelectArgs, loaded: &Loaded) -> Result<(), Failure> {
    if args.folds.is_some() && args.report.is_none() {
        return Err(Failure::Input("--folds is about --report FILE.html; add that".into()));
    }
    args.writing.check(args.out.is_some() || args.path.is_some())?;
    check_folds(args.folds, loaded.prepared.data.n())?;
    check_outputs(&args.out, &args.save, loaded, &args.test)?;
    let inputs: Vec<&Path> =
        [Some(&loaded.name), args.test.as_ref()].into_iter().flatten().map(Path::new).collect();
    let others =
        [("--out", args.out.as_ref()), ("--save", args.save.as_ref()), ("--path", args.path.as_ref())];
    check_report(args.report.as_ref(), &inputs, &others)
}

/// Puts the options of selectors into one, and refuses those that it does not have.
fn configure(selector: &mut SelectorMethod, args: &SelectArgs) -> Result<(), Failure> {
    let name = format!("-m {}", args.method);
    votes::configure(selector, args, &name)?;
    machines::configure(selector, args, &name)?;
    scores::configure(selector, args, &name)?;
    transform::configure(selector, args, &name)
}

/// A failure with parameters named as the user typed them.
fn typed(error: Error) -> Failure {
    let options = [
        ("", "number of features", "-k"),
        ("", "share of features", "-k"),
        ("gamma_for_n_components", "n_components", "--gamma-for-n-components"),
        ("", "n_components", "--components"),
        ("HSFS", "tol", "--tolerance"),
        ("LDFS", "tol", "--tolerance"),
        ("PFS", "tol", "--tolerance"),
        ("", "tol", "--tol"),
        ("", "max_iter", "--max-iter"),
        ("HSFS", "width", "--width"),
        ("HSFS", "features", "--features"),
        ("", "directions", "--directions"),
        ("", "radius", "--radius"),
        ("", "penalty", "--penalty"),
        ("", "n_penalties", "--penalties"),
        ("", "penalty_ratio", "--penalty-ratio"),
        ("LDFS", "ridge", "--ridge"),
        ("", "target_kernel", "--target-kernel"),
        ("", "block_size", "--block-size"),
        ("", "permutations", "--permutations"),
        ("kernel", "degree", "--degree"),
        ("kernel", "coef0", "--coef0"),
        ("KLMS", "eta", "--eta"),
        ("KLMS", "width", "--learner-width"),
        ("KLMS", "quantum", "--quantum"),
        ("Relief", "n_neighbors", "--relief-neighbors"),
        ("Relief", "n_samples", "--samples"),
        ("mutual information", "n_neighbors", "--mi-neighbors"),
        ("Laplacian score", "n_neighbors", "--graph-neighbors"),
        ("Laplacian score", "width", "--graph-width"),
        ("", "n_bins", "--bins"),
        ("", "statistic", "--statistic"),
        ("", "n_neighbors", "--neighbors"),
        ("", "weight_power", "--weight-power"),
        ("", "C", "--svm-c"),
        ("", "step", "--step"),
        ("SVM-RFE", "kernel", "--kernel"),
    ];
    Failure::typed(error, &options)
}
