//! Selection of directions of kernel space.

use super::selected::Selected;
use super::test_set::{Accuracy, TestSet};
use crate::args::{ScaleArg, SelectArgs};
use crate::commands::options::encoded;
use crate::commands::report::timed;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::Loaded;
use crate::output::{SHOWN, bar, curve, fact, number, table};
use kernsift::model::Content;
use kernsift::space::{KernelSpace, KernelSpaceSelector, Tune};
use kernsift::{Context, Stop};
use serde_json::{Map, Value, json};

/// Learns a basis, selects among its directions, and measures the accuracy on test rows if there are any.
pub fn fit(
    method: &KernelSpaceSelector,
    args: &SelectArgs,
    loaded: &Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<Selected, Failure> {
    let read = |test: &String| TestSet::read(test, (&args.table, &args.weights), loaded, ctx, console);
    let test = args.test.as_ref().map(read).transpose()?;
    let (data, encoder) = encoded(loaded, args.scale, console)?;
    let (fitted, cost) = timed(|| method.fit_with_settings(&data, args.k.unwrap_or_default(), ctx));
    let (space, used) = fitted.map_err(Failure::of_count)?;
    let model = loaded.model(Some(encoder), Content::Space(space.clone()));
    let accuracy = test.map(|test| test.accuracy(&model, ctx)).transpose()?;
    Ok(Selected {
        n_selected: space.selection().n_selected,
        // The training rows of a fold have fewer directions.
        max_count: space.map().n_components() * 3 / 4,
        is_scaled: args.scale == ScaleArg::Standard,
        settings: serde_json::to_value(&used)?,
        cost,
        fields: fields(&space, data.n(), accuracy.as_ref()),
        significance: None,
        text: text(loaded, &space, (method, &used), args, accuracy.as_ref(), console.is_verbose()),
        model,
    })
}

fn fields(space: &KernelSpace, n: usize, accuracy: Option<&Accuracy>) -> Value {
    let (basis, selection) = (space.map().summary(), space.selection());
    let name = |i: usize| format!("{}{}", basis.method, i + 1);
    let weights = space.weights();
    let mut fields = json!({
        "kernel": space.map().kernel(),
        "n_components": space.map().n_components(),
        "pivots": basis.pivots,
        "selected": space.output_names(),
        "order": selection.order.iter().map(|&i| name(i)).collect::<Vec<_>>(),
        "weights": weights.iter().enumerate().map(|(i, &w)| (name(i), json!(w))).collect::<Map<_, _>>(),
        "error_curve": selection.curve,
        "n_neighbors": space.n_neighbors(),
        "outcome": selection.outcome,
        "test_accuracy": accuracy.map(|a| a.fraction),
        "test_rows": accuracy.map(|a| a.rows),
    });
    if basis.n_rows < n {
        fields["sample"] = json!({"n_used": basis.n_rows, "n": n});
    }
    if let Some(sample) = selection.sample {
        fields["selector_sample"] = json!(sample);
    }
    fields
}

fn text(
    loaded: &Loaded,
    space: &KernelSpace,
    (method, used): (&KernelSpaceSelector, &KernelSpaceSelector),
    args: &SelectArgs,
    accuracy: Option<&Accuracy>,
    verbose: bool,
) -> String {
    let (map, selection) = (space.map(), space.selection());
    let (n_components, n_selected) = (map.n_components(), selection.n_selected);
    let tuned = method.tune == Tune::Everything;
    let scaling = if args.scale == ScaleArg::Standard { " standardized" } else { " unscaled" };
    let mut text =
        format!("{}\n{} with {}\n\n", loaded.describe(scaling), space.method(), map.kernel().describe());
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    let n_rows = loaded.prepared.data.n();
    let stop = map.summary().outcome.stop.explain();
    line("dimension", n_components.to_string(), format!("of {n_rows} rows; {stop}"));
    let learned_from = map.summary().n_rows;
    if learned_from < n_rows {
        line("learned from", learned_from.to_string(), "sampled rows; all with --set exact=true".into());
    }
    if let Some(sample) = selection.sample {
        let remark = "sampled rows, whose neighbors are searched; all with --set selector.exact=true";
        line("neighbors of", sample.n_used.to_string(), remark.into());
    }
    let why = match selection.outcome.stop {
        _ if args.k.is_some() => Stop::Requested.explain(),
        _ if n_selected == n_components => "all of them",
        Stop::Direct => "those with a weight above 0",
        stop => stop.explain(),
    };
    line("selected", n_selected.to_string(), format!("of {n_components} directions; {why}"));
    if let Some(&error) = selection.curve.get(n_selected - 1).filter(|_| n_selected < n_components) {
        line("error of the vote", number(error), "on the training rows, which is optimistic".into());
    }
    if tuned {
        let remark = match used.weight_power {
            0.0 => "tuned on the training rows: all directions have the same weight".into(),
            power => format!("tuned on the training rows: weights to the power {power}"),
        };
        line("weight_power", number(used.weight_power), remark);
    }
    if space.n_neighbors() > 1 || tuned {
        line("neighbors", space.n_neighbors().to_string(), "vote on the class of a row".into());
    }
    if let Some(accuracy) = accuracy {
        let remark = format!("of {} rows of {}", accuracy.rows, accuracy.name);
        line("test accuracy", format!("{:.2} %", 100.0 * accuracy.fraction), remark);
    }
    text += &format!("\n{}", directions(loaded, space, verbose));
    if selection.curve.iter().any(|&error| error > 0.0) {
        text += &format!(
            "\n  training error of the vote by number of directions\n\n{}",
            curve(&selection.curve, None)
        );
    }
    text
}

/// The table of selected directions.
fn directions(loaded: &Loaded, space: &KernelSpace, verbose: bool) -> String {
    let selected = space.selection().selected();
    let (weights, basis) = (space.weights(), space.map().summary());
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // Principal components have no pivot rows.
    let pivots = if basis.method == "kpca" { &[] } else { basis.pivots.as_slice() };
    let shown = if verbose { selected.len() } else { selected.len().min(SHOWN) };
    let row_numbers = loaded.counted_rows();
    let rows =
        space.output_names().into_iter().zip(selected).take(shown).enumerate().map(|(rank, (name, &i))| {
            let row = pivots.get(i).map(|&pivot| row_numbers[pivot].to_string());
            let start = [Some((rank + 1).to_string()), Some(name), row];
            start.into_iter().flatten().chain([number(weights[i]), bar(weights[i] / largest, 24)]).collect()
        });
    let mut text = if pivots.is_empty() {
        table(&["rank", "direction", "weight", ""], rows.collect(), &[0, 2])
    } else {
        table(&["rank", "direction", "pivot row", "weight", ""], rows.collect(), &[0, 2, 3])
    };
    if shown < selected.len() {
        text += &format!(" ... and {} more, with -v\n", selected.len() - shown);
    }
    text
}
