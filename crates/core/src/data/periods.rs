//! Periods in which dates and times recur, as points on a circle.

use super::date::month;
use super::weights::Weights;
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A recurring part of dates and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Period {
    /// The month of the year.
    Month,
    /// The day of the week.
    Weekday,
    /// The time of day.
    Hour,
}

impl Period {
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("month", Self::Month), ("weekday", Self::Weekday), ("hour", Self::Hour)];

    /// The fraction of the period that has passed, of days since 1970-01-01.
    fn phase(self, days: f64) -> f64 {
        // Far from all calendars, but not from the range of integers.
        const FAR: f64 = 1e15;
        let day = days.floor();
        match self {
            Self::Month => (f64::from(month(day.clamp(-FAR, FAR) as i64)) - 1.0) / 12.0,
            Self::Weekday => day.rem_euclid(7.0) / 7.0,
            Self::Hour => days - day,
        }
    }

    /// The two coordinates of a point on a circle, which starts at the top; NaN for a missing date.
    pub(crate) fn point(self, days: f64) -> [f64; 2] {
        if days.is_nan() {
            return [f64::NAN; 2];
        }
        let (sine, cosine) = (TAU * self.phase(days)).sin_cos();
        [sine, cosine]
    }
}

/// A set of periods of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Periods(u8);

impl Periods {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The periods, in the order month, weekday, hour.
    pub(crate) fn iter(self) -> impl Iterator<Item = Period> {
        Period::ALL.into_iter().filter(move |(_, period)| self.0 & 1 << *period as u8 != 0).map(|(_, p)| p)
    }

    /// Names with plus signs in between; empty if there are none.
    pub(super) fn names(self) -> String {
        let chosen: Vec<Period> = self.iter().collect();
        let name = |(name, period): (&'static str, Period)| chosen.contains(&period).then_some(name);
        Period::ALL.into_iter().filter_map(name).collect::<Vec<_>>().join("+")
    }

    /// Periods from names with plus signs in between, such as `month+hour`.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let mut periods = Self::default();
        for part in text.split('+') {
            let known = Period::ALL.iter().find(|(name, _)| *name == part.trim());
            let names = || Period::ALL.into_iter().map(|(name, _)| name);
            let (_, period) = known.ok_or_else(|| Error::unknown_name("period", part.trim(), names()))?;
            periods.0 |= 1 << *period as u8;
        }
        Ok(periods)
    }
}

impl From<Periods> for String {
    fn from(periods: Periods) -> Self {
        periods.names()
    }
}

impl TryFrom<String> for Periods {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        if text.is_empty() { Ok(Self::default()) } else { Self::parse(&text) }
    }
}

/// The two columns of a period, fitted to training rows: centered, and scaled so that the mean squared distance of two rows is
/// 2, as in a standardized number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Circle {
    period: Period,
    shift: [f64; 2],
    scale: f64,
    /// The columns of a missing date: the mean.
    missing: [f64; 2],
}

impl Circle {
    pub(super) fn fit(
        period: Period,
        values: impl Iterator<Item = f64>,
        weights: Weights,
        standardize: bool,
    ) -> Self {
        let known = values.enumerate().filter(|(_, v)| !v.is_nan());
        let (points, weights): (Vec<[f64; 2]>, Vec<f64>) =
            known.map(|(row, v)| (period.point(v), weights.of(row))).unzip();
        let sum: f64 = weights.iter().sum();
        let n = if sum > 0.0 { sum } else { 1.0 };
        let mean =
            [0, 1].map(|k| points.iter().zip(&weights).map(|(point, w)| w * point[k]).sum::<f64>() / n);
        if !standardize {
            return Self { period, shift: [0.0; 2], scale: 1.0, missing: mean };
        }
        let square = |p: &[f64; 2]| (p[0] - mean[0]).powi(2) + (p[1] - mean[1]).powi(2);
        let squares = points.iter().zip(&weights).map(|(point, w)| w * square(point)).sum::<f64>();
        // Equal points differ from their mean by rounding error.
        let is_constant = points.iter().all(|point| *point == points[0]);
        let scale = if is_constant { 1.0 } else { (squares / n).sqrt() };
        Self { period, shift: mean, scale, missing: [0.0; 2] }
    }

