//! Chart of the score by number of features, one line per method.
//!
//! Lines differ in color, marker and dash pattern, so that they can be distinguished without colors. With few methods,
//! error bars show the standard deviation; with many they would overlap, so they appear on hover.

use crate::axis::{CountAxis, Scale, ScoreAxis, separate_labels};
use crate::html::{escape, shortened};
use crate::text;
use kernsift::evaluate::{Cell, Measure, MethodSummary, Metric, Summary};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 58.0;
const TOP: f64 = 14.0;
const BELOW: f64 = 56.0;
/// Height of a line of text.
const LINE_HEIGHT: f64 = 18.0;
/// Maximum length of a label, in characters.
const LABEL_LENGTH: usize = 24;
/// Average width of a character, rounded up.
const CHARACTER_WIDTH: f64 = 7.1;
/// Number of colors in the style sheet.
pub const COLORS: usize = 7;
/// Dash patterns; each is used with all colors before the next.
pub const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 3 2 3"];
/// Maximum number of methods with permanent error bars.
const MAX_WITH_ERROR_BARS: usize = 5;
/// Maximum number of markers on a line.
const MAX_MARKERS: usize = 16;

/// Whether error bars are shown without hovering.
pub fn shows_error_bars(summary: &Summary) -> bool {
    drawn(summary).count() <= MAX_WITH_ERROR_BARS
}

/// A rendered chart.
pub struct Drawn {
    /// The chart as SVG.
    pub svg: String,
    /// Whether some values are below the axis.
    pub clipped: bool,
}

/// Methods that have a line, with their indices.
fn drawn(summary: &Summary) -> impl Iterator<Item = (usize, &MethodSummary)> {
    summary.methods.iter().enumerate().filter(|(_, method)| method.cells.iter().any(Option::is_some))
}

/// What the x axis shows.
#[derive(Clone, Copy)]
pub enum By {
    /// The number of features; in data with so many of them.
    Features(usize),
    /// The number of training rows, with so many features.
    Rows(usize),
}

impl By {
    /// The unit of the x axis.
    fn what(self) -> &'static str {
        if matches!(self, Self::Features(_)) { "feature" } else { "training row" }
    }

    /// What tells figures of one page apart.
    fn id(self) -> String {
        if let Self::Rows(k) = self { format!("-{k}") } else { String::new() }
    }

    /// Label of the line for all features.
    fn all_label(self) -> String {
        if let Self::Features(n) = self { format!("all {n} features") } else { String::new() }
    }
}

struct Chart<'a> {
    summary: &'a Summary,
    by: By,
    x_axis: CountAxis,
    y_axis: ScoreAxis,
    right: f64,
    bottom: f64,
    /// Horizontal offset between lines, so that their error bars do not overlap.
    offset: f64,
    /// The selected number of features, if any.
    selected: Option<usize>,
}

/// Draws a summary, and marks the selected number of features.
pub fn chart(summary: &Summary, by: By, selected: Option<usize>) -> Drawn {
    let labels = drawn(summary).map(|(_, method)| method.label.chars().count());
    let all = summary.all_features.map_or(0, |_| by.all_label().chars().count());
    let longest = labels.chain([all]).max().unwrap_or(0).min(LABEL_LENGTH);
    let right = WIDTH - 44.0 - CHARACTER_WIDTH * longest as f64;
    let entries = drawn(summary).count() + 1;
    let bottom = TOP + (LINE_HEIGHT * entries as f64).max(330.0);
    let error_bars = shows_error_bars(summary);
    let cells = summary.methods.iter().flat_map(|m| m.cells.iter().flatten()).chain(&summary.all_features);
    let values: Vec<f64> = cells
        .flat_map(|cell| if error_bars { [cell.mean - cell.sd, cell.mean + cell.sd] } else { [cell.mean; 2] })
        .collect();
    let is_r2 = summary.measure == Measure::R2.into();
    let scale = match &summary.measure {
        Metric::Scorer(_) => Scale::Number { low: f64::NEG_INFINITY },
        metric if metric.is_fraction() => Scale::Percent { low: if is_r2 { -1.0 } else { 0.0 } },
        _ => Scale::Number { low: 0.0 },
    };
    let x_axis = CountAxis::new(&summary.counts, LEFT + 26.0, right - 22.0);
    let lines = drawn(summary).count().max(1) as f64;
    let single = summary.counts.len() == 1;
    let max = if single { 60.0 } else { 7.0 };
    let offset = if error_bars || single { (0.6 * x_axis.min_distance() / lines).min(max) } else { 0.0 };
    let y_axis = ScoreAxis::new(&values, scale, bottom - 8.0, TOP + 8.0);
    let chart = Chart { summary, by, x_axis, y_axis, right, bottom, offset, selected };
    let clipped = is_r2 && chart.y_axis.clipped;
    Drawn { svg: chart.draw(), clipped }
}

