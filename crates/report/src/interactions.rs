//! The report of an interaction screen.

use crate::listing::{Cell, Head, Listing};
use crate::page::{Page, RunInfo};
use crate::pair_plots::pair_plots;
use crate::{account, text};
use kernsift::Dataset;
use kernsift::interactions::Interactions;

/// A self-contained HTML page about pairs of features: ranking, plots of the best pairs against the target, and the command.
/// `alpha` is the significance level.
pub fn interactions_page(info: &RunInfo, data: &Dataset, found: &Interactions, alpha: f64) -> String {
    let mut page = Page::new(&format!("Interactions in {}", info.data), &lede(data, found));
    account::open(&mut page, info.account.as_ref());
    if !found.pairs.is_empty() {
        page.section("ranking", "Pairs", &ranking(data, found, alpha));
    }
    page.facts(&info.facts(data.n(), data.d(), text::target(data.target())));
    if !found.pairs.is_empty() {
        // The significant ones, or the first if there is none.
        let drawn = &found.pairs[..found.n_significant.max(1)];
        page.section("plots", "Plots of the best pairs", &pair_plots(data, drawn));
    }
    info.finish(page)
}

fn lede(data: &Dataset, found: &Interactions) -> String {
    let all = text::counted(found.n_all_pairs, "pair");
    match (found.n_significant, found.pairs.first()) {
        (0, None) => format!("No pair of features to test among {all}."),
        (0, Some(best)) => format!(
            "No pair among {all} predicts the target better than its features alone (smallest <span>q-value {}</span>).",
            text::number(best.q_value)
        ),
        (n, _) => {
            let name = |j: usize| data.names()[j].as_str();
            let pairs: Vec<String> = found.pairs[..n]
                .iter()
                .map(|pair| format!("{} × {}", name(pair.features.0), name(pair.features.1)))
                .collect();
            let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
            let verb = if n == 1 {
                "predicts the target better than its"
            } else {
                "predict the target better than their"
            };
            let least = if n == found.pairs.len() { "At least " } else { "" };
            format!("{least}{n} of {all} {verb} features alone: {}.", text::listed(&pairs, 5))
        }
    }
}

/// All reported pairs, in order.
fn ranking(data: &Dataset, found: &Interactions, alpha: f64) -> String {
    let heads = vec![
        Head::number("Rank"),
        Head::text("Feature"),
        Head::text("Feature"),
        Head::bar("Beyond single features"),
        Head::number("p-value"),
        Head::number("q-value"),
    ];
    let rows = found.pairs.iter().enumerate().map(|(rank, pair)| {
        vec![
            Cell::Number((rank + 1) as f64),
            Cell::Text(data.names()[pair.features.0].clone()),
            Cell::Text(data.names()[pair.features.1].clone()),
            Cell::Number(pair.beyond),
            Cell::Number(pair.p_value),
            Cell::Number(pair.q_value),
        ]
    });
    let effects: Vec<&str> = found.main_effects.iter().map(|&j| data.names()[j].as_str()).collect();
    let effects = match effects.as_slice() {
        [] => String::new(),
        names => format!(
            " Effects of single features were removed from the target first: {}.",
            text::listed(names, 8)
        ),
    };
    let table = Listing {
        file: "interactions.csv",
        caption: String::new(),
        heads,
        rows: rows.collect(),
        selected: found.n_significant,
    };
    format!(
        "<p>The p-value is that of what products of functions of the two features explain beyond functions of each alone. The q-value is the p-value \
         adjusted for all {} pairs: pairs with a q-value of at most {alpha} are significant.{effects}</p>\n{}",
        found.n_all_pairs,
        table.html()
    )
}
