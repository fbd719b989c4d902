//! Shared parts of figures: axes, grid, colors by target.

use crate::axis::step_for;
use crate::chart::COLORS;
use crate::html::{escape, shortened};
use crate::text::number;
use kernsift::data::Target;

/// The width of a small plot of a feature, and its left and right ends.
pub const WIDTH: f64 = 320.0;
pub const LEFT: f64 = 108.0;
pub const RIGHT: f64 = WIDTH - 20.0;
/// Maximum number of characters of a name to the left of it.
pub const NAME_LENGTH: usize = 14;

/// An axis for arbitrary numbers.
pub struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// An axis over the range of the values, between two coordinates.
    pub fn new(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let values = values.filter(|v| v.is_finite());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // Equal values are drawn in the middle.
        let margin = if high > low { 0.0 } else { 0.5 * high.abs().max(1.0) };
        Self { low: low - margin, high: high + margin, from, to, logarithmic: false }
    }

    /// Uses a logarithmic scale if all values are positive and their ratio is large.
    pub fn logarithmic_if_wide(mut self) -> Self {
        self.logarithmic = self.low > 0.0 && self.high > 50.0 * self.low;
        self
    }

    /// Adds a margin at both ends.
    pub fn with_margin(mut self) -> Self {
        let margin = 0.04 * (0.5 * self.high - 0.5 * self.low);
        (self.low, self.high) = (self.low - margin, self.high + margin);
        self
    }

    /// Whether the scale is logarithmic.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Extends the range to zero.
    pub fn with_zero(mut self) -> Self {
        (self.low, self.high) = (self.low.min(0.0), self.high.max(0.0));
        self
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        // Halving avoids overflow of the difference.
        let fraction = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (0.5 * value - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low)
        };
        self.from + fraction.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// About `max` tick values with their labels.
    pub fn ticks(&self, max: usize) -> Vec<(f64, String)> {
        let text = |v: f64| (v, tick_text(v, v.abs()));
        if self.logarithmic {
            let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
            let every = ((last - first + 1).max(1) as usize).div_ceil(max);
            let powers: Vec<_> = (first..=last).step_by(every).map(|p| text(10f64.powi(p))).collect();
            return if powers.len() > 1 { powers } else { vec![text(self.low), text(self.high)] };
        }
        let step = step_for((0.5 * self.high - 0.5 * self.low) / max as f64 * 2.0);
        if !step.is_normal() || !(self.high / step).is_finite() {
            return vec![];
        }
        let first = (self.low / step - 1e-9).ceil();
        (0..=max + 1)
            .map(|i| (first + i as f64) * step)
            .take_while(|v| *v <= self.high + 1e-9 * step)
            .map(|v| (v, tick_text(v, step)))
            .collect()
    }
}

/// A number with the digits that distinguish ticks of this step.
fn tick_text(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let (size, fine) = (value.abs().log10().floor(), step.log10().floor());
    let text = if (-4.0..7.0).contains(&size) {
        format!("{value:.*}", (-fine).max(0.0) as usize)
    } else {
        format!("{value:.*e}", (size - fine).clamp(0.0, 15.0) as usize)
    };
    text.replace('-', "−")
}

/// The grid of a figure with tick labels and axis labels (x, y).
pub fn grid(x_axis: &Axis, y_axis: &Axis, labels: (&str, &str)) -> String {
    let (left, right, bottom, top) = (x_axis.from, x_axis.to, y_axis.from, y_axis.to);
    let mut svg = String::from("<g class=\"grid\">\n");
    for (value, text) in y_axis.ticks(5) {
        let y = y_axis.at(value);
        svg += &format!(
            "<path d=\"M{left:.1} {y:.1}H{right:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>\n",
            left - 8.0,
            y + 4.0
        );
    }
    for (value, text) in x_axis.ticks(8) {
        let x = x_axis.at(value);
        svg += &format!(
            "<path class=\"tick\" d=\"M{x:.1} {bottom:.1}v5\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>\n",
            bottom + 19.0
        );
    }
    svg + &format!(
        "<path class=\"axis\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>\n\
         <text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text class=\"name\" transform=\"translate(15 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n</g>\n",
        (left + right) / 2.0,
        bottom + 40.0,
        escape(labels.0),
        (top + bottom) / 2.0,
        escape(labels.1)
    )
}

/// Colors of rows.
pub enum Colors<'a> {
    /// By class: the group of each row, and the names of the groups.
    Groups(Vec<usize>, Vec<String>),
    /// By a continuous target: its rank, scaled to 0 to 100, and its value.
    Ranks(Vec<f64>, &'a [f64]),
    /// One color.
    None,
}

/// Maximum number of groups. With more classes, the smallest share the last color.
const GROUPS: usize = COLORS;

