//! `kernsift data`

use crate::args::{DataArgs, DataCommand};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{listing, print, print_json, write_or_print};
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::write::WriteOptions;
use kernsift::data::{BUILT_IN, BuiltIn, Column, Table, Target};
use kernsift::{Context, Error};
use ndarray::Array2;
use serde_json::json;

/// Lists, exports or generates data sets.
pub fn run(args: &DataArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    match &args.command {
        None => list(args.json),
        Some(DataCommand::Export { name, out }) => {
            let Table::Columns(columns) = BuiltIn::by_name(name)?.table()? else {
                return Err(Failure::Input(format!("the data set '{name}' is not a table of columns")));
            };
            let no_features = Array2::zeros((columns[0].len(), 0));
            Ok(write_or_print(out.as_deref(), &[], &no_features, &columns, &WriteOptions::default(), ctx)?)
        }
        Some(DataCommand::Make { pattern, rows, columns, noise, continuous, out }) => {
            let pattern = Pattern::by_name(pattern)?;
            let (rows, columns, noise, continuous) = (*rows, *columns, *noise, *continuous);
            let recipe = Synthetic { pattern, rows, columns, noise, continuous, seed: ctx.seed };
            ctx.need_memory("synthetic data", recipe.bytes(), "use fewer rows or columns")?;
            console.stage("generating rows");
            let planted = recipe.make().map_err(typed)?;
            let target = match planted.data.target() {
                Target::Classes(classes) => classes.codes.iter().map(|&c| c as f64).collect(),
                Target::Continuous(values) => values.clone(),
                Target::None | Target::Outputs(_) => vec![],
            };
            let relevant: Vec<&str> =
                planted.relevant.iter().map(|&j| planted.data.names()[j].as_str()).collect();
            let relevant = if relevant.is_empty() { "none".into() } else { relevant.join(", ") };
            console.inform(&format!("{}; relevant columns: {relevant}", pattern.describe()));
            let x = planted.data.x().to_dense();
            console.stage("writing");
            let target = Column::numeric("target", target);
            let options = WriteOptions::default();
            Ok(write_or_print(out.as_deref(), planted.data.names(), &x, &[target], &options, ctx)?)
        }
    }
}

/// A failure with parameters named by their options.
fn typed(error: Error) -> Failure {
    Failure::typed(error, &[("", "rows", "--rows"), ("", "columns", "--columns"), ("", "noise", "--noise")])
}

fn list(as_json: bool) -> Result<(), Failure> {
    if as_json {
        let sets: Vec<_> = BUILT_IN
            .iter()
            .map(|s| {
                json!({"name": s.name, "about": s.about, "rows": s.rows, "columns": s.columns,
                       "target": s.target, "source": s.source, "license": s.license})
            })
            .collect();
        return Ok(print_json(&sets)?);
    }
    let rows = BUILT_IN
        .iter()
        .map(|s| {
            let size = format!("{} x {}", s.rows, s.columns);
            vec![s.name.into(), size, s.target.into(), s.about.into(), s.source.into(), s.license.into()]
        })
        .collect();
    print(&listing(&["name", "size", "target", "about", "source", "license"], rows, &[1]))?;
    Ok(print("\nUse a data set as builtin:NAME, or export it: kernsift data export NAME --out FILE\n")?)
}
