//! Training rows with columns that are no features (groups, times and weights), and test rows.

use crate::args::{ClassWeight, SplitByArgs, TableArgs, WeightArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{
    Also, Loaded, inform_of_dropped, inform_of_other, load_table, options, read, read_rows, target_names,
};
use kernsift::data::{
    Classes, Column, Prepare, Prepared, SplitRule, Table, Target, TargetChoice, weights_of,
};
use kernsift::{Context, Error, Observer};
use std::borrow::Cow;
use std::path::Path;

/// What splits of the rows respect, and what the rows weigh.
#[derive(Clone, Copy)]
pub struct Roles<'a> {
    /// Groups or times.
    pub split_by: &'a SplitByArgs,
    /// Weights of rows and classes.
    pub weights: &'a WeightArgs,
}

impl<'a> Roles<'a> {
    /// What the arguments of a command say.
    pub fn of(split_by: &'a SplitByArgs, weights: &'a WeightArgs) -> Self {
        Self { split_by, weights }
    }
}

/// Reads and prepares a table, with the columns that have a role besides features and target. Rows of weight 0 are left out.
pub fn load_rows(
    args: &TableArgs,
    roles: Roles,
    also: Also,
    ctx: &Context,
    console: &Console,
) -> Result<Loaded, Failure> {
    let weights = roles.weights.weights.as_deref();
    let given = [roles.split_by.column(), weights.map(|name| ("--weights", name))];
    let read = read_rows(args, ctx, console)?;
    let table = &read.table;
    check_distinct(&target_names(args, table), &given)?;
    let in_file = |error: Error| error.in_file(Path::new(&args.data));
    let rule = rule(table, roles.split_by).map_err(in_file)?;
    let weights = weights.map(|name| table.column(name)).transpose().map_err(in_file)?;
    let reserved = given.iter().flatten().map(|(_, name)| (*name).to_owned()).collect();
    let prepare = Prepare { reserved, details: also.details, ..options(args, table)? };
    let mut loaded = load_table(args, &prepare, &read, console)?;
    let rows = &loaded.prepared.rows;
    let rule = rule.take_rows(rows);
    let decimal = args.columns.options().decimal;
    let values = weights.map(|column| weights_of(column, rows, decimal)).transpose().map_err(in_file)?;
    loaded.prepared.data = loaded.prepared.data.with_split_rule(rule)?;
    if let (Some(values), Some(column)) = (values, weights) {
        loaded.prepared.data = loaded.prepared.data.with_weights(values, &column.name).map_err(in_file)?;
        leave_out(&mut loaded, console);
    }
    balance(&mut loaded, roles.weights)?;
    loaded.table = also.table.then_some(read.table);
    Ok(loaded)
}

/// Returns an error if two options name the same column.
fn check_distinct(targets: &[&str], given: &[Option<(&str, &str)>; 2]) -> Result<(), Failure> {
    let targets = targets.iter().map(|name| ("--target", *name));
    let named: Vec<(&str, &str)> = given.iter().copied().flatten().chain(targets).collect();
    for (at, (option, name)) in named.iter().enumerate() {
        if let Some((other, _)) = named[at + 1..].iter().find(|(of, other)| other == name && of != option) {
            return Err(Failure::Input(format!(
                "{option} and {other} name the same column, '{name}'; use another"
            )));
        }
    }
    Ok(())
}

/// The rule of the column of groups or times.
fn rule(table: &Table, by: &SplitByArgs) -> kernsift::Result<SplitRule> {
    match (&by.groups, &by.time) {
        (Some(name), _) => SplitRule::groups_of(table.column(name)?),
        (None, Some(name)) => SplitRule::times_of(table.column(name)?),
        (None, None) => Ok(SplitRule::Independent),
    }
}

/// Leaves out rows of weight 0.
fn leave_out(loaded: &mut Loaded, console: &Console) {
    let prepared = &mut loaded.prepared;
    let n = prepared.data.n();
    if let (Cow::Owned(data), kept) = prepared.data.of_positive_weight() {
        console.inform(&format!("left out {} of {n} rows of weight 0", n - kept.len()));
        prepared.data = data;
        prepared.rows = kept.iter().map(|&row| prepared.rows[row]).collect();
        loaded.targets = loaded.targets.iter().map(|target| target.take_rows(&kept)).collect();
    }
}

fn balance(loaded: &mut Loaded, weights: &WeightArgs) -> kernsift::Result<()> {
    if let Some(ClassWeight::Balanced) = weights.class_weight {
        let data = loaded.prepared.data.clone();
        loaded.prepared.data = data.with_balanced_classes()?;
    }
    Ok(())
}

/// The column of weights of test rows: that of the training rows; without it test rows have weight 1.
fn test_weights<'a>(
    name: &str,
    table: &'a Table,
    weights: &WeightArgs,
    console: &Console,
) -> kernsift::Result<Option<&'a Column>> {
    let Some(column) = weights.weights.as_deref() else { return Ok(None) };
    if !table.names().contains(&column) {
        console.inform(&format!("{name} has no column '{column}', so its rows have weight 1"));
        return Ok(None);
    }
    table.column(column).map(Some)
}

/// Reads test rows, which have the target, and prepares them like the training rows.
pub fn load_test(
    name: &str,
    (args, weights): (&TableArgs, &WeightArgs),
    loaded: &Loaded,
    ctx: &Context,
    console: &Console,
) -> Result<Prepared, Failure> {
    let recipe = &loaded.prepared.recipe;
    if recipe.targets().count() > 1 {
        return Err(Error::OutputsUnsupported { method: "--test".into(), supported: vec![] }.into());
    }
    let Some(target) = recipe.target() else {
        return Err(Failure::Input("--test needs a target; name one with --target".into()));
    };
    if name == args.data {
        console.warn("--test names the training rows, so the result is optimistic; use other rows");
    }
    let table = read(name, args.source().like(recipe), ctx, console)?;
    let in_file = |error: Error| error.in_file(Path::new(name));
    let column = test_weights(name, &table, weights, console).map_err(in_file)?;
    let prepare = Prepare { target: TargetChoice::Named(target.to_owned()), ..Prepare::default() };
    let (mut test, other) = prepare.apply(recipe, &table).map_err(in_file)?;
    if let Some(column) = column {
        let values = weights_of(column, &test.rows, args.columns.options().decimal).map_err(in_file)?;
        test.data = test.data.with_weights(values, &column.name).map_err(in_file)?;
    }
    inform_of_dropped(name, table.n_rows(), test.rows.len(), console);
    inform_of_other(name, &other, console);
    if let (Target::Classes(known), Target::Classes(found)) =
        (loaded.prepared.data.target(), test.data.target())
    {
        warn_of_new_classes(name, known, found, console);
    }
    Ok(test)
}

fn warn_of_new_classes(name: &str, known: &Classes, found: &Classes, console: &Console) {
    let new: Vec<&String> = found.names.iter().filter(|class| !known.names.contains(class)).collect();
    let Some(first) = new.first() else { return };
    let classes = if new.len() == 1 { "one class is".into() } else { format!("{} classes are", new.len()) };
    console.warn(&format!(
        "{name}: {classes} not among the training rows, such as '{first}', and cannot be predicted"
    ));
}
