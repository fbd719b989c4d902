//! Files written by the parquet crate.

use super::*;
use ::parquet::basic::{Compression, GzipLevel, ZstdLevel};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
    Int96Type,
};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use std::sync::Arc;

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

const LIMIT: u64 = 1 << 30;

fn file(schema: &str, compression: Compression, groups: usize, fill: impl Fn(&mut Group)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = SerializedFileWriter::new(vec![], schema, Arc::new(properties)).unwrap();
    for _ in 0..groups {
        let mut group = writer.next_row_group().unwrap();
        fill(&mut group);
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

fn put<T: DataType>(group: &mut Group, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

pub(in crate::data::read) fn example(compression: Compression) -> Vec<u8> {
    let schema = "message table {
        required boolean flag; optional int32 small; required int32 unsigned (INTEGER(32, false));
        required int64 large; required int64 huge (INTEGER(64, false)); required int32 amount (DECIMAL(9, 2));
        optional float f; required double d; optional binary word (STRING); required binary raw;
        required int64 __index_level_0__;
    }";
    file(schema, compression, 2, |group| {
        put::<BoolType>(group, &[true, false, true], None);
        put::<Int32Type>(group, &[-5, 7], Some(&[1, 0, 1]));
        put::<Int32Type>(group, &[-1, 2, 3], None);
        put::<Int64Type>(group, &[-1, 1 << 40, 3], None);
        put::<Int64Type>(group, &[-1, 2, 3], None);
        put::<Int32Type>(group, &[1999, -5, 0], None);
        put::<FloatType>(group, &[0.5, 0.1], Some(&[0, 1, 1]));
        put::<DoubleType>(group, &[0.1, -2.5, 1e300], None);
        put::<ByteArrayType>(group, &["red", "blue"].map(ByteArray::from), Some(&[1, 1, 0]));
        put::<ByteArrayType>(group, &["x", "y", "x"].map(ByteArray::from), None);
        put::<Int64Type>(group, &[0, 1, 2], None);
    })
}

/// Two columns of numbers in row groups of these sizes.
pub(in crate::data::read) fn written(groups: &[usize]) -> Vec<u8> {
    let schema =
        Arc::new(parse_message_type("message table { required double a; optional double b; }").unwrap());
    let mut writer = SerializedFileWriter::new(vec![], schema, Default::default()).unwrap();
    let mut first = 0;
    for &rows in groups {
        let cells = |step: f64| -> Vec<f64> { (first..first + rows).map(|i| i as f64 * step).collect() };
        let mut group = writer.next_row_group().unwrap();
        put::<DoubleType>(&mut group, &cells(1.0), None);
        put::<DoubleType>(&mut group, &cells(0.25), Some(&vec![1; rows]));
        group.close().unwrap();
        first += rows;
    }
    writer.into_inner().unwrap()
}

#[test]
fn all_types_with_all_compressions() {
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
    ];
    for compression in compressions {
        let mut warnings = vec![];
        let table = read(in_memory(example(compression)), LIMIT, &mut warnings, &Context::default()).unwrap();
        assert_eq!(warnings, ["skipped the column '__index_level_0__', an index stored by pandas"]);
        // Compared as text, because NaN differs from itself.
        let twice = |cells: [f64; 3]| [cells, cells].concat();
        let nan = f64::NAN;
        let words = [Some("red"), Some("blue"), None, Some("red"), Some("blue"), None];
        let huge = ["18446744073709551615", "2", "3", "18446744073709551615", "2", "3"];
        let raw = [Some("x"), Some("y"), Some("x"), Some("x"), Some("y"), Some("x")];
        let expected = Table::Columns(vec![
            Column::text("flag", ["true", "false", "true", "true", "false", "true"].map(Some).into_iter()),
            Column::numeric("small", twice([-5.0, nan, 7.0])),
            Column::numeric("unsigned", twice([4294967295.0, 2.0, 3.0])),
            Column::numeric("large", twice([-1.0, (1i64 << 40) as f64, 3.0])),
            Column::text("huge", huge.map(Some).into_iter()),
            Column::numeric("amount", twice([19.99, -0.05, 0.0])),
            Column::numeric("f", twice([nan, 0.5, f64::from(0.1f32)])),
            Column::numeric("d", twice([0.1, -2.5, 1e300])),
            Column::text("word", words.into_iter()),
            Column::text("raw", raw.into_iter()),
        ]);
        assert_eq!(format!("{table:?}"), format!("{expected:?}"), "{compression:?}");
    }
}

#[test]
fn more_rows_than_a_batch() {
    let values: Vec<f64> = (0..3 * BATCH as i64 + 5).map(|v| (v % 1000) as f64).collect();
    let bytes = file("message t { required double a; }", Compression::SNAPPY, 1, |group| {
        put::<DoubleType>(group, &values, None);
    });
    assert_eq!(
        read(in_memory(bytes.clone()), LIMIT, &mut vec![], &Context::default()).unwrap(),
        Table::Columns(vec![Column::numeric("a", values.clone())])
    );
}

fn message(schema: &str, fill: impl Fn(&mut Group)) -> String {
    read(in_memory(file(schema, Compression::UNCOMPRESSED, 1, fill)), LIMIT, &mut vec![], &Context::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn dates_and_times() {
    let schema = "message t {
        required int32 day (DATE); optional int64 ms (TIMESTAMP(MILLIS, true)); required int64 us (TIMESTAMP_MICROS);
        required int64 ns (TIMESTAMP(NANOS, false)); required int96 old;
    }";
    let bytes = file(schema, Compression::SNAPPY, 1, |group| {
        put::<Int32Type>(group, &[19_782, -1], None);
        put::<Int64Type>(group, &[43_200_000], Some(&[1, 0]));
        put::<Int64Type>(group, &[0, -21_600_000_000], None);
        put::<Int64Type>(group, &[86_400_000_000_000, 0], None);
        let mut noon = Int96::new();
        // Noon in nanoseconds, in two words, on the day after 1970-01-01.
        noon.set_data(
            (43_200_000_000_000u64 & 0xffff_ffff) as u32,
            (43_200_000_000_000u64 >> 32) as u32,
            2_440_589,
        );
        put::<Int96Type>(group, &[noon, noon], None);
    });
    let dates =
        |name: &str, days: [f64; 2]| Column { name: name.into(), values: Values::Date(days.to_vec()) };
    let expected = Table::Columns(vec![
        dates("day", [19_782.0, -1.0]),
        dates("ms", [0.5, f64::NAN]),
        dates("us", [0.0, -0.25]),
        dates("ns", [1.0, 0.0]),
        dates("old", [1.5, 1.5]),
    ]);
    let table = read(in_memory(bytes.clone()), LIMIT, &mut vec![], &Context::default()).unwrap();
    assert_eq!(format!("{table:?}"), format!("{expected:?}"));
}

fn columns(schema: &str, fill: impl Fn(&mut Group)) -> Vec<Column> {
    let bytes = file(schema, Compression::UNCOMPRESSED, 1, fill);
    match read(in_memory(bytes), LIMIT, &mut vec![], &Context::default()).unwrap() {
        Table::Columns(columns) => columns,
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

#[test]
fn columns_of_unsupported_types_are_kept_with_the_reason() {
    let schema = "message t {
        required fixed_len_byte_array(2) raw; required group w { required int32 a; required int32 b; }
        repeated int32 list; required binary bytes; required double x;
    }";
    let columns = columns(schema, |group| {
        put::<FixedLenByteArrayType>(group, &[ByteArray::from("ab").into()], None);
        put::<Int32Type>(group, &[1], None);
        put::<Int32Type>(group, &[2], None);
        let mut list = group.next_column().unwrap().unwrap();
        list.typed::<Int32Type>().write_batch(&[1, 2], Some(&[1, 1]), Some(&[0, 1])).unwrap();
        list.close().unwrap();
        put::<ByteArrayType>(group, &[ByteArray::from(vec![0xff, 0xfe])], None);
        put::<DoubleType>(group, &[0.5], None);
    });
    let unsupported = |name: &str, why: &str| Column {
        name: name.into(),
        values: Values::Unsupported { rows: 1, why: why.into() },
    };
    let expected = [
        unsupported("raw", "the type FIXED_LEN_BYTE_ARRAY is not supported"),
        unsupported("w", "nested cells are not supported"),
        unsupported("list", "nested cells are not supported"),
        unsupported("bytes", "the cells are bytes, not text"),
        Column::numeric("x", vec![0.5]),
    ];
    assert_eq!(columns, expected);
}

#[test]
fn times_and_decimals() {
    let schema = "message t {
        required int64 us (TIME(MICROS, true)); required int32 ms (TIME_MILLIS);
        required binary large (DECIMAL(30, 2)); required fixed_len_byte_array(2) fixed (DECIMAL(4, 1));
    }";
    let columns = columns(schema, |group| {
        put::<Int64Type>(group, &[43_200_000_000, 0], None);
        put::<Int32Type>(group, &[21_600_000, 0], None);
        put::<ByteArrayType>(group, &[vec![0x07, 0xcf], vec![0xff]].map(ByteArray::from), None);
        let cells = [vec![0x00, 0x0f], vec![0xff, 0xf1]].map(|cell| ByteArray::from(cell).into());
        put::<FixedLenByteArrayType>(group, &cells, None);
    });
    assert_eq!(columns[0].values, Values::Date(vec![0.5, 0.0]));
    assert_eq!(columns[1].values, Values::Date(vec![0.25, 0.0]));
    assert_eq!(columns[2], Column::numeric("large", vec![19.99, -0.01]));
    assert_eq!(columns[3], Column::numeric("fixed", vec![1.5, -1.5]));
}

#[test]
fn tables_without_rows_or_columns() {
    let none = file("message t { required double a; }", Compression::UNCOMPRESSED, 0, |_| {});
    assert_eq!(
        read(in_memory(none), LIMIT, &mut vec![], &Context::default()).unwrap_err().to_string(),
        "the file has columns but no rows"
    );
    assert_eq!(
        message("message t { required int32 __index_level_0__; }", |group| put::<Int32Type>(
            group,
            &[1],
            None
        )),
        "the file has no columns"
    );
}

#[test]
fn truncated_files_are_errors() {
    let error_of = |bytes: &[u8]| {
        read(in_memory(bytes.to_vec()), LIMIT, &mut vec![], &Context::default()).unwrap_err().to_string()
    };
    let complete = example(Compression::SNAPPY);
    assert!(error_of(b"a,b\n1,2\n").starts_with("not a Parquet file, or a damaged one ("));
    for end in (0..complete.len()).step_by(37) {
        let message = error_of(&complete[..end]);
        assert!(message.starts_with("not a Parquet file, or a damaged one ("), "{message}");
    }
}

#[test]
fn no_changed_byte_makes_it_panic() {
    for compression in [Compression::UNCOMPRESSED, Compression::ZSTD(ZstdLevel::default())] {
        let complete = example(compression);
        for place in 0..complete.len() {
            let mut bytes = complete.clone();
            bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
            // Some changes cannot be detected; reading must only not panic.
            let _ = read(in_memory(bytes.clone()), LIMIT, &mut vec![], &Context::default());
        }
    }
}
