//! Histograms.

use crate::plot::{Axis, grid};
use crate::text::{counted, number};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 300.0;
/// The ends of the x axis.
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 20.0;

/// The bars of a histogram. With a `boundary`, bars below it have another color.
pub fn bars(
    values: &[f64],
    x_axis: &Axis,
    (bottom, top): (f64, f64),
    bins: usize,
    boundary: Option<f64>,
) -> String {
    let counts = counts(values, x_axis, bins, boundary);
    let max = counts.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f64;
    let mut svg = String::from("<g>");
    for bin in counts.iter().filter(|bin| bin.count > 0) {
        let height = (bottom - top) * bin.count as f64 / max;
        let color = usize::from(boundary.is_some_and(|boundary| 0.5 * (bin.low + bin.high) < boundary));
        svg += &format!(
            "<rect class=\"column c{color}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"><title>{} from {} to {}</title></rect>\n",
            x_axis.at(bin.low),
            bottom - height,
            (x_axis.at(bin.high) - x_axis.at(bin.low) - 1.0).max(0.8),
            counted(bin.count, "value"),
            number(bin.low),
            number(bin.high)
        );
    }
    svg + "</g>\n"
}

struct Bin {
    low: f64,
    high: f64,
    count: usize,
}

/// Bins of equal width. If `boundary` is in the range, it is the edge of a bin.
fn counts(values: &[f64], x_axis: &Axis, bins: usize, boundary: Option<f64>) -> Vec<Bin> {
    let (low, high) = x_axis.range();
    // Halving avoids overflow of the difference.
    let width = 2.0 * ((0.5 * high - 0.5 * low) / bins as f64);
    if !(width > 0.0 && width.is_finite()) {
        return vec![];
    }
    let start = match boundary.filter(|boundary| (low..high).contains(boundary)) {
        Some(boundary) => boundary - ((boundary - low) / width).ceil() * width,
        None => low,
    };
    let mut all: Vec<Bin> = (0..=bins)
        .map(|at| Bin { low: start + at as f64 * width, high: start + (at + 1) as f64 * width, count: 0 })
        .collect();
    for value in values.iter().filter(|v| v.is_finite()) {
        let at = ((value - start) / width).floor().clamp(0.0, bins as f64);
        all[at as usize].count += 1;
    }
    // The last bin includes its upper edge.
    if start + bins as f64 * width >= high - 1e-9 * width {
        let last = all.pop().map_or(0, |bin| bin.count);
        if let Some(bin) = all.last_mut() {
            bin.count += last;
        }
    }
    all
}

/// A histogram of margins, which should be positive.
pub fn margins(values: &[f64]) -> String {
    let x_axis = Axis::new(values.iter().copied(), LEFT, RIGHT).with_zero();
    Panel { title: "Margins of triplets", labels: ("Margin", "Triplets"), x_axis, bins: 40 }.svg(
        values,
        Some(0.0),
        None,
    )
}

/// A histogram of p-values, with a line at the height of all bars if the target depends on no feature.
pub fn p_values(values: &[f64]) -> String {
    const BINS: usize = 20;
    let expected = values.len() as f64 / BINS as f64;
    let x_axis = Axis::new([0.0, 1.0].into_iter(), LEFT, RIGHT);
    Panel { title: "p-values of all features", labels: ("p-value", "Features"), x_axis, bins: BINS }.svg(
        values,
        None,
        Some((expected, "Expected if the target depends on no feature")),
    )
}

/// A histogram with axes.
struct Panel<'a> {
    title: &'a str,
    labels: (&'a str, &'a str),
    x_axis: Axis,
    bins: usize,
}

impl Panel<'_> {
    /// A `boundary` is drawn as a vertical line, a `level` as a horizontal one.
    fn svg(&self, values: &[f64], boundary: Option<f64>, level: Option<(f64, &str)>) -> String {
        let (x_axis, bottom, top) = (&self.x_axis, HEIGHT - 52.0, 14.0);
        let bins = counts(values, x_axis, self.bins, boundary);
        let max = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f64;
        let y_axis = Axis::new([0.0, max].into_iter(), bottom, top);
        let vertical = boundary.map_or(String::new(), |at| {
            format!("<g class=\"stop\"><path d=\"M{:.1} {bottom:.1}V{top:.1}\"/></g>\n", x_axis.at(at))
        });
        let horizontal = level.map_or(String::new(), |(level, name)| {
            let y = y_axis.at(level.min(max));
            format!("<g class=\"stop\"><path d=\"M{LEFT:.1} {y:.1}H{RIGHT:.1}\"/><title>{name}</title></g>\n")
        });
        format!(
            "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"{}\">\n{}{}{vertical}{horizontal}</svg>\n",
            self.title,
            grid(x_axis, &y_axis, self.labels),
            bars(values, x_axis, (bottom, top), self.bins, boundary)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bin_and_zero_is_an_edge() {
        let values = [-1.0, -0.2, 0.3, 0.31, 2.0];
        let x_axis = Axis::new(values.iter().copied(), 0.0, 1.0);
        let bins = counts(&values, &x_axis, 10, Some(0.0));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 5);
        let below: usize = bins.iter().filter(|bin| bin.high < 1e-9).map(|bin| bin.count).sum();
        assert_eq!(below, 2);
        let plain = counts(&values, &x_axis, 10, None);
        assert_eq!((plain.len(), plain[9].count), (10, 1));
        assert_eq!(plain.iter().map(|bin| bin.count).sum::<usize>(), 5);
    }

    #[test]
    fn bars_below_the_boundary_have_another_color() {
        let svg = margins(&[-0.5, 0.5, 0.5]);
        assert_eq!(svg.matches("column c1").count(), 1);
        assert!(svg.contains("2 values from 0.4750 to 0.5000"), "{svg}");
    }

    #[test]
    fn p_values_have_a_line_at_the_expected_height() {
        // Two of 40 features are expected in a bin; the first has 20.
        let values: Vec<f64> =
            (0..40).map(|at| if at < 20 { 0.01 } else { (at - 20) as f64 / 20.0 + 0.025 }).collect();
        let svg = p_values(&values);
        assert_eq!(svg.matches("<rect").count(), 20);
        assert!(svg.contains("21 values from 0 to 0.05000"), "{svg}");
        // From 248 at 0 to 14 at 21.
        assert!(svg.contains(&format!("M66.0 {:.1}H980.0", 248.0 - 234.0 * 2.0 / 21.0)), "{svg}");
    }
}
