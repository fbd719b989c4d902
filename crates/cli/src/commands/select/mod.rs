//! `kernsift select`: among the columns of a table, or among directions of kernel space.

mod accuracy;
mod columns;
mod path;
mod space;

use super::options::{configure, no_such_method, refuse};
use super::report::check_folds;
use crate::args::SelectArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, check_outputs};
use kernsift::data::write::check_table;
use kernsift::select::{SELECTORS, SelectorMethod};
use kernsift::space::{KernelSpaceSelector, SPACES};
use kernsift::{Context, Error};
use std::path::Path;

/// The method unless the user names one.
const DEFAULT_METHOD: &str = "fisher";
/// Lines of a table that are printed unless the user wants more.
const SHOWN: usize = 20;

/// Ranks, prints, and writes what was asked for.
pub fn run(args: &SelectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let (name, settings) = args.method.split(DEFAULT_METHOD)?;
    if let Some(info) = SPACES.iter().find(|info| info.name == name) {
        let method = configure(KernelSpaceSelector::by_name(name)?, info.name, &settings)?;
        return space::run(&method, args, ctx, console);
    }
    if let Some(info) = SELECTORS.iter().find(|info| info.name == name) {
        let method = configure(SelectorMethod::by_name(name)?, info.name, &settings)?;
        return columns::run(&method, args, ctx, console);
    }
    let names = SELECTORS.iter().chain(SPACES.iter()).map(|info| info.name);
    Err(no_such_method(name, Error::unknown_name("method", name, names)))
}

/// Refuses places that cannot be written to, that something is read from, or that are named twice.
fn check_places(args: &SelectArgs, loaded: &Loaded) -> Result<(), Failure> {
    if args.folds.is_some() && args.report.is_none() {
        return Err(Failure::Input("--folds is about --report FILE.html; add that".into()));
    }
    args.writing.check(args.out.is_some() || args.path.is_some())?;
    check_folds(args.folds, loaded.prepared.data.n())?;
    let inputs: Vec<&Path> =
        [Some(&loaded.name), args.test.as_ref()].into_iter().flatten().map(Path::new).collect();
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--out", args.out.as_deref()),
        ("--save", args.save.as_deref()),
        ("--path", args.path.as_deref()),
    ];
    check_outputs(&outputs, &inputs)?;
    args.out.as_ref().map_or(Ok(()), |path| Ok(check_table(path, loaded.target.as_slice())?))
}

/// A failure with parameters named as the user typed them.
fn typed(error: Error) -> Failure {
    Failure::typed(error, &[("", "number of features", "-k"), ("", "fraction of features", "-k")])
}
