//! `kernsift basis`

use super::kernel_file::LearnedKernel;
use super::report::{self, COUNTING, asked, timed};
use crate::args::BasisArgs;
use crate::commands::options::{configure, no_such_method, refuse, scaled};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, check_outputs, describe_target, load, read};
use crate::output::{curve, fact, number, print};
use kernsift::basis::{BasisMethod, set_gamma_for_n_components};
use kernsift::data::Dataset;
use kernsift::data::write::{check_table, write_table};
use kernsift::model::Content;
use kernsift::{Basis, Context, FeatureMap, Model, Stop};
use kernsift_report::{MappedRows, basis_page};
use serde_json::json;
use std::path::Path;

/// The method unless the user names one.
const DEFAULT_METHOD: &str = "kobl";

/// Learns a basis, prints what it is like, writes what was asked for.
pub fn run(args: &BasisArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let (name, settings) = args.method.split(DEFAULT_METHOD)?;
    let method = BasisMethod::by_name(name).map_err(|e| no_such_method(name, e))?;
    let mut method = configure(method.clone(), method.name(), &settings)?;
    if args.components.is_some() {
        *method.n_components_mut() = args.components;
    }
    let of_kernel = |(key, _): &(&str, &str)| ["kernel", "gamma", "degree", "coef0"].contains(key);
    let sets_kernel = args.kernel_file.is_some() && settings.iter().any(of_kernel);
    refuse("--kernel-file", &[("--set of a kernel parameter", sets_kernel)])?;
    let not_kobl = !matches!(method, BasisMethod::Kobl(_));
    refuse(name, &[("--gamma-for-n-components", not_kobl && args.gamma_for_n_components.is_some())])?;
    let kernel = args.kernel_file.as_ref().map(|file| LearnedKernel::read(file)).transpose()?;
    let loaded = match &kernel {
        Some(kernel) => kernel.load(&args.table, ctx, console)?,
        None => load(&args.table, ctx, console)?,
    };
    check_paths(args, &loaded)?;
    let (data, scaler) = match &kernel {
        Some(kernel) => {
            *method.kernel_mut() = kernel.choice();
            kernel.scaled(&loaded.prepared.data)?
        }
        None => scaled(&loaded.prepared.data, args.scale, console)?,
    };
    let (fit, took) = timed(|| {
        if let Some(wanted) = args.gamma_for_n_components {
            set_gamma(&mut method, &data, wanted, ctx)?;
        }
        method.fit(&data, ctx)
    });
    let fit = fit.map_err(typed)?;
    let model = Model {
        names: data.names().to_vec(),
        recipe: Some(loaded.prepared.recipe.clone()),
        scaler,
        content: Content::Map(fit.map.clone()),
    };
    let test_cost =
        args.test.as_ref().map(|test| cost_on(test, args, &model, &fit.map, ctx, console)).transpose()?;
    console.stage("writing");
    if let Some(path) = &args.out {
        write_table(
            path,
            &model.output_names(),
            fit.features.view(),
            loaded.target.as_slice(),
            &args.writing.options(),
            ctx,
        )?;
    }
    if let Some(path) = &args.save {
        model.save(path)?;
    }
    let threshold = match &method {
        BasisMethod::Kobl(kobl) => kobl.threshold_curve(fit.map.summary()),
        _ => None,
    };
    let is_scaled = model.scaler.is_some();
    if args.json {
        let record = record(&loaded, &fit.map, is_scaled, ctx, test_cost, took.seconds);
        print(&(serde_json::to_string_pretty(&record)? + "\n"))?;
    } else {
        print(&page(&loaded, &fit.map, is_scaled, test_cost, threshold.as_deref()))?;
    }
    if let Some(path) = &args.report {
        let asked = asked(&loaded, (&args.method.label(DEFAULT_METHOD), &method), is_scaled, &took, ctx)?;
        let mapped = MappedRows {
            coordinates: fit.features.view(),
            row_numbers: &loaded.counted_rows(),
            numbering: COUNTING,
        };
        let data = &loaded.prepared.data;
        let page = basis_page(&asked, data, &fit.map, &mapped, threshold.as_deref(), ctx)?;
        report::write(path, &page, console)?;
    }
    Ok(())
}

