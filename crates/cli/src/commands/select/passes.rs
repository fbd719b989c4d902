//! Selection from a table that is read in passes.

use super::columns::{fields, ranking};
use crate::args::SelectArgs;
use crate::commands::report::timed;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::large::refuse_options;
use crate::output::{SHOWN, print, print_json};
use crate::passes::InPasses;
use kernsift::blocks::BlockSource;
use kernsift::data::read::PieceFile;
use kernsift::model::{Content, is_json};
use kernsift::select::SelectorMethod;
use kernsift::{Context, Selection, Selector};
use std::path::Path;

/// Fits a selection in passes, prints it, and saves the model if requested.
pub fn run(
    method: &SelectorMethod,
    file: PieceFile,
    args: &SelectArgs,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    refuse_options(&[
        ("--out", args.output.out.is_some()),
        ("--report", args.output.report.is_some()),
        ("--save FILE.json", args.output.save.as_deref().is_some_and(is_json)),
        ("--path", args.path.is_some()),
        ("--test", args.test.is_some()),
        ("--pvalues", args.pvalues),
        ("--stability", args.stability),
        ("--fdr", args.fdr.is_some()),
        ("--weights", args.weights.weights.is_some()),
        ("--class-weight", args.weights.class_weight.is_some()),
        ("--groups or --time", args.split_by.column().is_some()),
    ])?;
    let [report, out, save] = args.output.files();
    check_outputs(&[report, out, save, args.passes.file()], &[Path::new(&args.table.data)])?;
    let table = InPasses::open(file, &args.table, ctx, console)?;
    let count = args.k.unwrap_or_default();
    let rounds = method.rounds(table.source().layout(), count, ctx).map_err(Failure::of_count)?;
    let (selection, cost) = timed(|| table.fit(rounds, &(method, args.k), &args.passes, ctx, console));
    let selection = selection.map_err(Failure::of_count)?;
    if let Some(path) = &args.output.save {
        console.stage("writing");
        table.model(None, Content::Selection(selection.clone())).save(path)?;
    }
    if !args.output.json {
        return Ok(print(&text(&table, &selection, method, console.is_verbose()))?);
    }
    let mut fields = fields(&selection, table.names());
    fields["method"] = selection.method.clone().into();
    fields["scaled"] = false.into();
    fields["seconds"] = cost.seconds.into();
    fields["settings"] = serde_json::to_value(method)?;
    Ok(print_json(&table.record("select", ctx, fields))?)
}

fn text(table: &InPasses, selection: &Selection, method: &SelectorMethod, verbose: bool) -> String {
    let (n, d) = (selection.n_selected, table.names().len());
    let text = format!("{}\n{} selects {n} of {d} features", table.describe(""), method.info().name);
    if n == 0 {
        return text + "\n";
    }
    let shown = if verbose { n } else { n.min(SHOWN) };
    format!("{text}\n\n{}", ranking(selection, table.names(), shown, ("score", &[]), |_| vec![]))
}
