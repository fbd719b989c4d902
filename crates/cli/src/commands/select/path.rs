//! The regularization or search path of a selection.

use crate::failure::Failure;
use crate::output::{SHOWN, number, table};
use kernsift::data::Column;
use kernsift::data::write::{WriteOptions, write_table};
use kernsift::select::{HsfsForm, PathPoint, SelectorMethod};
use kernsift::{Context, Selection};
use ndarray::Array2;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Features that are named in a row of the printed table.
const NAMED: usize = 4;

/// Writes the path, a line per step and feature; a step without features has one line with missing values.
pub fn write(
    path: &Path,
    points: &[PathPoint],
    names: &[String],
    options: &WriteOptions,
    ctx: &Context,
) -> Result<(), Failure> {
    struct Line<'a> {
        step: usize,
        point: &'a PathPoint,
        rank: Option<usize>,
    }
    let mut lines = vec![];
    for (step, point) in points.iter().enumerate() {
        if point.features.is_empty() {
            lines.push(Line { step, point, rank: None });
        }
        lines.extend((0..point.features.len()).map(|rank| Line { step, point, rank: Some(rank) }));
    }
    let numeric =
        |name: &str, value: &dyn Fn(&Line) -> f64| Column::numeric(name, lines.iter().map(value).collect());
    let stops: Vec<String> = lines.iter().map(|line| name(&line.point.stop)).collect();
    let feature = |line: &Line| line.rank.map(|rank| names[line.point.features[rank]].as_str());
    let columns = [
        numeric("step", &|line| (line.step + 1) as f64),
        numeric("strength", &|line| line.point.strength),
        numeric("objective", &|line| line.point.objective),
        numeric("optimality", &|line| line.point.optimality),
        numeric("iterations", &|line| line.point.iterations as f64),
        Column::text("stop", stops.iter().map(|stop| Some(stop.as_str()))),
        numeric("n_features", &|line| line.point.features.len() as f64),
        numeric("rank", &|line| line.rank.map_or(f64::NAN, |rank| (rank + 1) as f64)),
        Column::text("feature", lines.iter().map(feature)),
        numeric("weight", &|line| line.rank.map_or(f64::NAN, |rank| line.point.weights[rank])),
    ];
    Ok(write_table(path, &[], Array2::zeros((lines.len(), 0)).view(), &columns, options, ctx)?)
}

/// Returns an error for a path that cannot be written, such as .npy, which has no text columns.
pub fn check(path: &Path) -> Result<(), Failure> {
    let feature = Column::text("feature", std::iter::empty());
    Ok(kernsift::data::write::check_table(path, &[feature])?)
}

/// The name of a stopping reason in records.
fn name(stop: &kernsift::Stop) -> String {
    match serde_json::to_value(stop) {
        Ok(Value::String(name)) => name,
        _ => stop.explain().to_owned(),
    }
}

/// The path in a JSON record.
pub fn record(points: &[PathPoint], names: &[String]) -> Value {
    let one = |point: &PathPoint| {
        json!({
            "strength": point.strength,
            "objective": point.objective,
            "optimality": point.optimality,
            "iterations": point.iterations,
            "stop": point.stop,
            "features": point.features.iter().map(|&j| &names[j]).collect::<Vec<_>>(),
            "weights": point.weights,
        })
    };
    points.iter().map(one).collect()
}

/// The nonzero weights by feature; null for methods without weights.
pub fn coef(selection: &Selection, names: &[String]) -> Value {
    let Some(coef) = &selection.coef else { return Value::Null };
    let rows = coef.rows().into_iter().zip(names);
    let kept = rows.filter(|(row, _)| row.iter().any(|w| *w != 0.0));
    kept.map(|(row, name)| (name.clone(), json!(row.to_vec()))).collect::<Map<_, _>>().into()
}

/// The printed table: some steps of the path, or all with `verbose`.
pub fn table_of(method: &SelectorMethod, points: &[PathPoint], names: &[String], verbose: bool) -> String {
    if points.len() < 2 {
        return String::new();
    }
    let headings = Headings::of(method);
    let shown = if verbose { points.len() } else { points.len().min(SHOWN / 2) };
    let rows = (0..shown).map(|i| {
        // Evenly spaced, with the first and the last.
        let point = &points[i * (points.len() - 1) / (shown - 1)];
        let strength = headings.strength.map(|_| number(point.strength));
        let value = if headings.value == "HSIC" { -point.objective } else { point.objective };
        let named: Vec<&str> = point.features.iter().take(NAMED).map(|&j| names[j].as_str()).collect();
        let more = if point.features.len() > NAMED { ", ..." } else { "" };
        let rest = [number(value), point.features.len().to_string(), named.join(", ") + more];
        strength.into_iter().chain(rest).collect()
    });
    let header: Vec<&str> =
        headings.strength.into_iter().chain([headings.value, "features", "largest weights"]).collect();
    let right: Vec<usize> = (0..header.len() - 1).collect();
    let mut text = format!("\n  {}\n\n{}", headings.title, table(&header, rows.collect(), &right));
    if shown < points.len() {
        text += &format!(" ... {} of {} steps; all with -v\n", shown, points.len());
    }
    text
}

/// Title and headers of the printed table.
struct Headings {
    title: &'static str,
    /// The parameter that varies along the path; none if it is the number of features.
    strength: Option<&'static str>,
    value: &'static str,
}

impl Headings {
    fn of(method: &SelectorMethod) -> Self {
        match method {
            SelectorMethod::Hsfs(hsfs) if hsfs.form == HsfsForm::Constrained => Self {
                title: "path: a larger radius gives more features a nonzero weight",
                strength: Some("radius"),
                value: "HSIC",
            },
            SelectorMethod::Fohsic(_) => {
                Self { title: "path: HSIC as features are added", strength: None, value: "HSIC" }
            }
            SelectorMethod::Nca(_) => Self {
                title: "path: leave-one-out loss as features are added",
                strength: None,
                value: "loss",
            },
            SelectorMethod::Bahsic(_) => {
                Self { title: "path: HSIC as features are removed", strength: None, value: "HSIC" }
            }
            _ => Self {
                title: "path: a smaller penalty gives more features a nonzero weight",
                strength: Some("penalty"),
                value: "objective",
            },
        }
    }
}
