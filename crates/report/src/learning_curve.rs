//! The learning curve: scores by number of training rows.

use crate::chart::{By, chart};
use crate::text;
use kernsift::evaluate::{MethodSummary, Summary};

/// Maximum number of figures, one for each number of features.
const MAX_FIGURES: usize = 6;

/// A figure for each of some numbers of features, and the numbers as a table.
pub fn figures(summaries: &[Summary]) -> String {
    let counts = summaries.last().map_or(&[][..], |summary| &summary.counts);
    let n = counts.len();
    let shown: Vec<usize> = match n <= MAX_FIGURES {
        true => (0..n).collect(),
        false => (0..MAX_FIGURES).map(|i| i * (n - 1) / (MAX_FIGURES - 1)).collect(),
    };
    let intro = "<p>Each split is trained on part of its training rows; smaller parts are contained in larger ones. A curve that \
                 still improves at its right end would profit from more rows.</p>\n";
    let figure = |&at: &usize| {
        let drawn = chart(&transposed(summaries, at), By::Rows(counts[at]), None);
        format!(
            "<h3>{}</h3>\n<figure>\n{}</figure>\n{}",
            text::counted(counts[at], "feature"),
            drawn.svg,
            table(summaries, at)
        )
    };
    intro.to_owned() + &shown.iter().map(figure).collect::<String>()
}

/// The scores with the number of features at a position, by number of training rows.
fn transposed(summaries: &[Summary], at: usize) -> Summary {
    let last = &summaries[summaries.len() - 1];
    let method = |(index, method): (usize, &MethodSummary)| MethodSummary {
        cells: summaries.iter().map(|summary| summary.methods[index].cells[at]).collect(),
        ..method.clone()
    };
    Summary {
        counts: summaries.iter().filter_map(|summary| summary.train_rows).collect(),
        methods: last.methods.iter().enumerate().map(method).collect(),
        all_features: None,
        ..last.clone()
    }
}

fn table(summaries: &[Summary], at: usize) -> String {
    let by_rows = transposed(summaries, at);
    let heads: String = by_rows.counts.iter().map(|rows| format!("<th scope=\"col\">{rows}</th>")).collect();
    let rows: String =
        by_rows.methods.iter().map(|method| crate::tables::score_row(method, &by_rows.measure)).collect();
    format!(
        "<div class=\"scroll\"><table class=\"scores narrow\"><caption>{}{}, mean ± standard deviation over splits</caption>\n\
         <thead><tr><th scope=\"col\">Training rows</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        crate::html::escape(text::measure(&by_rows.measure)),
        text::in_unit(&by_rows.measure)
    )
}
