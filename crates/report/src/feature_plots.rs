//! A small plot of each selected feature: by class, against a continuous target, or a histogram.

use crate::category_plots::Levels;
use crate::chart::COLORS;
use crate::html::{escape, shortened};
use crate::plot::{Axis, Colors, LEFT, NAME_LENGTH, RIGHT, WIDTH};
use crate::text::{counted, number, percent};
use kernsift::Dataset;
use kernsift::data::{Account, ColumnType, Target, date_text};
use kernsift::internals::Rng;

/// Maximum number of features.
const MAX_FEATURES: usize = 12;
/// Maximum number of points against a continuous target.
const MAX_POINTS: usize = 300;
/// Maximum number of points per class.
const MAX_POINTS_PER_CLASS: usize = 60;
/// Features with at most this many distinct values are drawn as circles instead of boxes.
const MAX_DISCRETE_VALUES: usize = 8;
/// Number of quantile groups of the median line.
const BINS: usize = 10;

/// Heading of the section.
pub fn heading(target: &Target) -> &'static str {
    match target {
        Target::Classes(_) => "Selected features by class",
        Target::Continuous(_) => "Target by selected feature",
        Target::None | Target::Outputs(_) => "Distributions of the selected features",
    }
}

fn explanation(target: &Target) -> &'static str {
    match target {
        Target::Classes(_) => {
            "Boxes show the quartiles of each class, whiskers the 5th and 95th percentiles. For features with few distinct values, the area of a \
             circle is proportional to the fraction of rows. Bars show the fractions of classes in each level of a category."
        }
        Target::Continuous(_) => {
            "Points are rows; the line joins the medians of quantile groups of the feature. For a category, boxes show the quartiles of the \
             target in each level, whiskers the 5th and 95th percentiles."
        }
        Target::None | Target::Outputs(_) => "Histograms; for a category, the number of rows in each level.",
    }
}

/// What the values of a feature are.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Numbers,
    /// Days since 1970-01-01.
    Dates,
}

impl Scale {
    /// By the type of a column of the table.
    fn of(name: &str, account: Option<&Account>) -> Self {
        let column = account.and_then(|account| account.columns.iter().find(|column| column.name == name));
        if column.is_some_and(|column| matches!(column.kind, ColumnType::Date(_))) {
            Self::Dates
        } else {
            Self::Numbers
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Self::Numbers => number(value),
            Self::Dates => date_text(value),
        }
    }

    /// Ticks of an axis: of a short time, times of day.
    fn ticks(self, axis: &Axis) -> Vec<(f64, String)> {
        if self == Self::Numbers {
            return axis.ticks(4);
        }
        let (low, high) = axis.range();
        let is_short = high - low < 2.0;
        let text = |days: f64| {
            let text = date_text(days);
            match text.split_once('T') {
                Some((_, time)) if is_short => time[..5].to_owned(),
                None if is_short => "00:00".to_owned(),
                Some((date, _)) => date.to_owned(),
                None => text,
            }
        };
        axis.ticks(2).into_iter().map(|(days, _)| (days, text(days))).collect()
    }
}

/// An explanation, and a plot of each of the first features. The account of the table says which of them are dates.
pub fn feature_plots(data: &Dataset, features: &[usize], account: Option<&Account>) -> String {
    let colors = Colors::of(data.target());
    let mut has_bars = false;
    let plots: String = features
        .iter()
        .take(MAX_FEATURES)
        .map(|&j| {
            let name = &data.names()[j];
            let svg = match Levels::of(data, j) {
                Some(levels) => {
                    has_bars = true;
                    category_plot(&levels, &colors, data.target())
                }
                None => {
                    let scale = Scale::of(name, account);
                    number_plot(&data.x().column(j), scale, &colors, data.target())
                }
            };
            format!(
                "<figure class=\"small\"><figcaption title=\"{}\">{}</figcaption>\n{svg}</figure>\n",
                escape(name),
                shortened(name, 36)
            )
        })
        .collect();
    let more = features.len().saturating_sub(MAX_FEATURES);
    let more =
        if more > 0 { format!("<p class=\"more\">{more} more not shown</p>\n") } else { String::new() };
    // The other plots name the classes.
    let legend = match &colors {
        Colors::Groups(..) if has_bars => colors.legend(),
        _ => String::new(),
    };
    format!(
        "<p class=\"legend\">{} Features are not scaled.</p>\n{legend}<div class=\"smalls\">\n{plots}</div>\n{more}",
        explanation(data.target())
    )
}

