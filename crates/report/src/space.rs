//! The report of a selection of directions in kernel space.

use crate::account;
use crate::basis::{MappedRows, map_facts, residuals, scatter_plot};
use crate::curve::Curve;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::select::Validation;
use crate::text;
use kernsift::{Context, Dataset, KernelSpace, Result};

/// A self-contained HTML page about selected directions of kernel space.
pub fn space_page(
    info: &RunInfo,
    data: &Dataset,
    space: &KernelSpace,
    mapped: &MappedRows,
    validation: &Validation,
    ctx: &Context,
) -> Result<String> {
    let (selection, map) = (space.selection(), space.map());
    let (k, m) = (selection.n_selected, map.n_components());
    let lede = format!(
        "<b>{}</b> selects <strong>{k} of {}</strong> of kernel space.{}",
        escape(space.method()),
        text::counted(m, "direction"),
        validation
            .sentence(k, &format!("all {}, without a kernel space", text::counted(data.d(), "feature")))
    );
    let mut page = Page::new(&format!("Kernel space of {}", info.data), &lede);
    account::open(&mut page, info.account.as_ref());
    page.section("ranking", "Ranking of the directions", &directions(space, mapped));
    let mut facts = info.facts(data.n(), data.d(), text::target(data.target()));
    facts.extend(map_facts(map));
    page.facts(&facts);
    page.section("validation", "Score by number of directions", &validation.html(k, data));
    if selection.curve.len() > 1 {
        let curve = Curve {
            title: "Training error of the vote",
            x_label: "Directions",
            y_label: "Training error",
            values: &selection.curve,
            step: "direction",
            limit: None,
            stop: Some((k, format!("selects {k}"))),
        };
        let caption = "The error on the training rows explains where the search stopped. It does not estimate the error on \
                       new rows.";
        page.section(
            "vote",
            "Training error of the vote",
            &format!("<figure>\n{}<figcaption>{caption}</figcaption>\n</figure>\n", curve.svg()),
        );
    }
    page.section("map", "Rows in the selected subspace", &scatter_plot(mapped, data.target(), ctx)?);
    page.section("residuals", "Residual by number of components", &residuals(map.summary(), None));
    Ok(info.finish(page))
}

/// The directions in order, with their pivot rows if the basis has pivots.
fn directions(space: &KernelSpace, mapped: &MappedRows) -> String {
    let (selection, basis) = (space.selection(), space.map().summary());
    let weights = space.weights();
    let has_pivots = basis.bound.is_some();
    let mut heads = vec![Head::number("Rank"), Head::text("Direction")];
    if has_pivots {
        heads.push(Head::number("Pivot row"));
    }
    heads.push(Head::bar("Weight"));
    let rows = selection.order.iter().enumerate().map(|(rank, &i)| {
        let mut row = vec![Cell::Number(rank as f64 + 1.0), Cell::Text(format!("{}{}", basis.method, i + 1))];
        if has_pivots {
            let pivot = basis.pivots.get(i);
            row.push(pivot.map_or(Cell::Empty, |&pivot| Cell::Number(mapped.row_numbers[pivot] as f64)));
        }
        row.push(Cell::Number(weights[i]));
        row
    });
    let caption = if has_pivots { mapped.numbering.to_owned() } else { String::new() };
    Listing { file: "directions.csv", caption, heads, rows: rows.collect(), selected: selection.n_selected }
        .html()
}
