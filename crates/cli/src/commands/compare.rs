//! `kernsift compare`

use super::options::{no_such_method, refuse};
use super::report;
use crate::args::{CompareArgs, KernelArg, MissingArg, ScaleArg, ScoreArg};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, check_outputs, describe_target, load_for_folds};
use crate::output::{Cell as TableCell, number, percent, print, table};
use crate::terminal::{self, display_width};
use kernsift::data::{Dataset, ImputeStrategy, Splits, Target};
use kernsift::error::bytes;
use kernsift::evaluate::{
    Candidate, Cell, Compare, Evaluator, Measure, ResultsLog, SplitChoice, Summary, cost_path,
};
use kernsift::kernel::{Gamma, KernelChoice};
use kernsift::{Context, Error, Observer};
use kernsift_report::compare_page;
use serde_json::json;
use std::path::Path;

/// Numbers of features in one block of the table, unless a terminal has room for more or for fewer.
const BLOCK: usize = 6;
/// A difference from the best is marked at this level.
const LEVEL: f64 = 0.05;

/// Compares, prints, and keeps the record that was asked for.
pub fn run(args: &CompareArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let loaded = load_for_folds(&args.table, ctx, console)?;
    let data = &loaded.prepared.data;
    let compare = plan(args, data)?;
    let costs = args.record.as_ref().map(|record| cost_path(record));
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--record", args.record.as_deref()),
        ("--record", costs.as_deref()),
    ];
    check_outputs(&outputs, &[Path::new(&loaded.name)])?;
    let measure = match args.score {
        None => Measure::for_target(data.target()),
        Some(ScoreArg::Error) => Measure::Error,
        Some(ScoreArg::BalancedAccuracy) => Measure::BalancedAccuracy,
        Some(ScoreArg::Auc) => Measure::Auc,
        Some(ScoreArg::R2) => Measure::R2,
    };
    compare.check(data).map_err(typed)?;
    check_measure(measure, data.target())?;
    let mut log = match &args.record {
        Some(path) => ResultsLog::open(path)?,
        None => ResultsLog::in_memory(),
    };
    let known = log.results().count();
    compare.run(data, &loaded.name, &mut log, ctx).map_err(|error| {
        if let (true, Some(path)) = (error.is_interrupted(), &args.record) {
            console.inform(&format!("what was done is kept in {}; the same command goes on", path.display()));
        }
        typed(error)
    })?;
    console.clear();
    if known > 0 {
        console.inform(&format!("{known} results were in the record"));
    }
    let labels: Vec<String> = compare.candidates.iter().map(|c| c.label.clone()).collect();
    let summary = Summary::of(&log, &labels, &compare.counts, measure);
    warn_of_failures(&summary, console)?;
    // Printed first: if the page cannot be written, the table is not lost with it.
    if args.json {
        let record = json!({
            "command": "compare",
            "version": env!("CARGO_PKG_VERSION"),
            "data": {"name": loaded.name, "rows": data.n(), "columns": data.d(), "target": loaded.prepared.recipe.target()},
            "evaluator": compare.evaluator,
            "splits": log.run().map(|run| run.folds.len()),
            "seed": ctx.seed,
            "summary": summary,
            "results": log.results().collect::<Vec<_>>(),
            "costs": log.costs().collect::<Vec<_>>(),
        });
        print(&(serde_json::to_string_pretty(&record)? + "\n"))?;
    } else {
        print(&page(&loaded, &compare, &summary, console.is_verbose()))?;
    }
    if let Some(path) = &args.report {
        let title = format!("Features of {}", loaded.name);
        report::write(path, &compare_page(&log, &summary, &title, &report::command()), console)?;
    }
    Ok(())
}

/// The methods of a list separated by commas; a part with `=` but without a name continues the settings of the method
/// before it.
fn split_methods(list: &str) -> Vec<&str> {
    let continues = |part: &str| part.split('=').next().is_some_and(|key| key != part && !key.contains(':'));
    let mut methods: Vec<(usize, usize)> = vec![];
    let mut start = 0;
    for part in list.split(',') {
        let end = start + part.len();
        match methods.last_mut() {
            Some(last) if continues(part) => last.1 = end,
            _ => methods.push((start, end)),
        }
        start = end + 1;
    }
    methods.into_iter().map(|(start, end)| list[start..end].trim()).filter(|text| !text.is_empty()).collect()
}

