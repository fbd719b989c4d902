//! From what the user named to data.

use crate::args::{CategoricalArg, MissingArg, TableArgs, TargetTypeArg};
use crate::console::Console;
use crate::failure::Failure;
use kernsift::data::read::{ReadOptions, read_table};
use kernsift::data::write::{WriteOptions, check_place, write_table};
use kernsift::data::{
    BuiltIn, Categorical, Column, Dataset, Missing, Prepare, Prepared, Standardizer, Table, Target,
    TargetChoice, TargetType,
};
use kernsift::{Context, Observer, Result};
use std::path::{Path, PathBuf};

/// A table that was read and prepared.
pub struct Loaded {
    /// What the user called it.
    pub name: String,
    /// Data, recipe and the rows they come from.
    pub prepared: Prepared,
    /// The target's column as it stood in the table, for output.
    pub target: Option<Column>,
    /// Empty cells of the table, and what became of them.
    pub gaps: usize,
    fate: Missing,
}

impl Loaded {
    /// Writes some columns as they were, and the target.
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

    /// The rows as the table counts them, from 1, the header left out.
    pub fn counted_rows(&self) -> Vec<usize> {
        self.prepared.rows.iter().map(|row| row + 1).collect()
    }

    /// What was done about empty cells, if there were any.
    pub fn empty_cells(&self) -> Option<String> {
        let done = match self.fate {
            Missing::Error => "",
            Missing::Drop => ": their rows were left out",
            Missing::Mean => ": filled with the column's mean",
            Missing::Median => ": filled with the column's median",
            Missing::Keep => ": left empty",
        };
        (self.gaps > 0).then(|| format!("{}{done}", self.gaps))
    }
}

/// Reads a file or a built-in set, and passes on what the reader has to say.
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

/// Reads and prepares a table as asked.
pub fn load(args: &TableArgs, ctx: &Context, console: &Console) -> std::result::Result<Loaded, Failure> {
    load_with(args, missing(args.missing), ctx, console)
}

/// The same for work in folds: what is filled with means or medians stays empty, as each fold fills in its own.
pub fn load_for_folds(
    args: &TableArgs,
    ctx: &Context,
    console: &Console,
) -> std::result::Result<Loaded, Failure> {
    let missing = match missing(args.missing) {
        Missing::Keep => {
            return Err(Failure::Input(
                "--missing keep has no effect here, as evaluators need every cell; use mean or median".into(),
            ));
        }
        Missing::Mean | Missing::Median => Missing::Keep,
        other => other,
    };
    load_with(args, missing, ctx, console)
}

fn load_with(
    args: &TableArgs,
    missing: Missing,
    ctx: &Context,
    console: &Console,
) -> std::result::Result<Loaded, Failure> {
    let table = read(&args.data, args.no_header, ctx, console)?;
    Ok(prepare(args, TargetChoice::Auto, missing, &table, console)?)
}

/// Prepares a table that was read already. `usual` says which target is taken if the user names none.
pub fn load_table(args: &TableArgs, usual: TargetChoice, table: &Table, console: &Console) -> Result<Loaded> {
    prepare(args, usual, missing(args.missing), table, console)
}

fn missing(rule: MissingArg) -> Missing {
    match rule {
        MissingArg::Error => Missing::Error,
        MissingArg::Drop => Missing::Drop,
        MissingArg::Mean => Missing::Mean,
        MissingArg::Median => Missing::Median,
        MissingArg::Keep => Missing::Keep,
    }
}

fn prepare(
    args: &TableArgs,
    usual: TargetChoice,
    missing: Missing,
    table: &Table,
    console: &Console,
) -> Result<Loaded> {
    let target = match args.target.as_deref() {
        None => usual,
        // A column that is really called 'none' wins.
        Some("none") if !table.names().contains(&"none") => TargetChoice::None,
        Some(name) => TargetChoice::Named(name.to_owned()),
    };
    let prepare = Prepare {
        target,
        target_type: match args.target_type {
            TargetTypeArg::Auto => TargetType::Auto,
            TargetTypeArg::Class => TargetType::Classes,
            TargetTypeArg::Number => TargetType::Continuous,
        },
        missing,
        categorical: match args.categorical {
            CategoricalArg::Error => Categorical::Error,
            CategoricalArg::Onehot => Categorical::OneHot,
            CategoricalArg::Ordinal => Categorical::Ordinal,
        },
    };
    console.stage("preparing the table");
    let prepared = prepare.fit(table).map_err(|e| e.in_file(Path::new(&args.data)))?;
    prepared.notes.iter().for_each(|note| console.inform(note));
    let target =
        prepared.recipe.target().and_then(|name| column(table, name)).map(|c| c.take_rows(&prepared.rows));
    let gaps = match table {
        Table::Columns(columns) => {
            columns.iter().map(|c| (0..c.len()).filter(|&row| c.is_missing(row)).count()).sum()
        }
        Table::Sparse { .. } => 0,
    };
    Ok(Loaded { name: args.data.clone(), prepared, target, gaps, fate: missing })
}

/// A file that a command writes: the option that names it, and its path if that option was given.
pub type Output<'a> = (&'a str, Option<&'a Path>);

/// Refuses outputs that cannot be written, that overwrite an input, or that share a file.
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

/// A column of a table by name.
pub fn column(table: &Table, name: &str) -> Option<Column> {
    match table {
        Table::Columns(columns) => columns.iter().find(|c| c.name == name).cloned(),
        Table::Sparse { target, .. } => target.clone().filter(|t| t.name == name),
    }
}

/// Scales columns, and names those that are constant.
pub fn standardize(data: &Dataset, console: &Console) -> Result<(Dataset, Standardizer)> {
    console.stage("scaling columns");
    let scaler = Standardizer::fit(data.x());
    if !scaler.constant.is_empty() {
        let names: Vec<&str> = scaler.constant.iter().take(5).map(|&j| data.names()[j].as_str()).collect();
        let more = scaler.constant.len() - names.len();
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (noun, verb) = if scaler.constant.len() == 1 {
            ("column", "is constant and tells")
        } else {
            ("columns", "are constant and tell")
        };
        console.warn(&format!("{noun} {}{tail} {verb} nothing", names.join(", ")));
    }
    Ok((data.with_x(scaler.apply(data.x())?)?, scaler))
}

/// The target in words.
pub fn describe_target(loaded: &Loaded) -> String {
    match (loaded.prepared.data.target(), loaded.prepared.recipe.target()) {
        (Target::Classes(classes), Some(name)) => {
            format!("target '{name}' with {} classes", classes.names.len())
        }
        (Target::Continuous(_), Some(name)) => format!("target '{name}', a number"),
        _ => "no target".into(),
    }
}
