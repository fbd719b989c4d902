//! `kernsift design`: a kernel from triplets, and which columns it needs.

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
use holdout::{Held, hold_out};
use kernsift::data::write::{check_table, write_table};
use kernsift::data::{Dataset, Triplet};
use kernsift::evaluate::scores::triplet_accuracy_of;
use kernsift::kernel::{pair_ranks, pair_values};
use kernsift::learn::design::{Choice, Designed};
use kernsift::learn::{KernelLearner, Learned, LearnerMethod, Status};
use kernsift::model::Content;
use kernsift::{Context, Model, Observer};
use kernsift_report::{Design, design_page};
use options::{baselines, method, typed};
use std::path::Path;
use triplets::{Stated, state};

/// What was learned; kernel design has more to tell.
pub struct Made {
    learned: Learned,
    designed: Option<Designed>,
}

/// Everything there is to print.
struct Findings<'a> {
    args: &'a DesignArgs,
    stated: &'a Stated,
    method: &'a LearnerMethod,
    made: Made,
    held: Option<Held>,
    /// The share of the triplets it was learned from that the kernel has in order.
    fits: f64,
    /// Those that it has not, as places among the triplets.
    broken: Vec<usize>,
    seconds: f64,
}

/// Learns, evaluates, prints, and writes what was asked for.
pub fn run(args: &DesignArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let method = method(args)?;
    let baselines = baselines(args, &args.method)?;
    if args.with_noise && args.gram.is_none() {
        return Err(Failure::Input("--with-noise is about --gram FILE; add that".into()));
    }
    if args.hold_out == Some(0.0) && args.baselines.is_some() {
        return Err(Failure::Input(
            "--baselines has no effect with --hold-out 0; leave one of them out".into(),
        ));
    }
    let stated = state(args, ctx, console)?;
    check_places(args, &stated)?;
    let (data, scaler) = scaled(&stated.loaded.prepared.data, args.scale, console)?;
    let (both, took) = timed(|| -> Result<(Option<Held>, Made), Failure> {
        let held = hold_out(&stated, &method, &baselines, args, ctx, console)?;
        let settled = settled(&method, held.as_ref());
        let made = learn(&settled, &data, &stated.triplets, stated.drawn, ctx).map_err(typed)?;
        Ok((held, made))
    });
    let (held, made) = both?;
    console.clear();
    if let Some(warning) = warning(&made.learned, &method) {
        console.warn(warning);
    }
    let (fits, broken) = fit(&made.learned, &data, &stated.triplets)?;
    let model = Model {
        names: data.names().to_vec(),
        recipe: Some(stated.loaded.prepared.recipe.clone()),
        scaler,
        content: Content::Kernel(made.learned.clone()),
    };
    let seconds = took.seconds;
    let result = Findings { args, stated: &stated, method: &method, made, held, fits, broken, seconds };
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
        let info = run_info(&stated.loaded, (&args.method, &method), is_scaled, &took, ctx)?;
        let design = told(&result, &data)?;
        report::write(path, &design_page(&info, &stated.loaded.prepared.data, &design, ctx)?, console)?;
    }
    Ok(())
}

/// What was learned, as a page tells it.
fn told(result: &Findings, data: &Dataset) -> kernsift::Result<Design> {
    let (learned, names) = (&result.made.learned, data.names());
    let mut kernels = vec![];
    if let Some(designed) = &result.made.designed {
        let weighed = designed.bases.iter().zip(&designed.mixture.alpha).filter(|(_, alpha)| **alpha != 0.0);
        kernels.extend(weighed.map(|(base, alpha)| {
            let (column, kernel) = page::kernel_words(base, names);
            (column, kernel, *alpha)
        }));
        kernels.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    }
    let held = result.held.as_ref();
    Ok(Design {
        method: learned.method.clone(),
        status: learned.status.explain().to_owned(),
        scores: learned.scores.clone(),
        kernels,
        n_kernels: result.made.designed.as_ref().map_or(0, |designed| designed.bases.len()),
        margins: margins_of(learned, data, &result.stated.triplets)?,
        accuracy: result.fits,
        held_out_margins: held.map_or(vec![], |held| held.margins.clone()),
        held_out_accuracy: held.map_or(vec![], |held| {
            held.evaluated.iter().map(|evaluated| (evaluated.method.clone(), evaluated.accuracy)).collect()
        }),
    })
}

/// The near and the far pair of each triplet.
fn pairs_of(triplets: &[Triplet]) -> Vec<[usize; 2]> {
    triplets.iter().flat_map(|&[i, j, k]| [[i, j], [i, k]]).collect()
}

