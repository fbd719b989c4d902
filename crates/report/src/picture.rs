//! A picture of its own: lines over numbers, or dots over names, with spreads.
//!
//! It is one SVG file that needs nothing else and follows the reader's choice of light or dark.

use crate::axis::{spread, step_for};
use crate::chart::{COLOURS, DASHES, marker, marker_class};
use crate::html::{escape, shortened};
use serde::Serialize;

/// What is drawn.
#[derive(Debug, Clone, Serialize)]
pub struct Picture {
    /// The name of its file, without ending.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What runs from left to right.
    pub across: String,
    /// What runs upwards.
    pub up: String,
    /// Where values stand.
    pub places: Places,
    /// A line per method.
    pub lines: Vec<Line>,
}

/// Where values stand from left to right.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Places {
    /// At rising numbers; values are joined by lines.
    Numbers(Vec<f64>),
    /// At rising numbers, both ways by their logarithms.
    Logarithms(Vec<f64>),
    /// Under names, each a group of dots.
    Names(Vec<String>),
}

/// The values of a method.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// What it is called.
    pub label: String,
    /// Mean and spread at each place, where there is one.
    pub values: Vec<Option<(f64, f64)>>,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const HEIGHT: f64 = 340.0;
const BELOW: f64 = 66.0;
/// Height of a label's line.
const LINE: f64 = 18.0;
/// Characters of a label, and the width of one on average, rounded up.
const LABEL: usize = 28;
const CHARACTER: f64 = 7.1;

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

/// A picture as an SVG file.
pub fn draw(picture: &Picture) -> String {
    let longest = picture.lines.iter().map(|line| line.label.chars().count()).max().unwrap_or(0).min(LABEL);
    let right = WIDTH - 50.0 - CHARACTER * longest as f64;
    let bottom = TOP + HEIGHT.max(LINE * picture.lines.len() as f64);
    let frame = Frame { picture, right, bottom, scale: Scale::of(picture) };
    let height = bottom + BELOW;
    let title = escape(&picture.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"26\">{title}</text>\n"
    );
    svg += &frame.grid();
    svg += &frame.lines();
    svg + "</svg>\n"
}

/// Upwards: from where to where, in which steps.
struct Scale {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    logarithmic: bool,
}

impl Scale {
    fn of(picture: &Picture) -> Self {
        let logarithmic = matches!(picture.places, Places::Logarithms(_));
        let values = picture.lines.iter().flat_map(|line| line.values.iter().flatten());
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
        // A little rounding, so that 0.3 / 0.1 is 3.
        let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step + 1e-9).floor() as i64);
        let ticks: Vec<f64> = (first..=last.max(first + 1)).map(|i| i as f64 * step).collect();
        // Down to a tick, up no further than needed.
        Self { low: ticks[0], high: high.max(ticks[ticks.len() - 1]), ticks, logarithmic }
    }

    /// 0 at the bottom, 1 at the top.
    fn share(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

struct Frame<'a> {
    picture: &'a Picture,
    right: f64,
    bottom: f64,
    scale: Scale,
}

