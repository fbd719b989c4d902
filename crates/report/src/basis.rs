//! The report of a basis, and the parts that it shares with the report of a kernel-space selection.

use crate::account;
use crate::curve::Curve;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::scatter::{MAX_POINTS, scatter};
use crate::text;
use kernsift::basis::{Summary, plane};
use kernsift::data::Target;
use kernsift::{Context, Dataset, FeatureMap, Result};
use ndarray::ArrayView2;

/// Rows mapped to kernel space.
pub struct MappedRows<'a> {
    /// Coordinates, one row per row of the data.
    pub coordinates: ArrayView2<'a, f64>,
    /// Row numbers as the user counts them.
    pub row_numbers: &'a [usize],
    /// An explanation of the row numbers.
    pub numbering: &'static str,
}

/// A self-contained HTML page about a basis: number of components, residuals, a scatter plot of the rows, and the pivots.
pub fn basis_page(
    info: &RunInfo,
    data: &Dataset,
    map: &FeatureMap,
    mapped: &MappedRows,
    threshold: Option<&[f64]>,
    ctx: &Context,
) -> Result<String> {
    let summary = map.summary();
    let lede = format!(
        "<b>{}</b> finds <strong>{}</strong> in {}, which explain {} % of the trace of the kernel matrix. {}.",
        escape(&summary.method),
        text::counted(map.n_components(), "component"),
        text::counted(data.n(), "row"),
        text::percent(summary.explained),
        escape(&text::sentence(summary.outcome.stop.explain()))
    );
    let mut page = Page::new(&format!("Kernel space of {}", info.data), &lede);
    account::open(&mut page, info.account.as_ref());
    page.section("residuals", "Residual by number of components", &residuals(summary, threshold));
    let mut facts = info.facts(data.n(), data.d(), text::target(data.target()));
    facts.extend(map_facts(map));
    page.facts(&facts);
    page.section("map", "Rows in kernel space", &scatter_plot(mapped, data.target(), ctx)?);
    if has_pivots(summary) {
        page.section("pivots", "Pivot rows", &pivots(summary, mapped));
    }
    Ok(info.finish(page))
}

/// The facts of every basis.
pub fn map_facts(map: &FeatureMap) -> Vec<(&'static str, String)> {
    let summary = map.summary();
    let bound = summary.bound.map_or(String::new(), |bound| format!("; upper bound {}", text::number(bound)));
    vec![
        ("Kernel", map.kernel().describe()),
        ("Reconstruction cost", format!("{}{bound}", text::number(summary.reconstruction_cost))),
    ]
}

/// False for principal components and discriminants, which combine all rows.
fn has_pivots(summary: &Summary) -> bool {
    summary.pivots.len() == summary.residual_norms.len() && summary.bound.is_some()
}

/// The residual norms, the threshold, and where the method stopped.
pub fn residuals(summary: &Summary, threshold: Option<&[f64]>) -> String {
    let n = summary.residual_norms.len();
    let y_label = if has_pivots(summary) { "Residual norm of the pivot" } else { "Residual norm" };
    let curve = Curve {
        title: "Residual norm by number of components",
        x_label: "Component",
        y_label,
        values: &summary.residual_norms,
        step: "component",
        limit: threshold.map(|values| (values, "the threshold")),
        stop: Some((n, format!("stops at {n}"))),
    };
    let dashed = if threshold.is_some() { " The dashed line is the stopping threshold." } else { "" };
    let explanation = if has_pivots(summary) {
        "Norm of the part of each pivot row that the components before it do not span."
    } else {
        "Root mean square norm of the part of the rows that the components before it do not span."
    };
    format!("<figure>\n{}<figcaption>{explanation}{dashed}</figcaption>\n</figure>\n", curve.svg())
}

/// A scatter plot of the rows on their first two principal components.
pub fn scatter_plot(mapped: &MappedRows, target: &Target, ctx: &Context) -> Result<String> {
    let plane = plane(mapped.coordinates, MAX_POINTS, ctx)?;
    let sampled = if plane.rows.len() < mapped.coordinates.nrows() {
        format!(" A random sample of {} of {} rows.", plane.rows.len(), mapped.coordinates.nrows())
    } else {
        String::new()
    };
    Ok(format!(
        "<figure>\n{}<figcaption>First two principal components of the mapped rows.{sampled}</figcaption>\n</figure>\n",
        scatter(&plane, target, |row| mapped.row_numbers[row])
    ))
}

fn pivots(summary: &Summary, mapped: &MappedRows) -> String {
    let heads = vec![Head::number("Component"), Head::number("Row"), Head::bar("Residual norm")];
    let pairs = summary.pivots.iter().zip(&summary.residual_norms);
    let rows: Vec<_> = pairs
        .enumerate()
        .map(|(at, (&pivot, &norm))| {
            let row = mapped.row_numbers[pivot] as f64;
            vec![Cell::Number(at as f64 + 1.0), Cell::Number(row), Cell::Number(norm)]
        })
        .collect();
    let selected = rows.len();
    let caption = mapped.numbering.to_owned();
    Listing { file: "pivots.csv", caption, heads, rows, selected }.html()
}
