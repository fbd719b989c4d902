//! Calendar dates as days since 1970-01-01.

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// Number of days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such date.
pub(crate) fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    let in_month = match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=in_month).contains(&day) || !(-9999..=9999).contains(&year) {
        return None;
    }
    // Count years from March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let day_of_year = (153 * i64::from(month) + 2) / 5 + i64::from(day) - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leap_days + day_of_year - 719_468)
}

/// The month of a number of days since 1970-01-01, from 1.
pub(super) fn month(days: i64) -> u32 {
    date(days).1
}

/// The year, month and day of a number of days since 1970-01-01.
fn date(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, in_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
    let day_of_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (year + 400 * era, if month < 10 { month + 3 } else { month - 9 });
    (year + i64::from(month <= 2), month as u32, day as u32)
}

/// A date, as days since 1970-01-01, in ISO 8601 form, with the time of day unless it is midnight. Seconds have as many
/// digits, up to six, as it takes to give the same days.
pub fn text(days: f64) -> String {
    // The error of a sum of days and a fraction of a day.
    let tolerance = 2.0 * f64::EPSILON * days.abs().max(1.0) * DAY;
    let is_close = |digits: &usize| {
        let scale = 10f64.powi(*digits as i32);
        ((days * DAY * scale).round() / scale - days * DAY).abs() <= tolerance
    };
    let digits = (0..6).find(is_close).unwrap_or(6);
    let scale = 10i64.pow(digits as u32);
    let units = (days * DAY * scale as f64).round() as i64;
    let (seconds, fraction) = (units.div_euclid(scale), units.rem_euclid(scale));
    let (whole, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(whole);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest == 0 && fraction == 0 {
        return date;
    }
    let fraction = if digits == 0 { String::new() } else { format!(".{fraction:0digits$}") };
    format!("{date}T{:02}:{:02}:{:02}{fraction}", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        assert_eq!(days(1969, 12, 31), Some(-1));
        assert_eq!((days(2023, 2, 29), days(2024, 2, 29)), (None, Some(19_782)));
        assert_eq!(
            (days(2024, 13, 1), days(2024, 4, 31), days(2024, 1, 0), days(1900, 2, 29)),
            (None, None, None, None)
        );
        assert_eq!(text(0.0), "1970-01-01");
        assert_eq!(text(19_782.5), "2024-02-29T12:00:00");
        assert_eq!(text(-0.25), "1969-12-31T18:00:00");
        assert_eq!(text(18_825.0 + 45_000.137 / DAY), "2021-07-17T12:30:00.137");
        assert_eq!(text(18_825.0 + 0.000_25 / DAY), "2021-07-17T00:00:00.00025");
        for second in 0..100_000 {
            let days = 18_825.0 + f64::from(second) * 0.864_01 / DAY;
            assert!(text(days).len() <= "2021-07-17T00:00:00.12345".len(), "{}", text(days));
        }
    }

    #[test]
    fn dates_and_days_are_inverse() {
        // Every day of 1200 years, three eras of the calendar.
        let mut previous = None;
        for number in days(1300, 1, 1).unwrap()..days(2500, 1, 1).unwrap() {
            let (year, month, day) = date(number);
            assert_eq!(days(year, month, day), Some(number));
            assert!(previous < Some((year, month, day)));
            previous = Some((year, month, day));
        }
    }
}
