//! The account of a table, which opens every report: rows, columns, target, missing values, columns that are not used, warnings.

use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::Page;
use crate::text::number;
use kernsift::data::{Account, Action, ColumnAccount, Range, Scalar};

/// Columns and warnings that a report about something else lists.
const MAX_COLUMNS: usize = 300;
const MAX_WARNINGS: usize = 20;

/// The account in short, with all columns on demand; nothing if the data did not come from a table.
pub fn open(page: &mut Page, account: Option<&Account>) {
    let Some(account) = account else { return };
    page.facts(&facts(account));
    page.html(&warnings(account));
    let n = account.columns.len();
    let caption = match n > MAX_COLUMNS {
        true => {
            format!("The first {MAX_COLUMNS} of {n} columns; {} more are not listed here.", n - MAX_COLUMNS)
        }
        false => String::new(),
    };
    page.html(&format!(
        "<details class=\"columns\"><summary>All columns of the table</summary>\n{}</details>\n",
        columns(&account.columns[..n.min(MAX_COLUMNS)], caption)
    ));
}

/// Rows, columns, the target if there is one, missing values, and columns that are not used.
pub fn facts(account: &Account) -> Vec<(&'static str, String)> {
    let used = match account.rows_used < account.rows {
        true => format!(", of which {} are used", account.rows_used),
        false => String::new(),
    };
    let lines = account.lines();
    let after_colon = |line: &str| line.split_once(": ").map_or(line, |(_, rest)| rest).to_owned();
    let mut facts = vec![
        ("Rows", format!("{}{used}", account.rows)),
        ("Columns", account.columns.len().to_string()),
        ("Features", lines.first().map_or(String::new(), |line| after_colon(line))),
    ];
    facts.extend(account.with_action(Action::Target).next().map(|column| ("Target", described(column))));
    facts.push(("Missing values", account.missing_values().unwrap_or_else(|| "none".into())));
    facts.push(("Columns not used", account.skipped().map_or("none".into(), |line| after_colon(&line))));
    facts
}

fn described(column: &ColumnAccount) -> String {
    match &column.reason {
        Some(reason) => format!("{}: {reason}", column.name),
        None => column.name.clone(),
    }
}

/// The warnings as a list; empty if there are none.
pub fn warnings(account: &Account) -> String {
    let n = account.warnings.len();
    let shown = account.warnings.iter().take(MAX_WARNINGS);
    let mut items: String = shown.map(|text| format!("<li>{}</li>\n", escape(text))).collect();
    if n > MAX_WARNINGS {
        items += &format!("<li>and {} more</li>\n", n - MAX_WARNINGS);
    }
    if n == 0 { items } else { format!("<ul class=\"warnings\">\n{items}</ul>\n") }
}

/// A table of columns.
pub fn columns(columns: &[ColumnAccount], caption: String) -> String {
    let mut heads =
        vec![Head::text("Column"), Head::text("Type"), Head::text("Used as"), Head::number("Missing")];
    // Only `inspect` counts values and finds ranges.
    let has_details = columns.iter().any(|column| column.n_distinct.is_some());
    if has_details {
        heads.extend([Head::number("Distinct"), Head::text("Range")]);
    }
    heads.push(Head::text("Examples"));
    let row = |column: &ColumnAccount| {
        let mut row = vec![
            Cell::Text(column.name.clone()),
            Cell::Text(column.kind.to_string()),
            Cell::Text(column.used_as()),
            Cell::Number(column.n_missing as f64),
        ];
        if has_details {
            row.push(column.n_distinct.map_or(Cell::Empty, |n| Cell::Number(n as f64)));
            row.push(column.range.as_ref().map_or(Cell::Empty, |range| Cell::Text(range_text(range))));
        }
        row.push(Cell::Text(examples(column)));
        row
    };
    let rows = columns.iter().map(row).collect();
    Listing { file: "columns.csv", caption, heads, rows, selected: 0 }.html()
}

/// The examples of a column, as many as fit in a cell.
pub fn examples(column: &ColumnAccount) -> String {
    const LENGTH: usize = 50;
    let mut text = String::new();
    for example in &column.examples {
        if text.is_empty() {
            text += example;
        } else if text.chars().count() + example.chars().count() <= LENGTH {
            text += &format!(", {example}");
        } else {
            return text + ", ...";
        }
    }
    text
}

fn range_text(range: &Range) -> String {
    let [min, median, max] = [&range.min, &range.median, &range.max].map(scalar);
    format!("{min} to {max}, median {median}")
}

/// A number or a date as text.
pub fn scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Number(value) if value.fract() == 0.0 && value.abs() < 1e6 => {
            value.to_string().replace('-', "−")
        }
        Scalar::Number(value) => number(*value),
        Scalar::Date(text) => text.clone(),
    }
}