impl Frame<'_> {
    fn y(&self, value: f64) -> f64 {
        self.bottom - self.scale.share(value) * (self.bottom - TOP)
    }

    /// The place of the nth value.
    fn x(&self, nth: usize) -> f64 {
        let (left, right) = (LEFT + 24.0, self.right - 18.0);
        let share = match &self.picture.places {
            Places::Names(names) => (nth as f64 + 0.5) / names.len() as f64,
            Places::Numbers(values) => portion(values, nth, |v| v),
            Places::Logarithms(values) => portion(values, nth, f64::ln),
        };
        left + share * (right - left)
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
                plain(tick)
            );
        }
        // Names that would touch stand in two lines; numbers that would are left out.
        let rows = if matches!(self.picture.places, Places::Names(_)) { 2 } else { 1 };
        let mut free = vec![f64::NEG_INFINITY; rows];
        for (nth, name) in self.names().iter().enumerate() {
            let (x, half) = (self.x(nth), CHARACTER * name.chars().count() as f64 / 2.0);
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
            escape(&self.picture.across),
            (TOP + bottom) / 2.0,
            escape(&self.picture.up)
        )
    }

    /// What is written under the axis.
    fn names(&self) -> Vec<String> {
        match &self.picture.places {
            Places::Names(names) => names.clone(),
            Places::Numbers(values) | Places::Logarithms(values) => {
                values.iter().map(|&v| plain(v)).collect()
            }
        }
    }

    fn lines(&self) -> String {
        let lines = &self.picture.lines;
        let named = matches!(self.picture.places, Places::Names(_));
        let gap = if self.names().len() > 1 { self.x(1) - self.x(0) } else { self.right - LEFT };
        let aside = if named { 0.62 * gap / lines.len().max(1) as f64 } else { 0.0 };
        let shift = |nth: usize| aside * (nth as f64 - (lines.len() as f64 - 1.0) / 2.0);
        let last = |line: &Line| line.values.iter().enumerate().rev().find_map(|(i, v)| Some((i, (*v)?)));
        // A key beside the picture: at the ends of lines, or one below the other.
        let wanted: Vec<f64> = lines
            .iter()
            .enumerate()
            .map(|(nth, line)| match last(line) {
                Some((_, (mean, _))) if !named => self.y(mean),
                _ => TOP + 10.0 + LINE * nth as f64,
            })
            .collect();
        let keys = spread(&wanted, LINE, TOP + 6.0, self.bottom - 4.0);
        let mut svg = String::new();
        for (nth, line) in lines.iter().enumerate() {
            svg += &format!("<g class=\"c{}\">", nth % COLOURS);
            svg += &self.line(nth, line, shift(nth), !named);
            if let (Some((at, (mean, _))), false) = (last(line), named) {
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
                escape(&line.label),
                shortened(&line.label, LABEL)
            );
        }
        svg
    }

    fn line(&self, nth: usize, line: &Line, shift: f64, joined: bool) -> String {
        let (mut path, mut bars, mut marks, mut down) = (String::new(), String::new(), String::new(), false);
        let every = line.values.len().div_ceil(16);
        for (at, value) in line.values.iter().enumerate() {
            let Some((mean, sd)) = *value else {
                down = false;
                continue;
            };
            let (x, y) = (self.x(at) + shift, self.y(mean));
            path += &format!("{}{x:.1} {y:.1}", if down { "L" } else { "M" });
            down = true;
            // Many spreads would cover each other along lines.
            if !joined && sd > 0.0 {
                bars += &format!("M{x:.1} {:.1}V{:.1}", self.y(mean - sd), self.y(mean + sd));
            }
            if !joined || at % every == 0 {
                marks += &format!(
                    "<path class=\"{}\" d=\"{}\"><title>{}: {} ± {}</title></path>",
                    marker_class(nth),
                    marker(nth, x, y),
                    escape(&line.label),
                    plain(mean),
                    plain(sd)
                );
            }
        }
        let dash = DASHES[(nth / COLOURS) % DASHES.len()];
        let path = if joined {
            let dash = if dash.is_empty() { "none" } else { dash };
            format!("<path class=\"line\" stroke-dasharray=\"{dash}\" d=\"{path}\"/>")
        } else {
            String::new()
        };
        format!("<path class=\"sd\" d=\"{bars}\"/>{path}{marks}")
    }
}

fn portion(values: &[f64], nth: usize, scale: impl Fn(f64) -> f64) -> f64 {
    let (first, last) = (scale(values[0]), scale(values[values.len() - 1]));
    if first == last { 0.5 } else { (scale(values[nth]) - first) / (last - first) }
}

/// A number without needless digits.
fn plain(value: f64) -> String {
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

    fn picture(places: Places, values: Vec<Option<(f64, f64)>>) -> Picture {
        Picture {
            name: "x".into(),
            title: "a < b".into(),
            across: "n".into(),
            up: "%".into(),
            places,
            lines: vec![Line { label: "ours & theirs".into(), values }],
        }
    }

    #[test]
    fn text_is_text_and_every_value_has_a_sign() {
        let names = Places::Names(vec!["wine".into(), "iris".into()]);
        let svg = draw(&picture(names, vec![Some((1.0, 0.5)), Some((2.0, 0.5))]));
        assert!(svg.contains("a &lt; b") && svg.contains("ours &amp; theirs") && !svg.contains("a < b"));
        assert_eq!(svg.matches("class=\"mark\"").count(), 3, "two values and the key");
        assert!(svg.contains(">wine</text>"));
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let values = vec![Some((1.0, 0.0)), None, Some((3.0, 0.0)), Some((4.0, 0.0))];
        let svg = draw(&picture(Places::Numbers(vec![1.0, 2.0, 3.0, 4.0]), values));
        let path = svg.split("class=\"line\"").nth(1).unwrap().split('>').next().unwrap();
        assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 1), "{path}");
    }

    #[test]
    fn ticks_hold_all_values() {
        let scale = Scale::of(&picture(Places::Numbers(vec![1.0]), vec![Some((0.37, 0.12))]));
        assert!(scale.low <= 0.25 && scale.high == 0.49, "{:?}", scale.ticks);
        let powers = Scale::of(&picture(Places::Logarithms(vec![1.0]), vec![Some((0.02, 0.0))]));
        assert_eq!(powers.ticks, [0.01, 0.1]);
        assert_eq!([0.0, 12.5, 0.001, -3.0].map(plain), ["0", "12.5", "1e−3", "−3"]);
    }

    #[test]
    fn nothing_to_draw_is_still_a_picture() {
        let svg = draw(&picture(Places::Numbers(vec![1.0]), vec![None]));
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }
}
