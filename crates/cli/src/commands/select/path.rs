//! The path of a selection: as a table of a page, as a file, as part of a record.

use super::SHOWN;
use crate::failure::Failure;
use crate::output::{number, table};
use kernsift::data::Column;
use kernsift::data::write::{WriteOptions, write_table};
use kernsift::select::{HsfsForm, PathPoint, SelectorMethod};
use kernsift::{Context, Selection};
use ndarray::Array2;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Columns that are named in a line of the page.
const NAMED: usize = 4;

/// Writes the path, a line per place and column; a place without columns has one line with empty cells.
pub fn write(
    path: &Path,
    points: &[PathPoint],
    names: &[String],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<(), Failure> {
    struct Line<'a> {
        place: usize,
        point: &'a PathPoint,
        rank: Option<usize>,
    }
    let mut lines = vec![];
    for (place, point) in points.iter().enumerate() {
        if point.columns.is_empty() {
            lines.push(Line { place, point, rank: None });
        }
        lines.extend((0..point.columns.len()).map(|rank| Line { place, point, rank: Some(rank) }));
    }
    let numeric =
        |name: &str, value: &dyn Fn(&Line) -> f64| Column::numeric(name, lines.iter().map(value).collect());
    let stops: Vec<String> = lines.iter().map(|line| word(&line.point.stop)).collect();
    let column = |line: &Line| line.rank.map(|rank| names[line.point.columns[rank]].as_str());
    let columns = [
        numeric("place", &|line| (line.place + 1) as f64),
        numeric("strength", &|line| line.point.strength),
        numeric("objective", &|line| line.point.objective),
        numeric("optimality", &|line| line.point.optimality),
        numeric("iterations", &|line| line.point.iterations as f64),
        Column::text("stop", stops.iter().map(|stop| Some(stop.as_str()))),
        numeric("n_columns", &|line| line.point.columns.len() as f64),
        numeric("rank", &|line| line.rank.map_or(f64::NAN, |rank| (rank + 1) as f64)),
        Column::text("column", lines.iter().map(column)),
        numeric("weight", &|line| line.rank.map_or(f64::NAN, |rank| line.point.weights[rank])),
    ];
    Ok(write_table(path, &[], Array2::zeros((lines.len(), 0)).view(), &columns, options, ctx)?)
}

/// Text stands in a column of the file, which .npy cannot hold.
pub fn check(path: &Path) -> Result<(), Failure> {
    let column = Column::text("column", std::iter::empty());
    Ok(kernsift::data::write::check_table(path, &[column])?)
}

/// A reason to stop, as records spell it.
fn word(stop: &kernsift::Stop) -> String {
    match serde_json::to_value(stop) {
        Ok(Value::String(word)) => word,
        _ => stop.explain().to_owned(),
    }
}

/// The path as part of a record.
pub fn record(points: &[PathPoint], names: &[String]) -> Value {
    let one = |point: &PathPoint| {
        json!({
            "strength": point.strength,
            "objective": point.objective,
            "optimality": point.optimality,
            "iterations": point.iterations,
            "stop": point.stop,
            "columns": point.columns.iter().map(|&j| &names[j]).collect::<Vec<_>>(),
            "weights": point.weights,
        })
    };
    points.iter().map(one).collect()
}

/// The weights of columns that have some, by name; nothing for methods without.
pub fn coef(selection: &Selection, names: &[String]) -> Value {
    let Some(coef) = &selection.coef else { return Value::Null };
    let rows = coef.rows().into_iter().zip(names);
    let kept = rows.filter(|(row, _)| row.iter().any(|w| *w != 0.0));
    kept.map(|(row, name)| (name.clone(), json!(row.to_vec()))).collect::<Map<_, _>>().into()
}

/// The path as a table of a page: some places of it, or all.
pub fn page(method: &SelectorMethod, points: &[PathPoint], names: &[String], everything: bool) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let headings = Headings::of(method);
    let shown = if everything { points.len() } else { points.len().min(SHOWN / 2) };
    let rows = (0..shown).map(|i| {
        // Evenly, from the first to the last.
        let point = &points[i * (points.len() - 1) / (shown - 1)];
        let strength = headings.strength.map(|_| number(point.strength));
        let value = if headings.value == "HSIC" { -point.objective } else { point.objective };
        let named: Vec<&str> = point.columns.iter().take(NAMED).map(|&j| names[j].as_str()).collect();
        let more = if point.columns.len() > NAMED { ", ..." } else { "" };
        let rest = [number(value), point.columns.len().to_string(), named.join(", ") + more];
        strength.into_iter().chain(rest).collect()
    });
    let header: Vec<&str> =
        headings.strength.into_iter().chain([headings.value, "columns", "largest first"]).collect();
    let right: Vec<usize> = (0..header.len() - 1).collect();
    let mut text = format!("\n  {}\n\n{}", headings.title, table(&header, rows.collect(), &right));
    if shown < points.len() {
        text += &format!(" ... {} of {} places; all with -v\n", shown, points.len());
    }
    text
}

/// What the columns of the table are called.
struct Headings {
    title: &'static str,
    /// What holds columns back or lets them in; nothing if it is the number of columns.
    strength: Option<&'static str>,
    value: &'static str,
}

impl Headings {
    fn of(method: &SelectorMethod) -> Self {
        match method {
            SelectorMethod::Hsfs(hsfs) if hsfs.form == HsfsForm::Constrained => Self {
                title: "the path: with a larger radius more columns have a weight",
                strength: Some("radius"),
                value: "HSIC",
            },
            SelectorMethod::Fohsic(_) => {
                Self { title: "the path: dependence as columns join", strength: None, value: "HSIC" }
            }
            SelectorMethod::Bahsic(_) => {
                Self { title: "the path: dependence as columns leave", strength: None, value: "HSIC" }
            }
            _ => Self {
                title: "the path: with a smaller penalty more columns have a weight",
                strength: Some("penalty"),
                value: "objective",
            },
        }
    }
}
