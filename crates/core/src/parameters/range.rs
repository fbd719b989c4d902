//! Ranges of numbers.

use serde::Serialize;

/// A range of finite numbers; each end may belong to it or not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// The lower end; none where there is no limit.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// Whether the lower end belongs to the range.
    pub includes_low: bool,
    /// Whether the upper end belongs to the range.
    pub includes_high: bool,
}

impl Range {
    const fn new(low: Option<f64>, high: Option<f64>, includes_low: bool, includes_high: bool) -> Self {
        Self { low, high, includes_low, includes_high }
    }

    /// Every finite number.
    pub const fn any() -> Self {
        Self::new(None, None, false, false)
    }

    /// `low` or more.
    pub const fn at_least(low: f64) -> Self {
        Self::new(Some(low), None, true, false)
    }

    /// More than `low`.
    pub const fn above(low: f64) -> Self {
        Self::new(Some(low), None, false, false)
    }

    /// From `low` to `high`, both included.
    pub const fn between(low: f64, high: f64) -> Self {
        Self::new(Some(low), Some(high), true, true)
    }

    /// More than `low`, up to `high`.
    pub const fn above_to(low: f64, high: f64) -> Self {
        Self::new(Some(low), Some(high), false, true)
    }

    /// `low` or more, less than `high`.
    pub const fn from_below(low: f64, high: f64) -> Self {
        Self::new(Some(low), Some(high), true, false)
    }

    /// More than `low`, less than `high`.
    pub const fn inside(low: f64, high: f64) -> Self {
        Self::new(Some(low), Some(high), false, false)
    }

    /// Whether a number is in the range.
    pub fn contains(&self, number: f64) -> bool {
        let above = self.low.is_none_or(|low| if self.includes_low { number >= low } else { number > low });
        let below =
            self.high.is_none_or(|high| if self.includes_high { number <= high } else { number < high });
        number.is_finite() && above && below
    }

    /// The range in words; empty for every number.
    pub fn describe(&self) -> String {
        match (self.low, self.high) {
            (None, None) => String::new(),
            (Some(low), None) if self.includes_low => format!("at least {low}"),
            (Some(low), None) => format!("above {low}"),
            (None, Some(high)) if self.includes_high => format!("at most {high}"),
            (None, Some(high)) => format!("below {high}"),
            (Some(low), Some(high)) if self.includes_low && self.includes_high => {
                format!("from {low} to {high}")
            }
            (Some(low), Some(high)) => {
                let low_word = if self.includes_low { "at least" } else { "above" };
                let high_word = if self.includes_high { "at most" } else { "below" };
                format!("{low_word} {low} and {high_word} {high}")
            }
        }
    }
}
