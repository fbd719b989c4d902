//! The report of a table: types, missing values and distributions of its columns.

use crate::account;
use crate::html::{escape, shortened};
use crate::listing::{Cell, Head, Listing};
use crate::page::Page;
use crate::plot::Axis;
use crate::text::{counted, percent};
use kernsift::data::{Account, Action, ColumnAccount};

/// Maximum number of plots.
const MAX_PLOTS: usize = 60;
const WIDTH: f64 = 320.0;
const RIGHT: f64 = WIDTH - 8.0;

/// A self-contained HTML page about a table: its columns, missing values, columns that are not used, and distributions.
pub fn inspect_page(data: &str, account: &Account, command: &str) -> String {
    let lede = account.lines().first().map_or(String::new(), |line| escape(line) + ".");
    let mut page = Page::new(&format!("Columns of {data}"), &lede);
    page.facts(&account::facts(account));
    page.html(&account::warnings(account));
    page.section("columns", "Columns", &account::columns(&account.columns, String::new()));
    page.section("missing", "Missing values", &missing(account));
    page.section("unused", "Columns that are not used", &unused(account));
    page.section("distributions", "Distributions", &distributions(account));
    page.command(command);
    page.finish(&format!("kernsift {}", env!("CARGO_PKG_VERSION")))
}

/// The columns with missing values, most first.
fn missing(account: &Account) -> String {
    let mut columns: Vec<&ColumnAccount> = account.columns.iter().filter(|c| c.n_missing > 0).collect();
    if columns.is_empty() {
        return "<p>No value is missing.</p>\n".into();
    }
    columns.sort_by_key(|column| std::cmp::Reverse(column.n_missing));
    let heads = vec![Head::text("Column"), Head::number("Missing"), Head::bar("Percent of rows")];
    let rows = columns.iter().map(|column| {
        let missing = column.n_missing as f64;
        let fraction = 100.0 * missing / account.rows.max(1) as f64;
        vec![Cell::Text(column.name.clone()), Cell::Number(missing), Cell::Number(fraction)]
    });
    Listing { file: "missing.csv", caption: String::new(), heads, rows: rows.collect(), selected: 0 }.html()
}

/// The columns that are not used, with the reasons: constant ones, identifiers, duplicates.
fn unused(account: &Account) -> String {
    let skipped = account.columns.iter().filter(|c| matches!(c.action, Action::Id | Action::Skipped));
    let rows: Vec<Vec<Cell>> = skipped
        .map(|column| {
            let reason = column.reason.clone().unwrap_or_default();
            vec![Cell::Text(column.name.clone()), Cell::Text(reason), Cell::Text(account::examples(column))]
        })
        .collect();
    if rows.is_empty() {
        return "<p>All columns are used.</p>\n".into();
    }
    let heads = vec![Head::text("Column"), Head::text("Reason"), Head::text("Examples")];
    Listing { file: "unused.csv", caption: String::new(), heads, rows, selected: 0 }.html()
}

/// A small plot of each feature and of the target.
fn distributions(account: &Account) -> String {
    let is_drawn = |column: &&ColumnAccount| {
        matches!(column.action, Action::Feature | Action::Target)
            && !(column.histogram.is_empty() && column.levels.is_empty())
    };
    let drawn: Vec<&ColumnAccount> = account.columns.iter().filter(is_drawn).collect();
    let plots: String = drawn.iter().take(MAX_PLOTS).map(|column| plot(column, account.rows)).collect();
    let more = match drawn.len().saturating_sub(MAX_PLOTS) {
        0 => String::new(),
        more => format!("<p class=\"more\">{more} more not shown</p>\n"),
    };
    format!(
        "<p class=\"legend\">Histograms of numbers and dates; the most frequent levels of categories.</p>\n\
         <div class=\"smalls\">\n{plots}</div>\n{more}"
    )
}

fn plot(column: &ColumnAccount, rows: usize) -> String {
    let svg = match column.levels.is_empty() {
        true => histogram(column),
        false => level_bars(column, rows),
    };
    format!(
        "<figure class=\"small\"><figcaption title=\"{}\">{}</figcaption>\n{svg}</figure>\n",
        escape(&column.name),
        shortened(&column.name, 36)
    )
}

fn histogram(column: &ColumnAccount) -> String {
    const HEIGHT: f64 = 120.0;
    const LEFT: f64 = 8.0;
    const BOTTOM: f64 = HEIGHT - 24.0;
    let max = column.histogram.iter().copied().max().unwrap_or(0).max(1) as f64;
    let y_axis = Axis::new([0.0, max].into_iter(), BOTTOM, 6.0);
    let width = (RIGHT - LEFT) / column.histogram.len() as f64;
    let bars = column.histogram.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, &count)| {
        let top = y_axis.at(count as f64);
        format!(
            "<rect class=\"column c0\" x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>\n",
            LEFT + width * at as f64,
            (width - 1.0).max(0.8),
            BOTTOM - top,
            counted(count, "row")
        )
    });
    let [low, high] = match &column.range {
        Some(range) => [&range.min, &range.max].map(|end| escape(&account::scalar(end))),
        None => Default::default(),
    };
    let below = BOTTOM + 16.0;
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"Histogram\">\n<g>{}</g>\n<g class=\"grid\">\
         <path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/><text x=\"{LEFT}\" y=\"{below}\">{low}</text>\
         <text x=\"{RIGHT}\" y=\"{below}\" text-anchor=\"end\">{high}</text></g>\n</svg>\n",
        bars.collect::<String>()
    )
}

/// A horizontal bar for each of the most frequent levels.
fn level_bars(column: &ColumnAccount, rows: usize) -> String {
    const STEP: f64 = 20.0;
    const NAMES: f64 = 120.0;
    let max = column.levels.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1) as f64;
    let x_axis = Axis::new([0.0, max].into_iter(), NAMES, RIGHT - 46.0);
    let bars = column.levels.iter().enumerate().map(|(at, (level, count))| {
        let (top, end) = (4.0 + STEP * at as f64, x_axis.at(*count as f64));
        format!(
            "<g class=\"grid\"><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <text x=\"{:.1}\" y=\"{:.1}\">{} %</text></g>\
             <rect class=\"column c0\" x=\"{NAMES}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>\n",
            NAMES - 6.0,
            top + 12.0,
            shortened(level, 16),
            end + 5.0,
            top + 12.0,
            percent(*count as f64 / rows.max(1) as f64),
            (end - NAMES).max(0.8),
            STEP - 5.0,
            counted(*count, "row")
        )
    });
    let more = column.n_distinct.unwrap_or(0).saturating_sub(column.levels.len());
    let height = 10.0 + STEP * (column.levels.len() + usize::from(more > 0)) as f64;
    let note = match more {
        0 => String::new(),
        _ => format!(
            "<g class=\"grid\"><text x=\"{NAMES}\" y=\"{:.1}\">and {more} more</text></g>\n",
            height - 8.0
        ),
    };
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"Most frequent levels\">\n{}{note}</svg>\n",
        bars.collect::<String>()
    )
}
