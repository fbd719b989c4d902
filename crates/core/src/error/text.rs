//! Formatting of names and numbers in messages.

/// Truncates text for a message.
pub fn shorten(text: &str) -> String {
    const MAX: usize = 40;
    if text.chars().count() <= MAX {
        text.to_owned()
    } else {
        text.chars().take(MAX - 3).chain("...".chars()).collect()
    }
}

/// Formats a number of bytes, such as 1.5 GiB.
pub fn bytes(n: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", units[unit]) }
}

/// Formats a number, in scientific notation if it is very small or very large.
pub fn number(value: f64) -> String {
    short_number(value.to_string())
}

/// Rewrites a number in scientific notation if its text is long, such as 1e-300. Other text stays unchanged.
pub(super) fn short_number(text: String) -> String {
    const MAX: usize = 20;
    match text.parse::<f64>() {
        Ok(value) if text.len() > MAX => format!("{value:e}"),
        _ => text,
    }
}

/// A similar name, or the list of names, for the end of a message.
pub(super) fn did_you_mean(similar: &Option<String>, available: &[String]) -> String {
    if let Some(name) = similar {
        return format!("; did you mean '{}'?", shorten(name));
    }
    const MAX: usize = 8;
    let names: Vec<String> = available.iter().take(MAX).map(|s| shorten(s)).collect();
    match available.len() {
        0 => String::new(),
        n if n > MAX => format!("; there are {} and {} more", names.join(", "), n - MAX),
        _ => format!("; there are {}", names.join(", ")),
    }
}

/// The methods to use instead, for the end of a message.
pub(super) fn others(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("; these do: {}", names.join(", ")) }
}

/// A line for each item, up to some number.
pub(super) fn listed(items: &[impl std::fmt::Display]) -> String {
    const MAX: usize = 20;
    let lines: String = items.iter().take(MAX).map(|item| format!("\n  {item}")).collect();
    if items.len() > MAX { format!("{lines}\n  and {} more", items.len() - MAX) } else { lines }
}

pub(super) fn io_message(source: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::NotFound => "no such file".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "is a directory, not a file".into(),
        _ => source.to_string(),
    }
}

/// The name that was probably meant: a name within a few edits, or one that contains `name`.
pub fn nearest(name: &str, available: &[String]) -> Option<String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = 1 + length / 4;
    let similar = available
        .iter()
        .map(|candidate| (edit_distance(&wanted, &candidate.to_lowercase(), allowed), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance);
    if let Some((0 | 1, candidate)) = similar {
        return Some(candidate.clone());
    }
    // Among names that contain it, prefer those that start with it. Short parts match too many names.
    let containing = available
        .iter()
        .filter_map(|candidate| Some((candidate.to_lowercase().find(&wanted)?, candidate)))
        .min_by_key(|(place, candidate)| (*place > 0, candidate.len()))
        .filter(|_| length >= 3);
    containing.map(|(_, candidate)| candidate).or(similar.map(|(_, candidate)| candidate)).cloned()
}

/// Levenshtein distance, or `limit + 1` if the lengths alone make it larger than `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_suggested() {
        let names = ["class", "alcohol", "ash"].map(String::from);
        assert_eq!(nearest("clas", &names).as_deref(), Some("class"));
        assert_eq!(nearest("Alcohl", &names).as_deref(), Some("alcohol"));
        assert_eq!(nearest("temperature", &names), None);
        let methods = ["fisher", "svm-rfe", "l1-svm", "hsfs", "hsic-lasso"].map(String::from);
        assert_eq!(nearest("svm", &methods).as_deref(), Some("svm-rfe"));
        assert_eq!(nearest("lasso", &methods).as_deref(), Some("hsic-lasso"));
        assert_eq!(
            nearest("hsic", &methods).as_deref(),
            Some("hsic-lasso"),
            "preferred to a name two edits away"
        );
        assert_eq!(nearest("fi", &methods), None);
    }

    #[test]
    fn edit_distance_by_hand() {
        assert_eq!(edit_distance("kitten", "sitting", 5), 3);
        assert_eq!(edit_distance("", "abc", 5), 3);
        assert_eq!(edit_distance("same", "same", 5), 0);
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(bytes(12), "12 B");
        assert_eq!(bytes(6 << 30), "6.0 GiB");
    }

    #[test]
    fn very_small_and_large_numbers_are_in_scientific_notation() {
        assert_eq!(number(-1e-300), "-1e-300");
        assert_eq!(number(1.5e300), "1.5e300");
        assert_eq!([number(0.0), number(2.0), number(0.001), number(f64::NAN)], ["0", "2", "0.001", "NaN"]);
        assert_eq!(short_number("'0.00000000000000000000001'".into()), "'0.00000000000000000000001'");
    }
}
