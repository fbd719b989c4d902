//! The page of a basis, and what a selection in kernel space shares with it.

use crate::curve::Curve;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Asked, Page};
use crate::scatter::{DOTS, scatter};
use crate::words;
use kernsift::basis::{Summary, plane};
use kernsift::data::Target;
use kernsift::{Context, Dataset, FeatureMap, Result};
use ndarray::ArrayView2;

/// Rows in kernel space, with what is needed to show them.
pub struct Mapped<'a> {
    /// Their coordinates.
    pub features: ArrayView2<'a, f64>,
    /// The rows as the user counts them.
    pub rows: &'a [usize],
    /// How that is, in words.
    pub counting: &'static str,
}

/// One self-contained page about a basis: its dimension, how the residuals fell and where it stopped, the rows as a map, and
/// the rows that carry it.
pub fn basis_page(
    asked: &Asked,
    data: &Dataset,
    map: &FeatureMap,
    mapped: &Mapped,
    threshold: Option<&[f64]>,
    ctx: &Context,
) -> Result<String> {
    let summary = map.summary();
    let lede = format!(
        "<b>{}</b> finds <strong>{}</strong> in {}; they hold {} % of the kernel's trace. {}.",
        escape(&summary.method),
        words::counted(map.n_components(), "dimension"),
        words::counted(data.n(), "row"),
        words::percent(summary.explained),
        escape(&words::sentence(summary.outcome.stop.explain()))
    );
    let mut page = Page::new(&format!("Kernel space of {}", asked.data), &lede);
    page.section("residuals", "What is left after each dimension", &residuals(summary, threshold));
    let mut facts = asked.facts(data.n(), data.d(), words::target(data.target()));
    facts.extend(of_map(map));
    page.facts(&facts);
    page.section("map", "The rows in kernel space", &picture(mapped, data.target(), ctx)?);
    if has_pivots(summary) {
        page.section("pivots", "The rows that carry it", &pivots(summary, mapped));
    }
    Ok(asked.finish(page))
}

/// What is known of every basis.
pub fn of_map(map: &FeatureMap) -> Vec<(&'static str, String)> {
    let summary = map.summary();
    let bound = summary
        .bound
        .map_or(String::new(), |bound| format!("; at most {} is promised", words::number(bound)));
    vec![
        ("Kernel", map.kernel().describe()),
        ("Reconstruction cost", format!("{}{bound}", words::number(summary.reconstruction_cost))),
    ]
}

/// Principal components and discriminants are made of all rows.
fn has_pivots(summary: &Summary) -> bool {
    summary.pivots.len() == summary.residual_norms.len() && summary.bound.is_some()
}

/// The residual curve with the place where it stopped.
pub fn residuals(summary: &Summary, threshold: Option<&[f64]>) -> String {
    let n = summary.residual_norms.len();
    let up = if has_pivots(summary) { "Residual norm of the row" } else { "Residual norm" };
    let curve = Curve {
        title: "Residual norm against dimension",
        across: "Dimension",
        up,
        values: &summary.residual_norms,
        step: "dimension",
        limit: threshold.map(|values| (values, "the threshold")),
        stop: Some((n, format!("stops at {n}"))),
    };
    let dashed =
        if threshold.is_some() { " The dashed line is the threshold that it is held against." } else { "" };
    let which = if has_pivots(summary) {
        "Before each dimension, how much of the row that adds it was not spanned by those before."
    } else {
        "Before each dimension, how much of a row was not spanned by those before, root mean square."
    };
    format!("<figure>\n{}<figcaption>{which}{dashed}</figcaption>\n</figure>\n", curve.svg())
}

/// The rows as dots.
pub fn picture(mapped: &Mapped, target: &Target, ctx: &Context) -> Result<String> {
    let plane = plane(mapped.features, DOTS, ctx)?;
    let some = if plane.rows.len() < mapped.features.nrows() {
        format!(" {} of {} rows are drawn.", plane.rows.len(), mapped.features.nrows())
    } else {
        String::new()
    };
    Ok(format!(
        "<figure>\n{}<figcaption>The two directions in which the mapped rows vary most.{some}</figcaption>\n</figure>\n",
        scatter(&plane, target, |row| mapped.rows[row])
    ))
}

fn pivots(summary: &Summary, mapped: &Mapped) -> String {
    let heads = vec![Head::number("Dimension"), Head::number("Row"), Head::bar("Residual norm")];
    let pairs = summary.pivots.iter().zip(&summary.residual_norms);
    let lines = pairs.enumerate().map(|(at, (&pivot, &norm))| {
        vec![Cell::Number(at as f64 + 1.0), Cell::Number(mapped.rows[pivot] as f64), Cell::Number(norm)]
    });
    let lines: Vec<_> = lines.collect();
    let kept = lines.len();
    let caption = mapped.counting.to_owned();
    Listing { file: "pivots.csv", caption, heads, rows: lines, kept }.html()
}
