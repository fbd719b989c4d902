//! A standalone figure: lines over numbers, or points over categories with error bars.
//!
//! It is a self-contained SVG file that follows the reader's light or dark color scheme.

use crate::axis::{separate_labels, step_for};
use crate::chart::{COLORS, DASHES, marker, marker_class};
use crate::html::{escape, shortened};
use serde::Serialize;

/// Contents of a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// File name without extension.
    pub name: String,
    /// Title.
    pub title: String,
    /// Label of the x axis.
    pub x_label: String,
    /// Label of the y axis.
    pub y_label: String,
    /// The x axis.
    pub x: XAxis,
    /// One series per method.
    pub series: Vec<Series>,
}

/// The x axis of a figure.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum XAxis {
    /// Increasing numbers; values are joined by lines.
    Linear(Vec<f64>),
    /// Increasing numbers; both axes are logarithmic.
    Log(Vec<f64>),
    /// Categories, each with a group of points.
    Categories(Vec<String>),
}

/// The values of a method.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Name in the legend.
    pub label: String,
    /// Mean and standard deviation at each position of the x axis.
    pub values: Vec<Option<(f64, f64)>>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const HEIGHT: f64 = 340.0;
const BELOW: f64 = 66.0;
/// Height of a line of text.
const LINE_HEIGHT: f64 = 18.0;
/// Maximum length of a label, in characters.
const LABEL_LENGTH: usize = 28;
/// Average width of a character, rounded up.
const CHARACTER_WIDTH: f64 = 7.1;

const STYLE: &str = "
svg { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif;
  --paper: #fff; --ink: #1d2126; --muted: #5c646e; --rule: #e2e4e7;
  --c0: #0072b2; --c1: #d55e00; --c2: #00865f; --c3: #b3508a; --c4: #a36a00; --c5: #2b8fc9; --c6: #3c4248; }
@media (prefers-color-scheme: dark) { svg { --paper: #15181c; --ink: #e6e8eb; --muted: #9aa3ad; --rule: #2d3238;
  --c0: #4a9fe0; --c1: #ff8a47; --c2: #3fcf9f; --c3: #e58fc0; --c4: #eab54d; --c5: #8fd3ff; --c6: #c9cfd6; } }
.paper { fill: var(--paper); } text { fill: var(--ink); } .muted { fill: var(--muted); } .title { font-weight: 650; font-size: 15px; }
.rule { stroke: var(--rule); } .axis { stroke: var(--muted); fill: none; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); } .c4 { --c: var(--c4); } .c5 { --c: var(--c5); } .c6 { --c: var(--c6); }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; } .sd { fill: none; stroke: var(--c); opacity: 0.5; }
.lead { fill: none; stroke: var(--muted); stroke-width: 0.7; opacity: 0.55; }
.mark { fill: var(--c); stroke: var(--paper); } .mark.thin { fill: none; stroke: var(--c); stroke-width: 2.2; }
";

/// Renders a figure as an SVG file.
pub fn render_svg(figure: &Figure) -> String {
    let labels = figure.series.iter().map(|series| series.label.chars().count());
    let longest = labels.max().unwrap_or(0).min(LABEL_LENGTH);
    let right = WIDTH - 50.0 - CHARACTER_WIDTH * longest as f64;
    let bottom = TOP + HEIGHT.max(LINE_HEIGHT * figure.series.len() as f64);
    let frame = Frame { figure, right, bottom, scale: Scale::of(figure) };
    let height = bottom + BELOW;
    let title = escape(&figure.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"26\">{title}</text>\n"
    );
    svg += &frame.grid();
    svg += &frame.all_series();
    svg + "</svg>\n"
}

/// The y axis.
struct Scale {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    logarithmic: bool,
}

impl Scale {
    fn of(figure: &Figure) -> Self {
        let logarithmic = matches!(figure.x, XAxis::Log(_));
        let values = figure.series.iter().flat_map(|series| series.values.iter().flatten());
        let ends =
            values.flat_map(|&(mean, sd)| if logarithmic { [mean; 2] } else { [mean - sd, mean + sd] });
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if low > high {
            return Self { low: 0.0, high: 1.0, ticks: vec![0.0, 1.0], logarithmic: false };
        }
        if logarithmic {
            let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
            let ticks: Vec<f64> = powers.map(|p| 10f64.powi(p)).collect();
            return Self { low: ticks[0], high: ticks[ticks.len() - 1], ticks, logarithmic };
        }
        let rough = ((high - low) / 5.0).max(1e-9);
        let step = step_for(rough);
        // The small offset makes floor(0.3 / 0.1) equal 3.
        let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step + 1e-9).floor() as i64);
        let ticks: Vec<f64> = (first..=last.max(first + 1)).map(|i| i as f64 * step).collect();
        // The axis starts at a tick and ends at the largest value.
        Self { low: ticks[0], high: high.max(ticks[ticks.len() - 1]), ticks, logarithmic }
    }

    /// Relative position: 0 at the bottom, 1 at the top.
    fn fraction(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

struct Frame<'a> {
    figure: &'a Figure,
    right: f64,
    bottom: f64,
    scale: Scale,
}

