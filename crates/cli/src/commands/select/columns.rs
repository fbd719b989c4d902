//! Selection among the columns of a table.

use super::{DEFAULT_METHOD, SHOWN, check_places, path, refuse, typed};
use crate::args::{ScaleArg, SelectArgs};
use crate::commands::report::{self, ToCheck, asked, timed};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, describe_target, load};
use crate::output::{bar, curve, number, print, table};
use kernsift::data::{Dataset, Standardizer};
use kernsift::evaluate::Method;
use kernsift::model::Content;
use kernsift::select::SelectorMethod;
use kernsift::{Context, Model, Selection, Selector};
use kernsift_report::selection_page;
use serde_json::json;

/// Ranks columns, prints them, writes what was asked for.
pub fn run(
    method: &SelectorMethod,
    args: &SelectArgs,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    let no_path = args.path.is_some() && !method.has_path();
    refuse(method.name(), &[("--test", args.test.is_some()), ("--path", no_path)])?;
    let loaded = load(&args.table, ctx, console)?;
    check_places(args, &loaded)?;
    if let Some(file) = &args.path {
        path::check(file)?;
    }
    let data = &loaded.prepared.data;
    let wanted = args.k.unwrap_or_default();
    let (selection, took) = timed(|| match scaled(data, method, args.scale)? {
        Some(scaled) => method.select(&scaled, wanted, ctx),
        None => method.select(data, wanted, ctx),
    });
    let selection = selection.map_err(typed)?;
    console.stage("writing");
    if let Some(path) = &args.out {
        loaded.write_columns(path, selection.selected(), &args.writing.options(), ctx)?;
    }
    if let Some(file) = &args.path {
        path::write(file, &selection.path, data.names(), &args.writing.options(), ctx)?;
    }
    if let Some(path) = &args.save {
        let model = Model {
            names: data.names().to_vec(),
            recipe: Some(loaded.prepared.recipe.clone()),
            scaler: None,
            content: Content::Selection(selection.clone()),
        };
        model.save(path)?;
    }
    if args.json {
        let record = record(&loaded, &selection, method, args, ctx, took.seconds);
        print(&(serde_json::to_string_pretty(&record)? + "\n"))?;
    } else {
        print(&page(&loaded, &selection, method, console.is_verbose()))?;
    }
    // Last: it takes longest, and nothing else is lost if it cannot be written.
    if let Some(path) = &args.report {
        let label = args.method.label(DEFAULT_METHOD);
        let check = ToCheck {
            table: &args.table,
            loaded: &loaded,
            method: Method::Columns(method.clone()),
            label: &label,
            kept: selection.n_selected,
            most: data.d(),
            scale: args.scale == ScaleArg::Standard,
            folds: args.folds,
        };
        let checked = check.run(ctx, console)?;
        let asked = asked(&loaded, (&label, method), is_scaled(method, args.scale), &took, ctx)?;
        let page = selection_page(&asked, data, &selection, &checked, ctx)?;
        report::write(path, &page, console)?;
    }
    Ok(())
}

fn is_scaled(method: &SelectorMethod, scale: ScaleArg) -> bool {
    scale == ScaleArg::Standard && method.wants_scaling()
}

/// The data on one scale, for selectors that look at distances. Others do not depend on it.
fn scaled(data: &Dataset, method: &SelectorMethod, scale: ScaleArg) -> kernsift::Result<Option<Dataset>> {
    if !is_scaled(method, scale) {
        return Ok(None);
    }
    data.with_x(Standardizer::fit(data.x()).apply(data.x())?).map(Some)
}

fn record(
    loaded: &Loaded,
    selection: &Selection,
    method: &SelectorMethod,
    args: &SelectArgs,
    ctx: &Context,
    seconds: f64,
) -> serde_json::Value {
    let data = &loaded.prepared.data;
    json!({
        "command": "select",
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"name": loaded.name, "rows": data.n(), "columns": data.d(), "target": loaded.prepared.recipe.target()},
        "method": selection.method,
        "scaled": is_scaled(method, args.scale),
        "seed": ctx.seed,
        "selected": selection.selected().iter().map(|&j| &data.names()[j]).collect::<Vec<_>>(),
        "order": selection.order.iter().map(|&j| &data.names()[j]).collect::<Vec<_>>(),
        "scores": data.names().iter().cloned().zip(selection.scores.iter().map(|&s| json!(s)))
            .collect::<serde_json::Map<_, _>>(),
        "error_curve": selection.curve,
        "coef": path::coef(selection, data.names()),
        "path": path::record(&selection.path, data.names()),
        "outcome": selection.outcome,
        "seconds": seconds,
        "settings": method,
    })
}

fn page(loaded: &Loaded, selection: &Selection, method: &SelectorMethod, everything: bool) -> String {
    let data = &loaded.prepared.data;
    let largest = selection.scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let shown = if everything { selection.n_selected } else { selection.n_selected.min(SHOWN) };
    let rows = selection.selected()[..shown].iter().enumerate().map(|(rank, &j)| {
        let score = selection.scores[j];
        vec![(rank + 1).to_string(), data.names()[j].clone(), number(score), bar(score / largest, 24)]
    });
    let kept = selection.n_selected;
    let mut text = format!(
        "{}: {} rows, {} columns, {}\n{} keeps {kept} of {} columns",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        selection.method,
        data.d(),
    );
    // Elimination by several columns at a time has an error per round, not per number of columns.
    let machine = selection.method == "svm-rfe";
    let by_count = !machine || selection.curve.len() == data.d();
    let error = selection.curve.get(kept - 1).filter(|_| by_count);
    if error.is_some() {
        text += &format!("; {}", selection.outcome.stop.explain());
    }
    text += &format!("\n\n{}", table(&["rank", "column", "score", ""], rows.collect(), &[0, 2]));
    if shown < kept {
        text += &format!(" ... and {} more, with -v\n", kept - shown);
    }
    if let Some(&error) = error {
        text += &format!(
            "\n  error of the {} on the training rows, by number of columns; with {kept} it is {}\n\n{}",
            if machine { "machine" } else { "vote" },
            number(error),
            curve(&selection.curve, None)
        );
    }
    text + &path::page(method, &selection.path, data.names(), everything)
}
