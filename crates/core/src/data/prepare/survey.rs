//! Preparation of a table that is read in pieces: what each column is, decided in a first pass.
//!
//! Features must be numbers without missing values, or rows with missing values are dropped. What passes cannot decide as
//! [`Prepare::fit`] does with all rows in memory, such as the types of text, is an error.

use super::options::{Missing, Prepare, TargetChoice};
use super::patterns::{Choice, choices};
use super::recipe::{ColumnRecipe, Recipe};
use super::survey_column::ColumnSurvey;
use super::survey_target::{TargetReading, TargetSurvey};
use super::target;
use crate::context::Context;
use crate::data::inspect::{Account, Action, bits};
use crate::data::read::PieceFile;
use crate::data::table::{Column, Table, Values};
use crate::data::types::Parsing;
use crate::error::{Error, Result, shorten};
use ndarray::Array2;
use std::collections::HashMap;

/// A table that is read in pieces: what its columns are, and how to read a piece.
#[derive(Debug)]
pub struct Survey {
    /// How to read a new table like this one.
    pub recipe: Recipe,
    /// What each column holds, and what is done with it.
    pub account: Account,
    /// Messages for the user.
    pub notes: Vec<String>,
    target: Option<TargetReading>,
}

/// The target of the rows of a piece.
#[derive(Debug, Clone, PartialEq)]
pub enum PieceTarget {
    /// There is no target.
    None,
    /// The class of each row, an index into [`Survey::classes`].
    Classes(Vec<usize>),
    /// A number per row.
    Continuous(Vec<f64>),
}

/// The columns of a table, piece by piece.
struct Columns<'a> {
    prepare: &'a Prepare,
    names: Vec<String>,
    choices: Vec<Choice<'a>>,
    target: Option<usize>,
    columns: Vec<ColumnSurvey>,
    target_survey: TargetSurvey,
    /// For each column the first one with the same values so far.
    same_as: Vec<usize>,
    notes: Vec<String>,
}

impl<'a> Columns<'a> {
    fn start(prepare: &'a Prepare, table: &Table) -> Result<Self> {
        let (mut problems, mut notes) = (vec![], vec![]);
        let names: Vec<String> = table.names().into_iter().map(str::to_owned).collect();
        let mut choices = choices(&prepare.columns, &table.names(), &mut problems);
        prepare.reserve(table, &mut choices, &mut problems);
        if !prepare.other_targets.is_empty() {
            problems.push(Error::parse("several targets need the complete table in memory"));
        }
        let found = target::find(&prepare.target, table, &choices, &mut notes);
        let target = found.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let target = target.and_then(|target| names.iter().position(|name| *name == target));
        if let Some(at) = target.filter(|&at| choices[at].exclude || choices[at].id) {
            let got = format!("'{}'", names[at]);
            problems.push(Error::param("columns", "target", "a column that is not excluded", got));
        }
        Error::all(problems)?;
        let columns = names.iter().map(|_| ColumnSurvey::default()).collect();
        let same_as = vec![0; names.len()];
        let target_survey = TargetSurvey::default();
        Ok(Self { prepare, choices, target, columns, target_survey, same_as, notes, names })
    }

