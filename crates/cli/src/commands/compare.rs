//! `kernsift compare`

use super::options::no_such_method;
use super::plan::{Informing, describe_left_out, describe_plan};
use super::report;
use crate::args::{CompareArgs, ScaleArg, Switch};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Also, Loaded, check_outputs};
use crate::output::{Cell as TableCell, number, percent, print, print_json, table};
use crate::roles::{Roles, load_rows, load_test};
use crate::terminal::{self, display_width};
use kernsift::data::{Dataset, Fold, SplitRule, Splits, stack};
use kernsift::error::bytes;
use kernsift::evaluate::{
    Candidate, Cell, Compare, Evaluator, EvaluatorChoice, Measure, Metric, ResultsLog, SplitChoice, Summary,
    cost_path,
};
use kernsift::{Context, Error, Observer};
use kernsift_report::compare_page;
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;

/// Numbers of features per block of the table if there is no terminal whose width decides.
const BLOCK: usize = 6;
/// Significance level at which differences from the best are marked.
const LEVEL: f64 = 0.05;

/// Compares methods, prints tables, and writes the requested files.
pub fn run(args: &CompareArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let also = Also { table: false, details: args.report.is_some() };
    let loaded = load_rows(&args.table, Roles::of(&args.split_by, &args.weights), also, ctx, console)?;
    let (data, splits) = rows(args, &loaded, ctx, console)?;
    let data = data.as_ref();
    let compare = plan(args, data, splits)?;
    let costs = args.record.as_ref().map(|record| cost_path(record));
    let outputs = [
        ("--report", args.report.as_deref()),
        ("--record", args.record.as_deref()),
        ("--record", costs.as_deref()),
    ];
    let inputs: Vec<&Path> = loaded.files().into_iter().chain(args.test.as_deref().map(Path::new)).collect();
    check_outputs(&outputs, &inputs)?;
    let measure = args.metric.unwrap_or_else(|| Measure::for_target(data.target()));
    compare.check(data).map_err(typed)?;
    if let EvaluatorChoice::BuiltIn(evaluator) = &compare.evaluator {
        measure.check(data.target(), evaluator).map_err(typed)?;
    }
    let mut log = match &args.record {
        Some(path) => ResultsLog::open(path)?,
        None => ResultsLog::in_memory(),
    };
    let known = log.results().count();
    console.inform(&describe_plan(&compare));
    let observer = Informing(console);
    let run_ctx = Context { observer: &observer, ..*ctx };
    let left_out =
        compare.run_within(args.budget, data, &loaded.name, &mut log, &run_ctx).map_err(|error| {
            if let (true, Some(path)) = (error.is_interrupted(), &args.record) {
                let path = path.display();
                console.inform(&format!("results so far are in {path}; run the same command to resume"));
            }
            typed(error)
        })?;
    console.clear();
    left_out.iter().for_each(|method| console.warn(&describe_left_out(method)));
    if known > 0 {
        console.inform(&format!("resumed from {known} results in the record"));
    }
    let labels: Vec<String> = compare.candidates.iter().map(|c| c.label.clone()).collect();
    let summary = Summary::of(&log, &labels, &compare.counts, measure);
    warn_of_failures(&summary, console)?;
    // Before the report, so that the tables are not lost if it cannot be written.
    if args.json {
        let fields = json!({
            "evaluator": compare.evaluator,
            "splits": log.run().map(|run| run.folds.len()),
            "summary": summary,
            "results": log.results().collect::<Vec<_>>(),
            "costs": log.costs().collect::<Vec<_>>(),
        });
        print_json(&loaded.record("compare", ctx, fields))?;
    } else {
        print(&text(&loaded, args.test.as_deref(), &compare, &summary, console.is_verbose()))?;
    }
    if let Some(path) = &args.report {
        let title = format!("Features of {}", loaded.name);
        let account = Some(&loaded.prepared.account);
        report::write(path, &compare_page(&log, &summary, account, &title, &report::command()), console)?;
    }
    Ok(())
}

/// All rows and how to split them. Rows of a test file come after the training rows.
fn rows<'a>(
    args: &CompareArgs,
    loaded: &'a Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<(Cow<'a, Dataset>, SplitChoice), Failure> {
    let train = &loaded.prepared.data;
    let repeats = args.repeats;
    let Some(test) = &args.test else {
        let splits = match args.test_size {
            Some(test_size) => Splits::Holdout { test_size, repeats },
            None => Splits::Folds { folds: args.folds.unwrap_or(5), repeats },
        };
        return Ok((Cow::Borrowed(train), SplitChoice::Generated(splits)));
    };
    let test = load_test(test, (&args.table, &args.weights), loaded, ctx, console)?.data;
    let data = stack(train, &test)?;
    let fold = Fold { train: (0..train.n()).collect(), test: (train.n()..data.n()).collect() };
    Ok((Cow::Owned(data), SplitChoice::Given(vec![fold])))
}

