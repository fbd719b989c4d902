//! Write tables as Parquet: numbers as DOUBLE, text as strings with a dictionary, dates as timestamps in microseconds.
//! Missing values are null.

use super::output::Output;
use crate::data::table::{MISSING, Values};
use ::parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows in a row group.
const GROUP_ROWS: usize = 1 << 16;

/// Microseconds in a day.
const DAY: f64 = 86_400e6;

type Group<'a> = SerializedRowGroupWriter<'a, Buffer>;

/// Writes a table in row groups; calls `report` with the number of rows written.
pub(super) fn write(
    table: &Output,
    out: &mut dyn Write,
    report: &dyn Fn(usize) -> io::Result<()>,
) -> io::Result<()> {
    let buffer = Buffer::default();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let schema = Arc::new(schema(table).map_err(io::Error::other)?);
    let mut writer =
        SerializedFileWriter::new(buffer.clone(), schema, Arc::new(properties)).map_err(io::Error::other)?;
    for start in (0..table.rows).step_by(GROUP_ROWS) {
        report(start)?;
        let mut group = writer.next_row_group().map_err(io::Error::other)?;
        write_group(table, start..table.rows.min(start + GROUP_ROWS), &mut group)
            .map_err(io::Error::other)?;
        group.close().map_err(io::Error::other)?;
        buffer.drain_to(out)?;
    }
    writer.close().map_err(io::Error::other)?;
    buffer.drain_to(out)
}

/// Bytes on the way to the file. The crate wants a writer of its own, which can be sent to a thread.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn drain_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        out.write_all(&bytes)
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn schema(table: &Output) -> Result<Type, ParquetError> {
    let timestamp = LogicalType::timestamp(false, TimeUnit::MICROS);
    let extra = table.extra.iter().map(|column| match column.values {
        Values::Numeric(_) => (Physical::DOUBLE, None),
        Values::Text { .. } | Values::Unsupported { .. } => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Date(_) => (Physical::INT64, Some(timestamp.clone())),
    });
    let types = std::iter::repeat_n((Physical::DOUBLE, None), table.x.ncols()).chain(extra);
    let fields = table.names.iter().zip(types).map(|(name, (physical, logical))| {
        let name = table.text(name);
        let field = Type::primitive_type_builder(&name, physical).with_repetition(Repetition::OPTIONAL);
        field.with_logical_type(logical).build().map(Arc::new)
    });
    Type::group_type_builder("table").with_fields(fields.collect::<Result<_, _>>()?).build()
}

fn write_group(table: &Output, rows: Range<usize>, group: &mut Group) -> Result<(), ParquetError> {
    let number = |value: f64| (!value.is_nan()).then_some(value);
    for column in table.x.columns() {
        write_column::<DoubleType>(group, rows.clone().map(|i| number(column[i])))?;
    }
    for column in table.extra {
        match &column.values {
            Values::Numeric(cells) => {
                write_column::<DoubleType>(group, rows.clone().map(|i| number(cells[i])))?;
            }
            Values::Date(cells) => {
                let microseconds = |days: f64| (days * DAY).round() as i64;
                write_column::<Int64Type>(group, rows.clone().map(|i| number(cells[i]).map(microseconds)))?;
            }
            Values::Unsupported { .. } => {
                write_column::<ByteArrayType>(group, rows.clone().map(|_| None))?;
            }
            Values::Text { codes, levels } => {
                let texts: Vec<ByteArray> =
                    levels.iter().map(|text| ByteArray::from(table.text(text).as_bytes().to_vec())).collect();
                let text = |code: u32| (code != MISSING).then(|| texts[code as usize].clone());
                write_column::<ByteArrayType>(group, rows.clone().map(|i| text(codes[i])))?;
            }
        }
    }
    Ok(())
}

/// Writes the cells of a column, `None` for null.
fn write_column<T: DataType>(
    group: &mut Group,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (vec![], vec![]);
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}
