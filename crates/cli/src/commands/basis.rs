//! `kernsift basis`

use super::kernel_file::LearnedKernel;
use super::report::{self, COUNTING, run_info, timed};
use crate::args::{BasisArgs, ScaleArg};
use crate::commands::options::{encoded, no_such_method, refuse};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{check_fit_outputs, check_outputs, refuse_json};
use crate::input::{Also, Loaded, inform_of_dropped, inform_of_other, load, read};
use crate::large::{large_file, refuse_checkpoint, refuse_options};
use crate::output::{curve, fact, number, print, print_json};
use crate::passes::{InPasses, remove_checkpoint};
use kernsift::basis::{BasisMethod, Fitted, Kobl, KoblFit, Pivoting, set_gamma_for_n_components};
use kernsift::blocks::BlockSource;
use kernsift::data::read::PieceFile;
use kernsift::data::write::write_table;
use kernsift::data::{Applied, Dataset, Encoder};
use kernsift::model::Content;
use kernsift::{Basis, Context, FeatureMap, Model, Stop};
use kernsift_report::{MappedRows, RunInfo, basis_page};
use serde_json::json;
use std::path::Path;

/// The default method.
const DEFAULT_METHOD: &str = "kobl";

/// Learns a basis, prints a summary, and writes the requested files.
pub fn run(args: &BasisArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let (mut method, kernel) = method(args)?;
    if let (BasisMethod::Kobl(kobl), None) = (&method, &kernel)
        && kobl.pivoting == Pivoting::Random
        && let Some(file) = large_file(&args.table, ctx)
    {
        return in_passes(kobl, file, args, ctx, console).map(|()| remove_checkpoint(&args.passes, console));
    }
    refuse_checkpoint(&args.passes)?;
    let loaded = match &kernel {
        Some(kernel) => kernel.load(&args.table, ctx, console)?,
        None => load(&args.table, Also::report(args.output.report.is_some()), ctx, console)?,
    };
    let inputs = [args.test.as_ref().map(Path::new), args.kernel_file.as_deref()];
    refuse_json(args.output.save.as_deref())?;
    check_fit_outputs(&args.output, &[], &loaded, &inputs)?;
    let (data, encoder) = match &kernel {
        Some(kernel) => kernel.encoded(&loaded.prepared.data)?,
        None => encoded(&loaded, args.scale, console).map(|(data, encoder)| (data, Some(encoder)))?,
    };
    let (fit, cost) = timed(|| {
        if let Some(n_components) = args.gamma_for_n_components {
            set_gamma(&mut method, &data, n_components, ctx)?;
        }
        method.fit(&data, ctx)
    });
    let fit = fit.map_err(typed)?;
    let model = loaded.model(encoder, Content::Map(fit.map.clone()));
    let cost_on = |test: &String| cost_on(test, args, &model, &fit.map, ctx, console);
    let test_cost = args.test.as_ref().map(cost_on).transpose()?;
    console.stage("writing");
    if let Some(path) = &args.output.out {
        let options = args.output.writing.options();
        write_table(path, &model.output_names(), fit.features.view(), &loaded.targets, &options, ctx)?;
    }
    if let Some(path) = &args.output.save {
        model.save(path)?;
    }
    let threshold = match &method {
        BasisMethod::Kobl(kobl) => kobl.threshold_curve(fit.map.summary()),
        _ => None,
    };
    let is_scaled = model.encoder.as_ref().is_some_and(Encoder::standardizes);
    if args.output.json {
        let mut fields = fields(&fit.map, test_cost);
        if fit.map.summary().n_rows < data.n() {
            fields["sample"] = json!({"n_used": fit.map.summary().n_rows, "n": data.n()});
        }
        fields["scaled"] = is_scaled.into();
        fields["seconds"] = cost.seconds.into();
        print_json(&loaded.record("basis", ctx, fields))?;
    } else {
        let about = loaded.describe(scaling(is_scaled));
        print(&text(&about, data.n(), &fit.map, test_cost, threshold.as_deref()))?;
    }
    let Some(path) = &args.output.report else { return Ok(()) };
    let info = run_info(&loaded, (&args.method.label(DEFAULT_METHOD), &method), is_scaled, &cost, ctx)?;
    report::write(path, &page(&info, &loaded, &fit, threshold.as_deref(), ctx)?, console)
}

/// The report.
fn page(
    info: &RunInfo,
    loaded: &Loaded,
    fit: &Fitted,
    threshold: Option<&[f64]>,
    ctx: &Context,
) -> Result<String, Failure> {
    let row_numbers = &loaded.counted_rows();
    let mapped = MappedRows { coordinates: fit.features.view(), row_numbers, numbering: COUNTING };
    Ok(basis_page(info, &loaded.prepared.data, &fit.map, &mapped, threshold, ctx)?)
}