/// Splits a list of methods at commas. A part `key=value` without a name belongs to the method before it.
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

/// The comparison that the arguments describe.
fn plan(args: &CompareArgs, data: &Dataset, splits: SplitChoice) -> Result<Compare, Failure> {
    let mut candidates: Vec<Candidate> = match args.methods {
        Some(_) => vec![],
        None => Candidate::default_for(data),
    };
    for text in split_methods(args.methods.as_deref().unwrap_or_default()) {
        let new = match text {
            "all" => Candidate::all_supporting(data),
            text => vec![Candidate::parse(text).map_err(no_such_method)?],
        };
        for candidate in new {
            // 'fisher,all' has one twice.
            if candidates.iter().all(|known| known.label != candidate.label) {
                candidates.push(candidate);
            }
        }
    }
    let evaluator = match &args.evaluator {
        Some(text) => Evaluator::parse(text).map_err(no_such_method)?,
        None => Evaluator::for_target(data.target()),
    };
    Ok(Compare {
        candidates,
        counts: args.k.as_ref().map_or_else(|| (1..=data.d().min(10)).collect(), |k| k.0.clone()),
        splits,
        stratify: args.stratify == Switch::On,
        evaluator: evaluator.into(),
        scale: args.scale == ScaleArg::Standard,
        impute: args.table.impute(),
        baseline: true,
    })
}

/// Warns of methods that could not be evaluated; an error if there are no others.
fn warn_of_failures(summary: &Summary, console: &Console) -> Result<(), Failure> {
    let nothing = summary.methods.iter().all(|m| m.cells.iter().all(Option::is_none));
    if nothing {
        let failure = summary.methods.iter().find_map(|m| m.failure.clone()).unwrap_or_else(|| {
            let score = summary.measure.name();
            format!(
                "{score} is undefined for the test rows of every split; use fewer folds, or another --metric"
            )
        });
        return Err(Failure::Input(format!("no method could be evaluated: {failure}")));
    }
    if let Some(failure) = &summary.all_features_failure {
        console.warn(&format!("all features: {failure}"));
    }
    for method in &summary.methods {
        if let Some(failure) = &method.failure {
            console.warn(&format!("{}: {} results failed: {failure}", method.label, method.failed));
        }
        if method.not_converged > 0 {
            console.warn(&format!(
                "{}: {} selections stopped at the maximum number of iterations",
                method.label, method.not_converged
            ));
        }
    }
    Ok(())
}

fn text(loaded: &Loaded, test: Option<&str>, compare: &Compare, summary: &Summary, verbose: bool) -> String {
    let data = &loaded.prepared.data;
    let splits = match &compare.splits {
        SplitChoice::Generated(Splits::Folds { folds, repeats: 1 }) => format!("{folds} folds"),
        SplitChoice::Generated(Splits::Folds { folds, repeats }) => {
            format!("{folds} folds, repeated {repeats} times")
        }
        SplitChoice::Generated(Splits::Holdout { test_size, repeats }) => {
            format!("{repeats} random splits with {} test rows", percent(*test_size))
        }
        SplitChoice::Given(folds) => {
            let n_rows: usize = folds.iter().map(|fold| fold.test.len()).sum();
            format!("{n_rows} test rows of {}", test.unwrap_or(&loaded.name))
        }
    };
    let splits = splits + split_by(compare, data) + weighted(data);
    let mut text = format!(
        "{}\n{} of {} in {splits}; methods are fitted on training rows only\n",
        loaded.describe(""),
        title(&summary.measure),
        compare.evaluator.name(),
    );
    let indices: Vec<usize> = (0..summary.counts.len()).collect();
    let value = |cell: &Cell| value(cell, &summary.measure);
    for block in blocks(summary, &indices, &value) {
        text += &format!("\n{}", block_of(summary, block, &value));
    }
    text += "\n * best with this number of features; - worse than the best (paired test, p < 0.05)\n";
    if let Some(cell) = &summary.all_features {
        text += &format!(" all {} features: {}\n", data.d(), plain(cell, &summary.measure));
    }
    if let Some(simplest) = &summary.simplest {
        let (label, k) = (&simplest.label, simplest.n_features);
        let score = plain(&simplest.cell, &summary.measure);
        text += &format!(" fewest features within one standard error of the best: {k} by {label}, {score}\n");
    }
    if verbose {
        for block in blocks(summary, &indices, &p_value) {
            text += &format!(
                "\np-values of the difference from the best\n{}",
                block_of(summary, block, &p_value)
            );
        }
    }
    text + "\n" + &costs(summary)
}