/// How much more like its near row than its far row the row of each triplet is.
fn margins_of(learned: &Learned, data: &Dataset, triplets: &[Triplet]) -> kernsift::Result<Vec<f64>> {
    let values = pair_values(&learned.kernel, data.x(), &pairs_of(triplets))?;
    Ok(values.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect())
}

/// Learns from triplets; kernel design draws anew where it chooses penalties, if they were drawn.
fn learn(
    method: &LearnerMethod,
    data: &Dataset,
    triplets: &[Triplet],
    drawn: Option<usize>,
    ctx: &Context,
) -> kernsift::Result<Made> {
    let LearnerMethod::Design(design) = method else {
        return Ok(Made { learned: method.learn(data, triplets, ctx)?, designed: None });
    };
    let designed = match drawn {
        Some(n) => design.design_from_target(data, n, ctx)?,
        None => design.design(data, triplets, ctx)?,
    };
    Ok(Made { learned: designed.learned.clone(), designed: Some(designed) })
}

/// The method with the penalties that were chosen without what was held out.
fn settled(method: &LearnerMethod, held: Option<&Held>) -> LearnerMethod {
    let mut method = method.clone();
    let designed = held.and_then(|held| held.made.as_ref()?.designed.as_ref());
    if let (LearnerMethod::Design(design), Some(designed)) = (&mut method, designed) {
        design.penalties = Choice::Given(designed.mixture.penalties);
    }
    method
}

/// What the user should know of an ending.
fn warning(learned: &Learned, method: &LearnerMethod) -> Option<&'static str> {
    match learned.status {
        Status::TrivialCone => Some(
            "nothing is learned: no mixture of these kernels but zero is diagonally dominant on these rows; use --psd \
             dominance-with-noise, nonnegative or eigen-cuts, or far narrower kernels (--gammas)",
        ),
        Status::OverRegularized => Some(
            "nothing is learned: the penalties outweigh all triplets; use a smaller --gamma1 or --gamma2, or other kernels",
        ),
        Status::Optimal => None,
        _ if matches!(method, LearnerMethod::Xing(_)) => {
            Some("the search ended before its tolerance was reached; allow more steps with --max-iter")
        }
        Status::MaxIterations => {
            Some("the limit on rounds was reached before the tolerance; allow more with --max-rounds")
        }
        _ => Some(
            "the solver could make no further progress before the tolerance was reached; try a larger --gamma1, other \
             kernels, or a larger --tolerance",
        ),
    }
}

/// The share of triplets that a kernel has in order, and those that it has not.
fn fit(learned: &Learned, data: &Dataset, triplets: &[Triplet]) -> kernsift::Result<(f64, Vec<usize>)> {
    let ranks = pair_ranks(&learned.kernel, data.x(), &pairs_of(triplets))?;
    // Not a number is not in order either.
    let in_order = |at: usize| ranks[2 * at] > ranks[2 * at + 1];
    let broken = (0..triplets.len()).filter(|&at| !in_order(at)).collect();
    Ok((triplet_accuracy_of(&learned.kernel, data.x(), triplets)?, broken))
}

/// Refuses places that cannot be written to, that something is read from, or that are named twice.
fn check_places(args: &DesignArgs, stated: &Stated) -> Result<(), Failure> {
    args.writing.check(args.out.is_some())?;
    let inputs: Vec<&Path> =
        std::iter::once(Path::new(&stated.loaded.name)).chain(args.triplets.as_deref()).collect();
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--out", args.out.as_deref()),
        ("--gram", args.gram.as_deref()),
        ("--save", args.save.as_deref()),
    ];
    check_outputs(&outputs, &inputs)?;
    if let Some(path) = &args.out {
        check_table(path, stated.loaded.target.as_slice())?;
    }
    args.gram.as_ref().map_or(Ok(()), |path| Ok(check_table(path, &[])?))
}

fn write(result: &Findings, model: &Model, ctx: &Context) -> Result<(), Failure> {
    let (args, loaded) = (result.args, &result.stated.loaded);
    let data = &loaded.prepared.data;
    if let Some(path) = &args.out {
        let kept = by_score(&result.made.learned);
        if kept.is_empty() {
            ctx.warn(format!("no column is kept, so there is nothing to write to {}", path.display()));
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

/// The columns that play a part, best first.
fn by_score(learned: &Learned) -> Vec<usize> {
    let mut kept = learned.features();
    kept.sort_by(|&a, &b| learned.scores[b].total_cmp(&learned.scores[a]).then(a.cmp(&b)));
    kept
}
