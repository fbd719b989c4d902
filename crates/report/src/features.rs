//! How often each column was kept.

use crate::html::{escape, shortened};
use crate::words;
use kernsift::evaluate::{Record, ResultsLog, Summary};
use std::collections::BTreeMap;

/// What all columns together are called in a record.
const ALL_COLUMNS: &str = "all-columns";
/// Columns shown per method.
const ROWS: usize = 10;
/// Numbers of features shown.
const COUNTS: usize = 12;
/// Characters of a column's name.
const NAME: usize = 20;

/// A card per method that keeps columns; none if there is no such method.
pub fn cards(log: &ResultsLog, summary: &Summary) -> Option<String> {
    let shown = sample(&summary.counts);
    let cards: String =
        summary.methods.iter().filter_map(|method| card(log, &method.label, &shown)).collect();
    (!cards.is_empty()).then(|| format!("<div class=\"cards\">\n{cards}</div>\n"))
}

/// The share of splits in which each column was kept, with this many features; none where nothing is known. For records
/// of one method.
pub fn shares(log: &ResultsLog, k: usize) -> Option<BTreeMap<&str, f64>> {
    let records: Vec<&Record> = log.results().filter(|record| record.method != ALL_COLUMNS).collect();
    let kept = Kept::of(&records, k);
    (kept.splits > 0).then(|| kept.times.keys().map(|name| (*name, kept.share(name))).collect())
}

/// Methods that keep directions of kernel space.
pub fn in_kernel_space<'a>(log: &'a ResultsLog, summary: &'a Summary) -> Vec<&'a str> {
    let keeps = |label: &str| log.results().any(|r| r.method == label && !r.directions.is_empty());
    summary.methods.iter().map(|method| method.label.as_str()).filter(|label| keeps(label)).collect()
}

/// At most so many numbers as fit, evenly taken, with the first and the last.
fn sample(counts: &[usize]) -> Vec<usize> {
    if counts.len() <= COUNTS {
        return counts.to_vec();
    }
    (0..COUNTS).map(|i| counts[i * (counts.len() - 1) / (COUNTS - 1)]).collect()
}

/// Splits in which each column was kept, and splits that have a selection, for a number of features.
struct Kept<'a> {
    splits: usize,
    times: BTreeMap<&'a str, usize>,
}

impl<'a> Kept<'a> {
    fn of(records: &[&'a Record], k: usize) -> Self {
        let mut kept = Self { splits: 0, times: BTreeMap::new() };
        for record in records.iter().filter(|r| r.k == k && !r.features.is_empty()) {
            kept.splits += 1;
            for name in &record.features {
                *kept.times.entry(name).or_default() += 1;
            }
        }
        kept
    }

    fn share(&self, name: &str) -> f64 {
        self.times.get(name).map_or(0.0, |&times| times as f64 / self.splits as f64)
    }
}

fn card(log: &ResultsLog, label: &str, counts: &[usize]) -> Option<String> {
    let records: Vec<&Record> = log.results().filter(|r| r.method == label).collect();
    let kept: Vec<Kept> = counts.iter().map(|&k| Kept::of(&records, k)).collect();
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for kept in &kept {
        for name in kept.times.keys() {
            *totals.entry(name).or_default() += kept.share(name);
        }
    }
    if totals.is_empty() {
        return None;
    }
    let mut names: Vec<(&str, f64)> = totals.into_iter().collect();
    // Sorted by name before, and this keeps the order of equals.
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let more = names.len().saturating_sub(ROWS);
    let heads: String = counts.iter().map(|k| format!("<th scope=\"col\">{k}</th>")).collect();
    let rows: String = names.iter().take(ROWS).map(|(name, _)| row(name, &kept)).collect();
    let rest = if more > 0 {
        format!("<p class=\"more\">and {} kept less often</p>", words::counted(more, "column"))
    } else {
        String::new()
    };
    Some(format!(
        "<div class=\"card\"><table class=\"kept\" style=\"--n:{}\"><caption title=\"{}\">{}</caption>\n\
         <thead><tr><th scope=\"col\">Column</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>{rest}</div>\n",
        counts.len(),
        escape(label),
        shortened(label, 40)
    ))
}

fn row(name: &str, kept: &[Kept]) -> String {
    let cells: String = kept
        .iter()
        .map(|kept| match kept.times.get(name) {
            _ if kept.splits == 0 => "<td class=\"none\">–</td>".into(),
            None => "<td></td>".into(),
            Some(times) => {
                let share = (100.0 * kept.share(name)).round();
                format!(
                    "<td style=\"--s:{share:.0}\" title=\"kept in {times} of {}\">{share:.0}</td>",
                    words::counted(kept.splits, "split")
                )
            }
        })
        .collect();
    format!("<tr><th scope=\"row\" title=\"{}\">{}</th>{cells}</tr>\n", escape(name), shortened(name, NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_numbers_has_both_ends() {
        assert_eq!(sample(&[1, 2, 5]), [1, 2, 5]);
        let counts: Vec<usize> = (1..=50).collect();
        let shown = sample(&counts);
        assert_eq!((shown.len(), shown[0], shown[11]), (12, 1, 50));
        assert!(shown.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
