//! Dates and times in text.

use crate::data::date::days;
use serde::{Deserialize, Serialize};

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// How names of months start in English, German, French, Spanish, Italian, Portuguese and Dutch.
const MONTHS: [&[&str]; 12] = [
    &["jan", "ene", "gen"],
    &["feb", "fev", "fév"],
    &["mar", "mär", "maa", "mrt"],
    &["apr", "avr", "abr"],
    &["may", "mai", "mag", "mei"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "aou", "aoû", "ago"],
    &["sep", "set"],
    &["oct", "okt", "ott", "out"],
    &["nov"],
    &["dec", "dez", "dic", "déc"],
];

/// How the dates of a column are written. ISO 8601 dates and names of months are always read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DateFormat {
    /// Whether dates such as 07/08/2021 have the month first; otherwise the day.
    pub(crate) month_first: bool,
}

impl DateFormat {
    /// Days since 1970-01-01, with a fraction for the time of day. A time without a date has only the fraction.
    pub(crate) fn parse(self, text: &str) -> Option<f64> {
        let text = text.trim();
        if !text.bytes().next()?.is_ascii_alphanumeric() {
            return None;
        }
        let Some(colon) = text.find(':') else { return Some(self.date(text)? as f64) };
        match text[..colon].rfind([' ', 'T', 't']) {
            None => seconds(text).map(|s| s / DAY),
            Some(at) => Some(self.date(text[..at].trim_end())? as f64 + seconds(&text[at + 1..])? / DAY),
        }
    }

    fn date(self, text: &str) -> Option<i64> {
        let mut parts: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|p| !p.is_empty()).collect();
        if parts.iter().any(|part| part.starts_with(|c: char| c.is_ascii_alphabetic())) {
            // As in 22 de marzo de 2004.
            parts.retain(|&part| part != "de");
            return named_month(&parts);
        }
        let marks: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        match (marks.as_str(), parts.as_slice()) {
            ("-", [year, month]) if year.len() == 4 && month.len() == 2 => {
                days(number(year)?, number(month)? as u32, 1)
            }
            ("--" | "//" | "..", [year, month, day]) if year.len() == 4 => calendar(year, month, day),
            ("--" | "//" | "..", [first, second, year]) => {
                // Short years only in forms that are not version numbers.
                let short = year.len() == 2 && (marks == "//" || first.len() == 2 && second.len() == 2);
                let (day, month) = if self.month_first { (second, first) } else { (first, second) };
                (year.len() == 4 || short).then(|| calendar(year, month, day))?
            }
            _ => None,
        }
    }
}

/// Dates such as 17 Jul 2021, July 17, 2021 and 2021-Jul-17.
fn named_month(parts: &[&str]) -> Option<i64> {
    let &[first, second, third] = parts else { return None };
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic());
    match (is_name(first), is_name(second), is_name(third)) {
        (true, false, false) => calendar(third, month(first)?, second),
        (false, true, false) if first.len() == 4 => calendar(first, month(second)?, third),
        (false, true, false) => calendar(third, month(second)?, first),
        _ => None,
    }
}

/// The number of a month with a name, as text.
fn month(name: &str) -> Option<&'static str> {
    const NUMBERS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];
    let name = name.to_lowercase();
    let is_named = |starts: &&[&str]| starts.iter().any(|start| name.starts_with(start));
    MONTHS.iter().position(is_named).map(|at| NUMBERS[at])
}

fn calendar(year: &str, month: &str, day: &str) -> Option<i64> {
    if month.len() > 2 || day.len() > 2 {
        return None;
    }
    let written = number(year)?;
    let year = match (year.len(), written) {
        (4, year) => year,
        // The convention of POSIX.
        (2, year) => year + if year < 69 { 2000 } else { 1900 },
        _ => return None,
    };
    days(year, number(month)? as u32, number(day)? as u32)
}

/// A number of at most four digits.
fn number(text: &str) -> Option<i64> {
    let valid = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if valid { text.parse().ok() } else { None }
}

