//! Preparation of a new table like the training table.

use super::patterns::Choice;
use super::study::describe;
use super::{Prepare, Prepared, Recipe, TargetChoice, describe_target, sparse_account, target};
use crate::data::inspect::{Account, Action, ColumnAccount};
use crate::data::table::{Column, Table};
use crate::data::target::Target;
use crate::data::types::{ColumnType, Inferred, Parsing, infer, of_type};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Columns with categories that the training table does not have, and their numbers of rows.
type Others = Vec<(String, usize)>;

impl Prepare {
    /// Prepares a new table with the columns, types and missing values of a recipe; also returns other categories. The target is
    /// the one of the recipe, if the table has it, or the chosen one. Rows without a target are dropped.
    pub fn apply(&self, recipe: &Recipe, table: &Table) -> Result<(Prepared, Others)> {
        let like = Self { missing: recipe.missing, ..self.clone() };
        let column = like.target_like(recipe, table)?;
        let parsing = match column {
            Some(column) if recipe.target.as_ref() != Some(&column.name) => {
                like.reading(None).parsing(column, &target::rows_present(column, None)?)?
            }
            _ => recipe.target_parsing.clone(),
        };
        let rows = match column {
            None => (0..table.n_rows()).collect(),
            Some(column) => target::rows_present(column, parsing.as_ref())?,
        };
        column.map_or(Ok(()), |column| like.check_rows(&rows, column))?;
        let read = |rows: &[usize]| match column {
            None => Ok(Target::None),
            Some(column) => target::read(column, parsing.as_ref(), rows),
        };
        let applied = recipe.apply_rows(table, rows, read)?;
        let mut account = recipe.account(table, (column, parsing.as_ref()), like.details)?;
        account.rows_used = applied.rows.len();
        describe_target(&mut account, applied.data.target());
        let notes = like.remarks(&applied.data, account.rows);
        let target = column.map(|column| column.name.clone());
        let recipe = Recipe { target, target_parsing: parsing, ..recipe.clone() };
        Ok((Prepared { data: applied.data, recipe, rows: applied.rows, account, notes }, applied.other))
    }

    /// The target column of a new table.
    fn target_like<'a>(&self, recipe: &Recipe, table: &'a Table) -> Result<Option<&'a Column>> {
        let all = match table {
            Table::Columns(columns) => columns.as_slice(),
            Table::Sparse { target, .. } => target.as_slice(),
        };
        let find = |name: &str| all.iter().find(|column| column.name == name);
        match &self.target {
            TargetChoice::None => Ok(None),
            TargetChoice::Auto | TargetChoice::AutoByName => Ok(recipe.target().and_then(find)),
            TargetChoice::Named(name) => match find(name) {
                Some(column) => Ok(Some(column)),
                None => Err(Error::unknown_column(name, table.names().into_iter())),
            },
        }
    }
}

impl Recipe {
    /// The account of a new table that is read like the training table.
    fn account(
        &self,
        table: &Table,
        (target, parsing): (Option<&Column>, Option<&Parsing>),
        details: bool,
    ) -> Result<Account> {
        let used: HashMap<&str, &Parsing> =
            self.columns.iter().map(|c| (c.name.as_str(), &c.parsing)).collect();
        let columns = match table {
            Table::Sparse { names, x, .. } => {
                let mut account =
                    sparse_account(names, x, target, &vec![Choice::default(); names.len()], self.missing);
                account.columns.iter_mut().for_each(|column| skip_unless(&used, column));
                return Ok(account);
            }
            Table::Columns(columns) => columns,
        };
        let described = |column: &Column| -> Result<ColumnAccount> {
            let is_target = target.is_some_and(|target| target.name == column.name);
            let inferred = match if is_target { parsing } else { used.get(column.name.as_str()).copied() } {
                Some(parsing) => Inferred::known(parsing.clone()),
                None if is_target => of_type(column, &ColumnType::Category, None)?,
                None => infer(column, None),
            };
            let mut account = describe(column, inferred, details, |_, _| ())?.account;
            match is_target {
                true => account.action = Action::Target,
                false => skip_unless(&used, &mut account),
            }
            Ok(account)
        };
        Ok(Account {
            rows: table.n_rows(),
            rows_used: 0,
            missing: self.missing,
            columns: columns.iter().map(described).collect::<Result<_>>()?,
            warnings: vec![],
        })
    }
}

/// Skips a feature that the recipe does not have.
fn skip_unless(used: &HashMap<&str, &Parsing>, column: &mut ColumnAccount) {
    if column.action == Action::Feature && !used.contains_key(column.name.as_str()) {
        column.action = Action::Skipped;
        column.reason = Some("not a feature in training".into());
    }
}
