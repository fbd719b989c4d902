//! `kernsift interactions`: screens all pairs of features.

use super::options::settings_of;
use super::report::{self, Cost, run_info, timed};
use crate::args::InteractionsArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::input::{Also, load};
use crate::large::{large_file, refuse_checkpoint, refuse_options};
use crate::output::{SHOWN, number, print, print_json, table};
use crate::passes::{InPasses, remove_checkpoint};
use kernsift::Context;
use kernsift::blocks::BlockSource;
use kernsift::data::Column;
use kernsift::data::read::PieceFile;
use kernsift::data::write::{check_table, write_table};
use kernsift::interactions::{InteractionScreen, Interactions, Pair};
use kernsift::parameters::apply;
use kernsift_report::interactions_page;
use ndarray::Array2;
use serde_json::{Value, json};
use std::path::Path;

const NAME: &str = "interactions";
/// Parameters, and the options that set them.
const OPTIONS: [(&str, &str, &str); 2] =
    [("interaction screen", "n_pairs", "-k"), ("interaction screen", "method", "--correction")];

/// Screens all pairs, prints the best, and writes the requested files.
pub fn run(args: &InteractionsArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let screen = settings(args)?;
    args.writing.check(args.out.is_some())?;
    if let Some(file) = large_file(&args.table, ctx) {
        return in_passes(&screen, file, args, ctx, console)
            .map(|()| remove_checkpoint(&args.passes, console));
    }
    refuse_checkpoint(&args.passes)?;
    let loaded = load(&args.table, Also::report(args.report.is_some()), ctx, console)?;
    check_files(args, &loaded.files())?;
    let (found, cost) = timed(|| screen.run(&loaded.prepared.data, ctx));
    let found = found.map_err(|error| Failure::typed(error, &OPTIONS))?;
    let names = loaded.prepared.data.names();
    console.stage("writing");
    if let Some(path) = &args.out {
        write(path, names, &found, args, ctx)?;
    }
    if args.json {
        let fields = fields(names, &found, &screen, &cost)?;
        print_json(&loaded.record(NAME, ctx, fields))?;
    } else {
        print(&text((&loaded.describe(""), names), &found, &screen, console.is_verbose()))?;
    }
    let Some(path) = &args.report else { return Ok(()) };
    let info = run_info(&loaded, (NAME, &screen), false, &cost, ctx)?;
    report::write(path, &interactions_page(&info, &loaded.prepared.data, &found, screen.alpha), console)
}

/// Screens all pairs of a table in passes.
fn in_passes(
    screen: &InteractionScreen,
    file: PieceFile,
    args: &InteractionsArgs,
    ctx: &Context,
    console: &Console,
) -> Result<(), Failure> {
    refuse_options(&[("--report", args.report.is_some())])?;
    check_files(args, &[Path::new(&args.table.data)])?;
    let table = InPasses::open(file, &args.table, ctx, console)?;
    let rounds = screen.rounds(table.source().layout(), ctx);
    let rounds = rounds.map_err(|error| Failure::typed(error, &OPTIONS))?;
    let (found, cost) = timed(|| table.fit(rounds, screen, &args.passes, ctx, console));
    let (found, names) = (found?, table.names());
    if let Some(path) = &args.out {
        write(path, names, &found, args, ctx)?;
    }
    if args.json {
        return Ok(print_json(&table.record(NAME, ctx, fields(names, &found, screen, &cost)?))?);
    }
    Ok(print(&text((&table.describe(""), names), &found, screen, console.is_verbose()))?)
}

/// Checks the files to write.
fn check_files(args: &InteractionsArgs, inputs: &[&Path]) -> Result<(), Failure> {
    let files = [("--report", args.report.as_deref()), ("--out", args.out.as_deref()), args.passes.file()];
    check_outputs(&files, inputs)?;
    match &args.out {
        Some(path) => Ok(check_table(path, &[Column::text("feature_1", std::iter::empty())])?),
        None => Ok(()),
    }
}

/// The screen with the parameters that the user set.
fn settings(args: &InteractionsArgs) -> Result<InteractionScreen, Failure> {
    let mut screen =
        apply(InteractionScreen::default(), NAME, &settings_of(&args.settings, "n_functions=2")?)?;
    screen.n_pairs = args.k.unwrap_or(screen.n_pairs);
    screen.method = args.correction.unwrap_or(screen.method);
    Ok(screen)
}

