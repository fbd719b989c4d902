//! Reads and prepares tables.

use crate::args::{Source, TableArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::large::{TableRows, large_file, read_sample, refuse_options};
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::write::{WriteOptions, write_table};
use kernsift::data::{
    Account, Action, BuiltIn, Column, Encoder, Encoding, Missing, Prepare, Prepared, Recipe, Table, Target,
    TargetChoice, TargetType, join_labels,
};
use kernsift::model::Content;
use kernsift::{Context, Error, Model, Observer, Result};
use ndarray::Array2;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A table that was read and prepared.
pub struct Loaded {
    /// The path or name that the user gave.
    pub name: String,
    /// Data, recipe and the rows they come from.
    pub prepared: Prepared,
    /// The table before preparation, if its columns are to be written. It takes as much memory as the data.
    pub table: Option<Table>,
    /// The target columns with their original values, for output.
    pub targets: Vec<Column>,
    /// Which rows of the file were read, from 0, and how many it has; `None` for all.
    sample: Option<(Vec<usize>, usize)>,
    missing: Missing,
    files: Vec<PathBuf>,
}

impl Loaded {
    /// The files that were read.
    pub fn files(&self) -> Vec<&Path> {
        self.files.iter().map(PathBuf::as_path).collect()
    }

    /// Writes some columns with their original values, and the target.
    pub fn write_columns(
        &self,
        path: &Path,
        columns: &[usize],
        options: &WriteOptions,
        ctx: &Context,
    ) -> Result<()> {
        let Some(Table::Columns(all)) = &self.table else {
            let kept = self.prepared.data.take_columns(columns);
            let x = kept.x().to_dense();
            return write_table(path, kept.names(), x.view(), &self.targets, options, ctx);
        };
        let names = self.prepared.data.names();
        let find = |&j: &usize| all.iter().find(|column| column.name == names[j]);
        let kept = columns.iter().filter_map(find).map(|column| column.take_rows(&self.prepared.rows));
        let kept: Vec<Column> = kept.chain(self.targets.iter().cloned()).collect();
        let no_features = Array2::zeros((self.prepared.rows.len(), 0));
        write_table(path, &[], no_features.view(), &kept, options, ctx)
    }

    /// Row numbers in the file, from 1 without the header.
    pub fn counted_rows(&self) -> Vec<usize> {
        let in_file = |&row: &usize| self.sample.as_ref().map_or(row, |(rows, _)| rows[row]);
        self.prepared.rows.iter().map(|row| in_file(row) + 1).collect()
    }

    /// The number of missing values and how they were handled, if there were any.
    pub fn missing_values(&self) -> Option<String> {
        self.prepared.account.missing_values()
    }

    /// Returns an error for options that need all rows, if these are a sample.
    pub fn refuse_sampled(&self, options: &[(&str, bool)]) -> std::result::Result<(), Failure> {
        if self.sample.is_some() { refuse_options(options) } else { Ok(()) }
    }

    /// How to encode the features.
    pub fn encoding(&self, standardize: bool) -> Encoding {
        Encoding { impute: self.missing.imputation(), standardize }
    }

    /// A model fitted to this table.
    pub fn model(&self, encoder: Option<Encoder>, content: Content) -> Model {
        let names = self.prepared.data.names().to_vec();
        Model { names, recipe: Some(self.prepared.recipe.clone()), encoder, content }
    }

    /// The JSON record of a command: the given fields, and those that all records have.
    pub fn record(&self, command: &str, ctx: &Context, fields: Value) -> Value {
        let data = &self.prepared.data;
        let targets: Vec<&str> = self.prepared.recipe.targets().collect();
        let mut record = record_of(command, ctx, fields, (&self.name, data.n(), data.d(), &targets));
        if let Some((rows, n)) = &self.sample {
            record["data"]["sample"] = json!({"n_used": rows.len(), "n": n});
        }
        record
    }

    /// The data in a line: name, size and target; `scaling` follows the number of columns.
    pub fn describe(&self, scaling: &str) -> String {
        let data = &self.prepared.data;
        format!("{}: {} rows, {} columns{scaling}, {}", self.name, data.n(), data.d(), describe_target(self))
    }
}

/// The JSON record of a command with a table of this name, numbers of rows and columns, and targets.
pub fn record_of(
    command: &str,
    ctx: &Context,
    mut fields: Value,
    (name, rows, columns, targets): (&str, usize, usize, &[&str]),
) -> Value {
    let target = if targets.len() > 1 { json!(targets) } else { json!(targets.first()) };
    fields["command"] = command.into();
    fields["version"] = env!("CARGO_PKG_VERSION").into();
    fields["data"] = json!({"name": name, "rows": rows, "columns": columns, "target": target});
    fields["seed"] = ctx.seed.into();
    fields
}

/// Reads a file or a built-in data set, and shows the reader's warnings.
pub fn read(data: &str, source: Source, ctx: &Context, console: &Console) -> Result<Table> {
    let args = source.args;
    if let Some(name) = data.strip_prefix("builtin:") {
        let table = BuiltIn::by_name(name)?.table();
        return match args.for_files() {
            Some(option) => {
                Err(Error::parse(format!("{option} has no effect on built-in data; leave it out")))
            }
            None => table,
        };
    }
    let table = read_file(Path::new(data), &args.options(source.decimal), ctx, console)?;
    let Some(file) = &args.labels else { return Ok(table) };
    let labels = read_file(file, &args.label_options(source.decimal), ctx, console)?;
    let (table, notes) = join_labels(table, labels, source.id).map_err(|e| e.in_file(file))?;
    notes.iter().for_each(|note| console.inform(&format!("{}: {note}", file.display())));
    Ok(table)
}

fn read_file(path: &Path, options: &ReadOptions, ctx: &Context, console: &Console) -> Result<Table> {
    let ctx = Context { observer: console, ..*ctx };
    let (table, warnings) = read_table(path, options, &ctx)?;
    warnings.iter().for_each(|text| console.warn(&with_option_names(text)));
    Ok(table)
}

/// A warning of the reader; the core does not know the name of the option.
fn with_option_names(warning: &str) -> String {
    warning.replace("without a header", "with --no-header")
}

/// Informs of categories that the training table does not have.
pub fn inform_of_other(name: &str, other: &[(String, usize)], console: &Console) {
    for (column, count) in other {
        let rows = if *count == 1 { "row has a category" } else { "rows have categories" };
        console.inform(&format!(
            "{name}: column '{column}': {count} {rows} that the training table does not have"
        ));
    }
}

/// Informs of rows that were dropped because of missing values.
pub fn inform_of_dropped(name: &str, n_rows: usize, n_kept: usize, console: &Console) {
    if n_kept < n_rows {
        console.inform(&format!("{name}: dropped {} of {n_rows} rows with missing values", n_rows - n_kept));
    }
}

/// What a command needs besides the data; both take time or memory.
#[derive(Clone, Copy)]
pub struct Also {
    /// The columns with their original values, to write them.
    pub table: bool,
    /// Statistics of all columns, for a report.
    pub details: bool,
}

impl Also {
    /// What a report needs, if there is one.
    pub fn report(is_written: bool) -> Self {
        Self { table: false, details: is_written }
    }
}

/// Reads the rows of a table to fit to: a random sample if the file does not fit into memory and can be read in pieces.
pub fn read_rows(args: &TableArgs, ctx: &Context, console: &Console) -> Result<TableRows> {
    let in_pieces = Context { observer: console, ..*ctx };
    if let Some(file) = large_file(args, ctx)
        && let Some((rows, warnings)) = read_sample(&file, &in_pieces)?
    {
        warnings.iter().for_each(|text| console.warn(&with_option_names(text)));
        return Ok(rows);
    }
    Ok(read(&args.data, args.source(), ctx, console)?.into())
}

/// Adds to the account of a table that it is a sample.
fn account_for_sample(account: &mut Account, rows: &TableRows, args: &TableArgs) {
    if let Some((rows, n)) = &rows.sample {
        let text = format!(
            "{}: a random sample of {} of {n} rows, as all do not fit into memory",
            args.data,
            rows.len()
        );
        account.warnings.insert(0, text);
    }
}

/// Reads and prepares a table.
pub fn load(args: &TableArgs, also: Also, ctx: &Context, console: &Console) -> Result<Loaded> {
    let rows = read_rows(args, ctx, console)?;
    let prepare = Prepare { details: also.details, ..options(args, &rows.table)? };
    let loaded = load_table(args, &prepare, &rows, console)?;
    Ok(Loaded { table: also.table.then_some(rows.table), ..loaded })
}

/// Prepares a table.
pub fn load_table(
    args: &TableArgs,
    prepare: &Prepare,
    rows: &TableRows,
    console: &Console,
) -> Result<Loaded> {
    console.stage("preparing the table");
    let mut prepared = prepare.fit(&rows.table).map_err(|e| e.in_file(Path::new(&args.data)))?;
    account_for_sample(&mut prepared.account, rows, args);
    let sample = rows.sample.clone();
    Ok(Loaded { sample, ..loaded(args, args.missing, &rows.table, prepared, console) })
}

/// Reads and prepares a table like the training table of a model; the target is optional.
pub fn load_like(recipe: &Recipe, args: &TableArgs, ctx: &Context, console: &Console) -> Result<Loaded> {
    let table = read(&args.data, args.source().like(recipe), ctx, console)?;
    need_one_target(args, &table, "a saved kernel")?;
    let prepare = options(args, &table)?;
    console.stage("preparing the table");
    let (prepared, other) = prepare.apply(recipe, &table).map_err(|e| e.in_file(Path::new(&args.data)))?;
    inform_of_other(&args.data, &other, console);
    Ok(loaded(args, prepared.account.missing, &table, prepared, console))
}

fn loaded(
    args: &TableArgs,
    missing: Missing,
    table: &Table,
    prepared: Prepared,
    console: &Console,
) -> Loaded {
    let target_type =
        if prepared.recipe.targets().count() > 1 { TargetType::Continuous } else { args.target_type };
    inform(&prepared.account, &prepared.notes, target_type, console);
    if !prepared.account.is_plain() {
        prepared.account.lines().iter().for_each(|line| console.inform(line));
    }
    let targets = prepared.recipe.targets().filter_map(|name| column(table, name));
    let targets = targets.map(|column| column.take_rows(&prepared.rows)).collect();
    let files = args.reading.files(&args.data).into_iter().map(Path::to_owned).collect();
    Loaded { name: args.data.clone(), prepared, table: None, targets, sample: None, missing, files }
}

/// Reads a table for its account; also the number of all rows, if these are a sample.
pub fn account(args: &TableArgs, ctx: &Context, console: &Console) -> Result<(Account, Option<usize>)> {
    let rows = read_rows(args, ctx, console)?;
    let prepare = options(args, &rows.table)?;
    let (mut account, notes) = prepare.inspect(&rows.table).map_err(|e| e.in_file(Path::new(&args.data)))?;
    account_for_sample(&mut account, &rows, args);
    inform(&account, &notes, args.target_type, console);
    Ok((account, rows.sample.map(|(_, n)| n)))
}

/// The target columns: several in a list, unless a column has the list as its name.
pub fn target_names<'a>(args: &'a TableArgs, table: &Table) -> Vec<&'a str> {
    target_names_among(args, &table.names())
}

