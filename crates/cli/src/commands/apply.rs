//! `kernsift apply`

use crate::args::{ApplyArgs, Source};
use crate::commands::options::refuse;
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_outputs;
use crate::input::{column, inform_of_dropped, inform_of_other, read};
use crate::output::write_or_print;
use kernsift::data::write::check_table;
use kernsift::data::{Column, Recipe, Table};
use kernsift::model::TableOutput;
use kernsift::{Context, Error, Model};
use ndarray::Array2;
use std::path::Path;

/// Applies a saved model to a table and writes the result, with the target if the table has it.
pub fn run(args: &ApplyArgs, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let model = load(args)?;
    if args.predict && model.class_names().is_err() {
        return Err(Failure::Input(format!(
            "{}: a model fitted by {} does not predict classes; leave out --predict, or save a model of `kernsift select \
             -m takes`",
            args.model.display(),
            model.method()
        )));
    }
    if args.encode && model.selection().is_err() {
        return Err(Failure::Input(format!(
            "{}: a model fitted by {} is not a selection of features; leave out --encode",
            args.model.display(),
            model.method()
        )));
    }
    if model.kernel().is_ok() {
        return similarities(args, &model, ctx, console);
    }
    refuse(
        &format!("a model fitted by {}, which is not a learned kernel", model.method()),
        &[("--against", args.against.is_some()), ("--with-noise", args.with_noise)],
    )?;
    let table = read(&args.data, source(args, &model), ctx, console)?;
    let names = model.recipe.iter().flat_map(Recipe::targets);
    let targets: Vec<Column> = names.filter_map(|name| column(&table, name)).collect();
    if let Some(path) = &args.out {
        check_outputs(&[("--out", Some(path))], &inputs(args))?;
        check_table(path, &targets)?;
    }
    let TableOutput { values: Values { numbers, mut columns, summary }, rows, other } =
        values(args, &model, &table, ctx).map_err(|error| advised(error, Path::new(&args.data)))?;
    inform_of_dropped(&args.data, table.n_rows(), rows.len(), console);
    inform_of_other(&args.data, &other, console);
    columns.extend(targets.iter().map(|target| target.take_rows(&rows)));
    if columns.is_empty() && numbers.0.is_empty() {
        return Err(Failure::Input(format!(
            "{}: the model selects no features, and {} has no target: there is nothing to write",
            args.model.display(),
            args.data
        )));
    }
    console.stage("writing");
    write_or_print(args.out.as_deref(), &numbers.0, &numbers.1, &columns, &args.writing.options(), ctx)?;
    console.inform(&summary);
    Ok(())
}

/// What is written besides the target.
struct Values {
    /// The names and values of a matrix.
    numbers: (Vec<String>, Array2<f64>),
    columns: Vec<Column>,
    summary: String,
}

/// Applies the model: the features, encoded or not, or predicted classes.
fn values(
    args: &ApplyArgs,
    model: &Model,
    table: &Table,
    ctx: &Context,
) -> kernsift::Result<TableOutput<Values>> {
    let size = |rows: usize, columns: usize| format!("{rows} rows, {columns} columns");
    if args.encode {
        let TableOutput { values, rows, other } = model.encode_table(table)?;
        let (summary, numbers) = (size(rows.len(), values.ncols()), (model.encoded_names()?, values));
        return Ok(TableOutput { values: Values { numbers, columns: vec![], summary }, rows, other });
    }
    let (columns, rows, other, summary) = if args.predict {
        let TableOutput { values, rows, other } = model.predict_table(table, ctx)?;
        let summary = format!("{} rows with predicted classes", rows.len());
        (vec![prediction(&values, model.class_names()?)], rows, other, summary)
    } else {
        let TableOutput { values, rows, other } = model.apply_table(table, ctx)?;
        let summary = size(rows.len(), values.len());
        (values, rows, other, summary)
    };
    let numbers = (vec![], Array2::zeros((rows.len(), 0)));
    Ok(TableOutput { values: Values { numbers, columns, summary }, rows, other })
}

