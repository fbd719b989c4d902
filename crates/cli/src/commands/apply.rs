//! `kernsift apply`

use crate::args::ApplyArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{column, read};
use kernsift::data::write::{write_table, write_table_to};
use kernsift::{Context, Model};
use std::path::Path;

/// Applies a saved model to a table and writes the result, with the target if the table has it.
pub fn run(args: &ApplyArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let model = Model::load(&args.model)?;
    let table = read(&args.data, args.no_header, console)?;
    let (x, rows) = model.apply_table(&table, ctx).map_err(|e| e.in_file(Path::new(&args.data)))?;
    let left_out = table.n_rows() - rows.len();
    if left_out > 0 {
        console.inform(&format!("{left_out} of {} rows have empty cells and were left out", table.n_rows()));
    }
    let target = model.recipe.as_ref().and_then(|r| r.target()).and_then(|name| column(&table, name));
    let extra: Vec<_> = target.iter().map(|t| t.take_rows(&rows)).collect();
    let names = model.output_names();
    match &args.out {
        Some(path) => write_table(path, &names, x.view(), &extra)?,
        None => write_table_to(&mut std::io::stdout().lock(), &names, x.view(), &extra)?,
    }
    console.inform(&format!("{} rows, {} columns", x.nrows(), x.ncols()));
    Ok(())
}