    pub(super) fn is_sound(&self) -> bool {
        let numbers = self.shift.iter().chain(&self.missing).all(|v| v.is_finite());
        numbers && self.scale.is_finite() && self.scale != 0.0
    }

    /// The names of the two columns of a feature with this name.
    pub(super) fn names(&self, feature: &str) -> [String; 2] {
        let (period, _) = Period::ALL[self.period as usize];
        ["sin", "cos"].map(|coordinate| format!("{feature} {period} {coordinate}"))
    }

    pub(super) fn columns(&self, days: f64) -> [f64; 2] {
        if days.is_nan() {
            return self.missing;
        }
        let point = self.period.point(days);
        [0, 1].map(|k| (point[k] - self.shift[k]) / self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::super::date::days;
    use super::*;

    fn at(period: Period, days: f64) -> [f64; 2] {
        // Sines and cosines of multiples of a right angle, up to rounding.
        period.point(days).map(|v| (v * 1e12).round() / 1e12 + 0.0)
    }

    #[test]
    fn points_by_hand() {
        let day = |year, month, day| days(year, month, day).unwrap() as f64;
        assert_eq!(at(Period::Month, day(2021, 1, 31)), [0.0, 1.0]);
        assert_eq!(at(Period::Month, day(1969, 4, 1)), [1.0, 0.0]);
        assert_eq!(at(Period::Month, day(2024, 7, 17) + 0.9), [0.0, -1.0]);
        assert_eq!(at(Period::Hour, 0.25), [1.0, 0.0]);
        assert_eq!(at(Period::Hour, -0.25), [-1.0, 0.0]);
        // Both are Thursdays.
        assert_eq!(at(Period::Weekday, 0.3), at(Period::Weekday, day(2026, 11, 19)));
        assert_ne!(at(Period::Weekday, 0.3), at(Period::Weekday, 1.0));
        assert!(Period::Hour.point(f64::NAN)[0].is_nan());
        assert!(Period::ALL.iter().all(|(_, period)| period.point(-1e300)[1].is_finite()));
    }

    #[test]
    fn names_of_periods() {
        let periods = Periods::parse("hour+month").unwrap();
        assert_eq!(periods.names(), "month+hour");
        assert_eq!(periods.iter().collect::<Vec<_>>(), [Period::Month, Period::Hour]);
        assert_eq!(
            Periods::parse("mouth").unwrap_err().to_string(),
            "no period 'mouth'; did you mean 'month'?"
        );
        let json = serde_json::to_string(&periods).unwrap();
        assert_eq!(serde_json::from_str::<Periods>(&json).unwrap(), periods);
        assert!(Periods::try_from(String::new()).unwrap().is_empty());
    }

    #[test]
    fn a_circle_weighs_as_a_standardized_number() {
        let values = [0.0, 0.2, 0.3, f64::NAN, 0.9];
        let circle = Circle::fit(Period::Hour, values.into_iter(), Weights::ONE, true);
        let points: Vec<[f64; 2]> =
            values.iter().filter(|v| !v.is_nan()).map(|&v| circle.columns(v)).collect();
        let mut total = 0.0;
        for a in &points {
            for b in &points {
                total += (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
            }
        }
        // A few roundings of numbers around 1.
        assert!((total / 16.0 - 2.0).abs() < 1e-14, "{total}");
        assert_eq!(circle.columns(f64::NAN), [0.0, 0.0]);
        let constant = Circle::fit(Period::Weekday, [3.0, 3.5].into_iter(), Weights::ONE, true);
        assert!(constant.is_sound() && constant.columns(3.2).iter().all(|v| v.abs() < 1e-15));
        let plain = Circle::fit(Period::Hour, [0.25, 0.75].into_iter(), Weights::ONE, false);
        assert!(plain.columns(f64::NAN).iter().all(|v| v.abs() < 1e-15) && plain.columns(0.25)[0] == 1.0);
    }
}
