//! The page of a learned kernel.

use crate::histogram::margins;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Asked, Page};
use crate::redundancy::redundancy;
use crate::relations::{self, relations};
use crate::words;
use kernsift::data::Target;
use kernsift::{Context, Dataset, Result};
use serde::{Deserialize, Serialize};

/// What was learned, as a page tells it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// The learner.
    pub method: String,
    /// How it ended.
    pub ending: String,
    /// How much each column counts; 0 for those that play no part.
    pub scores: Vec<f64>,
    /// The kernels of the mixture that have a weight: the column that each sees, what it is, the weight. Empty for a learner without
    /// a mixture.
    pub kernels: Vec<(String, String, f64)>,
    /// How many kernels there were to choose from.
    pub candidates: usize,
    /// How much more like its near row than its far row each triple's row is, of those it was learned from.
    pub margins: Vec<f64>,
    /// The share of them that are in order, told by ranks where margins are too small for a number.
    pub fits: f64,
    /// The margins of held-out triples, by the kernel that was learned without them; empty where there are none.
    #[serde(default)]
    pub held_out_margins: Vec<f64>,
    /// Shares of held-out triples that each learner has in order, the one asked for first.
    #[serde(default)]
    pub judged: Vec<(String, f64)>,
}

impl Design {
    /// Columns that play a part, best first.
    fn kept(&self) -> Vec<usize> {
        let mut kept: Vec<usize> = (0..self.scores.len()).filter(|&j| self.scores[j] > 0.0).collect();
        kept.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]).then(a.cmp(&b)));
        kept
    }
}

/// One self-contained page about a kernel that was learned from triples.
pub fn design_page(asked: &Asked, data: &Dataset, design: &Design, ctx: &Context) -> Result<String> {
    let kept = design.kept();
    let names: Vec<&str> = kept.iter().map(|&j| data.names()[j].as_str()).collect();
    let which = if kept.len() == data.d() && kept.len() > 8 {
        "all columns".to_owned()
    } else if kept.is_empty() {
        "no column".to_owned()
    } else {
        words::listed(&names, 8)
    };
    let judged = design.judged.first().map_or(String::new(), |(_, share)| {
        format!(
            " Learned without them, it has <strong>{} %</strong> of held-out triples in order.",
            words::percent(*share)
        )
    });
    let lede = format!(
        "<b>{}</b> learns a kernel that looks at {which}.{judged} {}.",
        escape(&design.method),
        escape(&words::sentence(&design.ending))
    );
    let mut page = Page::new(&format!("A kernel for {}", asked.data), &lede);
    page.section("kept", "Columns, best first", &columns(data, design, &kept));
    let mut facts = asked.facts(data.n(), data.d(), words::target(data.target()));
    facts.push((
        "Triples",
        format!("{}; {} % of them in order", design.margins.len(), words::percent(design.fits)),
    ));
    page.facts(&facts);
    if !design.kernels.is_empty() {
        page.section("kernels", "Kernels of the mixture", &kernels(design));
    }
    if design.judged.len() > 1 {
        page.section("judged", "Beside other kernels", &judged_table(design));
    }
    page.section("margins", "Margins of the triples", &margins_html(design));
    if !kept.is_empty() && !matches!(data.target(), Target::None) {
        page.section("target", relations::heading(data.target()), &relations(data, &kept));
    }
    if let Some(map) = redundancy(data, &kept, ctx)? {
        page.section("redundancy", "How far they repeat each other", &map);
    }
    Ok(asked.finish(page))
}

fn columns(data: &Dataset, design: &Design, kept: &[usize]) -> String {
    let dropped = (0..data.d()).filter(|&j| design.scores[j] <= 0.0);
    let rows = kept.iter().copied().chain(dropped).enumerate().map(|(rank, j)| {
        vec![
            Cell::Number(rank as f64 + 1.0),
            Cell::Text(data.names()[j].clone()),
            Cell::Number(design.scores[j]),
        ]
    });
    let heads = vec![Head::number("Rank"), Head::text("Column"), Head::bar("Score")];
    let caption = "Scores are against the column that counts most.".to_owned();
    Listing { file: "columns.csv", caption, heads, rows: rows.collect(), kept: kept.len() }.html()
}

fn kernels(design: &Design) -> String {
    let rows = design.kernels.iter().map(|(column, kernel, weight)| {
        vec![Cell::Text(column.clone()), Cell::Text(kernel.clone()), Cell::Number(*weight)]
    });
    let rows: Vec<_> = rows.collect();
    let caption = format!("{} of {} kernels have a weight.", rows.len(), design.candidates);
    let heads = vec![Head::text("Column"), Head::text("Kernel"), Head::bar("Weight")];
    let kept = rows.len();
    Listing { file: "kernels.csv", caption, heads, rows, kept }.html()
}

fn judged_table(design: &Design) -> String {
    let rows =
        design.judged.iter().map(|(name, share)| vec![Cell::Text(name.clone()), Cell::Number(100.0 * share)]);
    let heads = vec![Head::text("Learner"), Head::bar("Held-out triples in order, %")];
    let caption = "Triples that none of them was learned from.".to_owned();
    Listing { file: "learners.csv", caption, heads, rows: rows.collect(), kept: 1 }.html()
}

fn margins_html(design: &Design) -> String {
    let figure = |values: &[f64], fits: f64, what: &str| {
        format!(
            "<figure>\n{}<figcaption>{what}: {}, {} % in order.</figcaption>\n</figure>\n",
            margins(values),
            words::counted(values.len(), "triple"),
            words::percent(fits)
        )
    };
    let mut html = String::from(
        "<p>For a triple that says \"i is more like j than k\": the kernel of i and j less that of i and k. What lies below zero is out of order.</p>\n",
    );
    html += &figure(&design.margins, design.fits, "Triples it was learned from");
    if let (false, Some((_, share))) = (design.held_out_margins.is_empty(), design.judged.first()) {
        html +=
            &figure(&design.held_out_margins, *share, "Held-out triples, by the kernel learned without them");
    }
    html
}
