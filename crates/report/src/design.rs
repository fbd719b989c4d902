//! The report of a learned kernel.

use crate::account;
use crate::feature_plots::{self, feature_plots};
use crate::histogram::margins;
use crate::html::escape;
use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::redundancy::redundancy;
use crate::text;
use kernsift::data::Target;
use kernsift::{Context, Dataset, Result};
use serde::{Deserialize, Serialize};

/// A learned kernel and its evaluation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Name of the learner.
    pub method: String,
    /// Why the solver stopped.
    pub status: String,
    /// Score of each feature; 0 if the kernel does not use it.
    pub scores: Vec<f64>,
    /// The kernels with nonzero weight: feature, kernel, weight. Empty for a learner without a mixture.
    pub kernels: Vec<(String, String, f64)>,
    /// Number of base kernels.
    pub n_kernels: usize,
    /// Margins of the training triplets.
    pub margins: Vec<f64>,
    /// Fraction of satisfied training triplets. It is computed by ranks, so that it holds even if margins underflow.
    pub accuracy: f64,
    /// Margins of the held-out triplets under the kernel that was learned without them; may be empty.
    #[serde(default)]
    pub held_out_margins: Vec<f64>,
    /// Fraction of satisfied held-out triplets of each learner, this one first.
    #[serde(default)]
    pub held_out_accuracy: Vec<(String, f64)>,
}

impl Design {
    /// Features that the kernel uses, best first.
    fn selected(&self) -> Vec<usize> {
        let mut selected: Vec<usize> = (0..self.scores.len()).filter(|&j| self.scores[j] > 0.0).collect();
        selected.sort_by(|&a, &b| self.scores[b].total_cmp(&self.scores[a]).then(a.cmp(&b)));
        selected
    }
}

/// A self-contained HTML page about a kernel learned from triplets.
pub fn design_page(info: &RunInfo, data: &Dataset, design: &Design, ctx: &Context) -> Result<String> {
    let selected = design.selected();
    let mut page = Page::new(&format!("Learned kernel for {}", info.data), &lede(data, design, &selected));
    account::open(&mut page, info.account.as_ref());
    page.section("selected", "Features by score", &ranking(data, design, &selected));
    let mut facts = info.facts(data.n(), data.d(), text::target(data.target()));
    facts.push((
        "Training triplets",
        format!("{}; {} % satisfied", design.margins.len(), text::percent(design.accuracy)),
    ));
    page.facts(&facts);
    if !design.kernels.is_empty() {
        page.section("kernels", "Kernels of the mixture", &kernels(design));
    }
    if design.held_out_accuracy.len() > 1 {
        page.section("baselines", "Comparison with baselines", &baselines(design));
    }
    page.section("margins", "Margins of the triplets", &margins_html(design));
    if !selected.is_empty() && !matches!(data.target(), Target::None) {
        let plots = feature_plots(data, &selected, info.account.as_ref());
        page.section("target", feature_plots::heading(data.target()), &plots);
    }
    if let Some(map) = redundancy(data, &selected, ctx)? {
        page.section("redundancy", "Redundancy of the features", &map);
    }
    Ok(info.finish(page))
}

fn lede(data: &Dataset, design: &Design, selected: &[usize]) -> String {
    let names: Vec<&str> = selected.iter().map(|&j| data.names()[j].as_str()).collect();
    let features = if selected.len() == data.d() && selected.len() > 8 {
        "all features".to_owned()
    } else if selected.is_empty() {
        "no features".to_owned()
    } else {
        text::listed(&names, 8)
    };
    let held_out = design.held_out_accuracy.first().map_or(String::new(), |(_, accuracy)| {
        format!(" It satisfies <strong>{} %</strong> of held-out triplets.", text::percent(*accuracy))
    });
    format!(
        "<b>{}</b> learns a kernel that uses {features}.{held_out} {}.",
        escape(&design.method),
        escape(&text::sentence(&design.status))
    )
}

fn ranking(data: &Dataset, design: &Design, selected: &[usize]) -> String {
    let unused = (0..data.d()).filter(|&j| design.scores[j] <= 0.0);
    let rows = selected.iter().copied().chain(unused).enumerate().map(|(rank, j)| {
        vec![
            Cell::Number(rank as f64 + 1.0),
            Cell::Text(data.names()[j].clone()),
            Cell::Number(design.scores[j]),
        ]
    });
    let heads = vec![Head::number("Rank"), Head::text("Feature"), Head::bar("Score")];
    let caption = "Scores are relative to the largest.".to_owned();
    Listing { file: "features.csv", caption, heads, rows: rows.collect(), selected: selected.len() }.html()
}

fn kernels(design: &Design) -> String {
    let rows = design.kernels.iter().map(|(feature, kernel, weight)| {
        vec![Cell::Text(feature.clone()), Cell::Text(kernel.clone()), Cell::Number(*weight)]
    });
    let rows: Vec<_> = rows.collect();
    let caption = format!("{} of {} kernels have a nonzero weight.", rows.len(), design.n_kernels);
    let heads = vec![Head::text("Feature"), Head::text("Kernel"), Head::bar("Weight")];
    let selected = rows.len();
    Listing { file: "kernels.csv", caption, heads, rows, selected }.html()
}

fn baselines(design: &Design) -> String {
    let rows = design
        .held_out_accuracy
        .iter()
        .map(|(name, accuracy)| vec![Cell::Text(name.clone()), Cell::Number(100.0 * accuracy)]);
    let heads = vec![Head::text("Learner"), Head::bar("Satisfied held-out triplets, %")];
    let caption = "None of these triplets was used for training.".to_owned();
    Listing { file: "learners.csv", caption, heads, rows: rows.collect(), selected: 1 }.html()
}

fn margins_html(design: &Design) -> String {
    let figure = |values: &[f64], accuracy: f64, which: &str| {
        format!(
            "<figure>\n{}<figcaption>{which}: {}, {} % satisfied.</figcaption>\n</figure>\n",
            margins(values),
            text::counted(values.len(), "triplet"),
            text::percent(accuracy)
        )
    };
    let mut html = String::from(
        "<p>A triplet (i, j, k) states that i is more similar to j than to k. Its margin is k(i, j) − k(i, k); it is satisfied if the margin is \
         positive.</p>\n",
    );
    html += &figure(&design.margins, design.accuracy, "Training triplets");
    if let (false, Some((_, accuracy))) =
        (design.held_out_margins.is_empty(), design.held_out_accuracy.first())
    {
        html +=
            &figure(&design.held_out_margins, *accuracy, "Held-out triplets (kernel learned without them)");
    }
    html
}
