//! `kernsift design`: learns a kernel from triplets, and the features it needs.

mod holdout;
mod options;
mod page;
mod record;
mod triplets;

use super::options::scaled;
use super::report::{self, run_info, timed};
use crate::args::{DesignArgs, ScaleArg};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::check_outputs;
use crate::output::print;
use holdout::{HoldOut, evaluate};
use kernsift::data::write::{check_table, write_table};
use kernsift::data::{Dataset, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::kernel::{pair_ranks, pair_values};
use kernsift::learn::design::Designed;
use kernsift::learn::{KernelLearner, Learned, LearnerMethod, Status};
use kernsift::model::Content;
use kernsift::{Context, Model, Observer};
use kernsift_report::{Design, design_page};
use options::{DEFAULT_METHOD, baselines, method, typed};
use std::path::Path;
use triplets::{Input, load};

/// A fitted learner, with further results of kernel design.
pub struct Fit {
    learned: Learned,
    designed: Option<Designed>,
}

/// All results.
struct Findings<'a> {
    args: &'a DesignArgs,
    input: &'a Input,
    method: &'a LearnerMethod,
    fit: Fit,
    hold_out: Option<HoldOut>,
    /// The fraction of the training triplets that the kernel satisfies.
    accuracy: f64,
    /// Indices of the triplets that it violates.
    violated: Vec<usize>,
    seconds: f64,
}

/// Learns, evaluates, prints, and writes the files that were requested.
pub fn run(args: &DesignArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let method = method(args)?;
    let baselines = baselines(args, &method)?;
    if args.with_noise && args.gram.is_none() {
        return Err(Failure::Input("--with-noise needs --gram FILE".into()));
    }
    if args.hold_out == Some(0.0) && args.baselines.is_some() {
        return Err(Failure::Input(
            "--baselines has no effect with --hold-out 0; leave one of them out".into(),
        ));
    }
    let input = load(args, ctx, console)?;
    check_outputs_of(args, &input)?;
    let (data, scaler) = scaled(&input.loaded.prepared.data, args.scale, console)?;
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
    let model = Model {
        names: data.names().to_vec(),
        recipe: Some(input.loaded.prepared.recipe.clone()),
        scaler,
        content: Content::Kernel(fit.learned.clone()),
    };
    let seconds = took.seconds;
    let result =
        Findings { args, input: &input, method: &method, fit, hold_out, accuracy, violated, seconds };
    console.stage("writing");
    write(&result, &model, ctx)?;
    if args.json {
        let record = record::record(&result, ctx);
        print(&(serde_json::to_string_pretty(&record)? + "\n"))?;
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
fn for_report(result: &Findings, data: &Dataset) -> kernsift::Result<Design> {
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

/// The pairs (i, j) and (i, k) of each triplet.
fn pairs_of(triplets: &[Triplet]) -> Vec<[usize; 2]> {
    triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect()
}

/// The margin of each triplet: the similarity to the closer row minus that to the farther row.
fn margins_of(learned: &Learned, data: &Dataset, triplets: &[Triplet]) -> kernsift::Result<Vec<f64>> {
    let values = pair_values(&learned.kernel, data.x(), &pairs_of(triplets))?;
    Ok(values.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect())
}

/// Learns from triplets. `drawn` is their number if they were drawn from the target; kernel design then draws as many
/// to choose penalties.
fn learn(
    method: &LearnerMethod,
    data: &Dataset,
    triplets: &[Triplet],
    drawn: Option<usize>,
    ctx: &Context,
) -> kernsift::Result<Fit> {
    let LearnerMethod::Design(design) = method else {
        return Ok(Fit { learned: method.learn(data, triplets, ctx)?, designed: None });
    };
    let designed = match drawn {
        Some(n) => design.design_from_target(data, n, ctx)?,
        None => design.design(data, triplets, ctx)?,
    };
    Ok(Fit { learned: designed.learned.clone(), designed: Some(designed) })
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

/// The fraction of triplets that a kernel satisfies, and the indices of those that it violates.
fn training_accuracy(
    learned: &Learned,
    data: &Dataset,
    triplets: &[Triplet],
) -> kernsift::Result<(f64, Vec<usize>)> {
    let ranks = pair_ranks(&learned.kernel, data.x(), &pairs_of(triplets))?;
    // NaN does not satisfy a triplet.
    let is_satisfied = |at: usize| ranks[2 * at] > ranks[2 * at + 1];
    let violated = (0..triplets.len()).filter(|&at| !is_satisfied(at)).collect();
    Ok((triplet_accuracy_of(&learned.kernel, data.x(), triplets)?, violated))
}

/// Refuses output paths that cannot be written, that are inputs, or that occur twice.
fn check_outputs_of(args: &DesignArgs, input: &Input) -> Result<(), Failure> {
    args.writing.check(args.out.is_some())?;
    let inputs: Vec<&Path> =
        std::iter::once(Path::new(&input.loaded.name)).chain(args.triplets.as_deref()).collect();
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--out", args.out.as_deref()),
        ("--gram", args.gram.as_deref()),
        ("--save", args.save.as_deref()),
    ];
    check_outputs(&outputs, &inputs)?;
    if let Some(path) = &args.out {
        check_table(path, input.loaded.target.as_slice())?;
    }
    args.gram.as_ref().map_or(Ok(()), |path| Ok(check_table(path, &[])?))
}

fn write(result: &Findings, model: &Model, ctx: &Context) -> Result<(), Failure> {
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
        let names: Vec<String> = loaded.prepared.rows.iter().map(|row| format!("row{}", row + 1)).collect();
        write_table(path, &names, gram.view(), &[], &args.writing.options(), ctx)?;
    }
    if let Some(path) = &args.save {
        model.save(path)?;
    }
    Ok(())
}

/// The selected features, best first.
fn by_score(learned: &Learned) -> Vec<usize> {
    let mut kept = learned.features();
    kept.sort_by(|&a, &b| learned.scores[b].total_cmp(&learned.scores[a]).then(a.cmp(&b)));
    kept
}
