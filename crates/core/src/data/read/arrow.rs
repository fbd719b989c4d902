//! Arrow IPC files, also known as Feather version 2, with flat columns.
//!
//! A batch of rows is decoded at a time. The order of the levels of dictionary-encoded text, such as a categorical column
//! of pandas, is that of the dictionary; levels that do not occur are dropped.

mod blocks;
mod cells;

use self::blocks::{Blocks, damaged};
use self::cells::{Cells, Meaning};
use crate::context::{Context, need_room};
use crate::data::read::names::unique_names;
use crate::data::table::{Column, Table, Values};
use crate::error::{Error, Result, shorten};
use arrow_ipc::reader::FileDecoder;
use arrow_schema::Schema;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Reads a table; warns about an index stored by pandas, which is skipped.
pub(super) fn read(bytes: &[u8], limit: u64, warnings: &mut Vec<String>, ctx: &Context) -> Result<Table> {
    // The crate panics on some damaged files. It shares no state with our code.
    catch_unwind(AssertUnwindSafe(|| read_file(bytes, limit, warnings, ctx)))
        .unwrap_or_else(|_| Err(damaged("its parts are inconsistent")))
}

/// A column to read: its place in the file, its name and its meaning.
struct Planned {
    place: usize,
    name: String,
    meaning: Meaning,
}

fn read_file(bytes: &[u8], limit: u64, warnings: &mut Vec<String>, ctx: &Context) -> Result<Table> {
    if bytes.starts_with(b"FEA1") {
        let why =
            "this is version 1 of the Feather format; write it again with version 2 (pandas: to_feather)";
        return Err(Error::parse(why));
    }
    let blocks = Blocks::new(bytes)?;
    let (mut plan, skipped) = plan(&blocks.schema, warnings);
    let rows = check_size(&blocks, plan.len() + skipped.len(), limit)?;
    let mut columns = read_columns(&blocks, &plan, ctx)?;
    if columns.iter().any(Cells::is_inexact) {
        // Integers that a number cannot hold are read again, as text.
        let inexact = plan.iter_mut().zip(&columns).filter(|(_, cells)| cells.is_inexact());
        inexact.for_each(|(column, _)| column.meaning = Meaning::IntegerText);
        columns = read_columns(&blocks, &plan, ctx)?;
    }
    let named = plan.into_iter().zip(columns);
    let mut all: Vec<(usize, Column)> =
        named.map(|(column, cells)| (column.place, cells.into_column(column.name))).collect();
    all.extend(skipped.into_iter().map(|Skipped { place, name, why }| {
        (place, Column { name, values: Values::Unsupported { rows: rows as usize, why } })
    }));
    all.sort_by_key(|(place, _)| *place);
    Table::new(all.into_iter().map(|(_, column)| column).collect())
}

/// A column of a type that is not supported.
struct Skipped {
    place: usize,
    name: String,
    why: String,
}

fn plan(schema: &Schema, warnings: &mut Vec<String>) -> (Vec<Planned>, Vec<Skipped>) {
    let (mut plan, mut skipped) = (vec![], vec![]);
    let mut names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    unique_names(&mut names, warnings);
    for (place, (field, name)) in schema.fields().iter().zip(names).enumerate() {
        // The unnamed index of pandas: row numbers, not a feature.
        if name.starts_with("__index_level_") {
            warnings.push(format!("skipped the column '{}', an index stored by pandas", shorten(&name)));
            continue;
        }
        match Meaning::of(field.data_type()) {
            Some(meaning) => plan.push(Planned { place, name, meaning }),
            None => {
                let why = format!("the type {} is not supported", shorten(&field.data_type().to_string()));
                skipped.push(Skipped { place, name, why });
            }
        }
    }
    (plan, skipped)
}

/// The number of rows. Runs of equal cells compress to almost nothing, so the size of the file limits nothing.
fn check_size(blocks: &Blocks, columns: usize, limit: u64) -> Result<u64> {
    if columns == 0 {
        return Err(Error::parse("the file has no columns"));
    }
    let (rows, unpacked) = blocks.sizes()?;
    if rows == 0 {
        return Err(Error::parse("the file has columns but no rows"));
    }
    let advice = "check the file, split it, or raise the memory limit";
    need_room("the decompressed file", unpacked as f64, limit, advice)?;
    let what = format!("a table of {rows} rows and {columns} columns");
    need_room(what, rows as f64 * columns as f64 * 8.0, limit, advice)?;
    Ok(rows)
}

fn read_columns(blocks: &Blocks, plan: &[Planned], ctx: &Context) -> Result<Vec<Cells>> {
    let mut columns: Vec<Cells> = plan.iter().map(|column| Cells::new(column.meaning)).collect();
    let schema = Arc::new(blocks.schema.clone());
    let places = plan.iter().map(|column| column.place).collect();
    let mut decoder = FileDecoder::new(schema, blocks.version).with_projection(places);
    for block in &blocks.dictionaries {
        let data = blocks.bytes_of(block)?.to_vec().into();
        decoder.read_dictionary(block, &data).map_err(damaged)?;
    }
    for (done, block) in blocks.batches.iter().enumerate() {
        ctx.step("reading batches", done, blocks.batches.len())?;
        let data = blocks.bytes_of(block)?.to_vec().into();
        let Some(batch) = decoder.read_record_batch(block, &data).map_err(damaged)? else { continue };
        for ((cells, array), column) in columns.iter_mut().zip(batch.columns()).zip(plan) {
            let pushed = cells.push(array.as_ref());
            pushed.map_err(|e| Error::parse(format!("column '{}': {e}", shorten(&column.name))))?;
        }
    }
    Ok(columns)
}

#[cfg(test)]
pub(super) mod tests;
