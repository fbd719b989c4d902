//! Tables that read back, and messages for those that cannot be written.

use super::*;
use crate::context::Observer;
use crate::data::read::{ReadOptions, read_bytes, read_table};
use crate::data::table::Table;
use ndarray::{Array2, array};
use proptest::prelude::*;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn as_csv(names: &[&str], x: &Array2<f64>, extra: &[Column]) -> String {
    let mut out = vec![];
    write_table_to(&mut out, &strings(names), x.view(), extra, &WriteOptions::default(), &Context::default())
        .unwrap();
    String::from_utf8(out).unwrap()
}

fn columns(table: Table) -> Vec<Column> {
    match table {
        Table::Columns(columns) => columns,
        Table::Sparse { .. } => panic!("columns expected"),
    }
}

#[test]
fn csv_example() {
    let x = array![[1.0, 0.1], [f64::NAN, -0.0], [1e300, 2.5e-9]];
    let words = Column::text("w,1", [Some("a \"b\""), None, Some("c\nd")].into_iter());
    let text = as_csv(&["a", "b"], &x, &[words]);
    assert_eq!(text, "\"a\",\"b\",\"w,1\"\n1,0.1,\"a \"\"b\"\"\"\n,-0,\n1e300,2.5e-9,\"c\nd\"\n");
    let no_features = Array2::zeros((2, 0));
    let target = Column::numeric("target", vec![f64::NAN, 1.0]);
    assert_eq!(as_csv(&[], &no_features, &[target]), "target\n\"\"\n1\n");
}

#[test]
fn every_extension_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let x = array![[1.0, 0.1 + 0.2], [-3.0, 1e-300]];
    let extra = [Column::numeric("target", vec![0.0, 1.0])];
    for ending in ["csv", "tsv", "csv.gz", "TSV.GZ", "csv.zst", "parquet", "npy"] {
        let path = folder.path().join(format!("t.{ending}"));
        write_table(
            &path,
            &strings(&["x1", "x2"]),
            x.view(),
            &extra,
            &WriteOptions::default(),
            &Context::default(),
        )
        .unwrap();
        let read = columns(read_table(&path, &ReadOptions::default(), &Context::default()).unwrap().0);
        assert_eq!(read[1], Column::numeric("x2", vec![0.1 + 0.2, 1e-300]), "{ending}");
        assert_eq!(read[2].values, extra[0].values, "{ending}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_keeps_types_and_missing_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let n = 70_000;
    let x = Array2::from_shape_fn((n, 1), |(i, _)| if i == 3 { f64::NAN } else { i as f64 / 4.0 });
    let words = ["00501", "501", "é"];
    let text = Column::text("class", (0..n).map(|i| (i != 7).then(|| words[i % 3])));
    // Quarters of a day are exact in microseconds and in days.
    let days = (0..n).map(|i| if i == 5 { f64::NAN } else { i as f64 / 4.0 - 9000.0 }).collect();
    let extra = [Column { name: "day".into(), values: Values::Date(days) }, text];
    write_table(&path, &strings(&["x"]), x.view(), &extra, &WriteOptions::default(), &Context::default())
        .unwrap();
    let read = columns(read_table(&path, &ReadOptions::default(), &Context::default()).unwrap().0);
    assert_eq!(format!("{:?}", read[0]), format!("{:?}", Column::numeric("x", x.column(0).to_vec())));
    assert_eq!(
        format!("{:?}", read[1..].iter().collect::<Vec<_>>()),
        format!("{:?}", extra.iter().collect::<Vec<_>>())
    );
}

#[test]
fn npy_data_are_aligned_to_64_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    write_table(
        &path,
        &strings(&["a"]),
        array![[1.0], [2.0]].view(),
        &[],
        &WriteOptions::default(),
        &Context::default(),
    )
    .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 128 + 16);
    assert_eq!(&bytes[128..136], &1f64.to_le_bytes());
    assert_eq!(bytes[127], b'\n');
}

#[test]
fn messages_for_invalid_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let x = array![[1.0]];
    let message = |name: &str, names: &[&str], extra: &[Column]| {
        let written = write_table(
            &at(name),
            &strings(names),
            x.view(),
            extra,
            &WriteOptions::default(),
            &Context::default(),
        );
        let error = written.unwrap_err().to_string();
        error.replace(&format!("{}", folder.path().display()), "DIR")
    };
    let words = || [Column::text("color", [Some("red")].into_iter())];
    assert_eq!(
        message("t.xlsx", &["a"], &[]),
        "DIR/t.xlsx: cannot write files with this extension; \
         supported are .csv and .tsv (each also with .gz or .zst), .parquet and .npy"
    );
    assert_eq!(
        message("t.npy", &["a"], &words()),
        "DIR/t.npy: column 'color' is text, but .npy holds numbers only; write .csv instead"
    );
    assert_eq!(message("t.csv", &["a", "b"], &[]), "DIR/t.csv: column names: expected 1, got 2");
    assert_eq!(
        message("t.csv", &["color"], &words()),
        "DIR/t.csv: column 1 and column 2 are both named 'color'; rename one"
    );
    assert_eq!(
        message("no/t.csv", &["a"], &[]),
        "DIR/no/t.csv: the directory 'DIR/no' does not exist; create it first"
    );
    std::fs::create_dir(at("d.csv")).unwrap();
    assert_eq!(message("d.csv", &["a"], &[]), "DIR/d.csv: is a directory, not a file");
    for (name, extra) in [("t.xlsx", vec![]), ("t.npy", words().to_vec()), ("no/t.csv", vec![])] {
        let early = check_table(&at(name), &extra).unwrap_err().to_string();
        assert_eq!(
            early.replace(&format!("{}", folder.path().display()), "DIR"),
            message(name, &["a"], &extra)
        );
    }
    assert!(check_table(&at("d.csv"), &[]).is_err() && check_table(&at("new.npy"), &[]).is_ok());
    std::fs::write(at("file"), "").unwrap();
    assert_eq!(message("file/t.csv", &["a"], &[]), "DIR/file/t.csv: 'DIR/file' is not a directory");
    let nothing = Array2::zeros((1, 0));
    let error =
        write_table(&at("t.csv"), &[], nothing.view(), &[], &WriteOptions::default(), &Context::default())
            .unwrap_err()
            .to_string();
    assert!(error.ends_with("t.csv: there are no columns to write"));
    let remaining: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(remaining.len(), 2, "only what the test created: {remaining:?}");
}

