//! Stability selection around a method.

use crate::args::SelectArgs;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{number, percent};
use kernsift::select::SelectorMethod;
use kernsift::significance::{Frequencies, Stability};
use kernsift::{Context, Selector};
use serde_json::{Map, Value, json};

/// The frequencies of features in fits to halves of the rows.
pub fn fit(
    method: &SelectorMethod,
    args: &SelectArgs,
    loaded: &Loaded,
    is_scaled: bool,
    ctx: &Context,
) -> kernsift::Result<Frequencies> {
    let (data, count) = (&loaded.prepared.data, args.k.unwrap_or_default());
    Stability::default().run(method, data, count, loaded.encoding(is_scaled), ctx)
}

/// Returns an error for options that have no effect with `--stability`.
pub fn check_options(args: &SelectArgs) -> Result<(), Failure> {
    let given = [("--path", args.path.is_some()), ("--folds", args.folds.is_some())];
    if args.stability { super::refuse("--stability", &given) } else { Ok(()) }
}

/// Fields of the JSON record.
pub fn record(found: &Frequencies, names: &[String]) -> Value {
    let frequencies = names.iter().cloned().zip(found.frequencies.iter().map(|&f| json!(f)));
    json!({
        "frequencies": frequencies.collect::<Map<_, _>>(),
        "threshold": found.threshold,
        "n_fits": found.n_fits,
        "mean_selected": found.mean_selected,
        "expected_false": found.expected_false,
    })
}

/// The result in sentences.
pub fn summary(found: &Frequencies, method: &SelectorMethod) -> String {
    let n_selected = found.selection().n_selected;
    let (d, title) = (found.frequencies.len(), method.info().title);
    format!(
        "stability selection with {title}: at least {} of {} fits to halves of the rows select each of {n_selected} of {d} \
         features\nexpected number of false selections: at most {} (a fit selects {} features on average)",
        percent(found.threshold),
        found.n_fits,
        number(found.expected_false),
        number(found.mean_selected),
    )
}
