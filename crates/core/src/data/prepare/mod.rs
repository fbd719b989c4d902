//! Preparation of tables: choose the target, infer the types of columns, skip those that are not features, and handle
//! missing values.
//!
//! [`Prepare::fit`] learns from the training table how to read each column and keeps it in a [`Recipe`], which reads new tables
//! in the same way.

mod apply;
pub(super) mod options;
mod outputs;
mod patterns;
mod recipe;
mod study;
#[cfg(feature = "io")]
mod survey;
#[cfg(feature = "io")]
mod survey_column;
#[cfg(feature = "io")]
mod survey_target;
mod target;
#[cfg(test)]
mod tests;

pub use options::{ColumnOptions, Missing, Prepare, TargetChoice, TargetType};
pub(super) use patterns::matching;
pub use recipe::{Applied, Recipe};
#[cfg(feature = "io")]
pub use survey::{PieceTarget, Survey};
pub use target::{read_target, target_type};

use super::dataset::Dataset;
use super::inspect::{Account, Action, ColumnAccount, leaks};
use super::sparse::SparseRows;
use super::table::{Column, Table, Values};
use super::target::Target;
use super::types::{ColumnType, Parsing, contradiction};
use crate::error::{Error, Result, shorten};
use patterns::{Choice, choices};
use recipe::ColumnRecipe;
use std::borrow::Cow;
use study::{Studied, study};
use target::Reading;

/// The result of [`Prepare::fit`].
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The typed features and the target. Missing values are NaN; an [`Encoder`](super::Encoder) imputes them.
    pub data: Dataset,
    /// The fitted preparation.
    pub recipe: Recipe,
    /// The row of the table that each row of the data comes from.
    pub rows: Vec<usize>,
    /// What each column holds, and what is done with it.
    pub account: Account,
    /// Messages for the user: the chosen target, dropped rows, rare classes.
    pub notes: Vec<String>,
}

/// A table before its rows are read.
struct Plan<'a> {
    recipe: Recipe,
    account: Account,
    /// The columns in use.
    source: Source<'a>,
    target: Option<&'a Column>,
    /// The type that the user chose for the target column.
    target_kind: Option<&'a ColumnType>,
    /// Further targets.
    others: Vec<&'a Column>,
    /// The rows with all targets.
    rows: Vec<usize>,
}

impl<'a> Plan<'a> {
    /// With the columns of the table.
    fn with_columns(mut self, columns: &'a [Column], studied: Vec<Studied>, choices: &[Choice]) -> Self {
        let mut used = vec![];
        for ((column, mut studied), choice) in columns.iter().zip(studied).zip(choices) {
            if self.others.iter().any(|other| other.name == column.name) {
                studied.account.action = Action::Target;
            } else if choice.reserved {
                continue;
            }
            if matches!(studied.account.action, Action::Feature | Action::Target) {
                self.account.warnings.extend(studied.warnings);
            }
            if studied.account.action == Action::Feature {
                used.push(column);
                let name = column.name.clone();
                self.recipe.columns.push(ColumnRecipe { name, parsing: studied.parsing });
            }
            self.account.columns.push(studied.account);
        }
        Self { source: Source::Dense(used), ..self }
    }
}

