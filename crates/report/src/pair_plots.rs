//! Plots of pairs of features against the target: a scatter plot and a heat map in a grid of ranks.

use crate::category_plots::Levels;
use crate::chart::COLORS;
use crate::html::{escape, shortened};
use crate::plot::{Axis, Colors};
use crate::text::{counted, number, percent};
use kernsift::Dataset;
use kernsift::interactions::Pair;
use kernsift::internals::Rng;

/// Maximum number of pairs.
const MAX_PAIRS: usize = 6;
/// Maximum number of points.
const MAX_POINTS: usize = 600;
/// Cells of a heat map on each side, for numbers.
const BINS: usize = 8;
/// Cells with fewer rows than this are drawn without a value.
const MIN_ROWS: usize = 3;
const SIZE: f64 = 400.0;
const LEFT: f64 = 66.0;
const BOTTOM: f64 = SIZE - 48.0;
const RIGHT: f64 = SIZE - 10.0;
const TOP: f64 = 10.0;

/// An explanation, and two plots of each of the first pairs.
pub fn pair_plots(data: &Dataset, pairs: &[Pair]) -> String {
    let colors = Colors::of(data.target());
    let shares = Shares::of(&colors);
    let plots: String = pairs
        .iter()
        .take(MAX_PAIRS)
        .map(|pair| {
            let [first, second] = [pair.features.0, pair.features.1].map(|j| Side::of(data, j));
            let title = format!("{} × {}", first.name, second.name);
            format!(
                "<figure class=\"small\"><figcaption title=\"{}\">{}</figcaption>\n{}</figure>\n\
                 <figure class=\"small\"><figcaption>{}</figcaption>\n{}</figure>\n",
                escape(&title),
                shortened(&title, 48),
                scatter(&first, &second, &colors),
                shares.title(),
                heat_map(&first, &second, &shares),
            )
        })
        .collect();
    let ranks = format!(
        "Left: rows, colored by the target. Right: a grid of up to {BINS} groups of equal size of each feature, or of its levels; the text of a cell \
         shows its number of rows."
    );
    format!("<p class=\"legend\">{ranks}</p>\n{}<div class=\"cards\">\n{plots}</div>\n", colors.legend())
}

/// A feature as an axis.
struct Side {
    name: String,
    /// The position of each row on the axis of the scatter plot; NaN for missing values.
    values: Vec<f64>,
    /// The cell of each row in the heat map.
    cells: Vec<Option<usize>>,
    /// The label of each cell.
    labels: Vec<String>,
    is_category: bool,
}

impl Side {
    fn of(data: &Dataset, feature: usize) -> Self {
        let name = data.names()[feature].clone();
        if let Some(Levels { names, of_sample }) = Levels::of(data, feature) {
            let values = of_sample.iter().map(|&level| level as f64).collect();
            let cells = of_sample.into_iter().map(Some).collect();
            return Self { name, values, cells, labels: names, is_category: true };
        }
        let values = data.x().column(feature);
        let (cells, labels) = quantile_groups(&values);
        Self { name, values, cells, labels, is_category: false }
    }
}

/// Groups of about equal size; equal values share a group. A label is the range of its values.
fn quantile_groups(values: &[f64]) -> (Vec<Option<usize>>, Vec<String>) {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut cells = vec![None; values.len()];
    let mut ranges: Vec<(f64, f64)> = vec![];
    let (mut first, mut last) = (0, usize::MAX);
    for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
        // The group of the middle of equal values.
        let group = (2 * first + same.len()) * BINS / (2 * order.len());
        let value = values[same[0]];
        if group != last {
            ranges.push((value, value));
            last = group;
        }
        let at = ranges.len() - 1;
        ranges[at].1 = value;
        same.iter().for_each(|&i| cells[i] = Some(at));
        first += same.len();
    }
    let label = |&(low, high): &(f64, f64)| match low == high {
        true => number(low),
        false => format!("{} to {}", number(low), number(high)),
    };
    (cells, ranges.iter().map(label).collect())
}