impl Frame<'_> {
    fn y(&self, value: f64) -> f64 {
        self.bottom - self.scale.fraction(value) * (self.bottom - TOP)
    }

    /// The x coordinate of the nth value.
    fn x(&self, nth: usize) -> f64 {
        let (left, right) = (LEFT + 24.0, self.right - 18.0);
        let fraction = match &self.figure.x {
            XAxis::Categories(names) => (nth as f64 + 0.5) / names.len() as f64,
            XAxis::Linear(values) => fraction(values, nth, |v| v),
            XAxis::Log(values) => fraction(values, nth, f64::ln),
        };
        left + fraction * (right - left)
    }

    fn grid(&self) -> String {
        let (right, bottom) = (self.right, self.bottom);
        let mut svg = String::new();
        for &tick in &self.scale.ticks {
            let y = self.y(tick);
            svg += &format!(
                "<path class=\"rule\" d=\"M{LEFT} {y:.1}H{right:.1}\"/><text class=\"muted\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 9.0,
                y + 4.0,
                format_number(tick)
            );
        }
        // Categories that would overlap are drawn in two rows; numbers that would overlap are omitted.
        let rows = if matches!(self.figure.x, XAxis::Categories(_)) { 2 } else { 1 };
        let mut free = vec![f64::NEG_INFINITY; rows];
        for (nth, name) in self.x_ticks().iter().enumerate() {
            let (x, half) = (self.x(nth), CHARACTER_WIDTH * name.chars().count() as f64 / 2.0);
            let Some(row) = free.iter().position(|free| x - half >= *free) else { continue };
            free[row] = x + half + 6.0;
            svg += &format!(
                "<path class=\"axis\" d=\"M{x:.1} {bottom:.1}v5\"/><text class=\"muted\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                bottom + 20.0 + 15.0 * row as f64,
                escape(name)
            );
        }
        svg + &format!(
            "<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{right:.1}\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            (LEFT + right) / 2.0,
            bottom + 52.0,
            escape(&self.figure.x_label),
            (TOP + bottom) / 2.0,
            escape(&self.figure.y_label)
        )
    }

    fn x_ticks(&self) -> Vec<String> {
        match &self.figure.x {
            XAxis::Categories(names) => names.clone(),
            XAxis::Linear(values) | XAxis::Log(values) => values.iter().map(|&v| format_number(v)).collect(),
        }
    }

    /// All series, and the legend on the right.
    fn all_series(&self) -> String {
        let all = &self.figure.series;
        let categories = matches!(self.figure.x, XAxis::Categories(_));
        let gap = if self.x_ticks().len() > 1 { self.x(1) - self.x(0) } else { self.right - LEFT };
        let offset = if categories { 0.62 * gap / all.len().max(1) as f64 } else { 0.0 };
        let shift = |nth: usize| offset * (nth as f64 - (all.len() as f64 - 1.0) / 2.0);
        let last =
            |series: &Series| series.values.iter().enumerate().rev().find_map(|(i, v)| Some((i, (*v)?)));
        // Labels are at the ends of lines, or in a list.
        let desired: Vec<f64> = all
            .iter()
            .enumerate()
            .map(|(nth, series)| match last(series) {
                Some((_, (mean, _))) if !categories => self.y(mean),
                _ => TOP + 10.0 + LINE_HEIGHT * nth as f64,
            })
            .collect();
        let keys = separate_labels(&desired, LINE_HEIGHT, TOP + 6.0, self.bottom - 4.0);
        let mut svg = String::new();
        for (nth, series) in all.iter().enumerate() {
            svg += &format!("<g class=\"c{}\">", nth % COLORS);
            svg += &self.series(nth, series, shift(nth), !categories);
            if let (Some((at, (mean, _))), false) = (last(series), categories) {
                svg += &format!(
                    "<path class=\"lead\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>",
                    self.x(at) + 6.0,
                    self.y(mean),
                    self.right + 8.0,
                    keys[nth]
                );
            }
            svg += &format!(
                "<path class=\"{}\" d=\"{}\"/><text x=\"{:.1}\" y=\"{:.1}\"><title>{}</title>{}</text></g>\n",
                marker_class(nth),
                marker(nth, self.right + 17.0, keys[nth]),
                self.right + 28.0,
                keys[nth] + 4.0,
                escape(&series.label),
                shortened(&series.label, LABEL_LENGTH)
            );
        }
        svg
    }

    fn series(&self, nth: usize, series: &Series, shift: f64, joined: bool) -> String {
        let (mut path, mut bars, mut marks) = (String::new(), String::new(), String::new());
        let mut pen_down = false;
        let every = series.values.len().div_ceil(16);
        for (at, value) in series.values.iter().enumerate() {
            let Some((mean, sd)) = *value else {
                pen_down = false;
                continue;
            };
            let (x, y) = (self.x(at) + shift, self.y(mean));
            path += &format!("{}{x:.1} {y:.1}", if pen_down { "L" } else { "M" });
            pen_down = true;
            // Lines have no error bars, which would overlap.
            if !joined && sd > 0.0 {
                bars += &format!("M{x:.1} {:.1}V{:.1}", self.y(mean - sd), self.y(mean + sd));
            }
            if !joined || at % every == 0 {
                marks += &format!(
                    "<path class=\"{}\" d=\"{}\"><title>{}: {} ± {}</title></path>",
                    marker_class(nth),
                    marker(nth, x, y),
                    escape(&series.label),
                    format_number(mean),
                    format_number(sd)
                );
            }
        }
        let dash = DASHES[(nth / COLORS) % DASHES.len()];
        let path = if joined {
            let dash = if dash.is_empty() { "none" } else { dash };
            format!("<path class=\"line\" stroke-dasharray=\"{dash}\" d=\"{path}\"/>")
        } else {
            String::new()
        };
        format!("<path class=\"sd\" d=\"{bars}\"/>{path}{marks}")
    }
}

