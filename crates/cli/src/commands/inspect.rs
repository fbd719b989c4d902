//! `kernsift inspect`

use super::report;
use crate::args::InspectArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::input::account;
use crate::output::{listing, number, print, print_json};
use kernsift::Context;
use kernsift::data::{Account, Action, ColumnAccount, Scalar};
use kernsift_report::inspect_page;
use serde_json::json;

/// Columns that are listed, unless the user asks for all with `-v`.
const SHOWN: usize = 50;
/// Categories with more levels than this are described by examples.
const MAX_LEVELS: usize = 20;

/// Prints what is in a table and what is done with each column.
pub fn run(args: &InspectArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let data = &args.table.data;
    check_outputs(&[("--report", args.report.as_deref())], &args.table.reading.files(data))?;
    let (account, all) = account(&args.table, ctx, console)?;
    if args.json {
        let mut record = serde_json::to_value(&account)?;
        record["command"] = "inspect".into();
        record["version"] = env!("CARGO_PKG_VERSION").into();
        record["name"] = data.as_str().into();
        if let Some(n) = all {
            record["sample"] = json!({"n_used": account.rows, "n": n});
        }
        print_json(&record)?;
    } else {
        print(&text(data, &account, all, console.is_verbose()))?;
    }
    match &args.report {
        Some(path) => report::write(path, &inspect_page(data, &account, &report::command()), console),
        None => Ok(()),
    }
}

fn text(data: &str, account: &Account, all: Option<usize>, verbose: bool) -> String {
    let n = account.columns.len();
    let shown = if verbose { n } else { n.min(SHOWN) };
    let rows = account.columns[..shown].iter().map(|column| {
        vec![
            column.name.clone(),
            column.kind.to_string(),
            column.used_as(),
            column.n_missing.to_string(),
            column.n_distinct.map_or(String::new(), |n| n.to_string()),
            values(column),
        ]
    });
    let header = ["column", "type", "used as", "missing", "distinct", "values"];
    let of_all = all.map_or(String::new(), |n| format!(" of {n}"));
    let mut text = format!("{data}: {}{of_all} rows, {n} columns\n\n", account.rows);
    text += &listing(&header, rows.collect(), &[3, 4]);
    if shown < n {
        text += &format!(" ... and {} more, with -v\n", n - shown);
    }
    text += "\n";
    account.lines().into_iter().fold(text, |text, line| text + &line + "\n")
}

/// The values of a column: a range, the most frequent levels, or examples.
fn values(column: &ColumnAccount) -> String {
    let n_distinct = column.n_distinct.unwrap_or(0);
    let shortened = |mut shown: Vec<String>| {
        if n_distinct > shown.len() {
            shown.push("...".into());
        }
        shown.join(", ")
    };
    if let Some(range) = column.range.as_ref().filter(|_| column.action != Action::Id) {
        let [min, median, max] = [&range.min, &range.median, &range.max].map(scalar);
        if min == max {
            return min;
        }
        return format!("{min} to {max}, median {median}");
    }
    if column.levels.is_empty() || n_distinct > MAX_LEVELS {
        return shortened(column.examples.clone());
    }
    shortened(column.levels.iter().map(|(level, count)| format!("{level} ({count})")).collect())
}

fn scalar(value: &Scalar) -> String {
    match value {
        Scalar::Number(value) if value.fract() == 0.0 && value.abs() < 1e12 => value.to_string(),
        Scalar::Number(value) => number(*value),
        Scalar::Date(text) => text.clone(),
    }
}
