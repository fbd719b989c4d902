//! Columns by name, pattern or range.

use super::options::ColumnOptions;
use crate::data::types::ColumnType;
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// What the user chose for a column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Choice<'a> {
    pub(super) include: bool,
    pub(super) exclude: bool,
    pub(super) id: bool,
    /// Whether it has another use than that of a feature.
    pub(super) reserved: bool,
    pub(super) kind: Option<&'a ColumnType>,
}

/// How closely a pattern describes a column: not at all, as one of several, by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    #[default]
    None,
    Pattern,
    Name,
}

/// What the user chose for each column. Patterns without a column are added to the problems.
pub(super) fn choices<'a>(
    options: &'a ColumnOptions,
    names: &[&str],
    problems: &mut Vec<Error>,
) -> Vec<Choice<'a>> {
    let mut all = |patterns: &[String]| {
        let mut found = vec![Match::None; names.len()];
        for pattern in patterns {
            match matches(pattern, names) {
                Ok(places) => places.into_iter().for_each(|(at, how)| found[at] = found[at].max(how)),
                Err(problem) => problems.push(problem),
            }
        }
        found
    };
    let (include, exclude, id) = (all(&options.include), all(&options.exclude), all(&options.id));
    let mut choices: Vec<Choice> = (0..names.len())
        .map(|at| {
            let strongest = include[at].max(exclude[at]).max(id[at]);
            let is = |how: Match| how != Match::None && how == strongest;
            let id = is(id[at]);
            let include = is(include[at]) && !id;
            Choice { include, exclude: is(exclude[at]) && !id && !include, id, ..Choice::default() }
        })
        .collect();
    for (pattern, kind) in &options.types {
        match matches(pattern, names) {
            Ok(places) => places.into_iter().for_each(|(at, _)| choices[at].kind = Some(kind)),
            Err(problem) => problems.push(problem),
        }
    }
    choices
}

/// The columns that patterns describe, in their order; or the first pattern without a column.
pub(in crate::data) fn matching<'a>(
    patterns: &'a [String],
    names: &[&str],
) -> std::result::Result<BTreeSet<usize>, &'a str> {
    let mut found = BTreeSet::new();
    for pattern in patterns {
        found.extend(matches(pattern, names).map_err(|_| pattern.as_str())?.into_iter().map(|(at, _)| at));
    }
    Ok(found)
}

/// The columns that a pattern describes, at least one.
fn matches(pattern: &str, names: &[&str]) -> Result<Vec<(usize, Match)>> {
    if let Some(at) = place(pattern, names) {
        return Ok(vec![(at, Match::Name)]);
    }
    if pattern.contains(',') {
        let parts: Result<Vec<_>> = pattern.split(',').map(|part| matches(part.trim(), names)).collect();
        return Ok(parts?.concat());
    }
    if pattern.contains(['*', '?']) {
        let (glob, all) = (characters(pattern), names.iter().map(|name| characters(name)).enumerate());
        let found: Vec<_> =
            all.filter(|(_, name)| fits(&glob, name)).map(|(at, _)| (at, Match::Pattern)).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    // Names may contain colons, too.
    for (colon, _) in pattern.match_indices(':') {
        let end = |text: &str| place(text.trim(), names);
        if let (Some(first), Some(last)) = (end(&pattern[..colon]), end(&pattern[colon + 1..]))
            && first <= last
        {
            return Ok((first..=last).map(|at| (at, Match::Pattern)).collect());
        }
    }
    Err(Error::unknown_column(pattern, names.iter().copied()))
}

/// The column with a name, or at a position from 1.
fn place(text: &str, names: &[&str]) -> Option<usize> {
    let named = names.iter().position(|name| *name == text);
    named.or_else(|| text.parse::<usize>().ok().filter(|at| (1..=names.len()).contains(at)).map(|at| at - 1))
}

fn characters(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// Whether a name fits a pattern, where `*` stands for any characters and `?` for one.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // The last star, and the place in the name up to which it reaches.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                None => return false,
                Some((at, reached)) => {
                    star = Some((at, reached + 1));
                    (p, n) = (at + 1, reached + 1);
                }
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["age", "temp:in", "temp:out", "gene_1", "gene_2", "a,b"];

    fn found(pattern: &str) -> Vec<usize> {
        matches(pattern, &NAMES).unwrap().into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn columns_by_name_pattern_and_range() {
        assert_eq!(found("temp:in"), [1]);
        assert_eq!(found("gene_*"), [3, 4]);
        assert_eq!(found("*e*_?"), [3, 4]);
        assert_eq!(found("*").len(), 6);
        assert_eq!(found("temp:in:gene_1"), [1, 2, 3]);
        assert_eq!((found("2:3"), found("4"), found("age:2")), (vec![1, 2], vec![3], vec![0, 1]));
        assert_eq!((found("a,b"), found("age, gene_?")), (vec![5], vec![0, 3, 4]));
        for pattern in ["ages", "x*", "gene_2:gene_1", "0", "7", "", "age,x"] {
            assert!(matches(pattern, &NAMES).is_err(), "{pattern}");
        }
        assert_eq!(
            matches("gene_3", &NAMES).unwrap_err().to_string(),
            "no column 'gene_3'; did you mean 'gene_1'?"
        );
    }

    #[test]
    fn names_count_more_than_patterns_and_include_more_than_exclude() {
        let strings = |patterns: &[&str]| patterns.iter().map(|p| p.to_string()).collect::<Vec<_>>();
        let used = |include: &[&str], exclude: &[&str], id: &[&str]| -> String {
            let options = ColumnOptions {
                include: strings(include),
                exclude: strings(exclude),
                id: strings(id),
                ..ColumnOptions::default()
            };
            let mut problems = vec![];
            let all = choices(&options, &NAMES, &mut problems);
            assert!(problems.is_empty());
            all.iter()
                .map(|c| {
                    if c.include {
                        '+'
                    } else if c.exclude {
                        '-'
                    } else if c.id {
                        'i'
                    } else {
                        '.'
                    }
                })
                .collect()
        };
        assert_eq!(used(&["age"], &["*"], &[]), "+-----");
        assert_eq!(used(&["*"], &["age"], &["gene_1"]), "-++i++");
        assert_eq!(used(&[], &["gene*"], &[]), "...--.");
    }
}
