//! `kernsift data`

use crate::args::{DataArgs, DataCommand};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{Out, listing, print};
use kernsift::data::synthetic::{Pattern, Synthetic};
use kernsift::data::write::{WriteOptions, write_table, write_table_to};
use kernsift::data::{BUILT_IN, BuiltIn, Column, Table, Target};
use kernsift::{Context, Error, Result as CoreResult};
use ndarray::Array2;
use serde_json::json;
use std::path::PathBuf;

/// Lists, exports or makes data sets.
pub fn run(args: &DataArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    match &args.command {
        None => list(args.json),
        Some(DataCommand::Export { name, out }) => {
            let Table::Columns(columns) = BuiltIn::by_name(name)?.table()? else {
                return Err(Failure::Input(format!("the data set '{name}' is not a table of columns")));
            };
            Ok(write(out.as_ref(), &[], Array2::zeros((columns[0].len(), 0)), &columns, ctx)?)
        }
        Some(DataCommand::Make { pattern, rows, columns, noise, continuous, out }) => {
            let pattern = Pattern::by_name(pattern)?;
            let recipe = Synthetic {
                pattern,
                rows: *rows,
                columns: *columns,
                noise: *noise,
                continuous: *continuous,
                seed: ctx.seed,
            };
            ctx.need_memory("made-up data", recipe.bytes(), "ask for fewer rows or columns")?;
            console.stage("making rows");
            let planted = recipe.make().map_err(typed)?;
            let target = match planted.data.target() {
                Target::Classes(classes) => classes.codes.iter().map(|&c| c as f64).collect(),
                Target::Continuous(values) => values.clone(),
                Target::None => vec![],
            };
            let relevant: Vec<&str> =
                planted.relevant.iter().map(|&j| planted.data.names()[j].as_str()).collect();
            let answer = if relevant.is_empty() { "none".into() } else { relevant.join(", ") };
            console.inform(&format!("{}; relevant columns: {answer}", pattern.describe()));
            let x = planted.data.x().to_dense();
            console.stage("writing");
            Ok(write(out.as_ref(), planted.data.names(), x, &[Column::numeric("target", target)], ctx)?)
        }
    }
}

/// A failure with parameters named as the user typed them.
fn typed(error: Error) -> Failure {
    Failure::typed(error, &[("", "rows", "--rows"), ("", "columns", "--columns"), ("", "noise", "--noise")])
}

fn write(
    out: Option<&PathBuf>,
    names: &[String],
    x: Array2<f64>,
    extra: &[Column],
    ctx: &Context,
) -> CoreResult<()> {
    match out {
        Some(path) => write_table(path, names, x.view(), extra, &WriteOptions::default(), ctx),
        None => write_table_to(&mut Out::new(), names, x.view(), extra, &WriteOptions::default(), ctx),
    }
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
        return Ok(print(&(serde_json::to_string_pretty(&sets)? + "\n"))?);
    }
    let rows = BUILT_IN
        .iter()
        .map(|s| {
            let size = format!("{} x {}", s.rows, s.columns);
            vec![s.name.into(), size, s.target.into(), s.about.into(), s.source.into(), s.license.into()]
        })
        .collect();
    print(&listing(&["name", "size", "target", "about", "source", "license"], rows, &[1]))?;
    print("\nUse one as builtin:NAME, or write it out with: kernsift data export NAME --out FILE\n")?;
    Ok(())
}
