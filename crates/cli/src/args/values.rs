//! Parsers of option values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kernsift::data::ColumnType;
use kernsift::parameters::{Kind, ParameterValue};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// One of the named values of a library type; their descriptions are the help.
pub fn choice<T>() -> impl TypedValueParser<Value = T>
where
    T: ParameterValue + DeserializeOwned + Clone + Send + Sync + 'static,
{
    let values = T::kinds().into_iter().flat_map(|kind| match kind {
        Kind::Choice { values } => values,
        _ => vec![],
    });
    let values =
        values.map(|v| PossibleValue::new(v.name).help(v.description.trim_end_matches('.').to_owned()));
    PossibleValuesParser::new(values)
        .map(|name| serde_json::from_value(name.into()).expect("the parser accepts declared names only"))
}

/// Columns and their type: COLS=TYPE. Names of columns may contain equals signs.
pub fn column_type(text: &str) -> Result<(String, ColumnType), String> {
    let mut wrong = "write COLS=TYPE, such as zip=category".to_owned();
    for (at, _) in text.match_indices('=') {
        match text[at + 1..].parse() {
            Ok(kind) => return Ok((text[..at].to_owned(), kind)),
            Err(error) => wrong = kernsift::Error::to_string(&error),
        }
    }
    Err(wrong)
}

/// A number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=1024).contains(&n) => Ok(n),
        _ => Err("a number from 1 to 1024 is expected".into()),
    }
}

/// A character of one byte, or its name.
pub fn character(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("space", _) => Ok(b' '),
        (_, &[byte]) => Ok(byte),
        _ => Err("a single character, tab or space is expected".into()),
    }
}

/// Bytes with a unit: 800MB, 6GiB, 2g, or a plain number.
pub fn size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_lowercase();
    let split = lower.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let factor = match unit.trim() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return Err("a size such as 6GiB or 800MB is expected".into()),
    };
    match number.parse::<f64>() {
        Ok(n) if n > 0.0 => Ok((n * factor) as u64),
        _ => Err("a size such as 6GiB or 800MB is expected".into()),
    }
}

/// A count or a fraction of features.
pub fn feature_count(text: &str) -> Result<kernsift::select::FeatureCount, String> {
    use kernsift::select::FeatureCount;
    if let Ok(count) = text.parse::<usize>() {
        return Ok(FeatureCount::Count(count));
    }
    match text.parse::<f64>() {
        Ok(fraction) if fraction > 0.0 && fraction < 1.0 => Ok(FeatureCount::Fraction(fraction)),
        _ => Err("expected an integer, or a fraction above 0 and below 1".into()),
    }
}

/// Numbers of features.
#[derive(Clone)]
pub struct Counts(pub Vec<usize>);

/// Largest length of a range of numbers of features, against slips such as 1..1000000000.
const MAX_COUNTS: usize = 10_000;

/// Numbers of features, separated by commas: numbers, ranges such as 1..10, or ranges with a step such as 10..100:10.
pub fn counts(text: &str) -> Result<Counts, String> {
    let wrong = || "a list such as 1,2,5 or 1..10 or 10..100:10 is expected".to_owned();
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let mut all = vec![];
    for part in text.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, number(step)?),
            None => (part, 1),
        };
        match range.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to || step == 0 {
                    return Err(format!("'{part}' is empty; {}", wrong()));
                }
                if (to - from) / step >= MAX_COUNTS {
                    return Err(format!("'{part}' has more than {MAX_COUNTS} numbers"));
                }
                all.extend((from..=to).step_by(step));
            }
            None if part.contains(':') => return Err(wrong()),
            None => all.push(number(range)?),
        }
    }
    Ok(Counts(all))
}

/// A fraction of at least 0 and below 1.
pub fn fraction(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(fraction) if (0.0..1.0).contains(&fraction) => Ok(fraction),
        _ => Err("a fraction of at least 0 and below 1 is expected".into()),
    }
}

/// Parses a time such as 90s, 10min or 2h.
pub fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "s" => 1.0,
        "min" | "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write a number with the unit s, min or h, such as 10min".into()),
    };
    let seconds = number.trim().parse::<f64>().ok().filter(|number| *number > 0.0).map(|n| n * factor);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a positive number with the unit s, min or h, such as 10min".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text: &str| duration(text).map(|time| time.as_secs_f64());
        assert_eq!([seconds("90s"), seconds("1.5min"), seconds("2h")], [Ok(90.0), Ok(90.0), Ok(7200.0)]);
        assert!(["", "10", "-1s", "0s", "1e999h", "5 days"].iter().all(|text| seconds(text).is_err()));
    }

    use kernsift::select::FeatureCount;

    #[test]
    fn sizes() {
        assert_eq!(size("6GiB").unwrap(), 6 << 30);
        assert_eq!(size("1.5g").unwrap(), 3 << 29);
        assert_eq!(size("800MB").unwrap(), 800_000_000);
        assert_eq!(size("17").unwrap(), 17);
        assert!(size("much").is_err() && size("-1G").is_err() && size("1 apple").is_err());
    }

    #[test]
    fn characters() {
        assert_eq!((character(";"), character("tab"), character("\\t")), (Ok(b';'), Ok(b'\t'), Ok(b'\t')));
        assert_eq!((character(" "), character("space")), (Ok(b' '), Ok(b' ')));
        assert!(character("").is_err() && character(";;").is_err() && character("é").is_err());
    }

    #[test]
    fn lists_of_numbers() {
        let list = |text: &str| counts(text).map(|counts| counts.0);
        assert_eq!(list("3").unwrap(), [3]);
        assert_eq!(list("1..4").unwrap(), [1, 2, 3, 4]);
        assert_eq!(list("1,5..15:5, 40").unwrap(), [1, 5, 10, 15, 40]);
        for wrong in ["", "a", "4..1", "1..9:0", "3:2", "1..", "1..1000000000", "-1"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
        assert!(fraction("0").is_ok() && fraction("0.99").is_ok());
        assert!(fraction("1").is_err() && fraction("-0.1").is_err());
    }

    #[test]
    fn numbers_and_fractions() {
        assert_eq!(feature_count("3").unwrap(), FeatureCount::Count(3));
        assert_eq!(feature_count("0.25").unwrap(), FeatureCount::Fraction(0.25));
        assert!(feature_count("1.5").is_err() && feature_count("few").is_err());
        assert!(threads("0").is_err() && threads("2").is_ok());
    }
}