impl Chart<'_> {
    fn draw(&self) -> String {
        let height = self.bottom + BELOW;
        let measure = escape(text::measure(&self.summary.measure));
        let (id, what) = (self.by.id(), self.by.what());
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-labelledby=\"chart-title{id} chart-desc{id}\">\n\
             <title id=\"chart-title{id}\">{measure} by number of {what}s</title>\n\
             <desc id=\"chart-desc{id}\">{}</desc>\n\
             <clipPath id=\"plot{id}\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>\n",
            self.describe(),
            self.right - LEFT,
            self.bottom - TOP,
        );
        svg += &self.grid();
        if let Some(k) = self.selected.filter(|k| self.summary.counts.contains(k)) {
            let (x, bottom) = (self.x_axis.at(k), self.bottom);
            svg += &format!(
                "<g class=\"stop\"><path d=\"M{x:.1} {bottom:.1}V{TOP}\"/><text x=\"{:.1}\" y=\"{:.1}\">selected</text></g>\n",
                x + 6.0,
                TOP + 10.0
            );
        }
        let methods: Vec<(usize, &MethodSummary)> = drawn(self.summary).collect();
        let mut desired: Vec<f64> = methods.iter().map(|(_, m)| self.end(m).1).collect();
        desired.extend(self.summary.all_features.map(|cell| self.y_axis.at_clipped(cell.mean)));
        let labels = separate_labels(&desired, LINE_HEIGHT, TOP + 6.0, self.bottom - 4.0);
        if let (Some(cell), Some(&y)) = (&self.summary.all_features, labels.last()) {
            svg += &self.all_features(cell, y);
        }
        for (nth, (index, method)) in methods.iter().enumerate() {
            let shift = self.offset * (nth as f64 - (methods.len() - 1) as f64 / 2.0);
            svg += &self.method(*index, method, shift, labels[nth]);
        }
        svg + "</svg>\n"
    }

    /// A description for screen readers.
    fn describe(&self) -> String {
        let unit = text::unit(&self.summary.measure);
        let lines = drawn(self.summary).map(|(_, method)| {
            let known: Vec<(usize, &Cell)> = self
                .summary
                .counts
                .iter()
                .zip(&method.cells)
                .filter_map(|(&k, cell)| Some((k, cell.as_ref()?)))
                .collect();
            let point = |&(k, cell): &(usize, &Cell)| {
                format!("{}{unit} with {k}", text::score(cell.mean, &self.summary.measure))
            };
            let ends = match (known.first(), known.last()) {
                (Some(a), Some(b)) if a.0 != b.0 => format!("{} to {}", point(a), point(b)),
                (Some(a), _) => point(a),
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
        for (value, text) in self.y_axis.ticks() {
            let y = self.y_axis.at(value);
            svg += &format!(
                "<path d=\"M{LEFT} {y:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
                LEFT - 9.0,
                y + 4.0
            );
        }
        for count in self.x_axis.ticks() {
            let x = self.x_axis.at(count);
            svg += &format!(
                "<path class=\"tick\" d=\"M{x:.1} {bottom:.1}v5\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{count}</text>\n",
                bottom + 20.0
            );
        }
        let middle = (TOP + bottom) / 2.0;
        let scale = if self.x_axis.logarithmic { " (logarithmic)" } else { "" };
        svg += &format!(
            "<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{right:.1}\"/>\n\
             <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">Number of {}s{scale}</text>\n\
             <text class=\"name\" transform=\"translate(15 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}{}</text>\n</g>\n",
            (LEFT + right) / 2.0,
            bottom + 44.0,
            self.by.what(),
            escape(text::measure(&self.summary.measure)),
            text::in_unit(&self.summary.measure)
        );
        svg
    }

    fn all_features(&self, cell: &Cell, label: f64) -> String {
        let (right, y) = (self.right, self.y_axis.at_clipped(cell.mean));
        let text = text::mean_and_sd(cell, &self.summary.measure) + text::unit(&self.summary.measure);
        format!(
            "<g class=\"all\"><title>{}: {text}</title><path class=\"line\" d=\"M{LEFT} {y:.1}H{right:.1}\"/>\
             <path class=\"lead\" d=\"M{right:.1} {y:.1}L{:.1} {label:.1}\"/><path class=\"line\" d=\"M{:.1} {label:.1}h18\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>\n",
            self.by.all_label(),
            right + 10.0,
            right + 12.0,
            right + 36.0,
            label + 4.0,
            self.by.all_label()
        )
    }

    /// The end of a method's line.
    fn end(&self, method: &MethodSummary) -> (f64, f64) {
        let last = self.summary.counts.iter().zip(&method.cells).rev().find_map(|(&k, c)| Some((k, (*c)?)));
        last.map_or((LEFT, self.bottom), |(k, cell)| (self.x_axis.at(k), self.y_axis.at_clipped(cell.mean)))
    }

    fn method(&self, index: usize, method: &MethodSummary, shift: f64, label: f64) -> String {
        let dash = DASHES[(index / COLORS) % DASHES.len()];
        let quiet = if shows_error_bars(self.summary) { "" } else { " quiet" };
        let unit = text::unit(&self.summary.measure);
        let (mut line, mut bars, mut marks) = (String::new(), String::new(), String::new());
        let mut pen_down = false;
        let every = self.summary.counts.len().div_ceil(MAX_MARKERS);
        for (nth, (&k, cell)) in self.summary.counts.iter().zip(&method.cells).enumerate() {
            let Some(cell) = cell else {
                pen_down = false;
                continue;
            };
            let (x, y) = (self.x_axis.at(k) + shift, self.y_axis.at(cell.mean));
            line += &format!("{}{x:.1} {y:.1}", if pen_down { "L" } else { "M" });
            pen_down = true;
            let (low, high) = (self.y_axis.at(cell.mean - cell.sd), self.y_axis.at(cell.mean + cell.sd));
            bars +=
                &format!("M{x:.1} {low:.1}V{high:.1}M{:.1} {low:.1}h5M{:.1} {high:.1}h5", x - 2.5, x - 2.5);
            if nth % every == 0 {
                marks += &format!(
                    "<path class=\"{}\" d=\"{}\"><title>{}, {}: {}{unit}{}</title></path>",
                    marker_class(index),
                    marker(index, x, y),
                    escape(&method.label),
                    text::counted(k, self.by.what()),
                    text::mean_and_sd(cell, &self.summary.measure),
                    cell.p.map(|p| format!(", {}", escape(&text::p_value(p)))).unwrap_or_default()
                );
            }
        }
        let (end_x, end_y) = self.end(method);
        let (right, id) = (self.right, self.by.id());
        format!(
            "<g class=\"method c{}\"><path class=\"sd{quiet}\" clip-path=\"url(#plot{id})\" d=\"{bars}\"/>\
             <path class=\"line\" clip-path=\"url(#plot{id})\" stroke-dasharray=\"{}\" d=\"{line}\"/>\
             <g clip-path=\"url(#plot{id})\">{marks}</g>\
             <path class=\"lead\" d=\"M{:.1} {end_y:.1}L{:.1} {label:.1}\"/>\
             <path class=\"line\" stroke-dasharray=\"{}\" d=\"M{:.1} {label:.1}h18\"/><path class=\"{}\" d=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\"><title>{}</title>{}</text></g>\n",
            index % COLORS,
            if dash.is_empty() { "none" } else { dash },
            end_x + shift + 6.0,
            right + 10.0,
            if dash.is_empty() { "none" } else { dash },
            right + 12.0,
            marker_class(index),
            marker(index, right + 21.0, label),
            right + 36.0,
            label + 4.0,
            escape(&method.label),
            shortened(&method.label, LABEL_LENGTH)
        )
    }
}

/// The class of a marker: stroked or filled.
pub fn marker_class(index: usize) -> &'static str {
    if matches!(index % 8, 4 | 5) { "mark thin" } else { "mark" }
}

/// One of eight markers: circle, square, triangle, diamond, cross, plus, inverted triangle, bar. There are seven colors, so
/// a repeated color has another marker.
pub fn marker(index: usize, x: f64, y: f64) -> String {
    match index % 8 {
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
