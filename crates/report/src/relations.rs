//! Each kept column beside the target: by class, against a number, or alone.

use crate::chart::COLOURS;
use crate::html::{escape, shortened};
use crate::plot::{Axis, Colours};
use crate::words::{counted, number, percent};
use kernsift::Dataset;
use kernsift::data::Target;
use kernsift::random::Rng;

/// Columns that are drawn at most.
const MOST: usize = 12;
/// Rows that are drawn as dots, in all and of a class.
const DOTS: usize = 300;
const DOTS_OF_CLASS: usize = 60;
/// Different values up to which rows are counted instead.
const FEW: usize = 8;
/// Groups of rows whose medians are joined, where the target is a number.
const BINS: usize = 10;
const WIDTH: f64 = 320.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = WIDTH - 14.0;

/// What the part is called.
pub fn heading(target: &Target) -> &'static str {
    if matches!(target, Target::None) { "Values of each column" } else { "Each column beside the target" }
}

/// How to read the cards.
fn reading(target: &Target) -> &'static str {
    match target {
        Target::Classes(_) => {
            "Boxes hold the middle half of a class's rows, the line in them is the median, thin lines reach from 5 to 95 per cent; of a column with few \
             values, discs are as large as the share of rows."
        }
        Target::Continuous(_) => {
            "Dots are rows; the line joins medians of groups of rows, from small to large values of the column."
        }
        Target::None => "How often values occur.",
    }
}

/// How to read them, and a card for each of the first of these columns.
pub fn relations(data: &Dataset, columns: &[usize]) -> String {
    let colours = Colours::of(data.target());
    let cards: String = columns
        .iter()
        .take(MOST)
        .map(|&j| {
            let values = data.x().column(j);
            let svg = match (&colours, data.target()) {
                (Colours::Groups(groups, names), _) => by_class(&values, groups, names),
                (_, Target::Continuous(target)) => against(&values, target),
                _ => alone(&values),
            };
            let name = &data.names()[j];
            format!(
                "<figure class=\"small\"><figcaption title=\"{}\">{}</figcaption>\n{svg}</figure>\n",
                escape(name),
                shortened(name, 36)
            )
        })
        .collect();
    let more = columns.len().saturating_sub(MOST);
    let more = if more > 0 {
        format!("<p class=\"more\">and {} more, not drawn</p>\n", counted(more, "column"))
    } else {
        String::new()
    };
    format!(
        "<p class=\"legend\">{} In the columns' own units.</p>\n<div class=\"smalls\">\n{cards}</div>\n{more}",
        reading(data.target())
    )
}

fn frame(height: f64, label: &str, across: &Axis) -> String {
    let bottom = height - 24.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{label}\">\n<g class=\"grid\">\n"
    );
    for (value, text) in across.ticks(4) {
        let x = across.at(value);
        svg += &format!(
            "<path d=\"M{x:.1} 4V{bottom:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
            bottom + 16.0
        );
    }
    svg + &format!("<path class=\"axis\" d=\"M{LEFT} {bottom:.1}H{RIGHT:.1}\"/>\n</g>\n")
}

/// What lies below a share of sorted numbers.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    // Halves, so that very large numbers of both signs have a middle.
    below + 2.0 * (at - at.floor()) * (0.5 * above - 0.5 * below)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    // Gaps are not drawn.
    let mut all: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// A box and dots for each class: quartiles, median, and a line from 5 to 95 per cent.
