//! `kernsift compare`

mod plan;
mod planned;
mod ranks;
mod text;

use crate::args::CompareArgs;
use crate::commands::report;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{print, print_json};
use kernsift::Context;
use kernsift_report::compare_page;
use planned::{Planned, Results};
use std::path::Path;

/// Compares methods, prints tables, and writes the requested files.
pub fn run(args: &CompareArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    if !args.more.is_empty() {
        return ranks::run(args, ctx, console);
    }
    let planned = Planned::new(args, args.table.clone(), args.record.clone(), ctx, console)?;
    let test: Vec<&Path> = args.test.as_deref().map(Path::new).into_iter().collect();
    planned.check_outputs(args.report.as_deref(), &test)?;
    planned.check(args, ctx)?;
    let results = planned.run(args, ctx, console)?;
    // Before the report, so that the tables are not lost if it cannot be written.
    if args.json {
        print_json(&planned.loaded.record("compare", ctx, planned.fields(&results)))?;
    } else {
        print(&text::describe(&planned, args, &results, console.is_verbose()))?;
    }
    if let Some(path) = &args.report {
        let title = format!("Features of {}", planned.loaded.name);
        let account = Some(&planned.loaded.prepared.account);
        let Results { log, summaries, predictions } = &results;
        let command = report::command();
        let page = compare_page(log, summaries, predictions.as_ref(), account, (&*title, &*command));
        report::write(path, &page, console)?;
    }
    Ok(())
}
