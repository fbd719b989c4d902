//! Confusion of classes and calibration of probabilities.

use crate::html::{breakable, escape, shortened};
use crate::plot::{Axis, grid};
use crate::text;
use kernsift::evaluate::{Calibration, Predictions};

/// The width and height of the reliability curve.
const SIZE: (f64, f64) = (640.0, 420.0);

/// The table of classes, and the reliability curve if there are probabilities.
pub fn section(found: &Predictions) -> String {
    let intro = format!(
        "<p>Test rows of all splits, predicted with {} selected by <b>{}</b>: the fewest features within one standard error \
         of the best.</p>\n",
        text::counted(found.n_features, "feature"),
        escape(&found.method)
    );
    intro + &confusion(found) + &found.calibration.as_ref().map_or(String::new(), |c| calibration(c, found))
}

fn confusion(found: &Predictions) -> String {
    let heads: String = found
        .classes
        .iter()
        .map(|name| format!("<th scope=\"col\" title=\"{}\">{}</th>", escape(name), shortened(name, 18)))
        .collect();
    let row = |class: usize| {
        let row = &found.confusion[class];
        let n = text::rows_text(row.iter().sum());
        let error = found.class_errors[class].map_or("–".into(), text::percent);
        let cells: String = row
            .iter()
            .enumerate()
            .map(|(predicted, &count)| {
                let count = text::rows_text(count);
                let is_right = if predicted == class { " class=\"best\"" } else { "" };
                format!("<td{is_right}>{count}</td>")
            })
            .collect();
        format!(
            "<tr><th scope=\"row\">{}</th><td>{n}</td><td>{error}</td>{cells}</tr>\n",
            breakable(&found.classes[class])
        )
    };
    let rows: String = (0..found.classes.len()).map(row).collect();
    let are_counts = found.confusion.iter().flatten().all(|count| count.fract() == 0.0);
    let what = if are_counts { "Number" } else { "Weight" };
    format!(
        "<div class=\"scroll\"><table class=\"scores narrow\"><caption>{what} of test rows by class (lines) and predicted class \
         (columns); error {} %</caption>\n<thead><tr><th scope=\"col\">Class</th><th scope=\"col\">Rows</th>\
         <th scope=\"col\">Error, %</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        text::percent(found.error())
    )
}

fn calibration(found: &Calibration, of: &Predictions) -> String {
    let (left, right, top, bottom) = (66.0, SIZE.0 - 20.0, 16.0, SIZE.1 - 52.0);
    let axis = |from, to| Axis::new([0.0, 1.0].into_iter(), from, to);
    let (x_axis, y_axis) = (axis(left, right), axis(bottom, top));
    let what = match of.classes.as_slice() {
        [_, second] => format!("class {second}"),
        _ => "the predicted class".to_owned(),
    };
    let labels = (format!("Mean predicted probability of {what}"), "Frequency".to_owned());
    let mut svg = format!(
        "<svg viewBox=\"0 0 {:.0} {:.0}\" style=\"max-width:{:.0}px\" role=\"img\" aria-label=\"Reliability curve\">\n{}",
        SIZE.0,
        SIZE.1,
        SIZE.0,
        grid(&x_axis, &y_axis, (&labels.0, &labels.1))
    );
    svg += &format!(
        "<g class=\"limit\"><path d=\"M{left:.1} {bottom:.1}L{right:.1} {top:.1}\"/><title>perfect calibration</title></g>\n\
         <g class=\"method c0\"><path class=\"line\" d=\""
    );
    for (at, bin) in found.bins.iter().enumerate() {
        let command = if at == 0 { "M" } else { "L" };
        svg += &format!("{command}{:.1} {:.1}", x_axis.at(bin.probability), y_axis.at(bin.frequency));
    }
    svg += "\"/>";
    for bin in &found.bins {
        let (x, y) = (x_axis.at(bin.probability), y_axis.at(bin.frequency));
        let count = text::rows_text(bin.rows);
        let rows = if count == "1" { "row" } else { "rows" };
        let (anchor, dx) = if bin.probability > 0.5 { ("end", -6.0) } else { ("start", 6.0) };
        svg += &format!(
            "<circle class=\"mark\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"><title>{count} {rows}: mean probability {:.3}, frequency {:.3}</title></circle>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{count}</text>",
            bin.probability,
            bin.frequency,
            x + dx,
            y - 9.0
        );
    }
    format!(
        "<h3>Calibration</h3>\n<figure>\n{svg}</g>\n</svg>\n<figcaption>Reliability curve, with the number of rows at each \
         point. On the dashed line probabilities are right. Brier score {}, expected calibration error {}.</figcaption>\n</figure>\n",
        text::number(found.brier_score),
        text::number(found.expected_error)
    )
}