fn target_names_among<'a>(args: &'a TableArgs, names: &[&str]) -> Vec<&'a str> {
    match args.target.as_deref() {
        Some(list) if list.contains(',') && !names.contains(&list) => {
            list.split(',').map(str::trim).collect()
        }
        one => one.into_iter().collect(),
    }
}

/// Returns an error for several target columns.
fn need_one_target(args: &TableArgs, table: &Table, what: &str) -> Result<()> {
    match target_names(args, table).len() {
        0 | 1 => Ok(()),
        _ => Err(Error::OutputsUnsupported { method: what.into(), supported: vec![] }),
    }
}

/// How the arguments say to prepare a table.
pub fn options(args: &TableArgs, table: &Table) -> Result<Prepare> {
    options_for(args, &table.names())
}

/// How the arguments say to prepare a table with these columns.
pub fn options_for(args: &TableArgs, columns: &[impl AsRef<str>]) -> Result<Prepare> {
    let columns_of: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let names = target_names_among(args, &columns_of);
    if let Some(at) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        let twice = Error::parse(format!("the target '{}' is named twice", names[at]));
        return Err(twice.in_file(Path::new(&args.data)));
    }
    let target = match names.first() {
        None => TargetChoice::Auto,
        // Unless a column has this name.
        Some(&"none") if !columns_of.contains(&"none") => TargetChoice::None,
        Some(&name) => TargetChoice::Named(name.to_owned()),
    };
    let other_targets = names.iter().skip(1).map(|&name| name.to_owned()).collect();
    let (target_type, columns) = (args.target_type, args.columns.options());
    Ok(Prepare { target, other_targets, target_type, missing: args.missing, columns, ..Prepare::default() })
}

