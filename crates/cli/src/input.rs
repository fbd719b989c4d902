//! Reads and prepares tables, and checks paths of output files.

use crate::args::{OutputArgs, TableArgs};
use crate::console::Console;
use crate::failure::Failure;
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::write::{WriteOptions, check_place, check_table, write_table};
use kernsift::data::{
    BuiltIn, Column, Encoder, Encoding, ImputeStrategy, Missing, Prepare, Prepared, Table, Target,
    TargetChoice,
};
use kernsift::model::Content;
use kernsift::{Context, Model, Observer, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A table that was read and prepared.
pub struct Loaded {
    /// The path or name that the user gave.
    pub name: String,
    /// Data, recipe and the rows they come from.
    pub prepared: Prepared,
    /// The target column with its original values, for output.
    pub target: Option<Column>,
    /// Number of missing values in the table.
    pub n_missing: usize,
    missing: Missing,
}

impl Loaded {
    /// Writes some columns with their original values, and the target.
    pub fn write_columns(
        &self,
        path: &Path,
        columns: &[usize],
        options: &WriteOptions,
        ctx: &Context,
    ) -> Result<()> {
        let kept = self.prepared.data.take_columns(columns);
        write_table(path, kept.names(), kept.x().to_dense().view(), self.target.as_slice(), options, ctx)
    }

    /// Row numbers in the table, from 1 without the header.
    pub fn counted_rows(&self) -> Vec<usize> {
        self.prepared.rows.iter().map(|row| row + 1).collect()
    }

    /// The number of missing values and how they were handled, if there were any.
    pub fn missing_values(&self) -> Option<String> {
        let handled = match self.missing {
            Missing::Error => "",
            Missing::Drop => ": rows dropped",
            Missing::Mean => ": imputed with the column mean",
            Missing::Median => ": imputed with the column median",
            Missing::Keep => ": kept",
        };
        (self.n_missing > 0).then(|| format!("{}{handled}", self.n_missing))
    }

    /// How to encode the features.
    pub fn encoding(&self, standardize: bool) -> Encoding {
        let impute = match self.missing {
            Missing::Mean => Some(ImputeStrategy::Mean),
            Missing::Median => Some(ImputeStrategy::Median),
            _ => None,
        };
        Encoding { impute, standardize }
    }

    /// A model fitted to this table.
    pub fn model(&self, encoder: Option<Encoder>, content: Content) -> Model {
        let names = self.prepared.data.names().to_vec();
        Model { names, recipe: Some(self.prepared.recipe.clone()), encoder, content }
    }

    /// The JSON record of a command: the given fields, and those that all records have.
    pub fn record(&self, command: &str, ctx: &Context, mut fields: Value) -> Value {
        let data = &self.prepared.data;
        fields["command"] = command.into();
        fields["version"] = env!("CARGO_PKG_VERSION").into();
        fields["data"] = json!({"name": self.name, "rows": data.n(), "columns": data.d(),
                                "target": self.prepared.recipe.target()});
        fields["seed"] = ctx.seed.into();
        fields
    }

    /// The data in a line: name, size and target; `scaling` follows the number of columns.
    pub fn describe(&self, scaling: &str) -> String {
        let data = &self.prepared.data;
        format!("{}: {} rows, {} columns{scaling}, {}", self.name, data.n(), data.d(), describe_target(self))
    }
}

/// Reads a file or a built-in data set, and shows the reader's warnings.
pub fn read(data: &str, no_header: bool, ctx: &Context, console: &Console) -> Result<Table> {
    if let Some(name) = data.strip_prefix("builtin:") {
        return BuiltIn::by_name(name)?.table();
    }
    let ctx = Context { observer: console, ..*ctx };
    let (table, warnings) = read_table(Path::new(data), &ReadOptions { header: !no_header }, &ctx)?;
    // The core does not know the name of the option.
    warnings.iter().for_each(|text| console.warn(&text.replace("without a header", "with --no-header")));
    Ok(table)
}

/// Informs of rows that were dropped because of missing values.
pub fn inform_of_dropped(name: &str, n_rows: usize, n_kept: usize, console: &Console) {
    if n_kept < n_rows {
        console.inform(&format!("{name}: dropped {} of {n_rows} rows with missing values", n_rows - n_kept));
    }
}

/// Reads and prepares a table.
pub fn load(args: &TableArgs, ctx: &Context, console: &Console) -> Result<Loaded> {
    let table = read(&args.data, args.no_header, ctx, console)?;
    load_table(args, TargetChoice::Auto, &table, console)
}

/// Reads and prepares a table for cross-validation: missing values that are to be imputed are kept, as each fold
/// imputes them.
pub fn load_for_folds(
    args: &TableArgs,
    ctx: &Context,
    console: &Console,
) -> std::result::Result<Loaded, Failure> {
    let missing = match args.missing {
        Missing::Keep => {
            return Err(Failure::Input(
                "--missing keep is not supported, as evaluators need complete data; use mean or median"
                    .into(),
            ));
        }
        Missing::Mean | Missing::Median => Missing::Keep,
        other => other,
    };
    let table = read(&args.data, args.no_header, ctx, console)?;
    Ok(prepare(args, TargetChoice::Auto, missing, &table, console)?)
}

/// Prepares a table. `default` is the target if the user names none.
pub fn load_table(
    args: &TableArgs,
    default: TargetChoice,
    table: &Table,
    console: &Console,
) -> Result<Loaded> {
    prepare(args, default, args.missing, table, console)
}

fn prepare(
    args: &TableArgs,
    default: TargetChoice,
    missing: Missing,
    table: &Table,
    console: &Console,
) -> Result<Loaded> {
    let target = match args.target.as_deref() {
        None => default,
        // Unless a column has this name.
        Some("none") if !table.names().contains(&"none") => TargetChoice::None,
        Some(name) => TargetChoice::Named(name.to_owned()),
    };
    let prepare = Prepare { target, target_type: args.target_type, missing, categorical: args.categorical };
    console.stage("preparing the table");
    let prepared = prepare.fit(table).map_err(|e| e.in_file(Path::new(&args.data)))?;
    prepared.notes.iter().for_each(|note| console.inform(note));
    let target =
        prepared.recipe.target().and_then(|name| column(table, name)).map(|c| c.take_rows(&prepared.rows));
    let n_missing = match table {
        Table::Columns(columns) => {
            columns.iter().map(|c| (0..c.len()).filter(|&row| c.is_missing(row)).count()).sum()
        }
        Table::Sparse { .. } => 0,
    };
    Ok(Loaded { name: args.data.clone(), prepared, target, n_missing, missing })
}

/// A file that a command writes: the option that names it, and its path if that option was given.
pub type Output<'a> = (&'a str, Option<&'a Path>);

/// Returns an error for outputs that cannot be written, that overwrite an input, or that share a file.
pub fn check_outputs(outputs: &[Output], inputs: &[&Path]) -> std::result::Result<(), Failure> {
    let mut taken: Vec<(&str, PathBuf)> = vec![];
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let target = resolved(path);
        if let Some(input) = inputs.iter().find(|input| resolved(input) == target) {
            return Err(Failure::Input(format!(
                "{option} would write over {}, which is read; choose another file",
                input.display()
            )));
        }
        if let Some((other, _)) = taken.iter().find(|(_, other)| *other == target) {
            return Err(Failure::Input(format!("{other} and {option} need different files")));
        }
        check_place(path)?;
        taken.push((option, target));
    }
    Ok(())
}

/// The absolute path of a file. A file that does not exist yet has the absolute path of its folder.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let in_folder = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| path.to_owned())
}

/// Checks the outputs of a command that fits a model to a table. `tables` are further tables that it writes, `inputs`
/// further files that it reads.
pub fn check_fit_outputs(
    args: &OutputArgs,
    tables: &[Output],
    loaded: &Loaded,
    inputs: &[Option<&Path>],
) -> std::result::Result<(), Failure> {
    args.writing.check(args.out.is_some() || tables.iter().any(|(_, path)| path.is_some()))?;
    let inputs: Vec<&Path> = inputs.iter().flatten().copied().chain([Path::new(&loaded.name)]).collect();
    check_outputs(&[&args.files(), tables].concat(), &inputs)?;
    args.out.as_ref().map_or(Ok(()), |path| Ok(check_table(path, loaded.target.as_slice())?))
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
        _ => "no target".into(),
    }
}