fn fraction(values: &[f64], nth: usize, scale: impl Fn(f64) -> f64) -> f64 {
    let (first, last) = (scale(values[0]), scale(values[values.len() - 1]));
    if first == last { 0.5 } else { (scale(values[nth]) - first) / (last - first) }
}

/// A number without trailing zeros.
fn format_number(value: f64) -> String {
    let text = if value != 0.0 && value.abs() < 0.01 {
        format!("{value:.0e}")
    } else {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(x: XAxis, values: Vec<Option<(f64, f64)>>) -> Figure {
        Figure {
            name: "x".into(),
            title: "a < b".into(),
            x_label: "n".into(),
            y_label: "%".into(),
            x,
            series: vec![Series { label: "ours & theirs".into(), values }],
        }
    }

    #[test]
    fn text_is_escaped_and_every_value_has_a_marker() {
        let names = XAxis::Categories(vec!["wine".into(), "iris".into()]);
        let svg = render_svg(&figure(names, vec![Some((1.0, 0.5)), Some((2.0, 0.5))]));
        assert!(svg.contains("a &lt; b") && svg.contains("ours &amp; theirs") && !svg.contains("a < b"));
        assert_eq!(svg.matches("class=\"mark\"").count(), 3, "two values and the key");
        assert!(svg.contains(">wine</text>"));
    }

    #[test]
    fn missing_value_breaks_the_line() {
        let values = vec![Some((1.0, 0.0)), None, Some((3.0, 0.0)), Some((4.0, 0.0))];
        let svg = render_svg(&figure(XAxis::Linear(vec![1.0, 2.0, 3.0, 4.0]), values));
        let path = svg.split("class=\"line\"").nth(1).unwrap().split('>').next().unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1), "{path}");
    }

    #[test]
    fn ticks_cover_all_values() {
        let scale = Scale::of(&figure(XAxis::Linear(vec![1.0]), vec![Some((0.37, 0.12))]));
        assert!(scale.low <= 0.25 && scale.high == 0.49, "{:?}", scale.ticks);
        let powers = Scale::of(&figure(XAxis::Log(vec![1.0]), vec![Some((0.02, 0.0))]));
        assert_eq!(powers.ticks, [0.01, 0.1]);
        assert_eq!([0.0, 12.5, 0.001, -3.0].map(format_number), ["0", "12.5", "1e−3", "−3"]);
    }

    #[test]
    fn empty_figure_is_valid() {
        let svg = render_svg(&figure(XAxis::Linear(vec![1.0]), vec![None]));
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
