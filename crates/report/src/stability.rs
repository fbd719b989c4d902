//! Selection frequency of each feature over splits.

use crate::html::{escape, shortened};
use crate::text;
use kernsift::evaluate::{Record, ResultsLog, Summary};
use std::collections::BTreeMap;

/// Label of the baseline with all features in a record.
const ALL_FEATURES: &str = "all-features";
/// Maximum number of features shown per method.
const MAX_ROWS: usize = 10;
/// Maximum number of feature counts shown.
const MAX_COUNTS: usize = 12;
/// Maximum length of a name, in characters.
const NAME_LENGTH: usize = 20;

/// One table per method that selects features; `None` if there is no such method.
pub fn cards(log: &ResultsLog, summary: &Summary) -> Option<String> {
    let shown = subset(&summary.counts);
    let cards: String = summary
        .methods
        .iter()
        .filter_map(|method| card(log, &method.label, (&shown, summary.train_rows)))
        .collect();
    (!cards.is_empty()).then(|| format!("<div class=\"cards\">\n{cards}</div>\n"))
}

/// Fraction of splits in which each feature was selected, with `k` features; `None` without results. For records of a single
/// method.
pub fn frequencies(log: &ResultsLog, k: usize) -> Option<BTreeMap<&str, f64>> {
    let records: Vec<&Record> = log.results().filter(|record| record.method != ALL_FEATURES).collect();
    let selected = Selected::of(&records, k);
    let all = || selected.times.keys().map(|name| (*name, selected.frequency(name))).collect();
    (selected.splits > 0).then(all)
}

/// Methods that select directions of kernel space.
pub fn in_kernel_space<'a>(log: &'a ResultsLog, summary: &'a Summary) -> Vec<&'a str> {
    let is_space = |label: &str| log.results().any(|r| r.method == label && !r.directions.is_empty());
    summary.methods.iter().map(|method| method.label.as_str()).filter(|label| is_space(label)).collect()
}

/// An evenly spaced subset with the first and the last number.
fn subset(counts: &[usize]) -> Vec<usize> {
    if counts.len() <= MAX_COUNTS {
        return counts.to_vec();
    }
    (0..MAX_COUNTS).map(|i| counts[i * (counts.len() - 1) / (MAX_COUNTS - 1)]).collect()
}

/// Number of splits with a selection of `k` features, and in how many of them each feature was selected.
struct Selected<'a> {
    splits: usize,
    times: BTreeMap<&'a str, usize>,
}

impl<'a> Selected<'a> {
    fn of(records: &[&'a Record], k: usize) -> Self {
        let mut selected = Self { splits: 0, times: BTreeMap::new() };
        for record in records.iter().filter(|r| r.k == k && !r.features.is_empty()) {
            selected.splits += 1;
            for name in &record.features {
                *selected.times.entry(name).or_default() += 1;
            }
        }
        selected
    }

    fn frequency(&self, name: &str) -> f64 {
        self.times.get(name).map_or(0.0, |&times| times as f64 / self.splits as f64)
    }
}

fn card(log: &ResultsLog, label: &str, (counts, rows): (&[usize], Option<usize>)) -> Option<String> {
    let records: Vec<&Record> = log.results().filter(|r| r.method == label && r.train_rows == rows).collect();
    let selected: Vec<Selected> = counts.iter().map(|&k| Selected::of(&records, k)).collect();
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for selected in &selected {
        for name in selected.times.keys() {
            *totals.entry(name).or_default() += selected.frequency(name);
        }
    }
    if totals.is_empty() {
        return None;
    }
    let mut names: Vec<(&str, f64)> = totals.into_iter().collect();
    // A stable sort: ties are ordered by name.
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let more = names.len().saturating_sub(MAX_ROWS);
    let heads: String = counts.iter().map(|k| format!("<th scope=\"col\">{k}</th>")).collect();
    let rows: String = names.iter().take(MAX_ROWS).map(|(name, _)| row(name, &selected)).collect();
    let rest = if more > 0 {
        format!("<p class=\"more\">and {} selected less often</p>", text::counted(more, "feature"))
    } else {
        String::new()
    };
    Some(format!(
        "<div class=\"card\"><table class=\"frequencies\" style=\"--n:{}\"><caption title=\"{}\">{}</caption>\n\
         <thead><tr><th scope=\"col\">Feature</th>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>{rest}</div>\n",
        counts.len(),
        escape(label),
        shortened(label, 40)
    ))
}

fn row(name: &str, selected: &[Selected]) -> String {
    let cells: String = selected
        .iter()
        .map(|selected| match selected.times.get(name) {
            _ if selected.splits == 0 => "<td class=\"none\">–</td>".into(),
            None => "<td></td>".into(),
            Some(times) => {
                let percent = (100.0 * selected.frequency(name)).round();
                format!(
                    "<td style=\"--s:{percent:.0}\" title=\"selected in {times} of {}\">{percent:.0}</td>",
                    text::counted(selected.splits, "split")
                )
            }
        })
        .collect();
    format!(
        "<tr><th scope=\"row\" title=\"{}\">{}</th>{cells}</tr>\n",
        escape(name),
        shortened(name, NAME_LENGTH)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subset_has_both_ends() {
        assert_eq!(subset(&[1, 2, 5]), [1, 2, 5]);
        let counts: Vec<usize> = (1..=50).collect();
        let shown = subset(&counts);
        assert_eq!((shown.len(), shown[0], shown[11]), (12, 1, 50));
        assert!(shown.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
