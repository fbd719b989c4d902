//! Scores with their marks, costs, failures.

use crate::html::{breakable, escape};
use crate::words;
use kernsift::error::bytes;
use kernsift::evaluate::{Cell, Summary};

/// Numbers of features in one table, so that it fits a page.
const BLOCK: usize = 8;
/// Tables with fewer are not stretched.
const NARROW: usize = 6;

/// Mean and spread of every method with every number of features.
pub fn scores(summary: &Summary) -> String {
    let places: Vec<usize> = (0..summary.counts.len()).collect();
    places.chunks(BLOCK).map(|block| score_block(summary, block)).collect()
}

fn score_block(summary: &Summary, block: &[usize]) -> String {
    let (first, last) = (summary.counts[block[0]], summary.counts[block[block.len() - 1]]);
    let which = if block.len() == summary.counts.len() {
        String::new()
    } else {
        format!(", {first} to {last} features")
    };
    let narrow = if summary.counts.len() < NARROW { " narrow" } else { "" };
    let heads: String =
        block.iter().map(|&p| format!("<th scope=\"col\">{}</th>", summary.counts[p])).collect();
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"scores{narrow}\"><caption>{} in %, mean ± standard deviation over splits{which}</caption>\n\
         <thead><tr><th scope=\"col\">Features</th>{heads}</tr></thead>\n<tbody>\n",
        words::measure(summary.measure)
    );
    for method in &summary.methods {
        let cells: String = block.iter().map(|&p| score(method.cells[p].as_ref())).collect();
        html += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", breakable(&method.label));
    }
    html + "</tbody></table></div>\n"
}

fn score(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return "<td class=\"none\">–</td>".into() };
    let (class, mark, note) = match cell.p {
        _ if cell.best => (" class=\"best\"", "*", "best".to_owned()),
        Some(p) if words::is_worse(cell) => (" class=\"worse\"", "−", words::p_value(p)),
        Some(p) => ("", "", words::p_value(p)),
        None => ("", "", String::new()),
    };
    let spread = if cell.splits > 1 {
        format!(" <span class=\"sd\">± {}</span>", words::percent(cell.sd))
    } else {
        String::new()
    };
    let spread = spread + &words::of_splits(cell);
    format!(
        "<td{class}><span class=\"mean\">{}</span>{spread}<span class=\"mark\">{mark}</span><span class=\"note\">{}</span></td>",
        words::percent(cell.mean),
        escape(&note)
    )
}

/// What each method reached at best, and what it took.
pub fn costs(summary: &Summary) -> String {
    let mut html = String::from(
        "<div class=\"scroll\"><table class=\"costs\"><caption>Best mean of each method, and what a split took: seconds for all numbers of features together (mean over splits), and the most memory that selecting held</caption>\n\
         <thead><tr><th scope=\"col\">Method</th><th scope=\"col\">Best, %</th><th scope=\"col\">with features</th>\
         <th scope=\"col\">selection, s</th><th scope=\"col\">evaluation, s</th><th scope=\"col\">memory</th></tr></thead>\n<tbody>\n",
    );
    for method in &summary.methods {
        let (score, k) = summary
            .best_of(method)
            .map_or(("–".into(), "–".into()), |(cell, k)| (words::mean_and_sd(&cell), k.to_string()));
        let seconds = |value: Option<f64>| value.map_or("–".into(), words::seconds);
        html += &format!(
            "<tr><th scope=\"row\">{}</th><td>{score}</td><td>{k}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            breakable(&method.label),
            escape(&seconds(method.select_seconds)),
            escape(&seconds(method.evaluate_seconds)),
            method.peak_bytes.map_or("–".into(), bytes)
        );
    }
    html + "</tbody></table></div>\n"
}

/// What went wrong, if anything did.
pub fn failures(summary: &Summary) -> Option<String> {
    let rows: String = summary
        .methods
        .iter()
        .filter(|method| method.failed > 0 || method.not_converged > 0)
        .map(|method| {
            let mut what = vec![];
            if method.failed > 0 {
                let why = method.failure.as_deref().unwrap_or_default();
                what.push(format!(
                    "{} without a score: {}",
                    words::counted(method.failed, "result"),
                    escape(why)
                ));
            }
            if method.not_converged > 0 {
                let n = words::counted(method.not_converged, "selection");
                what.push(format!("{n} stopped at the iteration limit"));
            }
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                breakable(&method.label),
                what.join("; ")
            )
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "<div class=\"scroll\"><table class=\"failures\"><thead><tr><th scope=\"col\">Method</th><th scope=\"col\">What happened</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
        )
    })
}
