//! Mean ranks of methods over several tables.

use super::planned::{Planned, Results};
use super::text::{describe, title};
use crate::args::{CompareArgs, TableArgs};
use crate::commands::report;
use crate::console::Console;
use crate::failure::Failure;
use crate::output::{number, print, print_json, table};
use kernsift::evaluate::{MeanRanks, Metric, Summary};
use kernsift::{Context, Observer};
use kernsift_report::ranks_page;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Tables per block of scores.
const BLOCK: usize = 6;

/// Compares methods on several tables and ranks them.
pub fn run(args: &CompareArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let names: Vec<&String> = std::iter::once(&args.table.data).chain(&args.more).collect();
    check_names(&names, args)?;
    let mut planned = vec![];
    for name in names {
        let table = TableArgs { data: name.clone(), ..args.table.clone() };
        let record = args.record.as_deref().map(|record| record_path(record, name));
        planned.push(Planned::new(args, table, record, ctx, console).map_err(|e| named(e, name))?);
    }
    check_tables(&planned, args)?;
    planned.iter().try_for_each(|one| one.check(args, ctx).map_err(|e| named(e, &one.loaded.name)))?;
    keep_common(&mut planned, console)?;
    let mut done = vec![];
    for one in &planned {
        console.inform(&format!("{}:", one.loaded.name));
        done.push(one.run(args, ctx, console).map_err(|e| named(e, &one.loaded.name))?);
    }
    let summaries: Vec<(String, &Summary)> =
        planned.iter().zip(&done).map(|(one, done)| (one.loaded.name.clone(), done.last())).collect();
    let ranks = MeanRanks::of(&summaries)?;
    for missing in &ranks.left_out {
        let what = missing.method.as_ref().map_or("all methods", |label| label.as_str());
        console.warn(&format!("{what} without rank: no score in {}: {}", missing.table, missing.why));
    }
    if args.json {
        print_json(&record(&planned, &done, &ranks, ctx))?;
    } else {
        for (one, results) in planned.iter().zip(&done).filter(|_| console.is_verbose()) {
            print(&(describe(one, args, results, true) + "\n"))?;
        }
        print(&text(&ranks))?;
    }
    if let Some(path) = &args.report {
        let title = format!("Methods on {} tables", ranks.tables.len());
        report::write(path, &ranks_page(&ranks, &title, &report::command()), console)?;
    }
    Ok(())
}

/// Returns an error for tables that are given twice, and for options of single tables.
fn check_names(names: &[&String], args: &CompareArgs) -> Result<(), Failure> {
    let mut known = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !known.insert(**name)) {
        return Err(Failure::Input(format!("{twice} is given twice; ranks need different tables")));
    }
    if args.table.reading.labels.is_some() {
        return Err(Failure::Input("--labels is for one table; join it to each table before".into()));
    }
    let Some(record) = &args.record else { return Ok(()) };
    let mut paths = BTreeSet::new();
    match names.iter().find(|name| !paths.insert(record_path(record, name))) {
        Some(name) => Err(Failure::Input(format!(
            "--record: two tables would share {}; rename one of them",
            record_path(record, name).display()
        ))),
        None => Ok(()),
    }
}

/// The record of a table: `runs.wine.jsonl` for `runs.jsonl` and `data/wine.csv.gz`.
fn record_path(record: &Path, table: &str) -> PathBuf {
    let name = table.strip_prefix("builtin:").unwrap_or(table);
    let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("table");
    record.with_extension(match record.extension() {
        Some(extension) => format!("{stem}.{}", extension.to_string_lossy()),
        None => stem.to_owned(),
    })
}

/// Returns an error for tables with different scores, and for files that cannot be written.
fn check_tables(planned: &[Planned], args: &CompareArgs) -> Result<(), Failure> {
    let first = &planned[0];
    if let Some(other) = planned.iter().find(|other| other.measure != first.measure) {
        return Err(Failure::Input(format!(
            "tables need targets of one kind: the score of {} is {}, and of {} {}; see --target and --target-type",
            first.loaded.name,
            first.measure.name(),
            other.loaded.name,
            other.measure.name()
        )));
    }
    let inputs: Vec<&Path> = planned.iter().flat_map(|one| one.loaded.files()).collect();
    planned.iter().try_for_each(|one| one.check_outputs(args.report.as_deref(), &inputs))
}