/// What is to be compared, from what was typed.
fn plan(args: &CompareArgs, data: &Dataset) -> Result<Compare, Failure> {
    let mut candidates: Vec<Candidate> = vec![];
    for text in split_methods(&args.methods) {
        let new = match text {
            "all" => Candidate::all_for(data.target()),
            text => vec![Candidate::parse(text).map_err(|e| no_such_method(text, e))?],
        };
        for candidate in new {
            // 'fisher,all' names one twice.
            if candidates.iter().all(|known| known.label != candidate.label) {
                candidates.push(candidate);
            }
        }
    }
    let evaluator = match &args.evaluator {
        Some(name) => Evaluator::by_name(name)?,
        None => Evaluator::for_target(data.target()),
    };
    let repeats = args.repeats;
    Ok(Compare {
        candidates,
        counts: args.k.as_ref().map_or_else(|| (1..=data.d().min(10)).collect(), |k| k.0.clone()),
        splits: SplitChoice::Generated(match args.test_size {
            Some(test_size) => Splits::Holdout { test_size, repeats },
            None => Splits::Folds { folds: args.folds.unwrap_or(5), repeats },
        }),
        evaluator: with_options(evaluator, args)?,
        scale: args.scale == ScaleArg::Standard,
        impute: if matches!(args.table.missing, MissingArg::Median) {
            ImputeStrategy::Median
        } else {
            ImputeStrategy::Mean
        },
        baseline: true,
    })
}

/// Puts the evaluator's options into it, and refuses those that it does not have.
fn with_options(mut evaluator: Evaluator, args: &CompareArgs) -> Result<Evaluator, Failure> {
    let name = format!("--evaluator {}", evaluator.name());
    let cost = [("--cost", args.cost.is_some())];
    let gamma = [("--gamma", args.gamma.is_some())];
    let neighbors = [("--neighbors", args.neighbors.is_some())];
    let penalty = [("--penalty", args.penalty.is_some())];
    let kernel = [("--kernel", args.kernel.is_some())];
    let refused: &[&[(&str, bool)]] = match evaluator {
        Evaluator::Svm(_) => &[&neighbors, &penalty],
        Evaluator::LinearSvm(_) => &[&kernel, &gamma, &neighbors, &penalty],
        Evaluator::Knn(_) => &[&kernel, &cost, &gamma, &penalty],
        Evaluator::KernelKnn(_) => &[&cost, &penalty],
        Evaluator::Ridge(_) => &[&cost, &neighbors],
    };
    refused.iter().try_for_each(|options| refuse(&name, options))?;
    refuse(
        "--kernel linear",
        &[("--gamma", args.gamma.is_some() && args.kernel == Some(KernelArg::Linear))],
    )?;
    match &mut evaluator {
        Evaluator::Svm(search) => {
            search.c = args.cost.clone().unwrap_or_else(|| search.c.clone());
            search.gamma = args.gamma.clone().unwrap_or_default();
            set_kernel(&mut search.svm.kernel, args.kernel, None);
        }
        Evaluator::LinearSvm(svm) => svm.c = one(&args.cost, "--cost", &name)?.unwrap_or(svm.c),
        Evaluator::Knn(knn) => knn.n_neighbors = args.neighbors.unwrap_or(knn.n_neighbors),
        Evaluator::KernelKnn(knn) => {
            // Distances of the others rise with plain ones whatever the width is.
            let no_width = args.kernel != Some(KernelArg::Poly);
            refuse(
                &format!("{name} unless --kernel is poly"),
                &[("--gamma", args.gamma.is_some() && no_width)],
            )?;
            set_kernel(&mut knn.kernel, args.kernel, one(&args.gamma, "--gamma", &name)?);
            knn.n_neighbors = args.neighbors.unwrap_or(knn.n_neighbors);
        }
        Evaluator::Ridge(ridge) => {
            set_kernel(&mut ridge.kernel, args.kernel, one(&args.gamma, "--gamma", &name)?);
            ridge.penalties = args.penalty.clone().unwrap_or_else(|| ridge.penalties.clone());
        }
    }
    Ok(evaluator)
}

