//! The page of a selection among directions of kernel space.

use crate::basis::{Mapped, of_map, picture, residuals};
use crate::curve::Curve;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Asked, Page};
use crate::select::Check;
use crate::words;
use kernsift::{Context, Dataset, KernelSpace, Result};

/// One self-contained page about directions of kernel space that were selected.
pub fn space_page(
    asked: &Asked,
    data: &Dataset,
    space: &KernelSpace,
    mapped: &Mapped,
    check: &Check,
    ctx: &Context,
) -> Result<String> {
    let (selection, map) = (space.selection(), space.map());
    let (k, m) = (selection.n_selected, map.n_components());
    let lede = format!(
        "<b>{}</b> keeps <strong>{k} of {}</strong> of kernel space.{}",
        escape(space.method()),
        words::counted(m, "direction"),
        check.sentence(k, &format!("all {} as they are", words::counted(data.d(), "column")))
    );
    let mut page = Page::new(&format!("Kernel space of {}", asked.data), &lede);
    page.section("kept", "Directions, best first", &directions(space, mapped));
    let mut facts = asked.facts(data.n(), data.d(), words::target(data.target()));
    facts.extend(of_map(map));
    page.facts(&facts);
    page.section("error", "How many directions are enough", &check.html(k, data));
    if selection.curve.len() > 1 {
        let curve = Curve {
            title: "Error of the vote on the training rows",
            across: "Directions",
            up: "Error of the vote",
            values: &selection.curve,
            step: "direction",
            limit: None,
            stop: Some((k, format!("keeps {k}"))),
        };
        let caption =
            "On the rows it was learned from: it says why the search stopped, not how good it is on others.";
        page.section(
            "vote",
            "The vote on the training rows",
            &format!("<figure>\n{}<figcaption>{caption}</figcaption>\n</figure>\n", curve.svg()),
        );
    }
    page.section("map", "The rows by what is kept", &picture(mapped, data.target(), ctx)?);
    page.section("residuals", "What is left after each dimension", &residuals(map.summary(), None));
    Ok(asked.finish(page))
}

/// The directions in order, each with the row that carries it where there is one.
fn directions(space: &KernelSpace, mapped: &Mapped) -> String {
    let (selection, basis) = (space.selection(), space.map().summary());
    let weights = space.weights();
    let carried = basis.bound.is_some();
    let mut heads = vec![Head::number("Rank"), Head::text("Direction")];
    if carried {
        heads.push(Head::number("Carried by row"));
    }
    heads.push(Head::bar("Weight"));
    let lines = selection.order.iter().enumerate().map(|(rank, &i)| {
        let mut line =
            vec![Cell::Number(rank as f64 + 1.0), Cell::Text(format!("{}{}", basis.method, i + 1))];
        if carried {
            line.push(
                basis.pivots.get(i).map_or(Cell::Empty, |&pivot| Cell::Number(mapped.rows[pivot] as f64)),
            );
        }
        line.push(Cell::Number(weights[i]));
        line
    });
    let caption = if carried { mapped.counting.to_owned() } else { String::new() };
    Listing { file: "directions.csv", caption, heads, rows: lines.collect(), kept: selection.n_selected }
        .html()
}