/// Refuses outputs that cannot be written.
fn check_paths(args: &BasisArgs, loaded: &Loaded) -> Result<(), Failure> {
    args.writing.check(args.out.is_some())?;
    let inputs =
        [Some(Path::new(&loaded.name)), args.test.as_ref().map(Path::new), args.kernel_file.as_deref()];
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--out", args.out.as_deref()),
        ("--save", args.save.as_deref()),
    ];
    check_outputs(&outputs, &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    args.out.as_ref().map_or(Ok(()), |path| Ok(check_table(path, loaded.target.as_slice())?))
}

/// A failure with parameters named as the user typed them.
fn typed(error: kernsift::Error) -> Failure {
    let options =
        [("gamma_for_n_components", "n_components", "--gamma-for-n-components"), ("", "n_components", "-k")];
    Failure::typed(error, &options)
}

fn set_gamma(method: &mut BasisMethod, data: &Dataset, wanted: usize, ctx: &Context) -> kernsift::Result<()> {
    data.need_complete("KOBL")?;
    let BasisMethod::Kobl(kobl) = method else { unreachable!("refused for other methods") };
    set_gamma_for_n_components(kobl, data.x(), wanted, ctx)
}

/// Reconstruction cost on other rows, prepared as the training rows were.
fn cost_on(
    test: &str,
    args: &BasisArgs,
    model: &Model,
    map: &FeatureMap,
    ctx: &Context,
    console: &Console,
) -> kernsift::Result<f64> {
    let table = read(test, args.table.no_header, ctx, console)?;
    let recipe = model.recipe.as_ref().expect("made from a table");
    let (data, _) = recipe.apply(&table).map_err(|e| e.in_file(Path::new(test)))?;
    map.reconstruction_cost(&*model.scaled(data.x())?, ctx)
}

fn record(
    loaded: &Loaded,
    map: &FeatureMap,
    is_scaled: bool,
    ctx: &Context,
    test_cost: Option<f64>,
    seconds: f64,
) -> serde_json::Value {
    let (data, summary) = (&loaded.prepared.data, map.summary());
    json!({
        "command": "basis",
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"name": loaded.name, "rows": data.n(), "columns": data.d(), "target": loaded.prepared.recipe.target()},
        "method": summary.method,
        "kernel": map.kernel(),
        "scaled": is_scaled,
        "seed": ctx.seed,
        "n_components": map.n_components(),
        "pivots": summary.pivots,
        "residual_norms": summary.residual_norms,
        "reconstruction_cost": summary.reconstruction_cost,
        "bound": summary.bound,
        "test_reconstruction_cost": test_cost,
        "explained": summary.explained,
        "outcome": summary.outcome,
        "seconds": seconds,
    })
}

fn page(
    loaded: &Loaded,
    map: &FeatureMap,
    is_scaled: bool,
    test_cost: Option<f64>,
    threshold: Option<&[f64]>,
) -> String {
    let (data, summary) = (&loaded.prepared.data, map.summary());
    let scaling = if is_scaled { "standardized" } else { "as they are" };
    let mut text = format!(
        "{}: {} rows, {} columns {scaling}, {}\n{} with {}\n\n",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        summary.method,
        map.kernel().describe(),
    );
    let mut line = |name: &str, value: String, remark: String| text += &fact(name, &value, &remark);
    line(
        "dimension",
        map.n_components().to_string(),
        format!("of {} rows; {}", data.n(), summary.outcome.stop.explain()),
    );
    let promise = match summary.outcome.stop {
        Stop::Threshold => "Theorem 1 promises at most",
        _ => "the largest residual promises at most",
    };
    let bound = summary.bound.map_or(String::new(), |b| format!("{promise} {}", number(b)));
    line("reconstruction cost", number(summary.reconstruction_cost), bound);
    if let Some(cost) = test_cost {
        line("on the test rows", number(cost), String::new());
    }
    line("explained", format!("{:.2} %", 100.0 * summary.explained), "of the kernel's trace".into());
    let what = match threshold {
        Some(_) => "residual norm of each row that joined the basis (shaded: the threshold)",
        None if summary.bound.is_some() => "residual norm of each row that joined the basis",
        None => "residual norm before each component",
    };
    text + &format!("\n  {what}\n\n{}", curve(&summary.residual_norms, threshold))
}