impl<'a> Colors<'a> {
    /// Colors by a target.
    pub fn of(target: &'a Target) -> Self {
        match target {
            Target::Classes(classes) => {
                let counts = classes.counts();
                let mut order: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
                let mut names: Vec<String> = vec![];
                let mut group = vec![0; counts.len()];
                if order.len() > GROUPS {
                    order.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then(a.cmp(&b)));
                    group.iter_mut().for_each(|g| *g = GROUPS - 1);
                    let others = order.split_off(GROUPS - 1);
                    order.sort_unstable();
                    names.push(format!("{} other classes", others.len()));
                }
                for (at, &class) in order.iter().enumerate() {
                    group[class] = at;
                    names.insert(at, classes.names[class].clone());
                }
                Self::Groups(classes.codes.iter().map(|&code| group[code]).collect(), names)
            }
            Target::Continuous(values) => {
                let mut order: Vec<usize> = (0..values.len()).collect();
                order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
                let mut ranks = vec![0.0; values.len()];
                for (rank, &row) in order.iter().enumerate() {
                    ranks[row] = 100.0 * rank as f64 / (values.len().max(2) - 1) as f64;
                }
                Self::Ranks(ranks, values.as_slice())
            }
            Target::None | Target::Outputs(_) => Self::None,
        }
    }

    /// The legend.
    pub fn legend(&self) -> String {
        match self {
            Self::Groups(_, names) => {
                let keys: String = names
                    .iter()
                    .enumerate()
                    .map(|(at, name)| {
                        format!(
                            "<span class=\"c{}\" title=\"{}\"><i></i>{}</span> ",
                            at % COLORS,
                            escape(name),
                            shortened(name, 30)
                        )
                    })
                    .collect();
                format!("<p class=\"keys\">{keys}</p>\n")
            }
            Self::Ranks(_, values) => {
                let (low, high) =
                    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
                format!(
                    "<p class=\"keys\">{} <span class=\"ramp\"></span> {}</p>\n",
                    number(low),
                    number(high)
                )
            }
            Self::None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernsift::data::Classes;

    #[test]
    fn axes_accept_any_numbers() {
        let axis = Axis::new([3.0, 11.0].into_iter(), 0.0, 100.0);
        assert_eq!((axis.at(3.0), axis.at(7.0), axis.at(11.0), axis.at(99.0)), (0.0, 50.0, 100.0, 100.0));
        let texts: Vec<String> = axis.ticks(4).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["4", "6", "8", "10"]);
        let texts = |low: f64, high: f64| -> Vec<String> {
            Axis::new([low, high].into_iter(), 0.0, 1.0).ticks(4).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(1000.1, 1000.3), ["1000.10", "1000.15", "1000.20", "1000.25", "1000.30"]);
        assert_eq!(texts(1.7e9, 1.7e9 + 2000.0)[1], "1.7000005e9");
        assert_eq!(texts(-0.5, 0.5)[0], "−0.5");
        // A single value is in the middle; very large values do not overflow; an empty axis is from 0 to 1.
        assert_eq!(Axis::new([5.0].into_iter(), 0.0, 100.0).at(5.0), 50.0);
        let wide = Axis::new([-1.7e308, 1.7e308].into_iter(), 0.0, 100.0);
        assert!((wide.at(0.0) - 50.0).abs() < 1e-9 && wide.ticks(4).len() < 9);
        assert_eq!(Axis::new(std::iter::empty(), 0.0, 10.0).at(0.5), 5.0);
        let log = Axis::new([0.001, 1.0].into_iter(), 0.0, 300.0).logarithmic_if_wide();
        assert!((log.at(0.1) - 200.0).abs() < 1e-9);
        assert_eq!(log.ticks(5).len(), 4);
        assert_eq!(Axis::new([0.5, 1.0].into_iter(), 0.0, 1.0).with_zero().at(0.25), 0.25);
    }

    #[test]
    fn many_classes_share_the_last_color() {
        let codes: Vec<usize> = (0..40).map(|i| if i < 20 { 9 } else { i % 10 }).collect();
        let names = (0..10).map(|c| format!("k{c}")).collect();
        let target = Target::Classes(Classes::new(codes, names).unwrap());
        let Colors::Groups(groups, names) = Colors::of(&target) else { panic!("classes") };
        assert_eq!(names.len(), GROUPS);
        assert_eq!(names[GROUPS - 1], "4 other classes");
        assert_eq!(names[groups[0]], "k9");
        let few = Target::Classes(Classes::new(vec![1, 0, 1], vec!["a".into(), "b".into()]).unwrap());
        let Colors::Groups(groups, names) = Colors::of(&few) else { panic!("classes") };
        assert_eq!((groups, names), (vec![1, 0, 1], vec!["a".to_owned(), "b".to_owned()]));
    }
}