/// Formats a cell.
type Show<'a> = dyn Fn(&Cell) -> String + 'a;

/// Splits the columns of the table into blocks that fit the terminal.
fn blocks<'a>(summary: &Summary, indices: &'a [usize], show: &Show<'_>) -> std::slice::Chunks<'a, usize> {
    let Some(room) = terminal::width() else { return indices.chunks(BLOCK) };
    let label = summary.methods.iter().map(|method| display_width(&method.label)).max().unwrap_or(0);
    let cells = summary.methods.iter().flat_map(|method| method.cells.iter().flatten());
    let cell = cells.map(|cell| display_width(&show(cell))).max().unwrap_or(0);
    indices.chunks((room.saturating_sub(label.max("features".len()) + 1) / (cell + 2)).max(1))
}

fn block_of(summary: &Summary, block: &[usize], show: &Show<'_>) -> String {
    let counts: Vec<String> = block.iter().map(|&i| summary.counts[i].to_string()).collect();
    let header: Vec<&str> = std::iter::once("features").chain(counts.iter().map(String::as_str)).collect();
    let rows = summary.methods.iter().map(|method| {
        let cells = block.iter().map(|&i| match &method.cells[i] {
            Some(cell) if cell.best => TableCell::good(show(cell)),
            Some(cell) => show(cell).into(),
            None => String::new().into(),
        });
        std::iter::once(method.label.clone().into()).chain(cells).collect()
    });
    table(&header, rows.collect(), &(1..=block.len()).collect::<Vec<_>>())
}

/// The table of best scores, times and memory.
fn costs(summary: &Summary) -> String {
    let rows = summary.methods.iter().map(|method| {
        let (score, k) = summary.best_of(method).map_or((String::new(), String::new()), |(cell, k)| {
            (plain(&cell, &summary.measure), k.to_string())
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
    table(&["method", "best", "features", "select s", "eval s", "memory"], rows.collect(), &[1, 2, 3, 4, 5])
}

fn title(metric: &Metric) -> String {
    let name = match metric {
        Metric::Scorer(name) => name,
        Metric::BuiltIn(measure) => match measure {
            Measure::Error => "error",
            Measure::BalancedError => "balanced error",
            Measure::BalancedAccuracy => "balanced accuracy",
            Measure::Auc => "AUC",
            Measure::LogLoss => "log loss",
            Measure::F1 => "F1 score",
            Measure::R2 => "R²",
            Measure::Rmse => "RMSE",
            Measure::Mae => "mean absolute error",
        },
    };
    format!("{name}{}", if metric.is_fraction() { " in %" } else { "" })
}

/// What the splits respect.
fn split_by(compare: &Compare, data: &Dataset) -> &'static str {
    match (&compare.splits, data.split_rule()) {
        (SplitChoice::Given(_), _) => "",
        (_, SplitRule::Groups(_)) => ", groups kept together",
        (_, SplitRule::Time(_)) => " by time",
        _ if !compare.stratify => ", not stratified",
        _ => "",
    }
}

/// What the rows weigh.
fn weighted(data: &Dataset) -> &'static str {
    match (data.weights().given().is_some(), data.balances_classes()) {
        (true, true) => "; weighted, fits to balanced classes",
        (true, false) => "; weighted",
        (false, true) => "; fits to balanced classes",
        (false, false) => "",
    }
}

fn plain(cell: &Cell, metric: &Metric) -> String {
    let splits = if cell.is_complete() { String::new() } else { format!(" ({}/{})", cell.splits, cell.of) };
    let number = |value: f64| match metric.is_fraction() {
        true => format!("{:.1}", 100.0 * value),
        false => number(value),
    };
    let sd = if cell.splits > 1 { format!(" ± {}", number(cell.sd)) } else { String::new() };
    format!("{}{sd}{splits}", number(cell.mean))
}

fn value(cell: &Cell, metric: &Metric) -> String {
    let mark = match cell.p {
        _ if cell.best => '*',
        Some(p) if p < LEVEL => '-',
        _ => ' ',
    };
    format!("{}{mark}", plain(cell, metric))
}

fn p_value(cell: &Cell) -> String {
    match cell.p {
        _ if cell.best => "best".into(),
        Some(p) if p < 0.001 => "<0.001".into(),
        Some(p) => format!("{p:.3}"),
        None => String::new(),
    }
}

/// A failure with parameters named by their options.
fn typed(error: Error) -> Failure {
    let options = [
        ("compare", "number of features", "-k"),
        ("compare", "metric", "--metric"),
        ("splits", "folds", "--folds"),
        ("splits", "repeats", "--repeats"),
        ("splits", "test_size", "--test-size"),
        ("evaluator", "evaluator", "--evaluator"),
        ("evaluator", "target", "--target"),
    ];
    Failure::typed(error, &options)
}
