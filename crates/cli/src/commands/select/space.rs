//! Selection among directions of kernel space.

use super::accuracy::{Accuracy, TestRows};
use super::{DEFAULT_METHOD, SHOWN, check_places, refuse, typed};
use crate::args::{ScaleArg, SelectArgs};
use crate::commands::options::scaled;
use crate::commands::report::{self, COUNTING, ToCheck, asked, timed};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, describe_target, load};
use crate::output::{bar, curve, fact, number, print, table};
use kernsift::data::write::write_table;
use kernsift::evaluate::Method;
use kernsift::model::Content;
use kernsift::space::{KernelSpace, KernelSpaceSelector, Tune};
use kernsift::{Context, Model, Stop};
use kernsift_report::{MappedRows, space_page};
use serde_json::{Map, json};

/// Learns a basis, selects among its directions, prints them, writes what was asked for.
pub fn run(
    method: &KernelSpaceSelector,
    args: &SelectArgs,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    refuse(&method.name(), &[("--path", args.path.is_some())])?;
    let loaded = load(&args.table, ctx, console)?;
    check_places(args, &loaded)?;
    let read = |test: &String| TestRows::read(test, &args.table, &loaded, ctx, console);
    let test = args.test.as_ref().map(read).transpose()?;
    let (data, scaler) = scaled(&loaded.prepared.data, args.scale, console)?;
    let (fitted, took) = timed(|| method.fit_with_settings(&data, args.k.unwrap_or_default(), ctx));
    let (space, used) = fitted.map_err(typed)?;
    let model = Model {
        names: data.names().to_vec(),
        recipe: Some(loaded.prepared.recipe.clone()),
        scaler,
        content: Content::Space(space.clone()),
    };
    let accuracy = test.map(|test| test.evaluate(&model, ctx, console)).transpose()?;
    console.stage("writing");
    if let Some(path) = &args.out {
        let features = space.transform(data.x(), ctx)?;
        write_table(
            path,
            &space.output_names(),
            features.view(),
            loaded.target.as_slice(),
            &args.writing.options(),
            ctx,
        )?;
    }
    if let Some(path) = &args.save {
        model.save(path)?;
    }
    if args.json {
        let record = record(&loaded, &space, &used, args, ctx, accuracy.as_ref(), took.seconds);
        print(&(serde_json::to_string_pretty(&record)? + "\n"))?;
    } else {
        print(&page(&loaded, &space, (method, &used), args, accuracy.as_ref(), console.is_verbose()))?;
    }
    // Last: it takes longest, and nothing else is lost if it cannot be written.
    if let Some(path) = &args.report {
        let label = args.method.label(DEFAULT_METHOD);
        let directions = space.map().n_components();
        let check = ToCheck {
            table: &args.table,
            loaded: &loaded,
            method: Method::Space(Box::new(method.clone())),
            label: &label,
            kept: space.selection().n_selected,
            // The training rows of a fold have fewer.
            most: directions * 3 / 4,
            scale: args.scale == ScaleArg::Standard,
            folds: args.folds,
        };
        let checked = check.run(ctx, console)?;
        let asked = asked(&loaded, (&label, &used), args.scale == ScaleArg::Standard, &took, ctx)?;
        let features = space.transform(data.x(), ctx)?;
        let mapped = MappedRows {
            coordinates: features.view(),
            row_numbers: &loaded.counted_rows(),
            numbering: COUNTING,
        };
        let page = space_page(&asked, &loaded.prepared.data, &space, &mapped, &checked, ctx)?;
        report::write(path, &page, console)?;
    }
    Ok(())
}

fn record(
    loaded: &Loaded,
    space: &KernelSpace,
    used: &KernelSpaceSelector,
    args: &SelectArgs,
    ctx: &Context,
    accuracy: Option<&Accuracy>,
    seconds: f64,
) -> serde_json::Value {
    let (data, selection) = (&loaded.prepared.data, space.selection());
    let basis = space.map().summary();
    let name = |i: usize| format!("{}{}", basis.method, i + 1);
    let weights = space.weights();
    json!({
        "command": "select",
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"name": loaded.name, "rows": data.n(), "columns": data.d(), "target": loaded.prepared.recipe.target()},
        "method": space.method(),
        "kernel": space.map().kernel(),
        "scaled": args.scale == ScaleArg::Standard,
        "seed": ctx.seed,
        "n_components": space.map().n_components(),
        "pivots": basis.pivots,
        "selected": space.output_names(),
        "order": selection.order.iter().map(|&i| name(i)).collect::<Vec<_>>(),
        "weights": weights.iter().enumerate().map(|(i, &w)| (name(i), json!(w))).collect::<Map<_, _>>(),
        "error_curve": selection.curve,
        "n_neighbors": space.n_neighbors(),
        "outcome": selection.outcome,
        "test_accuracy": accuracy.map(|a| a.share),
        "test_rows": accuracy.map(|a| a.rows),
        "seconds": seconds,
        "settings": used,
    })
}

