//! Behavior common to all formats: names, compression, encodings, infinities; and no input makes a reader panic.

use super::{Format, ReadOptions, read_bytes, read_table};
use crate::context::Context;
use crate::data::table::Table;
use crate::error::Result;
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use std::io::Write;

fn read_as(name: &str, bytes: &[u8]) -> Result<(Table, Vec<String>)> {
    read_bytes(name, bytes, &ReadOptions::default(), &Context::default())
}

fn message(name: &str, bytes: &[u8]) -> String {
    read_as(name, bytes).unwrap_err().to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const ARFF: &str = "@relation r\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n@data\n1,x\n?,'y z'\n";
const ARFF_SPARSE: &str =
    "@attribute a numeric\n@attribute b numeric\n@attribute c {n,y}\n@data\n{0 1, 2 y}\n{}\n";
const SVM: &str = "1 1:0.5 7:2 # x\n-1 qid:3 2:1e-3\n";
const CSV: &str = "a,b,c\n1,2.5,x\n,NA,\"y, z\"\n-3,4e2,x\n";

fn npy() -> Vec<u8> {
    let mut bytes =
        b"\x93NUMPY\x01\x00\x3b\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }\n".to_vec();
    bytes[8] = (bytes.len() - 10) as u8;
    bytes.extend([1.0f64, 2.0].iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

fn npz() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    writer.start_file("X.npy", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&npy()).unwrap();
    writer.finish().unwrap().into_inner()
}

/// A valid file of each format.
fn examples() -> Vec<(&'static str, Vec<u8>)> {
    let examples = vec![
        ("t.csv", CSV.into()),
        ("t.tsv", CSV.replace(',', "\t").into()),
        ("t.txt", CSV.replace(',', "|").into()),
        ("t.csv.gz", gzip(CSV.as_bytes())),
        ("t.arff", ARFF.into()),
        ("t.arff", ARFF_SPARSE.into()),
        ("t.svm", SVM.into()),
        ("t.npy", npy()),
        ("t.npz", npz()),
    ];
    #[cfg(feature = "parquet")]
    let examples = {
        let mut examples = examples;
        examples.push(("t.parquet", super::parquet::tests::example(::parquet::basic::Compression::SNAPPY)));
        examples
    };
    #[cfg(all(feature = "arrow", feature = "xlsx", feature = "zstd"))]
    let examples = {
        let mut examples = examples;
        examples.push(("t.csv.zst", zstd::encode_all(CSV.as_bytes(), 3).unwrap()));
        examples.push(("t.arrow", super::arrow::tests::example(None)));
        examples
            .push(("t.feather", super::arrow::tests::example(Some(arrow_ipc::CompressionType::LZ4_FRAME))));
        examples.push(("t.xlsx", super::xlsx::tests::example()));
        examples
    };
    examples
}

#[test]
fn the_extension_selects_the_format() {
    for (name, bytes) in examples() {
        assert!(read_as(name, &bytes).is_ok(), "{name}");
        assert!(read_as(&name.to_uppercase(), &bytes).is_ok(), "{name}");
    }
    for name in ["a.libsvm", "a.svmlight", "a.b.SVM"] {
        assert!(read_as(name, SVM.as_bytes()).is_ok(), "{name}");
        assert!(read_as(&format!("{name}.gz"), &gzip(SVM.as_bytes())).is_ok(), "{name}");
    }
    assert!(read_as("a.arff.gz", &gzip(ARFF.as_bytes())).is_ok());
    for name in ["a.xls", "a", "csv", "a.data", "a.gz", "a.npy.gz", "a.parquet.gz", "a.xlsx.zst"] {
        assert_eq!(
            message(name, CSV.as_bytes()),
            format!(
                "{name}: cannot read files with this extension; supported are .csv, .tsv, .txt, .arff, .svm, \
                 .libsvm and .svmlight (each also with .gz or .zst), .parquet, .arrow, .feather, .xlsx, .npy and \
                 .npz; for other names, give the format"
            )
        );
    }
}

#[test]
fn a_given_format_replaces_the_extension() {
    let read = |name: &str, format: Format, bytes: &[u8]| {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        read_bytes(name, bytes, &options, &Context::default()).map(|(table, _)| table)
    };
    let expected = read_as("a.csv", CSV.as_bytes()).unwrap().0;
    let same = |table: Result<Table>| assert_eq!(format!("{:?}", table.unwrap()), format!("{expected:?}"));
    same(read("a", Format::Csv, CSV.as_bytes()));
    same(read("a.arff", Format::Csv, CSV.as_bytes()));
    same(read("a.dat", Format::Tsv, CSV.replace(',', "\t").replace("\t z", ", z").as_bytes()));
    // Compression is detected, unless the name says it.
    same(read("a.data", Format::Csv, &gzip(CSV.as_bytes())));
    same(read("a.data.gz", Format::Csv, &gzip(CSV.as_bytes())));
    same(read_as("-", CSV.as_bytes()).map(|(table, _)| table));
    same(read_as("-", &gzip(CSV.as_bytes())).map(|(table, _)| table));
    assert!(read("a.csv", Format::Npy, &npy()).is_ok());
}

#[test]
fn options_without_effect_are_refused() {
    let refused = |name: &str, options: ReadOptions| {
        read_bytes(name, b"x", &options, &Context::default()).unwrap_err().to_string()
    };
    let default = ReadOptions::default;
    assert_eq!(
        refused("a.arff", ReadOptions { separator: Some(b';'), ..default() }),
        "a.arff: a separator applies only to CSV and TSV files"
    );
    assert_eq!(
        refused("a.npy", ReadOptions { comment: Some(b'#'), ..default() }),
        "a.npy: a comment character applies only to CSV and TSV files"
    );
    assert_eq!(
        refused("a.svm", ReadOptions { transpose: true, ..default() }),
        "a.svm: transposing applies only to CSV, TSV and Excel files"
    );
    assert_eq!(
        refused("a.csv", ReadOptions { sheet: Some("s".into()), ..default() }),
        "a.csv: a sheet applies only to Excel files"
    );
    assert_eq!(
        refused("a.csv", ReadOptions { transpose: true, header: false, ..default() }),
        "a.csv: transposing needs a header with the ids of the samples"
    );
    for byte in [b'"', b'\n', 0xe9] {
        let message = refused("a.csv", ReadOptions { separator: Some(byte), ..default() });
        assert!(message.ends_with("cannot separate cells or start a comment"), "{message}");
    }
}

#[test]
fn binary_files_are_named() {
    let this_is =
        |kind: &str| format!("a.csv: this is {kind}, not text; correct the extension or give the format");
    assert_eq!(message("a.csv", b"PAR1\0\0"), this_is("a Parquet file"));
    assert_eq!(message("a.csv", b"ARROW1\0\0"), this_is("an Arrow file"));
    assert_eq!(message("a.csv", b"PK\x03\x04\0"), this_is("a zip archive such as .xlsx or .npz"));
    assert_eq!(
        message("a.csv", b"a,b\n1,2\n3,\x00\n"),
        "a.csv: line 3: there is a zero byte, so this is not text; check the extension or the end of the file"
    );
    assert_eq!(
        message("a.csv", b"\x28\xb5\x2f\xfd"),
        "a.csv: the file is zstd, but its name does not end in .zst; rename it"
    );
}

#[test]
fn large_cells() {
    let cell = "x".repeat(1 << 22);
    for text in [format!("a,b\n1,{cell}\n"), format!("\"a\",b\n1,\"{cell}\"\n")] {
        let (table, _) = read_as("a.csv", text.as_bytes()).unwrap();
        assert_eq!(table.n_rows(), 1);
        let ctx = Context { memory_limit: 3 << 20, ..Context::default() };
        let error = read_bytes("a.csv", text.as_bytes(), &ReadOptions::default(), &ctx).unwrap_err();
        assert!(error.to_string().contains("the limit is 3.0 MiB"), "{error}");
    }
    // A word that is shown is shortened.
    assert!(message("a.svm", format!("{cell}\n").as_bytes()).len() < 200);
}

#[test]
fn missing_files_and_directories() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str| {
        let path = folder.path().join(name);
        let message =
            read_table(&path, &ReadOptions::default(), &Context::default()).unwrap_err().to_string();
        message.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(message("none.csv"), "DIR/none.csv: no such file");
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    assert_eq!(message("d.csv"), "DIR/d.csv: is a directory, not a file");
    std::fs::write(folder.path().join("e.csv"), "").unwrap();
    assert_eq!(message("e.csv"), "DIR/e.csv: the file is empty");
    std::fs::write(folder.path().join("h.csv"), "a,b\n").unwrap();
    assert_eq!(message("h.csv"), "DIR/h.csv: the file has a header but no rows");
    std::fs::write(folder.path().join("t.doc"), "a,b\n").unwrap();
    assert!(message("t.doc").starts_with("DIR/t.doc: cannot read files with this extension"));
}

#[test]
fn a_file_and_its_bytes_give_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in examples() {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let from_file = read_table(&path, &ReadOptions::default(), &Context::default()).unwrap();
        assert_eq!(format!("{from_file:?}"), format!("{:?}", read_as(name, &bytes).unwrap()));
    }
}

#[test]
fn empty_files() {
    for name in ["a.csv", "a.csv.gz", "a.arff", "a.svm", "a.npy", "a.npz", "a.parquet"] {
        assert_eq!(message(name, b""), format!("{name}: the file is empty"));
    }
    assert_eq!(message("a.csv", b" \n\r\n"), "a.csv: the file is empty");
    assert_eq!(message("a.csv.gz", &gzip(b"")), "a.csv.gz: the file is empty");
}

#[test]
fn encodings() {
    let (table, _) = read_as("a.csv", b"\xef\xbb\xbfa,b\n1,2\n").unwrap();
    assert_eq!(table.names(), ["a", "b"]);
    for bytes in [&b"\xff\xfea\0,\0"[..], b"\xfe\xff\0a\0,"] {
        assert_eq!(message("a.csv", bytes), "a.csv: the text is UTF-16; save it as UTF-8");
    }
    let latin = b"name,x\nAnna,1\nJos\xe9,2\n";
    assert_eq!(message("a.csv", latin), "a.csv: line 3: the text is not UTF-8; save it as UTF-8");
    assert_eq!(message("a.svm", b"1 1:\xff\n"), "a.svm: line 1: the text is not UTF-8; save it as UTF-8");
    assert_eq!(
        message("a.csv", &gzip(CSV.as_bytes())),
        "a.csv: the file is gzip, but its name does not end in .gz; rename it"
    );
    assert_eq!(
        message("a.csv.gz", CSV.as_bytes()),
        "a.csv.gz: the name ends in .gz, but the file is not gzip; rename it"
    );
}

#[test]
fn infinities_are_refused_in_sparse_tables_only() {
    for text in ["inf", "-inf", "Infinity", "1e999"] {
        let (table, _) = read_as("a.csv", format!("a,b\n1,2\n3,{text}\n").as_bytes()).unwrap();
        let Table::Columns(columns) = table else { panic!("columns expected") };
        assert!(columns[1].numbers().unwrap()[1].is_infinite(), "{text}");
    }
    let end = "is not a finite number. Correct the value or remove the row.";
    assert_eq!(message("a.svm", b"1 1:1\n2 3:inf\n"), format!("a.svm: row 2, column 'f3': inf {end}"));
    // Among words, "inf" is a word.
    assert!(read_as("a.csv", b"a\ninf\nsup\n").is_ok());
}

#[test]
fn a_table_may_have_only_a_target() {
    let (table, warnings) = read_as("a.csv", b"target\n1\n0\n").unwrap();
    assert_eq!((table.names(), table.n_rows(), warnings.len()), (vec!["target"], 2, 0));
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for (name, _) in examples() {
            let _ = read_as(name, &bytes);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "([@{}'\"?%#:;,.0-9a-e\\\\ \t\r\n]|@data\n|@attribute a |numeric\n|inf){0,120}") {
        for name in ["t.csv", "t.tsv", "t.arff", "t.svm"] {
            let _ = read_as(name, text.as_bytes());
        }
        let options = ReadOptions { transpose: true, na_values: vec!["1".into()], ..ReadOptions::default() };
        let _ = read_bytes("t.csv", text.as_bytes(), &options, &Context::default());
        let options = ReadOptions { comment: Some(b'#'), ..ReadOptions::default() };
        let _ = read_bytes("t.csv", text.as_bytes(), &options, &Context::default());
        let _ = read_as("t.arff", format!("@attribute a numeric\n@attribute b {{x,y}}\n@data\n{text}").as_bytes());
        let _ = read_bytes("t.csv", text.as_bytes(), &ReadOptions { header: false, ..ReadOptions::default() }, &Context::default());
    }

    #[test]
    fn no_damage_makes_a_reader_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        for (name, mut bytes) in examples() {
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            if cut {
                bytes.truncate(end.index(bytes.len()));
            }
            let _ = read_as(name, &bytes);
        }
    }
}
