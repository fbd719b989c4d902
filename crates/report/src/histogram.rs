//! How often values occur.

use crate::plot::{Axis, grid};
use crate::words::{counted, number};

/// Bars between two heights; where there is a border, values below it have the other colour.
pub fn bars(
    values: &[f64],
    across: &Axis,
    (bottom, top): (f64, f64),
    bins: usize,
    border: Option<f64>,
) -> String {
    let counts = counts(values, across, bins, border);
    let most = counts.iter().map(|bin| bin.count).max().unwrap_or(0).max(1) as f64;
    let mut svg = String::from("<g>");
    for bin in counts.iter().filter(|bin| bin.count > 0) {
        let tall = (bottom - top) * bin.count as f64 / most;
        let colour = usize::from(border.is_some_and(|border| 0.5 * (bin.low + bin.high) < border));
        svg += &format!(
            "<rect class=\"column c{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"><title>{} from {} to {}</title></rect>\n",
            across.at(bin.low),
            bottom - tall,
            (across.at(bin.high) - across.at(bin.low) - 1.0).max(0.8),
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

/// Equal bins; the border, if it lies within, is the edge of two.
fn counts(values: &[f64], across: &Axis, bins: usize, border: Option<f64>) -> Vec<Bin> {
    let (low, high) = across.ends();
    // Halves: the difference of very large numbers is one.
    let width = 2.0 * ((0.5 * high - 0.5 * low) / bins as f64);
    if !(width > 0.0 && width.is_finite()) {
        return vec![];
    }
    let start = match border.filter(|border| (low..high).contains(border)) {
        Some(border) => border - ((border - low) / width).ceil() * width,
        None => low,
    };
    let mut all: Vec<Bin> = (0..=bins)
        .map(|at| Bin { low: start + at as f64 * width, high: start + (at + 1) as f64 * width, count: 0 })
        .collect();
    for value in values.iter().filter(|v| v.is_finite()) {
        let at = ((value - start) / width).floor().clamp(0.0, bins as f64);
        all[at as usize].count += 1;
    }
    // The largest value closes the last bin rather than opening another.
    if start + bins as f64 * width >= high - 1e-9 * width {
        let last = all.pop().map_or(0, |bin| bin.count);
        if let Some(bin) = all.last_mut() {
            bin.count += last;
        }
    }
    all
}

/// A drawing of its own: values that should lie above zero.
pub fn margins(values: &[f64]) -> String {
    const WIDTH: f64 = 1000.0;
    const HEIGHT: f64 = 300.0;
    let across = Axis::new(values.iter().copied(), 66.0, WIDTH - 20.0).with_zero();
    let (bottom, top) = (HEIGHT - 52.0, 14.0);
    let most = counts(values, &across, 40, Some(0.0)).iter().map(|bin| bin.count).max().unwrap_or(0);
    let up = Axis::new([0.0, most.max(1) as f64].into_iter(), bottom, top);
    let zero = across.at(0.0);
    format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {HEIGHT:.0}\" role=\"img\" aria-label=\"Margins of triples\">\n{}{}\
         <g class=\"stop\"><path d=\"M{zero:.1} {bottom:.1}V{top:.1}\"/></g>\n</svg>\n",
        grid(&across, &up, ("How much more like its near row than its far row each row is", "Triples")),
        bars(values, &across, (bottom, top), 40, Some(0.0))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bin_and_zero_is_an_edge() {
        let values = [-1.0, -0.2, 0.3, 0.31, 2.0];
        let across = Axis::new(values.iter().copied(), 0.0, 1.0);
        let bins = counts(&values, &across, 10, Some(0.0));
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<usize>(), 5);
        let below: usize = bins.iter().filter(|bin| bin.high < 1e-9).map(|bin| bin.count).sum();
        assert_eq!(below, 2);
        let plain = counts(&values, &across, 10, None);
        assert_eq!((plain.len(), plain[9].count), (10, 1));
        assert_eq!(plain.iter().map(|bin| bin.count).sum::<usize>(), 5);
    }

    #[test]
    fn bars_below_the_border_have_the_other_colour() {
        let svg = margins(&[-0.5, 0.5, 0.5]);
        assert_eq!(svg.matches("column c1").count(), 1);
        assert!(svg.contains("2 values from 0.4750 to 0.5000"), "{svg}");
    }
}