fn page(
    loaded: &Loaded,
    space: &KernelSpace,
    (method, used): (&KernelSpaceSelector, &KernelSpaceSelector),
    args: &SelectArgs,
    accuracy: Option<&Accuracy>,
    everything: bool,
) -> String {
    let (data, map, selection) = (&loaded.prepared.data, space.map(), space.selection());
    let tuned = method.tune == Tune::Everything;
    let scaling = if args.scale == ScaleArg::Standard { "standardized" } else { "as they are" };
    let mut text = format!(
        "{}: {} rows, {} columns {scaling}, {}\n{} with {}\n\n",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        space.method(),
        map.kernel().describe(),
    );
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    let why = match selection.outcome.stop {
        _ if args.k.is_some() => Stop::Requested.explain(),
        _ if selection.n_selected == map.n_components() => "all of them",
        Stop::Direct => "those with a weight above 0",
        stop => stop.explain(),
    };
    let summary = map.summary();
    line(
        "dimension",
        map.n_components().to_string(),
        format!("of {} rows; {}", data.n(), summary.outcome.stop.explain()),
    );
    line("kept", selection.n_selected.to_string(), format!("of {} directions; {}", map.n_components(), why));
    let stopped = selection.n_selected < map.n_components();
    if let Some(&error) = selection.curve.get(selection.n_selected - 1).filter(|_| stopped) {
        line("error of the vote", number(error), "on the training rows; expect more on new ones".into());
    }
    if tuned {
        let remark = match used.weight_power {
            0.0 => "chosen inside the training rows: all directions alike".into(),
            power => format!("chosen inside the training rows: weights to the power {power}"),
        };
        line("weighting", number(used.weight_power), remark);
    }
    if space.n_neighbors() > 1 || tuned {
        line("neighbors", space.n_neighbors().to_string(), "vote on the class of a row".into());
    }
    if let Some(accuracy) = accuracy {
        let remark = format!("of {} rows of {} get their class", accuracy.rows, accuracy.name);
        line("test accuracy", format!("{:.2} %", 100.0 * accuracy.share), remark);
    }
    text += &format!("\n{}", directions(loaded, space, everything));
    if selection.curve.iter().any(|&error| error > 0.0) {
        text += &format!(
            "\n  error of the vote on the training rows, by number of directions\n\n{}",
            curve(&selection.curve, None)
        );
    }
    text
}

/// The table of kept directions.
fn directions(loaded: &Loaded, space: &KernelSpace, everything: bool) -> String {
    let kept = space.selection().selected();
    let (weights, basis) = (space.weights(), space.map().summary());
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    // Principal components are made of all rows.
    let pivots = if basis.method == "kpca" { &[] } else { basis.pivots.as_slice() };
    let shown = if everything { kept.len() } else { kept.len().min(SHOWN) };
    let rows =
        space.output_names().into_iter().zip(kept).take(shown).enumerate().map(|(rank, (name, &i))| {
            // Rows are counted as in the table, from 1, the header left out.
            let row = pivots.get(i).map(|&pivot| (loaded.prepared.rows[pivot] + 1).to_string());
            let start = [Some((rank + 1).to_string()), Some(name), row];
            start.into_iter().flatten().chain([number(weights[i]), bar(weights[i] / largest, 24)]).collect()
        });
    let mut text = if pivots.is_empty() {
        table(&["rank", "direction", "weight", ""], rows.collect(), &[0, 2])
    } else {
        table(&["rank", "direction", "carried by row", "weight", ""], rows.collect(), &[0, 2, 3])
    };
    if shown < kept.len() {
        text += &format!(" ... and {} more, with -v\n", kept.len() - shown);
    }
    text
}
