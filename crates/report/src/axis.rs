//! Where numbers stand on an axis.

/// Numbers of features from left to right.
pub struct Across {
    counts: Vec<usize>,
    left: f64,
    right: f64,
    /// Set where uneven numbers would crowd on one side.
    pub logarithmic: bool,
}

impl Across {
    /// An axis for rising numbers.
    pub fn new(counts: &[usize], left: f64, right: f64) -> Self {
        let gaps: Vec<usize> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let even = gaps.windows(2).all(|pair| pair[0] == pair[1]);
        let wide = counts.len() > 2 && counts[counts.len() - 1] >= 8 * counts[0];
        Self { counts: counts.to_vec(), left, right, logarithmic: !even && wide }
    }

    /// The place of a number.
    pub fn at(&self, count: usize) -> f64 {
        let (Some(&first), Some(&last)) = (self.counts.first(), self.counts.last()) else { return self.left };
        if first == last {
            return (self.left + self.right) / 2.0;
        }
        let scale = |k: usize| if self.logarithmic { (k as f64).ln() } else { k as f64 };
        self.left + (scale(count) - scale(first)) / (scale(last) - scale(first)) * (self.right - self.left)
    }

    /// The least distance between neighbours.
    pub fn least_gap(&self) -> f64 {
        let gaps = self.counts.windows(2).map(|pair| self.at(pair[1]) - self.at(pair[0]));
        gaps.fold(self.right - self.left, f64::min)
    }

    /// Numbers that can be written under the axis without touching.
    pub fn ticks(&self) -> Vec<usize> {
        let mut ticks: Vec<usize> = vec![];
        let room = |a: usize, b: usize| self.at(b) - self.at(a) >= 16.0 + 8.0 * b.to_string().len() as f64;
        for &count in &self.counts {
            if ticks.last().is_none_or(|&last| room(last, count)) {
                ticks.push(count);
            }
        }
        // The last number is always told.
        if let (Some(&last), Some(&tick)) = (self.counts.last(), ticks.last())
            && tick != last
        {
            ticks.pop();
            ticks.push(last);
        }
        ticks
    }
}

/// Scores from bottom to top.
pub struct Up {
    low: f64,
    high: f64,
    step: f64,
    bottom: f64,
    top: f64,
    /// Set where values lie below what is drawn.
    pub cut: bool,
}

impl Up {
    /// An axis that holds these values, within the bounds that the score has.
    pub fn new(values: &[f64], bounds: (f64, f64), bottom: f64, top: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &value in values {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = bounds;
        }
        let cut = low < bounds.0;
        (low, high) = (low.clamp(bounds.0, bounds.1), high.clamp(bounds.0, bounds.1));
        if high - low < 0.01 {
            // All alike: a little room on both sides.
            (low, high) = ((low - 0.01).max(bounds.0), (high + 0.01).min(bounds.1));
        }
        // No finer than a tenth of a per cent.
        let step = step_for(((high - low) / 5.0).max(0.001));
        // Down to a tick, rounded a little so that 0.3 / 0.1 is 3; up no further than needed.
        low = (low / step + 1e-9).floor() * step;
        Self { low, high, step, bottom, top, cut }
    }

    /// The place of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.bottom + (value - self.low) / (self.high - self.low) * (self.top - self.bottom)
    }

    /// The place of a value, or of the nearest that is drawn.
    pub fn within(&self, value: f64) -> f64 {
        self.at(value.clamp(self.low, self.high))
    }

    /// Values to write beside the axis, in per cent.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let n = ((self.high - self.low) / self.step + 1e-9).floor() as usize;
        let decimals = usize::from(self.step < 0.0099);
        (0..=n)
            .map(|i| {
                let value = self.low + i as f64 * self.step;
                let text = format!("{:.decimals$}", 100.0 * value).replace('-', "−");
                (value, if text.trim_start_matches('−').parse() == Ok(0.0) { "0".into() } else { text })
            })
            .collect()
    }
}

/// The nearest of 1, 2, 5, 10, ... times a power of ten that is not less.
pub fn step_for(rough: f64) -> f64 {
    let power = 10f64.powf(rough.max(f64::MIN_POSITIVE).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= 0.999 * rough).unwrap_or(power)
}

/// Moves labels apart that want to stand at nearly the same height. Gives their places in the order asked.
pub fn spread(wanted: &[f64], apart: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = vec![0.0; wanted.len()];
    let mut least = top;
    for &i in &order {
        places[i] = wanted[i].max(least);
        least = places[i] + apart;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        places[i] = places[i].min(most);
        most = places[i] - apart;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_numbers_are_linear_and_wide_ones_logarithmic() {
        let axis = Across::new(&[1, 2, 3], 0.0, 100.0);
        assert_eq!([1, 2, 3].map(|k| axis.at(k)), [0.0, 50.0, 100.0]);
        let axis = Across::new(&[1, 10, 100], 0.0, 100.0);
        assert!(axis.logarithmic && (axis.at(10) - 50.0).abs() < 1e-9);
        assert!(!Across::new(&[10, 20, 30, 40, 50, 60, 70, 80, 90, 100], 0.0, 100.0).logarithmic);
        assert_eq!(Across::new(&[4], 0.0, 100.0).at(4), 50.0);
    }

    #[test]
    fn ticks_do_not_touch_and_end_at_the_last_number() {
        let counts: Vec<usize> = (1..=50).collect();
        let axis = Across::new(&counts, 0.0, 400.0);
        let ticks = axis.ticks();
        assert!(ticks.len() > 5 && ticks.len() < 25 && ticks.last() == Some(&50), "{ticks:?}");
        assert!(ticks.windows(2).all(|pair| axis.at(pair[1]) - axis.at(pair[0]) >= 16.0));
    }

    #[test]
    fn scores_have_round_ticks() {
        let axis = Up::new(&[0.03, 0.28], (0.0, 1.0), 100.0, 0.0);
        let labels: Vec<String> = axis.ticks().into_iter().map(|(_, text)| text).collect();
        assert_eq!(labels, ["0", "5", "10", "15", "20", "25"]);
        assert_eq!((axis.at(0.0), axis.at(0.28)), (100.0, 0.0));
        let axis = Up::new(&[-7.0, 0.5], (-1.0, 1.0), 100.0, 0.0);
        assert!(axis.cut && axis.within(-7.0) == 100.0);
        assert!(axis.ticks().iter().any(|(_, text)| text == "0"));
        // One value, no value.
        assert!(Up::new(&[0.5], (0.0, 1.0), 100.0, 0.0).ticks().len() >= 2);
        assert!(Up::new(&[], (0.0, 1.0), 100.0, 0.0).ticks().len() >= 2);
        assert!(Up::new(&[0.0], (0.0, 1.0), 100.0, 0.0).ticks().len() >= 2);
    }

    #[test]
    fn labels_keep_their_distance() {
        let places = spread(&[50.0, 51.0, 10.0, 98.0], 10.0, 0.0, 100.0);
        assert_eq!(places, [50.0, 60.0, 10.0, 98.0]);
        assert_eq!(spread(&[99.0, 100.0], 10.0, 0.0, 100.0), [90.0, 100.0]);
    }
}
