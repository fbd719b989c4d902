//! Arrays built byte by byte.

use super::*;
use std::io::Write;
use zip::write::SimpleFileOptions;

const LIMIT: u64 = 1 << 30;

fn read_npy(bytes: &[u8]) -> Result<Table> {
    super::read_npy(bytes, LIMIT)
}

fn read_npz(bytes: &[u8]) -> Result<Table> {
    super::read_npz(bytes, LIMIT)
}

fn npy(version: u8, descr: &str, fortran: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    if version == 1 {
        bytes.extend((header.len() as u16).to_le_bytes());
    } else {
        bytes.extend((header.len() as u32).to_le_bytes());
    }
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    bytes
}

fn f8(shape: &str, numbers: &[f64]) -> Vec<u8> {
    npy(1, "'<f8'", "False", shape, &numbers.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn table(columns: &[(&str, &[f64])]) -> Table {
    Table::new(columns.iter().map(|(name, cells)| Column::numeric(*name, cells.to_vec())).collect()).unwrap()
}

fn message(bytes: &[u8]) -> String {
    read_npy(bytes).unwrap_err().to_string()
}

#[test]
fn both_orders_and_all_versions() {
    let expected = table(&[("x1", &[1.0, 2.0]), ("x2", &[3.0, 4.0]), ("x3", &[5.0, 6.0])]);
    let rows: Vec<u8> = [1.0f64, 3.0, 5.0, 2.0, 4.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let columns: Vec<u8> = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    for version in 1..=3 {
        assert_eq!(read_npy(&npy(version, "'<f8'", "False", "(2, 3)", &rows)).unwrap(), expected);
        assert_eq!(read_npy(&npy(version, "'<f8'", "True", "(2, 3)", &columns)).unwrap(), expected);
    }
    assert_eq!(read_npy(&f8("(2,)", &[7.0, 8.0])).unwrap(), table(&[("x1", &[7.0, 8.0])]));
}

#[test]
fn every_kind_of_number() {
    let cases: [(&str, Vec<u8>, [f64; 2]); 14] = [
        ("'|b1'", vec![1, 0], [1.0, 0.0]),
        ("'|i1'", vec![0xff, 5], [-1.0, 5.0]),
        ("'|u1'", vec![0xff, 5], [255.0, 5.0]),
        ("'<i2'", vec![0xfe, 0xff, 1, 2], [-2.0, 513.0]),
        ("'>i2'", vec![0xff, 0xfe, 1, 2], [-2.0, 258.0]),
        ("'<u2'", vec![0xfe, 0xff, 1, 0], [65534.0, 1.0]),
        ("'<i4'", [(-7i32).to_le_bytes(), 9i32.to_le_bytes()].concat(), [-7.0, 9.0]),
        ("'>u4'", [u32::MAX.to_be_bytes(), 9u32.to_be_bytes()].concat(), [4294967295.0, 9.0]),
        ("'<i8'", [(-7i64).to_le_bytes(), (1i64 << 40).to_le_bytes()].concat(), [-7.0, (1i64 << 40) as f64]),
        ("'>i8'", [(-7i64).to_be_bytes(), 3i64.to_be_bytes()].concat(), [-7.0, 3.0]),
        ("'<u8'", [u64::MAX.to_le_bytes(), 3u64.to_le_bytes()].concat(), [u64::MAX as f64, 3.0]),
        ("'<f4'", [0.1f32.to_le_bytes(), (-2.5f32).to_le_bytes()].concat(), [f64::from(0.1f32), -2.5]),
        ("'>f4'", [0.1f32.to_be_bytes(), (-2.5f32).to_be_bytes()].concat(), [f64::from(0.1f32), -2.5]),
        ("'>f8'", [0.1f64.to_be_bytes(), (-2.5f64).to_be_bytes()].concat(), [0.1, -2.5]),
    ];
    for (descr, bytes, expected) in cases {
        let read = read_npy(&npy(1, descr, "False", "(2,)", &bytes)).unwrap();
        assert_eq!(read, table(&[("x1", &expected)]), "{descr}");
    }
}

#[test]
fn messages_for_arrays_that_are_not_numeric_tables() {
    assert_eq!(message(b"a,b\n1,2\n"), "not a NumPy array: it does not start with \\x93NUMPY");
    assert_eq!(message(b"\x93NUMPY\x01\x00\xff"), "the array is truncated within its header");
    assert_eq!(message(b"\x93NUMPY\x01\x00\xff\x00{'descr'"), "the array is truncated within its header");
    assert_eq!(message(b"\x93NUMPY\x07\x00\x01\x00 "), "version 7 of the NumPy format is not supported");
    assert_eq!(message(b"\x93NUMPY\x01\x00\x02\x00{}"), "the array's header has no 'descr'");
    let typed = |descr: &str| message(&npy(1, descr, "False", "(1,)", &[0; 16]));
    let end = "not numbers; save it with .astype(float)";
    assert_eq!(typed("'|O'"), format!("the array holds values of the type '|O', {end}"));
    assert_eq!(typed("'<U5'"), format!("the array holds values of the type '<U5', {end}"));
    assert_eq!(typed("'<c16'"), format!("the array holds values of the type '<c16', {end}"));
    assert_eq!(typed("[('a', '<f8')]"), format!("the array holds records with fields, {end}"));
    let shaped = |shape: &str| message(&f8(shape, &[1.0, 2.0]));
    assert_eq!(shaped("()"), "the array has 0 dimensions; a table needs one or two");
    assert_eq!(shaped("(1, 1, 2)"), "the array has 3 dimensions; a table needs one or two");
    assert_eq!(shaped("(0, 3)"), "the array is empty (0 x 3)");
    assert_eq!(shaped("(3, 0)"), "the array is empty (3 x 0)");
    assert_eq!(shaped("(-1,)"), "the array's header has no valid shape");
    for size in ["(3,)", "(4294967296, 4294967296)", "(1, 9999999999999)"] {
        let message = shaped(size);
        assert!(message.ends_with("but only 16 bytes follow; the file is truncated or damaged"), "{message}");
    }
}

#[test]
fn archives() {
    let x = f8("(2, 2)", &[1.0, 2.0, 3.0, 4.0]);
    let y = f8("(2,)", &[5.0, 6.0]);
    let expected = table(&[("x1", &[1.0, 3.0]), ("x2", &[2.0, 4.0]), ("target", &[5.0, 6.0])]);
    for (features, target) in [("X", "y"), ("x", "target"), ("data", "label"), ("anything", "y")] {
        let bytes = npz(&[(&format!("{target}.npy"), y.clone()), (&format!("{features}.npy"), x.clone())]);
        assert_eq!(read_npz(&bytes).unwrap(), expected);
    }
    let alone = npz(&[("X.npy", x.clone()), ("note.txt", b"hello".to_vec())]);
    assert_eq!(read_npz(&alone).unwrap().names(), ["x1", "x2"]);
    let column = npz(&[("X.npy", x), ("y.npy", f8("(2, 1)", &[5.0, 6.0]))]);
    assert_eq!(read_npz(&column).unwrap(), expected);
}

#[test]
fn messages_for_invalid_archives() {
    let message = |members: &[(&str, Vec<u8>)]| read_npz(&npz(members)).unwrap_err().to_string();
    let x = || f8("(2, 1)", &[1.0, 2.0]);
    let none = "there is no array X, x or data, and not exactly one with two dimensions; there are: ";
    assert_eq!(message(&[]), format!("{none}none"));
    assert_eq!(message(&[("a.npy", x()), ("b.npy", x())]), format!("{none}a, b"));
    assert_eq!(
        message(&[("X.npy", x()), ("y.npy", f8("(3,)", &[1.0; 3]))]),
        "column 'target': expected 2 rows, got 3"
    );
    assert_eq!(
        message(&[("X.npy", x()), ("y.npy", f8("(2, 2)", &[1.0; 4]))]),
        "array 'y': a target must have one column"
    );
    let words = npy(1, "'<U1'", "False", "(2,)", &[0; 8]);
    assert_eq!(
        message(&[("X.npy", x()), ("y.npy", words)]),
        "array 'y': the array holds values of the type '<U1', not numbers; save it with .astype(float)"
    );
    let complete = npz(&[("X.npy", x())]);
    let cut = read_npz(&complete[..complete.len() - 9]).unwrap_err().to_string();
    assert!(cut.starts_with("not a complete .npz file ("), "{cut}");
}
