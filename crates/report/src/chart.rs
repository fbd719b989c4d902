//! Score against number of features, a line per method.
//!
//! Lines differ in colour, marker and dashes, so that they can be told apart without colours. Few methods show
//! their spread; many would cover each other with it, so it appears where the reader points.

use crate::axis::{Across, Up, spread};
use crate::html::{escape, shortened};
use crate::words;
use kernsift::evaluate::{Cell, Measure, MethodSummary, Summary};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 14.0;
const BELOW: f64 = 56.0;
/// Height of a label's line.
const LINE: f64 = 18.0;
/// Characters of a label.
const LABEL: usize = 24;
/// Width of a character of a label, on average and rounded up.
const CHARACTER: f64 = 7.1;
/// Colours in the style sheet.
pub const COLOURS: usize = 7;
/// Dashes of lines; each serves all colours before the next is taken.
pub const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 3 2 3"];
/// Most methods whose spread is always shown.
const FEW: usize = 5;
/// Most markers on a line.
const MARKERS: usize = 16;

/// Whether spreads are shown without pointing.
pub fn shows_spread(summary: &Summary) -> bool {
    drawn(summary).count() <= FEW
}

/// A picture and what must be said beside it.
pub struct Drawn {
    /// The picture.
    pub svg: String,
    /// Set where values lie below what is drawn.
    pub cut: bool,
}

/// Methods that have a line, with their places among all.
fn drawn(summary: &Summary) -> impl Iterator<Item = (usize, &MethodSummary)> {
    summary.methods.iter().enumerate().filter(|(_, method)| method.cells.iter().any(Option::is_some))
}

struct Chart<'a> {
    summary: &'a Summary,
    columns: usize,
    across: Across,
    up: Up,
    right: f64,
    bottom: f64,
    /// How far lines are moved aside so that their bars do not cover each other.
    aside: f64,
    /// The number of features that was chosen, if one was.
    chosen: Option<usize>,
}

/// Draws a summary of data with this many columns, and marks the number of features that was chosen.
pub fn chart(summary: &Summary, columns: usize, chosen: Option<usize>) -> Drawn {
    let labels = drawn(summary).map(|(_, method)| method.label.chars().count());
    let all = summary.all_columns.map_or(0, |_| all_label(columns).chars().count());
    let longest = labels.chain([all]).max().unwrap_or(0).min(LABEL);
    let right = WIDTH - 44.0 - CHARACTER * longest as f64;
    let entries = drawn(summary).count() + 1;
    let bottom = TOP + (LINE * entries as f64).max(330.0);
    let spreads = shows_spread(summary);
    let cells = summary.methods.iter().flat_map(|m| m.cells.iter().flatten()).chain(&summary.all_columns);
    let values: Vec<f64> = cells
        .flat_map(|cell| if spreads { [cell.mean - cell.sd, cell.mean + cell.sd] } else { [cell.mean; 2] })
        .collect();
    let bounds = if summary.measure == Measure::R2 { (-1.0, 1.0) } else { (0.0, 1.0) };
    let across = Across::new(&summary.counts, LEFT + 26.0, right - 22.0);
    let lines = drawn(summary).count().max(1) as f64;
    let single = summary.counts.len() == 1;
    let most = if single { 60.0 } else { 7.0 };
    let aside = if spreads || single { (0.6 * across.least_gap() / lines).min(most) } else { 0.0 };
    let up = Up::new(&values, bounds, bottom - 8.0, TOP + 8.0);
    let chart = Chart { summary, columns, across, up, right, bottom, aside, chosen };
    let cut = summary.measure == Measure::R2 && chart.up.cut;
    Drawn { svg: chart.draw(), cut }
}

