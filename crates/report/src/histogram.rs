//! Histograms.

use crate::plot::{Axis, grid};
use crate::text::{counted, number};

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
    const WIDTH: f64 = 1000.0;
    const HEIGHT: f64 = 300.0;
    let x_axis = Axis::new(values.iter().copied(), 66.0, WIDTH - 20.0).with_zero();
    let (bottom, top) = (HEIGHT - 52.0, 14.0);
    let max = counts(values, &x_axis, 40, Some(0.0)).iter().map(|bin| bin.count).max().unwrap_or(0);
    let y_axis = Axis::new([0.0, max.max(1) as f64].into_iter(), bottom, top);
    let zero = x_axis.at(0.0);
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"Margins of triplets\">\n{}{}\
         <g class=\"stop\"><path d=\"M{zero:.1} {bottom:.1}V{top:.1}\"/></g>\n</svg>\n",
        grid(&x_axis, &y_axis, ("Margin", "Triplets")),
        bars(values, &x_axis, (bottom, top), 40, Some(0.0))
    )
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
}