enum Source<'a> {
    Dense(Vec<&'a Column>),
    Sparse(Cow<'a, SparseRows>),
}

impl Prepare {
    /// Fits the preparation to a table and applies it. All problems of the table are reported at once.
    pub fn fit(&self, table: &Table) -> Result<Prepared> {
        let (plan, notes) = self.plan(table)?;
        if plan.recipe.columns.is_empty() {
            return Err(match plan.account.skipped() {
                None => Error::NoFeatures,
                Some(skipped) => Error::AllSkipped { skipped },
            });
        }
        self.read(plan, notes)
    }

    /// The account of a table with details, and notes, also if it has no features.
    pub fn inspect(&self, table: &Table) -> Result<(Account, Vec<String>)> {
        let prepare = Self { details: true, ..self.clone() };
        let (plan, notes) = prepare.plan(table)?;
        if plan.recipe.columns.is_empty() {
            return Ok((Account { rows_used: plan.rows.len(), ..plan.account }, notes));
        }
        let prepared = self.read(plan, notes)?;
        Ok((prepared.account, prepared.notes))
    }

    fn plan<'a>(&'a self, table: &'a Table) -> Result<(Plan<'a>, Vec<String>)> {
        let (mut notes, mut problems) = (vec![], vec![]);
        let names = match table {
            Table::Columns(_) => table.names(),
            Table::Sparse { names, .. } => names.iter().map(String::as_str).collect(),
        };
        let mut choices = choices(&self.columns, &names, &mut problems);
        self.reserve(table, &mut choices, &mut problems);
        let target = target::find(&self.target, table, &choices, &mut notes).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let plan = match table {
            Table::Columns(columns) => self.plan_columns(columns, target, &choices, problems)?,
            Table::Sparse { names, x, target: column } => {
                let column = column.as_ref().filter(|column| Some(&column.name) == target.as_ref());
                self.plan_sparse((names, x), column, &choices, problems)?
            }
        };
        Ok((plan, notes))
    }

    /// Reads the rows of a table.
    fn read(&self, plan: Plan, mut notes: Vec<String>) -> Result<Prepared> {
        let Plan { recipe, mut account, source, target, target_kind, others, rows } = plan;
        let reading = self.reading(target_kind);
        let mut target_parsing = None;
        let read_target = |rows: &[usize]| {
            let Some(column) = target else { return Ok(Target::None) };
            target_parsing = reading.parsing(column, rows)?;
            reading.with_others(target::read(column, target_parsing.as_ref(), rows)?, &others, rows)
        };
        let applied = match &source {
            Source::Dense(columns) => recipe.read(columns, rows, read_target)?,
            Source::Sparse(x) => recipe.sparse_data(x, rows, read_target)?,
        };
        let recipe = Recipe { target_parsing, ..recipe };
        account.rows_used = applied.rows.len();
        account.warnings.extend(leaks(&applied.data));
        describe_target(&mut account, applied.data.target());
        notes.extend(self.remarks(&applied.data, account.rows));
        Ok(Prepared { data: applied.data, recipe, rows: applied.rows, account, notes })
    }

    fn plan_columns<'a>(
        &self,
        columns: &'a [Column],
        target: Option<String>,
        choices: &[Choice<'a>],
        mut problems: Vec<Error>,
    ) -> Result<Plan<'a>> {
        let at = columns.iter().position(|c| Some(&c.name) == target.as_ref());
        let others = self.other_targets(columns);
        let targets = at.into_iter().chain(others.iter().map(|(at, _)| *at));
        problems.extend(targets.filter_map(|at| excluded_target(&columns[at], &choices[at])));
        let n = columns.first().map_or(0, Column::len);
        let mut choices = choices.to_vec();
        let target_kind = at.and_then(|at| choices[at].kind);
        let mut rows = self.rows_with_target(at.map(|at| &columns[at]), target_kind, n, &mut problems);
        self.keep_rows_with(&others, &choices, &mut rows, &mut problems);
        let contradictions = self.contradictions(columns, &choices);
        if let Some(at) = at
            && choices[at].kind.is_none()
            && self.reading(None).is_class(&columns[at], &rows)
        {
            choices[at].kind = Some(&ColumnType::Category);
        }
        let studied = study(self, columns, at, &choices, &mut problems);
        Error::all(problems)?;
        let plan = Plan {
            recipe: Recipe {
                columns: vec![],
                missing: self.missing,
                target,
                other_targets: self.other_targets.clone(),
                target_parsing: None,
                sparse: false,
            },
            account: Account {
                rows: n,
                rows_used: 0,
                missing: self.missing,
                columns: vec![],
                warnings: contradictions,
            },
            source: Source::Dense(vec![]),
            target: at.map(|at| &columns[at]),
            target_kind,
            others: others.iter().map(|(_, column)| *column).collect(),
            rows,
        };
        Ok(plan.with_columns(columns, studied, &choices))
    }

    /// Warnings about columns whose numbers have another decimal separator than the user chose.
    fn contradictions(&self, columns: &[Column], choices: &[Choice]) -> Vec<String> {
        let Some(decimal) = self.columns.decimal else { return vec![] };
        let is_open = |choice: &Choice| choice.kind.is_none() && !choice.exclude && !choice.id;
        let open = columns.iter().zip(choices).filter(|(_, choice)| is_open(choice));
        open.filter_map(|(column, _)| contradiction(column, decimal)).collect()
    }

    /// All columns of a sparse table are numbers.
    fn plan_sparse<'a>(
        &self,
        (names, x): (&[String], &'a SparseRows),
        target: Option<&'a Column>,
        choices: &[Choice],
        mut problems: Vec<Error>,
    ) -> Result<Plan<'a>> {
        let rows = self.rows_with_target(target, None, x.n_rows(), &mut problems);
        Error::all(problems)?;
        let account = sparse_account(names, x, target, choices, self.missing);
        let is_feature = |&j: &usize| account.columns[j].action == Action::Feature;
        let features: Vec<usize> = (0..names.len()).filter(is_feature).collect();
        let number = |&j: &usize| ColumnRecipe { name: names[j].clone(), parsing: Parsing::numbers() };
        let recipe = Recipe {
            columns: features.iter().map(number).collect(),
            missing: self.missing,
            target: target.map(|t| t.name.clone()),
            other_targets: vec![],
            target_parsing: None,
            sparse: true,
        };
        let x = match features.len() == names.len() {
            true => Cow::Borrowed(x),
            false => Cow::Owned(x.take_columns(&features)),
        };
        Ok(Plan {
            recipe,
            account,
            source: Source::Sparse(x),
            target,
            target_kind: None,
            others: vec![],
            rows,
        })
    }

    /// How to read the target, given the type that the user chose for its column.
    fn reading<'a>(&self, kind: Option<&'a ColumnType>) -> Reading<'a> {
        let target_type =
            if self.other_targets.is_empty() { self.target_type } else { TargetType::Continuous };
        Reading { target_type, kind, decimal: self.columns.decimal }
    }

    /// The rows in which the target is not missing, given the type that the user chose for its column.
    fn rows_with_target(
        &self,
        target: Option<&Column>,
        kind: Option<&ColumnType>,
        n: usize,
        problems: &mut Vec<Error>,
    ) -> Vec<usize> {
        let Some(column) = target else { return (0..n).collect() };
        let rows = target::rows_present(column, None).and_then(|rows| match rows.is_empty() {
            true => Ok(rows),
            false => target::rows_present(column, self.reading(kind).parsing(column, &rows)?.as_ref()),
        });
        match rows {
            Ok(rows) => {
                problems.extend(self.check_rows(&rows, column).err());
                rows
            }
            Err(problem) => {
                // A type that the user chose is checked with those of the other columns.
                problems.extend(Some(problem).filter(|_| kind.is_none()));
                vec![]
            }
        }
    }

    /// Returns an error if the target is missing in all rows, or in some if missing values are errors.
    fn check_rows(&self, rows: &[usize], target: &Column) -> Result<()> {
        let name = shorten(&target.name);
        match &target.values {
            Values::Unsupported { why, .. } => Err(Error::parse(format!("the target '{name}': {why}"))),
            _ if rows.is_empty() => {
                Err(Error::parse(format!("every value of the target '{name}' is missing")))
            }
            _ if self.missing == Missing::Error && rows.len() < target.len() => {
                let first = (0..).zip(rows).position(|(row, &kept)| row != kept).unwrap_or(rows.len());
                Err(Error::MissingValue { row: first + 1, column: target.name.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Remarks about dropped rows and rare classes.
    fn remarks(&self, data: &Dataset, n_rows: usize) -> Vec<String> {
        const NAMED: usize = 5;
        let mut remarks = vec![];
        if data.n() < n_rows {
            let what = if self.missing == Missing::Drop { "values" } else { "targets" };
            remarks.push(format!("dropped {} of {n_rows} rows with missing {what}", n_rows - data.n()));
        }
        if let Target::Classes(classes) = data.target() {
            let counts = classes.counts();
            let rare: Vec<String> = (0..counts.len())
                .filter(|&c| counts[c] == 1)
                .map(|c| format!("'{}'", shorten(&classes.names[c])))
                .collect();
            let more =
                if rare.len() > NAMED { format!(" and {} more", rare.len() - NAMED) } else { String::new() };
            let shown = rare.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            match rare.len() {
                0 => {}
                1 => remarks.push(format!("class {shown} has a single row")),
                _ => remarks.push(format!("classes {shown}{more} have a single row each")),
            }
        }
        remarks
    }
}

/// The account of a sparse table, without statistics.
fn sparse_account(
    names: &[String],
    x: &SparseRows,
    target: Option<&Column>,
    choices: &[Choice],
    missing: Missing,
) -> Account {
    let mut n_missing = vec![0; names.len()];
    x.cells().filter(|(_, _, v)| v.is_nan()).for_each(|(_, j, _)| n_missing[j] += 1);
    let account = |name: &str, action, reason: Option<&str>, n_missing| ColumnAccount {
        name: name.to_owned(),
        kind: ColumnType::Number,
        action,
        reason: reason.map(str::to_owned),
        examples: vec![],
        n_missing,
        n_distinct: None,
        range: None,
        histogram: vec![],
        levels: vec![],
    };
    let mut columns: Vec<ColumnAccount> = names
        .iter()
        .zip(choices)
        .zip(n_missing)
        .map(|((name, choice), n_missing)| match choice {
            choice if choice.id => account(name, Action::Id, Some("identifier, as chosen"), n_missing),
            choice if choice.exclude => account(name, Action::Skipped, Some("excluded"), n_missing),
            _ => account(name, Action::Feature, None, n_missing),
        })
        .collect();
    if let Some(target) = target {
        let missing = (0..target.len()).filter(|&row| target.is_missing(row)).count();
        columns.push(account(&target.name, Action::Target, None, missing));
    }
    Account { rows: x.n_rows(), rows_used: 0, missing, columns, warnings: vec![] }
}

/// An error for a target that the user excludes.
fn excluded_target(column: &Column, choice: &Choice) -> Option<Error> {
    let got = || format!("'{}'", column.name);
    let is_excluded = choice.exclude || choice.id;
    is_excluded.then(|| Error::param("columns", "target", "a column that is not excluded", got()))
}

/// Adds what the target is to the accounts of its columns.
fn describe_target(account: &mut Account, target: &Target) {
    let what = match target {
        Target::None => return,
        Target::Continuous(_) | Target::Outputs(_) => "continuous".to_owned(),
        Target::Classes(classes) => match classes.n_present() {
            1 => "1 class".into(),
            n => format!("{n} classes"),
        },
    };
    for column in account.columns.iter_mut().filter(|column| column.action == Action::Target) {
        column.reason = Some(what.clone());
    }
}
