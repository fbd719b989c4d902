//! A number for each of a row of steps, with the place where they ended.

use crate::html::escape;
use crate::plot::{Axis, grid};
use crate::words::number;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 340.0;
/// Points that tell their value where the reader points.
const POINTS: usize = 200;

/// A curve and what it is held against.
pub struct Curve<'a> {
    /// What the drawing shows, for those who cannot see it.
    pub title: &'a str,
    /// What runs from left to right.
    pub across: &'a str,
    /// What runs upwards.
    pub up: &'a str,
    /// A value for each step from the first.
    pub values: &'a [f64],
    /// What a point is about: its number is put behind it.
    pub step: &'a str,
    /// A second curve, which the first is held against, and its name.
    pub limit: Option<(&'a [f64], &'a str)>,
    /// The step that was the last to be taken, and what to say there.
    pub stop: Option<(usize, String)>,
}

impl Curve<'_> {
    /// The drawing.
    pub fn svg(&self) -> String {
        let (left, right, top, bottom) = (66.0, WIDTH - 20.0, 26.0, HEIGHT - 52.0);
        let n = self.values.len();
        let across = Axis::new([1.0, n.max(2) as f64].into_iter(), left + 6.0, right - 6.0);
        let limit = self.limit.map_or(&[][..], |(values, _)| values);
        let up = Axis::new(self.values.iter().chain(limit).copied(), bottom, top).logarithmic_if_wide();
        let up = if up.is_logarithmic() { up } else { up.with_zero() };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"{}\">\n",
            escape(self.title)
        );
        let scale = if up.is_logarithmic() { " (logarithmic)" } else { "" };
        svg += &grid(&across, &up, (self.across, &format!("{}{scale}", self.up)));
        if let Some((step, text)) = &self.stop {
            let x = across.at(*step as f64);
            let (anchor, dx) = if x > WIDTH / 2.0 { ("end", -8.0) } else { ("start", 8.0) };
            svg += &format!(
                "<g class=\"stop\"><path d=\"M{x:.1} {bottom:.1}V{:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text></g>\n",
                top - 10.0,
                x + dx,
                top - 4.0,
                escape(text)
            );
        }
        let path = |values: &[f64]| -> String {
            let points = values.iter().enumerate();
            points
                .map(|(at, &v)| {
                    format!(
                        "{}{:.1} {:.1}",
                        if at == 0 { "M" } else { "L" },
                        across.at(at as f64 + 1.0),
                        up.at(v)
                    )
                })
                .collect()
        };
        if let Some((values, name)) = self.limit {
            svg += &format!(
                "<g class=\"limit\"><path d=\"{}\"/><title>{}</title></g>\n",
                path(values),
                escape(name)
            );
        }
        svg += &format!("<g class=\"method c0\"><path class=\"line\" d=\"{}\"/>", path(self.values));
        let every = n.div_ceil(POINTS).max(1);
        for (at, &v) in self.values.iter().enumerate().step_by(every) {
            let radius = if n <= 40 { 4.0 } else { 2.5 };
            svg += &format!(
                "<circle class=\"mark\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{} {}: {}</title></circle>",
                across.at(at as f64 + 1.0),
                up.at(v),
                escape(self.step),
                at + 1,
                number(v)
            );
        }
        svg + "</g>\n</svg>\n"
    }
}
