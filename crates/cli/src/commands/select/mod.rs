//! `kernsift select`: selects features, or directions of kernel space.

mod columns;
mod passes;
mod path;
mod resampling;
mod selected;
mod space;
mod test_set;

use super::options::{no_such_method, refuse};
use super::report::{self, COUNTING, CrossValidation, check_folds, run_info};
use crate::args::{ScaleArg, SelectArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{check_fit_outputs, refuse_json};
use crate::input::{Also, Loaded};
use crate::large::{large_file, refuse_checkpoint};
use crate::output::{print, print_json};
use crate::passes::remove_checkpoint;

use crate::roles::{Roles, load_rows};
use kernsift::data::write::write_table;
use kernsift::evaluate::Method;
use kernsift::model::Content;
use kernsift::{Context, Selector};
use kernsift_report::{MappedRows, Validation, selection_page, space_page};
use resampling::Resampling;
use selected::Selected;
use std::path::Path;

/// The default method.
const DEFAULT_METHOD: &str = "auto";

/// Fits a selection, prints it, and writes the requested files.
pub fn run(args: &SelectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let (name, mut settings) = args.method.split(DEFAULT_METHOD)?;
    let resampling = Resampling::take(&mut settings, args)?;
    let method = Method::with_settings(name, &settings).map_err(no_such_method)?;
    check_options(name, &method, args)?;
    if let Method::Columns(selector) = &method
        && selector.has_rounds()
        && let Some(file) = large_file(&args.table, ctx)
    {
        return passes::run(selector, file, args, ctx, console)
            .map(|()| remove_checkpoint(&args.passes, console));
    }
    refuse_checkpoint(&args.passes)?;
    let also = Also { table: args.output.out.is_some(), details: args.output.report.is_some() };
    let roles = Roles::of(&args.split_by, &args.weights);
    let loaded = load_rows(&args.table, roles, also, ctx, console)?;
    if let Method::Columns(selector) = &method {
        selector.check_data(&loaded.prepared.data)?;
    }
    check_outputs(args, &method, &loaded)?;
    let mut selected = match &method {
        Method::Columns(selector) => columns::fit((selector, &resampling), args, &loaded, ctx, console)?,
        Method::Space(space) => space::fit(space, args, &loaded, ctx, console)?,
        Method::Random | Method::AllFeatures | Method::External(_) => {
            return Err(Failure::Input(format!(
                "{name} is a baseline of comparisons; use `kernsift compare -m {name}`"
            )));
        }
    };
    console.stage("writing");
    write(args, &loaded, &selected, ctx)?;
    if args.output.json {
        print_json(&record(&loaded, &selected, ctx))?;
    } else {
        print(&selected.text)?;
    }
    // Last: it takes longest, and nothing else is lost if it fails.
    match &args.output.report {
        Some(path) => write_report(path, method, args, &loaded, &mut selected, ctx, console),
        None => Ok(()),
    }
}

/// Returns an error for options without effect.
fn check_options(name: &str, method: &Method, args: &SelectArgs) -> Result<(), Failure> {
    let has_path = matches!(method, Method::Columns(selector) if selector.has_path());
    let is_space = matches!(method, Method::Space(_));
    resampling::check_options(args)?;
    refuse(
        name,
        &[
            ("--path", args.path.is_some() && !has_path),
            ("--pvalues", args.pvalues && is_space),
            ("--stability", args.stability && is_space),
            ("--fdr", args.fdr.is_some() && is_space),
        ],
    )?;
    match args.folds.is_some() && args.output.report.is_none() {
        true => Err(Failure::Input("--folds has no effect without --report; add --report FILE.html".into())),
        false => Ok(()),
    }
}

fn check_outputs(args: &SelectArgs, method: &Method, loaded: &Loaded) -> Result<(), Failure> {
    check_folds(args.folds, &loaded.prepared.data)?;
    if matches!(method, Method::Space(_)) {
        refuse_json(args.output.save.as_deref())?;
    }
    let tables = [("--path", args.path.as_deref())];
    check_fit_outputs(&args.output, &tables, loaded, &[args.test.as_ref().map(Path::new)])?;
    args.path.as_deref().map_or(Ok(()), path::check)
}

fn write(args: &SelectArgs, loaded: &Loaded, selected: &Selected, ctx: &Context) -> Result<(), Failure> {
    let (data, model) = (&loaded.prepared.data, &selected.model);
    let options = args.output.writing.options();
    match (&args.output.out, &model.content) {
        (None, _) => {}
        (Some(path), Content::Selection(selection)) => {
            loaded.write_columns(path, selection.selected(), &options, ctx)?;
        }
        (Some(path), _) => {
            let features = model.apply(loaded.prepared.data.x(), ctx)?;
            write_table(path, &model.output_names(), features.view(), &loaded.targets, &options, ctx)?;
        }
    }
    if let (Some(path), Content::Selection(selection)) = (&args.path, &model.content) {
        path::write(path, &selection.path, data.names(), &options, ctx)?;
    }
    if let Some(path) = &args.output.save {
        model.save(path)?;
    }
    Ok(())
}

fn record(loaded: &Loaded, selected: &Selected, ctx: &Context) -> serde_json::Value {
    let mut fields = selected.fields.clone();
    fields["method"] = selected.model.method().into();
    fields["scaled"] = selected.is_scaled.into();
    fields["seconds"] = selected.cost.seconds.into();
    fields["settings"] = selected.settings.clone();
    loaded.record("select", ctx, fields)
}

/// Cross-validates the selection and writes the HTML report.
fn write_report(
    path: &Path,
    method: Method,
    args: &SelectArgs,
    loaded: &Loaded,
    selected: &mut Selected,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    let label = args.method.label(DEFAULT_METHOD);
    let validation = CrossValidation {
        table: &args.table,
        loaded,
        method,
        label: &label,
        n_selected: selected.n_selected.max(1),
        max_count: selected.max_count,
        scale: args.scale == ScaleArg::Standard,
        folds: args.folds,
    };
    let has_own = matches!(&selected.model.content, Content::Selection(found) if found.automatic.is_some());
    let validation = match has_own && args.folds.is_none() {
        true => Validation::Skipped("The automatic selector has its own cross-validation.".into()),
        false if args.stability || args.fdr.is_some() => {
            Validation::Skipped("Repeated fits are not cross-validated.".into())
        }
        false => validation.run(ctx, console)?,
    };
    let info = run_info(loaded, (&label, &selected.settings), selected.is_scaled, &selected.cost, ctx)?;
    let data = &loaded.prepared.data;
    let page = match &selected.model.content {
        Content::Selection(selection) => {
            let significance = selected.significance.as_mut().expect("features were selected");
            significance.complete(data, ctx)?;
            selection_page(&info, data, (selection, significance), &validation, ctx)?
        }
        Content::Space(space) => {
            let features = selected.model.apply(loaded.prepared.data.x(), ctx)?;
            let row_numbers = &loaded.counted_rows();
            let mapped = MappedRows { coordinates: features.view(), row_numbers, numbering: COUNTING };
            space_page(&info, data, space, &mapped, &validation, ctx)?
        }
        Content::Map(_) | Content::Kernel(_) => unreachable!("not a selection"),
    };
    report::write(path, &page, console)
}