/// The only value of an option that takes several with other evaluators.
fn one<T: Copy>(values: &Option<Vec<T>>, option: &str, evaluator: &str) -> Result<Option<T>, Failure> {
    match values.as_deref() {
        None => Ok(None),
        Some([value]) => Ok(Some(*value)),
        Some(_) => {
            Err(Failure::Input(format!("{evaluator} takes one {option}; only svm chooses among several")))
        }
    }
}

fn set_kernel(kernel: &mut KernelChoice, new: Option<KernelArg>, width: Option<Gamma>) {
    let KernelChoice::Named { family, gamma, .. } = kernel else { return };
    *family = new.map_or(*family, |new| new.family());
    *gamma = width.unwrap_or(*gamma);
}

fn check_measure(measure: Measure, target: &Target) -> Result<(), Failure> {
    let number = matches!(target, Target::Continuous(_));
    if number == (measure == Measure::R2) {
        return Ok(());
    }
    let (what, fit) =
        if number { ("a number", "r2") } else { ("classes", "error, balanced-accuracy or auc") };
    Err(Failure::Input(format!("--score {} does not fit a target of {what}; use {fit}", measure.name())))
}

/// Says which methods could not be evaluated; where none could there is no table.
fn warn_of_failures(summary: &Summary, console: &Console) -> Result<(), Failure> {
    let nothing = summary.methods.iter().all(|m| m.cells.iter().all(Option::is_none));
    if nothing {
        let failure = summary.methods.iter().find_map(|m| m.failure.clone()).unwrap_or_else(|| {
            let score = summary.measure.name();
            format!(
                "{score} cannot be told from the test rows of any split; use fewer folds, or another --score"
            )
        });
        return Err(Failure::Input(format!("no method could be evaluated: {failure}")));
    }
    if let Some(failure) = &summary.all_features_failure {
        console.warn(&format!("all columns together: {failure}"));
    }
    for method in &summary.methods {
        if let Some(failure) = &method.failure {
            console.warn(&format!("{}: {} results failed: {failure}", method.label, method.failed));
        }
        if method.not_converged > 0 {
            console.warn(&format!(
                "{}: {} selections stopped at their iteration limit",
                method.label, method.not_converged
            ));
        }
    }
    Ok(())
}

fn page(loaded: &Loaded, compare: &Compare, summary: &Summary, verbose: bool) -> String {
    let data = &loaded.prepared.data;
    let splits = match &compare.splits {
        SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }) => format!("{folds} folds"),
        SplitChoice::Generated(Splits::Folds { folds, repeats }) => format!("{repeats} times {folds} folds"),
        SplitChoice::Generated(Splits::Holdout { test_size, repeats }) => {
            format!("{repeats} times {} of the rows kept back", percent(*test_size))
        }
        SplitChoice::Given(folds) => format!("{} splits", folds.len()),
    };
    let mut text = format!(
        "{}: {} rows, {} columns, {}\n{} of {} in {splits}; all is learned inside the training rows\n",
        loaded.name,
        data.n(),
        data.d(),
        describe_target(loaded),
        measure_words(summary.measure),
        compare.evaluator.name(),
    );
    let places: Vec<usize> = (0..summary.counts.len()).collect();
    for block in blocks(summary, &places, &value) {
        text += &format!("\n{}", block_of(summary, block, &value));
    }
    text += "\n * best with as many features; - worse than that one (paired test, p < 0.05)\n";
    if let Some(cell) = &summary.all_features {
        text += &format!(" all {} columns: {}\n", data.d(), plain(cell, summary.measure));
    }
    if verbose {
        for block in blocks(summary, &places, &p_value) {
            text += &format!(
                "\np-values of the difference from the best\n{}",
                block_of(summary, block, &p_value)
            );
        }
    }
    text + "\n" + &costs(summary)
}

