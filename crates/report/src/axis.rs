//! Axes of the score chart, and placement of labels.

/// The x axis: numbers of features.
pub struct CountAxis {
    counts: Vec<usize>,
    left: f64,
    right: f64,
    /// Used for a wide range of unevenly spaced numbers.
    pub logarithmic: bool,
}

impl CountAxis {
    /// An axis for increasing numbers.
    pub fn new(counts: &[usize], left: f64, right: f64) -> Self {
        let steps: Vec<usize> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let even = steps.windows(2).all(|pair| pair[0] == pair[1]);
        let wide = counts.len() > 2 && counts[counts.len() - 1] >= 8 * counts[0];
        Self { counts: counts.to_vec(), left, right, logarithmic: !even && wide }
    }

    /// The x coordinate of a number.
    pub fn at(&self, count: usize) -> f64 {
        let (Some(&first), Some(&last)) = (self.counts.first(), self.counts.last()) else { return self.left };
        if first == last {
            return (self.left + self.right) / 2.0;
        }
        let scale = |k: usize| if self.logarithmic { (k as f64).ln() } else { k as f64 };
        self.left + (scale(count) - scale(first)) / (scale(last) - scale(first)) * (self.right - self.left)
    }

    /// The smallest distance between adjacent numbers.
    pub fn min_distance(&self) -> f64 {
        let distances = self.counts.windows(2).map(|pair| self.at(pair[1]) - self.at(pair[0]));
        distances.fold(self.right - self.left, f64::min)
    }

    /// Numbers whose tick labels do not overlap.
    pub fn ticks(&self) -> Vec<usize> {
        let mut ticks: Vec<usize> = vec![];
        let room = |a: usize, b: usize| self.at(b) - self.at(a) >= 16.0 + 8.0 * b.to_string().len() as f64;
        for &count in &self.counts {
            if ticks.last().is_none_or(|&last| room(last, count)) {
                ticks.push(count);
            }
        }
        // The last number always has a label.
        if let (Some(&last), Some(&tick)) = (self.counts.last(), ticks.last())
            && tick != last
        {
            ticks.pop();
            ticks.push(last);
        }
        ticks
    }
}

/// What the values of a y axis are.
#[derive(Clone, Copy)]
pub enum Scale {
    /// Fractions of at most 1, shown in percent; lower values are clipped.
    Percent {
        /// The smallest value.
        low: f64,
    },
    /// Numbers.
    Number {
        /// The smallest value.
        low: f64,
    },
}

impl Scale {
    /// The range of the score.
    fn bounds(self) -> (f64, f64) {
        match self {
            Self::Percent { low } => (low, 1.0),
            Self::Number { low } => (low, f64::INFINITY),
        }
    }

    /// The smallest range to show, and the smallest distance of ticks: a tenth of a percent.
    fn smallest(self, value: f64) -> (f64, f64) {
        match self {
            Self::Percent { .. } => (0.01, 0.001),
            Self::Number { .. } => (1e-3 * value.abs().max(1e-9), 0.0),
        }
    }
}

/// The y axis: scores.
pub struct ScoreAxis {
    low: f64,
    high: f64,
    step: f64,
    bottom: f64,
    top: f64,
    scale: Scale,
    /// Whether some values are below the axis.
    pub clipped: bool,
}

impl ScoreAxis {
    /// An axis for these values.
    pub fn new(values: &[f64], scale: Scale, bottom: f64, top: f64) -> Self {
        let bounds = scale.bounds();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (bounds.0.max(-1.0), bounds.1.min(1.0));
        }
        let clipped = low < bounds.0;
        (low, high) = (low.clamp(bounds.0, bounds.1), high.clamp(bounds.0, bounds.1));
        let (margin, least) = scale.smallest(high);
        if high - low < margin {
            // All values are equal: add a margin.
            (low, high) = ((low - margin).max(bounds.0), (high + margin).min(bounds.1));
        }
        let step = step_for(((high - low) / 5.0).max(least));
        // The axis starts at a tick; the small offset makes floor(0.3 / 0.1) equal 3.
        low = (low / step + 1e-9).floor() * step;
        Self { low, high, step, bottom, top, scale, clipped }
    }

    /// The y coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.bottom + (value - self.low) / (self.high - self.low) * (self.top - self.bottom)
    }

    /// The y coordinate of a value, clipped to the axis.
    pub fn at_clipped(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }

    /// Tick values and their labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let n = ((self.high - self.low) / self.step + 1e-9).floor() as usize;
        let factor = if matches!(self.scale, Scale::Percent { .. }) { 100.0 } else { 1.0 };
        // As many as distinguish the ticks; the small number makes log10(0.001) equal -3.
        let decimals = (-(factor * self.step).log10() - 1e-9).ceil().clamp(0.0, 12.0) as usize;
        (0..=n)
            .map(|i| {
                let value = self.low + i as f64 * self.step;
                let text = format!("{:.decimals$}", factor * value).replace('-', "−");
                (value, if text.trim_start_matches('−').parse() == Ok(0.0) { "0".into() } else { text })
            })
            .collect()
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten.
pub fn step_for(rough: f64) -> f64 {
    let power = 10f64.powf(rough.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= 0.999 * rough).unwrap_or(power)
}

