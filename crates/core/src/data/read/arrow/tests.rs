//! Files written by the arrow-ipc crate.

use super::*;
use crate::data::table::Values;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};

const LIMIT: u64 = 1 << 30;

fn file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(vec![], &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

pub(in crate::data::read) fn example(compression: Option<CompressionType>) -> Vec<u8> {
    let categories = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(2), None, Some(0)]),
        Arc::new(StringArray::from(vec!["low", "medium", "high"])),
    );
    let batch = batch(vec![
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("small", Arc::new(Int8Array::from(vec![Some(-5), None, Some(7)]))),
        ("huge", Arc::new(UInt64Array::from(vec![9_007_199_254_740_993, 2, 3]))),
        ("exact", Arc::new(Int64Array::from(vec![9_007_199_254_740_992, -1, 3]))),
        ("f", Arc::new(Float32Array::from(vec![0.5, 0.1, -1.0]))),
        ("d", Arc::new(Float64Array::from(vec![0.1, f64::NAN, 1e300]))),
        (
            "amount",
            Arc::new(Decimal128Array::from(vec![1999, -5, 0]).with_precision_and_scale(9, 2).unwrap()),
        ),
        ("word", Arc::new(StringArray::from(vec![Some("red"), None, Some("blue")]))),
        (
            "view",
            Arc::new(StringViewArray::from(vec!["00501", "501", "a text that is longer than twelve bytes"])),
        ),
        ("size", Arc::new(categories)),
        ("day", Arc::new(Date32Array::from(vec![Some(19_782), None, Some(-1)]))),
        ("time", Arc::new(TimestampMillisecondArray::from(vec![43_200_000, 0, -21_600_000]))),
        ("none", Arc::new(NullArray::new(3))),
        ("__index_level_0__", Arc::new(Int64Array::from(vec![0, 1, 2]))),
    ]);
    file(&[batch.clone(), batch], compression)
}

#[test]
fn all_types_with_all_compressions() {
    let nan = f64::NAN;
    let numbers = |name: &str, cells: [f64; 3]| Column::numeric(name, [cells, cells].concat());
    let dates = |name: &str, cells: [f64; 3]| Column {
        name: name.into(),
        values: Values::Date([cells, cells].concat()),
    };
    let texts =
        |name: &str, cells: [Option<&str>; 3]| Column::text(name, [cells, cells].concat().into_iter());
    let missing = crate::data::table::MISSING;
    let expected = vec![
        texts("flag", [Some("true"), Some("false"), None]),
        numbers("small", [-5.0, nan, 7.0]),
        texts("huge", [Some("9007199254740993"), Some("2"), Some("3")]),
        numbers("exact", [9_007_199_254_740_992.0, -1.0, 3.0]),
        numbers("f", [0.5, f64::from(0.1f32), -1.0]),
        numbers("d", [0.1, nan, 1e300]),
        numbers("amount", [19.99, -0.05, 0.0]),
        texts("word", [Some("red"), None, Some("blue")]),
        texts("view", [Some("00501"), Some("501"), Some("a text that is longer than twelve bytes")]),
        Column {
            name: "size".into(),
            values: Values::Text {
                codes: vec![1, missing, 0, 1, missing, 0],
                levels: vec!["low".into(), "high".into()],
            },
        },
        dates("day", [19_782.0, nan, -1.0]),
        dates("time", [0.5, 0.0, -0.25]),
        numbers("none", [nan; 3]),
    ];
    for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let mut warnings = vec![];
        let table = read(&example(compression), LIMIT, &mut warnings, &Context::default()).unwrap();
        assert_eq!(
            format!("{table:?}"),
            format!("{:?}", Table::Columns(expected.clone())),
            "{compression:?}"
        );
        assert_eq!(warnings, ["skipped the column '__index_level_0__', an index stored by pandas"]);
    }
}

fn message(bytes: &[u8], limit: u64) -> String {
    read(bytes, limit, &mut vec![], &Context::default()).unwrap_err().to_string()
}

#[test]
fn columns_of_unsupported_types_are_kept_with_the_reason() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let number = Arc::new(Float64Array::from(vec![0.5]));
    let bytes = file(&[batch(vec![("w", Arc::new(list)), ("x", number)])], None);
    let Table::Columns(columns) = read(&bytes, LIMIT, &mut vec![], &Context::default()).unwrap() else {
        panic!("columns expected")
    };
    let Values::Unsupported { rows: 1, why } = &columns[0].values else { panic!("{:?}", columns[0]) };
    assert!(why.starts_with("the type List(") && why.ends_with("is not supported"), "{why}");
    assert_eq!(columns[1], Column::numeric("x", vec![0.5]));
}

#[test]
fn times_durations_and_dictionaries_of_integers() {
    let levels = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![Some(1), None]),
        Arc::new(Int64Array::from(vec![7, -3])),
    );
    let bytes = file(
        &[batch(vec![
            ("time", Arc::new(Time64NanosecondArray::from(vec![43_200_000_000_000, 0]))),
            ("second", Arc::new(Time32SecondArray::from(vec![Some(21_600), None]))),
            ("took", Arc::new(DurationMillisecondArray::from(vec![1500, -500]))),
            ("level", Arc::new(levels)),
        ])],
        None,
    );
    let Table::Columns(columns) = read(&bytes, LIMIT, &mut vec![], &Context::default()).unwrap() else {
        panic!("columns expected")
    };
    assert_eq!(columns[0].values, Values::Date(vec![0.5, 0.0]));
    assert!(columns[1].cell(0).is_some() && columns[1].is_missing(1));
    assert_eq!(columns[2], Column::numeric("took", vec![1.5, -0.5]));
    assert_eq!(columns[3], Column::text("level", [Some("-3"), None].into_iter()));
}

#[test]
fn wrong_files_are_explained() {
    let start = "not an Arrow file, or a damaged one (";
    assert!(message(b"a,b\n1,2\n", LIMIT).starts_with(start));
    assert!(message(b"FEA1 and more", LIMIT).starts_with("this is version 1 of the Feather format"));
    let complete = example(Some(CompressionType::ZSTD));
    for end in (0..complete.len()).step_by(37) {
        assert!(message(&complete[..end], LIMIT).starts_with(start), "{end}");
    }
    let none = batch(vec![("a", Arc::new(Float64Array::from(Vec::<f64>::new())))]);
    assert_eq!(message(&file(&[none], None), LIMIT), "the file has columns but no rows");
}

#[test]
fn memory_is_limited() {
    let zeros = batch(vec![("a", Arc::new(Float64Array::from(vec![0.0; 100_000])))]);
    let packed = file(&[zeros], Some(CompressionType::ZSTD));
    assert!(packed.len() < 10_000);
    let text = message(&packed, 500_000);
    assert!(text.starts_with("the decompressed file needs about 781.2 KiB of memory"), "{text}");
}

#[test]
fn changed_bytes_do_not_make_it_panic() {
    for compression in [None, Some(CompressionType::LZ4_FRAME)] {
        let complete = example(compression);
        // The reader is built without optimization; the fuzzer changes every byte.
        for place in (0..complete.len()).step_by(5) {
            let mut bytes = complete.clone();
            bytes[place] ^= [0x01, 0x80, 0xff][place % 3];
            // Some changes cannot be detected; reading must only not panic.
            let _ = read(&bytes, LIMIT, &mut vec![], &Context::default());
        }
    }
}
