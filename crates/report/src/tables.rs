//! Tables of scores, cost and failures.

use crate::html::{breakable, escape};
use crate::text;
use kernsift::error::bytes;
use kernsift::evaluate::{Cell, MethodSummary, Metric, Summary};

/// Maximum number of columns per table.
const BLOCK: usize = 8;
/// Tables with fewer columns are not stretched to the full width.
const NARROW: usize = 6;

/// Mean and standard deviation by method and number of features.
pub fn scores(summary: &Summary) -> String {
    let indices: Vec<usize> = (0..summary.counts.len()).collect();
    indices.chunks(BLOCK).map(|block| score_block(summary, block)).collect()
}

fn score_block(summary: &Summary, block: &[usize]) -> String {
    let (first, last) = (summary.counts[block[0]], summary.counts[block[block.len() - 1]]);
    let range = if block.len() == summary.counts.len() {
        String::new()
    } else {
        format!(", {first} to {last} features")
    };
    let narrow = if summary.counts.len() < NARROW { " narrow" } else { "" };
    let heads: String =
        block.iter().map(|&p| format!("<th scope=\"col\">{}</th>", summary.counts[p])).collect();
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"scores{narrow}\"><caption>{}{}, mean ± standard deviation over splits{range}</caption>\n\
         <thead><tr><th scope=\"col\">Features</th>{heads}</tr></thead>\n<tbody>\n",
        escape(text::measure(&summary.measure)),
        if summary.measure.is_fraction() { " in %" } else { "" },
    );
    for method in &summary.methods {
        let cells: String =
            block.iter().map(|&p| score(method.cells[p].as_ref(), &summary.measure)).collect();
        html += &format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", breakable(&method.label));
    }
    html + "</tbody></table></div>\n"
}

/// A line with all cells of a method.
pub fn score_row(method: &MethodSummary, metric: &Metric) -> String {
    let cells: String = method.cells.iter().map(|cell| score(cell.as_ref(), metric)).collect();
    format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", breakable(&method.label))
}

fn score(cell: Option<&Cell>, metric: &Metric) -> String {
    let Some(cell) = cell else { return "<td class=\"none\">–</td>".into() };
    let (class, mark, note) = match cell.p {
        _ if cell.best => (" class=\"best\"", "*", "best".to_owned()),
        Some(p) if text::is_worse(cell) => (" class=\"worse\"", "−", text::p_value(p)),
        Some(p) => ("", "", text::p_value(p)),
        None => ("", "", String::new()),
    };
    let sd = if cell.splits > 1 {
        format!(" <span class=\"sd\">± {}</span>", text::score(cell.sd, metric))
    } else {
        String::new()
    };
    let sd = sd + &text::of_splits(cell);
    format!(
        "<td{class}><span class=\"mean\">{}</span>{sd}<span class=\"mark\">{mark}</span><span class=\"note\">{}</span></td>",
        text::score(cell.mean, metric),
        escape(&note)
    )
}

/// The best score, time and memory of each method.
pub fn costs(summary: &Summary) -> String {
    let unit = text::in_unit(&summary.measure);
    let mut html = format!(
        "<div class=\"scroll\"><table class=\"costs\"><caption>Best mean score of each method; mean time per split for all numbers of features together; peak memory of the selection</caption>\n\
         <thead><tr><th scope=\"col\">Method</th><th scope=\"col\">Best score{unit}</th><th scope=\"col\">Features</th>\
         <th scope=\"col\">Selection, s</th><th scope=\"col\">Evaluation, s</th><th scope=\"col\">Peak memory</th></tr></thead>\n<tbody>\n",
    );
    for method in &summary.methods {
        let (score, k) = summary.best_of(method).map_or(("–".into(), "–".into()), |(cell, k)| {
            (text::mean_and_sd(&cell, &summary.measure), k.to_string())
        });
        let seconds = |value: Option<f64>| value.map_or("–".into(), text::seconds);
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

/// Failed and unconverged results, if any.
pub fn failures(summary: &Summary) -> Option<String> {
    let rows: String = summary
        .methods
        .iter()
        .filter(|method| method.failed > 0 || method.not_converged > 0)
        .map(|method| {
            let mut problems = vec![];
            if method.failed > 0 {
                let why = method.failure.as_deref().unwrap_or_default();
                problems.push(format!("{} failed: {}", text::counted(method.failed, "result"), escape(why)));
            }
            if method.not_converged > 0 {
                let n = text::counted(method.not_converged, "selection");
                problems.push(format!("{n} reached the iteration limit"));
            }
            format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                breakable(&method.label),
                problems.join("; ")
            )
        })
        .collect();
    (!rows.is_empty()).then(|| {
        format!(
            "<div class=\"scroll\"><table class=\"failures\"><thead><tr><th scope=\"col\">Method</th><th scope=\"col\">Problem</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
        )
    })
}
