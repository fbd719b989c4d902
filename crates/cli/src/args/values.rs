//! Values of options, from text.

/// A number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=1024).contains(&n) => Ok(n),
        _ => Err("a number from 1 to 1024 is expected".into()),
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

/// A number or a share of features.
pub fn wanted(text: &str) -> Result<kernsift::select::Wanted, String> {
    use kernsift::select::Wanted;
    if let Ok(count) = text.parse::<usize>() {
        return Ok(Wanted::Count(count));
    }
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(Wanted::Share(share)),
        _ => Err("a whole number, or a share above 0 and below 1, is expected".into()),
    }
}

/// How many columns leave in a round.
pub fn step(text: &str) -> Result<kernsift::select::Step, String> {
    use kernsift::select::{Step, Wanted};
    match wanted(text) {
        Ok(Wanted::Count(count)) if count > 0 => Ok(Step::Count(count)),
        Ok(Wanted::Share(share)) => Ok(Step::Share(share)),
        _ => Err("a whole number from 1, or a share above 0 and below 1, is expected".into()),
    }
}

/// A rule for the width, or a number.
pub fn gamma(text: &str) -> Result<kernsift::kernel::Gamma, String> {
    use kernsift::kernel::Gamma;
    match text {
        "median" => Ok(Gamma::Median),
        "scale" => Ok(Gamma::Scale),
        _ => match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(Gamma::Value(value)),
            _ => Err("median, scale or a positive number is expected".into()),
        },
    }
}

/// A threshold function of KOBL.
pub fn threshold(text: &str) -> Result<kernsift::basis::Threshold, String> {
    use kernsift::basis::Threshold;
    match text {
        "linear" => Ok(Threshold::Linear),
        "none" => Ok(Threshold::None),
        _ => match text.parse::<f64>() {
            Ok(power) if power > 0.0 && power.is_finite() => Ok(Threshold::Power(power)),
            _ => Err("linear, none or a positive power is expected".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernsift::select::Wanted;

    #[test]
    fn sizes() {
        assert_eq!(size("6GiB").unwrap(), 6 << 30);
        assert_eq!(size("1.5g").unwrap(), 3 << 29);
        assert_eq!(size("800MB").unwrap(), 800_000_000);
        assert_eq!(size("17").unwrap(), 17);
        assert!(size("much").is_err() && size("-1G").is_err() && size("1 apple").is_err());
    }

    #[test]
    fn numbers_and_shares() {
        assert_eq!(wanted("3").unwrap(), Wanted::Count(3));
        assert_eq!(wanted("0.25").unwrap(), Wanted::Share(0.25));
        assert!(wanted("1.5").is_err() && wanted("few").is_err());
        assert!(gamma("-1").is_err() && gamma("median").is_ok() && gamma("0.3").is_ok());
        assert!(threshold("0").is_err() && threshold("2").is_ok());
        assert!(threads("0").is_err() && threads("2").is_ok());
    }
}
