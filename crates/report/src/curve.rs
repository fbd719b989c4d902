//! A line chart of one value per step, with the step at which the method stopped.

use crate::html::escape;
use crate::plot::{Axis, grid};
use crate::text::number;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 340.0;
/// Maximum number of points with a tooltip.
const MAX_POINTS: usize = 200;

/// Contents of the chart.
pub struct Curve<'a> {
    /// Title for screen readers.
    pub title: &'a str,
    /// Label of the x axis.
    pub x_label: &'a str,
    /// Label of the y axis.
    pub y_label: &'a str,
    /// One value per step.
    pub values: &'a [f64],
    /// Name of a step, in tooltips.
    pub step: &'a str,
    /// A second curve, such as a threshold, and its name.
    pub limit: Option<(&'a [f64], &'a str)>,
    /// The last step, and its label.
    pub stop: Option<(usize, String)>,
}

impl Curve<'_> {
    /// Renders the chart.
    pub fn svg(&self) -> String {
        let (left, right, top, bottom) = (66.0, WIDTH - 20.0, 26.0, HEIGHT - 52.0);
        let n = self.values.len();
        let x_axis = Axis::new([1.0, n.max(2) as f64].into_iter(), left + 6.0, right - 6.0);
        let limit = self.limit.map_or(&[][..], |(values, _)| values);
        let y_axis = Axis::new(self.values.iter().chain(limit).copied(), bottom, top).logarithmic_if_wide();
        let y_axis = if y_axis.is_logarithmic() { y_axis } else { y_axis.with_zero() };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"{}\">\n",
            escape(self.title)
        );
        let scale = if y_axis.is_logarithmic() { " (logarithmic)" } else { "" };
        svg += &grid(&x_axis, &y_axis, (self.x_label, &format!("{}{scale}", self.y_label)));
        if let Some((step, text)) = &self.stop {
            let x = x_axis.at(*step as f64);
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
            let point = |(at, &v): (usize, &f64)| {
                let command = if at == 0 { "M" } else { "L" };
                format!("{command}{:.1} {:.1}", x_axis.at(at as f64 + 1.0), y_axis.at(v))
            };
            values.iter().enumerate().map(point).collect()
        };
        if let Some((values, name)) = self.limit {
            svg += &format!(
                "<g class=\"limit\"><path d=\"{}\"/><title>{}</title></g>\n",
                path(values),
                escape(name)
            );
        }
        svg += &format!("<g class=\"method c0\"><path class=\"line\" d=\"{}\"/>", path(self.values));
        let every = n.div_ceil(MAX_POINTS).max(1);
        for (at, &v) in self.values.iter().enumerate().step_by(every) {
            let radius = if n <= 40 { 4.0 } else { 2.5 };
            svg += &format!(
                "<circle class=\"mark\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{} {}: {}</title></circle>",
                x_axis.at(at as f64 + 1.0),
                y_axis.at(v),
                escape(self.step),
                at + 1,
                number(v)
            );
        }
        svg + "</g>\n</svg>\n"
    }
}