/// Seconds of a time such as 12:30, 12:30:59.5, 1:30 PM, 12:30Z or 12:30+02:00, in UTC.
fn seconds(text: &str) -> Option<f64> {
    let upper = text.trim().to_ascii_uppercase();
    let end = upper.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(upper.len());
    let (clock, zone) = upper.split_at(end);
    let parts: Vec<&str> = clock.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, "0"),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    if hour.is_empty()
        || hour.len() > 2
        || minute.len() != 2
        || !second.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let (mut hour, minute) = (number(hour)? as f64, number(minute)? as f64);
    let second: f64 = second.parse().ok()?;
    let mut shift = 0.0;
    match zone.trim() {
        "" | "Z" | "UTC" | "GMT" => {}
        half @ ("AM" | "PM") if (1.0..=12.0).contains(&hour) => {
            hour = hour % 12.0 + if half == "PM" { 12.0 } else { 0.0 };
        }
        zone => shift = offset(zone)?,
    }
    // A minute may have a leap second.
    (hour < 24.0 && minute < 60.0 && second < 61.0).then_some(3600.0 * hour + 60.0 * minute + second - shift)
}

/// Seconds of an offset from UTC such as +02, +0200 or -03:30.
fn offset(zone: &str) -> Option<f64> {
    let sign = match zone.bytes().next()? {
        b'+' => 1.0,
        b'-' => -1.0,
        _ => return None,
    };
    let digits = zone[1..].replace(':', "");
    let value = number(&digits)? as f64;
    match digits.len() {
        2 => Some(sign * 3600.0 * value),
        4 => Some(sign * (3600.0 * (value / 100.0).floor() + 60.0 * (value % 100.0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_FIRST: DateFormat = DateFormat { month_first: false };

    #[test]
    fn the_same_day_in_many_forms() {
        let day = days(2021, 7, 17).map(|d| d as f64);
        for text in [
            "2021-07-17",
            "2021/7/17",
            "17.07.2021",
            "17/07/2021",
            "17-7-2021",
            "17 Jul 2021",
            "July 17, 2021",
            "17-JUL-21",
            "17/7/21",
            "17.07.21",
            "17. Juli 2021",
            "17 juil. 2021",
            "17 de julio de 2021",
            "17 luglio 2021",
            "2021-07-17T00:00:00Z",
            "2021.07.17 00:00",
        ] {
            assert_eq!(DAY_FIRST.parse(text), day, "{text}");
        }
        assert_eq!(DateFormat { month_first: true }.parse("07/17/2021"), day);
        assert_eq!(DAY_FIRST.parse("07/17/2021"), None);
        assert_eq!(DAY_FIRST.parse("2021-07"), days(2021, 7, 1).map(|d| d as f64));
        for march in ["22. März 2004", "22 mars 2004", "22 marzo 2004", "22 maart 2004"] {
            assert_eq!(DAY_FIRST.parse(march), days(2004, 3, 22).map(|d| d as f64), "{march}");
        }
        assert_eq!(DAY_FIRST.parse("17/07/70"), days(1970, 7, 17).map(|d| d as f64));
    }

    #[test]
    fn times_by_hand() {
        let time = |text: &str| DAY_FIRST.parse(text).map(|days| (days * DAY).round());
        assert_eq!(time("12:30"), Some(45_000.0));
        assert_eq!(time("1:30 pm"), Some(48_600.0));
        assert_eq!(time("12:05 AM"), Some(300.0));
        assert_eq!(time("1970-01-01 00:00:01.4"), Some(1.0));
        assert_eq!(time("1970-01-02T02:00:00+02:00"), Some(DAY));
        assert_eq!(time("1970-01-01T00:00-0330"), Some(12_600.0));
        for text in ["24:00", "12:60", "12:3", "1:2:3:4", "13:00 PM", "12:30 XY", "a:b", ":30", "2021-07-17T"]
        {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn other_text_is_no_date() {
        for text in [
            "",
            "1.2.10",
            "10.0.0.1",
            "2021",
            "2011/12",
            "2021-13-01",
            "30.02.2021",
            "1, 2, 2021",
            "May",
            "5 apples 2021",
            "12345-01-01",
            "-2021-01-01",
            "17..07.2021",
            "17/07-2021",
            "202107",
            "№ 1 2 3",
            "éé é 1",
        ] {
            assert_eq!(DAY_FIRST.parse(text), None, "{text}");
        }
    }
}