    fn add(&mut self, columns: &[Column], first_row: usize) {
        for (at, (column, survey)) in columns.iter().zip(&mut self.columns).enumerate() {
            if Some(at) == self.target {
                self.target_survey.add(column, first_row);
            }
            survey.add(column, first_row);
        }
        // Columns are the same if they are the same in every piece.
        let mut groups: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
        let mut same_as = self.same_as.clone();
        for (at, column) in columns.iter().enumerate() {
            let Values::Numeric(values) = &column.values else {
                same_as[at] = at;
                continue;
            };
            let hash =
                values.iter().fold(0_u64, |hash, &v| (hash ^ bits(v)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let group = groups.entry((self.same_as[at], hash)).or_default();
            let is_same = |&other: &usize| match &columns[other].values {
                Values::Numeric(others) => values.iter().zip(others).all(|(a, b)| bits(*a) == bits(*b)),
                _ => false,
            };
            same_as[at] = group.iter().copied().find(is_same).unwrap_or(at);
            if same_as[at] == at {
                group.push(at);
            }
        }
        self.same_as = same_as;
    }

    fn finish(mut self) -> Result<Survey> {
        let (mut recipes, mut accounts, mut problems, mut warnings) = (vec![], vec![], vec![], vec![]);
        // The first feature with the values of each group.
        let mut used: HashMap<usize, usize> = HashMap::new();
        for (at, name) in self.names.iter().enumerate() {
            let (column, choice) = (&self.columns[at], &self.choices[at]);
            if Some(at) == self.target {
                accounts.push(column.account(name, Action::Target, None));
                continue;
            }
            let (mut action, mut reason) = match column.decide(name, at, choice, self.prepare.missing) {
                Ok(decided) => decided,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            if action == Action::Feature {
                match used.get(&self.same_as[at]).filter(|_| !choice.include) {
                    Some(&first) => {
                        action = Action::Skipped;
                        reason = Some(format!("the same values as '{}'", shorten(&self.names[first])));
                    }
                    None => {
                        let (missing, warning) = column.infinities(name);
                        warnings.extend(warning);
                        let parsing = Parsing::numbers_without(missing);
                        recipes.push(ColumnRecipe { name: name.clone(), parsing });
                        used.entry(self.same_as[at]).or_insert(at);
                    }
                }
            }
            if !choice.reserved {
                accounts.push(column.account(name, action, reason));
            }
        }
        let target = match self.decide_target() {
            Ok(target) => target,
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        Error::all(problems)?;
        let rows = self.columns.first().map_or(0, |column| column.n);
        let missing = self.prepare.missing;
        let account = Account { rows, rows_used: rows, missing, columns: accounts, warnings };
        if recipes.is_empty() {
            return Err(account.skipped().map_or(Error::NoFeatures, |skipped| Error::AllSkipped { skipped }));
        }
        let recipe = Recipe {
            columns: recipes,
            missing,
            target: self.target.map(|at| self.names[at].clone()),
            other_targets: vec![],
            target_parsing: target.as_ref().and_then(TargetReading::parsing),
            sparse: false,
        };
        let notes = std::mem::take(&mut self.notes);
        let mut survey = Survey { recipe, account, notes, target };
        survey.account.rows_used -= self.target_survey.n_missing;
        Ok(survey)
    }

    fn decide_target(&self) -> Result<Option<TargetReading>> {
        let Some(at) = self.target else { return Ok(None) };
        if let (Missing::Error, Some(row)) = (self.prepare.missing, self.target_survey.first_missing) {
            return Err(Error::MissingValue { row: row + 1, column: self.names[at].clone() });
        }
        self.target_survey.decide(&self.names[at], self.prepare, self.choices[at].kind).map(Some)
    }
}

impl Prepare {
    /// Decides in a pass over a file what its columns are; also returns warnings of the reader.
    pub fn survey(&self, file: &PieceFile, ctx: &Context) -> Result<(Survey, Vec<String>)> {
        let (mut columns, mut warnings): (Option<Columns>, Vec<String>) = (None, vec![]);
        let stage = "first pass: what the columns are";
        ctx.step(stage, 0, 0)?;
        file.visit(None, &mut warnings, ctx, &mut |table, first_row| {
            let Table::Columns(piece) = table else {
                return Err(Error::parse("sparse tables have no pieces"));
            };
            if columns.is_none() {
                columns = Some(Columns::start(self, table)?);
            }
            let columns = columns.as_mut().expect("just started");
            columns.add(piece, first_row);
            ctx.step(stage, 0, 0)
        })?;
        let columns = columns.ok_or_else(|| Error::parse("the file has a header but no rows"));
        let mut survey = columns.and_then(Columns::finish).map_err(|e| e.in_file(file.path()))?;
        if self.missing == Missing::Drop && survey.account.columns.iter().any(|c| c.n_missing > 0) {
            survey.account.rows_used = survey.count_complete(file, ctx)?;
        }
        let (rows, used) = (survey.account.rows, survey.account.rows_used);
        if used < rows {
            let what = if self.missing == Missing::Drop { "values" } else { "targets" };
            survey.notes.push(format!("dropped {} of {rows} rows with missing {what}", rows - used));
        }
        if matches!(self.target, TargetChoice::None) {
            survey.target = None;
        }
        survey.describe_target();
        Ok((survey, warnings))
    }
}

impl Survey {
    /// Number of rows that are used.
    pub fn n_rows(&self) -> usize {
        self.account.rows_used
    }

    /// Names of the classes, if the target is classes.
    pub fn classes(&self) -> Option<&[String]> {
        match &self.target {
            Some(TargetReading::Classes(names)) => Some(names),
            Some(TargetReading::Continuous) | None => None,
        }
    }

    /// Whether the target is numbers.
    pub fn is_continuous(&self) -> bool {
        self.target == Some(TargetReading::Continuous)
    }

    /// Passes the features and the target of the rows that are used to `take`, piece by piece.
    pub fn read(
        &self,
        file: &PieceFile,
        ctx: &Context,
        take: &mut dyn FnMut(Array2<f64>, PieceTarget) -> Result<()>,
    ) -> Result<()> {
        let columns: Vec<&str> = self.recipe.columns().chain(self.recipe.target()).collect();
        file.visit(Some(&columns), &mut vec![], ctx, &mut |table, first_row| {
            let (x, target) = self.rows(table, first_row)?;
            take(x, target)
        })
    }

    /// The rows of a piece that are used.
    fn rows(&self, table: &Table, first_row: usize) -> Result<(Array2<f64>, PieceTarget)> {
        let features: Vec<&Column> =
            self.recipe.columns().map(|name| table.column(name)).collect::<Result<_>>()?;
        let mut values = Vec::with_capacity(features.len());
        for column in features {
            match &column.values {
                Values::Numeric(numbers) => values.push(numbers.as_slice()),
                // Decided in the first pass: all of them are missing, and rows with missing values are dropped.
                _ => return Ok((Array2::zeros((0, self.recipe.n_features())), self.no_target())),
            }
        }
        let target = match (&self.target, self.recipe.target()) {
            (Some(reading), Some(name)) => Some(reading.read(table.column(name)?)),
            _ => None,
        };
        let has_target = |row: usize| target.as_ref().is_none_or(|target| target[row].is_some());
        let drops = self.recipe.missing == Missing::Drop;
        let is_used = |row: usize| has_target(row) && !(drops && values.iter().any(|v| !v[row].is_finite()));
        let rows: Vec<usize> = (0..table.n_rows()).filter(|&row| is_used(row)).collect();
        let mut x = Array2::zeros((rows.len(), values.len()));
        for (mut out, &row) in x.rows_mut().into_iter().zip(&rows) {
            for (j, (to, column)) in out.iter_mut().zip(&values).enumerate() {
                if !column[row].is_finite() {
                    let column = self.recipe.columns().nth(j).unwrap_or_default().to_owned();
                    return Err(Error::MissingValue { row: first_row + row + 1, column });
                }
                *to = column[row];
            }
        }
        let used =
            |target: &Vec<Option<f64>>| rows.iter().filter_map(|&row| target[row]).collect::<Vec<f64>>();
        let target = match (&self.target, target.as_ref().map(used)) {
            (Some(TargetReading::Classes(_)), Some(codes)) => {
                PieceTarget::Classes(codes.into_iter().map(|code| code as usize).collect())
            }
            (Some(TargetReading::Continuous), Some(values)) => PieceTarget::Continuous(values),
            _ => PieceTarget::None,
        };
        Ok((x, target))
    }

    fn no_target(&self) -> PieceTarget {
        match &self.target {
            Some(TargetReading::Classes(_)) => PieceTarget::Classes(vec![]),
            Some(TargetReading::Continuous) => PieceTarget::Continuous(vec![]),
            None => PieceTarget::None,
        }
    }

    /// The number of rows without missing values.
    fn count_complete(&self, file: &PieceFile, ctx: &Context) -> Result<usize> {
        let mut n = 0;
        self.read(file, ctx, &mut |x, _| {
            n += x.nrows();
            ctx.step("counting complete rows", 0, 0)
        })?;
        if n == 0 { Err(Error::NoCompleteRows.in_file(file.path())) } else { Ok(n) }
    }

    fn describe_target(&mut self) {
        let what = match &self.target {
            None => return,
            Some(TargetReading::Continuous) => "continuous".to_owned(),
            Some(TargetReading::Classes(names)) if names.len() == 1 => "1 class".into(),
            Some(TargetReading::Classes(names)) => format!("{} classes", names.len()),
        };
        for column in self.account.columns.iter_mut().filter(|column| column.action == Action::Target) {
            column.reason = Some(what.clone());
        }
    }
}

#[cfg(test)]
mod tests;
