//! The table, and triplets of its rows.

use super::options::typed;
use crate::args::DesignArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::input::{Loaded, load_table, options, read, read_rows};
use crate::large::TableRows;
use kernsift::data::triplets::{
    Ids, Naming, TripletReport, check, from_target, read as read_triplets, renumber,
};
use kernsift::data::{Column, Prepare, Table, Target, TargetChoice, Triplet};
use kernsift::{Context, Error, Observer};
use std::path::Path;

/// The default number of triplets to draw.
const DRAWN: usize = 1500;

/// A table, and triplets of its rows.
pub struct Input {
    /// The table.
    pub loaded: Loaded,
    /// The triplets, as row indices of the data.
    pub triplets: Vec<Triplet>,
    /// The line of each in its file, counted from 1 without the header.
    pub lines: Vec<usize>,
    /// Counts of duplicates and contradictions.
    pub report: TripletReport,
    /// Their number if they were drawn from the target; none if they came from a file.
    pub drawn: Option<usize>,
    /// Number of triplets that were dropped with rows that have missing values.
    pub dropped: usize,
    /// The names of the rows in the triplets.
    names: Vec<String>,
}

impl Input {
    /// The name of a row in the triplets: its id, or its number in the table.
    pub fn name(&self, row: usize) -> &str {
        &self.names[row]
    }
}

/// Reads the table and its triplets, or draws them.
pub fn load(args: &DesignArgs, ctx: &Context, console: &Console) -> Result<Input, Failure> {
    match &args.triplets {
        Some(file) => from_file(args, file, ctx, console),
        None => drawn(args, ctx, console),
    }
}

fn drawn(args: &DesignArgs, ctx: &Context, console: &Console) -> Result<Input, Failure> {
    let belongs =
        |option: &str| Failure::Input(format!("{option} applies to a file of triplets; add --triplets FILE"));
    if args.ids.is_some() {
        return Err(belongs("--ids"));
    }
    if args.origin.is_some() {
        return Err(belongs("--origin"));
    }
    let rows = read_rows(&args.table, ctx, console)?;
    let prepare = Prepare { details: args.report.is_some(), ..options(&args.table, &rows.table)? };
    let loaded = load_table(&args.table, &prepare, &rows, console)?;
    let data = &loaded.prepared.data;
    if *data.target() == Target::None {
        return Err(Failure::Input(
            "there is no target to draw triplets from; name one with --target, or give triplets with --triplets FILE"
                .into(),
        ));
    }
    let n = args.n_triplets.unwrap_or(DRAWN);
    let rows: Vec<usize> = (0..data.n()).collect();
    let triplets = from_target(data.target(), &rows, n, ctx).map_err(typed)?;
    let report = check(&triplets, data.n())?;
    let names = loaded.counted_rows().iter().map(usize::to_string).collect();
    let lines = (1..=triplets.len()).collect();
    Ok(Input { loaded, triplets, lines, report, drawn: Some(n), dropped: 0, names })
}

fn from_file(args: &DesignArgs, file: &Path, ctx: &Context, console: &Console) -> Result<Input, Failure> {
    if args.n_triplets.is_some() {
        return Err(Failure::Input(
            "--n-triplets has no effect with --triplets; leave one of them out".into(),
        ));
    }
    if args.ids.is_some() && args.origin.is_some() {
        return Err(Failure::Input("--origin has no effect with --ids; leave one of them out".into()));
    }
    let in_data = |error: Error| error.in_file(Path::new(&args.table.data));
    // Triplets name any rows.
    let read: TableRows = read(&args.table.data, args.table.source(), ctx, console)?.into();
    let table = &read.table;
    let n_rows = table.n_rows();
    let ids = args.ids.as_ref().map(|name| column_of_ids(table, name, args)).transpose()?;
    // A missing or duplicate id is an error of the table, not of the triplets.
    let by_id = ids.map(|column| Ids::of_column(column).map_err(in_data)).transpose()?;
    let origin = usize::from(args.origin.unwrap_or(1));
    let naming = match &by_id {
        Some(ids) => Naming::Ids(ids),
        None => Naming::Numbers { n: n_rows, origin },
    };
    let all = read_triplets(file, &naming, ctx)?;
    let reserved = args.ids.iter().cloned().collect();
    let mut prepare = Prepare { details: args.report.is_some(), reserved, ..options(&args.table, table)? };
    if prepare.target == TargetChoice::Auto {
        prepare.target = TargetChoice::AutoByName;
    }
    let loaded = load_table(&args.table, &prepare, &read, console)?;
    let rows = &loaded.prepared.rows;
    let triplets = renumber(&all, rows);
    let mut is_kept = vec![false; n_rows];
    rows.iter().for_each(|&row| is_kept[row] = true);
    let is_complete = |at: &usize| all[*at].iter().all(|&row| is_kept[row]);
    let lines: Vec<usize> = (0..all.len()).filter(is_complete).map(|at| at + 1).collect();
    let dropped = all.len() - triplets.len();
    if triplets.is_empty() {
        return Err(Failure::Input(format!(
            "{}: all {dropped} triplets have rows that were dropped for missing values; impute them with --missing auto, \
             mean or median",
            file.display()
        )));
    }
    if dropped > 0 {
        console.warn(&format!("{dropped} triplets were dropped with rows that have missing values"));
    }
    let report = check(&triplets, rows.len()).map_err(|e| e.in_file(file))?;
    let names = match &ids {
        Some(column) => rows.iter().map(|&row| column.cell(row).unwrap_or_default().into_owned()).collect(),
        None => rows.iter().map(|row| (row + origin).to_string()).collect(),
    };
    Ok(Input { loaded, triplets, lines, report, drawn: None, dropped, names })
}

/// The column of ids, which is not a feature.
fn column_of_ids<'a>(table: &'a Table, name: &str, args: &DesignArgs) -> Result<&'a Column, Failure> {
    if args.table.target.as_deref() == Some(name) {
        return Err(Failure::Input(format!("the column '{name}' cannot be both --ids and --target")));
    }
    if let Table::Sparse { .. } = table {
        return Err(Failure::Input(
            "--ids needs a table with a column of ids; sparse files have none, so give row numbers".into(),
        ));
    }
    table.column(name).map_err(|e| e.in_file(Path::new(&args.table.data)).into())
}