fn by_class(values: &[f64], groups: &[usize], names: &[String]) -> String {
    let step = if names.len() > 4 { 26.0 } else { 34.0 };
    let height = 34.0 + step * names.len() as f64;
    let across = Axis::new(values.iter().copied(), LEFT + 14.0, RIGHT - 12.0);
    let mut different = sorted(values.iter().copied());
    different.dedup();
    let few = different.len() <= FEW;
    let mut svg = frame(height, "Values by class", &across);
    for (group, name) in names.iter().enumerate() {
        let own = sorted(values.iter().zip(groups).filter(|(_, g)| **g == group).map(|(v, _)| *v));
        let y = 8.0 + step * (group as f64 + 0.5);
        svg += &format!(
            "<g class=\"c{}\"><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            group % COLOURS,
            LEFT - 6.0,
            y + 4.0,
            shortened(name, 8)
        );
        if few {
            svg += &discs(&own, &across, y, step);
        } else if !own.is_empty() {
            let mut rng = Rng::new(group as u64);
            let dots: String = rng
                .sample(own.len(), DOTS_OF_CLASS)
                .into_iter()
                .map(|i| format!("M{:.1} {:.1}h0", across.at(own[i]), y + (rng.uniform() - 0.5) * 0.5 * step))
                .collect();
            let [low, first, middle, third, high] = [0.05, 0.25, 0.5, 0.75, 0.95].map(|s| quantile(&own, s));
            let tall = 0.55 * step;
            svg += &format!(
                "<path class=\"dust\" d=\"{dots}\"/><path class=\"whisker\" d=\"M{:.1} {y:.1}H{:.1}\"/>\
                 <rect class=\"box\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>\
                 <path class=\"median\" d=\"M{:.1} {:.1}v{tall:.1}\"/>",
                across.at(low),
                across.at(high),
                across.at(first),
                y - tall / 2.0,
                (across.at(third) - across.at(first)).max(1.0),
                across.at(middle),
                y - tall / 2.0,
            );
            svg += &format!(
                "<title>{}: median {}, half between {} and {}, {}</title>",
                escape(name),
                number(middle),
                number(first),
                number(third),
                counted(own.len(), "row")
            );
        }
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

/// A disc for each of a few values, as large as the share of rows that have it.
fn discs(own: &[f64], across: &Axis, y: f64, step: f64) -> String {
    own.chunk_by(|a, b| a == b)
        .map(|rows| {
            let share = rows.len() as f64 / own.len() as f64;
            format!(
                "<circle class=\"box\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"><title>{}: {} % of {}</title></circle>",
                across.at(rows[0]),
                0.46 * step * share.sqrt(),
                number(rows[0]),
                percent(share),
                counted(own.len(), "row")
            )
        })
        .collect()
}

/// Dots, and the medians of the target in groups of equal size.
fn against(values: &[f64], target: &[f64]) -> String {
    const HEIGHT: f64 = 190.0;
    let across = Axis::new(values.iter().copied(), LEFT + 6.0, RIGHT - 4.0);
    let up = Axis::new(target.iter().copied(), HEIGHT - 30.0, 10.0);
    let mut svg = frame(HEIGHT, "The target against the column", &across);
    svg += "<g class=\"grid\">";
    for (value, text) in up.ticks(4) {
        svg += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 6.0,
            up.at(value) + 4.0
        );
    }
    svg += "</g>\n<g class=\"c0\">";
    let known: Vec<usize> = (0..values.len()).filter(|&i| values[i].is_finite()).collect();
    let dots: String = Rng::new(0)
        .sample(known.len(), DOTS)
        .into_iter()
        .map(|at| format!("M{:.1} {:.1}h0", across.at(values[known[at]]), up.at(target[known[at]])))
        .collect();
    svg += &format!("<path class=\"dust\" d=\"{dots}\"/></g>\n");
    let mut order = known;
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut line = String::new();
    let bins = BINS.min(order.len());
    for bin in 0..bins {
        let rows = &order[bin * order.len() / bins..(bin + 1) * order.len() / bins];
        let middle = |numbers: &[f64]| quantile(&sorted(rows.iter().map(|&i| numbers[i])), 0.5);
        line += &format!(
            "{}{:.1} {:.1}",
            if line.is_empty() { "M" } else { "L" },
            across.at(middle(values)),
            up.at(middle(target))
        );
    }
    svg + &format!(
        "<g class=\"method c1\"><path class=\"line\" d=\"{line}\"/><title>medians of groups of rows</title></g>\n</svg>\n"
    )
}

/// How often each value occurs.
fn alone(values: &[f64]) -> String {
    const HEIGHT: f64 = 150.0;
    let across = Axis::new(values.iter().copied(), LEFT + 6.0, RIGHT - 4.0);
    frame(HEIGHT, "How often values occur", &across)
        + &crate::histogram::bars(values, &across, (HEIGHT - 24.0, 8.0), 24, None)
        + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&[-1.6e308, 1.6e308], 0.5), 0.0);
        assert_eq!(quantile(&[3.0], 0.95), 3.0);
    }
}
