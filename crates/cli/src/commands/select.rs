//! `kernsift select`

use crate::args::SelectArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, describe_target, load};
use crate::output::{bar, number, print, table};
use kernsift::data::write::write_table;
use kernsift::model::Content;
use kernsift::select::SelectorMethod;
use kernsift::{Context, Model, Selection, Selector};
use serde_json::json;
use std::time::Instant;

/// Ranks columns, prints them, writes what was asked for.
pub fn run(args: &SelectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let method = SelectorMethod::by_name(&args.method)?;
    let loaded = load(&args.table, console)?;
    let start = Instant::now();
    let selection = method.select(&loaded.prepared.data, args.k.unwrap_or_default(), ctx)?;
    let seconds = start.elapsed().as_secs_f64();
    console.clear();
    if let Some(path) = &args.out {
        let reduced = loaded.prepared.data.take_columns(selection.selected());
        write_table(path, reduced.names(), reduced.x().to_dense().view(), loaded.target.as_slice())?;
    }
    if let Some(path) = &args.save {
        let model = Model {
            names: loaded.prepared.data.names().to_vec(),
            recipe: Some(loaded.prepared.recipe.clone()),
            scaler: None,
            content: Content::Selection(selection.clone()),
        };
        model.save(path)?;
    }
    if args.json {
        return Ok(print(
            &(serde_json::to_string_pretty(&record(&loaded, &selection, ctx, seconds))? + "\n"),
        )?);
    }
    Ok(print(&page(&loaded, &selection))?)
}

fn record(loaded: &Loaded, selection: &Selection, ctx: &Context, seconds: f64) -> serde_json::Value {
    let data = &loaded.prepared.data;
    json!({
        "command": "select",
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"name": loaded.name, "rows": data.n(), "columns": data.d(), "target": loaded.prepared.recipe.target()},
        "method": selection.method,
        "seed": ctx.seed,
        "selected": selection.selected().iter().map(|&j| &data.names()[j]).collect::<Vec<_>>(),
        "order": selection.order.iter().map(|&j| &data.names()[j]).collect::<Vec<_>>(),
        "scores": data.names().iter().cloned().zip(selection.scores.iter().map(|&s| json!(s)))
            .collect::<serde_json::Map<_, _>>(),
        "outcome": selection.outcome,
        "seconds": seconds,
    })
}

fn page(loaded: &Loaded, selection: &Selection) -> String {
    let data = &loaded.prepared.data;
    let largest = selection.order.first().map_or(1.0, |&j| selection.scores[j]).max(f64::MIN_POSITIVE);
    let rows = selection.selected().iter().enumerate().map(|(rank, &j)| {
        let score = selection.scores[j];
        vec![(rank + 1).to_string(), data.names()[j].clone(), number(score), bar(score / largest, 24)]
    });
    format!(
        "{}: {} rows, {} columns, {}\n{} keeps {} of {} columns\n\n{}",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        selection.method,
        selection.n_selected,
        data.d(),
        table(&["rank", "column", "score", ""], rows.collect(), &[0, 2])
    )
}
