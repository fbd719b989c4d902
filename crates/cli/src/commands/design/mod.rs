//! `kernsift design`: learns a kernel from triplets, and the features it needs.

mod fit;
mod holdout;
mod options;
mod page;
mod record;
mod results;
mod triplets;

use super::options::{encoded, refuse};
use super::report::{self, run_info, timed};
use crate::args::{DesignArgs, ScaleArg};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::{check_outputs, refuse_json};
use crate::output::{print, print_json};
use fit::{Fit, by_score, learn, margins_of, training_accuracy};
use holdout::{HoldOut, evaluate};
use kernsift::data::Dataset;
use kernsift::data::write::{check_table, write_table};
use kernsift::learn::{Learned, LearnerMethod, Status};
use kernsift::model::Content;
use kernsift::{Context, Model, Observer};
use kernsift_report::{Design, design_page};
use options::{DEFAULT_METHOD, baselines, method, typed};
use results::Results;
use std::path::Path;
use triplets::{Input, load};

/// Learns, evaluates, prints, and writes the files that were requested.
pub fn run(args: &DesignArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let method = method(args)?;
    let baselines = baselines(args, &method)?;
    if args.with_noise && args.gram.is_none() {
        return Err(Failure::Input("--with-noise needs --gram FILE".into()));
    }
    let is_not_evaluated = args.hold_out == Some(0.0);
    refuse("--hold-out 0", &[("--baselines", is_not_evaluated && args.baselines.is_some())])?;
    let input = load(args, ctx, console)?;
    check_outputs_of(args, &input)?;
    let (data, encoder) = encoded(&input.loaded, args.scale, console)?;
    let (both, took) = timed(|| -> Result<(Option<HoldOut>, Fit), Failure> {
        let hold_out = evaluate(&input, &method, &baselines, args, ctx, console)?;
        let method = with_chosen_penalties(&method, hold_out.as_ref());
        let fit = learn(&method, &data, &input.triplets, input.drawn, ctx).map_err(typed)?;
        Ok((hold_out, fit))
    });
    let (hold_out, fit) = both?;
    console.clear();
    if let Some(warning) = warning(&fit.learned, &method) {
        console.warn(warning);
    }
    let (accuracy, violated) = training_accuracy(&fit.learned, &data, &input.triplets)?;
    let model = input.loaded.model(Some(encoder), Content::Kernel(fit.learned.clone()));
    let seconds = took.seconds;
    let result = Results { args, input: &input, method: &method, fit, hold_out, accuracy, violated, seconds };
    console.stage("writing");
    write(&result, &model, ctx)?;
    if args.json {
        print_json(&record::record(&result, ctx))?;
    } else {
        print(&page::page(&result, console.is_verbose()))?;
    }
    if let Some(path) = &args.report {
        let is_scaled = args.scale == ScaleArg::Standard;
        let label = args.method.label(DEFAULT_METHOD);
        let info = run_info(&input.loaded, (&label, &method), is_scaled, &took, ctx)?;
        let design = for_report(&result, &data)?;
        report::write(path, &design_page(&info, &input.loaded.prepared.data, &design, ctx)?, console)?;
    }
    Ok(())
}

/// The results, for the report.
fn for_report(result: &Results, data: &Dataset) -> kernsift::Result<Design> {
    let (learned, names) = (&result.fit.learned, data.names());
    let mut kernels = vec![];
    if let Some(designed) = &result.fit.designed {
        let weighed = designed.bases.iter().zip(&designed.mixture.alpha).filter(|(_, alpha)| **alpha != 0.0);
        kernels.extend(weighed.map(|(base, alpha)| {
            let (column, kernel) = page::kernel_words(base, names);
            (column, kernel, *alpha)
        }));
        kernels.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    }
    let hold_out = result.hold_out.as_ref();
    Ok(Design {
        method: learned.method.clone(),
        status: learned.status.explain().to_owned(),
        scores: learned.scores.clone(),
        kernels,
        n_kernels: result.fit.designed.as_ref().map_or(0, |designed| designed.bases.len()),
        margins: margins_of(learned, data, &result.input.triplets)?,
        accuracy: result.accuracy,
        held_out_margins: hold_out.map_or(vec![], |held| held.margins.clone()),
        held_out_accuracy: hold_out.map_or(vec![], |held| {
            held.evaluated.iter().map(|evaluated| (evaluated.method.clone(), evaluated.accuracy)).collect()
        }),
    })
}

/// The method with the penalties that were chosen without the held-out triplets.
fn with_chosen_penalties(method: &LearnerMethod, hold_out: Option<&HoldOut>) -> LearnerMethod {
    let designed = hold_out.and_then(|held| held.fit.as_ref()?.designed.as_ref());
    match (method, designed) {
        (LearnerMethod::Design(design), Some(designed)) => {
            LearnerMethod::Design(design.clone().with_penalties(designed.mixture.penalties))
        }
        _ => method.clone(),
    }
}

/// A warning if there is no useful result.
fn warning(learned: &Learned, method: &LearnerMethod) -> Option<&'static str> {
    match learned.status {
        Status::TrivialCone => Some(
            "nothing is learned: only the zero mixture of these kernels is diagonally dominant on these rows; use \
             --set psd=dominance_with_noise, nonnegative or eigen_cuts, or much larger gammas",
        ),
        Status::OverRegularized => Some(
            "nothing is learned: the penalties are too large, so all weights are zero; set a smaller gamma1 or gamma2, or \
             use other kernels",
        ),
        Status::Optimal => None,
        _ if matches!(method, LearnerMethod::Xing(_)) => {
            Some("the solver stopped before it reached the tolerance; increase max_iter")
        }
        Status::MaxIterations => {
            Some("the limit on rounds was reached before the tolerance; increase max_rounds")
        }
        _ => Some(
            "the solver stalled before it reached the tolerance; try a larger gamma1, other kernels, or a larger tol",
        ),
    }
}

/// Refuses output paths that cannot be written, that are inputs, or that occur twice.
fn check_outputs_of(args: &DesignArgs, input: &Input) -> Result<(), Failure> {
    args.writing.check(args.out.is_some())?;
    input.loaded.refuse_sampled(&[("--out", args.out.is_some())])?;
    refuse_json(args.save.as_deref())?;
    let inputs: Vec<&Path> = input.loaded.files().into_iter().chain(args.triplets.as_deref()).collect();
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--out", args.out.as_deref()),
        ("--gram", args.gram.as_deref()),
        ("--save", args.save.as_deref()),
    ];
    check_outputs(&outputs, &inputs)?;
    if let Some(path) = &args.out {
        check_table(path, &input.loaded.targets)?;
    }
    args.gram.as_ref().map_or(Ok(()), |path| Ok(check_table(path, &[])?))
}

fn write(result: &Results, model: &Model, ctx: &Context) -> Result<(), Failure> {
    let (args, loaded) = (result.args, &result.input.loaded);
    let data = &loaded.prepared.data;
    if let Some(path) = &args.out {
        let kept = by_score(&result.fit.learned);
        if kept.is_empty() {
            ctx.warn(format!("no feature is selected, so {} is not written", path.display()));
        } else {
            loaded.write_columns(path, &kept, &args.writing.options(), ctx)?;
        }
    }
    if let Some(path) = &args.gram {
        let gram = model.gram(data.x(), None, args.with_noise, ctx)?;
        let names: Vec<String> = loaded.counted_rows().iter().map(|row| format!("row{row}")).collect();
        write_table(path, &names, gram.view(), &[], &args.writing.options(), ctx)?;
    }
    if let Some(path) = &args.save {
        model.save(path)?;
    }
    Ok(())
}