impl Chart<'_> {
    fn draw(&self) -> String {
        let height = self.bottom + BELOW;
        let what = words::measure(self.summary.measure);
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-labelledby=\"chart-title chart-desc\">\n\
             <title id=\"chart-title\">{what} against number of features</title>\n\
             <desc id=\"chart-desc\">{}</desc>\n\
             <clipPath id=\"plot\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>\n",
            self.describe(),
            self.right - LEFT,
            self.bottom - TOP,
        );
        svg += &self.grid();
        if let Some(k) = self.chosen.filter(|k| self.summary.counts.contains(k)) {
            let (x, bottom) = (self.across.at(k), self.bottom);
            svg += &format!(
                "<g class=\"stop\"><path d=\"M{x:.1} {bottom:.1}V{TOP}\"/><text x=\"{:.1}\" y=\"{:.1}\">chosen</text></g>\n",
                x + 6.0,
                TOP + 10.0
            );
        }
        let methods: Vec<(usize, &MethodSummary)> = drawn(self.summary).collect();
        let mut wanted: Vec<f64> = methods.iter().map(|(_, m)| self.end(m).1).collect();
        wanted.extend(self.summary.all_columns.map(|cell| self.up.within(cell.mean)));
        let places = spread(&wanted, LINE, TOP + 6.0, self.bottom - 4.0);
        if let (Some(cell), Some(&y)) = (&self.summary.all_columns, places.last()) {
            svg += &self.all_columns(cell, y);
        }
        for (nth, (place, method)) in methods.iter().enumerate() {
            let shift = self.aside * (nth as f64 - (methods.len() - 1) as f64 / 2.0);
            svg += &self.method(*place, method, shift, places[nth]);
        }
        svg + "</svg>\n"
    }

    /// The picture in words, for those who cannot see it.
    fn describe(&self) -> String {
        let lines = drawn(self.summary).map(|(_, method)| {
            let known: Vec<(usize, &Cell)> = self
                .summary
                .counts
                .iter()
                .zip(&method.cells)
                .filter_map(|(&k, cell)| Some((k, cell.as_ref()?)))
                .collect();
            let said = |&(k, cell): &(usize, &Cell)| format!("{} % with {k}", words::percent(cell.mean));
            let ends = match (known.first(), known.last()) {
                (Some(a), Some(b)) if a.0 != b.0 => format!("{} to {}", said(a), said(b)),
                (Some(a), _) => said(a),
                _ => String::new(),
            };
            format!("{}: {ends}", escape(&method.label))
        });
        let lines: Vec<String> = lines.collect();
        format!("One line per method; all numbers are in the table below. {}.", lines.join("; "))
    }

    fn grid(&self) -> String {
        let (right, bottom) = (self.right, self.bottom);
        let mut svg = String::from("<g class=\"grid\">\n");
        for (value, text) in self.up.ticks() {
            let y = self.up.at(value);
            svg += &format!(
                "<path d=\"M{LEFT} {y:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
                LEFT - 9.0,
                y + 4.0
            );
        }
        for count in self.across.ticks() {
            let x = self.across.at(count);
            svg += &format!(
                "<path class=\"tick\" d=\"M{x:.1} {bottom:.1}v5\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{count}</text>\n",
                bottom + 20.0
            );
        }
        let middle = (TOP + bottom) / 2.0;
        let scale = if self.across.logarithmic { " (logarithmic)" } else { "" };
        svg += &format!(
            "<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{right:.1}\"/>\n\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">Number of features{scale}</text>\n\
             <text class=\"name\" transform=\"translate(15 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}, %</text>\n</g>\n",
            (LEFT + right) / 2.0,
            bottom + 44.0,
            words::measure(self.summary.measure)
        );
        svg
    }

    fn all_columns(&self, cell: &Cell, label: f64) -> String {
        let (right, y) = (self.right, self.up.within(cell.mean));
        let text = words::mean_and_sd(cell);
        format!(
            "<g class=\"all\"><title>{}: {text} %</title><path class=\"line\" d=\"M{LEFT} {y:.1}H{right:.1}\"/>\
             <path class=\"lead\" d=\"M{right:.1} {y:.1}L{:.1} {label:.1}\"/><path class=\"line\" d=\"M{:.1} {label:.1}h18\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>\n",
            all_label(self.columns),
            right + 10.0,
            right + 12.0,
            right + 36.0,
            label + 4.0,
            all_label(self.columns)
        )
    }

    /// Where a method's line ends.
    fn end(&self, method: &MethodSummary) -> (f64, f64) {
        let last = self.summary.counts.iter().zip(&method.cells).rev().find_map(|(&k, c)| Some((k, (*c)?)));
        last.map_or((LEFT, self.bottom), |(k, cell)| (self.across.at(k), self.up.within(cell.mean)))
    }

    fn method(&self, place: usize, method: &MethodSummary, shift: f64, label: f64) -> String {
        let dash = DASHES[(place / COLOURS) % DASHES.len()];
        let quiet = if shows_spread(self.summary) { "" } else { " quiet" };
        let (mut line, mut bars, mut marks) = (String::new(), String::new(), String::new());
        let mut pen_down = false;
        let every = self.summary.counts.len().div_ceil(MARKERS);
        for (nth, (&k, cell)) in self.summary.counts.iter().zip(&method.cells).enumerate() {
            let Some(cell) = cell else {
                pen_down = false;
                continue;
            };
            let (x, y) = (self.across.at(k) + shift, self.up.at(cell.mean));
            line += &format!("{}{x:.1} {y:.1}", if pen_down { "L" } else { "M" });
            pen_down = true;
            let (low, high) = (self.up.at(cell.mean - cell.sd), self.up.at(cell.mean + cell.sd));
            bars +=
                &format!("M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h5M{:.1} {high:.1}h5", x - 2.5, x - 2.5);
            if nth % every == 0 {
                marks += &format!(
                    "<path class=\"{}\" d=\"{}\"><title>{}, {}: {} %{}</title></path>",
                    marker_class(place),
                    marker(place, x, y),
                    escape(&method.label),
                    words::counted(k, "feature"),
                    words::mean_and_sd(cell),
                    cell.p.map(|p| format!(", {}", escape(&words::p_value(p)))).unwrap_or_default()
                );
            }
        }
        let (end_x, end_y) = self.end(method);
        let right = self.right;
        format!(
            "<g class=\"method c{}\"><path class=\"sd{quiet}\" clip-path=\"url(#plot)\" d=\"{bars}\"/>\
             <path class=\"line\" clip-path=\"url(#plot)\" stroke-dasharray=\"{}\" d=\"{line}\"/>\
             <g clip-path=\"url(#plot)\">{marks}</g>\
             <path class=\"lead\" d=\"M{:.1} {end_y:.1}L{:.1} {label:.1}\"/>\
             <path class=\"line\" stroke-dasharray=\"{}\" d=\"M{:.1} {label:.1}h18\"/><path class=\"{}\" d=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\"><title>{}</title>{}</text></g>\n",
            place % COLOURS,
            if dash.is_empty() { "none" } else { dash },
            end_x + shift + 6.0,
            right + 10.0,
            if dash.is_empty() { "none" } else { dash },
            right + 12.0,
            marker_class(place),
            marker(place, right + 21.0, label),
            right + 36.0,
            label + 4.0,
            escape(&method.label),
            shortened(&method.label, LABEL)
        )
    }
}

/// What the line of all columns is called.
fn all_label(columns: usize) -> String {
    format!("all {columns} columns")
}

/// Signs made of strokes and signs that are filled.
pub fn marker_class(place: usize) -> &'static str {
    if matches!(place % 8, 4 | 5) { "mark thin" } else { "mark" }
}

/// One of eight signs around a point: circle, square, triangle, diamond, cross, plus, triangle upside down, bar.
/// As colours come in sevens, the same colour meets another sign the next time round.
pub fn marker(place: usize, x: f64, y: f64) -> String {
    match place % 8 {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.6 8h-9.2z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l5 5l-5 5l-5 -5z", y - 5.0),
        4 => format!("M{:.1} {:.1}l7 7m0 -7l-7 7", x - 3.5, y - 3.5),
        5 => format!("M{:.1} {y:.1}h9m-4.5 -4.5v9", x - 4.5),
        6 => format!("M{x:.1} {:.1}l4.6 -8h-9.2z", y + 5.0),
        _ => format!("M{:.1} {:.1}h10v4h-10z", x - 5.0, y - 2.0),
    }
}