fn number_plot(values: &[f64], scale: Scale, colors: &Colors, target: &Target) -> String {
    match (colors, target) {
        (Colors::Groups(groups, names), _) => by_class(values, scale, groups, names),
        (_, Target::Continuous(target)) => against_target(values, scale, target),
        _ => histogram(values, scale),
    }
}

fn category_plot(levels: &Levels, colors: &Colors, target: &Target) -> String {
    match (colors, target) {
        (Colors::Groups(groups, names), _) => levels.by_class(groups, names),
        // The target by level.
        (_, Target::Continuous(target)) => by_class(target, Scale::Numbers, &levels.of_sample, &levels.names),
        _ => levels.counts(),
    }
}

fn frame(height: f64, label: &str, x_axis: &Axis, scale: Scale) -> String {
    let bottom = height - 24.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{label}\">\n<g class=\"grid\">\n"
    );
    for (value, text) in scale.ticks(x_axis) {
        let x = x_axis.at(value);
        // A long text, such as a date, stays inside.
        let half_width = 3.3 * text.chars().count() as f64;
        svg += &format!(
            "<path d=\"M{x:.1} 4V{bottom:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
            x.min(WIDTH - half_width),
            bottom + 16.0
        );
    }
    svg + &format!("<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{RIGHT:.1}\"/>\n</g>\n")
}

/// A quantile by linear interpolation.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    // Halving avoids overflow of the difference.
    below + 2.0 * (at - at.floor()) * (0.5 * above - 0.5 * below)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    // Missing values are not drawn.
    let mut all: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Box plots with points, one per class.