/// The names of a pair.
fn named<'a>(names: &'a [String], pair: &Pair) -> [&'a str; 2] {
    [&names[pair.features.0], &names[pair.features.1]]
}

/// The fields of the JSON record.
fn fields(
    names: &[String],
    found: &Interactions,
    screen: &InteractionScreen,
    cost: &Cost,
) -> Result<Value, Failure> {
    let pair = |pair: &Pair| {
        json!({
            "features": named(names, pair),
            "score": pair.score,
            "beyond": pair.beyond,
            "degrees": pair.degrees,
            "p_value": pair.p_value,
            "q_value": pair.q_value,
        })
    };
    Ok(json!({
        "pairs": found.pairs.iter().map(pair).collect::<Vec<_>>(),
        "n_significant": found.n_significant,
        "n_all_pairs": found.n_all_pairs,
        "main_effects": found.main_effects.iter().map(|&j| &names[j]).collect::<Vec<_>>(),
        "seconds": cost.seconds,
        "settings": serde_json::to_value(screen)?,
    }))
}

fn write(
    path: &Path,
    names: &[String],
    found: &Interactions,
    args: &InteractionsArgs,
    ctx: &Context,
) -> Result<(), Failure> {
    let pairs = &found.pairs;
    let feature = |at: usize| pairs.iter().map(move |pair| Some(named(names, pair)[at]));
    let numeric =
        |name: &str, value: fn(&Pair) -> f64| Column::numeric(name, pairs.iter().map(value).collect());
    let columns = [
        Column::numeric("rank", (1..=pairs.len()).map(|rank| rank as f64).collect()),
        Column::text("feature_1", feature(0)),
        Column::text("feature_2", feature(1)),
        numeric("score", |pair| pair.score),
        numeric("beyond", |pair| pair.beyond),
        numeric("degrees", |pair| pair.degrees as f64),
        numeric("p_value", |pair| pair.p_value),
        numeric("q_value", |pair| pair.q_value),
    ];
    let no_numbers = Array2::zeros((pairs.len(), 0));
    Ok(write_table(path, &[], no_numbers.view(), &columns, &args.writing.options(), ctx)?)
}

fn text(
    (described, names): (&str, &[String]),
    found: &Interactions,
    screen: &InteractionScreen,
    verbose: bool,
) -> String {
    let mut text = format!("{described}\n{}\n", summary(found, screen.alpha));
    let shown = if verbose { found.pairs.len() } else { found.pairs.len().min(SHOWN) };
    let rows = found.pairs[..shown].iter().enumerate().map(|(rank, pair)| {
        let [first, second] = named(names, pair);
        vec![
            (rank + 1).to_string(),
            first.to_owned(),
            second.to_owned(),
            number(pair.beyond),
            number(pair.p_value),
            number(pair.q_value),
        ]
    });
    let header = ["rank", "feature", "feature", "beyond", "p-value", "q-value"];
    if shown > 0 {
        text += &format!("\n{}", table(&header, rows.collect(), &[0, 3, 4, 5]));
    }
    if shown < found.pairs.len() {
        text += &format!(" ... and {} more, with -v\n", found.pairs.len() - shown);
    }
    if !found.main_effects.is_empty() {
        let effects: Vec<&str> = found.main_effects.iter().take(5).map(|&j| names[j].as_str()).collect();
        let more = if found.main_effects.len() > 5 { ", ..." } else { "" };
        text += &format!("\nremoved first, effects of single features: {}{more}\n", effects.join(", "));
    }
    text
}

/// The result in a sentence.
fn summary(found: &Interactions, alpha: f64) -> String {
    let all = format!("{} pairs", found.n_all_pairs);
    match (found.n_significant, found.pairs.first()) {
        (0, None) => format!("no pair of features to test among {all}"),
        (0, Some(best)) => format!(
            "no pair among {all} predicts the target better than its features alone (smallest q-value {})",
            number(best.q_value)
        ),
        (n, _) if n == found.pairs.len() => {
            format!(
                "at least {n} of {all} predict the target better than their features alone (q <= {alpha})"
            )
        }
        (1, _) => {
            format!("1 of {all} predicts the target better than its features alone (q <= {alpha})")
        }
        (n, _) => format!("{n} of {all} predict the target better than their features alone (q <= {alpha})"),
    }
}
