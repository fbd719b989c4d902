//! The tables of a comparison.

use super::planned::{Planned, Results};
use crate::args::CompareArgs;
use crate::output::{Cell as TableCell, number, percent, table};
use crate::terminal::{self, display_width};
use kernsift::data::{Dataset, SplitRule, Splits};
use kernsift::error::bytes;
use kernsift::evaluate::{Cell, Compare, Measure, Metric, Predictions, SplitChoice, Summary};
use kernsift_report::rows_text;

/// Numbers of features per block of the table if there is no terminal whose width decides.
const BLOCK: usize = 6;
/// Significance level at which differences from the best are marked.
const LEVEL: f64 = 0.05;

/// The data, the protocol and all tables; with `verbose` also p-values.
pub fn describe(planned: &Planned, args: &CompareArgs, results: &Results, verbose: bool) -> String {
    let Planned { loaded, compare, .. } = planned;
    let data = &loaded.prepared.data;
    let summary = results.last();
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
            format!("{n_rows} test rows of {}", args.test.as_ref().unwrap_or(&loaded.name))
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
        text += &format!("\n{}", block_of(&results.summaries, block, &value));
    }
    let rows = if summary.train_rows.is_some() { " and of training rows" } else { "" };
    text += &format!(
        "\n * best with this number of features{rows}; - worse than the best (paired test, p < 0.05)\n"
    );
    if let Some(rows) = summary.train_rows {
        text += &format!(" with {rows} training rows:\n");
    }
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
                block_of(&results.summaries, block, &p_value)
            );
        }
    }
    text += &format!("\n{}", costs(summary));
    if let Some(found) = &results.predictions {
        text += &format!("\n{}", predictions(found, compare.evaluator.name()));
    }
    text
}

/// Confusion and errors of classes, and calibration.
fn predictions(found: &Predictions, evaluator: &str) -> String {
    let mut text = format!(
        "predictions of {evaluator} with {} features by {}: test rows by class and predicted class\n",
        found.n_features, found.method
    );
    let header = ["class", "rows", "error %"].into_iter().chain(found.classes.iter().map(String::as_str));
    let header: Vec<&str> = header.collect();
    let rows =
        found.classes.iter().zip(&found.confusion).zip(&found.class_errors).map(|((name, row), error)| {
            let error = error.map_or(String::new(), |error| format!("{:.1}", 100.0 * error));
            let counts = row.iter().map(|&count| rows_text(count));
            [name.clone(), rows_text(row.iter().sum()), error].into_iter().chain(counts).collect()
        });
    text += &table(&header, rows.collect(), &(1..header.len()).collect::<Vec<_>>());
    let Some(calibration) = &found.calibration else {
        return text
            + &format!(" no calibration: {evaluator} gives no probabilities, as knn and kernel-knn do\n");
    };
    text += &format!(
        "\ncalibration: Brier score {}, expected calibration error {}\n",
        number(calibration.brier_score),
        number(calibration.expected_error)
    );
    let rows = calibration.bins.iter().map(|bin| {
        vec![rows_text(bin.rows), format!("{:.3}", bin.probability), format!("{:.3}", bin.frequency)]
    });
    text + &table(&["rows", "probability", "frequency"], rows.collect(), &[0, 1, 2])
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

/// A block of columns, with a line per method, or per method and number of training rows.
fn block_of(summaries: &[Summary], block: &[usize], show: &Show<'_>) -> String {
    let first = &summaries[0];
    let is_curve = first.train_rows.is_some();
    let counts: Vec<String> = block.iter().map(|&i| first.counts[i].to_string()).collect();
    let names = ["features"].into_iter().chain(is_curve.then_some("rows"));
    let header: Vec<&str> = names.chain(counts.iter().map(String::as_str)).collect();
    let line = |summary: &Summary, method: usize| {
        let method = &summary.methods[method];
        let rows = summary.train_rows.map(|rows| rows.to_string().into());
        let cells = block.iter().map(|&i| match &method.cells[i] {
            Some(cell) if cell.best => TableCell::good(show(cell)),
            Some(cell) => show(cell).into(),
            None => String::new().into(),
        });
        [method.label.clone().into()].into_iter().chain(rows).chain(cells).collect()
    };
    let lines = (0..first.methods.len()).flat_map(|m| summaries.iter().map(move |summary| line(summary, m)));
    table(&header, lines.collect(), &(1..header.len()).collect::<Vec<_>>())
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

/// The name of a score, with its unit.
pub fn title(metric: &Metric) -> String {
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
