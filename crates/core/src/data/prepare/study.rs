//! Types and statistics of all columns, and which of them are features.

use super::options::{Missing, Prepare};
use super::patterns::Choice;
use crate::data::inspect::{
    Action, ColumnAccount, Details, Fingerprint, Statistics, examples, reason_to_skip, same_values,
};
use crate::data::table::Column;
use crate::data::types::{ColumnType, Decimal, Inferred, Parsing, infer, looks_like_thousands, of_type};
use crate::error::{Error, Result, shorten};
use rayon::prelude::*;
use std::collections::HashMap;

/// A column with its type and what is done with it.
pub(super) struct Studied {
    pub(super) account: ColumnAccount,
    pub(super) parsing: Parsing,
    pub(super) warnings: Vec<String>,
    fingerprint: Fingerprint,
    /// Whether the user wants it as a feature, whatever it holds.
    is_included: bool,
}

/// Studies all columns, as `prepare` says. Columns that cannot be read as the type that the user chose are added to the
/// problems.
pub(super) fn study(
    prepare: &Prepare,
    columns: &[Column],
    target: Option<usize>,
    choices: &[Choice],
    problems: &mut Vec<Error>,
) -> Vec<Studied> {
    let types = types(columns, choices, prepare.columns.decimal);
    let work: Vec<(usize, Result<Inferred>)> = types.into_iter().enumerate().collect();
    let describe = |(at, inferred): (usize, Result<Inferred>)| -> Result<Studied> {
        let is_target = Some(at) == target;
        let decide = |studied: &mut Studied, statistics: &Statistics| match is_target {
            true => studied.account.action = Action::Target,
            false => decide(studied, statistics, at, &choices[at], prepare.missing),
        };
        describe(&columns[at], inferred?, prepare.details || is_target, decide)
    };
    let results: Vec<Result<Studied>> = work.into_par_iter().map(describe).collect();
    let mut all = vec![];
    for result in results {
        match result {
            Ok(studied) => all.push(studied),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        skip_duplicates(columns, &mut all);
    }
    all
}

/// The type of every column. Where a comma may separate thousands or decimals, the other columns decide.
fn types(columns: &[Column], choices: &[Choice], decimal: Option<Decimal>) -> Vec<Result<Inferred>> {
    let of = |(column, choice): (&Column, &Choice), decimal| match choice.kind {
        Some(kind) => of_type(column, kind, decimal),
        None => Ok(infer(column, decimal)),
    };
    let pairs: Vec<(&Column, &Choice)> = columns.iter().zip(choices).collect();
    let mut types: Vec<Result<Inferred>> = pairs.par_iter().map(|&pair| of(pair, decimal)).collect();
    let has_comma = types.iter().flatten().any(|inferred| inferred.parsing.has_decimal_comma());
    for (found, &pair) in types.iter_mut().zip(&pairs) {
        if has_comma && found.as_ref().is_ok_and(|inferred| inferred.is_ambiguous) {
            *found = of(pair, Some(Decimal::Comma));
        }
        if has_comma
            && decimal.is_none()
            && let (Ok(found), Some(example)) = (found, looks_like_thousands(pair.0))
        {
            found.warnings.push(format!(
                "column '{}': points may separate thousands or decimals; '{example}' is read as {example}, not as {}",
                shorten(&pair.0.name),
                (1000.0 * example).round()
            ));
        }
    }
    types
}

/// Describes a column by its values and decides what is done with it.
pub(super) fn describe(
    column: &Column,
    inferred: Inferred,
    with_details: bool,
    decide: impl FnOnce(&mut Studied, &Statistics),
) -> Result<Studied> {
    let Inferred { kind, parsing, warnings, is_mostly_numbers, .. } = inferred;
    let parsed = parsing.read(column)?;
    let mut statistics = Statistics::of(column, &parsed.values, &parsing);
    statistics.is_mostly_numbers = is_mostly_numbers;
    let details =
        if with_details { Details::of(&parsed.values, &parsing, &kind) } else { Details::default() };
    let account = ColumnAccount {
        name: column.name.clone(),
        kind,
        action: Action::Feature,
        reason: None,
        examples: examples(column),
        n_missing: statistics.n_missing,
        n_distinct: details.n_distinct,
        range: details.range,
        histogram: details.histogram,
        levels: details.levels,
    };
    let fingerprint = statistics.fingerprint;
    let mut studied =
        Studied { account, parsing: parsing.clone(), warnings, fingerprint, is_included: false };
    decide(&mut studied, &statistics);
    Ok(studied)
}

/// Decides whether a column is a feature: first by the choices of the user, then by its values.
fn decide(studied: &mut Studied, statistics: &Statistics, place: usize, choice: &Choice, missing: Missing) {
    let account = &mut studied.account;
    let (action, reason) = match choice.kind {
        _ if choice.reserved => (Action::Skipped, "has another use"),
        _ if choice.id => {
            account.kind = ColumnType::Id;
            (Action::Id, "identifier, as chosen")
        }
        _ if choice.exclude => (Action::Skipped, "excluded"),
        Some(ColumnType::Id) if !choice.include => (Action::Id, "identifier, as chosen"),
        Some(ColumnType::Text) if !choice.include => (Action::Skipped, "free text, as chosen"),
        _ => (Action::Feature, ""),
    };
    if action != Action::Feature {
        (account.action, account.reason) = (action, Some(reason.to_owned()));
        return;
    }
    studied.is_included = choice.include;
    if choice.include && statistics.unsupported.is_none() {
        return;
    }
    if let Some(skip) =
        reason_to_skip(&account.name, place, &account.kind, choice.kind.is_some(), statistics, missing)
    {
        account.action = skip.action;
        account.reason = Some(skip.reason);
        account.kind = skip.kind.unwrap_or(account.kind.clone());
    }
}

/// Skips features that have the same values as a feature before them.
fn skip_duplicates(columns: &[Column], all: &mut [Studied]) {
    let mut seen: HashMap<Fingerprint, Vec<usize>> = HashMap::new();
    for at in 0..all.len() {
        if all[at].account.action != Action::Feature {
            continue;
        }
        let before = seen.entry(all[at].fingerprint).or_default();
        let same = |&other: &usize| {
            is_same((&columns[at], &all[at].parsing), (&columns[other], &all[other].parsing))
        };
        match before.iter().copied().find(same).filter(|_| !all[at].is_included) {
            None => before.push(at),
            Some(first) => {
                let first = shorten(&all[first].account.name);
                all[at].account.action = Action::Skipped;
                all[at].account.reason = Some(format!("the same values as '{first}'"));
            }
        }
    }
}

/// Fingerprints may be equal by chance.
fn is_same((a, parsing_a): (&Column, &Parsing), (b, parsing_b): (&Column, &Parsing)) -> bool {
    match (parsing_a.read(a), parsing_b.read(b)) {
        (Ok(x), Ok(y)) => same_values((&x.values, parsing_a), (&y.values, parsing_b)),
        _ => false,
    }
}