/// The files that are read.
fn inputs(args: &ApplyArgs) -> Vec<&Path> {
    let files = args.reading.files(&args.data).into_iter();
    files.chain([args.model.as_path()]).chain(args.against.as_deref().map(Path::new)).collect()
}

/// How tables are read: with the decimal separator of the training table.
fn source<'a>(args: &'a ApplyArgs, model: &Model) -> Source<'a> {
    let decimal = model.recipe.as_ref().and_then(Recipe::decimal);
    Source { args: &args.reading, id: args.id.as_slice(), decimal }
}

/// Loads the model; an error says if model and data were swapped.
fn load(args: &ApplyArgs) -> Result<Model, Failure> {
    Model::load(&args.model).map_err(|error| {
        let swapped = matches!(&error, Error::InFile { source, .. } if matches!(**source, Error::Model { .. }))
            && Model::load(Path::new(&args.data)).is_ok();
        let (data, model) = (&args.data, args.model.display());
        match swapped {
            true => Failure::Input(format!("{error}; did you mean `kernsift apply {data} {model}`?")),
            false => error.into(),
        }
    })
}

/// Writes similarities by a learned kernel, a line for each row of the table.
fn similarities(args: &ApplyArgs, model: &Model, ctx: &Context, console: &Console) -> Result<(), Failure> {
    let against = args.against.as_deref();
    if let Some(path) = &args.out {
        check_outputs(&[("--out", Some(path))], &inputs(args))?;
        check_table(path, &[])?;
    }
    let rows_of = |name: &str| -> Result<_, Failure> {
        let table = read(name, source(args, model), ctx, console)?;
        let found = model.kernel_rows(&table, args.with_noise).map_err(|e| advised(e, Path::new(name)))?;
        inform_of_dropped(name, table.n_rows(), found.rows.len(), console);
        inform_of_other(name, &found.other, console);
        Ok(found)
    };
    let x = rows_of(&args.data)?;
    let z = against.map(rows_of).transpose()?;
    let gram = model.gram(&x.values, z.as_ref().map(|z| &z.values), args.with_noise, ctx)?;
    // Row numbers of the table, from 1.
    let columns = &z.as_ref().unwrap_or(&x).rows;
    let names: Vec<String> = columns.iter().map(|row| format!("row{}", row + 1)).collect();
    console.stage("writing");
    write_or_print(args.out.as_deref(), &names, &gram, &[], &args.writing.options(), ctx)?;
    console.inform(&format!("similarities of {} rows to {} rows", gram.nrows(), gram.ncols()));
    Ok(())
}

/// The predicted classes as a column, numeric if all their names are numbers.
fn prediction(codes: &[usize], classes: &[String]) -> Column {
    const NAME: &str = "prediction";
    let number = |name: &String| name.parse::<f64>().ok().filter(|value| value.to_string() == *name);
    match classes.iter().map(number).collect::<Option<Vec<f64>>>() {
        Some(numbers) => Column::numeric(NAME, codes.iter().map(|&code| numbers[code]).collect()),
        None => Column::text(NAME, codes.iter().map(|&code| Some(classes[code].as_str()))),
    }
}

/// Missing values and text are handled as in training, so the advice concerns the values and the training.
fn advised(error: Error, path: &Path) -> Failure {
    Failure::with_advice(&error.in_file(path), |error| match error {
        Error::MissingValue { .. } | Error::MissingUnsupported { .. } | Error::NoCompleteRows => {
            Some("Fill in the value, or train the model with --missing auto, drop, mean or median.")
        }
        Error::NotNumeric { .. } => Some("Correct the value: the column was numeric in training."),
        Error::NotOfType { .. } => Some("Correct the value: the column had this type in training."),
        _ => None,
    })
}