/// Moves overlapping labels apart. Returns their y coordinates in the order of `desired`.
pub fn separate_labels(desired: &[f64], distance: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..desired.len()).collect();
    order.sort_by(|&a, &b| desired[a].total_cmp(&desired[b]));
    let mut positions = vec![0.0; desired.len()];
    let mut min = top;
    for &i in &order {
        positions[i] = desired[i].max(min);
        min = positions[i] + distance;
    }
    let mut max = bottom;
    for &i in order.iter().rev() {
        positions[i] = positions[i].min(max);
        max = positions[i] - distance;
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evenly_spaced_numbers_are_linear_and_wide_ranges_logarithmic() {
        let axis = CountAxis::new(&[1, 2, 3], 0.0, 100.0);
        assert_eq!([1, 2, 3].map(|k| axis.at(k)), [0.0, 50.0, 100.0]);
        let axis = CountAxis::new(&[1, 10, 100], 0.0, 100.0);
        assert!(axis.logarithmic && (axis.at(10) - 50.0).abs() < 1e-9);
        assert!(!CountAxis::new(&[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 0.0, 100.0).logarithmic);
        assert_eq!(CountAxis::new(&[4], 0.0, 100.0).at(4), 50.0);
    }

    #[test]
    fn ticks_do_not_overlap_and_include_the_last_number() {
        let counts: Vec<usize> = (1..=50).collect();
        let axis = CountAxis::new(&counts, 0.0, 400.0);
        let ticks = axis.ticks();
        assert!(ticks.len() > 5 && ticks.len() < 25 && ticks.last() == Some(&50), "{ticks:?}");
        assert!(ticks.windows(2).all(|pair| axis.at(pair[1]) - axis.at(pair[0]) >= 16.0));
    }

    const PERCENT: Scale = Scale::Percent { low: 0.0 };

    #[test]
    fn numbers_are_not_in_percent() {
        let labels = |values: &[f64], low: f64| -> Vec<String> {
            let axis = ScoreAxis::new(values, Scale::Number { low }, 100.0, 0.0);
            axis.ticks().into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(labels(&[3.1, 4.9], 0.0), ["3.0", "3.5", "4.0", "4.5"]);
        assert_eq!(labels(&[-1200.0, 300.0], f64::NEG_INFINITY), ["−1500", "−1000", "−500", "0"]);
        assert!(labels(&[0.25], 0.0).len() >= 2);
    }

    #[test]
    fn scores_have_round_ticks() {
        let axis = ScoreAxis::new(&[0.03, 0.28], PERCENT, 100.0, 0.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(labels, ["0", "5", "10", "15", "20", "25"]);
        assert_eq!((axis.at(0.0), axis.at(0.28)), (100.0, 0.0));
        let axis = ScoreAxis::new(&[-7.0, 0.5], Scale::Percent { low: -1.0 }, 100.0, 0.0);
        assert!(axis.clipped && axis.at_clipped(-7.0) == 100.0);
        assert!(axis.ticks().iter().any(|(_, text)| text == "0"));
        // One value, no value.
        assert!(ScoreAxis::new(&[0.5], PERCENT, 100.0, 0.0).ticks().len() >= 2);
        assert!(ScoreAxis::new(&[], PERCENT, 100.0, 0.0).ticks().len() >= 2);
        assert!(ScoreAxis::new(&[0.0], PERCENT, 100.0, 0.0).ticks().len() >= 2);
    }

    #[test]
    fn labels_are_separated() {
        let positions = separate_labels(&[50.0, 51.0, 10.0, 98.0], 10.0, 0.0, 100.0);
        assert_eq!(positions, [50.0, 60.0, 10.0, 98.0]);
        assert_eq!(separate_labels(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }
}