/// What a cell shows.
type Show = dyn Fn(&Cell, Measure) -> String;

/// The places in blocks that fit the terminal.
fn blocks<'a>(summary: &Summary, places: &'a [usize], show: &Show) -> std::slice::Chunks<'a, usize> {
    let Some(room) = terminal::width() else { return places.chunks(BLOCK) };
    let label = summary.methods.iter().map(|method| display_width(&method.label)).max().unwrap_or(0);
    let cells = summary.methods.iter().flat_map(|method| method.cells.iter().flatten());
    let cell = cells.map(|cell| display_width(&show(cell, summary.measure))).max().unwrap_or(0);
    places.chunks((room.saturating_sub(label.max("features".len()) + 1) / (cell + 2)).max(1))
}

fn block_of(summary: &Summary, block: &[usize], show: &Show) -> String {
    let counts: Vec<String> = block.iter().map(|&place| summary.counts[place].to_string()).collect();
    let header: Vec<&str> = std::iter::once("features").chain(counts.iter().map(String::as_str)).collect();
    let rows = summary.methods.iter().map(|method| {
        let cells = block.iter().map(|&place| match &method.cells[place] {
            Some(cell) if cell.best => TableCell::good(show(cell, summary.measure)),
            Some(cell) => show(cell, summary.measure).into(),
            None => String::new().into(),
        });
        std::iter::once(method.label.clone().into()).chain(cells).collect()
    });
    table(&header, rows.collect(), &(1..=block.len()).collect::<Vec<_>>())
}

/// What selecting took, a line per method.
fn costs(summary: &Summary) -> String {
    let rows = summary.methods.iter().map(|method| {
        let (score, k) = summary.best_of(method).map_or((String::new(), String::new()), |(cell, k)| {
            (plain(&cell, summary.measure), k.to_string())
        });
        let seconds = |value: Option<f64>| value.map_or(String::new(), number);
        vec![
            method.label.clone(),
            score,
            k,
            seconds(method.select_seconds),
            seconds(method.evaluate_seconds),
            method.peak_bytes.map_or(String::new(), bytes),
        ]
    });
    let best = if summary.measure.larger_is_better() { "most" } else { "least" };
    table(&["method", best, "with", "select s", "eval s", "memory"], rows.collect(), &[1, 2, 3, 4, 5])
}

fn measure_words(measure: Measure) -> &'static str {
    match measure {
        Measure::Error => "error in %",
        Measure::BalancedAccuracy => "balanced accuracy in %",
        Measure::Auc => "area under the curve in %",
        Measure::R2 => "explained variance in %",
    }
}

fn plain(cell: &Cell, _: Measure) -> String {
    let some = if cell.is_complete() { String::new() } else { format!(" ({}/{})", cell.splits, cell.of) };
    format!("{:.1} ± {:.1}{some}", 100.0 * cell.mean, 100.0 * cell.sd)
}

fn value(cell: &Cell, measure: Measure) -> String {
    let mark = match cell.p {
        _ if cell.best => '*',
        Some(p) if p < LEVEL => '-',
        _ => ' ',
    };
    format!("{}{mark}", plain(cell, measure))
}

fn p_value(cell: &Cell, _: Measure) -> String {
    match cell.p {
        _ if cell.best => "best".into(),
        Some(p) if p < 0.001 => "<0.001".into(),
        Some(p) => format!("{p:.3}"),
        None => String::new(),
    }
}

/// A failure with parameters named as the user typed them.
fn typed(error: Error) -> Failure {
    let options = [
        ("compare", "number of features", "-k"),
        ("splits", "folds", "--folds"),
        ("splits", "repeats", "--repeats"),
        ("splits", "test_size", "--test-size"),
        ("evaluator", "evaluator", "--evaluator"),
        ("evaluator", "n_neighbors", "--neighbors"),
        ("evaluator", "target", "--target"),
    ];
    Failure::typed(error, &options)
}
