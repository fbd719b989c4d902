use super::*;
use crate::data::read::read_table;
use crate::data::table::{Table, Values};

/// The complete table, from pieces.
fn joined(path: &Path, options: &ReadOptions) -> (Vec<(String, Vec<f64>)>, usize) {
    let file = PieceFile::open(path, options).unwrap().unwrap();
    let (mut all, mut pieces): (Vec<(String, Vec<f64>)>, usize) = (vec![], 0);
    let mut visit = |table: &Table, first: usize| {
        let Table::Columns(columns) = table else { panic!("a dense table") };
        assert_eq!(first, all.first().map_or(0, |(_, cells)| cells.len()));
        pieces += 1;
        if all.is_empty() {
            all = columns.iter().map(|column| (column.name.clone(), vec![])).collect();
        }
        for ((_, cells), column) in all.iter_mut().zip(columns) {
            let Values::Numeric(values) = &column.values else { panic!("numbers") };
            cells.extend(values);
        }
        Ok(())
    };
    file.visit(None, &mut vec![], &Context::default(), &mut visit).unwrap();
    (all, pieces)
}

fn expected(path: &Path, options: &ReadOptions) -> Vec<(String, Vec<f64>)> {
    let (table, _) = read_table(path, options, &Context::default()).unwrap();
    let Table::Columns(columns) = table else { panic!("a dense table") };
    let cells = |column: crate::data::Column| match column.values {
        Values::Numeric(values) => (column.name, values),
        other => panic!("{other:?}"),
    };
    columns.into_iter().map(cells).collect()
}

#[test]
fn csv_pieces_are_the_complete_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    // Several pieces of 2 MiB, a comment, a quoted name with a line end, and no line end after the last row.
    let mut text = String::from("# made by a test\n\"a\nb\";c\n");
    for i in 0..400_000_u32 {
        text += &format!("{}.25;-{}\n", i % 977, i);
    }
    text.pop();
    std::fs::write(&path, &text).unwrap();
    let options = ReadOptions::default();
    let (found, pieces) = joined(&path, &options);
    assert!(pieces > 1 && found[0].0 == "a\nb");
    assert_eq!(found, expected(&path, &options));
    // An error has its line in the file: 3 lines before the first row.
    let line = text.lines().count();
    let broken = format!("{text}\n1;2;3\n");
    std::fs::write(&path, broken).unwrap();
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    let error =
        file.visit(None, &mut vec![], &Context::default(), &mut |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains(&format!("line {}: expected 2 fields, found 3", line + 1)), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_pieces_are_the_complete_table() {
    use crate::data::read::parquet::tests::written;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    std::fs::write(&path, written(&[700, 100, 900])).unwrap();
    let options = ReadOptions::default();
    let (found, pieces) = joined(&path, &options);
    assert!(pieces > 3);
    assert_eq!(found, expected(&path, &options));
    let file = PieceFile::open(&path, &options).unwrap().unwrap();
    let mut names = vec![];
    let mut visit = |table: &Table, _| {
        names = table.names().into_iter().map(str::to_owned).collect();
        Ok(())
    };
    file.visit(Some(&["b"]), &mut vec![], &Context::default(), &mut visit).unwrap();
    assert_eq!(names, ["b"]);
}

#[test]
fn other_files_are_not_read_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.npy", "a.csv.gz", "a.xyz"] {
        let path = folder.path().join(name);
        std::fs::write(&path, "1,2").unwrap();
        assert!(PieceFile::open(&path, &ReadOptions::default()).unwrap().is_none(), "{name}");
    }
    assert!(PieceFile::open(Path::new("-"), &ReadOptions::default()).unwrap().is_none());
    assert!(PieceFile::open(&folder.path().join("none.csv"), &ReadOptions::default()).unwrap().is_none());
}