/// Learns a basis of a table in passes.
fn in_passes(
    kobl: &Kobl,
    file: PieceFile,
    args: &BasisArgs,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    refuse_options(&[
        ("--out", args.output.out.is_some()),
        ("--report", args.output.report.is_some()),
        ("--test", args.test.is_some()),
        ("--gamma-for-n-components", args.gamma_for_n_components.is_some()),
    ])?;
    refuse_json(args.output.save.as_deref())?;
    let [report, out, save] = args.output.files();
    check_outputs(&[report, out, save, args.passes.file()], &[Path::new(&args.table.data)])?;
    let table = InPasses::open(file, &args.table, ctx, console)?;
    let is_scaled = args.scale == ScaleArg::Standard;
    let rounds = kobl.rounds(table.source().layout(), is_scaled, ctx).map_err(typed)?;
    let (fit, cost) = timed(|| table.fit(rounds, &(kobl, is_scaled), &args.passes, ctx, console));
    let KoblFit { map, encoder } = fit.map_err(typed)?;
    let threshold = kobl.threshold_curve(map.summary());
    if let Some(path) = &args.output.save {
        table.model(Some(encoder), Content::Map(map.clone())).save(path)?;
    }
    if args.output.json {
        let mut fields = fields(&map, None);
        fields["scaled"] = is_scaled.into();
        fields["seconds"] = cost.seconds.into();
        return Ok(print_json(&table.record("basis", ctx, fields))?);
    }
    let (about, n) = (table.describe(scaling(is_scaled)), table.source().layout().n);
    Ok(print(&text(&about, n, &map, None, threshold.as_deref()))?)
}

/// The method with its parameters, and the kernel from a file if there is one.
fn method(args: &BasisArgs) -> Result<(BasisMethod, Option<LearnedKernel>), Failure> {
    let (name, settings) = args.method.split(DEFAULT_METHOD)?;
    let mut method = BasisMethod::with_settings(name, &settings).map_err(no_such_method)?;
    if args.components.is_some() {
        *method.n_components_mut() = args.components;
    }
    let not_kobl = !matches!(method, BasisMethod::Kobl(_));
    refuse(name, &[("--gamma-for-n-components", not_kobl && args.gamma_for_n_components.is_some())])?;
    let Some(file) = &args.kernel_file else { return Ok((method, None)) };
    let of_kernel = |(key, _): &(&str, &str)| ["kernel", "gamma", "degree", "coef0"].contains(key);
    refuse("--kernel-file", &[("--set of a kernel parameter", settings.iter().any(of_kernel))])?;
    let kernel = LearnedKernel::read(file)?;
    *method.kernel_mut() = kernel.choice();
    Ok((method, Some(kernel)))
}

/// A failure with parameters named by their options.
fn typed(error: kernsift::Error) -> Failure {
    let options =
        [("gamma_for_n_components", "n_components", "--gamma-for-n-components"), ("", "n_components", "-k")];
    Failure::typed(error, &options)
}

fn set_gamma(
    method: &mut BasisMethod,
    data: &Dataset,
    n_components: usize,
    ctx: &Context,
) -> kernsift::Result<()> {
    data.need_complete("KOBL")?;
    let BasisMethod::Kobl(kobl) = method else { unreachable!("refused for other methods") };
    set_gamma_for_n_components(kobl, data.x(), n_components, ctx)
}

/// Reconstruction cost on other rows, prepared like the training rows.
fn cost_on(
    test: &str,
    args: &BasisArgs,
    model: &Model,
    map: &FeatureMap,
    ctx: &Context,
    console: &Console,
) -> kernsift::Result<f64> {
    let recipe = model.recipe.as_ref().expect("fitted to a table");
    let table = read(test, args.table.source().like(recipe), ctx, console)?;
    let Applied { data, rows, other } = recipe.apply(&table).map_err(|e| e.in_file(Path::new(test)))?;
    inform_of_dropped(test, table.n_rows(), rows.len(), console);
    inform_of_other(test, &other, console);
    map.reconstruction_cost(&*model.encoded(data.x())?, ctx)
}

fn fields(map: &FeatureMap, test_cost: Option<f64>) -> serde_json::Value {
    let summary = map.summary();
    json!({
        "method": summary.method,
        "kernel": map.kernel(),
        "n_components": map.n_components(),
        "pivots": summary.pivots,
        "residual_norms": summary.residual_norms,
        "reconstruction_cost": summary.reconstruction_cost,
        "bound": summary.bound,
        "test_reconstruction_cost": test_cost,
        "explained": summary.explained,
        "outcome": summary.outcome,
    })
}

fn scaling(is_scaled: bool) -> &'static str {
    if is_scaled { " standardized" } else { " unscaled" }
}

fn text(
    about: &str,
    n_rows: usize,
    map: &FeatureMap,
    test_cost: Option<f64>,
    threshold: Option<&[f64]>,
) -> String {
    let summary = map.summary();
    let mut text = format!("{about}\n{} with {}\n\n", summary.method, map.kernel().describe());
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    let stop = summary.outcome.stop;
    line("dimension", map.n_components().to_string(), format!("of {n_rows} rows; {}", stop.explain()));
    if summary.n_rows < n_rows {
        line("learned from", summary.n_rows.to_string(), "sampled rows; all with --set exact=true".into());
    }
    let by = match stop {
        Stop::Threshold => "Theorem 1",
        _ => "the largest residual",
    };
    let bound = summary.bound.map_or(String::new(), |b| format!("at most {} by {by}", number(b)));
    line("reconstruction cost", number(summary.reconstruction_cost), bound);
    if let Some(cost) = test_cost {
        line("on the test rows", number(cost), String::new());
    }
    line("explained", format!("{:.2} %", 100.0 * summary.explained), "of the kernel's trace".into());
    let what = match threshold {
        Some(_) => "residual norm of each pivot row (shaded: the threshold)",
        None if summary.bound.is_some() => "residual norm of each pivot row",
        None => "residual norm before each component",
    };
    text + &format!("\n  {what}\n\n{}", curve(&summary.residual_norms, threshold))
}