/// Shows what was decided about the target, and warnings.
pub fn inform(account: &Account, notes: &[String], target_type: TargetType, console: &Console) {
    notes.iter().for_each(|note| console.inform(note));
    if let Some(doubt) = doubt_about_target(account).filter(|_| target_type == TargetType::Auto) {
        console.inform(&doubt);
    }
    for text in &account.warnings {
        // The core does not know the names of options.
        let text = text.replace("before the target, exclude it", "before the target, pass --exclude");
        let is_about_decimals = text.contains("thousands or decimals") || text.contains("has a decimal ");
        let option = match () {
            () if is_about_decimals => " (see --decimal)",
            () if text.contains(": mostly numbers; ") => " (see --na-values and --type)",
            () => "",
        };
        console.warn(&format!("{text}{option}"));
    }
}

/// What an integer target was taken for, and how to change it.
fn doubt_about_target(account: &Account) -> Option<String> {
    let column = account.with_action(Action::Target).next()?;
    // Integers with leading zeros are names.
    let is_integer = |text: &String| text.parse::<i64>().is_ok_and(|value| value.to_string() == *text);
    if !column.examples.iter().all(is_integer) {
        return None;
    }
    let (name, reason) = (&column.name, column.reason.as_deref()?);
    // Two or three integers are almost always classes.
    match (reason, column.n_distinct?) {
        ("continuous", _) => {
            Some(format!("target '{name}': integers, continuous; --target-type class makes them classes"))
        }
        (_, n) if n > 3 => {
            Some(format!("target '{name}': integers, {reason}; --target-type number makes it continuous"))
        }
        _ => None,
    }
}

/// A column of a table by name.
pub fn column(table: &Table, name: &str) -> Option<Column> {
    match table {
        Table::Columns(columns) => columns.iter().find(|c| c.name == name).cloned(),
        Table::Sparse { target, .. } => target.clone().filter(|t| t.name == name),
    }
}

/// The target with its name and type.
pub fn describe_target(loaded: &Loaded) -> String {
    match (loaded.prepared.data.target(), loaded.prepared.recipe.target()) {
        (Target::Classes(classes), Some(name)) => {
            format!("target '{name}' with {} classes", classes.names.len())
        }
        (Target::Continuous(_), Some(name)) => format!("continuous target '{name}'"),
        (Target::Outputs(_), _) => {
            let names = loaded.prepared.recipe.targets().map(|name| format!("'{name}'"));
            format!("continuous targets {}", names.collect::<Vec<_>>().join(", "))
        }
        _ => "no target".into(),
    }
}