/// Interrupts after some rows.
struct Stops(AtomicUsize);

impl Observer for Stops {
    fn progress(&self, stage: &str, done: usize, total: usize) {
        assert!(stage == "writing rows" && total == 5000 && done.is_multiple_of(REPORT_ROWS));
        self.0.store(done, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2 * REPORT_ROWS
    }
}

#[test]
fn an_interrupted_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let x = Array2::<f64>::ones((5000, 2));
    for name in ["t.csv", "t.tsv.gz", "t.npy"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "old").unwrap();
        let observer = Stops(AtomicUsize::new(0));
        let ctx = Context { observer: &observer, ..Context::default() };
        let error = write_table(&path, &strings(&["a", "b"]), x.view(), &[], &WriteOptions::default(), &ctx)
            .unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    let observer = Stops(AtomicUsize::new(0));
    let ctx = Context { observer: &observer, ..Context::default() };
    let error =
        write_table_to(&mut vec![], &strings(&["a", "b"]), x.view(), &[], &WriteOptions::default(), &ctx)
            .unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn a_closed_pipe_keeps_its_error_kind() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = write_table_to(
        &mut Closed,
        &strings(&["a"]),
        array![[1.0]].view(),
        &[],
        &WriteOptions::default(),
        &Context::default(),
    )
    .unwrap_err();
    assert!(matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::BrokenPipe));
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_map(|v| if v.is_finite() { v } else { f64::NAN }),
        (-1000i32..1000).prop_map(f64::from),
        Just(f64::NAN)
    ]
}

/// Text that is neither trimmed nor read as a number or a missing value.
fn word() -> impl Strategy<Value = Option<String>> {
    prop_oneof![4 => "[xyz][ ,;\"'\n\r\té#%a-z]{0,6}[xyz]".prop_map(Some), 1 => Just(None)]
}

proptest! {
    #[test]
    fn csv_reads_back_as_it_was(
        (d, cells, words) in (0usize..4, 1usize..8).prop_flat_map(|(d, n)| (
            Just(d),
            prop::collection::vec(number(), n * d),
            prop::collection::vec(word(), n),
        )),
        name in "[a-z;,\t\"' ]{0,5}[a-z]",
    ) {
        let n = words.len();
        let x = Array2::from_shape_vec((n, d), cells).unwrap();
        let names: Vec<String> = (0..d).map(|j| format!("{}{j}", name.trim_ascii())).collect();
        let extra = [Column::text("words", words.iter().map(|w| w.as_deref()))];
        for (ending, delimiter) in [("t.csv", b','), ("t.tsv", b'\t')] {
            let mut out = vec![];
            Output::new(&names, x.view(), &extra, &WriteOptions::default()).unwrap().write_text(delimiter, &mut out, &|_| Ok(())).unwrap();
            let read = columns(read_bytes(ending, &out, &ReadOptions::default(), &Context::default()).unwrap().0);
            for (j, column) in read[..d].iter().enumerate() {
                // Integers of 16 and 17 digits are read as text.
                let cells = column.numbers().unwrap();
                let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                prop_assert!(cells.iter().zip(x.column(j)).all(same));
                prop_assert_eq!(&column.name, &names[j]);
            }
            // A column of missing values only has no type; it is read as numbers.
            if words.iter().any(Option::is_some) {
                prop_assert_eq!(&read[d], &extra[0]);
            }
        }
    }
}

#[test]
fn formulas_are_guarded_on_request() {
    let names = strings(&["=a", "b"]);
    let texts = ["@sum", "-1+1", "+x", "a=b", "\tz"];
    let extra = [Column::text("-c", texts.into_iter().map(Some))];
    let x = Array2::from_shape_fn((5, 2), |(i, j)| (i * 2 + j) as f64 - 3.0);
    let written = |guard_formulas| {
        let mut out = vec![];
        let options = WriteOptions { guard_formulas };
        write_table_to(&mut out, &names, x.view(), &extra, &options, &Context::default()).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        written(true),
        "'=a,b,'-c\n-3,-2,'@sum\n-1,0,'-1+1\n1,2,'+x\n3,4,a=b\n5,6,'\tz\n",
        "negative numbers are not formulas"
    );
    assert_eq!(written(false), "=a,b,-c\n-3,-2,@sum\n-1,0,-1+1\n1,2,+x\n3,4,a=b\n5,6,\tz\n");
}