/// Keeps the methods that all tables have: the default methods depend on the table.
fn keep_common(planned: &mut [Planned], console: &Console) -> Result<(), Failure> {
    let labels = |one: &Planned| one.compare.candidates.iter().map(|c| c.label.clone()).collect();
    let all: Vec<BTreeSet<String>> = planned.iter().map(labels).collect();
    let common = all.iter().skip(1).fold(all[0].clone(), |common, of| &common & of);
    let others: BTreeSet<&String> = all.iter().flatten().filter(|label| !common.contains(*label)).collect();
    if !others.is_empty() {
        let names: Vec<&str> = others.into_iter().map(String::as_str).collect();
        console.inform(&format!("not for all tables, and left out: {}", names.join(", ")));
    }
    if common.len() < 2 {
        return Err(Failure::Input("ranks need at least two methods; name them with -m".into()));
    }
    planned.iter_mut().for_each(|one| one.compare.candidates.retain(|c| common.contains(&c.label)));
    Ok(())
}

/// A failure that names its table.
fn named(failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Input(text) if !text.contains(name) => Failure::Input(format!("{name}: {text}")),
        other => other,
    }
}

fn record(planned: &[Planned], done: &[Results], ranks: &MeanRanks, ctx: &Context) -> Value {
    let tables =
        planned.iter().zip(done).map(|(one, results)| one.loaded.record("compare", ctx, one.fields(results)));
    json!({
        "command": "compare",
        "version": env!("CARGO_PKG_VERSION"),
        "seed": ctx.seed,
        "tables": tables.collect::<Vec<_>>(),
        "ranks": ranks,
    })
}

fn text(ranks: &MeanRanks) -> String {
    let mut text = format!(
        "mean ranks of {} methods over {} tables, by {}, the mean over the numbers of features\n",
        ranks.methods.len(),
        ranks.tables.len(),
        title(&ranks.measure)
    );
    let indices: Vec<usize> = (0..ranks.tables.len()).collect();
    for block in indices.chunks(BLOCK) {
        let header: Vec<&str> = ["method", "mean rank"]
            .into_iter()
            .chain(block.iter().map(|&at| ranks.tables[at].name.as_str()))
            .collect();
        let rows = ranks.methods.iter().map(|method| {
            let scores = block.iter().map(|&at| score(method.scores[at], &ranks.measure));
            [method.label.clone(), format!("{:.2}", method.mean_rank)].into_iter().chain(scores).collect()
        });
        text += &format!("\n{}", table(&header, rows.collect(), &(1..header.len()).collect::<Vec<_>>()));
    }
    text + "\n" + &tests(ranks)
}

/// The result of both tests.
fn tests(ranks: &MeanRanks) -> String {
    let (n, k) = (ranks.tables.len(), ranks.methods.len());
    let p = if ranks.p_value < 0.001 { "p < 0.001".into() } else { format!("p = {:.3}", ranks.p_value) };
    let f = ranks.f.map_or("infinite".into(), number);
    let mut text = format!(
        " Friedman test: F {f} with {} and {} degrees of freedom, {p}\n critical difference of mean ranks \
         (Nemenyi, 0.05): {:.2}\n",
        k - 1,
        (k - 1) * (n - 1),
        ranks.critical_difference
    );
    if !ranks.is_significant() {
        return text + " no method is significantly better than another\n";
    }
    for group in &ranks.groups {
        text += &format!(" no significant difference: {}\n", group.join(", "));
    }
    text
}

fn score(value: f64, metric: &Metric) -> String {
    if metric.is_fraction() { format!("{:.1}", 100.0 * value) } else { number(value) }
}