/// Rows in the plane of two features, colored by the target.
fn scatter(first: &Side, second: &Side, colors: &Colors) -> String {
    let axis = |side: &Side, from: f64, to: f64| {
        let ends = if side.is_category { vec![-0.5, side.labels.len() as f64 - 0.5] } else { vec![] };
        let axis = Axis::new(side.values.iter().copied().chain(ends), from, to);
        if side.is_category { axis } else { axis.with_margin() }
    };
    let (x_axis, y_axis) = (axis(first, LEFT, RIGHT), axis(second, BOTTOM, TOP));
    let mut svg = frame("Rows by two features", first, second);
    svg += &ticks(first, &x_axis, second, &y_axis);
    svg += "<g class=\"dots\">\n";
    let mut rng = Rng::new(0);
    let drawn: Vec<usize> = (0..first.values.len())
        .filter(|&i| first.values[i].is_finite() && second.values[i].is_finite())
        .collect();
    for at in rng.sample(drawn.len(), MAX_POINTS) {
        let row = drawn[at];
        // Rows of the same level are spread out.
        let mut place = |side: &Side| match side.is_category {
            true => side.values[row] + 0.6 * (rng.uniform() - 0.5),
            false => side.values[row],
        };
        let (x, y) = (place(first), place(second));
        let circle = format!("cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"", x_axis.at(x), y_axis.at(y));
        svg += &match colors {
            Colors::Groups(groups, _) => format!("<circle class=\"c{}\" {circle}/>\n", groups[row] % COLORS),
            Colors::Ranks(ranks, _) => {
                format!("<circle class=\"ranked\" style=\"--s:{:.0}\" {circle}/>\n", ranks[row])
            }
            Colors::None => format!("<circle class=\"c0\" {circle}/>\n"),
        };
    }
    svg + "</g>\n</svg>\n"
}

fn frame(label: &str, first: &Side, second: &Side) -> String {
    let [x, y] = [first, second].map(|side| shortened(&side.name, 40));
    format!(
        "<svg viewBox=\"0 0 {SIZE:.0} {SIZE:.0}\" role=\"img\" aria-label=\"{label}: {x} and {y}\">\n<g class=\"grid\">\n\
         <path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/><path class=\"axis\" d=\"M{LEFT} {BOTTOM}V{TOP}\"/>\n\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x}</text>\n\
         <text class=\"name\" transform=\"translate(13 {:.1}) rotate(-90)\" text-anchor=\"middle\">{y}</text>\n</g>\n",
        (LEFT + RIGHT) / 2.0,
        SIZE - 8.0,
        (TOP + BOTTOM) / 2.0,
    )
}

/// Tick labels of both axes: numbers, or the levels of a category.
fn ticks(first: &Side, x_axis: &Axis, second: &Side, y_axis: &Axis) -> String {
    let marks = |side: &Side, axis: &Axis| match side.is_category {
        true => (0..).zip(&side.labels).map(|(at, label)| (f64::from(at), shortened(label, 8))).collect(),
        false => axis.ticks(5),
    };
    let mut svg = String::from("<g class=\"grid\">\n");
    for (value, text) in marks(first, x_axis) {
        let x = x_axis.at(value);
        svg +=
            &format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n", BOTTOM + 16.0);
    }
    for (value, text) in marks(second, y_axis) {
        let y = y_axis.at(value) + 4.0;
        svg += &format!("<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>\n", LEFT - 6.0);
    }
    svg + "</g>\n"
}

/// The target as the color of cells.
enum Shares<'a> {
    /// The group of each row, and the names of two groups.
    Two(&'a [usize], &'a [String]),
    /// The same for more groups.
    Groups(&'a [usize], &'a [String]),
    /// Numbers.
    Numbers(&'a [f64]),
    /// No target.
    None,
}

impl<'a> Shares<'a> {
    fn of(colors: &'a Colors) -> Self {
        match colors {
            Colors::Groups(groups, names) if names.len() == 2 => Self::Two(groups, names),
            Colors::Groups(groups, names) => Self::Groups(groups, names),
            Colors::Ranks(_, values) => Self::Numbers(values),
            Colors::None => Self::None,
        }
    }

    /// What the color of a cell shows.
    fn title(&self) -> String {
        match self {
            Self::Two(_, names) => format!("Share of {}", shortened(&names[1], 30)),
            Self::Groups(..) => "Most frequent class; darker if its share is larger".into(),
            Self::Numbers(_) => "Mean of the target".into(),
            Self::None => "Number of rows".into(),
        }
    }

    /// The strength of the color, its CSS class, and a description.
    fn cell(&self, rows: &[usize]) -> (f64, String, String) {
        let n = rows.len() as f64;
        let ramp = || "ramped".to_owned();
        match self {
            Self::Two(groups, names) => {
                let share = rows.iter().filter(|&&i| groups[i] == 1).count() as f64 / n;
                (share, ramp(), format!("{} {} %", names[1], percent(share)))
            }
            Self::Groups(groups, names) => {
                let mut counts = vec![0_usize; names.len()];
                rows.iter().for_each(|&i| counts[groups[i]] += 1);
                let group = (0..counts.len()).rev().max_by_key(|&g| counts[g]).unwrap_or(0);
                let share = counts[group] as f64 / n;
                (share, format!("c{}", group % COLORS), format!("{} {} %", names[group], percent(share)))
            }
            Self::Numbers(values) => {
                let mean = rows.iter().map(|&i| values[i] / n).sum::<f64>();
                (mean, ramp(), format!("mean {}", number(mean)))
            }
            Self::None => (0.0, String::new(), String::new()),
        }
    }
}

/// A grid of the groups of both features, colored by the target of the rows in each cell.
fn heat_map(first: &Side, second: &Side, shares: &Shares) -> String {
    let (columns, lines) = (first.labels.len().max(1), second.labels.len().max(1));
    let mut rows: Vec<Vec<usize>> = vec![vec![]; columns * lines];
    for (i, cell) in first.cells.iter().zip(&second.cells).enumerate() {
        if let (Some(a), Some(b)) = cell {
            rows[a * lines + b].push(i);
        }
    }
    let found: Vec<Option<(f64, String, String)>> =
        rows.iter().map(|rows| (rows.len() >= MIN_ROWS).then(|| shares.cell(rows))).collect();
    let strengths = || found.iter().flatten().map(|cell| cell.0);
    let (low, high) = match shares {
        Shares::Numbers(_) => {
            (strengths().fold(f64::INFINITY, f64::min), strengths().fold(f64::NEG_INFINITY, f64::max))
        }
        _ => (0.0, 1.0),
    };
    let (width, height) = ((RIGHT - LEFT) / columns as f64, (BOTTOM - TOP) / lines as f64);
    let mut svg = frame("Target by two features", first, second).replacen("<svg ", "<svg class=\"heat\" ", 1);
    svg += &edge_labels(first, second, (width, height));
    for (at, cell) in found.iter().enumerate() {
        let (a, b) = (at / lines, at % lines);
        let (x, y) = (LEFT + width * a as f64, BOTTOM - height * (b + 1) as f64);
        let (strength, color, text) = cell.clone().unwrap_or((low, String::new(), String::new()));
        let range = 0.5 * high - 0.5 * low;
        let strength = if range > 0.0 { 100.0 * (0.5 * strength - 0.5 * low) / range } else { 0.0 };
        let count = match rows[at].len() {
            0 => String::new(),
            n => n.to_string(),
        };
        svg += &format!(
            "<g class=\"{color}\"><rect class=\"cell\" style=\"--s:{strength:.0}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>\
             <text class=\"share\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{count}</text>\
             <title>{}, {}: {}{}</title></g>\n",
            width - 1.5,
            height - 1.5,
            x + width / 2.0,
            y + height / 2.0 + 3.5,
            escape(&first.labels[a]),
            escape(&second.labels[b]),
            if text.is_empty() { String::new() } else { escape(&text) + ", " },
            counted(rows[at].len(), "row")
        );
    }
    svg + "</svg>\n"
}

/// Labels of the first and the last group, or of all levels of a category.
fn edge_labels(first: &Side, second: &Side, (width, height): (f64, f64)) -> String {
    let marks = |side: &Side| -> Vec<(usize, String)> {
        let last = side.labels.len().saturating_sub(1);
        let words = ["low", "high"];
        match side.is_category || side.labels.len() < 3 {
            true => side.labels.iter().map(|label| shortened(label, 8)).enumerate().collect(),
            false => [0, last].into_iter().zip(words.map(str::to_owned)).collect(),
        }
    };
    let mut svg = String::from("<g class=\"grid\">\n");
    for (at, text) in marks(first) {
        let x = LEFT + width * (at as f64 + 0.5);
        svg +=
            &format!("<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n", BOTTOM + 16.0);
    }
    for (at, text) in marks(second) {
        let y = BOTTOM - height * (at as f64 + 0.5) + 4.0;
        svg += &format!("<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{text}</text>\n", LEFT - 6.0);
    }
    svg + "</g>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernsift::data::Target;

    #[test]
    fn groups_of_equal_size() {
        let values: Vec<f64> = (0..16).map(f64::from).collect();
        let (cells, labels) = quantile_groups(&values);
        assert_eq!(labels.len(), BINS);
        assert_eq!((cells[0], cells[1], cells[2], cells[15]), (Some(0), Some(0), Some(1), Some(BINS - 1)));
        assert_eq!(labels[1], "2.000 to 3.000");
        // Two values are two groups; missing values have none.
        let (cells, labels) = quantile_groups(&[1.0, 5.0, f64::NAN, 1.0]);
        assert_eq!(cells, [Some(0), Some(1), None, Some(0)]);
        assert_eq!(labels, ["1.000", "5.000"]);
        assert_eq!(quantile_groups(&[f64::NAN]).1.len(), 0);
    }

    #[test]
    fn cells_show_the_target() {
        let cell = |target: &Target, rows: &[usize]| Shares::of(&Colors::of(target)).cell(rows);
        let classes = |codes: &[usize]| Target::Classes(kernsift::data::Classes::from_codes(codes.to_vec()));
        let (mean, _, text) = cell(&Target::Continuous(vec![1.0, 2.0, 3.0, 10.0]), &[0, 2]);
        assert_eq!((mean, text.as_str()), (2.0, "mean 2.000"));
        assert_eq!(cell(&classes(&[0, 1, 1, 1]), &[0, 1]).0, 0.5);
        assert_eq!(cell(&classes(&[0, 1, 1, 2]), &[0, 1, 2]).1, "c1");
    }
}