fn by_class(values: &[f64], scale: Scale, groups: &[usize], names: &[String]) -> String {
    let step = if names.len() > 4 { 26.0 } else { 34.0 };
    let height = 34.0 + step * names.len() as f64;
    let x_axis = Axis::new(values.iter().copied(), LEFT + 14.0, RIGHT - 12.0);
    let mut distinct = sorted(values.iter().copied());
    distinct.dedup();
    let discrete = distinct.len() <= MAX_DISCRETE_VALUES;
    let mut svg = frame(height, "Values by class", &x_axis, scale);
    for (group, name) in names.iter().enumerate() {
        let values = sorted(values.iter().zip(groups).filter(|(_, g)| **g == group).map(|(v, _)| *v));
        let y = 8.0 + step * (group as f64 + 0.5);
        svg += &format!(
            "<g class=\"c{}\"><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            group % COLORS,
            LEFT - 6.0,
            y + 4.0,
            shortened(name, NAME_LENGTH)
        );
        if discrete {
            svg += &circles(&values, scale, &x_axis, y, step);
        } else if !values.is_empty() {
            svg += &box_plot(&values, &x_axis, y, step, &mut Rng::new(group as u64));
            let [first, median, third] = [0.25, 0.5, 0.75].map(|q| scale.text(quantile(&values, q)));
            svg += &format!(
                "<title>{}: median {median}, quartiles {first} and {third}, {}</title>",
                escape(name),
                counted(values.len(), "row")
            );
        }
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// A box with whiskers, over jittered points.
fn box_plot(values: &[f64], x_axis: &Axis, y: f64, step: f64, rng: &mut Rng) -> String {
    let points: String = rng
        .sample(values.len(), MAX_POINTS_PER_CLASS)
        .into_iter()
        .map(|i| format!("M{:.1} {:.1}h0", x_axis.at(values[i]), y + (rng.uniform() - 0.5) * 0.5 * step))
        .collect();
    let [low, first, median, third, high] =
        [0.05, 0.25, 0.5, 0.75, 0.95].map(|q| x_axis.at(quantile(values, q)));
    let height = 0.55 * step;
    let top = y - height / 2.0;
    format!(
        "<path class=\"points\" d=\"{points}\"/><path class=\"whisker\" d=\"M{low:.1} {y:.1}H{high:.1}\"/>\
         <rect class=\"box\" x=\"{first:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>\
         <path class=\"median\" d=\"M{median:.1} {top:.1}v{height:.1}\"/>",
        (third - first).max(1.0),
    )
}

/// A circle for each distinct value; its area is proportional to the fraction of rows.
fn circles(values: &[f64], scale: Scale, x_axis: &Axis, y: f64, step: f64) -> String {
    values
        .chunk_by(|a, b| a == b)
        .map(|equal| {
            let fraction = equal.len() as f64 / values.len() as f64;
            format!(
                "<circle class=\"box\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"><title>{}: {} % of {}</title></circle>",
                x_axis.at(equal[0]),
                0.46 * step * fraction.sqrt(),
                scale.text(equal[0]),
                percent(fraction),
                counted(values.len(), "row")
            )
        })
        .collect()
}

/// A scatter plot, with the medians of groups of equal size.
fn against_target(values: &[f64], scale: Scale, target: &[f64]) -> String {
    const HEIGHT: f64 = 190.0;
    let x_axis = Axis::new(values.iter().copied(), LEFT + 6.0, RIGHT - 4.0);
    let y_axis = Axis::new(target.iter().copied(), HEIGHT - 30.0, 10.0);
    let mut svg = frame(HEIGHT, "Target by feature", &x_axis, scale);
    svg += "<g class=\"grid\">";
    for (value, text) in y_axis.ticks(4) {
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 6.0,
            y_axis.at(value) + 4.0
        );
    }
    svg += "</g>\n<g class=\"c0\">";
    let known: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    let points: String = Rng::new(0)
        .sample(known.len(), MAX_POINTS)
        .into_iter()
        .map(|at| format!("M{:.1} {:.1}h0", x_axis.at(values[known[at]]), y_axis.at(target[known[at]])))
        .collect();
    svg += &format!("<path class=\"points\" d=\"{points}\"/></g>\n");
    let mut order = known;
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut line = String::new();
    let bins = BINS.min(order.len());
    for bin in 0..bins {
        let rows = &order[bin * order.len() / bins..(bin + 1) * order.len() / bins];
        let median = |numbers: &[f64]| quantile(&sorted(rows.iter().map(|&i| numbers[i])), 0.5);
        line += &format!(
            "{}{:.1} {:.1}",
            if line.is_empty() { "M" } else { "L" },
            x_axis.at(median(values)),
            y_axis.at(median(target))
        );
    }
    svg + &format!(
        "<g class=\"method c1\"><path class=\"line\" d=\"{line}\"/><title>medians of quantile groups</title></g>\n</svg>\n"
    )
}

fn histogram(values: &[f64], scale: Scale) -> String {
    const HEIGHT: f64 = 150.0;
    let x_axis = Axis::new(values.iter().copied(), LEFT + 6.0, RIGHT - 4.0);
    frame(HEIGHT, "Histogram", &x_axis, scale)
        + &crate::histogram::bars(values, &x_axis, (HEIGHT - 24.0, 8.0), 24, None)
        + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_dates() {
        // 2019-01-01 is day 17,897.
        let axis = Axis::new([17_897.0, 18_897.0].into_iter(), 0.0, 100.0);
        let texts =
            |axis: &Axis| Scale::Dates.ticks(axis).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(&axis), ["2019-04-14", "2020-08-26"]);
        assert_eq!(texts(&Axis::new([0.0, 0.75].into_iter(), 0.0, 100.0)), ["00:00", "12:00"]);
        assert_eq!(Scale::Dates.text(17_897.5), "2019-01-01T12:00:00");
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&[-1.6e308, 1.6e308], 0.5), 0.0);
        assert_eq!(quantile(&[3.0], 0.95), 3.0);
    }
}
